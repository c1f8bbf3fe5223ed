/* xlm-mpi: embeddings by counting: factors of a co-occurrence table. SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/factorise.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "files/path.h"
#include "maps/association.h"
#include "maps/truncated_svd.h"
#include "vectors/cosines.h"
#include "vectors/vector_file.h"

typedef struct work {
    const xlm_comm *comm;
    const xlm_factorise_options *o;
    xlm_cooccurrence *table;
    char **words;
    xlm_association association;
    xlm_truncated_svd svd;
    int64_t dimensions; /* number of the requested dimensions whose singular values are above THRESHOLD times the largest */
} work;

/* Singular values are roots of eigenvalues of MᵀM, of which rounding leaves some 1e-16 of the largest. */
#define THRESHOLD 1e-6

static void multiply(const void *data, bool transpose, int64_t columns, const double *x, double *y)
{
    xlm_association_multiply(data, transpose, columns, x, y);
}

static bool open_inputs(work *w, GError **error)
{
    const xlm_factorise_options *o = w->o;
    if (w->comm->rank == 0 && !xlm_path_check_outputs(&o->output, 1, &o->table, 1, error))
        return false;
    if ((w->table = xlm_cooccurrence_open(o->table, error)) == NULL ||
        (w->words = xlm_cooccurrence_read_words(w->table, error)) == NULL)
        return false;
    if (w->table->entries == 0)
        return xlm_error_set(error, EX_DATAERR, "%s: has no counts", o->table);
    return o->rank <= w->table->vocabulary ||
           xlm_error_set(error, EX_DATAERR, "%s: has %" G_GINT64_FORMAT " subwords, and no %" G_GINT64_FORMAT " dimensions; take "
                         "a smaller --rank", o->table, w->table->vocabulary, o->rank);
}

/* Log how much memory the work will take; it is an error if that is more than allowed. */
static bool plan(const work *w, GError **error)
{
    char entries[16], table[16], basis[16], all[16];
    const int64_t bytes[2] = {xlm_association_bytes(w->comm, w->table),
                              xlm_truncated_svd_bytes(w->comm, w->table->vocabulary, w->o->rank)};
    xlm_log_info("%" G_GINT64_FORMAT " subwords, %s pairs; memory of a rank: at most %sB, %sB for the table and %sB for vectors",
                 w->table->vocabulary, xlm_log_count((double)w->table->entries, entries),
                 xlm_log_count((double)(bytes[0] + bytes[1]), all), xlm_log_count((double)bytes[0], table),
                 xlm_log_count((double)bytes[1], basis));
    return w->o->memory == 0 || bytes[0] + bytes[1] <= w->o->memory ||
           xlm_error_set(error, EX_USAGE, "--memory: a rank needs up to %sB; take more ranks or a smaller --rank", all);
}

static bool find_factors(work *w, GError **error)
{
    const xlm_association *a = &w->association;
    const double begin = xlm_clock();
    g_autofree int64_t *numbers = g_new(int64_t, a->rows);
    for (int64_t i = 0; i < a->rows; i++) {
        numbers[i] = i * w->comm->ranks + w->comm->rank;
        if (numbers[i] >= a->vocabulary)
            numbers[i] = -1;
    }
    const xlm_linear_map of = {.n = a->vocabulary, .rows = a->rows, .numbers = numbers, .multiply = multiply, .data = a};
    w->svd = (xlm_truncated_svd){.rank = w->o->rank, .seed = w->o->seed, .tolerance = w->o->tolerance};
    g_autoptr(xlm_grid) grid = xlm_grid_open(w->comm);
    if (!xlm_truncated_svd_find(grid, &of, &w->svd, error))
        return false;
    const double *s = w->svd.values;
    xlm_log_info("singular values %.6g to %.6g, residual %.1e, %" G_GINT64_FORMAT " products with vectors: %.1f s", s[0],
                 s[w->o->rank - 1], w->svd.residual, w->svd.products, xlm_clock() - begin);
    while (w->dimensions < w->o->rank && s[w->dimensions] > THRESHOLD * s[0])
        w->dimensions++;
    if (w->dimensions < w->o->rank)
        xlm_log_warn("%s: the matrix has %" G_GINT64_FORMAT " dimensions (singular values above %g of the largest), fewer than "
                     "--rank=%" G_GINT64_FORMAT "; the others of each vector are 0; take --rank %" G_GINT64_FORMAT, w->o->table,
                     w->dimensions, THRESHOLD, w->o->rank, MAX(w->dimensions, 1));
    return true;
}

/* ---- writing ---- */

/* U S^p in float: [rows x rank]. */
static float *make_vectors(const work *w)
{
    const int64_t k = w->o->rank, rows = w->association.rows;
    float *vectors = g_new(float, rows * k + 1);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < k; j++)
            vectors[i * k + j] =
                j < w->dimensions ? (float)(w->svd.left[i * k + j] * pow(w->svd.values[j], w->o->power - 1)) : 0;
    return vectors;
}

