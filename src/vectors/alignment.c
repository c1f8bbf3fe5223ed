/* xlm-mpi: how well embeddings of two languages are aligned. SPDX-License-Identifier: GPL-3.0-or-later */
#include "vectors/alignment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "gemm/gemm.h"
#include "kernels/kernels.h"

/* How many source tokens are in a block, which ranks are dealt, and how many candidates they are multiplied with at a time. A
 * product of a few hundred sources by many candidates is a fifth slower than one of 1,024 by 1,024, because GEMM packs the
 * candidates each time; but if there are few sources, several ranks should have some. */
enum { MIN_SOURCES = 256, MAX_SOURCES = 1024, SHARES = 8, CANDIDATES = 1024 };

static const float MARGIN = 1e-6f; /* between products of unit vectors that were summed in different orders */

xlm_alignment xlm_alignment_between(int64_t width, const float *const vectors[2], const int64_t n[2], int from)
{
    return (xlm_alignment){.width = width, .source_vectors = vectors[from], .candidate_vectors = vectors[!from], .n = n[from],
                           .candidates = n[!from]};
}

/* y = x / |x|; a row of zeros stays, and is at a right angle to everything. */
static void normalise_row(int64_t width, const float *x, float *y)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    const double length = sqrt((double)kernel->dot(width, x, x));
    kernel->scale(width, length > 0 ? (float)(1 / length) : 0, x, y, false);
}

static void normalise(int64_t n, int64_t width, const float *x, float *y)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        normalise_row(width, x + i * width, y + i * width);
}

/* The end of a token's translations. */
static int64_t end_of(const xlm_alignment *a, int64_t i) { return a->end != NULL ? a->end[i] : a->first[i + 1]; }

/* The score of the nearest translation. scratch: [width] */
static float nearest_translation(const xlm_alignment *a, int64_t i, const float *source, float *scratch)
{
    float nearest = -INFINITY;
    for (int64_t k = a->first[i]; k < end_of(a, i); k++) {
        const int64_t j = a->translations[k];
        normalise_row(a->width, a->candidate_vectors + j * a->width, scratch);
        const float cosine = xlm_kernels_get()->dot(a->width, source, scratch);
        nearest = fmaxf(nearest, a->hubness != NULL ? 2 * cosine - a->hubness[j] : cosine);
    }
    return nearest;
}

/* The source tokens first … first + n, and their candidates begin … end. */
struct block {
    int64_t first, n, begin, end;
    int64_t number; /* of the next block */
};

/* Depends on nothing but the number of sources, so that products are the same on any number of ranks. */
static int64_t sources_of_block(int64_t n)
{
    const int64_t share = (n + SHARES - 1) / SHARES;
    return CLAMP(share, MIN_SOURCES, MAX_SOURCES);
}

/* Move to the next block that this rank is dealt; *b is all zeros before the first. */
static bool next_block(const xlm_comm *comm, const xlm_alignment *a, struct block *b)
{
    do {
        b->first += b->n;
        if (b->first >= a->n)
            return false;
        b->begin = a->pool > 0 ? b->first / a->pool * a->pool : 0;
        b->end = a->pool > 0 ? MIN(b->begin + a->pool, a->candidates) : a->candidates;
        b->n = MIN(sources_of_block(a->n), (a->pool > 0 ? b->end : a->n) - b->first);
    } while (b->number++ % comm->ranks != comm->rank);
    return true;
}

/* Take candidates out of a row: source token i itself and, if `translations`, its translations. */
static void leave_out(const xlm_alignment *a, int64_t i, bool translations, int64_t begin, int64_t width, float *row)
{
    for (int64_t k = translations ? a->first[i] : 0; translations && k < end_of(a, i); k++) {
        const int64_t j = a->translations[k] - begin;
        if (j >= 0 && j < width)
            row[j] = -INFINITY;
    }
    const int64_t self = a->self != NULL && a->self[i] >= 0 ? a->self[i] - begin : -1;
    if (self >= 0 && self < width)
        row[self] = -INFINITY;
}

/* Memory for a block: its vectors, and its scores with some candidates. */
struct work {
    float *candidates, *sources; /* of length 1: [CANDIDATES x width], the current ones; [sources_of_block x width] */
    float *score;                /* [sources_of_block x CANDIDATES] */
};

static void open_work(struct work *w, const xlm_alignment *a)
{
    const int64_t sources = sources_of_block(a->n);
    *w = (struct work){.candidates = g_new(float, CANDIDATES * a->width), .sources = g_new(float, sources * a->width),
                       .score = g_new(float, sources * CANDIDATES)};
}

static void close_work(struct work *w)
{
    g_free(w->candidates);
    g_free(w->sources);
    g_free(w->score);
}

