/* xlm-mpi: counts of the sentences of files of translations and references. SPDX-License-Identifier: GPL-3.0-or-later */
#include "translation_scores/scored_files.h"

#include <string.h>

#include "text/lines.h"

/* A file and its line at hand. */
typedef struct column {
    xlm_lines *lines;
    GString *line;
    bool ended;
} column;

static bool open_column(column *c, const char *path, bool *input, GError **error)
{
    const bool is_input = strcmp(path, "-") == 0;
    if (is_input && *input)
        return xlm_error_set(error, EX_USAGE, "standard input (-) can be only one of the files");
    *input = *input || is_input;
    c->lines = is_input ? xlm_lines_open_input(error) : xlm_lines_open(path, error);
    return c->lines != NULL;
}

static bool read_line(column *c, GError **error)
{
    const char *text;
    size_t size;
    const int more = xlm_lines_next(c->lines, &text, &size, error);
    c->ended = more == 0;
    if (more <= 0)
        return more == 0;
    g_string_truncate(c->line, 0);
    g_string_append_len(c->line, text, (gssize)size);
    return xlm_lines_check_text(c->lines, text, size, error);
}

/* One column has ended: all must have. */
static bool check_ends(column *columns, int n, GError **error)
{
    for (int i = 0; i < n; i++)
        if (!columns[i].ended && xlm_lines_skip(columns[i].lines, INT64_MAX, error) < 0)
            return false;
    const int64_t wanted = xlm_lines_number(columns[0].lines);
    for (int i = 0; i < n; i++) {
        const int64_t number = xlm_lines_number(columns[i].lines);
        if (number != wanted)
            return xlm_error_set(error, EX_DATAERR, "%s has %" G_GINT64_FORMAT " lines, and %s has %" G_GINT64_FORMAT
                                 "; line i of each must be sentence i", xlm_lines_path(columns[0].lines), wanted,
                                 xlm_lines_path(columns[i].lines), number);
    }
    return wanted > 0 || xlm_error_set(error, EX_DATAERR, "%s: is empty; there are no sentences to score",
                                       xlm_lines_path(columns[0].lines));
}

/* columns: systems, then references. */
static void count_sentence(const column *columns, const xlm_scored_files *files, xlm_translation_metric *const *metrics,
                           const char **references, xlm_sentence_counts *counts)
{
    for (int r = 0; r < files->n_references; r++)
        references[r] = columns[files->n_systems + r].line->str;
    for (int s = 0; s < files->n_systems; s++) {
        counts->apart += g_str_has_suffix(columns[s].line->str, " .");
        for (int m = 0; m < counts->metrics; m++) {
            int64_t of[XLM_METRIC_COUNTS] = {0};
            xlm_translation_metric_add(metrics[m], columns[s].line->str, references, files->n_references, of);
            g_array_append_vals(counts->counts[s * counts->metrics + m], of,
                                (guint)xlm_translation_metric_class(metrics[m])->counts);
        }
    }
    counts->sentences++;
}

static bool count_all(column *columns, int n, const xlm_scored_files *files, xlm_translation_metric *const *metrics,
                      xlm_sentence_counts *counts, GError **error)
{
    g_autofree const char **references = g_new(const char *, (gsize)files->n_references);
    for (;;) {
        bool ended = false;
        for (int i = 0; i < n; i++) {
            if (!read_line(&columns[i], error))
                return false;
            ended = ended || columns[i].ended;
        }
        if (ended)
            return check_ends(columns, n, error);
        count_sentence(columns, files, metrics, references, counts);
    }
}

bool xlm_scored_files_count(const xlm_scored_files *files, xlm_translation_metric *const *metrics, int n,
                            xlm_sentence_counts *counts, GError **error)
{
    const int n_columns = files->n_systems + files->n_references;
    column *columns = g_new0(column, (gsize)n_columns);
    bool good = true, input = false;
    *counts = (xlm_sentence_counts){.systems = files->n_systems, .metrics = n};
    counts->counts = g_new(GArray *, (gsize)files->n_systems * (gsize)n);
    for (int i = 0; i < files->n_systems * n; i++)
        counts->counts[i] = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (int i = 0; i < n_columns && good; i++) {
        columns[i].line = g_string_new(NULL);
        good = open_column(&columns[i], i < files->n_systems ? files->systems[i] : files->references[i - files->n_systems],
                           &input, error);
    }
    good = good && count_all(columns, n_columns, files, metrics, counts, error);
    for (int i = 0; i < n_columns; i++) {
        xlm_lines_close(columns[i].lines);
        if (columns[i].line != NULL)
            g_string_free(columns[i].line, TRUE);
    }
    g_free(columns);
    return good;
}

void xlm_sentence_counts_close(xlm_sentence_counts *counts)
{
    for (int i = 0; i < counts->systems * counts->metrics; i++)
        g_array_unref(counts->counts[i]);
    g_free(counts->counts);
    *counts = (xlm_sentence_counts){0};
}

void xlm_sentence_counts_sum(const xlm_sentence_counts *counts, int system, int metric, int width, int64_t *sums)
{
    const int64_t *of = xlm_sentence_counts_of(counts, system, metric);
    memset(sums, 0, XLM_METRIC_COUNTS * sizeof *sums);
    for (int64_t i = 0; i < counts->sentences; i++, of += width)
        for (int k = 0; k < width; k++)
            sums[k] += of[k];
}