/* Send the vectors of this rank's words, which are every ranks-th word, to the ranks that write them in runs. Returns those of
 * this rank's run, [*n x rank] from word *first on; g_free. */
static float *deal(const work *w, float *vectors, int64_t *first, int64_t *n)
{
    const xlm_comm *comm = w->comm;
    const int64_t k = w->o->rank, words = w->table->vocabulary;
    g_autofree int64_t *numbers = g_new0(int64_t, comm->ranks), *received = g_new(int64_t, comm->ranks);
    xlm_matrix_share(comm, words, first, n);
    const int64_t each = (words + comm->ranks - 1) / comm->ranks;
    for (int64_t word = comm->rank; word < words; word += comm->ranks)
        numbers[word / each]++;
    g_autofree float *in = xlm_comm_exchange(comm, vectors, numbers, sizeof *in * (size_t)k, received);
    float *out = g_new(float, *n * k + 1);
    int64_t at = 0;
    for (int r = 0; r < comm->ranks; r++)
        for (int64_t word = *first + ((r - *first) % comm->ranks + comm->ranks) % comm->ranks; word < *first + *n;
             word += comm->ranks)
            memcpy(out + (word - *first) * k, in + at++ * k, sizeof *out * (size_t)k);
    return out;
}

static bool describe(const work *w, xlm_store *store, GError **error)
{
    const xlm_factorise_options *o = w->o;
    return xlm_store_set_text(store, "/", "content", "words", error) &&
           xlm_store_set_text(store, "/", "vectors", "shifted positive PMI", error) &&
           xlm_store_set_text(store, "/", "table", o->table, error) &&
           xlm_store_set_real(store, "/", "shift", o->shift, error) &&
           xlm_store_set_real(store, "/", "smoothing", o->smoothing, error) &&
           xlm_store_set_real(store, "/", "power", o->power, error) &&
           xlm_store_set_int(store, "/", "seed", (int64_t)o->seed, error) &&
           xlm_store_set_int(store, "/", "entries", w->association.entries, error) &&
           xlm_store_set_real(store, "/", "residual", w->svd.residual, error) &&
           xlm_store_write_array(store, "/", "singular_values", XLM_F64, (uint64_t)o->rank, w->svd.values, error) &&
           xlm_store_set_int(store, "/singular_values", "rank", w->dimensions, error) &&
           xlm_store_set_real(store, "/singular_values", "threshold", THRESHOLD, error);
}

/* Rows of zeros stay, so that vectors of two tables with the same subwords have the same words. own: [n x rank] */
static void report_zeros(const work *w, const float *own, int64_t n)
{
    const int64_t k = w->o->rank;
    int64_t zeros = 0;
    for (int64_t i = 0; i < n; i++)
        zeros += xlm_vector_length(k, own + i * k) == 0;
    xlm_comm_sum_int64(w->comm, &zeros, 1);
    if (zeros > 0)
        xlm_log_info("%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " subwords have no pair with positive PMI; their vectors are 0",
                     zeros, w->table->vocabulary);
}

static bool write_vectors(const work *w, GError **error)
{
    int64_t first, n;
    float *vectors = make_vectors(w);
    g_autofree float *own = deal(w, vectors, &first, &n);
    g_free(vectors);
    report_zeros(w, own, n);
    xlm_store *store = xlm_vector_store_create(w->comm, w->o->output, w->table->vocabulary, w->o->rank,
                                               (const char *const *)w->words, w->o->command, error);
    const bool good = store != NULL && describe(w, store, error) &&
                      xlm_store_write(store, "/vectors", (uint64_t)first, (uint64_t)n, own, error);
    return xlm_store_end(store, good, error);
}

bool xlm_factorise(const xlm_comm *comm, const xlm_factorise_options *options, GError **error)
{
    work w = {.comm = comm, .o = options};
    GError *failure = NULL;
    bool good = open_inputs(&w, &failure) && plan(&w, &failure);
    good = xlm_comm_agree_on(comm, failure, error);
    const double begin = xlm_clock();
    if (good && (good = xlm_association_read(comm, w.table, options->shift, options->smoothing, &w.association, error))) {
        char entries[16];
        xlm_log_info("%s entries of shifted positive PMI: %.1f s", xlm_log_count((double)w.association.entries, entries),
                     xlm_clock() - begin);
        good = find_factors(&w, error);
    }
    good = good && write_vectors(&w, error);
    xlm_truncated_svd_free(&w.svd);
    xlm_association_free(&w.association);
    g_strfreev(w.words);
    xlm_cooccurrence_close(w.table);
    return good;
}
