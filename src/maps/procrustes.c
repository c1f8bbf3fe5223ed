/* xlm-mpi: a rotation that brings the vectors of one language onto those of another. SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/procrustes.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/rng.h"
#include "gemm/gemm.h"
#include "matrix/algebra.h"
#include "vectors/alignment.h"
#include "vectors/cosines.h"

enum { BLOCK = 4096 }; /* pairs whose vectors are converted to double at a time */

/* m[width x width] = Σ y xᵀ over all pairs; ranks share them. */
static void correlate(const xlm_procrustes *p, int64_t count, const int32_t *pairs, double *m)
{
    const xlm_comm *comm = p->grid->comm;
    const int64_t d = p->width;
    double *side[2] = {g_new(double, BLOCK * d), g_new(double, BLOCK * d)};
    int64_t first, own;
    xlm_matrix_share(comm, count, &first, &own);
    memset(m, 0, sizeof *m * (size_t)(d * d));
    for (int64_t at = first; at < first + own; at += BLOCK) {
        const int64_t n = MIN(BLOCK, first + own - at);
        for (int s = 0; s < 2; s++)
            for (int64_t i = 0; i < n; i++)
                for (int64_t c = 0; c < d; c++)
                    side[s][i * d + c] = (double)p->vectors[s][pairs[2 * (at + i) + s] * d + c];
        xlm_gemm_double(true, false, d, d, n, 1, side[1], d, side[0], d, 1, m, d);
    }
    xlm_comm_sum_double(comm, m, d * d);
    g_free(side[0]);
    g_free(side[1]);
}

/* The first k columns of a, or its first k rows with by_row; 0 instead of the others. x: [d x d] to work in. */
static void keep_first(xlm_matrix *a, bool by_row, int64_t k, double *x)
{
    const int64_t d = xlm_matrix_rows(a);
    xlm_matrix_get(a, x);
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++)
            if ((by_row ? i : j) >= k)
                x[i * d + j] = 0;
    xlm_matrix_set(a, x);
}

/* W so far, and projections onto the directions that it does not determine yet: of targets (left) and of sources (right). */
typedef struct partial_map {
    xlm_matrix *w, *left, *right;
    int64_t rank; /* directions that W has */
} partial_map;

/* Add to W Σ u_k v_kᵀ over the singular vectors of A = left M right whose values are above the threshold (with `share`, above
 * this share of the largest value), and take their directions out of the projections. [out] s: [d] singular values of A. */
static bool settle(const xlm_grid *grid, const xlm_matrix *m, double threshold, bool share, partial_map *p, double *s,
                   GError **error)
{
    const int64_t d = xlm_matrix_rows(m);
    g_autofree double *x = g_new(double, d * d);
    xlm_matrix *a[4] = {NULL}; /* A, U, Vᵀ, to work in */
    bool good = true;
    for (int k = 0; k < 4 && good; k++)
        good = (a[k] = xlm_matrix_new(grid, XLM_BY_BLOCKS, d, d, error)) != NULL;
    if (good) {
        xlm_matrix_multiply(false, false, 1, p->left, m, 0, a[3]);
        xlm_matrix_multiply(false, false, 1, a[3], p->right, 0, a[0]);
        good = xlm_matrix_svd(a[0], s, a[1], a[2], error);
    }
    int64_t k = 0;
    while (good && k < d - p->rank && s[k] > threshold * (share ? s[0] : 1))
        k++;
    if (k > 0) {
        keep_first(a[1], false, k, x);
        keep_first(a[2], true, k, x);
        xlm_matrix_multiply(false, false, 1, a[1], a[2], 1, p->w);
        xlm_matrix_multiply(false, true, -1, a[1], a[1], 1, p->left);
        xlm_matrix_multiply(true, false, -1, a[2], a[2], 1, p->right);
        p->rank += k;
    }
    for (int i = 0; i < 4; i++)
        xlm_matrix_free(a[i]);
    return good;
}

/* [d x d] numbers of N(0, 1), which are always the same. */
static void fill_at_random(int64_t d, double *x)
{
    const xlm_rng_key key = xlm_rng_make_key(0, XLM_RNG_ROTATION, 0);
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++) {
            double pair[2];
            const xlm_rng_block b = xlm_rng_draw(key, (uint32_t)i, (uint32_t)j, 0, 0);
            xlm_rng_normal(b.v[0], b.v[1], pair);
            x[i * d + j] = pair[0];
        }
}

