/* xlm-mpi: measures of the predictions for a task. SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "tasks/task.h"

double xlm_task_precision(const xlm_task_row *row)
{
    return row->predicted > 0 ? (double)row->right / (double)row->predicted : 0;
}

double xlm_task_recall(const xlm_task_row *row) { return row->gold > 0 ? (double)row->right / (double)row->gold : 0; }

double xlm_task_f1(const xlm_task_row *row)
{
    const int64_t both = row->gold + row->predicted;
    return both > 0 ? 2 * (double)row->right / (double)both : 0;
}

static void clear_row(gpointer row) { g_free(((xlm_task_row *)row)->name); }

xlm_task_scores *xlm_task_scores_new(void)
{
    xlm_task_scores *s = g_new(xlm_task_scores, 1);
    s->measures = g_array_new(FALSE, FALSE, sizeof(xlm_measure));
    s->rows = g_array_new(FALSE, FALSE, sizeof(xlm_task_row));
    g_array_set_clear_func(s->rows, clear_row);
    s->confusion = (xlm_task_confusion){0};
    return s;
}

void xlm_task_scores_add(xlm_task_scores *scores, const char *measure, double value, int64_t terms)
{
    const xlm_measure m = {measure, value, terms};
    g_array_append_val(scores->measures, m);
}

void xlm_task_scores_add_row(xlm_task_scores *scores, const char *kind, const char *name, const xlm_task_row *counts)
{
    xlm_task_row row = *counts;
    row.kind = kind;
    row.name = g_strdup(name);
    g_array_append_val(scores->rows, row);
}

xlm_task_row *xlm_task_count(int64_t classes, int64_t n, const int32_t *gold, const int32_t *predicted)
{
    xlm_task_row *row = g_new0(xlm_task_row, classes);
    for (int64_t i = 0; i < n; i++) {
        row[gold[i]].gold++;
        row[predicted[i]].predicted++;
        row[gold[i]].right += gold[i] == predicted[i];
    }
    return row;
}

void xlm_task_scores_confuse(xlm_task_scores *scores, char *const *names, int64_t n, const int32_t *gold,
                             const int32_t *predicted)
{
    xlm_task_confusion *c = &scores->confusion;
    const int64_t classes = g_strv_length((char **)names);
    if (c->names == NULL) {
        c->names = g_strdupv((char **)names);
        c->counts = g_new0(int64_t, classes * classes);
    }
    for (int64_t i = 0; i < n; i++)
        c->counts[gold[i] * classes + predicted[i]]++;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

char **xlm_task_names(GHashTable *set)
{
    guint n;
    g_autofree char **borrowed = (char **)g_hash_table_get_keys_as_array(set, &n);
    qsort(borrowed, n, sizeof *borrowed, by_name);
    return g_strdupv(borrowed);
}

void xlm_task_note(GString *description, const char *what, int64_t n)
{
    if (n > 0)
        g_string_append_printf(description, "; %s: %" G_GINT64_FORMAT, what, n);
}

const xlm_measure *xlm_task_measure(const GArray *measures, const char *name)
{
    for (guint i = 0; i < measures->len; i++) {
        const xlm_measure *m = &g_array_index(measures, xlm_measure, i);
        if (strcmp(m->name, name) == 0)
            return m;
    }
    return NULL;
}

GArray *xlm_task_means(const GPtrArray *languages)
{
    GArray *means = g_array_new(FALSE, FALSE, sizeof(xlm_measure));
    const GArray *first = languages->pdata[0];
    for (guint i = 0; i < first->len; i++) {
        xlm_measure mean = g_array_index(first, xlm_measure, i);
        bool all = true;
        for (guint k = 1; k < languages->len && all; k++) {
            const xlm_measure *m = xlm_task_measure(languages->pdata[k], mean.name);
            all = m != NULL;
            mean.value += all ? m->value : 0;
            mean.terms += all ? m->terms : 0;
        }
        mean.value /= languages->len;
        if (all)
            g_array_append_val(means, mean);
    }
    return means;
}

void xlm_task_scores_free(xlm_task_scores *scores)
{
    if (scores == NULL)
        return;
    g_array_unref(scores->measures);
    g_array_unref(scores->rows);
    g_strfreev(scores->confusion.names);
    g_free(scores->confusion.counts);
    g_free(scores);
}
