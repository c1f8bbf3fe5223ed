/* xlm-mpi: which tokens are predicted, and what replaces them. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each ordinary token (not special, so neither <s>, </s> nor <unk>) is chosen independently with probability `mask`. A chosen
 * token becomes <mask> with probability mask_token, becomes an ordinary token drawn uniformly with probability mask_random, and
 * otherwise is kept (Devlin et al. 2019). If no token of a sequence is chosen, the one with the smallest draw is taken, so that
 * no sequence is encoded for nothing. Draws depend only on seed, step, stream, instance and position. */
#ifndef XLM_STREAM_MASKING_H
#define XLM_STREAM_MASKING_H

#include "stream/batch_layout.h"
#include "stream/draws.h"

typedef struct xlm_masking {
    double mask;                    /* 0: nothing is chosen */
    double mask_token, mask_random; /* of the chosen tokens */
    int32_t vocabulary;             /* ids are below this */
} xlm_masking;

/* Choose the predicted rows, and change the input there. */
void xlm_mask(const xlm_masking *masking, const xlm_draws *draws, xlm_batch_layout *batch);

#endif
