/* xlm-mpi: the file of co-occurrence counts, writing. SPDX-License-Identifier: GPL-3.0-or-later */
#include "lexicon/cooccurrence_write.h"

#include <string.h>

#include "base/progress.h"

enum { BLOCK = 1 << 20 /* counts that a rank writes at once */ };

struct writing {
    const xlm_comm *comm;
    const xlm_cooccurrence_record *record;
    xlm_store *store;
    int64_t vocabulary, tokens; /* V, and tokens of all languages */
    int languages;
    int64_t *language_tokens; /* [languages] */
    double *factor;           /* [languages] */
    double weight[XLM_COOCCURRENCE_MAX_WINDOW + 1]; /* by distance */
    double *totals;           /* [V] sum of X_ij over j */
    xlm_progress progress;
    int64_t read;             /* records of this rank; each is read READINGS times */
};

/* ---- numbers ---- */

static void find_factors(struct writing *w)
{
    const bool largest = strcmp(w->record->rule.factors, "largest") == 0;
    int64_t largest_text = 0;
    for (int64_t i = 0; i < w->vocabulary; i++)
        for (int l = 0; l < w->languages; l++)
            w->language_tokens[l] += w->record->occurrences[i * w->languages + l];
    for (int l = 0; l < w->languages; l++) {
        largest_text = MAX(largest_text, w->language_tokens[l]);
        w->tokens += w->language_tokens[l];
    }
    for (int l = 0; l < w->languages; l++)
        w->factor[l] = largest && w->language_tokens[l] > 0 ? (double)largest_text / (double)w->language_tokens[l] : 1;
}

/* What a record adds to X, before it is multiplied by the factor of its language. */
static double weigh(const struct writing *w, const uint64_t *record)
{
    double sum = 0;
    for (int64_t r = 1; r <= w->record->rule.window; r++)
        sum += w->weight[r] * (double)record[r];
    return sum;
}

/* ---- records ---- */

enum { READINGS = 4, RECORDS_A_SHOW = 1024 };

static xlm_progress begin_progress(const struct writing *w)
{
    int64_t records = 0;
    for (int l = 0; l < w->languages; l++)
        records += w->record->counts[l] != NULL ? xlm_pair_runs_records(w->record->counts[l]) : 0;
    return xlm_progress_begin("writing counts", READINGS * (double)records, "pairs");
}

static const uint64_t *next_record(struct writing *w, xlm_pair_merge *merge, int *language)
{
    const uint64_t *record = xlm_pair_merge_next(merge, language);
    if (record != NULL && w->read++ % RECORDS_A_SHOW == 0)
        xlm_progress_show(&w->progress, (double)w->read);
    return record;
}

/* ---- matrices ---- */

/* A matrix that is written to the file a block at a time. */
struct matrix {
    char *offsets, *columns, *counts; /* paths */
    xlm_type count_type;
    int64_t width;          /* counts of an entry */
    uint64_t base;          /* entries of the ranks before this one */
    uint64_t done;          /* entries of this rank written so far */
    uint64_t *row_entries;  /* [own rows] */
    int64_t max_entries;           /* entries that are written at once */
    uint32_t *column_block; /* [max_entries] */
    void *count_block;      /* [max_entries x width] of the type */
    int64_t n;              /* in the block */
};

static bool begin_matrix(struct writing *w, struct matrix *m, const char *group, xlm_type count_type, int64_t width,
                         bool two_dimensions, int64_t entries, GError **error)
{
    int64_t all = entries;
    const int64_t max_entries = BLOCK / width;
    xlm_comm_sum_int64(w->comm, &all, 1);
    *m = (struct matrix){.offsets = g_strconcat(group, "/offsets", NULL), .columns = g_strconcat(group, "/columns", NULL),
                         .counts = g_strconcat(group, "/counts", NULL), .count_type = count_type, .width = width,
                         .base = (uint64_t)xlm_comm_sum_below(w->comm, entries),
                         .row_entries = g_new0(uint64_t, w->record->last_row - w->record->first_row + 1),
                         .max_entries = max_entries, .column_block = g_new(uint32_t, max_entries),
                         .count_block = g_malloc(xlm_type_size(count_type) * (size_t)(max_entries * width))};
    const uint64_t rows[1] = {(uint64_t)w->vocabulary + 1}, columns[2] = {(uint64_t)all, (uint64_t)width};
    return xlm_store_dataset(w->store, m->offsets, XLM_U64, 1, rows, XLM_STORE_CHECKED, error) &&
           xlm_store_dataset(w->store, m->columns, XLM_U32, 1, columns, XLM_STORE_CHECKED, error) &&
           xlm_store_dataset(w->store, m->counts, count_type, two_dimensions ? 2 : 1, columns, XLM_STORE_CHECKED, error);
}

