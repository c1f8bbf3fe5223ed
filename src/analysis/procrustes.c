/* xlm-mpi: a rotation that brings the vectors of one language onto those of another. SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/procrustes.h"

#include <math.h>
#include <string.h>

#include "analysis/alignment.h"
#include "analysis/cosines.h"
#include "base/log.h"
#include "matrix/algebra.h"
#include "tensor/gemm.h"

enum { BLOCK = 4096 }; /* pairs whose vectors are in hand as doubles */

/* m[width x width] = Σ y xᵀ over all pairs; ranks share them. */
static void correlate(const xlm_procrustes *p, int64_t count, const int32_t *pairs, double *m)
{
    const xlm_comm *comm = xlm_grid_comm(p->grid);
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
    xlm_comm_sum_double(comm, m, (int)(d * d));
    g_free(side[0]);
    g_free(side[1]);
}

/* w = U Vᵀ by M's singular vectors; s: [width]. m is overwritten. */
static bool rotate_by_svd(const xlm_grid *grid, xlm_matrix *m, double *s, xlm_matrix *w, GError **error)
{
    const int64_t d = xlm_matrix_rows(m);
    xlm_matrix *u = xlm_matrix_new(grid, XLM_BY_BLOCKS, d, d, error);
    xlm_matrix *vt = u != NULL ? xlm_matrix_new(grid, XLM_BY_BLOCKS, d, d, error) : NULL;
    const bool good = vt != NULL && xlm_matrix_svd(m, s, u, vt, error);
    if (good)
        xlm_matrix_multiply(false, false, 1, u, vt, 0, w);
    xlm_matrix_free(u);
    xlm_matrix_free(vt);
    return good;
}

/* The same as M (MᵀM)^−½, which takes a tenth of the time, then w (3 I − wᵀw) / 2, which makes up for rounding. *done:
 * M is far enough from a matrix of smaller rank. */
static bool rotate_by_root(const xlm_grid *grid, const xlm_matrix *m, double *s, xlm_matrix *w, bool *done, GError **error)
{
    const int64_t d = xlm_matrix_rows(m);
    double *values = g_new(double, d * d);
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
    g_free(values);
    return good;
}

bool xlm_procrustes_fit(const xlm_procrustes *procrustes, int64_t count, const int32_t *pairs, double *map, int64_t *rank,
                        GError **error)
{
    const int64_t d = procrustes->width;
    const xlm_grid *grid = procrustes->grid;
    double *s = g_new0(double, d);
    bool done = false;
    correlate(procrustes, count, pairs, map);
    xlm_matrix *m = xlm_matrix_new(grid, XLM_BY_BLOCKS, d, d, error);
    xlm_matrix *w = m != NULL ? xlm_matrix_new(grid, XLM_BY_BLOCKS, d, d, error) : NULL;
    bool good = w != NULL;
    if (good) {
        xlm_matrix_set(m, map);
        good = rotate_by_root(grid, m, s, w, &done, error) && (done || rotate_by_svd(grid, m, s, w, error));
    }
    if (good && !(s[0] > 0))
        good = xlm_error_set(error, EX_DATAERR, "the vectors of all pairs are 0; there is nothing to learn a map from");
    if (good)
        xlm_matrix_get(w, map);
    for (*rank = 0; *rank < d && s[*rank] > 1e-6 * s[0];)
        ++*rank;
    xlm_matrix_free(m);
    xlm_matrix_free(w);
    g_free(s);
    return good;
}

void xlm_procrustes_map(int64_t width, const double *map, int64_t n, const float *x, float *mapped)
{
    float *w = g_new(float, width * width);
    for (int64_t i = 0; i < width * width; i++)
        w[i] = (float)map[i];
    xlm_gemm(false, true, n, width, width, 1, x, width, w, width, 0, mapped, width);
    g_free(w);
}

float *xlm_procrustes_map_all(const xlm_comm *comm, int64_t width, const double *map, int64_t n, const float *x)
{
    int64_t first, own;
    xlm_matrix_share(comm, n, &first, &own);
    float *mine = g_new(float, own * width + 1);
    xlm_procrustes_map(width, map, own, x + first * width, mine);
    void *all;
    size_t *sizes = g_new(size_t, comm->ranks);
    xlm_comm_gather_all(comm, mine, sizeof *mine * (size_t)(own * width), &all, sizes);
    g_free(sizes);
    g_free(mine);
    return all;
}

/* nearest[n of from]: of the first n words of a side the nearest of the other's by CSLS. */
static int32_t *find_nearest(const xlm_procrustes *p, const int64_t n[2], const float *const vectors[2], int from)
{
    const xlm_comm *comm = xlm_grid_comm(p->grid);
    xlm_alignment a = {.width = p->width, .source_vectors = vectors[!from], .candidate_vectors = vectors[from], .n = n[!from],
                       .candidates = n[from]};
    float *hubness = g_new(float, n[!from]), *score = g_new(float, n[from]);
    int32_t *nearest = g_new(int32_t, n[from]);
    xlm_alignment_neighbours(comm, &a, p->neighbours, hubness);
    a = (xlm_alignment){.width = p->width, .source_vectors = vectors[from], .candidate_vectors = vectors[!from], .n = n[from],
                        .candidates = n[!from], .hubness = hubness};
    xlm_alignment_nearest(comm, &a, 1, nearest, score);
    g_free(hubness);
    g_free(score);
    return nearest;
}

/* Pairs among the first n words of both sides that are nearest of each other; int32_t source, target, ... . mapped: the source,
 * on every rank. *cosine: their mean. */
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

bool xlm_procrustes_refine(const xlm_procrustes *procrustes, int64_t times, int64_t most, double *map, GError **error)
{
    const xlm_procrustes *p = procrustes;
    const int64_t d = p->width, n[2] = {MIN(p->n[0], most), MIN(p->n[1], most)};
    double best = -INFINITY, cosine, *next = g_memdup2(map, sizeof *map * (size_t)(d * d));
    bool good = true;
    for (int64_t round = 0; round <= times && good; round++) {
        const double begin = xlm_clock();
        float *mapped = xlm_procrustes_map_all(xlm_grid_comm(p->grid), d, next, n[0], p->vectors[0]);
        GArray *pairs = find_mutual(p, n, mapped, &cosine);
        int64_t rank;
        g_free(mapped);
        xlm_log_info("refinement %" G_GINT64_FORMAT ": %u pairs, mean cosine %.4f: %.1f s", round, pairs->len / 2, cosine,
                     xlm_clock() - begin);
        if (cosine > best) {
            best = cosine;
            memcpy(map, next, sizeof *map * (size_t)(d * d));
        }
        if (round < times && pairs->len > 0)
            good = xlm_procrustes_fit(p, pairs->len / 2, (const int32_t *)(const void *)pairs->data, next, &rank, error);
        g_array_unref(pairs);
    }
    g_free(next);
    return good;
}
