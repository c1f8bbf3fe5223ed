/* xlm-mpi: translations found among the sentences of two texts. SPDX-License-Identifier: GPL-3.0-or-later */
#include "retrieval/mined_pairs.h"

#include <math.h>

#include "kernels/kernels.h"
#include "vectors/alignment.h"

/* The nearest sentences of the other side, of each sentence of one. */
typedef struct neighbours {
    int64_t n, k;
    float *cosine; /* [n x k], from the nearest on */
    int32_t *row;  /* [n x k] -1: there are no more */
    double *mean;  /* [n] r(x) */
} neighbours;

/* [n] infinite for rows of zeros, so that with this as hubness they are never found, and 0 for others. g_free. */
static float *find_zeros(int64_t n, int64_t width, const float *x)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    float *zeros = g_new(float, MAX(n, 1));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        zeros[i] = kernel->dot(width, x + i * width, x + i * width) > 0 ? 0 : INFINITY;
    return zeros;
}

/* The neighbours of the sentences of side `from` on the other side. */
static neighbours find_neighbours(const xlm_comm *comm, const xlm_mining *m, int from)
{
    const int64_t n = m->n[from], candidates = m->n[!from], k = m->neighbours;
    neighbours found = {.n = n, .k = k, .cosine = g_new(float, MAX(n * k, 1)), .row = g_new(int32_t, MAX(n * k, 1)),
                        .mean = g_new0(double, MAX(n, 1))};
    g_autofree float *own = find_zeros(n, m->width, m->vectors[from]);
    g_autofree float *hubness = find_zeros(candidates, m->width, m->vectors[!from]);
    xlm_alignment a = xlm_alignment_between(m->width, m->vectors, m->n, from);
    a.hubness = hubness;
    xlm_alignment_nearest(comm, &a, m->neighbours, found.row, found.cosine);
    for (int64_t i = 0; i < n; i++) {
        float *cosine = found.cosine + i * k;
        int32_t *row = found.row + i * k;
        int64_t number = 0;
        if (own[i] > 0)
            row[0] = -1;
        for (; number < k && row[number] >= 0; number++) {
            cosine[number] /= 2; /* of 2 cos(x, y) */
            found.mean[i] += (double)cosine[number];
        }
        found.mean[i] /= (double)MAX(number, 1);
    }
    return found;
}

static void free_neighbours(neighbours *n)
{
    g_free(n->cosine);
    g_free(n->row);
    g_free(n->mean);
}

/* The best candidate of each sentence of side `from`. */
static void add_best(const xlm_mining *m, const neighbours *of, int from, GArray *pairs)
{
    const neighbours *here = &of[from], *there = &of[!from];
    for (int64_t i = 0; i < here->n; i++) {
        xlm_mined_pair best = {.source = -1};
        for (int64_t c = 0; c < here->k && here->row[i * here->k + c] >= 0; c++) {
            const int64_t j = here->row[i * here->k + c];
            const double between = (here->mean[i] + there->mean[j]) / 2;
            double score = (double)here->cosine[i * here->k + c];
            if (m->margin)
                score = between > 0 ? score / between : 0;
            if (best.source < 0 || score > best.score)
                best = (xlm_mined_pair){from == 0 ? i : j, from == 0 ? j : i, score};
        }
        if (best.source >= 0)
            g_array_append_val(pairs, best);
    }
}

static gint by_score(gconstpointer a, gconstpointer b)
{
    const xlm_mined_pair *x = a, *y = b;
    if (x->score != y->score)
        return (x->score < y->score) - (x->score > y->score);
    if (x->source != y->source)
        return (x->source > y->source) - (x->source < y->source);
    return (x->target > y->target) - (x->target < y->target);
}

GArray *xlm_mine_pairs(const xlm_comm *comm, const xlm_mining *mining)
{
    neighbours of[2] = {find_neighbours(comm, mining, 0), find_neighbours(comm, mining, 1)};
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(xlm_mined_pair));
    GArray *pairs = g_array_new(FALSE, FALSE, sizeof(xlm_mined_pair));
    bool *taken[2] = {g_new0(bool, MAX(mining->n[0], 1)), g_new0(bool, MAX(mining->n[1], 1))};
    add_best(mining, of, 0, all);
    add_best(mining, of, 1, all);
    g_array_sort(all, by_score);
    for (guint i = 0; i < all->len; i++) {
        const xlm_mined_pair pair = g_array_index(all, xlm_mined_pair, i);
        if (taken[0][pair.source] || taken[1][pair.target])
            continue;
        taken[0][pair.source] = taken[1][pair.target] = true;
        g_array_append_val(pairs, pair);
    }
    for (int s = 0; s < 2; s++) {
        g_free(taken[s]);
        free_neighbours(&of[s]);
    }
    return pairs;
}

static double share(int64_t part, int64_t of) { return of > 0 ? (double)part / (double)of : 0; }

static xlm_mining_score score(int64_t mined, int64_t right, int64_t gold, double threshold)
{
    return (xlm_mining_score){.threshold = threshold, .mined = mined, .right = right, .gold = gold,
                              .precision = share(right, mined), .recall = share(right, gold),
                              .f1 = share(2 * right, mined + gold)};
}

xlm_mining_score xlm_mining_score_at(const GArray *pairs, const bool *is_gold, int64_t gold, double threshold)
{
    int64_t mined = 0, right = 0;
    for (; mined < pairs->len && g_array_index(pairs, xlm_mined_pair, mined).score >= threshold; mined++)
        right += is_gold[mined];
    return score(mined, right, gold, threshold);
}

xlm_mining_score xlm_mining_best_score(const GArray *pairs, const bool *is_gold, int64_t gold)
{
    xlm_mining_score best = score(0, 0, gold, INFINITY);
    int64_t right = 0;
    for (guint i = 0; i < pairs->len; i++) {
        const double here = g_array_index(pairs, xlm_mined_pair, i).score;
        const double next = i + 1 < pairs->len ? g_array_index(pairs, xlm_mined_pair, i + 1).score : here;
        right += is_gold[i];
        if (i + 1 < pairs->len && next == here)
            continue; /* no threshold is between the two */
        const double middle = (here + next) / 2;
        const xlm_mining_score now = score(i + 1, right, gold, middle > next ? middle : here);
        if (now.f1 > best.f1)
            best = now;
    }
    return best;
}
