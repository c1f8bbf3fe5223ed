/* xlm-mpi: the order in which instances are drawn from the components of a stream. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stream reads several components (languages, or pairs of them). Its endless list of draws is divided into runs of 65,536. Each
 * run has the same quota of every component, ∝ p_i^α, in a new random order. The m-th draw of a component (m = 0, 1, ... over all
 * runs) is the instance at place m mod n of a permutation of its n instances for epoch m / n, so every instance comes once per
 * epoch. All of this is a function of the seed, the stream's number and the index of the draw; the order of the last run is kept
 * in memory (256 KiB). */
#ifndef XLM_STREAM_SAMPLER_H
#define XLM_STREAM_SAMPLER_H

#include <stdint.h>

enum { XLM_SAMPLER_RUN = 65536 };

typedef struct xlm_sampler xlm_sampler;

/* [in] components: their number, 1 to XLM_SAMPLER_RUN. [in] share: [components] p_i, up to a common factor. [in] instances:
 * [components] n_i; a component without instances is never drawn; at least one component must have some. [in] alpha: α. [in]
 * stream: its number in the job. share and instances are copied. */
xlm_sampler *xlm_sampler_new(int components, const double *share, const int64_t *instances, double alpha, uint64_t seed,
                             uint32_t stream);
/* NULL is allowed. */
void xlm_sampler_free(xlm_sampler *sampler);

/* [components], owned by the sampler: number of draws of each component in a run, XLM_SAMPLER_RUN · p_i^α / Σ p_j^α rounded by
 * largest remainder, at least one. */
const int32_t *xlm_sampler_quotas(const xlm_sampler *sampler);

/* [out] component and instance of draw k >= 0. */
void xlm_sampler_draw(xlm_sampler *sampler, int64_t k, int *component, int64_t *instance);

#endif
