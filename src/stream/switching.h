/* xlm-mpi: predicted tokens that are switched to another language. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * DICT-MLM (Chaudhary et al. 2020, Tang et al. 2022): a token that masking has chosen is switched, with probability `switching`,
 * instead of masked: its translation (annotation "translations") takes its place in the input, and the translation's language
 * that of the position; a token without a translation stays. */
#ifndef XLM_STREAM_SWITCHING_H
#define XLM_STREAM_SWITCHING_H

#include "stream/batch_layout.h"
#include "stream/draws.h"

/* The batch has translations. */
void xlm_switch(double switching, const xlm_draws *draws, xlm_batch_layout *batch);

#endif
