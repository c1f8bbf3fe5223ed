/* xlm-mpi: results of a task in one language or in several, as tables, csv and a bar chart.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/results.h"

#include <string.h>

#include "base/svg.h"
#include "base/terminal.h"
#include "text/fields.h"

static bool is_share(const xlm_measure *m)
{
    return !g_str_has_suffix(m->name, "loss") && !g_str_has_suffix(m->name, "threshold");
}

/* ---- several languages ---- */

static const xlm_measure *find(const xlm_task_results *r, int64_t language, const char *name)
{
    return xlm_task_measure(r->result[language].scores->measures, name);
}

/* All measures of all languages, each once, in the order of the tables. Elements are xlm_measure *; g_ptr_array_unref. */
static GPtrArray *all_measures(const xlm_task_results *r)
{
    GPtrArray *all = g_ptr_array_new();
    for (int64_t l = 0; l < r->n; l++) {
        const GArray *measures = r->result[l].scores->measures;
        for (guint i = 0; i < measures->len; i++) {
            xlm_measure *m = &g_array_index(measures, xlm_measure, i);
            bool there = false;
            for (guint k = 0; k < all->len && !there; k++)
                there = strcmp(((const xlm_measure *)all->pdata[k])->name, m->name) == 0;
            if (!there)
                g_ptr_array_add(all, m);
        }
    }
    return all;
}

/* The means of all measures that every language has: GArray of xlm_measure; g_array_unref. */
static GArray *means_of(const xlm_task_results *r)
{
    g_autoptr(GPtrArray) measures = g_ptr_array_new();
    for (int64_t l = 0; l < r->n; l++)
        g_ptr_array_add(measures, r->result[l].scores->measures);
    return xlm_task_means(measures);
}

static bool has_gap(const xlm_task_results *r) { return r->reference >= 0 && r->n > 1; }

/* The gap of a share: that of the training language minus the mean of the others. mean: over all languages. */
static double gap_of(const xlm_task_results *r, const xlm_measure *mean)
{
    const double reference = find(r, r->reference, mean->name)->value;
    return reference - (mean->value * (double)r->n - reference) / (double)(r->n - 1);
}

/* ---- tables ---- */

/* The confusion table of more classes is only in the csv, without the pairs that do not occur. */
enum { MAX_CLASSES = 20 };

/* A name of a file that may be untrusted, in a table for people. */
static void print_name(FILE *out, const char *format, const char *name)
{
    g_autofree char *shown = xlm_terminal_escape(name);
    fprintf(out, format, shown);
}

static void print_confusion(const xlm_task_confusion *c, FILE *out)
{
    const int64_t classes = c->names != NULL ? g_strv_length(c->names) : 0;
    if (classes == 0 || classes > MAX_CLASSES)
        return;
    fprintf(out, "\n%-15s", "gold, predicted");
    for (int64_t p = 0; p < classes; p++)
        print_name(out, " %9s", c->names[p]);
    for (int64_t g = 0; g < classes; g++) {
        print_name(out, "\n%-15s", c->names[g]);
        for (int64_t p = 0; p < classes; p++)
            fprintf(out, " %9" G_GINT64_FORMAT, c->counts[g * classes + p]);
    }
    putc('\n', out);
}

static void print_value(FILE *out, int width, const xlm_measure *m, double value)
{
    if (is_share(m))
        fprintf(out, " %*.2f%%", width - 1, 100 * value);
    else
        fprintf(out, " %*.4f", width, value);
}

static void print_one(const xlm_task_result *result, FILE *out)
{
    const xlm_task_scores *scores = result->scores;
    const char *kind = NULL;
    for (guint i = 0; i < scores->rows->len; i++) {
        const xlm_task_row *r = &g_array_index(scores->rows, xlm_task_row, i);
        if (g_strcmp0(kind, r->kind) != 0)
            fprintf(out, "%s%-15s %9s %9s %9s %9s %9s\n", kind != NULL ? "\n" : "", r->kind, "precision", "recall", "F1",
                    "support", "predicted");
        kind = r->kind;
        print_name(out, "%-15s", r->name);
        fprintf(out, " %8.2f%% %8.2f%% %8.2f%% %9" G_GINT64_FORMAT " %9" G_GINT64_FORMAT "\n", 100 * xlm_task_precision(r),
                100 * xlm_task_recall(r), 100 * xlm_task_f1(r), r->gold, r->predicted);
    }
    print_confusion(&scores->confusion, out);
    if (kind != NULL || scores->confusion.names != NULL)
        putc('\n', out);
    for (guint i = 0; i < scores->measures->len; i++) {
        const xlm_measure *m = &g_array_index(scores->measures, xlm_measure, i);
        fprintf(out, "%-15s", m->name);
        print_value(out, 9, m, m->value);
        putc('\n', out);
    }
    fprintf(out, "%-15s", "language");
    print_name(out, " %9s\n", result->language);
}

