/* xlm-mpi: which tokens are predicted, and what replaces them. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A selection (stream/selection.h) chooses among the ordinary tokens (those that are not special tokens such as <s>, </s> and
 * <unk>). A chosen token becomes <mask> with probability mask_token, becomes a uniformly drawn ordinary token with probability
 * mask_random, and otherwise is kept (Devlin et al. 2019). Draws depend only on seed, step, stream, instance and position. */
#ifndef XLM_STREAM_MASKING_H
#define XLM_STREAM_MASKING_H

#include "stream/batch_layout.h"
#include "stream/draws.h"
#include "options/piecewise.h"
#include "stream/selection.h"

typedef struct xlm_masking {
    xlm_selection selection;        /* share 0: nothing is chosen */
    const xlm_piecewise *shares;    /* the share at each step, at most the selection's; NULL: always the selection's */
    const uint8_t *marks;           /* [vocabulary] xlm_word_mark of each subword; only for a selection of words */
    double mask_token, mask_random; /* shares of the chosen tokens */
    int32_t vocabulary;             /* ids are below this */
} xlm_masking;

/* Choose the predicted rows, and change the input there. */
void xlm_mask(const xlm_masking *masking, const xlm_draws *draws, xlm_batch_layout *batch);

#endif
