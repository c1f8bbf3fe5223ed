/* xlm-mpi: what a job trains a model to translate. SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/translation_pairs.h"

#include <string.h>

#include "corpus/corpus.h"

struct question {
    const xlm_jobfile *job;
    uint64_t digest;
    const char *from, *to;
    bool unknown; /* an answer depends on the corpus, which is not there */
};

/* Corpus of the job; NULL: it is not there, or another one. xlm_corpus_close. */
static xlm_corpus *open_corpus(const struct question *q)
{
    g_autofree char *path = xlm_jobfile_value(q->job, "train", "corpus");
    xlm_corpus *corpus = path != NULL ? xlm_corpus_open(path, NULL) : NULL;
    if (corpus != NULL && xlm_corpus_digest(corpus) != q->digest)
        g_clear_pointer(&corpus, xlm_corpus_close);
    return corpus;
}

/* A list of names, as they are in a job; NULL: it is empty. */
static char **list_of(const xlm_jobfile *job, const char *section, const char *key)
{
    g_autofree char *value = xlm_jobfile_value(job, section, key);
    if (value == NULL || *g_strstrip(value) == '\0')
        return NULL;
    char **names = g_strsplit(value, ",", -1);
    for (char **name = names; *name != NULL; name++)
        g_strstrip(*name);
    return names;
}

static bool is_value(const struct question *q, const char *section, const char *key, const char *wanted)
{
    g_autofree char *value = xlm_jobfile_value(q->job, section, key);
    return g_strcmp0(value, wanted) == 0;
}

/* The pair in this direction, or in both if sides are drawn. */
static bool has_pair(char **names, const char *from, const char *to, bool drawn)
{
    g_autofree char *pair = g_strdup_printf("%s-%s", from, to), *other = g_strdup_printf("%s-%s", to, from);
    return g_strv_contains((const char *const *)names, pair) || (drawn && g_strv_contains((const char *const *)names, other));
}

static bool translates_pairs(struct question *q, const char *stream)
{
    const bool drawn = is_value(q, stream, "shuffle_sides", "true");
    g_auto(GStrv) names = list_of(q->job, stream, "languages");
    if (!is_value(q, stream, "type", "parallel"))
        return false;
    if (names != NULL)
        return has_pair(names, q->from, q->to, drawn);
    xlm_corpus *corpus = open_corpus(q);
    g_autofree char *pair = g_strdup_printf("%s-%s", q->from, q->to);
    bool swapped = false, found = false;
    if (corpus == NULL)
        q->unknown = true;
    else
        found = xlm_corpus_find_pairs(corpus, XLM_TRAIN, pair, &swapped) != NULL && (!swapped || drawn);
    xlm_corpus_close(corpus);
    return found;
}

/* Sentences of `to` are translated into `from`, and back. */
static bool translates_back(struct question *q, const char *objective, const char *stream)
{
    g_auto(GStrv) sources = list_of(q->job, objective, "source_languages"), names = list_of(q->job, stream, "languages");
    if (sources == NULL || !g_strv_contains((const char *const *)sources, q->from))
        return false;
    if (names != NULL)
        return g_strv_contains((const char *const *)names, q->to);
    xlm_corpus *corpus = open_corpus(q);
    q->unknown = q->unknown || corpus == NULL;
    const bool found = corpus != NULL && xlm_corpus_find_text(corpus, XLM_TRAIN, q->to) != NULL;
    xlm_corpus_close(corpus);
    return found;
}

static bool translates(struct question *q, const char *name)
{
    g_autofree char *section = g_strconcat("objective ", name, NULL), *plugin = xlm_jobfile_value(q->job, section, "plugin");
    g_autofree char *stream_name = xlm_jobfile_value(q->job, section, "stream");
    g_autofree char *stream = g_strconcat("stream ", stream_name != NULL ? stream_name : "", NULL);
    const char *of = plugin != NULL && *plugin != '\0' ? plugin : name;
    return (strcmp(of, "seq2seq") == 0 && translates_pairs(q, stream)) ||
           (strcmp(of, "back-translation") == 0 && translates_back(q, section, stream));
}

xlm_job_translates xlm_job_translates_pair(const char *text, uint64_t digest, const char *from, const char *to)
{
    xlm_jobfile *job = xlm_jobfile_parse("the job", text, strlen(text), xlm_job_kinds, NULL, NULL);
    struct question q = {.job = job, .digest = digest, .from = from, .to = to, .unknown = job == NULL};
    g_auto(GStrv) names = job != NULL ? xlm_jobfile_names(job, "objective") : NULL;
    bool found = false;
    for (char **name = names; !found && name != NULL && *name != NULL; name++)
        found = translates(&q, *name);
    xlm_jobfile_free(job);
    return found ? XLM_TRANSLATES : q.unknown ? XLM_TRANSLATES_UNKNOWN : XLM_DOES_NOT_TRANSLATE;
}
