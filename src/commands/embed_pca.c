/* xlm-mpi: xlm_embed pca and whiten, the directions that vectors lie in. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Vectors x with mean m have the covariance C = V diag(λ) Vᵀ. pca: coordinates (x − m) V_k, or what is left without the mean
 * and the top directions, x − m − V_t V_tᵀ (x − m) (Mu & Viswanath 2018). whiten: (x − m) V diag(λ)^−½ Vᵀ, or
 * without the last Vᵀ the coordinates, each with variance 1. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/rng.h"
#include "commands/commands.h"
#include "matrix/algebra.h"
#include "vectors/cosines.h"
#include "vectors/vector_file.h"
#include "vectors/vector_rows.h"

enum { SHOWN = 10 };

static struct {
    char *output, *language, *csv;
    gint64 keep, remove, pairs, seed, most;
} given = {.pairs = 100000, .seed = 1};

static const GOptionEntry pca_options[] = {
    {"output", 'o', XLM_WRITES, G_OPTION_ARG_FILENAME, &given.output,
     "write vectors (HDF5): their coordinates with --keep, otherwise the vectors without the mean and the directions of "
     "--remove", "FILE.h5"},
    {"keep", 0, 0, G_OPTION_ARG_INT64, &given.keep, "write the coordinates along the first K principal directions", "K"},
    {"remove", 0, 0, G_OPTION_ARG_INT64, &given.remove,
     "remove the first D directions, which often reflect word frequency (default 0: only the mean)", "D"},
    {"pairs", 0, 0, G_OPTION_ARG_INT64, &given.pairs,
     "random pairs whose mean cosine is measured (default 100000); 0: none", "N"},
    {"seed", 0, 0, G_OPTION_ARG_INT64, &given.seed, "seed of the random pairs (default 1)", "N"},
    {"language", 'l', 0, G_OPTION_ARG_STRING, &given.language, "for a checkpoint, the language whose embedding is added", "LANG"},
    {"most", 0, 0, G_OPTION_ARG_INT64, &given.most, "read only the first N vectors (default: all)", "N"},
    {"csv", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &given.csv, "write the variances of all directions to a file", "FILE.csv"},
    {.long_name = NULL}};

static const GOptionEntry whiten_options[] = {
    {"output", 'o', XLM_WRITES, G_OPTION_ARG_FILENAME, &given.output, "write the whitened vectors (HDF5)", "FILE.h5"},
    {"keep", 0, 0, G_OPTION_ARG_INT64, &given.keep,
     "write K numbers per vector, along the first principal directions (default: all directions, rotated back)", "K"},
    {"language", 'l', 0, G_OPTION_ARG_STRING, &given.language, "for a checkpoint, the language whose embedding is added", "LANG"},
    {"most", 0, 0, G_OPTION_ARG_INT64, &given.most, "read only the first N vectors (default: all)", "N"},
    {.long_name = NULL}};

static bool check_numbers(GError **error)
{
    return xlm_program_is_in("keep", given.keep, 0, G_MAXINT64, error) &&
           xlm_program_is_in("remove", given.remove, 0, G_MAXINT64, error) &&
           xlm_program_is_in("pairs", given.pairs, 0, G_MAXINT64, error) &&
           xlm_program_is_in("seed", given.seed, 0, G_MAXINT64, error) &&
           xlm_program_is_in("most", given.most, 0, G_MAXINT64, error);
}

static bool check_pca(GError **error)
{
    if (!check_numbers(error))
        return false;
    if (given.keep > 0 && given.remove > 0)
        return xlm_error_set(error, EX_USAGE, "--keep and --remove cannot be combined");
    return given.output != NULL || given.keep == 0 ||
           xlm_error_set(error, EX_USAGE, "--keep: there is no file to write; give -o FILE.h5");
}

static bool check_whiten(GError **error)
{
    return check_numbers(error) &&
           (given.output != NULL || xlm_error_set(error, EX_USAGE, "no file to write; give -o FILE.h5"));
}

typedef struct work {
    const xlm_comm *comm;
    xlm_vector_rows rows;
    double *mean, *values, *vectors; /* m, λ falling, V */
} work;

