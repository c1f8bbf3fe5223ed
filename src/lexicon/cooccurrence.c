/* xlm-mpi: the file of co-occurrence counts, reading. SPDX-License-Identifier: GPL-3.0-or-later */
#include "lexicon/cooccurrence.h"

#include <math.h>
#include <string.h>

#include "corpus/corpus.h"

double xlm_cooccurrence_weight(const char *weights, int64_t r)
{
    if (strcmp(weights, "inverse") == 0)
        return 1 / (double)(r + 1);
    if (strcmp(weights, "glove") == 0)
        return 1 / (double)r;
    return strcmp(weights, "even") == 0 ? 1 : NAN;
}

char *xlm_cooccurrence_group(const char *language) { return g_strconcat("/by_language/", language, NULL); }

/* ---- opening ---- */

static const int64_t MAX_TOKENS = (int64_t)1 << 56; /* sums of counts are then below 2^63 */

static bool damaged(const xlm_store *store, GError **error, const char *what)
{
    return xlm_error_set(error, EX_DATAERR, "%s: %s; the file is damaged", xlm_store_path(store), what);
}

static bool read_attributes(xlm_cooccurrence *t, GError **error)
{
    xlm_store *store = t->store;
    xlm_cooccurrence_rule *rule = &t->rule;
    if (!xlm_store_get_digest(store, "/", "corpus_digest", &t->corpus_digest, error) ||
        !xlm_store_get_int(store, "/", "vocabulary", &t->vocabulary, error) ||
        !xlm_store_get_int(store, "/", "window", &rule->window, error) ||
        !xlm_store_get_int(store, "/", "min_count", &rule->min_count, error) ||
        !xlm_store_get_int(store, "/", "max_vocabulary", &rule->max_vocabulary, error) ||
        !xlm_store_get_int(store, "/", "tokens", &t->tokens, error) ||
        (t->texts[0] = xlm_store_get_text(store, "/", "weights", error)) == NULL ||
        (t->texts[1] = xlm_store_get_text(store, "/", "factors", error)) == NULL)
        return false;
    if (!xlm_store_get_digest(store, "/", "subwords_digest", &t->subwords_digest, NULL))
        t->subwords_digest = 0;
    rule->weights = t->texts[0];
    rule->factors = t->texts[1];
    if (t->vocabulary < 1 || t->vocabulary > INT32_MAX)
        return damaged(store, error, "vocabulary is out of range");
    if (rule->window < 1 || rule->window > XLM_COOCCURRENCE_MAX_WINDOW)
        return damaged(store, error, "window is out of range");
    if (rule->min_count < 0 || rule->max_vocabulary < 0 || t->tokens < 0 || t->tokens > MAX_TOKENS)
        return damaged(store, error, "a count is out of range");
    if (isnan(xlm_cooccurrence_weight(rule->weights, 1)) ||
        (strcmp(rule->factors, "largest") != 0 && strcmp(rule->factors, "none") != 0))
        return damaged(store, error, "weights or factors are unknown");
    return true;
}

bool xlm_cooccurrence_fits(const xlm_cooccurrence *table, const xlm_vocabulary *vocabulary)
{
    return table->corpus_digest == xlm_corpus_digest_of(vocabulary) ||
           (table->subwords_digest != 0 && table->subwords_digest == xlm_corpus_subwords_digest_of(vocabulary));
}

bool xlm_cooccurrence_check_size(const xlm_cooccurrence *table, const xlm_vocabulary *vocabulary, GError **error)
{
    const int64_t size = xlm_vocabulary_size(vocabulary);
    const int languages = xlm_vocabulary_languages(vocabulary);
    return (table->vocabulary == size && table->languages == languages) ||
           xlm_error_set(error, EX_DATAERR, "%s: has %" G_GINT64_FORMAT " subwords and %d languages, but the corpus has %"
                         G_GINT64_FORMAT " and %d; the file is damaged", xlm_store_path(table->store), table->vocabulary,
                         table->languages, size, languages);
}

static xlm_array offsets_of(const xlm_cooccurrence *t) { return (xlm_array){XLM_U64, (uint64_t)t->vocabulary + 1, 0}; }