/* Cosines, or what CSLS ranks by, of a block with the candidates begin … begin + width: w->score [n x width]. */
static void score_block(const xlm_alignment *a, const struct block *b, int64_t begin, int64_t width, struct work *w)
{
    normalise(width, a->width, a->candidate_vectors + begin * a->width, w->candidates);
    xlm_gemm(false, true, b->n, width, a->width, 1, w->sources, a->width, w->candidates, a->width, 0, w->score, width);
    if (a->hubness == NULL)
        return;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < b->n; i++)
        for (int64_t j = 0; j < width; j++)
            w->score[i * width + j] = 2 * w->score[i * width + j] - a->hubness[begin + j];
}

/* The ranks of a block's source tokens: rank [n of the block]. */
static void rank_block(const xlm_alignment *a, const struct block *b, struct work *w, int64_t *rank)
{
    float lowest[MAX_SOURCES];
    for (int64_t i = 0; i < b->n; i++) {
        lowest[i] = nearest_translation(a, b->first + i, w->sources + i * a->width, w->candidates /* not in use yet */);
        lowest[i] -= a->hubness != NULL ? 2 * MARGIN : MARGIN;
        rank[i] = 1;
    }
    for (int64_t begin = b->begin; begin < b->end; begin += CANDIDATES) {
        const int64_t width = MIN(CANDIDATES, b->end - begin);
        score_block(a, b, begin, width, w);
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < b->n; i++) {
            float *row = w->score + i * width;
            leave_out(a, b->first + i, true, begin, width, row);
            int32_t nearer = 0;
#pragma omp simd reduction(+ : nearer)
            for (int64_t j = 0; j < width; j++)
                nearer += row[j] >= lowest[i];
            rank[i] += nearer;
        }
    }
}

void xlm_alignment_ranks(const xlm_comm *comm, const xlm_alignment *alignment, int64_t *rank)
{
    const xlm_alignment *a = alignment;
    struct work w;
    struct block b = {0};
    open_work(&w, a);
    memset(rank, 0, sizeof *rank * (size_t)a->n);
    xlm_progress progress = xlm_progress_begin("looking for nearest vectors", (double)a->n, "vectors");
    while (next_block(comm, a, &b)) {
        normalise(b.n, a->width, a->source_vectors + b.first * a->width, w.sources);
        rank_block(a, &b, &w, rank + b.first);
        xlm_progress_show(&progress, (double)(b.first + b.n));
    }
    xlm_progress_end(&progress);
    xlm_comm_sum_int64(comm, rank, a->n);
    close_work(&w);
}

/* ---- neighbours ---- */

/* A candidate as a number: the larger number has the larger score or, if scores are equal, the earlier row. */
static uint64_t key_of(float score, int64_t row)
{
    const float x = score + 0.0f; /* no -0 */
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = bits >> 31 ? ~bits : bits | UINT32_C(1) << 31;
    return (uint64_t)bits << 32 | (UINT32_MAX - (uint32_t)row);
}

static int32_t row_of(uint64_t key) { return (int32_t)(UINT32_MAX - (uint32_t)key); }

static float score_of(uint64_t key)
{
    uint32_t bits = (uint32_t)(key >> 32);
    bits = bits >> 31 ? bits & ~(UINT32_C(1) << 31) : ~bits;
    float score;
    memcpy(&score, &bits, sizeof score);
    return score;
}

/* Moves the k largest of n different keys to the front, the smallest of these last (Hoare 1961, "Algorithm 65: Find"). */
static void select_largest(int64_t n, int64_t k, uint64_t *keys)
{
    for (int64_t low = 0, high = n - 1; low < high;) {
        const uint64_t x = keys[low], y = keys[(low + high) / 2], z = keys[high];
        const uint64_t pivot = MAX(MIN(x, y), MIN(MAX(x, y), z));
        int64_t i = low, j = high;
        while (i <= j) {
            while (keys[i] > pivot)
                i++;
            while (keys[j] < pivot)
                j--;
            if (i <= j) {
                const uint64_t other = keys[i];
                keys[i++] = keys[j];
                keys[j--] = other;
            }
        }
        if (k - 1 <= j)
            high = j;
        else if (k - 1 >= i)
            low = i;
        else
            return;
    }
}

/* The best candidates of a source token: some more than k, which are cut down to k when there is no room for another. */
typedef struct kept {
    uint64_t *keys;
    int64_t n;
    float lowest; /* score of the k-th best when they were cut down; later rows must be above it */
} kept;

enum { ROOM = 64 };

static int64_t places_for(int k) { return k + MAX(k, ROOM); }

