/* xlm-mpi: xlm_embed cca, how similar two layers or two models are. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For vectors X [n x d] and Y [n x e] of the same words or sentences, each minus its mean, with covariances C_xx, C_yy, C_xy:
 * SVCCA (Raghu et al. 2017): the mean of the canonical correlations, the singular values of Λ_x^−½ V_xᵀ C_xy V_y
 * Λ_y^−½, where V Λ Vᵀ is the covariance cut down to the directions with a share of the variance. Linear CKA (Kornblith
 * et al. 2019): |C_xy|² / (|C_xx| |C_yy|), norms of Frobenius. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "commands/commands.h"
#include "gemm/gemm.h"
#include "matrix/algebra.h"
#include "vectors/vector_rows.h"

static struct {
    char *language, *csv;
    double share;
    gint64 most;
} given = {.share = 0.99};

static const GOptionEntry options[] = {
    {"variance", 0, 0, G_OPTION_ARG_DOUBLE, &given.share,
     "SVCCA compares the directions that hold this share of the variance (default 0.99)", "SHARE"},
    {"language", 'l', 0, G_OPTION_ARG_STRING, &given.language, "for a checkpoint, the language whose embedding is added", "LANG"},
    {"most", 0, 0, G_OPTION_ARG_INT64, &given.most, "read only the first N vectors (default: all)", "N"},
    {"csv", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &given.csv, "write the canonical correlations to a file", "FILE.csv"},
    {.long_name = NULL}};

static bool check(GError **error)
{
    return xlm_program_is_in("most", given.most, 0, G_MAXINT64, error) &&
           ((given.share > 0 && given.share <= 1) ||
            xlm_error_set(error, EX_USAGE, "--variance=%g: must be above 0 and at most 1", given.share));
}

typedef struct work {
    const xlm_comm *comm;
    char *const *paths;
    xlm_vector_rows rows[2];
    double *mean[2], *own[2], *cross; /* C_xx and C_yy; C_xy [d x e] */
    int64_t kept[2];                  /* directions */
    double *correlations, svcca, cka;
} work;

/* Checks that the rows of both sides belong to the same words. */
static bool check_rows(const work *w, GError **error)
{
    const xlm_vector_rows *x = &w->rows[0], *y = &w->rows[1];
    if (x->n != y->n)
        return xlm_error_set(error, EX_DATAERR, "%s has %" G_GINT64_FORMAT " vectors and %s %" G_GINT64_FORMAT "; they must "
                             "be of the same words, in the same order", w->paths[0], x->n, w->paths[1], y->n);
    for (int64_t i = 0; i < x->n && x->words != NULL && y->words != NULL; i++)
        if (strcmp(x->words[i], y->words[i]) != 0)
            return xlm_error_set(error, EX_DATAERR, "vector %" G_GINT64_FORMAT " is of \"%s\" in %s and of \"%s\" in %s; they "
                                 "must be of the same words, in the same order", i, x->words[i], w->paths[0], y->words[i],
                                 w->paths[1]);
    return true;
}

static bool leave_out_zeros(work *w, GError **error)
{
    g_autofree char *both = g_strdup_printf("%s and %s", w->paths[0], w->paths[1]);
    return xlm_vector_rows_leave_out_zeros(&w->rows[0], &w->rows[1], both, error);
}

static double norm(int64_t n, const double *x)
{
    double square = 0;
    for (int64_t i = 0; i < n; i++)
        square += x[i] * x[i];
    return sqrt(square);
}

/* [d x *kept] V Λ^−½ of the directions that have the share of the variance; g_free. */
static double *make_whitening(work *w, int s, GError **error)
{
    const int64_t d = w->rows[s].width;
    g_autofree double *values = g_new(double, d), *vectors = g_new(double, d * d);
    double all = 0, sum = 0, *map = NULL;
    g_autoptr(xlm_grid) grid = xlm_grid_open(w->comm);
    if (xlm_symmetric_eigen(grid, d, w->own[s], values, vectors, error)) {
        for (int64_t i = 0; i < d; i++)
            all += fmax(values[i], 0);
        int64_t k = 0;
        while (k < d && sum < given.share * all * (1 - 1e-12) && values[k] > 1e-10 * values[0])
            sum += values[k++];
        if (k == 0)
            xlm_error_set(error, EX_DATAERR, "%s: all vectors are the same; they have no variance", w->paths[s]);
        else
            map = g_new(double, d * k);
        for (int64_t i = 0; i < d && map != NULL; i++)
            for (int64_t j = 0; j < k; j++)
                map[i * k + j] = vectors[i * d + j] / sqrt(values[j]);
        w->kept[s] = k;
    }
    return map;
}

/* Centred vectors span at most n − 1 dimensions; subspaces of k and l dimensions of these have k + l − (n − 1) in common. */
static void warn_of_few_vectors(const work *w)
{
    const int64_t dimensions = w->rows[0].n - 1, both = w->kept[0] + w->kept[1] - dimensions;
    if (both > 0 && w->comm->rank == 0)
        xlm_log_warn("%" G_GINT64_FORMAT " vectors have %" G_GINT64_FORMAT " dimensions without their mean, of which "
                     "%" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " are kept: %" G_GINT64_FORMAT " of the %" G_GINT64_FORMAT
                     " canonical correlations are 1, whatever the vectors are; use more vectors or a smaller --variance",
                     w->rows[0].n, dimensions, w->kept[0], w->kept[1], both, MIN(w->kept[0], w->kept[1]));
}