static bool open_work(work *w, const xlm_comm *comm, const char *path, GError **error)
{
    w->comm = comm;
    if (!xlm_vector_rows_open(comm, path, given.language, given.most, &w->rows, error) ||
        !xlm_vector_rows_leave_out_zeros(&w->rows, NULL, path, error))
        return false;
    const int64_t d = w->rows.width;
    if (given.keep > d || given.remove > d)
        return xlm_error_set(error, EX_USAGE, "--%s=%" G_GINT64_FORMAT ": the vectors of %s have %" G_GINT64_FORMAT " numbers",
                             given.keep > d ? "keep" : "remove", MAX(given.keep, given.remove), path, d);
    const double begin = xlm_clock();
    g_autofree double *covariance = g_new(double, d * d);
    w->mean = g_new(double, d);
    w->values = g_new(double, d);
    w->vectors = g_new(double, d * d);
    xlm_vector_rows_mean(&w->rows, w->mean);
    xlm_vector_rows_product(&w->rows, w->mean, &w->rows, w->mean, covariance);
    for (int64_t i = 0; i < d * d; i++)
        covariance[i] /= (double)(w->rows.n - 1);
    const double middle = xlm_clock();
    g_autoptr(xlm_grid) grid = xlm_grid_open(comm);
    if (!xlm_symmetric_eigen(grid, d, covariance, w->values, w->vectors, error))
        return false;
    xlm_log_info("%" G_GINT64_FORMAT " vectors of %" G_GINT64_FORMAT " numbers: covariance %.2f s, eigenvectors %.2f s",
                 w->rows.n, d, middle - begin, xlm_clock() - middle);
    return w->values[0] > 0 ||
           xlm_error_set(error, EX_DATAERR, "%s: all vectors are the same; they have no variance", path);
}

static void close_work(work *w)
{
    xlm_vector_rows_close(&w->rows);
    g_free(w->mean);
    g_free(w->values);
    g_free(w->vectors);
}

/* The number of directions whose variance is more than rounding. */
static int64_t count_dimensions(const work *w)
{
    int64_t n = 0;
    while (n < w->rows.width && w->values[n] > 1e-10 * w->values[0])
        n++;
    return n;
}

/* V_k diag(λ^power) V_kᵀ or, if not back, V_k diag(λ^power); [d x (back ? d : k)]. g_free. */
static double *make_map(const work *w, int64_t k, double power, bool back)
{
    const int64_t d = w->rows.width, columns = back ? d : k;
    double *a = g_new0(double, d * columns);
    g_autofree double *scaled = g_new(double, d * k);
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < k; j++)
            scaled[i * k + j] = w->vectors[i * d + j] * pow(w->values[j], power);
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < columns; j++)
            if (!back)
                a[i * columns + j] = scaled[i * k + j];
            else
                for (int64_t c = 0; c < k; c++)
                    a[i * columns + j] += scaled[i * k + c] * w->vectors[j * d + c];
    return a;
}

static bool write_rows(const work *w, const float *x, int64_t width, const char *what, GError **error)
{
    const xlm_vector_rows *r = &w->rows;
    const int64_t d = r->width;
    xlm_store *store = xlm_vector_store_create(w->comm, given.output, r->n, width, (const char *const *)r->words,
                                               xlm_command_line, error);
    const bool good = store != NULL && xlm_store_set_text(store, "/", "vectors", what, error) &&
                xlm_store_write_array(store, "/", "mean", XLM_F64, (uint64_t)d, w->mean, error) &&
                xlm_store_write_array(store, "/", "variances", XLM_F64, (uint64_t)d, w->values, error) &&
                xlm_store_write(store, "/vectors", (uint64_t)r->first, (uint64_t)r->own, x, error);
    if (!xlm_store_end(store, good, error))
        return false;
    xlm_log_info("%" G_GINT64_FORMAT " vectors x %" G_GINT64_FORMAT ", %s, written to %s", r->n, width, what, given.output);
    return true;
}

/* ---- pca ---- */

