/* xlm-mpi: the decoder, computing one token of each hypothesis at a time. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The keys and values of earlier tokens, and those of the memory, are kept for all layers. The rows of a step are the unfinished
 * hypotheses, packed. Which hypothesis continues which one is determined by the lists of rows alone, so nothing is copied when a
 * beam drops one hypothesis and continues another twice. */
#ifndef XLM_NN_DECODER_CACHE_H
#define XLM_NN_DECODER_CACHE_H

#include "nn/block.h"

typedef struct xlm_decoder_cache xlm_decoder_cache;

/* A new cache, memory of the tape, with the keys and values of the memory. The tape must have begun, and not be inside a segment.
 * [in] rows: maximum number of tokens that are kept at a time
 * [in] memory: rows x d, borrowed */
xlm_decoder_cache *xlm_decoder_cache_new(const xlm_model *model, xlm_tape *tape, int64_t rows, xlm_var *memory);

/* The input of a step: n tokens, each at the end of a hypothesis. */
typedef struct xlm_decoder_step {
    int32_t n;
    const int32_t *ids, *positions, *languages; /* [n] */
    struct xlm_cache_step rows;
} xlm_decoder_step;

/* D[top] of the n tokens, n x d, the same as by xlm_model_decode up to rounding. Their keys and values are kept. */
xlm_var *xlm_decoder_cache_step(xlm_decoder_cache *cache, const xlm_decoder_step *step);

#endif