static void cut_down(int k, kept *to)
{
    if (to->n < k)
        return;
    select_largest(to->n, k, to->keys);
    to->n = k;
    to->lowest = score_of(to->keys[k - 1]);
}

/* Scores of rows first … first + n, which come in their order. */
static void keep(const float *score, int64_t first, int64_t n, int k, kept *to)
{
    for (int64_t j = 0; j < n; j++)
        if (score[j] > to->lowest) {
            to->keys[to->n++] = key_of(score[j], first + j);
            if (to->n == places_for(k))
                cut_down(k, to);
        }
}

static int by_key(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

static double mean_of_kept(const kept *of)
{
    double sum = 0;
    for (int64_t i = 0; i < of->n; i++)
        sum += (double)score_of(of->keys[i]);
    return of->n > 0 ? sum / (double)of->n : 0;
}

static kept *open_kept(int64_t n, int k)
{
    kept *all = g_new(kept, n);
    uint64_t *keys = g_new(uint64_t, n * places_for(k));
    for (int64_t i = 0; i < n; i++)
        all[i].keys = keys + i * places_for(k);
    return all;
}

static void close_kept(kept *all)
{
    g_free(all[0].keys);
    g_free(all);
}

/* The k best candidates of each of a block's source tokens, in any order: best [n of the block]. */
static void keep_block(const xlm_alignment *a, const struct block *b, int k, struct work *w, kept *best)
{
    for (int64_t i = 0; i < b->n; i++)
        best[i].n = 0, best[i].lowest = -INFINITY;
    for (int64_t begin = b->begin; begin < b->end; begin += CANDIDATES) {
        const int64_t width = MIN(CANDIDATES, b->end - begin);
        score_block(a, b, begin, width, w);
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < b->n; i++) {
            float *row = w->score + i * width;
            leave_out(a, b->first + i, a->first != NULL, begin, width, row);
            keep(row, begin, width, k, best + i);
        }
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < b->n; i++)
        cut_down(k, best + i);
}

void xlm_alignment_neighbours(const xlm_comm *comm, const xlm_alignment *alignment, int k, float *mean)
{
    xlm_alignment a = *alignment;
    a.hubness = NULL;
    a.first = NULL;
    struct work w;
    struct block b = {0};
    kept *best = open_kept(sources_of_block(a.n), k);
    g_autofree double *means = g_new0(double, MAX(a.n, 1));
    open_work(&w, &a);
    xlm_progress progress = xlm_progress_begin("looking for nearest vectors", (double)a.n, "vectors");
    while (next_block(comm, &a, &b)) {
        normalise(b.n, a.width, a.source_vectors + b.first * a.width, w.sources);
        keep_block(&a, &b, k, &w, best);
        for (int64_t i = 0; i < b.n; i++)
            means[b.first + i] = mean_of_kept(best + i);
        xlm_progress_show(&progress, (double)(b.first + b.n));
    }
    xlm_progress_end(&progress);
    xlm_comm_merge_double(comm, means, a.n);
    for (int64_t i = 0; i < a.n; i++)
        mean[i] = (float)means[i];
    close_work(&w);
    close_kept(best);
}

void xlm_alignment_nearest(const xlm_comm *comm, const xlm_alignment *alignment, int k, int32_t *nearest, float *score)
{
    const xlm_alignment *a = alignment;
    struct work w;
    struct block b = {0};
    kept *best = open_kept(sources_of_block(a->n), k);
    g_autofree double *found = g_new0(double, MAX(a->n * k, 1) * 2); /* row + 1, 0: none; score */
    open_work(&w, a);
    xlm_progress progress = xlm_progress_begin("looking for nearest vectors", (double)a->n, "vectors");
    while (next_block(comm, a, &b)) {
        normalise(b.n, a->width, a->source_vectors + b.first * a->width, w.sources);
        keep_block(a, &b, k, &w, best);
        for (int64_t i = 0; i < b.n; i++) {
            qsort(best[i].keys, (size_t)best[i].n, sizeof *best[i].keys, by_key);
            for (int64_t j = 0; j < best[i].n; j++) {
                double *to = found + 2 * ((b.first + i) * k + j);
                to[0] = row_of(best[i].keys[j]) + 1.0;
                to[1] = (double)score_of(best[i].keys[j]);
            }
        }
        xlm_progress_show(&progress, (double)(b.first + b.n));
    }
    xlm_progress_end(&progress);
    xlm_comm_merge_double(comm, found, 2 * a->n * k);
    for (int64_t i = 0; i < a->n * k; i++) {
        nearest[i] = (int32_t)found[2 * i] - 1;
        score[i] = nearest[i] >= 0 ? (float)found[2 * i + 1] : -INFINITY;
    }
    close_work(&w);
    close_kept(best);
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
