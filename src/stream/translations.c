/* xlm-mpi: a batch annotated with translations of its tokens. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/translations.h"

void xlm_annotate_translations(const xlm_translations *translations, const xlm_draws *draws, xlm_batch_layout *batch)
{
    const xlm_rng_key key = xlm_draws_key(draws, XLM_RNG_SWITCH);
    int32_t *language = xlm_batch_layout_annotate(batch, "translation_languages", XLM_AXIS_TOKENS);
    int32_t *translation = xlm_batch_layout_annotate(batch, "translations", XLM_AXIS_TOKENS);
    for (int32_t s = 0; s < batch->sequences; s++)
        for (int32_t first = batch->offsets[s], row = first; row < batch->offsets[s + 1]; row++) {
            const int32_t *list;
            int32_t other;
            const int32_t n = xlm_translations_find(translations, batch->original[row], batch->text_languages[row], &list, &other);
            translation[row] = language[row] = -1;
            if (n > 0) { /* word 0 of the draw says whether the token is switched (switching.c) */
                translation[row] = list[xlm_rng_below(xlm_draws_of_token(draws, key, s, row - first).v[1], (uint64_t)n)];
                language[row] = other;
            }
        }
}
