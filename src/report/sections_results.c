/* xlm-mpi: the sections of a report on runs: what was measured. SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/sections.h"

#include <string.h>

#include "report/plot.h"

/* How numbers are shown: shares as percentages, counts whole. */
typedef enum { NUMBER, SHARE, COUNT } form;

/* Known measures: their section and title, and whether less is better. */
typedef struct measure {
    const char *name, *section, *title;
    form form;
    bool less;
} measure;

static const measure measures[] = {
    {"aer", "alignment", "Alignment error rate, %", SHARE, true},
    {"precision", "alignment", "Precision of links, %", SHARE, false},
    {"recall", "alignment", "Recall of links, %", SHARE, false},
    {"f1", "alignment", "F1 of links, %", SHARE, false},
    {"retrieval_cosine", "retrieval", "Nearest by cosine is the translation, %", SHARE, false},
    {"retrieval_csls", "retrieval", "Nearest by CSLS is the translation, %", SHARE, false},
    {"dictionary_mean_cosine", "words", "Mean cosine of translations", NUMBER, false},
    {"dictionary_shuffled_cosine", "words", "Mean cosine of subwords paired at random", NUMBER, true},
    {"dictionary_cosine", "words", "Nearest by cosine is a translation, %", SHARE, false},
    {"dictionary_csls", "words", "Nearest by CSLS is a translation, %", SHARE, false},
    {"alignment_top1", "words", "A translation is nearest, %", SHARE, false},
    {"alignment_top5", "words", "A translation is among the 5 nearest, %", SHARE, false},
    {"alignment_top10", "words", "A translation is among the 10 nearest, %", SHARE, false},
    {"alignment_mrr", "words", "Mean reciprocal rank of translations", NUMBER, false},
    {"mining_pairs", "retrieval", "Pairs mined", COUNT, false},
    {"mining_precision", "retrieval", "Precision of mined pairs, %", SHARE, false},
    {"mining_recall", "retrieval", "Recall of mined pairs, %", SHARE, false},
    {"mining_f1", "retrieval", "F1 of mined pairs, %", SHARE, false},
    {"procrustes_p1", "words", "A translation is nearest under a map, %", SHARE, false},
    {"procrustes_p5", "words", "A translation is among the 5 nearest under a map, %", SHARE, false},
    {"procrustes_p10", "words", "A translation is among the 10 nearest under a map, %", SHARE, false},
    {"procrustes_mrr", "words", "Mean reciprocal rank of translations under a map", NUMBER, false},
    {"likeness_pearson", "words", "Pearson correlation with people", NUMBER, false},
    {"likeness_spearman", "words", "Spearman correlation with people", NUMBER, false},
    {"likeness_spearman_p", "words", "p of the Spearman correlation", NUMBER, true},
    {"likeness_harmonic_mean", "words", "Harmonic mean of both correlations", NUMBER, false},
    {"likeness_accuracy", "words", "Analogies answered, %", SHARE, false},
    {"likeness_mean_cosine", "words", "Mean cosine", NUMBER, false},
    {"likeness_shuffled_cosine", "words", "Mean cosine of words paired at random", NUMBER, true},
    {"neighbour_score", "words", "Nearest words", NUMBER, false},
    {"cca_correlation", "words", "Canonical correlation of direction", NUMBER, false},
    {"pca_variance", "words", "Variance along direction", NUMBER, false},
    {"pca_together", "words", "Share of the variance of the first directions, %", SHARE, false},
    {"perplexity", "held-out", "Perplexity", NUMBER, true},
    {"pos_micro_f1", "tasks", "Parts of speech, micro F1, %", SHARE, false},
    {"answering_f1", "tasks", "Answers to questions, F1, %", SHARE, false},
    {"answering_exact_match", "tasks", "Answers to questions, exact match, %", SHARE, false},
    {"task_accuracy", "tasks", "Accuracy, %", SHARE, false},
    {"task_micro_f1", "tasks", "Micro F1, %", SHARE, false},
    {"task_macro_f1", "tasks", "Macro F1, %", SHARE, false},
    {"task_span_f1", "tasks", "F1 of spans, %", SHARE, false},
    {"task_run_f1", "tasks", "F1 of runs of equal tags, %", SHARE, false},
    {"task_unseen_tags", "tasks", "Words whose tags the training text does not have, %", SHARE, true},
    {"task_f1", "tasks", "Answers to questions, F1, %", SHARE, false},
    {"task_exact_match", "tasks", "Answers to questions, exact match, %", SHARE, false},
    {"task_has_ans_f1", "tasks", "Answers to answerable questions, F1, %", SHARE, false},
    {"task_has_ans_exact", "tasks", "Answers to answerable questions, exact match, %", SHARE, false},
    {"task_no_ans_f1", "tasks", "Unanswerable questions that got no answer, %", SHARE, false},
    {"task_best_f1", "tasks", "Answers to questions, F1 at the best threshold, %", SHARE, false},
    {"task_best_exact", "tasks", "Answers to questions, exact match at the best threshold, %", SHARE, false},
    {"task_loss", "tasks", "Loss", NUMBER, true},
};

