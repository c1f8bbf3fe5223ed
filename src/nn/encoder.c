/* xlm-mpi: the encoder. SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>

#include "nn/model_parts.h"
#include "nn/stack.h"

xlm_var **xlm_model_encode(const xlm_model *model, xlm_tape *tape, const xlm_text *text, bool causal, int64_t highest,
                           const int32_t *rows, int32_t n)
{
    const int64_t layers = model->config.layers;
    const xlm_stack_pass pass = {.stack = XLM_STACK_ENCODER, .text = text, .causal = causal,
                                 .highest = highest == XLM_TOP_LAYER ? layers : highest, .rows = rows, .n = n};
    g_assert(pass.highest >= 0 && pass.highest <= layers);
    return xlm_stack_run(model, tape, &pass);
}
