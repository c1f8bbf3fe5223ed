/* xlm-mpi: which tokens are predicted and what is in their place. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each ordinary token (not special, so neither <s>, </s> nor <unk>) is chosen by itself with probability `mask`; a
 * chosen one becomes <mask> with probability mask_token, a token drawn uniformly from the ordinary ones with
 * probability mask_random, and stays otherwise (Devlin et al. 2019). When chance chooses none of a sequence, its token
 * with the smallest draw is taken, so that no sequence is encoded for nothing. Draws depend on seed, step, stream,
 * instance and position only. */
#ifndef XLM_STREAM_MASKING_H
#define XLM_STREAM_MASKING_H

#include "stream/batch_layout.h"
#include "stream/draws.h"

typedef struct xlm_masking {
    double mask;                    /* 0: nothing is chosen */
    double mask_token, mask_random; /* of the chosen */
    int32_t vocabulary;             /* ids are below this */
} xlm_masking;

/* Choose the rows that are predicted, and change the input there. */
void xlm_mask(const xlm_masking *masking, const xlm_draws *draws, xlm_batch_layout *batch);

#endif
