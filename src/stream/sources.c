/* xlm-mpi: the sources of a stream: languages, or pairs of them. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/sources.h"

#include <string.h>

#include "base/log.h"
#include "stream/monolingual.h"
#include "stream/parallel.h"

typedef struct source {
    char *name; /* "en", "de-en" */
    union {
        xlm_monolingual monolingual;
        xlm_parallel parallel;
    };
} source;

struct xlm_sources {
    bool parallel;
    int count;
    source *list; /* [count] */
};

static const xlm_instances *instances_of(const xlm_sources *sources, int i)
{
    return sources->parallel ? &sources->list[i].parallel.instances : &sources->list[i].monolingual.instances;
}

/* ---- opening ---- */

/* What is being opened; for messages. */
typedef struct opening {
    const xlm_corpus *corpus;
    xlm_split split;
    const char *name;
    const xlm_stream_config *config;
    uint64_t seed;
} opening;

/* Names of all sources of the stream's type that the split has. NULL-terminated, g_strfreev. */
static char **list_all(const opening *o)
{
    GPtrArray *names = g_ptr_array_new();
    int n;
    if (o->config->type == XLM_STREAM_PARALLEL) {
        const xlm_corpus_pairs *pairs = xlm_corpus_all_pairs(o->corpus, o->split, &n);
        for (int i = 0; i < n; i++)
            g_ptr_array_add(names, g_strdup(pairs[i].name));
    } else {
        const xlm_corpus_text *texts = xlm_corpus_texts(o->corpus, o->split, &n);
        for (int i = 0; i < n; i++)
            if (texts[i].monolingual_sentences > 0)
                g_ptr_array_add(names, g_strdup(texts[i].language));
    }
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(names, FALSE);
}

static bool has(const opening *o, const char *name)
{
    if (o->config->type == XLM_STREAM_PARALLEL)
        return xlm_corpus_find_pairs(o->corpus, o->split, name, NULL) != NULL;
    const xlm_corpus_text *text = xlm_corpus_find_text(o->corpus, o->split, name);
    return text != NULL && text->monolingual_sentences > 0;
}

static bool refuse_absent(const opening *o, const char *wanted, GError **error)
{
    const bool parallel = o->config->type == XLM_STREAM_PARALLEL;
    const bool held_out = o->split == XLM_HELD_OUT;
    const char *where = held_out ? " in its held-out part" : "";
    char **all = list_all(o), *list = g_strjoinv(", ", all);
    if (wanted == NULL)
        xlm_error_set(error, EX_CONFIG, "[stream %s]: %s has no %s text%s; %s", o->name, xlm_corpus_path(o->corpus),
                      parallel ? "parallel" : "monolingual", where,
                      held_out   ? "raise --held-out of xlm_prep"
                      : parallel ? "give xlm_prep some with --para"
                                 : "give xlm_prep some with --mono, or set type = parallel");
    else
        xlm_error_set(error, EX_CONFIG, "[stream %s]: languages: %s has no %s text \"%s\"%s; it has %s", o->name,
                      xlm_corpus_path(o->corpus), parallel ? "parallel" : "monolingual", wanted, where,
                      *list != '\0' ? list : "none");
    g_free(list);
    g_strfreev(all);
    return false;
}

/* Only the held-out part has nothing of this name: so rare a language that none of its text was held out. */
static bool is_too_rare(const opening *o, const char *name)
{
    if (o->split != XLM_HELD_OUT)
        return false;
    opening training = *o;
    training.split = XLM_TRAIN;
    return !has(o, name) && has(&training, name);
}

static bool open_source(const opening *o, const char *name, source *s, GError **error)
{
    const xlm_stream_config *c = o->config;
    if (!has(o, name))
        return refuse_absent(o, name, error);
    *s = (source){.name = g_strdup(name)};
    bool good;
    if (c->type == XLM_STREAM_PARALLEL) {
        bool swapped;
        const xlm_corpus_pairs *pairs = xlm_corpus_find_pairs(o->corpus, o->split, name, &swapped);
        const xlm_parallel_rules rules = {
            .form = c->form, .length = c->length, .least_side = c->least_side, .most_pair = c->most_pair,
            .share = o->split == XLM_TRAIN ? c->share : 1, .seed = o->seed,
        };
        good = xlm_parallel_open(&s->parallel, o->corpus, pairs, swapped, &rules, error);
    } else {
        const xlm_corpus_text *text = xlm_corpus_find_text(o->corpus, o->split, name);
        good = xlm_monolingual_open(&s->monolingual, o->corpus, text, c->length, error);
    }
    if (!good)
        g_free(s->name);
    return good;
}

static bool check_names(const opening *o, char **names, GError **error)
{
    if (*names == NULL)
        return refuse_absent(o, NULL, error);
    if (g_strv_length(names) > XLM_SAMPLER_RUN)
        return xlm_error_set(error, EX_CONFIG, "[stream %s]: languages: there are more than %d", o->name,
                             XLM_SAMPLER_RUN);
    for (char **name = names; *name != NULL; name++)
        for (char **before = names; before < name; before++)
            if (strcmp(*before, *name) == 0)
                return xlm_error_set(error, EX_CONFIG, "[stream %s]: languages: %s is named twice; remove one", o->name,
                                     *name);
    return true;
}