/* w = U Vᵀ by M's singular vectors, completed as the header says; s: [d]. */
static bool rotate_by_svd(const xlm_grid *grid, const xlm_matrix *m, double *s, xlm_matrix *w, GError **error)
{
    const int64_t d = xlm_matrix_rows(m);
    g_autofree double *x = g_new0(double, d * d), *cosines = g_new(double, d);
    xlm_matrix *a[3] = {NULL}; /* left, right, what W is to be near to */
    bool good = true;
    for (int64_t i = 0; i < d; i++)
        x[i * d + i] = 1;
    for (int k = 0; k < 3 && good; k++)
        if ((good = (a[k] = xlm_matrix_new(grid, XLM_BY_BLOCKS, d, d, error)) != NULL))
            xlm_matrix_set(a[k], x);
    partial_map p = {.w = w, .left = a[0], .right = a[1]};
    good = good && settle(grid, m, XLM_ROTATION_THRESHOLD, true, &p, s, error);
    if (good && p.rank > 0 && p.rank < d)
        good = settle(grid, a[2], XLM_ROTATION_THRESHOLD, false, &p, cosines, error);
    if (good && p.rank > 0 && p.rank < d) {
        fill_at_random(d, x);
        xlm_matrix_set(a[2], x);
        good = settle(grid, a[2], 0, false, &p, cosines, error);
    }
    for (int k = 0; k < 3; k++)
        xlm_matrix_free(a[k]);
    return good;
}

/* The same by M (MᵀM)^−½, which takes a tenth of the time, followed by w (3 I − wᵀw) / 2, which corrects rounding errors. [out]
 * done: M is far enough from a matrix of lower rank for this. */
static bool rotate_by_root(const xlm_grid *grid, const xlm_matrix *m, double *s, xlm_matrix *w, bool *done, GError **error)
{
    const int64_t d = xlm_matrix_rows(m);
    g_autofree double *values = g_new(double, d * d);
    xlm_matrix *a[3] = {NULL};
    bool good = true;
    for (int k = 0; k < 3 && good; k++)
        good = (a[k] = xlm_matrix_new(grid, XLM_BY_BLOCKS, d, d, error)) != NULL;
    if (good) {
        xlm_matrix_multiply(true, false, 1, m, m, 0, a[0]);
        good = xlm_matrix_eigen(a[0], s, a[1], error);
    }
    *done = good && s[d - 1] > 1e-6 * s[0];
    if (*done) {
        xlm_matrix_get(a[1], values);
        for (int64_t i = 0; i < d; i++)
            for (int64_t j = 0; j < d; j++)
                values[i * d + j] /= sqrt(s[j]);
        xlm_matrix_set(a[0], values);
        xlm_matrix_multiply(false, true, 1, a[0], a[1], 0, a[2]);
        xlm_matrix_multiply(false, false, 1, m, a[2], 0, a[0]);
        xlm_matrix_multiply(true, false, 1, a[0], a[0], 0, a[1]);
        xlm_matrix_copy(a[0], w);
        xlm_matrix_multiply(false, false, -0.5, a[0], a[1], 1.5, w);
        for (int64_t j = 0; j < d; j++)
            s[j] = sqrt(s[j]);
    }
    for (int k = 0; k < 3; k++)
        xlm_matrix_free(a[k]);
    return good;
}

xlm_word_rotation *xlm_word_rotation_new(int64_t width)
{
    xlm_word_rotation *rotation = g_new0(xlm_word_rotation, 1);
    rotation->width = width;
    rotation->map = g_new0(double, width * width);
    rotation->values = g_new0(double, width);
    return rotation;
}

void xlm_word_rotation_free(xlm_word_rotation *rotation)
{
    g_free(rotation->map);
    g_free(rotation->values);
    g_free(rotation);
}

static void copy_rotation(const xlm_word_rotation *from, xlm_word_rotation *to)
{
    const size_t d = (size_t)from->width;
    memcpy(to->map, from->map, sizeof *to->map * d * d);
    memcpy(to->values, from->values, sizeof *to->values * d);
    to->pairs = from->pairs;
    to->rank = from->rank;
}

bool xlm_procrustes_fit(const xlm_procrustes *procrustes, int64_t count, const int32_t *pairs, xlm_word_rotation *rotation,
                        GError **error)
{
    const int64_t d = procrustes->width;
    const xlm_grid *grid = procrustes->grid;
    double *s = rotation->values;
    bool done = false;
    correlate(procrustes, count, pairs, rotation->map);
    g_autoptr(xlm_matrix) m = xlm_matrix_new(grid, XLM_BY_BLOCKS, d, d, error);
    g_autoptr(xlm_matrix) w = m != NULL ? xlm_matrix_new(grid, XLM_BY_BLOCKS, d, d, error) : NULL;
    bool good = w != NULL;
    if (good) {
        xlm_matrix_set(m, rotation->map);
        good = rotate_by_root(grid, m, s, w, &done, error) && (done || rotate_by_svd(grid, m, s, w, error));
    }
    if (good && !(s[0] > 0))
        good = xlm_error_set(error, EX_DATAERR, "the vectors of all pairs are 0; there is nothing to learn a map from");
    if (good)
        xlm_matrix_get(w, rotation->map);
    rotation->pairs = count;
    for (rotation->rank = 0; rotation->rank < d && s[rotation->rank] > XLM_ROTATION_THRESHOLD * s[0];)
        rotation->rank++;
    return good;
}

