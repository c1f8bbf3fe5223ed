/* xlm-mpi: the random draws of a batch's tokens. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_STREAM_DRAWS_H
#define XLM_STREAM_DRAWS_H

#include "base/rng.h"

/* What the draws of one batch depend on, besides their purpose and the token. */
typedef struct xlm_draws {
    uint64_t seed, step;
    uint32_t stream; /* its number in the job */
    uint64_t first;  /* number of the batch's first sequence in the step */
} xlm_draws;

/* The key of a purpose; compute it once per batch. */
static inline xlm_rng_key xlm_draws_key(const xlm_draws *draws, xlm_rng_purpose purpose)
{
    return xlm_rng_make_key(draws->seed, purpose, draws->step);
}

/* 128 random bits for the token at `position` of sequence `sequence` of the batch. They do not depend on how a step is divided
 * into batches. */
static inline xlm_rng_block xlm_draws_of_token(const xlm_draws *draws, xlm_rng_key key, int32_t sequence, int32_t position)
{
    const uint64_t instance = draws->first + (uint64_t)sequence;
    return xlm_rng_draw(key, (uint32_t)position, (uint32_t)instance, draws->stream, (uint32_t)(instance >> 32));
}

/* The same for the batch's first sequence as a whole. */
static inline xlm_rng_block xlm_draws_of_instance(const xlm_draws *draws, xlm_rng_key key)
{
    return xlm_rng_draw(key, (uint32_t)draws->first, (uint32_t)(draws->first >> 32), draws->stream, 0);
}

#endif
