/* xlm-mpi: predicted tokens that are switched to another language. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/switching.h"

void xlm_switch(double switching, const xlm_draws *draws, xlm_batch_layout *batch)
{
    const xlm_rng_key key = xlm_draws_key(draws, XLM_RNG_SWITCH);
    const xlm_batch annotated = xlm_batch_of_layout(batch);
    const int32_t *translation = xlm_batch_annotation(&annotated, "translations");
    const int32_t *language = xlm_batch_annotation(&annotated, "translation_languages");
    for (int32_t k = 0, s = 0; k < batch->masked; k++) {
        const int32_t row = batch->masked_rows[k];
        while (batch->offsets[s + 1] <= row)
            s++;
        const xlm_rng_block chance = xlm_draws_of_token(draws, key, s, row - batch->offsets[s]);
        if (xlm_rng_unit(chance.v[0]) >= switching)
            continue;
        const bool known = translation[row] >= 0;
        batch->ids[row] = known ? translation[row] : batch->original[row];
        batch->languages[row] = known ? language[row] : batch->text_languages[row];
    }
}
