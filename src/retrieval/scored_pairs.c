/* xlm-mpi: pairs of words whose similarity people have judged. SPDX-License-Identifier: GPL-3.0-or-later */
#include "retrieval/scored_pairs.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "lexicon/entries.h"
#include "retrieval/rank_correlation.h"
#include "text/fields.h"
#include "text/lines.h"
#include "vectors/cosines.h"

static void open_list(xlm_pair_list *list)
{
    for (int s = 0; s < 2; s++)
        list->words[s] = g_ptr_array_new_with_free_func(g_free);
    list->scores = g_array_new(FALSE, FALSE, sizeof(double));
}

void xlm_pair_list_close(xlm_pair_list *list)
{
    for (int s = 0; s < 2; s++)
        g_clear_pointer(&list->words[s], g_ptr_array_unref);
    g_clear_pointer(&list->scores, g_array_unref);
}

/* ---- files ---- */

/* A number, perhaps with blanks around it, and nothing else. */
static bool read_number(const char *text, double *number)
{
    char *end;
    *number = g_ascii_strtod(text, &end);
    return end != text && isfinite(*number) && strspn(end, " \t") == strlen(end);
}

static bool add_pair(xlm_pair_list *list, const xlm_lines *lines, char **fields, bool keys, bool *head, GError **error)
{
    const guint n = g_strv_length(fields);
    double score;
    if (n < (keys ? 2u : 3u) || *fields[0] == '\0' || *fields[1] == '\0')
        return XLM_LINES_REFUSE(lines, error, "a line must have the form word<tab>word%s",
                                keys ? "" : "<tab>score; scores in a file of their own are given with --keys");
    const bool number = n >= 3 && read_number(fields[2], &score);
    if (list->words[0]->len == 0 && !*head && n >= 3 && !number && !keys)
        return *head = true;
    if (!keys && !number)
        return XLM_LINES_REFUSE(lines, error, "the score, its third field, is not a number");
    for (int s = 0; s < 2; s++)
        g_ptr_array_add(list->words[s], g_strdup(fields[s]));
    if (!keys)
        g_array_append_val(list->scores, score);
    return true;
}

/* What the lines of a file are read into. */
typedef struct list_reader {
    xlm_pair_list *list;
    bool keys; /* there is a file of them */
    bool head; /* there was a line of titles */
} list_reader;

static bool take_pair(void *data, const xlm_lines *lines, char *line, GError **error)
{
    list_reader *r = data;
    g_auto(GStrv) fields = xlm_fields_split(line, true);
    return *g_strstrip(line) == '\0' || *line == '#' || add_pair(r->list, lines, fields, r->keys, &r->head, error);
}

static bool take_key(void *data, const xlm_lines *lines, char *line, GError **error)
{
    list_reader *r = data;
    double score;
    if (*g_strstrip(line) == '\0')
        return true;
    if (!read_number(line, &score))
        return XLM_LINES_REFUSE(lines, error, "a line of keys is one number, the score of a pair");
    g_array_append_val(r->list->scores, score);
    return true;
}

bool xlm_scored_pairs_read(const char *path, const char *keys, xlm_pair_list *list, GError **error)
{
    list_reader r = {.list = list, .keys = keys != NULL};
    open_list(list);
    if (!xlm_lines_each(path, take_pair, &r, error) || (keys != NULL && !xlm_lines_each(keys, take_key, &r, error)))
        return false;
    const guint pairs = list->words[0]->len;
    if (pairs == 0)
        return xlm_error_set(error, EX_DATAERR, "%s: there is no pair", path);
    return pairs == list->scores->len ||
           xlm_error_set(error, EX_DATAERR, "%s: there are %u scores for the %u pairs of %s", keys, list->scores->len, pairs,
                         path);
}

static bool take_entry(void *data, const xlm_entry *entry, GError **error)
{
    xlm_pair_list *list = data;
    (void)error;
    for (int s = 0; s < 2; s++)
        g_ptr_array_add(list->words[s], g_strndup(entry->word[s], entry->size[s]));
    return true;
}

