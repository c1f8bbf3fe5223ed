/* xlm-mpi: hidden Markov model of word positions. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/hmm.h"

#include <string.h>

#include "kernels/kernels.h"

static const float NEGLIGIBLE = 1e-5f;

/* For one sentence pair. The states at time j are the positions, and the positions with the empty word. The latter have the
 * probabilities of all states at time j - 1 times stay[j], so they are not stored. Before the first word, states are equally
 * probable. */
struct model {
    const xlm_kernels *kernels;
    int n, m;
    float p0;
    const float *emission, *by_empty;
    float *jump;      /* [2 n + 1] c(d) at d + n */
    float *backwards; /* [2 n + 1] c(-d) at d + n */
    float *leave;     /* [n] (1 - p0) / Σ_k c(k - i) */
    float *alpha;     /* [m x n] forward probability of position i */
    float *at;        /* [(m + 1) x n] of position i with or without the empty word, after j words; sums to 1 for each j */
    float *stay;      /* [m] */
    float *beta[2];   /* [n] of this word and of the previous one */
    float *ahead;     /* [3 n] emission x beta, between n zeros and n zeros */
    float *factors;   /* [n] of jumps from each state; 0 where they are negligible */
};

static size_t room(size_t n) { return (n + 15) / 16 * 16; }

size_t xlm_hmm_workspace(int n, int m)
{
    const size_t positions = (size_t)n, words = (size_t)m;
    return 2 * room(2 * positions + 1) + room(words * positions) + room((words + 1) * positions) + room(words) +
           room(3 * positions) + 4 * room(positions);
}

static struct model prepare(const xlm_hmm *hmm, int n, int m, const float *emission, const float *by_empty, float *workspace)
{
    const size_t positions = (size_t)n, words = (size_t)m;
    struct model h = {.kernels = xlm_kernels_get(), .n = n, .m = m, .p0 = hmm->p0, .emission = emission, .by_empty = by_empty};
    float **const place[] = {&h.jump,  &h.backwards, &h.alpha,   &h.at,      &h.stay,
                             &h.ahead, &h.leave,     &h.beta[0], &h.beta[1], &h.factors};
    const size_t size[] = {2 * positions + 1, 2 * positions + 1, words * positions, (words + 1) * positions, words,
                           3 * positions,     positions,         positions,         positions,               positions};
    for (size_t i = 0; i < sizeof size / sizeof *size; workspace += room(size[i++]))
        *place[i] = workspace;
    for (int d = -n; d <= n; d++) {
        const int clipped = d > XLM_HMM_FARTHEST ? XLM_HMM_FARTHEST : d < -XLM_HMM_FARTHEST ? -XLM_HMM_FARTHEST : d;
        h.jump[n + d] = h.backwards[n - d] = hmm->jump[XLM_HMM_FARTHEST + clipped];
    }
    double window = 0; /* Σ_k c(k - i), of i = n first */
    for (int d = -n; d < 0; d++)
        window += h.jump[n + d];
    for (int i = n - 1; i >= 0; i--) {
        window += (double)h.jump[n + n - 1 - i] - h.jump[n - 1 - i];
        h.leave[i] = (1 - h.p0) / (float)window;
    }
    memset(h.ahead, 0, sizeof *h.ahead * 3 * positions);
    return h;
}

/* Probabilities of the first word's positions, without emission. */
static void begin(struct model *h)
{
    const int n = h->n;
    double window = 0;
    for (int d = 1; d <= n; d++)
        window += h->jump[n + d];
    for (int k = 0; k < n; k++) {
        h->at[k] = 1 / (float)n;
        h->alpha[k] = (1 - h->p0) * h->jump[n + 1 + k] / (float)window;
    }
}

static void forward(struct model *h)
{
    const int n = h->n;
    float *restrict factors = h->factors;
    const float *restrict leave = h->leave;
    begin(h);
    for (int j = 0; j < h->m; j++) {
        float *restrict alpha = h->alpha + (size_t)j * n, *restrict at = h->at + (size_t)(j + 1) * n;
        const float *restrict emission = h->emission + (size_t)j * n, *restrict before = at - n;
        if (j > 0)
            h->kernels->sum_windows(n, n, factors, h->jump + n, -1, alpha, false);
        float all = 0;
        #pragma omp simd reduction(+ : all)
        for (int k = 0; k < n; k++) {
            alpha[k] *= emission[k];
            all += alpha[k];
        }
        const float empty = h->p0 * h->by_empty[j], factor = 1 / (all + empty), stay = empty * factor;
        #pragma omp simd
        for (int k = 0; k < n; k++) {
            const float here = alpha[k] * factor, any = here + stay * before[k], leaving = any * leave[k];
            alpha[k] = here;
            at[k] = any;
            factors[k] = any > NEGLIGIBLE ? leaving : 0;
        }
        h->stay[j] = stay;
    }
}