/* Check that offsets, columns and counts of a group match. width: 0 if counts have one dimension. *number: of entries. */
static bool check_matrix(const xlm_cooccurrence *t, const char *group, uint64_t width, int64_t *number, GError **error)
{
    g_autofree char *offsets = g_strconcat(group, "/offsets", NULL), *columns = g_strconcat(group, "/columns", NULL);
    g_autofree char *counts = g_strconcat(group, "/counts", NULL);
    uint64_t first = 0, entries = 0;
    bool good = xlm_store_read(t->store, offsets, offsets_of(t), 0, 1, &first, error) &&
                xlm_store_read(t->store, offsets, offsets_of(t), (uint64_t)t->vocabulary, 1, &entries, error) &&
                xlm_store_shape(t->store, columns, &(xlm_array){XLM_U32, entries, 0}, error) &&
                xlm_store_shape(t->store, counts, &(xlm_array){width > 0 ? XLM_U64 : XLM_F64, entries, width}, error);
    if (good && first != 0)
        good = xlm_error_set(error, EX_DATAERR, "%s: %s: do not begin with 0; the file is damaged", xlm_store_path(t->store),
                             offsets);
    *number = (int64_t)entries;
    return good;
}

static bool read_languages(xlm_cooccurrence *t, GError **error)
{
    uint64_t n;
    if ((t->language_names = xlm_store_read_strings(t->store, "/languages", 1 << 20, &n, error)) == NULL)
        return false;
    if (n < 1)
        return damaged(t->store, error, "the number of languages is out of range");
    t->languages = (int)n;
    t->language_tokens = g_new0(int64_t, n);
    t->language_entries = g_new0(int64_t, n);
    int64_t sum = 0;
    for (int l = 0; l < t->languages; l++) {
        g_autofree char *group = xlm_cooccurrence_group(t->language_names[l]);
        bool good = true;
        if (xlm_store_has(t->store, group)) {
            good = xlm_store_get_int(t->store, group, "tokens", &t->language_tokens[l], error) &&
                   check_matrix(t, group, (uint64_t)t->rule.window, &t->language_entries[l], error);
            if (good && (t->language_tokens[l] < 1 || t->language_tokens[l] > t->tokens - sum))
                good = damaged(t->store, error, "tokens of the languages are not those of all");
            else if (good)
                sum += t->language_tokens[l];
        }
        if (!good)
            return false;
    }
    return sum == t->tokens || damaged(t->store, error, "tokens of the languages are not those of all");
}

xlm_cooccurrence *xlm_cooccurrence_open(const char *path, GError **error)
{
    xlm_store *store = xlm_store_open(path, error);
    if (store == NULL)
        return NULL;
    xlm_cooccurrence *t = g_new0(xlm_cooccurrence, 1);
    t->store = store;
    if (xlm_store_check_format(store, XLM_COOCCURRENCE_FORMAT, XLM_COOCCURRENCE_VERSION, "a table", "xlm_cooc", error) &&
        read_attributes(t, error) && read_languages(t, error) &&
        check_matrix(t, "/cooccurrence", 0, &t->entries, error) &&
        xlm_store_shape(store, "/words/occurrences", &(xlm_array){XLM_I64, (uint64_t)t->vocabulary, (uint64_t)t->languages},
                        error) &&
        (t->inputs = xlm_store_read_strings(store, "/inputs", INT32_MAX, NULL, error)) != NULL)
        return t;
    xlm_cooccurrence_close(t);
    return NULL;
}

void xlm_cooccurrence_close(xlm_cooccurrence *table)
{
    if (table == NULL)
        return;
    xlm_store_close(table->store);
    g_strfreev(table->language_names);
    g_free(table->language_tokens);
    g_free(table->language_entries);
    g_strfreev(table->inputs);
    g_free(table->texts[0]);
    g_free(table->texts[1]);
    g_free(table);
}

/* ---- rows ---- */