bool xlm_pair_list_read_dictionary(const char *path, xlm_pair_list *list, GError **error)
{
    open_list(list);
    xlm_entries entries = {.take = take_entry, .data = list};
    return xlm_entries_read(&entries, XLM_ENTRIES_TEXT, path, error) &&
           (list->words[0]->len > 0 || xlm_error_set(error, EX_DATAERR, "%s: there is no pair", path));
}

/* ---- measures ---- */

static void correlate(xlm_pair_measure *m, const double *scores, const double *cosines)
{
    if (m->covered < 3)
        return;
    const xlm_rank_correlation ranks = xlm_rank_correlate(m->covered, scores, cosines);
    m->spearman = ranks.rho;
    m->p = ranks.p;
    m->pearson = xlm_linear_correlate(m->covered, scores, cosines);
    if (isnan(m->pearson) || isnan(m->spearman))
        return;
    m->harmonic = m->pearson > 0 && m->spearman > 0 ? 2 * m->pearson * m->spearman / (m->pearson + m->spearman) : 0;
}

/* Words whose vectors are 0 have no cosine: their numbers [pairs] become -1, which is not covered. */
static void leave_out_zeros(const xlm_word_side *side, int64_t words, const float *vectors, int64_t pairs, int64_t *number)
{
    const int64_t width = xlm_word_space_width(side->space);
    int64_t zeros = 0;
    for (int64_t i = 0; i < words; i++)
        zeros += xlm_vector_length(width, vectors + i * width) == 0;
    for (int64_t i = 0; i < pairs && zeros > 0; i++)
        if (number[i] >= 0 && xlm_vector_length(width, vectors + number[i] * width) == 0)
            number[i] = -1;
    if (zeros > 0)
        xlm_log_warn("%s: the vectors of %" G_GINT64_FORMAT " words are 0; their pairs are not covered",
                     xlm_word_space_path(side->space), zeros);
}

xlm_pair_measure xlm_pair_list_measure(const xlm_pair_list *list, const xlm_word_sides *sides)
{
    xlm_pair_measure m = {.pairs = list->words[0]->len, .pearson = NAN, .spearman = NAN, .p = NAN, .harmonic = NAN};
    const int64_t width = xlm_word_space_width(sides->side[0].space);
    xlm_word_set set[2];
    int64_t *number[2] = {g_new(int64_t, m.pairs), g_new(int64_t, m.pairs)};
    g_autofree double *scores = g_new(double, m.pairs), *cosines = g_new(double, m.pairs);
    xlm_pair_cosines all;
    xlm_pair_cosines_open(&all, width);
    for (int s = 0; s < 2; s++) {
        xlm_word_set_open(&set[s], sides->side[s].space, sides->side[s].language);
        for (int64_t i = 0; i < m.pairs; i++)
            number[s][i] = s == 0 || number[0][i] >= 0 ? xlm_word_set_add(&set[s], list->words[s]->pdata[i]) : -1;
    }
    float *vectors[2] = {xlm_word_set_vectors(&set[0], 0, xlm_word_set_count(&set[0])),
                         xlm_word_set_vectors(&set[1], 0, xlm_word_set_count(&set[1]))};
    for (int s = 0; s < 2; s++)
        leave_out_zeros(&sides->side[s], xlm_word_set_count(&set[s]), vectors[s], m.pairs, number[s]);
    for (int64_t i = 0; i < m.pairs; i++)
        if (number[0][i] >= 0 && number[1][i] >= 0) {
            scores[m.covered] = list->scores->len > 0 ? g_array_index(list->scores, double, i) : 0;
            cosines[m.covered++] = xlm_pair_cosines_add(&all, vectors[0] + number[0][i] * width, vectors[1] + number[1][i] * width);
        }
    m.cosine = xlm_pair_cosines_mean(&all);
    m.shuffled = xlm_pair_cosines_shuffled(&all);
    xlm_pair_cosines_close(&all);
    if (list->scores->len > 0)
        correlate(&m, scores, cosines);
    for (int s = 0; s < 2; s++) {
        xlm_word_set_close(&set[s]);
        g_free(vectors[s]);
        g_free(number[s]);
    }
    return m;
}
