/* xlm-mpi: which instance of which component comes when. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/sampler.h"

#include <glib.h>
#include <math.h>

#include "base/rng.h"

struct xlm_sampler {
    int components;
    int64_t *instances;
    int32_t *quota;
    uint64_t seed;
    uint32_t stream;
    int64_t run;      /* the run whose order is in memory; -1: none */
    uint16_t *component; /* [XLM_SAMPLER_RUN] of each draw of that run */
    uint16_t *rank;   /* [XLM_SAMPLER_RUN] how many earlier draws of the run are from the same component */
};

/* ---- quotas ---- */

/* Smaller differences between remainders are ignored, so that quotas do not depend on how a machine rounds pow(). */
static const double rounding = 1e-6;

/* left: the number of draws that the quotas lack. Give one to each of the largest remainders; or, if it is negative because every
 * component gets at least one, take draws from the largest quotas. */
static void distribute_rest(int n, int32_t *quota, double *remainder, int64_t left)
{
    for (; left > 0; left--) {
        int largest = 0;
        for (int i = 1; i < n; i++)
            if (remainder[i] > remainder[largest] + rounding)
                largest = i;
        quota[largest]++;
        remainder[largest] = -1;
    }
    for (; left < 0; left++) {
        int largest = 0;
        for (int i = 1; i < n; i++)
            if (quota[i] > quota[largest])
                largest = i;
        quota[largest]--;
    }
}

static void set_quotas(int n, const double *share, const int64_t *instances, double alpha, int32_t *quota)
{
    double *weight = g_new(double, n), total = 0;
    for (int i = 0; i < n; i++)
        total += weight[i] = instances[i] > 0 ? pow(share[i], alpha) : 0;
    int64_t left = XLM_SAMPLER_RUN;
    for (int i = 0; i < n; i++) {
        const double exact = XLM_SAMPLER_RUN * (weight[i] / total);
        quota[i] = (int32_t)(exact + rounding);
        weight[i] = exact - quota[i]; /* now the remainder */
        if (instances[i] == 0)
            weight[i] = -1;
        else if (quota[i] == 0) {
            quota[i] = 1;
            weight[i] = -1;
        }
        left -= quota[i];
    }
    distribute_rest(n, quota, weight, left);
    g_free(weight);
}

/* ---- orders ---- */

/* The key for draws of one purpose in one run or epoch, for this stream and, if there is one, this component. */
static xlm_rng_key key_of(const xlm_sampler *s, xlm_rng_purpose purpose, int64_t number, int component)
{
    const xlm_rng_key key = xlm_rng_make_key(s->seed, purpose, (uint64_t)number);
    const xlm_rng_block b = xlm_rng_draw(key, s->stream, (uint32_t)component, 0, 0x73616d70u);
    return (xlm_rng_key){{b.v[0], b.v[1]}};
}

/* Compute the order of the run: assign the slots of a permutation to components by quota, and count the earlier draws of each. */
static void lay_out(xlm_sampler *s, int64_t run)
{
    const xlm_rng_key key = key_of(s, XLM_RNG_LANGUAGE, run, 0);
    uint16_t *owner = g_new(uint16_t, XLM_SAMPLER_RUN);
    int32_t *seen = g_new0(int32_t, s->components);
    for (int i = 0, slot = 0; i < s->components; i++)
        for (int q = 0; q < s->quota[i]; q++)
            owner[slot++] = (uint16_t)i;
    for (uint32_t j = 0; j < XLM_SAMPLER_RUN; j++) {
        s->component[j] = owner[xlm_rng_permute(key, j, XLM_SAMPLER_RUN)];
        s->rank[j] = (uint16_t)seen[s->component[j]]++;
    }
    g_free(seen);
    g_free(owner);
    s->run = run;
}

xlm_sampler *xlm_sampler_new(int components, const double *share, const int64_t *instances, double alpha, uint64_t seed,
                             uint32_t stream)
{
    xlm_sampler *s = g_new0(xlm_sampler, 1);
    s->components = components;
    s->instances = g_memdup2(instances, sizeof *instances * (size_t)components);
    s->quota = g_new(int32_t, components);
    s->seed = seed;
    s->stream = stream;
    s->run = -1;
    s->component = g_new(uint16_t, XLM_SAMPLER_RUN);
    s->rank = g_new(uint16_t, XLM_SAMPLER_RUN);
    set_quotas(components, share, instances, alpha, s->quota);
    return s;
}

void xlm_sampler_free(xlm_sampler *sampler)
{
    if (sampler == NULL)
        return;
    g_free(sampler->instances);
    g_free(sampler->quota);
    g_free(sampler->component);
    g_free(sampler->rank);
    g_free(sampler);
}

const int32_t *xlm_sampler_quotas(const xlm_sampler *sampler) { return sampler->quota; }

void xlm_sampler_draw(xlm_sampler *sampler, int64_t k, int *component, int64_t *instance)
{
    const int64_t run = k / XLM_SAMPLER_RUN, place = k % XLM_SAMPLER_RUN;
    if (run != sampler->run)
        lay_out(sampler, run);
    *component = sampler->component[place];
    const int64_t n = sampler->instances[*component];
    const int64_t m = run * sampler->quota[*component] + sampler->rank[place];
    const xlm_rng_key epoch = key_of(sampler, XLM_RNG_ORDER, m / n, *component);
    *instance = (int64_t)xlm_rng_permute(epoch, (uint64_t)(m % n), (uint64_t)n);
}