static bool correlate(work *w, GError **error)
{
    const int64_t d = w->rows[0].width, e = w->rows[1].width;
    g_autofree double *first = make_whitening(w, 0, error), *second = first != NULL ? make_whitening(w, 1, error) : NULL;
    bool good = second != NULL;
    if (good) {
        const int64_t k = w->kept[0], l = w->kept[1];
        warn_of_few_vectors(w);
        g_autofree double *half = g_new(double, d * l), *all = g_new(double, k * l);
        xlm_gemm_double(false, false, d, l, e, 1, w->cross, e, second, l, 0, half, l);
        xlm_gemm_double(true, false, k, l, d, 1, first, k, half, l, 0, all, l);
        w->correlations = g_new0(double, MIN(k, l));
        g_autoptr(xlm_grid) grid = xlm_grid_open(w->comm);
        g_autoptr(xlm_matrix) m = xlm_matrix_new(grid, XLM_BY_BLOCKS, k, l, error);
        good = m != NULL;
        if (good) {
            xlm_matrix_set(m, all);
            good = xlm_matrix_svd(m, w->correlations, NULL, NULL, error);
        }
        for (int64_t i = 0; i < MIN(k, l) && good; i++)
            w->svcca += fmin(w->correlations[i], 1) / (double)MIN(k, l);
    }
    return good;
}

static bool measure(work *w, GError **error)
{
    const int64_t d[2] = {w->rows[0].width, w->rows[1].width};
    for (int s = 0; s < 2; s++) {
        w->mean[s] = g_new(double, d[s]);
        w->own[s] = g_new(double, d[s] * d[s]);
        xlm_vector_rows_mean(&w->rows[s], w->mean[s]);
        xlm_vector_rows_product(&w->rows[s], w->mean[s], &w->rows[s], w->mean[s], w->own[s]);
    }
    w->cross = g_new(double, d[0] * d[1]);
    xlm_vector_rows_product(&w->rows[0], w->mean[0], &w->rows[1], w->mean[1], w->cross);
    if (!correlate(w, error))
        return false;
    const double cross = norm(d[0] * d[1], w->cross);
    w->cka = cross * cross / (norm(d[0] * d[0], w->own[0]) * norm(d[1] * d[1], w->own[1]));
    return true;
}

static void print(const work *w)
{
    printf("vectors %" G_GINT64_FORMAT "; directions with %.4g of the variance: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
           ", %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT "\n", w->rows[0].n, given.share, w->kept[0], w->rows[0].width,
           w->kept[1], w->rows[1].width);
    printf("SVCCA %.6f\nlinear CKA %.6f\n", w->svcca, w->cka);
}

static GString *make_csv(const work *w)
{
    GString *text = g_string_new("direction,correlation\n");
    for (int64_t i = 0; i < MIN(w->kept[0], w->kept[1]); i++)
        g_string_append_printf(text, "%" G_GINT64_FORMAT ",%.6f\n", i + 1, w->correlations[i]);
    return text;
}

static void run(const xlm_comm *comm, char *const *arguments, GError **error)
{
    work w = {.comm = comm, .paths = arguments};
    bool good = true;
    for (int s = 0; s < 2 && good; s++)
        good = xlm_vector_rows_open(comm, arguments[s], given.language, given.most, &w.rows[s], error);
    good = good && check_rows(&w, error) && leave_out_zeros(&w, error) && measure(&w, error);
    if (good && comm->rank == 0)
        print(&w);
    if (good)
        xlm_program_end_table(comm, given.csv, make_csv(&w), error);
    for (int s = 0; s < 2; s++) {
        xlm_vector_rows_close(&w.rows[s]);
        g_free(w.mean[s]);
        g_free(w.own[s]);
    }
    g_free(w.cross);
    g_free(w.correlations);
}

const xlm_command xlm_embed_cca = {
    .name = "cca",
    .arguments = "cca VECTORS VECTORS | CHECKPOINT CHECKPOINT",
    .purpose = "Measure how similar two layers, or two models, are: SVCCA and linear CKA",
    .notes =
        "cca: compares vectors of the same words or sentences, from two layers of a model or two checkpoints of a run (xlm_embed "
        "export --text --layer), or the word embeddings of two checkpoints. SVCCA is the mean of the canonical correlations of "
        "the directions that hold most of the variance (Raghu et al. 2017); CKA compares the covariances (Kornblith et al. "
        "2019). Both are 1 if the vectors are the same up to a rotation, and neither depends on a rotation.\n\n",
    .examples =
        "  xlm_embed export run1/checkpoint-00001000.h5 -t text.en -l en --layer 6 -o early.h5\n"
        "  xlm_embed export run1/latest -t text.en -l en --layer 6 -o late.h5\n"
        "  mpiexec -n 2 xlm_embed cca early.h5 late.h5\n",
    .options = options,
    .takes = {"two files of vectors, or checkpoints", 2, 2},
    .check = check,
    .run = run,
};
