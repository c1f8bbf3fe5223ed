/* xlm-mpi: hidden Markov model of word positions. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/hmm.h"

#include <string.h>

#include "kernels/kernels.h"

static const float NEGLIGIBLE = 1e-5f;

/* For one sentence pair. The states at time j are the positions, and the positions with the empty word. The latter have the
 * probabilities of all states at time j - 1 times stay[j], so they are not stored. Before the first word, states are equally
 * probable. */
struct model {
    xlm_positions positions;
    const xlm_kernels *kernels;
    int n, m;
    size_t row;       /* n, padded for the kernels */
    float p0;
    const float *emission, *by_empty;
    float *jump;      /* [2 n + 1, and zeros] c(d) at d + n */
    float *backwards; /* [2 n + 1, and zeros] c(-d) at d + n */
    float *jumps;     /* [2 n + 1, and zeros] expected number of jumps between words, divided by c(d), at d + n */
    float *leave;     /* [row] (1 - p0) / Σ_k c(k - i) */
    float *alpha;     /* [m x row] forward probability of position i */
    float *at;        /* [(m + 1) x row] of position i with or without the empty word, after j words; sums to 1 for each j */
    float *stay;      /* [m] */
    float *beta[2];   /* [row] of this word and of the previous one */
};

static size_t room(size_t n) { return (n + XLM_LANES - 1) / XLM_LANES * XLM_LANES; }
static size_t with_zeros(size_t n) { return room(n) + XLM_LANES; }

size_t xlm_hmm_workspace(int n, int m)
{
    const size_t positions = (size_t)n, words = (size_t)m, row = room(positions);
    /* In the order of prepare(). */
    return 3 * with_zeros(2 * positions + 1) + row + (XLM_LANES + row) + with_zeros(3 * positions) + row + row +
           (2 * words + 1) * row + room(words) + row;
}

static float *take(float **from, size_t n, bool clear)
{
    float *const taken = *from;
    *from += n;
    if (clear)
        memset(taken, 0, sizeof *taken * n);
    return taken;
}

/* leave, and the factor of the jumps from before the first word. */
static float find_factors(struct model *h)
{
    const int n = h->n;
    double window = 0; /* Σ_k c(k - i), of i = n first */
    for (int d = -n; d < 0; d++)
        window += h->jump[n + d];
    for (int i = n - 1; i >= 0; i--) {
        window += (double)h->jump[n + n - 1 - i] - h->jump[n - 1 - i];
        h->leave[i] = (1 - h->p0) / (float)window;
    }
    return (1 - h->p0) / (float)(window + (double)h->jump[2 * n] - h->jump[n]);
}

static struct model prepare(const xlm_hmm *hmm, int n, int m, const float *emission, const float *by_empty, float *workspace)
{
    const size_t positions = (size_t)n, words = (size_t)m, row = room(positions), distances = with_zeros(2 * positions + 1);
    struct model h = {.kernels = xlm_kernels_get(), .n = n, .m = m, .row = row, .p0 = hmm->p0, .emission = emission,
                      .by_empty = by_empty};
    h.jump = take(&workspace, distances, true);
    h.backwards = take(&workspace, distances, true);
    h.jumps = take(&workspace, distances, true);
    h.leave = take(&workspace, row, true);
    float *const factors = take(&workspace, XLM_LANES + row, false) + XLM_LANES;
    float *const ahead = take(&workspace, with_zeros(3 * positions), true) + n;
    h.beta[0] = take(&workspace, row, true);
    h.beta[1] = take(&workspace, row, false);
    h.at = take(&workspace, (words + 1) * row, false);
    h.alpha = take(&workspace, words * row, false);
    h.stay = take(&workspace, room(words), false);
    int32_t *const list = (int32_t *)(void *)workspace;
    for (int d = -n; d <= n; d++) {
        const int clipped = d > XLM_HMM_FARTHEST ? XLM_HMM_FARTHEST : d < -XLM_HMM_FARTHEST ? -XLM_HMM_FARTHEST : d;
        h.jump[n + d] = h.backwards[n - d] = hmm->jump[XLM_HMM_FARTHEST + clipped];
    }
    /* The first jump is from position -1. */
    factors[-1] = find_factors(&h);
    list[0] = -1;
    h.positions = (xlm_positions){.n = n, .negligible = NEGLIGIBLE, .jump = h.jump, .backwards = h.backwards, .leave = h.leave,
                                  .factors = factors, .ahead = ahead, .list = list, .terms = 1};
    return h;
}

static void forward(struct model *h)
{
    memset(h->at, 0, sizeof *h->at * h->row);
    for (int k = 0; k < h->n; k++)
        h->at[k] = 1 / (float)h->n;
    for (int j = 0; j < h->m; j++) {
        float *const before = h->at + (size_t)j * h->row;
        h->stay[j] = h->kernels->positions_forward(&h->positions, h->emission + (size_t)j * h->n, before, h->p0 * h->by_empty[j],
                                                   h->alpha + (size_t)j * h->row, before + h->row);
    }
}

static void backward(struct model *h, float *posterior, float *empty, bool count_jumps)
{
    float *beta = h->beta[0], *before = h->beta[1];
    for (int k = 0; k < h->n; k++)
        beta[k] = 1;
    for (int j = h->m - 1; j >= 0; j--) {
        const float *at = h->at + (size_t)j * h->row;
        empty[j] = h->kernels->positions_close(&h->positions, h->emission + (size_t)j * h->n, h->alpha + (size_t)j * h->row, at,
                                               beta, h->stay[j], posterior + (size_t)j * h->n);
        if (j == 0)
            break;
        h->kernels->positions_back(&h->positions, at, h->p0 * h->by_empty[j], beta, before, count_jumps ? h->jumps : NULL);
        float *const other = beta;
        beta = before;
        before = other;
    }
}

void xlm_hmm_posterior(const xlm_hmm *hmm, int n, int m, const float *emission, const float *by_empty, float *posterior,
                       float *empty, float *jumps, float *workspace)
{
    struct model h = prepare(hmm, n, m, emission, by_empty, workspace);
    forward(&h);
    backward(&h, posterior, empty, jumps != NULL);
    if (jumps == NULL)
        return;
    for (int d = 0; d <= 2 * n; d++)
        jumps[d] = h.jumps[d] * h.jump[d];
    for (int k = 0; k < n; k++)
        jumps[n + 1 + k] += posterior[k];
}