static int owner_of(const xlm_vector_rows *r, int64_t row)
{
    int low = 0, high = r->comm->ranks - 1; /* the last rank that begins at or before the row */
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (r->begin[middle] <= row)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The mean cosine of random pairs of rows of x [own x width], the same pairs on any number of ranks: the owner of the first row
 * receives the second. */
static double mean_of_pairs(const work *w, const float *x, int64_t width)
{
    const xlm_vector_rows *r = &w->rows;
    const xlm_rng_key key = xlm_rng_make_key((uint64_t)given.seed, XLM_RNG_VECTOR_PAIRS, 0);
    double sum[2] = {0, 0};
    enum { CHUNK = 4096 };
    g_autofree float *send = g_new(float, CHUNK * width);
    g_autofree int32_t *pair = g_new(int32_t, 2 * CHUNK);
    g_autofree int64_t *numbers = g_new(int64_t, w->comm->ranks), *received = g_new(int64_t, w->comm->ranks);
    for (int64_t begin = 0; begin < given.pairs; begin += CHUNK) {
        const int64_t n = MIN(CHUNK, given.pairs - begin);
        for (int64_t i = 0; i < n; i++) {
            const xlm_rng_block b = xlm_rng_draw(key, (uint32_t)(begin + i), (uint32_t)((begin + i) >> 32), 0, 0);
            pair[2 * i] = (int32_t)xlm_rng_below(b.v[0], (uint64_t)r->n);
            pair[2 * i + 1] = (int32_t)xlm_rng_below(b.v[1], (uint64_t)r->n - 1);
            pair[2 * i + 1] += pair[2 * i + 1] >= pair[2 * i]; /* another one */
        }
        int64_t at = 0;
        for (int k = 0; k < w->comm->ranks; k++) {
            numbers[k] = 0;
            for (int64_t i = 0; i < n; i++)
                if (owner_of(r, pair[2 * i]) == k && owner_of(r, pair[2 * i + 1]) == w->comm->rank) {
                    memcpy(send + at++ * width, x + (pair[2 * i + 1] - r->first) * width, sizeof *x * (size_t)width);
                    numbers[k]++;
                }
        }
        g_autofree float *in = xlm_comm_exchange(w->comm, send, numbers, sizeof *in * (size_t)width, received);
        at = 0;
        for (int k = 0; k < w->comm->ranks; k++)
            for (int64_t i = 0; i < n; i++)
                if (owner_of(r, pair[2 * i]) == w->comm->rank && owner_of(r, pair[2 * i + 1]) == k) {
                    sum[0] += xlm_vector_cosine(width, x + (pair[2 * i] - r->first) * width, in + at++ * width);
                    sum[1]++;
                }
    }
    xlm_comm_sum_double(w->comm, sum, 2);
    return sum[1] > 0 ? sum[0] / sum[1] : 0;
}

/* x − m without the first directions. */
static float *without_top(const work *w, int64_t top)
{
    const int64_t d = w->rows.width;
    g_autofree double *a = make_map(w, top, 0, true);
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++)
            a[i * d + j] = (i == j) - a[i * d + j];
    float *x = g_new(float, w->rows.own * d + 1);
    xlm_vector_rows_image(&w->rows, w->mean, d, a, x);
    return x;
}

static double sum_of(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += fmax(x[i], 0);
    return sum;
}

static void print_variances(const work *w)
{
    const double all = sum_of(w->values, w->rows.width);
    double squares = 0;
    printf("%-9s %14s %9s %9s\n", "direction", "variance", "share", "together");
    for (int64_t i = 0; i < w->rows.width; i++) {
        squares += w->values[i] * w->values[i];
        if (i < SHOWN)
            printf("%-9" G_GINT64_FORMAT " %14.6g %8.2f%% %8.2f%%\n", i + 1, w->values[i], 100 * w->values[i] / all,
                   100 * sum_of(w->values, i + 1) / all);
    }
    printf("dimensions with variance: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT "; participation ratio %.1f\n",
           count_dimensions(w), w->rows.width, all * all / squares);
}

static GString *make_csv(const work *w)
{
    const double all = sum_of(w->values, w->rows.width);
    GString *text = g_string_new("direction,variance,share,together\n");
    for (int64_t i = 0; i < w->rows.width; i++)
        g_string_append_printf(text, "%" G_GINT64_FORMAT ",%.9g,%.6f,%.6f\n", i + 1, w->values[i], w->values[i] / all,
                               sum_of(w->values, i + 1) / all);
    return text;
}

