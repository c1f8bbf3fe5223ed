/* xlm-mpi: how well embeddings of two languages are aligned. SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/alignment.h"

#include <math.h>
#include <string.h>

#include "base/progress.h"
#include "tensor/gemm.h"
#include "tensor/kernels.h"

enum {
    SOURCES = 256,    /* source tokens of a block: what ranks are dealt */
    CANDIDATES = 4096 /* that they are multiplied with at a time; the products are 4 MB */
};

static const float MARGIN = 1e-6f; /* between two ways of adding up a product of unit vectors */

/* Rows of x divided by their lengths; rows of zeros stay, and are at a right angle to everything. */
static void normalise(int64_t n, int64_t width, const float *x, float *y)
{
    const xlm_kernels *kernel = xlm_kernels_get();
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const double length = sqrt((double)kernel->dot(width, x + i * width, x + i * width));
        kernel->scale(width, length > 0 ? (float)(1 / length) : 0, x + i * width, y + i * width, false);
    }
}

/* Cosine with the nearest translation. */
static float nearest_translation(const xlm_alignment *a, int64_t i, const float *source, const float *candidates)
{
    float nearest = -INFINITY;
    for (int64_t k = a->first[i]; k < a->first[i + 1]; k++)
        nearest = fmaxf(nearest, xlm_kernels_get()->dot(a->width, source, candidates + a->translations[k] * a->width));
    return nearest;
}

/* A block of source tokens first … first + n: their ranks. cosine: [n x CANDIDATES] to work in. */
static void rank_block(const xlm_alignment *a, int64_t first, int64_t n, const float *sources, const float *candidates,
                       float *cosine, int64_t *rank)
{
    float least[SOURCES];
    for (int64_t i = 0; i < n; i++) {
        least[i] = nearest_translation(a, first + i, sources + i * a->width, candidates) - MARGIN;
        rank[i] = 1;
    }
    for (int64_t begin = 0; begin < a->candidates; begin += CANDIDATES) {
        const int64_t width = MIN(CANDIDATES, a->candidates - begin);
        xlm_gemm(false, true, n, width, a->width, 1, sources, a->width, candidates + begin * a->width, a->width, 0, cosine,
                 width);
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n; i++) {
            float *row = cosine + i * width;
            for (int64_t k = a->first[first + i]; k < a->first[first + i + 1]; k++) {
                const int64_t j = a->translations[k] - begin;
                if (j >= 0 && j < width)
                    row[j] = -INFINITY;
            }
            const int64_t self = a->self != NULL ? a->self[first + i] - begin : -1;
            if (self >= 0 && self < width)
                row[self] = -INFINITY;
            int32_t nearer = 0;
#pragma omp simd reduction(+ : nearer)
            for (int64_t j = 0; j < width; j++)
                nearer += row[j] >= least[i];
            rank[i] += nearer;
        }
    }
}

void xlm_alignment_ranks(const xlm_comm *comm, const xlm_alignment *alignment, int64_t *rank)
{
    const xlm_alignment *a = alignment;
    float *candidates = g_new(float, MAX(a->candidates * a->width, 1)), *sources = g_new(float, SOURCES * a->width);
    float *cosine = g_new(float, SOURCES * CANDIDATES);
    normalise(a->candidates, a->width, a->candidate_vectors, candidates);
    memset(rank, 0, sizeof *rank * (size_t)a->n);
    xlm_progress progress = xlm_progress_begin("looking for nearest subwords", (double)a->n, "subwords");
    for (int64_t first = (int64_t)comm->rank * SOURCES; first < a->n; first += (int64_t)comm->ranks * SOURCES) {
        const int64_t n = MIN(SOURCES, a->n - first);
        normalise(n, a->width, a->source_vectors + first * a->width, sources);
        rank_block(a, first, n, sources, candidates, cosine, rank + first);
        xlm_progress_show(&progress, (double)(first + n));
    }
    xlm_progress_end(&progress);
    for (int64_t at = 0; at < a->n; at += G_MAXINT32)
        xlm_comm_sum_int64(comm, rank + at, (int)MIN(G_MAXINT32, a->n - at));
    g_free(candidates);
    g_free(sources);
    g_free(cosine);
}

xlm_alignment_score xlm_alignment_summary(int64_t n, const int64_t *rank, const bool *include)
{
    xlm_alignment_score s = {0};
    for (int64_t i = 0; i < n; i++) {
        if (include != NULL && !include[i])
            continue;
        s.tokens++;
        s.top1 += rank[i] <= 1;
        s.top5 += rank[i] <= 5;
        s.top10 += rank[i] <= 10;
        s.reciprocal += 1 / (double)rank[i];
    }
    if (s.tokens > 0)
        s.top1 /= (double)s.tokens, s.top5 /= (double)s.tokens, s.top10 /= (double)s.tokens, s.reciprocal /= (double)s.tokens;
    return s;
}