static bool write_block(const struct writing *w, struct matrix *m, GError **error)
{
    const uint64_t at = m->base + m->done;
    m->done += (uint64_t)m->n;
    const bool good = xlm_store_write(w->store, m->columns, at, (uint64_t)m->n, m->column_block, error) &&
                      xlm_store_write(w->store, m->counts, at, (uint64_t)m->n, m->count_block, error);
    m->n = 0;
    return good;
}

/* Offsets of own rows; the last rank adds the end. */
static bool end_matrix(const struct writing *w, struct matrix *m, GError **error)
{
    const int64_t first = w->record->first_row, rows = w->record->last_row - first;
    const bool last = w->comm->rank == w->comm->ranks - 1;
    uint64_t at = m->base;
    for (int64_t i = 0; i <= rows; i++) {
        const uint64_t here = m->row_entries[i];
        m->row_entries[i] = at;
        at += here;
    }
    return xlm_store_write(w->store, m->offsets, (uint64_t)first, (uint64_t)(rows + last), m->row_entries, error);
}

static void free_matrix(struct matrix *m)
{
    g_free(m->offsets);
    g_free(m->columns);
    g_free(m->counts);
    g_free(m->row_entries);
    g_free(m->column_block);
    g_free(m->count_block);
}

static void add_entry(const struct writing *w, struct matrix *m, uint64_t pair)
{
    m->column_block[m->n++] = xlm_pair_column(pair);
    m->row_entries[xlm_pair_row(pair) - w->record->first_row]++;
}

/* Collective: has any rank more to write? */
static bool more_on_any_rank(const struct writing *w, bool more)
{
    int64_t any = more;
    xlm_comm_max_int64(w->comm, &any, 1);
    return any != 0;
}

/* ---- one language ---- */

/* The counts of an entry in the type of the file. */
static void put_counts(struct matrix *m, const uint64_t *counts)
{
    for (int64_t r = 0; r < m->width; r++)
        if (m->count_type == XLM_U32)
            ((uint32_t *)m->count_block)[m->n * m->width + r] = (uint32_t)counts[r];
        else
            ((uint64_t *)m->count_block)[m->n * m->width + r] = counts[r];
}

/* Read the records of this rank. [out] wide: counts need 64 bits; sums: [V x window] what they add to the rows' totals. */
static void look_at_counts(struct writing *w, int language, int64_t *wide, int64_t *sums)
{
    const int width = (int)w->record->rule.window;
    xlm_pair_merge *merge = xlm_pair_merge_new(width);
    xlm_pair_merge_add(merge, w->record->counts[language], 0, 0, w->vocabulary);
    *wide = 0;
    for (const uint64_t *record; (record = next_record(w, merge, NULL)) != NULL;) {
        const int64_t row = xlm_pair_row(record[0]), column = xlm_pair_column(record[0]);
        for (int r = 0; r < width; r++) {
            *wide |= record[1 + r] > UINT32_MAX;
            sums[row * width + r] += (int64_t)record[1 + r];
            if (row != column)
                sums[column * width + r] += (int64_t)record[1 + r];
        }
    }
    xlm_pair_merge_free(merge);
}

static void add_totals(struct writing *w, int language, const int64_t *sums)
{
    const int64_t width = w->record->rule.window;
    for (int64_t i = 0; i < w->vocabulary; i++)
        for (int64_t r = 1; r <= width; r++)
            w->totals[i] += w->factor[language] * w->weight[r] * (double)sums[i * width + r - 1];
}