/* Posterior probabilities of word j. */
static float close_word(const struct model *h, int j, const float *restrict beta, float *restrict posterior)
{
    const int n = h->n;
    const float *restrict alpha = h->alpha + (size_t)j * n, *restrict before = h->at + (size_t)j * n;
    float at_word = 0, at_none = 0;
    #pragma omp simd reduction(+ : at_word, at_none)
    for (int k = 0; k < n; k++) {
        posterior[k] = alpha[k] * beta[k];
        at_word += posterior[k];
        at_none += before[k] * beta[k];
    }
    at_none *= h->stay[j];
    const float factor = 1 / (at_word + at_none);
    #pragma omp simd
    for (int k = 0; k < n; k++)
        posterior[k] *= factor;
    return at_none * factor;
}

/* Probability of the words from j on, for each position of word j. */
static void look_ahead(struct model *h, int j, const float *restrict beta)
{
    const int n = h->n;
    const float *restrict emission = h->emission + (size_t)j * n;
    float *restrict ahead = h->ahead + n, largest = 0;
    #pragma omp simd reduction(max : largest)
    for (int k = 0; k < n; k++) {
        ahead[k] = emission[k] * beta[k];
        largest = ahead[k] > largest ? ahead[k] : largest;
    }
    /* Nor are jumps to negligible ones counted, or there would be more than one per word. */
    const float least = NEGLIGIBLE * largest;
    #pragma omp simd
    for (int k = 0; k < n; k++) {
        const float x = ahead[k];
        ahead[k] = x > least ? x : 0;
    }
}

/* Add the jumps between words j - 1 and j. beta: of word j - 1; factor: its last factor. */
static void count_jumps(struct model *h, int j, const float *restrict beta, float factor, float *jumps)
{
    const int n = h->n;
    const float *restrict at = h->at + (size_t)j * n, *restrict leave = h->leave;
    float *restrict factors = h->factors;
    #pragma omp simd
    for (int i = 0; i < n; i++) {
        const float leaving = at[i] * factor * leave[i];
        factors[i] = at[i] * beta[i] > NEGLIGIBLE ? leaving : 0;
    }
    h->kernels->sum_windows(2 * n, n, factors, h->ahead, 1, jumps, true);
}

/* beta of word j - 1 from that of word j, and the jumps between them. */
static void step_back(struct model *h, int j, const float *restrict beta, float *restrict before, float *jumps)
{
    const int n = h->n;
    const float stay = h->p0 * h->by_empty[j], *restrict at = h->at + (size_t)j * n, *restrict leave = h->leave;
    look_ahead(h, j, beta);
    h->kernels->sum_windows(n, n, h->ahead + n, h->backwards + n, -1, before, false);
    float all = 0;
    #pragma omp simd reduction(+ : all)
    for (int i = 0; i < n; i++) {
        before[i] = before[i] * leave[i] + stay * beta[i];
        all += at[i] * before[i];
    }
    const float factor = 1 / all;
    #pragma omp simd
    for (int i = 0; i < n; i++)
        before[i] *= factor;
    if (jumps != NULL)
        count_jumps(h, j, before, factor, jumps);
}

void xlm_hmm_posterior(const xlm_hmm *hmm, int n, int m, const float *emission, const float *by_empty, float *posterior,
                       float *empty, float *jumps, float *workspace)
{
    struct model h = prepare(hmm, n, m, emission, by_empty, workspace);
    forward(&h);
    if (jumps != NULL)
        memset(jumps, 0, sizeof *jumps * (size_t)(2 * n + 1));
    float *beta = h.beta[0], *before = h.beta[1];
    for (int k = 0; k < n; k++)
        beta[k] = 1;
    for (int j = m - 1; j >= 0; j--) {
        empty[j] = close_word(&h, j, beta, posterior + (size_t)j * n);
        if (j == 0)
            break;
        step_back(&h, j, beta, before, jumps);
        float *const other = beta;
        beta = before;
        before = other;
    }
    if (jumps == NULL)
        return;
    for (int d = -n; d <= n; d++)
        jumps[n + d] *= h.jump[n + d];
    for (int k = 0; k < n; k++)
        jumps[n + 1 + k] += posterior[k];
}
