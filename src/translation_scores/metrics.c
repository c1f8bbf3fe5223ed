/* xlm-mpi: the table of metrics of translations. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "options/nearest.h"
#include "translation_scores/metric.h"

/* The table: one line per metric. */
#define METRICS(METRIC) \
    METRIC(bleu) \
    METRIC(multi_bleu) \
    METRIC(chrf) \
    METRIC(chrf_words)

#define DECLARE(name) extern const xlm_metric_class xlm_metric_##name;
#define ADDRESS(name) &xlm_metric_##name,
METRICS(DECLARE)
static const xlm_metric_class *const classes[] = {METRICS(ADDRESS)};

struct xlm_translation_metric {
    const xlm_metric_class *class;
    void *state;
};

const xlm_metric_class *const *xlm_metric_classes(int *n)
{
    *n = G_N_ELEMENTS(classes);
    return classes;
}

xlm_translation_metric *xlm_translation_metric_new(const char *name, const xlm_metric_options *options, GError **error)
{
    const char *names[G_N_ELEMENTS(classes)];
    for (size_t i = 0; i < G_N_ELEMENTS(classes); i++) {
        if (strcmp(classes[i]->name, name) == 0) {
            xlm_translation_metric *metric = g_new(xlm_translation_metric, 1);
            *metric = (xlm_translation_metric){classes[i], classes[i]->open(options)};
            return metric;
        }
        names[i] = classes[i]->name;
    }
    g_autofree char *advice = xlm_nearest_advice(name, names, G_N_ELEMENTS(names));
    xlm_error_set(error, EX_USAGE, "\"%s\": there is no such metric of translations; %s", name, advice);
    return NULL;
}

void xlm_translation_metric_free(xlm_translation_metric *metric)
{
    if (metric == NULL)
        return;
    metric->class->close(metric->state);
    g_free(metric);
}

const xlm_metric_class *xlm_translation_metric_class(const xlm_translation_metric *metric) { return metric->class; }

void xlm_translation_metric_add(xlm_translation_metric *metric, const char *hypothesis, const char *const *references, int n,
                                int64_t *counts)
{
    metric->class->add(metric->state, hypothesis, references, n, counts);
}

double xlm_translation_metric_score(const xlm_translation_metric *metric, const int64_t *counts)
{
    return metric->class->score(metric->state, counts, false);
}

double xlm_translation_metric_score_sentence(const xlm_translation_metric *metric, const int64_t *counts)
{
    return metric->class->score(metric->state, counts, true);
}

int xlm_translation_metric_parts(const xlm_translation_metric *metric, const int64_t *counts, xlm_metric_part *parts)
{
    return metric->class->parts != NULL ? metric->class->parts(metric->state, counts, parts) : 0;
}

char *xlm_translation_metric_signature(const xlm_translation_metric *metric, int references, int64_t samples, int64_t seed,
                                       bool sentence)
{
    GString *out = g_string_new(NULL);
    g_string_append_printf(out, "nrefs:%d|", references);
    if (samples > 0)
        g_string_append_printf(out, "bs:%" G_GINT64_FORMAT "|seed:%" G_GINT64_FORMAT "|", samples, seed);
    metric->class->settings(metric->state, sentence, out);
    g_string_append(out, "|version:xlm-mpi-" PACKAGE_VERSION);
    return g_string_free(out, FALSE);
}

char *xlm_translation_metric_line(const xlm_translation_metric *metric, const int64_t *counts, const char *score,
                                  const char *signature)
{
    GString *out = g_string_new(NULL);
    metric->class->line(metric->state, counts, score, signature, out);
    return g_string_free(out, FALSE);
}