static bool copy_counts(struct writing *w, int language, struct matrix *m, GError **error)
{
    xlm_pair_merge *merge = xlm_pair_merge_new((int)m->width);
    xlm_pair_merge_add(merge, w->record->counts[language], 0, 0, w->vocabulary);
    bool good = true, any = true;
    while (good && any) {
        const uint64_t *record = NULL;
        while (m->n < m->max_entries && (record = next_record(w, merge, NULL)) != NULL) {
            put_counts(m, record + 1);
            add_entry(w, m, record[0]);
        }
        any = more_on_any_rank(w, record != NULL);
        good = write_block(w, m, error);
    }
    xlm_pair_merge_free(merge);
    return good;
}

static bool write_language(struct writing *w, int language, GError **error)
{
    const int64_t width = w->record->rule.window;
    const char *name = xlm_vocabulary_language_names(w->record->vocabulary)[language];
    g_autofree char *group = xlm_cooccurrence_group(name);
    g_autofree int64_t *sums = g_new0(int64_t, w->vocabulary * width);
    int64_t wide;
    struct matrix m;
    look_at_counts(w, language, &wide, sums);
    xlm_comm_max_int64(w->comm, &wide, 1);
    xlm_comm_sum_int64(w->comm, sums, w->vocabulary * width);
    add_totals(w, language, sums);
    const bool good = begin_matrix(w, &m, group, wide != 0 ? XLM_U64 : XLM_U32, width, true,
                                   xlm_pair_runs_records(w->record->counts[language]), error) &&
                      copy_counts(w, language, &m, error) && end_matrix(w, &m, error) &&
                      xlm_store_set_text(w->store, group, "language", name, error) &&
                      xlm_store_set_int(w->store, group, "tokens", w->language_tokens[language], error) &&
                      xlm_store_set_real(w->store, group, "factor", w->factor[language], error);
    free_matrix(&m);
    return good;
}

/* ---- all languages together ---- */

static xlm_pair_merge *merge_languages(const struct writing *w)
{
    xlm_pair_merge *merge = xlm_pair_merge_new((int)w->record->rule.window);
    for (int l = 0; l < w->languages; l++)
        if (w->record->counts[l] != NULL)
            xlm_pair_merge_add(merge, w->record->counts[l], l, 0, w->vocabulary);
    return merge;
}

/* Count the pairs that occur in any language. */
static int64_t count_entries(struct writing *w)
{
    xlm_pair_merge *merge = merge_languages(w);
    uint64_t last = UINT64_MAX; /* no pair: a column is below 2^31 */
    int64_t entries = 0;
    for (const uint64_t *record; (record = next_record(w, merge, NULL)) != NULL; last = record[0])
        entries += record[0] != last;
    xlm_pair_merge_free(merge);
    return entries;
}

/* Write X in blocks. A pair's records come in the order of languages, so sums do not depend on which rank has the row. */
static bool copy_sums(struct writing *w, struct matrix *m, GError **error)
{
    xlm_pair_merge *merge = merge_languages(w);
    int language;
    const uint64_t *record = next_record(w, merge, &language);
    double *sums = m->count_block;
    bool good = true, any = true;
    while (good && any) {
        while (m->n < m->max_entries && record != NULL) {
            const uint64_t pair = record[0];
            double sum = 0;
            do
                sum += w->factor[language] * weigh(w, record);
            while ((record = next_record(w, merge, &language)) != NULL && record[0] == pair);
            sums[m->n] = sum;
            add_entry(w, m, pair);
        }
        any = more_on_any_rank(w, record != NULL);
        good = write_block(w, m, error);
    }
    xlm_pair_merge_free(merge);
    return good;
}

