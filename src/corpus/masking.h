/* xlm-mpi: which tokens are predicted and what stands in their place. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each ordinary token (not special, so neither <s>, </s> nor <unk>) is chosen by itself with probability `mask`; a
 * chosen one becomes <mask> with probability mask_token, a token drawn uniformly from the ordinary ones with
 * probability mask_random, and stays otherwise (Devlin et al. 2019). When chance chooses none of a sequence, its token
 * with the smallest draw is taken, so that no sequence is encoded for nothing. Draws depend on seed, step, stream,
 * instance and position only. */
#ifndef XLM_CORPUS_MASKING_H
#define XLM_CORPUS_MASKING_H

#include <xlm/batch.h>

#include "base/rng.h"

typedef struct xlm_masking {
    double mask;                    /* 0: nothing is chosen */
    double mask_token, mask_random; /* of the chosen */
    int32_t vocabulary;             /* ids are below this */
    uint32_t stream;                /* its number */
    xlm_rng_key key;                /* of purpose XLM_RNG_MASK and the step */
} xlm_masking;

/* Mask one sequence of n tokens, which begins at row `first_row` of its batch. instance: its number within the step.
 * [out] ids: [n] what the encoder reads. [out] rows, targets: [at most n] rows and original tokens of the chosen, in
 * ascending order. Returns their number. */
int32_t xlm_mask_sequence(const xlm_masking *masking, uint64_t instance, int32_t n, const int32_t *original,
                          int32_t first_row, int32_t *ids, int32_t *rows, int32_t *targets);

#endif
