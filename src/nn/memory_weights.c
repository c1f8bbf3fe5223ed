/* xlm-mpi: the attention of the decoder to its memory. SPDX-License-Identifier: GPL-3.0-or-later */
#include "nn/memory_weights.h"

#include <glib.h>

#include "nn/model_parts.h"
#include "nn/stack.h"
#include "tensor/tape.h"

const xlm_real *const *xlm_memory_weights(const xlm_model *model, xlm_tape *tape, const xlm_text *text, xlm_var *memory,
                                          const int32_t *memory_offsets, int64_t layer)
{
    const xlm_real **sequence = XLM_TAPE_TAKE(tape, const xlm_real *, text->sequences);
    int64_t size = 0;
    for (int32_t s = 0; s < text->sequences; s++)
        size += (int64_t)(text->offsets[s + 1] - text->offsets[s]) * (memory_offsets[s + 1] - memory_offsets[s]);
    xlm_real *weights = XLM_TAPE_NUMBERS(tape, xlm_real, size), *next = weights;
    const xlm_tape_mode before = xlm_tape_get_mode(tape);
    xlm_tape_mode mode = before;
    g_assert(layer >= 1 && layer <= model->config.decoder_layers);
    mode.gradient = mode.training = false;
    mode.rows_alone = true;
    xlm_tape_set_mode(tape, mode);
    const xlm_stack_pass pass = {.stack = XLM_STACK_DECODER, .text = text, .causal = true, .memory = memory,
                                 .memory_offsets = memory_offsets, .highest = layer, .memory_weights = weights};
    xlm_stack_run(model, tape, &pass);
    xlm_tape_set_mode(tape, before);
    for (int32_t s = 0; s < text->sequences; s++) {
        sequence[s] = next;
        next += (int64_t)(text->offsets[s + 1] - text->offsets[s]) * (memory_offsets[s + 1] - memory_offsets[s]);
    }
    return sequence;
}