void xlm_procrustes_map(int64_t width, const double *map, int64_t n, const float *x, float *mapped)
{
    g_autofree float *w = g_new(float, width * width);
    for (int64_t i = 0; i < width * width; i++)
        w[i] = (float)map[i];
    xlm_gemm(false, true, n, width, width, 1, x, width, w, width, 0, mapped, width);
}

float *xlm_procrustes_map_all(const xlm_comm *comm, int64_t width, const double *map, int64_t n, const float *x)
{
    int64_t first, own;
    xlm_matrix_share(comm, n, &first, &own);
    g_autofree float *mine = g_new(float, own * width + 1);
    xlm_procrustes_map(width, map, own, x + first * width, mine);
    void *all;
    xlm_comm_gather_all(comm, mine, sizeof *mine * (size_t)(own * width), &all, NULL);
    return all;
}

/* For each of the first n[from] words of side `from`, the nearest word of the other side by CSLS. g_free. */
static int32_t *find_nearest(const xlm_procrustes *p, const int64_t n[2], const float *const vectors[2], int from)
{
    const xlm_comm *comm = p->grid->comm;
    xlm_alignment a = xlm_alignment_between(p->width, vectors, n, !from);
    a.self = p->self[!from];
    g_autofree float *hubness = g_new(float, n[!from]), *score = g_new(float, n[from]);
    int32_t *nearest = g_new(int32_t, n[from]);
    xlm_alignment_neighbours(comm, &a, p->neighbours, hubness);
    a = xlm_alignment_between(p->width, vectors, n, from);
    a.self = p->self[from];
    a.hubness = hubness;
    xlm_alignment_nearest(comm, &a, 1, nearest, score);
    return nearest;
}

/* Pairs among the first n words of both sides that are each other's nearest: int32_t source, target, ... . mapped: the vectors of
 * the source, on every rank. [out] cosine: mean of the pairs' cosines. */
static GArray *find_mutual(const xlm_procrustes *p, const int64_t n[2], const float *mapped, double *cosine)
{
    const float *const vectors[2] = {mapped, p->vectors[1]};
    int32_t *nearest[2] = {find_nearest(p, n, vectors, 0), find_nearest(p, n, vectors, 1)};
    GArray *pairs = g_array_new(FALSE, FALSE, sizeof(int32_t));
    *cosine = 0;
    for (int32_t i = 0; i < n[0]; i++) {
        const int32_t j = nearest[0][i];
        if (j < 0 || nearest[1][j] != i)
            continue;
        g_array_append_val(pairs, i);
        g_array_append_val(pairs, j);
        *cosine += xlm_vector_cosine(p->width, mapped + i * p->width, p->vectors[1] + j * p->width);
    }
    *cosine = pairs->len > 0 ? *cosine / (pairs->len / 2) : 0;
    g_free(nearest[0]);
    g_free(nearest[1]);
    return pairs;
}

bool xlm_procrustes_refine(const xlm_procrustes *procrustes, int64_t times, int64_t max_words, xlm_word_rotation *rotation,
                           GError **error)
{
    const xlm_procrustes *p = procrustes;
    const int64_t n[2] = {MIN(p->n[0], max_words), MIN(p->n[1], max_words)};
    double best = -INFINITY, cosine;
    xlm_word_rotation *next = xlm_word_rotation_new(p->width);
    bool good = true;
    copy_rotation(rotation, next);
    for (int64_t round = 0; round <= times && good; round++) {
        const double begin = xlm_clock();
        float *mapped = xlm_procrustes_map_all(p->grid->comm, p->width, next->map, n[0], p->vectors[0]);
        g_autoptr(GArray) pairs = find_mutual(p, n, mapped, &cosine);
        g_free(mapped);
        xlm_log_info("refinement %" G_GINT64_FORMAT ": %u pairs, mean cosine %.4f: %.1f s", round, pairs->len / 2, cosine,
                     xlm_clock() - begin);
        if (cosine > best) {
            best = cosine;
            copy_rotation(next, rotation);
        }
        if (round < times && pairs->len > 0)
            good = xlm_procrustes_fit(p, pairs->len / 2, (const int32_t *)(const void *)pairs->data, next, error);
    }
    xlm_word_rotation_free(next);
    return good;
}
