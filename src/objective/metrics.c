/* xlm-mpi: named metrics of objectives, besides their losses. SPDX-License-Identifier: GPL-3.0-or-later */
#include "objective/metrics.h"

#include <string.h>

xlm_metrics *xlm_metrics_new(const char *objective)
{
    xlm_metrics *metrics = g_new0(xlm_metrics, 1);
    metrics->objective = objective;
    metrics->names = g_ptr_array_new_with_free_func(g_free);
    metrics->of_training = g_array_new(FALSE, FALSE, sizeof(bool));
    return metrics;
}

void xlm_metrics_free(xlm_metrics *metrics)
{
    if (metrics == NULL)
        return;
    g_ptr_array_unref(metrics->names);
    g_array_unref(metrics->of_training);
    g_free(metrics);
}

int xlm_metrics_find(const xlm_metrics *metrics, const char *name)
{
    for (guint i = 0; i < metrics->names->len; i++)
        if (strcmp(metrics->names->pdata[i], name) == 0)
            return (int)i;
    return -1;
}

/* Names are written to a field of metrics.csv and to a line of the log. */
static bool is_name(const char *name)
{
    bool good = *name != '\0';
    for (const char *c = name; *c != '\0'; c++)
        good &= g_ascii_isalnum(*c) || strchr("_-.", *c) != NULL;
    return good;
}

void xlm_metrics_add(xlm_metrics *metrics, const char *name, bool of_training)
{
    if (!is_name(name))
        g_error("objective %s: a metric named \"%s\"; letters, digits and \"_-.\" are allowed", metrics->objective, name);
    if (strcmp(name, "loss") == 0 || strcmp(name, "perplexity") == 0)
        g_error("objective %s: a metric named \"%s\", which the program itself reports", metrics->objective, name);
    if (strcmp(name, "weight") == 0)
        g_error("objective %s: a metric named \"weight\", which reports the weight of the job file", metrics->objective);
    if (xlm_metrics_find(metrics, name) >= 0)
        g_error("objective %s: the metric \"%s\" is declared twice", metrics->objective, name);
    g_ptr_array_add(metrics->names, g_strdup(name));
    g_array_append_val(metrics->of_training, of_training);
}
