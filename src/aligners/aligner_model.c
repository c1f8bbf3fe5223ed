/* xlm-mpi: the file of a trained word aligner. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/aligner_model.h"

#include <string.h>

#include "store/store.h"

static const int64_t MAX_COUNT = (int64_t)1 << 60; /* of a count, so that sums do not overflow */
static const char *const groups[] = {"pairs", "source", "target", "whole"}; /* [xlm_table_of] */

/* "/source/links"; g_free. */
static char *path_of(const xlm_table *table) { return g_strconcat("/", groups[table->of], "/", table->name, NULL); }

/* ---- writing ---- */

/* Write the words of all owners in order. */
static bool write_words(xlm_store *store, const xlm_comm *comm, const xlm_word_numbers *numbers, const char *path, GError **error)
{
    g_autoptr(GString) own = g_string_new(NULL);
    for (guint i = 0; i < numbers->texts->len; i++) {
        const char *text = g_ptr_array_index(numbers->texts, i);
        g_string_append_len(own, text, (gssize)strlen(text) + 1);
    }
    void *all;
    g_autofree size_t *sizes = g_new(size_t, comm->ranks);
    xlm_comm_gather_all(comm, own->str, own->len, &all, sizes);
    g_autofree char *bytes = all, **words = g_new0(char *, numbers->all + 1);
    for (int64_t i = 0, at = 0; i < numbers->all; i++, at += (int64_t)strlen(bytes + at) + 1)
        words[i] = bytes + at;
    return xlm_store_write_strings(store, path, (uint64_t)numbers->all, (const char *const *)words, error);
}

/* rows: of this rank. */
static bool write_table(xlm_store *store, const xlm_table *table, int64_t rows, const int64_t *counts, GError **error)
{
    g_autofree char *path = path_of(table);
    return xlm_store_write_parts(store, path, XLM_I64, (uint64_t)table->width, rows, counts, error) &&
           xlm_store_set_text(store, path, "meaning", table->meaning, error);
}

/* The rows of a table for the pairs that are used. */
static int64_t *select_rows(const bool *used, int64_t n, const int64_t *counts, int width)
{
    int64_t *selected = g_new(int64_t, n * width + 1), *to = selected;
    for (int64_t i = 0; i < n; i++)
        if (used[i]) {
            memcpy(to, counts + i * width, sizeof *to * (size_t)width);
            to += width;
        }
    return selected;
}

static bool write_pairs(xlm_store *store, const xlm_comm *comm, const xlm_aligner_record *r, GError **error)
{
    const xlm_table *tables = r->aligner->tables;
    const int64_t first_word = r->numbers[0]->owned[comm->rank], words = r->numbers[0]->owned[comm->rank + 1] - first_word;
    int64_t n;
    const xlm_count_key *keys = xlm_shared_counts_owned(r->pairs, &n);
    g_autofree bool *used = g_new0(bool, n);
    for (int t = 0; tables[t].name != NULL; t++)
        for (int64_t i = 0; tables[t].of == XLM_TABLE_PAIRS && i < n * tables[t].width; i++)
            used[i / tables[t].width] |= r->sums[t][i] != 0;
    g_autofree uint64_t *offsets = g_new0(uint64_t, words + 1);
    g_autofree uint32_t *targets = g_new(uint32_t, n);
    int64_t rows = 0;
    for (int64_t i = 0; i < n; i++)
        if (used[i]) {
            targets[rows++] = keys[i].second;
            offsets[keys[i].first - first_word + 1]++;
        }
    for (int64_t w = 0; w < words; w++)
        offsets[w + 1] += offsets[w];
    bool good = xlm_store_write_offsets(store, "/pairs/offsets", words, offsets, error) &&
                xlm_store_write_parts(store, "/pairs/targets", XLM_U32, 0, rows, targets, error);
    for (int t = 0; good && tables[t].name != NULL; t++)
        if (tables[t].of == XLM_TABLE_PAIRS) {
            g_autofree int64_t *counts = select_rows(used, n, r->sums[t], tables[t].width);
            good = write_table(store, &tables[t], rows, counts, error);
        }
    return good;
}