/* The width of a column in the table of several languages. */
static int width_of(const xlm_measure *m) { return MAX(9, (int)strlen(m->name)); }

/* Print a line of the table of several languages. measures: GArray of xlm_measure, of which those of the columns are shown. */
static void print_line(const char *name, const GPtrArray *columns, const GArray *measures, FILE *out)
{
    print_name(out, "%-15s", name);
    for (guint i = 0; i < columns->len; i++) {
        const xlm_measure *column = columns->pdata[i], *m = xlm_task_measure(measures, column->name);
        if (m != NULL)
            print_value(out, width_of(column), m, m->value);
        else
            fprintf(out, " %*s", width_of(column), "-");
    }
    putc('\n', out);
}

static void print_several(const xlm_task_results *r, FILE *out)
{
    g_autoptr(GPtrArray) columns = all_measures(r);
    g_autoptr(GArray) means = means_of(r);
    fprintf(out, "%-15s", "language");
    for (guint i = 0; i < columns->len; i++)
        fprintf(out, " %*s", width_of(columns->pdata[i]), ((const xlm_measure *)columns->pdata[i])->name);
    putc('\n', out);
    for (int64_t l = 0; l < r->n; l++)
        print_line(r->result[l].language, columns, r->result[l].scores->measures, out);
    print_line("mean", columns, means, out);
    if (has_gap(r)) {
        g_autofree char *name = g_strconcat("gap to ", r->result[r->reference].language, NULL);
        for (guint i = means->len; i-- > 0;) {
            xlm_measure *m = &g_array_index(means, xlm_measure, i);
            m->value = gap_of(r, m);
            if (!is_share(m))
                g_array_remove_index(means, i);
        }
        print_line(name, columns, means, out);
    }
}

void xlm_task_results_print(const xlm_task_results *results, FILE *out)
{
    if (results->n > 1)
        print_several(results, out);
    else
        print_one(&results->result[0], out);
}

/* ---- csv ---- */

/* Append the column of the language, if there are several. */
static void append_language(GString *text, const xlm_task_results *r, const char *language)
{
    if (r->n == 1)
        return;
    xlm_fields_append_csv(text, language);
    g_string_append_c(text, ',');
}

/* Append rows `confusion,GOLD,,,,,PREDICTED,COUNT`. */
static void append_confusion(GString *text, const xlm_task_results *r, const xlm_task_result *result)
{
    const xlm_task_confusion *c = &result->scores->confusion;
    const int64_t classes = c->names != NULL ? g_strv_length(c->names) : 0;
    for (int64_t g = 0; g < classes; g++)
        for (int64_t p = 0; p < classes; p++) {
            if (classes > MAX_CLASSES && c->counts[g * classes + p] == 0)
                continue;
            append_language(text, r, result->language);
            g_string_append(text, "confusion,");
            xlm_fields_append_csv(text, c->names[g]);
            g_string_append(text, ",,,,,");
            xlm_fields_append_csv(text, c->names[p]);
            g_string_append_printf(text, ",%" G_GINT64_FORMAT "\n", c->counts[g * classes + p]);
        }
}

static void append_result(GString *text, const xlm_task_results *all, const xlm_task_result *result)
{
    const xlm_task_scores *scores = result->scores;
    for (guint i = 0; i < scores->rows->len; i++) {
        const xlm_task_row *r = &g_array_index(scores->rows, xlm_task_row, i);
        append_language(text, all, result->language);
        g_string_append_printf(text, "%s,", r->kind);
        xlm_fields_append_csv(text, r->name);
        g_string_append_printf(text, ",%.6f,%.6f,%.6f,%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",\n", xlm_task_precision(r),
                               xlm_task_recall(r), xlm_task_f1(r), r->gold, r->predicted);
    }
    append_confusion(text, all, result);
    for (guint i = 0; i < scores->measures->len; i++) {
        const xlm_measure *m = &g_array_index(scores->measures, xlm_measure, i);
        append_language(text, all, result->language);
        g_string_append_printf(text, "measure,%s,,,,%" G_GINT64_FORMAT ",,%.6f\n", m->name, m->terms, m->value);
    }
}