/* Before the names of xlm_eval's measures, since "f1" is that of links in other tables. Rows in the form of jobs/measure may have
 * the names without it. */
static const char TASK[] = "task_";

static measure measure_of(const xlm_result *r)
{
    const bool of_task = g_str_has_prefix(r->measure, TASK);
    for (size_t i = 0; i < G_N_ELEMENTS(measures); i++)
        if (strcmp(measures[i].name, r->measure) == 0)
            return measures[i];
    for (size_t i = 0; i < G_N_ELEMENTS(measures); i++)
        if (g_str_has_prefix(measures[i].name, TASK) && strcmp(measures[i].name + strlen(TASK), r->measure) == 0)
            return measures[i];
    return (measure){r->measure, "tasks", r->measure + (of_task ? strlen(TASK) : 0), NUMBER, false};
}

/* What a result measures, languages and detail: "en → de, mean". both: the mean of both directions. g_free. */
static char *describe_object(const xlm_result *r, bool both)
{
    GString *text = g_string_new("");
    if (*r->source != '\0' && *r->target != '\0' && both)
        g_string_append_printf(text, "%s and %s, both directions", r->source, r->target);
    else if (*r->source != '\0' && *r->target != '\0')
        g_string_append_printf(text, "%s → %s", r->source, r->target);
    else
        g_string_append(text, *r->source != '\0' ? r->source : r->target);
    if (*r->detail != '\0')
        g_string_append_printf(text, "%s%s", text->len > 0 ? ", " : "", r->detail);
    return g_string_free(text, FALSE);
}

static const char *show(const measure *m, double value, char text[32])
{
    if (m->form == NUMBER)
        return xlm_page_number(value, text);
    g_snprintf(text, 32, m->form == SHARE ? "%.2f" : "%.0f", m->form == SHARE ? 100 * value : value);
    return text;
}

/* The heading of a row: the measure, and what it measures. g_free. */
static char *describe_row(const xlm_result *r)
{
    const measure m = measure_of(r);
    g_autofree char *object = describe_object(r, false);
    return g_strdup_printf("%s%s%s", m.title, *object != '\0' ? ": " : "", object);
}

bool xlm_sections_have_results(const xlm_sections *s, const char *id)
{
    bool any = false;
    for (guint i = 0; i < s->results->rows->len && !any; i++)
        any = strcmp(measure_of(&g_array_index(s->results->rows, xlm_result, i)).section, id) == 0;
    return any;
}

/* Choose the runs that have results of the section, by layer or without one. [out] place: the column of each run, -1 for the
 * others; columns: their columns. Returns their number. */
static int choose_columns(const xlm_sections *s, const char *id, bool by_layer, int *place, xlm_page_column *columns)
{
    int n = 0;
    for (int i = 0; i < s->runs->n; i++) {
        bool any = false;
        for (guint k = 0; k < s->results->rows->len && !any; k++) {
            const xlm_result *r = &g_array_index(s->results->rows, xlm_result, k);
            any = r->run == i && (r->layer >= 0) == by_layer && strcmp(measure_of(r).section, id) == 0;
        }
        place[i] = any ? n : -1;
        if (any)
            columns[n++] = s->runs->columns[i];
    }
    return n;
}

