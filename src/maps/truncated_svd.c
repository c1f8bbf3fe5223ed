/* xlm-mpi: the largest singular values of a matrix of which only products are known. SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/truncated_svd.h"

#include <math.h>
#include <string.h>

#include "base/progress.h"
#include "base/rng.h"
#include "gemm/gemm.h"
#include "matrix/algebra.h"

enum {
    WIDTH = 64,     /* columns of a block */
    PANEL = 16,     /* columns that are multiplied at a time */
    RESTARTS = 60,
    SMALL = 512,    /* a matrix of at most so many columns gets all unit vectors as its basis */
    ROWS = 1024     /* of the basis that are rotated at a time */
};

/* The extents of a basis: it has up to `max_columns` columns, blocks of `width`, and is cut down to `kept`. */
struct extents {
    int64_t width, kept, max_columns;
    bool whole; /* all of R^n: the unit vectors */
};

static struct extents choose_extents(int64_t n, int64_t rank)
{
    struct extents e = {.width = WIDTH};
    e.kept = rank + MAX(rank / 8, WIDTH / 2);
    e.max_columns = e.kept + MAX(8 * WIDTH, (2 * rank + WIDTH - 1) / WIDTH * WIDTH);
    e.whole = n <= MAX(SMALL, e.max_columns + WIDTH);
    if (e.whole)
        e.max_columns = n;
    return e;
}

/* The basis, and what is needed to extend it. Vectors are row-major. */
struct basis {
    const xlm_grid *grid;
    const xlm_comm *comm;
    const xlm_linear_map *of;
    struct extents extents;
    int64_t columns;         /* of q so far */
    double *q;               /* [rows x max_columns + width] */
    int64_t stride;
    double *h;               /* [stride x stride], symmetric */
    double *next, *image;    /* [rows x width] */
    double *all;             /* [ranks rows x width] */
    double r[WIDTH * WIDTH]; /* of the last QR */
    int64_t products;
    GError **error;
};

/* ---- products ---- */

/* all = x of every rank, in panels. */
static void gather(struct basis *b, const double *x, int64_t columns)
{
    const int64_t rows = b->of->rows * b->comm->ranks;
    void *all;
    xlm_comm_gather_all(b->comm, x, sizeof *x * (size_t)(b->of->rows * columns), &all, NULL);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < columns; c += PANEL)
            memcpy(b->all + (c * rows + i * PANEL), (const double *)all + i * columns + c, sizeof *x * PANEL);
    g_free(all);
}

/* y = A x or Aᵀ x of all rows. */
static void multiply(struct basis *b, bool transpose, int64_t columns, const double *x, double *y)
{
    gather(b, x, columns);
    b->of->multiply(b->of->data, transpose, columns, b->all, y);
    b->products += columns;
}

/* y = AᵀA x. */
static void multiply_twice(struct basis *b, int64_t columns, const double *x, double *y)
{
    multiply(b, false, columns, x, b->image);
    multiply(b, true, columns, b->image, y);
}

/* h[columns of q x n] = qᵀ x, over all ranks. */
static void project(const struct basis *b, int64_t columns, int64_t n, const double *x, double *h)
{
    xlm_gemm_double(true, false, columns, n, b->of->rows, 1, b->q, b->stride, x, n, 0, h, n);
    xlm_comm_sum_double(b->comm, h, columns * n);
}

/* x −= q h. */
static void remove_projection(const struct basis *b, int64_t columns, int64_t n, const double *h, double *x)
{
    xlm_gemm_double(false, false, b->of->rows, n, columns, -1, b->q, b->stride, h, n, 1, x, n);
}

/* Copy this rank's rows, [rows x n], between x and a matrix. */
static void copy_rows(const struct basis *b, xlm_matrix *m, int64_t n, double *x, bool into)
{
    int64_t first, own, stride;
    double *values = xlm_matrix_own_rows(m, &first, &own, &stride);
    for (int64_t i = 0; i < b->of->rows; i++)
        for (int64_t j = 0; j < n; j++)
            if (into)
                values[j * stride + i] = x[i * n + j];
            else
                x[i * n + j] = values[j * stride + i];
}

