/* xlm-mpi: predicted tokens are switched to another language. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * DICT-MLM (Chaudhary et al. 2020, Tang et al. 2022): with probability `switching`, a token that masking has chosen is switched
 * instead of masked: its translation (annotation "translations") replaces it in the input, and its row gets the translation's
 * language. A token without a translation is kept. */
#ifndef XLM_STREAM_SWITCHING_H
#define XLM_STREAM_SWITCHING_H

#include "stream/batch_layout.h"
#include "stream/draws.h"

/* Switch predicted tokens. The batch must have been annotated with translations and masked. */
void xlm_switch(double switching, const xlm_draws *draws, xlm_batch_layout *batch);

#endif