void xlm_sections_write_results(const xlm_sections *s, const char *id)
{
    const GArray *rows = s->results->rows;
    g_autofree int *place = g_new(int, s->runs->n);
    g_autofree xlm_page_column *columns = g_new(xlm_page_column, s->runs->n);
    const int n = choose_columns(s, id, false, place, columns);
    g_autofree char **cells = g_new0(char *, n + 1);
    g_autofree bool *done = g_new0(bool, rows->len + 1);
    bool any = false;
    for (guint i = 0; i < rows->len; i++) {
        const xlm_result *r = &g_array_index(rows, xlm_result, i);
        const measure m = measure_of(r);
        if (done[i] || r->layer >= 0 || strcmp(m.section, id) != 0)
            continue;
        if (!any)
            xlm_page_table(s->page, "Measured on the checkpoints", NULL, n, columns);
        any = true;
        for (guint k = i; k < rows->len; k++) {
            const xlm_result *q = &g_array_index(rows, xlm_result, k);
            char text[32];
            if (q->layer >= 0 || strcmp(q->measure, r->measure) != 0 || strcmp(q->detail, r->detail) != 0 ||
                strcmp(q->source, r->source) != 0 || strcmp(q->target, r->target) != 0)
                continue;
            done[k] = true;
            g_free(cells[place[q->run]]);
            cells[place[q->run]] = g_strdup(show(&m, q->value, text));
        }
        g_autofree char *row = describe_row(r);
        xlm_page_row(s->page, row, n, (const char *const *)cells, true);
        for (int k = 0; k < n; k++)
            g_clear_pointer(&cells[k], g_free);
    }
    if (any)
        xlm_page_table_end(s->page);
}

/* Does q measure the same as r, for any layer and run, in the same direction? */
static bool is_same_forward(const xlm_result *r, const xlm_result *q)
{
    return q->layer >= 0 && strcmp(q->measure, r->measure) == 0 && strcmp(q->detail, r->detail) == 0 &&
           strcmp(q->source, r->source) == 0 && strcmp(q->target, r->target) == 0;
}

/* The same in the other direction? */
static bool is_same_backward(const xlm_result *r, const xlm_result *q)
{
    return q->layer >= 0 && strcmp(q->measure, r->measure) == 0 && strcmp(q->detail, r->detail) == 0 &&
           strcmp(q->source, r->target) == 0 && strcmp(q->target, r->source) == 0 && strcmp(r->source, r->target) != 0;
}

/* Were both directions measured, for every run and layer that has one of them? If not, each direction is shown by itself, because
 * a mean of both would stand beside values of one. */
static bool have_both(const GArray *rows, const xlm_result *r)
{
    bool both = true;
    for (guint i = 0; i < rows->len && both; i++) {
        const xlm_result *q = &g_array_index(rows, xlm_result, i);
        if (!is_same_forward(r, q) && !is_same_backward(r, q))
            continue;
        both = false;
        for (guint k = 0; k < rows->len && !both; k++) {
            const xlm_result *other = &g_array_index(rows, xlm_result, k);
            both = other->run == q->run && other->layer == q->layer && is_same_backward(q, other);
        }
    }
    return both;
}

static gint by_x(gconstpointer a, gconstpointer b)
{
    const double x = ((const xlm_plot_point *)a)->x, y = ((const xlm_plot_point *)b)->x;
    return (x > y) - (x < y);
}

/* The values of a run by layer, the mean of both directions if `both`. done: is set for rows that are used. */
static GArray *by_layer(const xlm_sections *s, const xlm_result *r, int run, bool both, bool *done)
{
    const GArray *rows = s->results->rows;
    const double unit = measure_of(r).form == SHARE ? 100 : 1;
    GArray *points = g_array_new(FALSE, FALSE, sizeof(xlm_plot_point));
    g_autoptr(GArray) counts = g_array_new(FALSE, TRUE, sizeof(int));
    for (guint k = 0; k < rows->len; k++) {
        const xlm_result *q = &g_array_index(rows, xlm_result, k);
        guint at = 0;
        if (q->run != run || !(is_same_forward(r, q) || (both && is_same_backward(r, q))))
            continue;
        done[k] = true;
        while (at < points->len && g_array_index(points, xlm_plot_point, at).x != (double)q->layer)
            at++;
        if (at == points->len) {
            const xlm_plot_point p = {(double)q->layer, 0};
            const int none = 0;
            g_array_append_val(points, p);
            g_array_append_val(counts, none);
        }
        const int n = ++g_array_index(counts, int, at);
        double *y = &g_array_index(points, xlm_plot_point, at).y;
        *y += (unit * q->value - *y) / n;
    }
    g_array_sort(points, by_x);
    return points;
}

/* A row of the table of best layers. */
typedef struct best {
    char *title;
    GPtrArray *cells; /* char * [runs] */
} best;