/* x[rows x n] = Q, orthonormal over all ranks; r: [n x n]. */
static bool orthonormalise(struct basis *b, int64_t n, double *x, double *r)
{
    g_autoptr(xlm_matrix) m = xlm_matrix_new(b->grid, XLM_BY_ROWS, b->of->rows * b->comm->ranks, n, b->error);
    if (m == NULL)
        return false;
    copy_rows(b, m, n, x, true);
    const bool good = xlm_matrix_qr(m, r, b->error);
    copy_rows(b, m, n, x, false);
    return good;
}

/* ---- growing ---- */

static void append(struct basis *b, int64_t n, const double *x)
{
    for (int64_t i = 0; i < b->of->rows; i++)
        memcpy(b->q + i * b->stride + b->columns, x + i * n, sizeof *x * (size_t)n);
    b->columns += n;
}

/* Make `next` the following block: the result of multiply_twice for the last one, minus its projection onto q. If AᵀA of the
 * block lies in the span of q, as for a matrix of low rank, only rounding errors are left: they are made orthogonal again, and r
 * says that they are small. */
static bool make_next(struct basis *b)
{
    const int64_t n = b->extents.width;
    g_autofree double *h = g_new(double, b->stride * n), *r = g_new(double, n * n), *old = g_new(double, n * n);
    project(b, b->columns, n, b->next, h);
    for (int64_t i = 0; i < b->columns; i++) /* the last n columns of H */
        for (int64_t j = 0; j < n; j++)
            b->h[i * b->stride + b->columns - n + j] = b->h[(b->columns - n + j) * b->stride + i] = h[i * n + j];
    remove_projection(b, b->columns, n, h, b->next);
    project(b, b->columns, n, b->next, h);
    remove_projection(b, b->columns, n, h, b->next);
    bool good = orthonormalise(b, n, b->next, b->r);
    double smallest = INFINITY, largest = 0;
    for (int64_t i = 0; i < n; i++) {
        smallest = fmin(smallest, b->r[i * n + i]);
        largest = fmax(largest, b->h[i * b->stride + i]);
    }
    if (good && smallest < 1e-9 * largest) {
        for (int again = 0; again < 2 && good; again++) {
            project(b, b->columns, n, b->next, h);
            remove_projection(b, b->columns, n, h, b->next);
            good = orthonormalise(b, n, b->next, r);
            memcpy(old, b->r, sizeof *old * (size_t)(n * n));
            xlm_gemm_double(false, false, n, n, n, 1, r, n, old, n, 0, b->r, n);
        }
    }
    return good;
}

static bool start(struct basis *b, uint64_t seed)
{
    const xlm_rng_key key = xlm_rng_make_key(seed, XLM_RNG_FACTORS, 0);
    const int64_t n = b->extents.width;
    for (int64_t i = 0; i < b->of->rows; i++)
        for (int64_t j = 0; j < n; j++) {
            const int64_t number = b->of->numbers[i];
            const xlm_rng_block draw = xlm_rng_draw(key, (uint32_t)number, (uint32_t)j, 0, 0);
            double normal[2];
            xlm_rng_normal(draw.v[0], draw.v[1], normal);
            b->next[i * n + j] = number >= 0 ? normal[0] : 0;
        }
    return orthonormalise(b, n, b->next, b->r);
}

/* The basis is all unit vectors: H = AᵀA. */
static void take_all(struct basis *b)
{
    const int64_t n = b->extents.width;
    memset(b->q, 0, sizeof *b->q * (size_t)(b->of->rows * b->stride));
    for (int64_t i = 0; i < b->of->rows; i++)
        if (b->of->numbers[i] >= 0)
            b->q[i * b->stride + b->of->numbers[i]] = 1;
    b->columns = b->of->n;
    g_autofree double *h = g_new(double, b->columns * n), *x = g_new0(double, b->of->rows * n);
    for (int64_t first = 0; first < b->columns; first += n) {
        for (int64_t i = 0; i < b->of->rows; i++)
            for (int64_t j = 0; j < n; j++)
                x[i * n + j] = first + j < b->columns ? b->q[i * b->stride + first + j] : 0;
        multiply_twice(b, n, x, b->next);
        project(b, b->columns, n, b->next, h);
        for (int64_t i = 0; i < b->columns; i++)
            for (int64_t j = 0; j < n && first + j < b->columns; j++)
                b->h[i * b->stride + first + j] = h[i * n + j];
    }
    memset(b->r, 0, sizeof b->r);
}