static bool write_attributes(xlm_store *store, const xlm_aligner_record *r, GError **error)
{
    return xlm_store_set_format(store, XLM_ALIGNER_FORMAT, XLM_ALIGNER_VERSION, "xlm_align", error) &&
           xlm_store_set_text(store, "/", "command", r->command, error) &&
           xlm_store_set_text(store, "/", "method", r->aligner->name, error) &&
           xlm_store_set_text(store, "/", "words", xlm_word_mode_name(r->words), error) &&
           xlm_store_set_int(store, "/", "lower_case", r->lower, error) &&
           xlm_store_set_int(store, "/", "sentence_pairs", r->sentence_pairs, error) &&
           xlm_store_set_int(store, "/", "iterations", r->iterations, error) &&
           xlm_store_set_int(store, "/", "unit", XLM_COUNT_UNIT, error);
}

bool xlm_aligner_model_write(const xlm_comm *comm, const char *path, const xlm_aligner_record *r, GError **error)
{
    xlm_store *store = xlm_store_create(comm, path, error);
    bool good = store != NULL && write_attributes(store, r, error) &&
                write_words(store, comm, r->numbers[0], "/source/words", error) &&
                write_words(store, comm, r->numbers[1], "/target/words", error) && write_pairs(store, comm, r, error);
    for (const xlm_table *table = r->aligner->tables; good && table->name != NULL; table++) {
        const int64_t *sums = r->sums[table - r->aligner->tables];
        if (table->of == XLM_TABLE_WHOLE) {
            good = write_table(store, table, comm->rank == 0, sums, error);
        } else if (table->of != XLM_TABLE_PAIRS) {
            const int64_t *owned = r->numbers[table->of == XLM_TABLE_TARGET]->owned + comm->rank;
            good = write_table(store, table, owned[1] - owned[0], sums, error);
        }
    }
    return xlm_store_end(store, good, error);
}

/* ---- reading ---- */

static bool refuse(const xlm_store *store, const char *what, GError **error)
{
    return xlm_error_set(error, EX_DATAERR, "%s: %s; make it again with xlm_align --save", xlm_store_path(store), what);
}

static bool read_attributes(const xlm_store *store, xlm_aligner_model *m, GError **error)
{
    int64_t lower = 0, unit = 0;
    g_autofree char *method = xlm_store_get_text(store, "/", "method", error);
    g_autofree char *words = method != NULL ? xlm_store_get_text(store, "/", "words", error) : NULL;
    bool good = words != NULL && xlm_store_get_int(store, "/", "lower_case", &lower, error) &&
                xlm_store_get_int(store, "/", "sentence_pairs", &m->sentence_pairs, error) &&
                xlm_store_get_int(store, "/", "unit", &unit, error);
    if (good) {
        m->aligner = xlm_aligner_find(method, NULL);
        m->lower = lower != 0;
        good = m->aligner != NULL && xlm_word_mode_find(words, &m->words) && unit == XLM_COUNT_UNIT &&
               m->sentence_pairs >= 0 && m->sentence_pairs <= MAX_COUNT;
        if (!good)
            refuse(store, "method, words, unit or sentence pairs are none that this version knows", error);
    }
    return good;
}

static bool read_words(const xlm_store *store, xlm_aligner_model *m, int side, GError **error)
{
    uint64_t n;
    m->texts[side] = xlm_store_read_strings(store, side == 0 ? "/source/words" : "/target/words", G_MAXINT32, &n, error);
    if (m->texts[side] == NULL)
        return false;
    m->types[side] = (int64_t)n;
    if (n == 0)
        return refuse(store, "has no words", error);
    for (uint64_t i = 0; i < n; i++)
        if (m->texts[side][i][0] == '\0' || !g_utf8_validate(m->texts[side][i], -1, NULL))
            return refuse(store, "a word is empty or not UTF-8", error);
    for (uint64_t i = 1; i < n; i++)
        if (xlm_word_numbers_compare(m->texts[side][i - 1], m->texts[side][i]) >= 0)
            return refuse(store, "words are not in their order", error);
    return true;
}

/* This rank's part of n rows. */
static void take_part(const xlm_comm *comm, int64_t n, int64_t *first, int64_t *rows)
{
    *first = n / comm->ranks * comm->rank + MIN(comm->rank, n % comm->ranks);
    *rows = n / comm->ranks + (comm->rank < n % comm->ranks);
}