/* offsets[last - first + 1] as in the file, and the columns of rows [first, last), both checked. */
static bool read_rows(const xlm_cooccurrence *t, const char *group, int64_t first, int64_t last, uint64_t *offsets,
                      uint32_t **columns, GError **error)
{
    g_autofree char *offsets_path = g_strconcat(group, "/offsets", NULL), *columns_path = g_strconcat(group, "/columns", NULL);
    const int64_t rows = last - first;
    xlm_array all = {XLM_U32, XLM_ANY, 0};
    *columns = NULL;
    bool good = xlm_store_shape(t->store, columns_path, &all, error) &&
                xlm_store_read(t->store, offsets_path, offsets_of(t), (uint64_t)first, (uint64_t)rows + 1, offsets, error);
    for (int64_t i = 0; i <= rows && good; i++)
        if (offsets[i] > all.rows || (i > 0 && offsets[i] < offsets[i - 1]))
            good = xlm_error_set(error, EX_DATAERR, "%s: %s: element %" G_GINT64_FORMAT " is out of order; the file is damaged",
                                 xlm_store_path(t->store), offsets_path, first + i);
    if (good) {
        const uint64_t n = offsets[rows] - offsets[0];
        *columns = g_new(uint32_t, n + 1);
        good = xlm_store_read(t->store, columns_path, all, offsets[0], n, *columns, error);
    }
    for (int64_t i = 0; i < rows && good; i++)
        for (uint64_t e = offsets[i] - offsets[0]; e < offsets[i + 1] - offsets[0] && good; e++) {
            const bool leads = e == offsets[i] - offsets[0]; /* the first of its row */
            const int64_t column = (*columns)[e], min_column = leads ? first + i : (int64_t)(*columns)[e - 1] + 1;
            if (column < min_column || column >= t->vocabulary)
                good = xlm_error_set(error, EX_DATAERR, "%s: %s: row %" G_GINT64_FORMAT " has column %" G_GINT64_FORMAT " out of "
                                     "order; the file is damaged", xlm_store_path(t->store), columns_path, first + i, column);
        }
    if (!good)
        g_clear_pointer(columns, g_free);
    return good;
}

bool xlm_cooccurrence_read(const xlm_cooccurrence *table, int64_t first, int64_t last, uint64_t *offsets, uint32_t **columns,
                           double **counts, GError **error)
{
    *counts = NULL;
    if (!read_rows(table, "/cooccurrence", first, last, offsets, columns, error))
        return false;
    const uint64_t begin = offsets[0], n = offsets[last - first] - begin;
    *counts = g_new(double, n + 1);
    bool good = xlm_store_read(table->store, "/cooccurrence/counts", (xlm_array){XLM_F64, (uint64_t)table->entries, 0}, begin, n,
                               *counts, error);
    for (uint64_t e = 0; e < n && good; e++)
        if (!((*counts)[e] > 0 && isfinite((*counts)[e])))
            good = damaged(table->store, error, "/cooccurrence/counts has a number that is not a count");
    for (int64_t i = 0; i <= last - first; i++)
        offsets[i] -= begin;
    if (!good) {
        g_clear_pointer(columns, g_free);
        g_clear_pointer(counts, g_free);
    }
    return good;
}

uint64_t *xlm_cooccurrence_read_offsets(const xlm_cooccurrence *table, GError **error)
{
    xlm_array array = offsets_of(table);
    return xlm_store_read_all(table->store, "/cooccurrence/offsets", &array, error);
}

bool xlm_cooccurrence_scan(const xlm_cooccurrence *table, xlm_cooccurrence_visit *visit, void *data, GError **error)
{
    enum { ENTRIES = 1 << 21 };
    const int64_t rows = table->vocabulary;
    g_autofree uint64_t *ends = xlm_cooccurrence_read_offsets(table, error);
    bool good = ends != NULL;
    for (int64_t first = 0, last; first < rows && good; first = last) {
        for (last = first + 1; last < rows && ends[last + 1] - ends[first] <= ENTRIES;)
            last++;
        g_autofree uint64_t *offsets = g_new(uint64_t, last - first + 1);
        g_autofree uint32_t *columns = NULL;
        g_autofree double *counts = NULL;
        good = xlm_cooccurrence_read(table, first, last, offsets, &columns, &counts, error);
        for (int64_t i = 0; i < last - first && good; i++)
            if (offsets[i + 1] > offsets[i])
                good = visit(first + i, (int64_t)(offsets[i + 1] - offsets[i]), columns + offsets[i], counts + offsets[i], data);
    }
    return good;
}

/* At each distance a token is the first of at most one pair, and so the counts of all pairs sum to at most twice the number of
 * tokens. Sums of checked counts do not overflow. */
static bool check_counts(const xlm_cooccurrence *t, int language, const uint64_t *counts, int64_t n, GError **error)
{
    const uint64_t max_count = 2 * (uint64_t)t->language_tokens[language];
    uint64_t sums[XLM_COOCCURRENCE_MAX_WINDOW] = {0};
    for (int64_t e = 0; e < n; e++)
        for (int64_t r = 0; r < t->rule.window; r++) {
            const uint64_t count = counts[e * t->rule.window + r];
            if (count > max_count || (sums[r] += count) > max_count)
                return damaged(t->store, error, "pairs are counted more often than there are tokens");
        }
    return true;
}