/* ---- Ritz vectors ---- */

/* theta: [columns], falling; y: [columns x columns] on every rank. */
static bool decompose(struct basis *b, double *theta, double *y)
{
    const int64_t n = b->columns;
    g_autofree double *h = g_new(double, n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            h[i * n + j] = (b->h[i * b->stride + j] + b->h[j * b->stride + i]) / 2;
    return xlm_symmetric_eigen(b->grid, n, h, theta, y, b->error);
}

/* The largest |R y'| / θ of the first k; for values at the level of rounding, relative to that level. */
static double worst_residual(const struct basis *b, int64_t k, const double *theta, const double *y)
{
    const int64_t n = b->extents.width;
    double worst = 0;
    if (b->extents.whole)
        return 0;
    for (int64_t v = 0; v < k; v++) {
        double square = 0;
        for (int64_t i = 0; i < n; i++) {
            double sum = 0;
            for (int64_t j = i; j < n; j++)
                sum += b->r[i * n + j] * y[(b->columns - n + j) * b->columns + v];
            square += sum * sum;
        }
        worst = fmax(worst, sqrt(square) / fmax(theta[v], 1e-9 * theta[0]));
    }
    return worst;
}

/* The first k columns of q become q y[.. k]. */
static void turn(struct basis *b, int64_t k, const double *y)
{
    g_autofree double *x = g_new(double, ROWS * k);
    for (int64_t first = 0; first < b->of->rows; first += ROWS) {
        const int64_t n = MIN(ROWS, b->of->rows - first);
        xlm_gemm_double(false, false, n, k, b->columns, 1, b->q + first * b->stride, b->stride, y, b->columns, 0, x, k);
        for (int64_t i = 0; i < n; i++)
            memcpy(b->q + (first + i) * b->stride, x + i * k, sizeof *x * (size_t)k);
    }
}

static void restart(struct basis *b, const double *theta, const double *y)
{
    const int64_t k = b->extents.kept;
    turn(b, k, y);
    b->columns = k;
    memset(b->h, 0, sizeof *b->h * (size_t)(b->stride * b->stride));
    for (int64_t i = 0; i < k; i++)
        b->h[i * b->stride + i] = theta[i];
}

/* Iterate until the residuals of the first k are within the tolerance. [out] theta: of all columns. Then q has the vectors of the
 * first k. */
static bool iterate(struct basis *b, xlm_truncated_svd *svd, double *theta)
{
    const struct extents *e = &b->extents;
    g_autofree double *y = g_new(double, e->max_columns * e->max_columns);
    bool good = true, done = false;
    if (e->whole)
        take_all(b);
    else
        good = start(b, svd->seed);
    xlm_progress progress = xlm_progress_begin("factorising", 0, "products");
    for (int round = 0; good && !done; round++) {
        while (good && !e->whole && b->columns + e->width <= e->max_columns) {
            append(b, e->width, b->next);
            g_autofree double *block = g_memdup2(b->next, sizeof *block * (size_t)(b->of->rows * e->width));
            multiply_twice(b, e->width, block, b->next);
            good = make_next(b);
            xlm_progress_show(&progress, (double)b->products);
        }
        good = good && decompose(b, theta, y);
        svd->residual = good ? worst_residual(b, svd->rank, theta, y) : 0;
        done = good && svd->residual <= svd->tolerance;
        if (good && !done && round == RESTARTS)
            good = xlm_error_set(b->error, EX_SOFTWARE, "the singular values have residuals of up to %.1g after %d restarts; "
                                 "allow them with --tolerance, or take another rank", svd->residual, round);
        if (good && !done)
            restart(b, theta, y);
    }
    xlm_progress_end(&progress);
    if (good)
        turn(b, svd->rank, y);
    return good;
}

/* ---- results ---- */

/* The columns of U diag(s) and of V with fixed signs. */
static bool fix_signs(struct basis *b, xlm_truncated_svd *svd)
{
    const int64_t k = svd->rank, rows = b->of->rows * b->comm->ranks;
    g_autoptr(xlm_matrix) left = xlm_matrix_new(b->grid, XLM_BY_ROWS, rows, k, b->error);
    g_autoptr(xlm_matrix) right = left != NULL ? xlm_matrix_new(b->grid, XLM_BY_ROWS, rows, k, b->error) : NULL;
    if (right == NULL)
        return false;
    copy_rows(b, left, k, svd->left, true);
    copy_rows(b, right, k, svd->right, true);
    xlm_matrix_fix_signs(left, right, false);
    copy_rows(b, left, k, svd->left, false);
    copy_rows(b, right, k, svd->right, false);
    return true;
}

static bool take_results(struct basis *b, xlm_truncated_svd *svd, const double *theta)
{
    const int64_t k = svd->rank, n = b->extents.width, rows = b->of->rows;
    svd->values = g_new(double, k);
    svd->left = g_new(double, rows * k);
    svd->right = g_new(double, rows * k);
    g_autofree double *x = g_new0(double, rows * n);
    for (int64_t j = 0; j < k; j++)
        svd->values[j] = sqrt(fmax(theta[j], 0));
    for (int64_t i = 0; i < rows; i++)
        memcpy(svd->right + i * k, b->q + i * b->stride, sizeof *b->q * (size_t)k);
    for (int64_t first = 0; first < k; first += n) {
        const size_t now = sizeof *x * (size_t)MIN(n, k - first);
        memset(x, 0, sizeof *x * (size_t)(rows * n));
        for (int64_t i = 0; i < rows; i++)
            memcpy(x + i * n, svd->right + i * k + first, now);
        multiply(b, false, n, x, b->image);
        for (int64_t i = 0; i < rows; i++)
            memcpy(svd->left + i * k + first, b->image + i * n, now);
    }
    svd->products = b->products;
    return fix_signs(b, svd);
}

int64_t xlm_truncated_svd_bytes(const xlm_comm *comm, int64_t n, int64_t rank)
{
    const struct extents e = choose_extents(n, rank);
    const int64_t rows = (n + comm->ranks - 1) / comm->ranks, stride = e.max_columns + e.width;
    const int64_t working = rows * (stride + 6 * e.width) + 2 * rows * comm->ranks * e.width + 5 * stride * stride;
    return (int64_t)sizeof(double) * (working + 4 * rows * rank);
}

bool xlm_truncated_svd_find(const xlm_grid *grid, const xlm_linear_map *map, xlm_truncated_svd *svd, GError **error)
{
    const struct extents e = choose_extents(map->n, svd->rank);
    const xlm_comm *comm = grid->comm;
    struct basis *b = g_new0(struct basis, 1);
    b->grid = grid;
    b->comm = comm;
    b->of = map;
    b->extents = e;
    b->error = error;
    b->stride = e.max_columns + e.width;
    b->q = g_new(double, map->rows * b->stride);
    b->h = g_new0(double, b->stride * b->stride);
    b->next = g_new(double, map->rows * e.width);
    b->image = g_new(double, map->rows * e.width);
    b->all = g_new(double, map->rows * e.width * comm->ranks);
    g_autofree double *theta = g_new(double, e.max_columns);
    const bool good = iterate(b, svd, theta) && take_results(b, svd, theta);
    g_free(b->q);
    g_free(b->h);
    g_free(b->next);
    g_free(b->image);
    g_free(b->all);
    g_free(b);
    if (!good)
        xlm_truncated_svd_free(svd);
    return good;
}

void xlm_truncated_svd_free(xlm_truncated_svd *svd)
{
    g_clear_pointer(&svd->values, g_free);
    g_clear_pointer(&svd->left, g_free);
    g_clear_pointer(&svd->right, g_free);
}
