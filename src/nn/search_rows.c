/* xlm-mpi: the tokens that may continue a hypothesis. SPDX-License-Identifier: GPL-3.0-or-later */
#include "nn/search_rows.h"

#include <glib.h>
#include <math.h>

#include "base/rng.h"
#include "kernels/kernels.h"

static void forbid_specials(const xlm_special_tokens *specials, int64_t vocabulary, xlm_real *logits)
{
    for (int i = 0; i < specials->distinct; i++)
        if (specials->ascending[i] != specials->id[XLM_EOS] && specials->ascending[i] < vocabulary)
            logits[specials->ascending[i]] = -(xlm_real)INFINITY;
    for (int32_t i = 0; i < specials->languages; i++)
        if (specials->language[i] < vocabulary)
            logits[specials->language[i]] = -(xlm_real)INFINITY;
}

/* Finds the n highest logits, highest first, and among equal ones smaller ids first. Returns their number, which is less than n
 * if the others are −∞. found[i].log_probability is the logit. */
static int64_t find_highest(int64_t vocabulary, const xlm_real *logits, int64_t n, xlm_continuation *found)
{
    enum { BLOCK = 64 }; /* most blocks contain none of them and are skipped */
    const xlm_kernels *kernels = xlm_kernels_get();
    int64_t k = 0;
    for (int64_t block = 0; block < vocabulary; block += BLOCK) {
        const int64_t end = MIN(block + BLOCK, vocabulary);
        if (k == n && !(kernels->maximum(end - block, logits + block) > found[n - 1].log_probability))
            continue;
        for (int64_t i = block; i < end; i++) {
            if (!(logits[i] > (k == n ? found[n - 1].log_probability : -(double)INFINITY)))
                continue;
            k = MIN(k + 1, n);
            int64_t at = k - 1;
            for (; at > 0 && found[at - 1].log_probability < (double)logits[i]; at--)
                found[at] = found[at - 1];
            found[at] = (xlm_continuation){.id = (int32_t)i, .log_probability = (double)logits[i]};
        }
    }
    return k;
}

/* A random number from [0, 1) for a sample at this position. */
static double draw(const xlm_search_options *options, const xlm_row_request *request)
{
    const xlm_rng_key key = xlm_rng_make_key(options->seed, XLM_RNG_SEARCH, options->step);
    return xlm_rng_unit(xlm_rng_draw(key, request->position, request->sample, request->key.instance, request->key.position).v[0]);
}

/* Chooses one of k weights, whose sum is `total`, with a number u from [0, 1); because of rounding this may be the last one that
 * is not 0. -1: no weight is above 0. */
static int64_t choose(int64_t k, const xlm_real *weights, double total, double u)
{
    double sum = 0;
    int64_t last = -1;
    for (int64_t i = 0; i < k; i++) {
        if (!(weights[i] > 0))
            continue;
        last = i;
        sum += (double)weights[i];
        if (sum > u * total)
            break;
    }
    return last;
}

static double sum_of(int64_t n, const xlm_real *x)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)x[i];
    return sum;
}

/* Samples among all tokens that are not forbidden. */
static int64_t sample_of_all(const xlm_row_choice *choice, const xlm_row_request *request, int64_t vocabulary, xlm_real *logits,
                             xlm_continuation *found)
{
    const double temperature = choice->options->temperature, highest = (double)xlm_kernels_get()->maximum(vocabulary, logits);
    xlm_kernels_get()->scale(vocabulary, (xlm_real)(1 / temperature), logits, logits, false);
    xlm_kernels_get()->exp_sum(vocabulary, logits, (xlm_real)(highest / temperature), logits);
    const int64_t chosen = choose(vocabulary, logits, sum_of(vocabulary, logits), draw(choice->options, request));
    if (chosen < 0)
        return 0;
    *found = (xlm_continuation){.id = (int32_t)chosen,
                                .log_probability = temperature * log((double)logits[chosen]) + highest};
    return 1;
}

/* Samples among the most probable tokens. */
static int64_t sample_of_highest(const xlm_row_choice *choice, const xlm_row_request *request, int64_t vocabulary,
                                 const xlm_real *logits, xlm_continuation *found)
{
    const int64_t most = MIN(choice->options->top_k, vocabulary);
    g_autofree xlm_continuation *highest = g_new(xlm_continuation, most);
    g_autofree xlm_real *weights = g_new(xlm_real, most);
    const int64_t k = find_highest(vocabulary, logits, most, highest);
    for (int64_t i = 0; i < k; i++)
        weights[i] = (xlm_real)exp((highest[i].log_probability - highest[0].log_probability) / choice->options->temperature);
    const int64_t chosen = choose(k, weights, sum_of(k, weights), draw(choice->options, request));
    if (chosen < 0)
        return 0;
    *found = highest[chosen];
    return 1;
}

int64_t xlm_search_continue_row(const xlm_row_choice *choice, const xlm_row_request *request, int64_t vocabulary,
                                xlm_real *logits, xlm_continuation *found)
{
    const xlm_kernels *kernels = xlm_kernels_get();
    const int32_t end = choice->specials->id[XLM_EOS];
    const xlm_real highest = kernels->maximum(vocabulary, logits);
    const double log_sum = (double)highest + log(kernels->exp_sum(vocabulary, logits, highest, NULL));
    const double log_end = (double)logits[end] - log_sum;
    int64_t k;
    forbid_specials(choice->specials, vocabulary, logits);
    if (request->end)
        k = 0;
    else if (choice->options->temperature <= 0)
        k = find_highest(vocabulary, logits, choice->n, found);
    else if (choice->options->top_k > 0)
        k = sample_of_highest(choice, request, vocabulary, logits, found);
    else
        k = sample_of_all(choice, request, vocabulary, logits, found);
    if (!isfinite(log_sum)) /* a logit is NaN or infinite, so no token has a probability */
        k = 0;
    for (int64_t i = 0; i < k; i++)
        found[i].log_probability -= log_sum;
    if (k == 0) {
        found[0] = (xlm_continuation){.id = end, .log_probability = isfinite(log_end) ? log_end : -(double)INFINITY};
        k = 1;
    }
    return k;
}