bool xlm_cooccurrence_read_language(const xlm_cooccurrence *table, int language, int64_t first, int64_t last, uint64_t **words,
                                    int64_t *n, GError **error)
{
    const int width = (int)table->rule.window;
    g_autofree char *group = xlm_cooccurrence_group(table->language_names[language]);
    g_autofree char *counts_path = g_strconcat(group, "/counts", NULL);
    g_autofree uint64_t *offsets = g_new(uint64_t, last - first + 1), *counts = NULL;
    g_autofree uint32_t *columns = NULL;
    *words = NULL;
    *n = 0;
    bool good = table->language_tokens[language] == 0 || read_rows(table, group, first, last, offsets, &columns, error);
    if (good && columns != NULL) {
        *n = (int64_t)(offsets[last - first] - offsets[0]);
        counts = g_new(uint64_t, *n * width + 1);
        const xlm_array all = {XLM_U64, (uint64_t)table->language_entries[language], (uint64_t)width};
        good = xlm_store_read(table->store, counts_path, all, offsets[0], (uint64_t)*n, counts, error);
    }
    if (good && *n > 0) {
        *words = g_new(uint64_t, *n * (1 + width));
        for (int64_t i = 0; i < last - first; i++)
            for (uint64_t e = offsets[i] - offsets[0]; e < offsets[i + 1] - offsets[0]; e++) {
                uint64_t *record = *words + e * (uint64_t)(1 + width);
                record[0] = xlm_pair((uint32_t)(first + i), columns[e]);
                memcpy(record + 1, counts + e * (uint64_t)width, sizeof(uint64_t) * (size_t)width);
            }
        good = check_counts(table, language, counts, *n, error);
        if (!good)
            g_clear_pointer(words, g_free);
    }
    return good;
}

/* ---- words ---- */

uint8_t *xlm_cooccurrence_read_counted(const xlm_cooccurrence *table, GError **error)
{
    static const char path[] = "/words/counted";
    xlm_array array = {XLM_U8, (uint64_t)table->vocabulary, 0};
    uint8_t *counted = xlm_store_has(table->store, path) ? xlm_store_read_all(table->store, path, &array, error) : NULL;
    bool good = true;
    for (int64_t i = 0; i < table->vocabulary && counted != NULL && good; i++)
        if (counted[i] > 1)
            good = damaged(table->store, error, "/words/counted has a number that is neither 0 nor 1");
    if (!good)
        g_clear_pointer(&counted, g_free);
    return counted;
}

int64_t *xlm_cooccurrence_read_occurrences(const xlm_cooccurrence *table, GError **error)
{
    const int64_t n = table->vocabulary * table->languages;
    xlm_array array = {XLM_I64, (uint64_t)table->vocabulary, (uint64_t)table->languages};
    int64_t *occurrences = xlm_store_read_all(table->store, "/words/occurrences", &array, error);
    bool good = occurrences != NULL;
    for (int64_t i = 0; i < n && good; i++)
        if (occurrences[i] < 0 || occurrences[i] > table->tokens)
            good = damaged(table->store, error, "/words/occurrences has a number that is not a count");
    if (!good)
        g_clear_pointer(&occurrences, g_free);
    return occurrences;
}

double *xlm_cooccurrence_read_totals(const xlm_cooccurrence *table, GError **error)
{
    xlm_array array = {XLM_F64, (uint64_t)table->vocabulary, 0};
    double *totals = xlm_store_read_all(table->store, "/words/totals", &array, error);
    bool good = totals != NULL;
    for (int64_t i = 0; i < table->vocabulary && good; i++)
        if (!(totals[i] >= 0 && isfinite(totals[i])))
            good = damaged(table->store, error, "/words/totals has a number that is not a count");
    if (!good)
        g_clear_pointer(&totals, g_free);
    return totals;
}

char **xlm_cooccurrence_read_words(const xlm_cooccurrence *table, GError **error)
{
    uint64_t n;
    char **words = xlm_store_read_strings(table->store, "/words/subwords", INT32_MAX, &n, error);
    if (words != NULL && n != (uint64_t)table->vocabulary) {
        g_clear_pointer(&words, g_strfreev);
        damaged(table->store, error, "/words/subwords are not as many as the vocabulary has");
    }
    return words;
}