/* How much the vectors point in one direction: as they are, without their mean, and without the top directions. */
static void print_anisotropy(const work *w, const float *left)
{
    const int64_t d = w->rows.width;
    const double as_is = mean_of_pairs(w, w->rows.values, d);
    g_autofree float *centred = given.remove > 0 ? without_top(w, 0) : NULL;
    const double without_mean = mean_of_pairs(w, centred != NULL ? centred : left, d), without = mean_of_pairs(w, left, d);
    if (w->comm->rank != 0)
        return;
    printf("mean cosine of %" G_GINT64_FORMAT " random pairs: %.4f; without the mean %.4f", given.pairs, as_is, without_mean);
    if (given.remove > 0)
        printf("; nor the first %" G_GINT64_FORMAT " directions %.4f", given.remove, without);
    printf("\n");
}

static bool finish_pca(const work *w, GError **error)
{
    bool good = true;
    if (w->comm->rank == 0)
        print_variances(w);
    if (given.pairs > 0 || (given.output != NULL && given.keep == 0)) {
        g_autofree float *left = without_top(w, given.remove);
        if (given.pairs > 0)
            print_anisotropy(w, left);
        if (given.output != NULL && given.keep == 0)
            good = write_rows(w, left, w->rows.width, "without the mean and top directions", error);
    }
    if (good && given.keep > 0) {
        g_autofree double *a = make_map(w, given.keep, 0, false);
        g_autofree float *x = g_new(float, w->rows.own * given.keep + 1);
        xlm_vector_rows_image(&w->rows, w->mean, given.keep, a, x);
        good = write_rows(w, x, given.keep, "principal coordinates", error);
    }
    return good && xlm_program_end_table(w->comm, given.csv, make_csv(w), error);
}

static void run_pca(const xlm_comm *comm, char *const *arguments, GError **error)
{
    work w = {0};
    if (open_work(&w, comm, arguments[0], error))
        finish_pca(&w, error);
    close_work(&w);
}

/* ---- whiten ---- */

static void run_whiten(const xlm_comm *comm, char *const *arguments, GError **error)
{
    work w = {0};
    if (open_work(&w, comm, arguments[0], error)) {
        const int64_t d = w.rows.width, k = given.keep > 0 ? given.keep : d, there = count_dimensions(&w);
        if (k > there) {
            xlm_error_set(error, EX_DATAERR, "%s: the vectors have variance in %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                          " directions only; --keep %" G_GINT64_FORMAT " whitens these", arguments[0], there, d, there);
        } else {
            const int64_t width = given.keep > 0 ? k : d;
            g_autofree double *a = make_map(&w, k, -0.5, given.keep == 0);
            g_autofree float *x = g_new(float, w.rows.own * width + 1);
            xlm_vector_rows_image(&w.rows, w.mean, width, a, x);
            write_rows(&w, x, width, "whitened", error);
        }
    }
    close_work(&w);
}

const xlm_command xlm_embed_pca = {
    .name = "pca",
    .arguments = "pca VECTORS | CHECKPOINT [-o OUT.h5]",
    .purpose = "Show how the variance of vectors is distributed over directions, and how much they point in one",
    .notes =
        "pca: shows the share of the variance along the principal directions, and the mean cosine of random pairs, which is 0 if "
        "vectors point everywhere and near 1 if they have gathered in one direction: for the vectors as they are, without their "
        "mean, and without the first --remove directions (Mu & Viswanath 2018). --keep writes coordinates.\n\n",
    .examples =
        "  mpiexec -n 2 xlm_embed pca counted.h5 --remove 3 -o better.h5\n",
    .options = pca_options,
    .takes = {"one file of vectors, or a checkpoint", 1, 1},
    .check = check_pca,
    .run = run_pca,
};

const xlm_command xlm_embed_whiten = {
    .name = "whiten",
    .arguments = "whiten VECTORS | CHECKPOINT -o OUT.h5",
    .purpose = "Write vectors whose components are uncorrelated and have variance 1",
    .notes =
        "whiten: computes (x - mean) C^(-1/2), where C is the covariance. Vectors without variance in some direction are "
        "refused; --keep K uses only the first K directions.\n\n",
    .examples =
        "  mpiexec -n 2 xlm_embed whiten counted.h5 -o white.h5\n",
    .options = whiten_options,
    .takes = {"one file of vectors, or a checkpoint", 1, 1},
    .check = check_whiten,
    .run = run_whiten,
};
