/* xlm-mpi: translations found among the sentences of two texts. SPDX-License-Identifier: GPL-3.0-or-later */
#include "retrieval/mined_pairs.h"

#include <math.h>
#include <string.h>

#include "base/progress.h"
#include "gemm/gemm.h"
#include "kernels/kernels.h"

enum {
    SOURCES = 256,    /* sentences of a block: what ranks are dealt */
    CANDIDATES = 4096 /* that they are multiplied with at a time */
};

/* The nearest sentences of the other side, of each sentence of one. */
typedef struct neighbours {
    int64_t n, k;
    double *cosine, *row; /* [n x k], from the nearest on; row -1: there are no more */
    double *mean;         /* [n] r(x) */
} neighbours;

/* Rows of length 1; false in `there` for rows of zeros. g_free. */
static float *normalise(int64_t n, int64_t width, const float *x, bool *there)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    float *y = g_new(float, MAX(n * width, 1));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const double length = sqrt((double)kernel->dot(width, x + i * width, x + i * width));
        there[i] = length > 0;
        kernel->scale(width, length > 0 ? (float)(1 / length) : 0, x + i * width, y + i * width, false);
    }
    return y;
}

/* Candidate `row` into the k nearest so far, of equal ones after those that are there. */
static void insert(double *cosine, double *rows, int64_t k, double value, int64_t row)
{
    int64_t at = k;
    while (at > 0 && (rows[at - 1] < 0 || value > cosine[at - 1]))
        at--;
    if (at == k)
        return;
    memmove(cosine + at + 1, cosine + at, sizeof *cosine * (size_t)(k - 1 - at));
    memmove(rows + at + 1, rows + at, sizeof *rows * (size_t)(k - 1 - at));
    cosine[at] = value;
    rows[at] = (double)row;
}

/* Those of side `from` among the other. */
static neighbours find_neighbours(const xlm_comm *comm, const xlm_mining *m, int from)
{
    const int64_t n = m->n[from], candidates = m->n[!from], width = m->width, k = m->neighbours;
    neighbours found = {.n = n, .k = k, .cosine = g_new0(double, MAX(n * k, 1)), .row = g_new0(double, MAX(n * k, 1)),
                        .mean = g_new0(double, MAX(n, 1))};
    bool *there = g_new(bool, MAX(candidates, 1)), own[SOURCES];
    g_autofree float *to = normalise(candidates, width, m->vectors[!from], there), *product = g_new(float, SOURCES * CANDIDATES);
    xlm_progress progress = xlm_progress_begin(from == 0 ? "nearest targets" : "nearest sources", (double)n, "sentences");
    for (int64_t first = comm->rank * SOURCES; first < n; first += comm->ranks * SOURCES) {
        const int64_t rows = MIN(SOURCES, n - first);
        g_autofree float *x = normalise(rows, width, m->vectors[from] + first * width, own);
        for (int64_t i = 0; i < rows * k; i++)
            found.row[first * k + i] = -1;
        for (int64_t begin = 0; begin < candidates; begin += CANDIDATES) {
            const int64_t cols = MIN(CANDIDATES, candidates - begin);
            xlm_gemm(false, true, rows, cols, width, 1, x, width, to + begin * width, width, 0, product, cols);
#pragma omp parallel for schedule(static)
            for (int64_t i = 0; i < rows; i++) {
                double *cosine = found.cosine + (first + i) * k, *row = found.row + (first + i) * k;
                for (int64_t j = 0; j < cols && own[i]; j++)
                    if (there[begin + j] && (row[k - 1] < 0 || product[i * cols + j] > cosine[k - 1]))
                        insert(cosine, row, k, product[i * cols + j] + 0.0, begin + j); /* no −0, which a sum does not keep */
            }
        }
        xlm_progress_show(&progress, (double)first);
    }
    xlm_progress_end(&progress);
    xlm_comm_merge_double(comm, found.cosine, n * k);
    xlm_comm_merge_double(comm, found.row, n * k);
    for (int64_t i = 0; i < n; i++) {
        int64_t number = 0;
        for (; number < k && found.row[i * k + number] >= 0; number++)
            found.mean[i] += found.cosine[i * k + number];
        found.mean[i] /= (double)MAX(number, 1);
    }
    g_free(there);
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
            const int64_t j = (int64_t)here->row[i * here->k + c];
            const double between = (here->mean[i] + there->mean[j]) / 2;
            double score = here->cosine[i * here->k + c];
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
    GArray *all = g_array_new(FALSE, FALSE, sizeof(xlm_mined_pair)), *pairs = g_array_new(FALSE, FALSE, sizeof(xlm_mined_pair));
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
    g_array_unref(all);
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