static bool refuse_empty(const opening *o, GError **error)
{
    const bool held_out = o->split == XLM_HELD_OUT, parallel = o->config->type == XLM_STREAM_PARALLEL;
    return xlm_error_set(error, EX_CONFIG, "[stream %s]: %s makes no instance%s; %s", o->name,
                         xlm_corpus_path(o->corpus), held_out ? " of its held-out part" : "",
                         parallel ? "raise length, most_pair or share, or lower least_side" : "its sentences are empty");
}

xlm_sources *xlm_sources_open(const xlm_corpus *corpus, xlm_split split, const char *name,
                              const xlm_stream_config *config, uint64_t seed, GError **error)
{
    const opening o = {corpus, split, name, config, seed};
    char **names = config->languages != NULL ? g_strdupv(config->languages) : list_all(&o);
    xlm_sources *sources = g_new0(xlm_sources, 1);
    sources->parallel = config->type == XLM_STREAM_PARALLEL;
    sources->list = g_new0(source, g_strv_length(names));
    bool good = check_names(&o, names, error);
    for (char **wanted = names; *wanted != NULL && good; wanted++) {
        if (is_too_rare(&o, *wanted)) {
            xlm_log_warn("stream %s: no text of %s was held out; it is not evaluated", name, *wanted);
            continue;
        }
        good = open_source(&o, *wanted, &sources->list[sources->count], error);
        sources->count += good;
    }
    if (good && sources->count == 0)
        good = refuse_absent(&o, NULL, error);
    else if (good && xlm_sources_instances(sources) == 0)
        good = refuse_empty(&o, error);
    g_strfreev(names);
    if (!good)
        g_clear_pointer(&sources, xlm_sources_close);
    return sources;
}

void xlm_sources_close(xlm_sources *sources)
{
    if (sources == NULL)
        return;
    for (int i = 0; i < sources->count; i++) {
        if (sources->parallel)
            xlm_parallel_close(&sources->list[i].parallel);
        else
            xlm_monolingual_close(&sources->list[i].monolingual);
        g_free(sources->list[i].name);
    }
    g_free(sources->list);
    g_free(sources);
}

/* ---- reading ---- */

int64_t xlm_sources_instances(const xlm_sources *sources)
{
    int64_t n = 0;
    for (int i = 0; i < sources->count; i++)
        n += instances_of(sources, i)->count;
    return n;
}

int xlm_sources_count(const xlm_sources *sources) { return sources->count; }

int64_t xlm_sources_instances_of(const xlm_sources *sources, int i) { return instances_of(sources, i)->count; }

xlm_sampler *xlm_sources_sampler(const xlm_sources *sources, double alpha, uint64_t seed, uint32_t stream)
{
    double *share = g_new(double, sources->count);
    int64_t *instances = g_new(int64_t, sources->count);
    for (int i = 0; i < sources->count; i++) {
        const source *s = &sources->list[i];
        share[i] = (double)(sources->parallel ? s->parallel.kept : s->monolingual.tokens);
        instances[i] = instances_of(sources, i)->count;
    }
    xlm_sampler *sampler = xlm_sampler_new(sources->count, share, instances, alpha, seed, stream);
    g_free(instances);
    g_free(share);
    return sampler;
}

int xlm_sources_at(const xlm_sources *sources, int64_t index, int64_t *instance)
{
    int i = 0;
    while (index >= instances_of(sources, i)->count)
        index -= instances_of(sources, i++)->count;
    *instance = index;
    return i;
}

bool xlm_sources_find(const xlm_sources *sources, int i, int64_t instance, bool target_first, GArray *spans,
                      GError **error)
{
    const source *s = &sources->list[i];
    return sources->parallel ? xlm_parallel_find(&s->parallel, instance, target_first, spans, error)
                             : xlm_monolingual_find(&s->monolingual, instance, spans, error);
}

/* ---- description ---- */

void xlm_sources_describe(const xlm_sources *sources, const int32_t *quotas, GString *out)
{
    int64_t too_long = 0, excluded = 0, undrawn = 0, cut = 0, kept = 0;
    g_string_append_printf(out, "%" G_GINT64_FORMAT " instances (", xlm_sources_instances(sources));
    for (int i = 0; i < sources->count; i++) {
        const source *s = &sources->list[i];
        g_string_append_printf(out, "%s%s %" G_GINT64_FORMAT ", %.1f %% of the draws", i > 0 ? "; " : "", s->name,
                               instances_of(sources, i)->count, 100.0 * quotas[i] / XLM_SAMPLER_RUN);
        if (sources->parallel) {
            kept += s->parallel.kept;
            too_long += s->parallel.too_long;
            excluded += s->parallel.excluded;
            undrawn += s->parallel.undrawn;
        } else
            cut += s->monolingual.cut;
    }
    g_string_append_c(out, ')');
    if (sources->parallel)
        g_string_append_printf(out, ", %" G_GINT64_FORMAT " pairs; left out: %" G_GINT64_FORMAT " too long, %"
                               G_GINT64_FORMAT " by the bounds on their sides", kept, too_long, excluded);
    else if (cut > 0)
        g_string_append_printf(out, "; sentences cut into pieces: %" G_GINT64_FORMAT, cut);
    if (undrawn > 0)
        g_string_append_printf(out, ", %" G_GINT64_FORMAT " outside the share", undrawn);
}