/* Append the means, and the gaps of each of the other languages and of their mean to the training language. */
static void append_summary(GString *text, const xlm_task_results *r)
{
    g_autoptr(GArray) means = means_of(r);
    for (guint i = 0; i < means->len; i++) {
        const xlm_measure *m = &g_array_index(means, xlm_measure, i);
        g_string_append_printf(text, "mean,measure,%s,,,,%" G_GINT64_FORMAT ",,%.6f\n", m->name, m->terms, m->value);
    }
    for (guint i = 0; has_gap(r) && i < means->len; i++) {
        const xlm_measure *m = &g_array_index(means, xlm_measure, i);
        if (!is_share(m))
            continue;
        for (int64_t l = 0; l < r->n; l++) {
            if (l == r->reference)
                continue;
            append_language(text, r, r->result[l].language);
            g_string_append_printf(text, "gap,%s,,,,,,%.6f\n", m->name,
                                   find(r, r->reference, m->name)->value - find(r, l, m->name)->value);
        }
        g_string_append_printf(text, "mean,gap,%s,,,,,,%.6f\n", m->name, gap_of(r, m));
    }
}

GString *xlm_task_results_csv(const xlm_task_results *results)
{
    GString *text = g_string_new(results->n > 1 ? "language," : "");
    g_string_append(text, "kind,name,precision,recall,f1,support,predicted,value\n");
    for (int64_t l = 0; l < results->n; l++)
        append_result(text, results, &results->result[l]);
    if (results->n > 1) {
        append_summary(text, results);
    } else {
        g_string_append(text, "language,");
        xlm_fields_append_csv(text, results->result[0].language);
        g_string_append(text, ",,,,,,\n");
    }
    return text;
}

/* ---- chart ---- */

/* In pixels. */
enum { BAR = 16, NAME = 40, SPACE = 24, LEFT = 56, TOP = 64, HEIGHT = 240, BOTTOM = 40, RIGHT = 16, LEGEND = 130 };

static void append_axes(GString *svg, int width)
{
    for (int percent = 0; percent <= 100; percent += 20) {
        const double y = TOP + HEIGHT - HEIGHT * percent / 100.0;
        char label[8];
        g_snprintf(label, sizeof label, "%d%%", percent);
        xlm_svg_line(svg, LEFT, y, width - RIGHT, y, percent == 0 ? "#000000" : "#cccccc");
        xlm_svg_text(svg, LEFT - 6, y + 4, "end", 0, label);
    }
}

/* Append the bars of one language, beginning at x. */
static void append_group(GString *svg, double x, const char *language, const GPtrArray *bars, const GArray *measures)
{
    xlm_svg_text(svg, x + bars->len * BAR / 2.0, TOP + HEIGHT + 18, "middle", 0, language);
    for (guint i = 0; i < bars->len; i++) {
        const xlm_measure *bar = bars->pdata[i], *m = xlm_task_measure(measures, bar->name);
        if (m == NULL)
            continue;
        const double height = HEIGHT * CLAMP(m->value, 0, 1);
        g_autofree char *name = g_strdup_printf("%s, %s: %.2f%%", language, m->name, 100 * m->value);
        xlm_svg_box(svg, x + i * BAR, TOP + HEIGHT - height, BAR - 2, height, xlm_svg_colour(i), name);
    }
}

GString *xlm_task_results_chart(const xlm_task_results *results, const char *title)
{
    g_autoptr(GPtrArray) bars = all_measures(results);
    for (guint i = bars->len; i-- > 0;)
        if (!is_share(bars->pdata[i]))
            g_ptr_array_remove_index(bars, i);
    const int64_t groups = results->n + (results->n > 1);
    const int group = MAX(BAR * (int)bars->len, NAME) + SPACE;
    const int width = LEFT + RIGHT + MAX((int)groups * group, LEGEND * (int)bars->len);
    GString *svg = xlm_svg_begin(width, TOP + HEIGHT + BOTTOM, 12, NULL);
    xlm_svg_text(svg, LEFT, 20, "start", 0, title);
    for (guint i = 0; i < bars->len; i++) {
        xlm_svg_box(svg, LEFT + (int)i * LEGEND, 32, 12, 12, xlm_svg_colour(i), NULL);
        xlm_svg_text(svg, LEFT + 18 + (int)i * LEGEND, 42, "start", 0, ((const xlm_measure *)bars->pdata[i])->name);
    }
    append_axes(svg, width);
    for (int64_t l = 0; l < results->n; l++)
        append_group(svg, LEFT + SPACE / 2 + (double)l * group, results->result[l].language, bars,
                     results->result[l].scores->measures);
    if (results->n > 1) {
        g_autoptr(GArray) means = means_of(results);
        append_group(svg, LEFT + SPACE / 2 + (double)results->n * group, "mean", bars, means);
    }
    xlm_svg_end(svg);
    return svg;
}