static char *best_cell(const GArray *points, const measure *m)
{
    if (points->len == 0)
        return NULL;
    xlm_plot_point top = g_array_index(points, xlm_plot_point, 0);
    for (guint i = 1; i < points->len; i++) {
        const xlm_plot_point p = g_array_index(points, xlm_plot_point, i);
        if (m->less ? p.y < top.y : p.y > top.y)
            top = p;
    }
    return g_strdup_printf("%.*f (layer %.0f)", m->form == COUNT ? 0 : 2, top.y, top.x);
}

static bool draw_layers(const xlm_sections *s, const xlm_result *r, bool *done, best *row, GError **error)
{
    const measure m = measure_of(r);
    const int n = s->runs->n;
    g_autofree GArray **points = g_new(GArray *, n);
    const bool both = have_both(s->results->rows, r);
    for (int i = 0; i < n; i++)
        points[i] = by_layer(s, r, i, both, done);
    g_autofree char *object = describe_object(r, both);
    row->title = g_strdup_printf("%s%s%s", m.title, *object != '\0' ? ": " : "", object);
    row->cells = g_ptr_array_new_with_free_func(g_free);
    xlm_plot *plot = xlm_plot_new(row->title, "layer", NULL);
    plot->marks = true;
    for (int i = 0; i < n; i++) {
        g_ptr_array_add(row->cells, best_cell(points[i], &m));
        xlm_plot_add(plot, s->runs->run[i].label, i, points[i]);
    }
    return xlm_plot_end(plot, s->page, false, error);
}

static void write_best(const xlm_sections *s, const char *id, const GArray *rows)
{
    g_autofree int *place = g_new(int, s->runs->n);
    g_autofree xlm_page_column *columns = g_new(xlm_page_column, s->runs->n);
    g_autofree const char **cells = g_new(const char *, s->runs->n);
    const int n = choose_columns(s, id, true, place, columns);
    xlm_page_table(s->page, "The best layer of each", NULL, n, columns);
    for (guint i = 0; i < rows->len; i++) {
        const best *b = &g_array_index(rows, best, i);
        for (int k = 0; k < s->runs->n; k++)
            if (place[k] >= 0)
                cells[place[k]] = b->cells->pdata[k];
        xlm_page_row(s->page, b->title, n, cells, true);
    }
    xlm_page_table_end(s->page);
}

static void clear_best(gpointer data)
{
    best *b = data;
    g_free(b->title);
    g_ptr_array_unref(b->cells);
}

bool xlm_section_results(const xlm_sections *s, const char *id, GError **error)
{
    static const struct { const char *id, *title, *about; } known[] = {
        {"alignment", "Alignment of words", "Links between words of sentence pairs, by hidden states of each layer (0 are the "
         "embeddings) or by another method, compared with links made by people."},
        {"retrieval", "Retrieval of sentences", "How often the nearest of all sentences of the other language is the "
         "translation, by vectors of each layer (0 are the embeddings)."},
        {"words", "Words of a dictionary", "How close translations are to one another in the word embeddings."},
        {"tasks", "Tagging and other tasks", "Scores of fine-tuned models on test text."}};
    const GArray *rows = s->results->rows;
    g_autofree bool *done = g_new0(bool, rows->len + 1);
    bool good = true;
    if (!xlm_sections_have_results(s, id))
        return true;
    g_autoptr(GArray) layers = g_array_new(FALSE, FALSE, sizeof(best));
    g_array_set_clear_func(layers, clear_best);
    size_t which = 0;
    while (strcmp(known[which].id, id) != 0)
        which++;
    xlm_page_section(s->page, id, known[which].title);
    xlm_page_paragraph(s->page, "%s", known[which].about);
    for (guint i = 0; i < rows->len && good; i++) {
        const xlm_result *r = &g_array_index(rows, xlm_result, i);
        best row;
        if (done[i] || r->layer < 0 || strcmp(measure_of(r).section, id) != 0)
            continue;
        if (layers->len == 0)
            xlm_sections_open_figures(s, s->runs->n > 1);
        good = draw_layers(s, r, done, &row, error);
        g_array_append_val(layers, row);
    }
    if (layers->len > 0) {
        xlm_sections_close_figures(s);
        write_best(s, id, layers);
    }
    xlm_sections_write_results(s, id);
    return good;
}
