/* xlm-mpi: the decoder. SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>

#include "nn/model_parts.h"
#include "nn/stack.h"

xlm_var **xlm_model_decode(const xlm_model *model, xlm_tape *tape, const xlm_text *text, xlm_var *memory,
                           const int32_t *memory_offsets, int64_t highest, const int32_t *rows, int32_t n)
{
    const int64_t layers = model->config.decoder_layers;
    const xlm_stack_pass pass = {.stack = XLM_STACK_DECODER, .text = text, .causal = true, .memory = memory,
                                 .memory_offsets = memory_offsets, .highest = highest == XLM_TOP_LAYER ? layers : highest,
                                 .rows = rows, .n = n};
    g_assert(layers > 0 && pass.highest >= 0 && pass.highest <= layers);
    return xlm_stack_run(model, tape, &pass);
}