static bool write_sums(struct writing *w, int64_t *entries, GError **error)
{
    *entries = count_entries(w);
    struct matrix m;
    const bool good = begin_matrix(w, &m, "/cooccurrence", XLM_F64, 1, false, *entries, error) && copy_sums(w, &m, error) &&
                      end_matrix(w, &m, error) &&
                      xlm_store_set_text(w->store, "/cooccurrence", "description",
                                         "X_ij, weighted counts of all languages, in compressed rows; symmetric, j >= i", error);
    free_matrix(&m);
    xlm_comm_sum_int64(w->comm, entries, 1);
    return good;
}

/* ---- the file ---- */

static bool write_words(struct writing *w, GError **error)
{
    const xlm_vocabulary *v = w->record->vocabulary;
    const uint64_t languages = (uint64_t)w->languages;
    const int64_t rows = w->comm->rank == 0 ? w->vocabulary : 0;
    return xlm_store_write_strings(w->store, "/languages", languages, xlm_vocabulary_language_names(v), error) &&
           xlm_store_write_strings(w->store, "/words/subwords", (uint64_t)w->vocabulary, xlm_vocabulary_words(v), error) &&
           xlm_store_write_parts(w->store, "/words/occurrences", XLM_I64, languages, rows, w->record->occurrences, error) &&
           xlm_store_write_parts(w->store, "/words/totals", XLM_F64, 0, rows, w->totals, error) &&
           xlm_store_write_parts(w->store, "/words/counted", XLM_U8, 0, rows, w->record->counted, error);
}

static bool write_attributes(struct writing *w, GError **error)
{
    const xlm_cooccurrence_record *r = w->record;
    return xlm_store_set_format(w->store, XLM_COOCCURRENCE_FORMAT, XLM_COOCCURRENCE_VERSION, "xlm_cooc", error) &&
           xlm_store_set_text(w->store, "/", "description", "how often subwords occur near one another", error) &&
           xlm_store_set_text(w->store, "/", "command", r->command, error) &&
           xlm_store_set_digest(w->store, "/", "corpus_digest", r->corpus_digest, error) &&
           xlm_store_set_digest(w->store, "/", "subwords_digest", r->subwords_digest, error) &&
           xlm_store_set_int(w->store, "/", "vocabulary", w->vocabulary, error) &&
           xlm_store_set_int(w->store, "/", "window", r->rule.window, error) &&
           xlm_store_set_text(w->store, "/", "weights", r->rule.weights, error) &&
           xlm_store_set_text(w->store, "/", "factors", r->rule.factors, error) &&
           xlm_store_set_int(w->store, "/", "min_count", r->rule.min_count, error) &&
           xlm_store_set_int(w->store, "/", "max_vocabulary", r->rule.max_vocabulary, error) &&
           xlm_store_set_int(w->store, "/", "tokens", w->tokens, error) &&
           xlm_store_write_strings(w->store, "/inputs", g_strv_length(r->inputs), (const char *const *)r->inputs, error);
}

bool xlm_cooccurrence_write(const xlm_comm *comm, const char *path, const xlm_cooccurrence_record *record, int64_t *entries,
                            GError **error)
{
    struct writing w = {.comm = comm, .record = record, .vocabulary = xlm_vocabulary_size(record->vocabulary),
                        .languages = xlm_vocabulary_languages(record->vocabulary)};
    w.language_tokens = g_new0(int64_t, w.languages);
    w.factor = g_new0(double, w.languages);
    w.totals = g_new0(double, w.vocabulary);
    find_factors(&w);
    for (int64_t r = 1; r <= record->rule.window; r++)
        w.weight[r] = xlm_cooccurrence_weight(record->rule.weights, r);
    bool good = (w.store = xlm_store_create(comm, path, error)) != NULL;
    if (good) {
        good = write_attributes(&w, error);
        w.progress = begin_progress(&w);
        for (int l = 0; l < w.languages && good; l++)
            if (record->counts[l] != NULL)
                good = write_language(&w, l, error);
        good = good && write_sums(&w, entries, error) && write_words(&w, error);
        xlm_progress_end(&w.progress);
        good = xlm_store_end(w.store, good, error);
    }
    g_free(w.language_tokens);
    g_free(w.factor);
    g_free(w.totals);
    return good;
}
