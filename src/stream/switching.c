/* xlm-mpi: predicted tokens are switched to another language. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/switching.h"

#include <stddef.h>

#include "stream/stage.h"

void xlm_switch(double switching, const xlm_draws *draws, xlm_batch_layout *batch)
{
    xlm_batch_layout_switch(batch);
    const xlm_rng_key key = xlm_draws_key(draws, XLM_RNG_SWITCH);
    const xlm_batch annotated = xlm_batch_of_layout(batch);
    const int32_t *translation = xlm_batch_annotation(&annotated, "translations");
    const int32_t *language = xlm_batch_annotation(&annotated, "translation_languages");
    for (int32_t k = 0, s = 0; k < batch->predicted; k++) {
        const int32_t row = batch->predicted_rows[k];
        while (batch->offsets[s + 1] <= row)
            s++;
        const xlm_rng_block chance = xlm_draws_of_token(draws, key, s, row - batch->offsets[s]);
        if (xlm_rng_unit(chance.v[0]) >= switching)
            continue;
        const bool known = translation[row] >= 0;
        batch->ids[row] = known ? translation[row] : batch->unmasked[row];
        batch->languages[row] = known ? language[row] : batch->unswitched[row];
    }
}

/* ---- the stage ---- */

typedef struct options {
    double switching;
} options;

static const xlm_option switching_options[] = {
    {"switching", XLM_OPTION_REAL, "0", 0, 1, NULL,
     "with a dictionary: share of the predicted tokens that is switched instead of masked (DICT-MLM: 0.5): a translation, drawn "
     "if there are several, replaces the token, and its language that of the token; a token without a translation is kept",
     offsetof(options, switching)},
    XLM_OPTION_END,
};

static bool open_switching(xlm_opening *opening, const void *pointer, void **stage, GError **error)
{
    const options *o = pointer;
    if (o->switching <= 0)
        return true;
    if (!xlm_opening_has_annotation(opening, "translations"))
        return xlm_error_set(error, EX_CONFIG, "[stream %s]: switching needs a dictionary to switch by; give dictionary = "
                             "FILE.h5", opening->stream);
    *stage = g_memdup2(o, sizeof *o);
    return true;
}

static void corrupt(const void *stage, const xlm_draws *draws, xlm_batch_layout *batch)
{
    const options *o = stage;
    xlm_switch(o->switching, draws, batch);
}

const xlm_stage_class xlm_stage_switching = {
    .kind = XLM_STAGE_CORRUPT,
    .options = switching_options,
    .options_size = sizeof(options),
    .open = open_switching,
    .close = g_free,
    .corrupt = {.corrupt = corrupt},
};
