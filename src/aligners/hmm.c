/* xlm-mpi: hidden Markov model of word positions. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/hmm.h"

#include <string.h>

#include "kernels/kernels.h"

static const float NEGLIGIBLE = 1e-5f;

/* For one sentence pair. The states at time j are the positions, and the positions with the empty word. */
struct model {
    const xlm_kernels *kernels;
    int n, m;
    float p0;
    const float *emission, *by_empty;
    float *jump;      /* [2 n + 1] c(d) at d + n */
    float *backwards; /* [2 n + 1] c(-d) at d + n */
    float *leave;     /* [n] (1 - p0) / Σ_k c(k - i) */
    float *alpha;     /* [m x n] forward probability of position i */
    float *at_empty;  /* [m x n] the same of the empty word after it; both sum to 1 for each j */
    float *sum;       /* [n] */
    float *beta[2];   /* [n] of this word and of the previous one */
    float *ahead;     /* [n] emission x beta */
};

static size_t room(int n) { return ((size_t)n + 15) / 16 * 16; }

size_t xlm_hmm_workspace(int n, int m) { return 2 * room(2 * n + 1) + (2 * (size_t)m + 5) * room(n); }

static struct model prepare(const xlm_hmm *hmm, int n, int m, const float *emission, const float *by_empty, float *workspace)
{
    struct model h = {.kernels = xlm_kernels_get(), .n = n, .m = m, .p0 = hmm->p0, .emission = emission, .by_empty = by_empty};
    float **const place[] = {&h.jump, &h.backwards, &h.leave, &h.alpha, &h.at_empty, &h.sum, &h.beta[0], &h.beta[1], &h.ahead};
    const size_t size[] = {room(2 * n + 1), room(2 * n + 1), room(n), (size_t)m * n, (size_t)m * n, room(n), room(n), room(n),
                           room(n)};
    for (size_t i = 0; i < sizeof size / sizeof *size; workspace += size[i++])
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
    return h;
}

/* Probabilities of the states of word j from those of the previous word, without emission. */
static void step_forward(struct model *h, int j)
{
    const int n = h->n;
    float *alpha = h->alpha + (size_t)j * n, *at_empty = h->at_empty + (size_t)j * n;
    if (j == 0) {
        double window = 0;
        for (int d = 1; d <= n; d++)
            window += h->jump[n + d];
        for (int k = 0; k < n; k++) {
            alpha[k] = (1 - h->p0) * h->jump[n + 1 + k] / (float)window;
            at_empty[k] = h->p0 / (float)n;
        }
        return;
    }
    const float *before = alpha - n, *empty_before = at_empty - n;
    memset(alpha, 0, sizeof *alpha * (size_t)n);
    for (int i = 0; i < n; i++) {
        const float sum = before[i] + empty_before[i];
        at_empty[i] = h->p0 * sum;
        if (sum > NEGLIGIBLE)
            h->kernels->scale(n, sum * h->leave[i], h->jump + n - i, alpha, true);
    }
}

static void forward(struct model *h)
{
    const int n = h->n;
    for (int j = 0; j < h->m; j++) {
        float *restrict alpha = h->alpha + (size_t)j * n, *restrict at_empty = h->at_empty + (size_t)j * n;
        const float *emission = h->emission + (size_t)j * n, by_empty = h->by_empty[j];
        step_forward(h, j);
        float all = 0;
        #pragma omp simd reduction(+ : all)
        for (int k = 0; k < n; k++) {
            alpha[k] *= emission[k];
            at_empty[k] *= by_empty;
            all += alpha[k] + at_empty[k];
        }
        const float factor = 1 / all;
        #pragma omp simd
        for (int k = 0; k < n; k++) {
            alpha[k] *= factor;
            at_empty[k] *= factor;
        }
    }
}

/* Posterior probabilities of word j. */
static float close_word(const struct model *h, int j, const float *restrict beta, float *restrict posterior)
{
    const int n = h->n;
    const float *alpha = h->alpha + (size_t)j * n, *at_empty = h->at_empty + (size_t)j * n;
    float at_word = 0, at_none = 0;
    #pragma omp simd reduction(+ : at_word, at_none)
    for (int k = 0; k < n; k++) {
        posterior[k] = alpha[k] * beta[k];
        at_word += posterior[k];
        at_none += at_empty[k] * beta[k];
    }
    const float factor = 1 / (at_word + at_none);
    #pragma omp simd
    for (int k = 0; k < n; k++)
        posterior[k] *= factor;
    return at_none * factor;
}

/* beta of word j - 1 from that of word j, and the jumps between them. */
static void step_back(struct model *h, int j, const float *restrict beta, float *restrict before, float *jumps)
{
    const int n = h->n;
    const float *emission = h->emission + (size_t)j * n, stay = h->p0 * h->by_empty[j];
    const float *alpha = h->alpha + (size_t)(j - 1) * n, *at_empty = h->at_empty + (size_t)(j - 1) * n;
    float largest = 0;
    memset(before, 0, sizeof *before * (size_t)n);
    for (int k = 0; k < n; k++) {
        h->ahead[k] = emission[k] * beta[k];
        largest = h->ahead[k] > largest ? h->ahead[k] : largest;
    }
    for (int k = 0; k < n; k++)
        if (h->ahead[k] > NEGLIGIBLE * largest)
            h->kernels->scale(n, h->ahead[k], h->backwards + n - k, before, true);
        else
            h->ahead[k] = 0; /* nor are jumps to it counted, or there would be more than one per word */
    float all = 0;
    #pragma omp simd reduction(+ : all)
    for (int i = 0; i < n; i++) {
        before[i] = before[i] * h->leave[i] + stay * beta[i];
        h->sum[i] = alpha[i] + at_empty[i];
        all += h->sum[i] * before[i];
    }
    const float factor = 1 / all;
    for (int i = 0; i < n; i++) {
        before[i] *= factor;
        if (jumps != NULL && h->sum[i] * before[i] > NEGLIGIBLE)
            h->kernels->scale(n, h->sum[i] * factor * h->leave[i], h->ahead, jumps + n - i, true);
    }
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