/* The pairs of this rank; every rank reads all offsets. */
static bool read_pairs(const xlm_store *store, const xlm_comm *comm, xlm_aligner_model *m, int64_t *all, GError **error)
{
    const int64_t words = m->types[0];
    xlm_array array = {XLM_U64, (uint64_t)words + 1, 0}, targets = {XLM_U32, XLM_ANY, 0};
    g_autofree uint64_t *offsets = xlm_store_read_all(store, "/pairs/offsets", &array, error);
    if (offsets == NULL || !xlm_store_shape(store, "/pairs/targets", &targets, error))
        return false;
    *all = (int64_t)targets.rows;
    take_part(comm, *all, &m->first[XLM_TABLE_PAIRS], &m->rows[XLM_TABLE_PAIRS]);
    const int64_t first = m->first[XLM_TABLE_PAIRS], n = m->rows[XLM_TABLE_PAIRS];
    m->sources = g_new(uint32_t, n);
    m->targets = g_new(uint32_t, n);
    bool good = xlm_store_read(store, "/pairs/targets", targets, (uint64_t)first, (uint64_t)n, m->targets, error);
    bool fits = good && offsets[0] == 0 && offsets[words] == targets.rows;
    for (int64_t w = 0; w < words && fits; w++) {
        fits = offsets[w] <= offsets[w + 1] && offsets[w + 1] <= targets.rows;
        for (int64_t i = MAX((int64_t)offsets[w], first); fits && i < MIN((int64_t)offsets[w + 1], first + n); i++)
            m->sources[i - first] = (uint32_t)w;
    }
    uint32_t before = 0; /* the target of the pair before this rank's */
    if (good && first > 0 && n > 0)
        good = xlm_store_read(store, "/pairs/targets", targets, (uint64_t)first - 1, 1, &before, error);
    for (int64_t i = 0; i < n && good && fits; before = m->targets[i++])
        fits = m->targets[i] < m->types[1] && ((uint64_t)(first + i) == offsets[m->sources[i]] || m->targets[i] > before);
    return good && (fits || refuse(store, "/pairs: offsets or targets do not fit the words", error));
}

/* Counts must not be negative or so large that sums might overflow. */
static bool check_counts(const xlm_store *store, const xlm_table *table, const int64_t *counts, int64_t n, GError **error)
{
    for (int64_t i = 0; i < n; i++)
        if (counts[i] < 0 || counts[i] > MAX_COUNT) {
            g_autofree char *what = g_strdup_printf("/%s/%s: has a count that is negative or too large", groups[table->of],
                                                    table->name);
            return refuse(store, what, error);
        }
    return true;
}

static bool read_tables(const xlm_store *store, const xlm_comm *comm, xlm_aligner_model *m, GError **error)
{
    int64_t all[4] = {0, m->types[0], m->types[1], 1};
    bool good = read_pairs(store, comm, m, &all[XLM_TABLE_PAIRS], error);
    for (int of = XLM_TABLE_SOURCE; of <= XLM_TABLE_WHOLE; of++)
        take_part(comm, all[of], &m->first[of], &m->rows[of]);
    for (int t = 0; good && m->aligner->tables[t].name != NULL; t++) {
        const xlm_table *table = &m->aligner->tables[t];
        g_autofree char *path = path_of(table);
        const int64_t first = m->first[table->of], rows = m->rows[table->of];
        const xlm_array array = {XLM_I64, (uint64_t)all[table->of], (uint64_t)table->width};
        m->counts[t] = g_new(int64_t, rows * table->width + 1);
        good = xlm_store_read(store, path, array, (uint64_t)first, (uint64_t)rows, m->counts[t], error) &&
               check_counts(store, table, m->counts[t], rows * table->width, error);
    }
    return good;
}

xlm_aligner_model *xlm_aligner_model_read(const xlm_comm *comm, const char *path, GError **error)
{
    GError *failure = NULL;
    xlm_aligner_model *m = g_new0(xlm_aligner_model, 1);
    g_autoptr(xlm_store) store = xlm_store_open(path, &failure);
    if (store != NULL && xlm_store_check_format(store, XLM_ALIGNER_FORMAT, XLM_ALIGNER_VERSION, "a model of a word aligner",
                                                "xlm_align --save", &failure) &&
        read_attributes(store, m, &failure) && read_words(store, m, 0, &failure) && read_words(store, m, 1, &failure))
        read_tables(store, comm, m, &failure);
    if (!xlm_comm_agree_on(comm, failure, error))
        g_clear_pointer(&m, xlm_aligner_model_free);
    return m;
}

void xlm_aligner_model_free(xlm_aligner_model *m)
{
    if (m == NULL)
        return;
    for (int s = 0; s < 2; s++)
        g_strfreev(m->texts[s]);
    g_free(m->sources);
    g_free(m->targets);
    for (int t = 0; t < XLM_ALIGNER_TABLES; t++)
        g_free(m->counts[t]);
    g_free(m);
}
