/* xlm-mpi: the order in which instances are drawn from the components of a stream. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stream reads several components (languages, or pairs of them). Its endless list of draws is divided into runs of 65,536. Each
 * run has a quota of every component, ∝ p_i^α, in a new random order. The m-th draw of a component (m = 0, 1, ... over all
 * runs) is the instance at place m mod n of a permutation of its n instances for epoch m / n, so every instance comes once per
 * epoch. All of this is a function of the seed, the stream's number and the index of the draw; the order of the last run is kept
 * in memory (256 KiB).
 *
 * α and the components that are drawn may change with the step. The steps at which a component begins, and those of the list of
 * α, divide the draws into spells: a run ends with its spell, and has the α of its first step. */
#ifndef XLM_STREAM_SAMPLER_H
#define XLM_STREAM_SAMPLER_H

#include <xlm/options.h>

enum { XLM_SAMPLER_RUN = 65536 };

typedef struct xlm_sampler xlm_sampler;

typedef struct xlm_sampler_schedule {
    const xlm_piecewise *alpha; /* α at each step; NULL: 1 */
    const int64_t *begins;      /* [components] the first step at which each is drawn; NULL: 0 for all */
    const xlm_piecewise *draws; /* of each step (stream/batch_sizes.h), at least 1 at some */
} xlm_sampler_schedule;

/* [in] components: their number, 1 to XLM_SAMPLER_RUN. [in] share: [components] p_i, up to a common factor. [in] instances:
 * [components] n_i; a component without instances is never drawn; at least one that has some must begin at step 0. [in] stream:
 * its number in the job. Everything is copied. */
xlm_sampler *xlm_sampler_new(int components, const double *share, const int64_t *instances, const xlm_sampler_schedule *schedule,
                             uint64_t seed, uint32_t stream);
/* NULL is allowed. */
void xlm_sampler_free(xlm_sampler *sampler);

/* Number of spells, at least 1, and the first step of one. */
int xlm_sampler_spells(const xlm_sampler *sampler);
int64_t xlm_sampler_spell_begins(const xlm_sampler *sampler, int spell);
/* [components], owned by the sampler until the next call: number of draws of each component in the first run of a spell,
 * XLM_SAMPLER_RUN · p_i^α / Σ p_j^α rounded by largest remainder, at least one. */
const int32_t *xlm_sampler_quotas(xlm_sampler *sampler, int spell);

/* [out] component and instance of draw k >= 0. */
void xlm_sampler_draw(xlm_sampler *sampler, int64_t k, int *component, int64_t *instance);

#endif
