/* xlm-mpi: what a job trains a model to translate. SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/translation_pairs.h"

#include <string.h>

/* names: "en-de", [char *] owned. Takes the name. */
static void add(GPtrArray *names, char *name)
{
    if (g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
        g_free(name);
    else
        g_ptr_array_add(names, name);
}

/* pair: as its stream names it; in both directions if sides are drawn. */
static void add_pair(GPtrArray *names, const char *pair, bool drawn)
{
    const char *dash = strchr(pair, '-'); /* names of languages have none */
    add(names, g_strdup(pair));
    if (drawn && dash != NULL)
        add(names, g_strdup_printf("%s-%.*s", dash + 1, (int)(dash - pair), pair));
}

static void add_pairs_of_stream(GPtrArray *names, const xlm_job *job, const xlm_stream *stream, int number)
{
    const bool drawn = xlm_stream_config_flag(&job->stream[number].config, "shuffle_sides");
    for (const char *const *pair = xlm_stream_component_names(stream); pair != NULL && *pair != NULL; pair++)
        add_pair(names, *pair, drawn);
}

/* The languages that back-translation translates from, which are options of its plugin. */
static char **source_languages(const xlm_job *job, const char *objective)
{
    g_autofree char *section = g_strconcat("objective ", objective, NULL), *list = NULL;
    xlm_jobfile *file = xlm_jobfile_parse("the job", job->text, strlen(job->text), xlm_job_kinds, NULL, NULL);
    if (file != NULL)
        list = xlm_jobfile_value(file, section, "source_languages");
    xlm_jobfile_free(file);
    char **languages = g_strsplit(list != NULL ? list : "", ",", -1);
    for (char **language = languages; *language != NULL; language++)
        g_strstrip(*language);
    return languages;
}

static void add_back_translations(GPtrArray *names, const xlm_job *job, const xlm_stream *stream, const char *objective)
{
    g_auto(GStrv) sources = source_languages(job, objective);
    for (const char *const *target = xlm_stream_component_names(stream); target != NULL && *target != NULL; target++)
        for (char **source = sources; *source != NULL; source++)
            if (strcmp(*source, *target) != 0)
                add(names, g_strdup_printf("%s-%s", *source, *target));
}

char *xlm_job_translations(const xlm_job *job, const xlm_job_streams *streams)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; i < job->objectives; i++) {
        const xlm_job_objective *o = &job->objective[i];
        const xlm_stream *stream = o->stream >= 0 ? streams->training[o->stream] : NULL;
        if (stream == NULL)
            continue;
        if (strcmp(o->cls->name, "seq2seq") == 0 && xlm_stream_has_pairs(stream))
            add_pairs_of_stream(names, job, stream, o->stream);
        else if (strcmp(o->cls->name, "back-translation") == 0)
            add_back_translations(names, job, stream, o->name);
    }
    g_ptr_array_add(names, NULL);
    return g_strjoinv(",", (char **)names->pdata);
}

bool xlm_job_translates(const char *translations, const char *from, const char *to)
{
    g_auto(GStrv) names = g_strsplit(translations, ",", -1);
    bool found = false;
    for (char **name = names; *name != NULL && !found; name++) {
        g_auto(GStrv) pair = g_strsplit(*name, "-", 2); /* names of languages have no dash */
        found = g_strv_length(pair) == 2 && (from == NULL || strcmp(pair[0], from) == 0) &&
                (to == NULL || strcmp(pair[1], to) == 0);
    }
    return found;
}

bool xlm_job_translates_into_several(const char *translations)
{
    g_auto(GStrv) names = g_strsplit(translations, ",", -1);
    char **name = names;
    while (*name != NULL && g_strcmp0(strchr(*name, '-'), strchr(names[0], '-')) == 0)
        name++;
    return *name != NULL;
}
