/* xlm-mpi: a stack of transformer layers (Vaswani et al. 2017, Devlin et al. 2019).
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The layers of both stacks are lists of blocks (nn/block.h):
 *   encoder: attention, feed_forward
 *   decoder: attention (causal), memory_attention, feed_forward */
#ifndef XLM_NN_STACK_H
#define XLM_NN_STACK_H

#include "nn/block.h"
#include "nn/layer.h"

/* The input and output of a stack. */
typedef struct xlm_stack_pass {
    xlm_stack stack;
    const xlm_text *text;
    bool causal;              /* a token attends only to itself and to tokens before it in its sequence; true for a decoder */
    xlm_var *memory;          /* for a decoder: the states that it attends to; else NULL */
    const int32_t *memory_offsets; /* [sequences + 1] of the memory's rows */
    int64_t highest;          /* number of the highest layer to compute */
    const xlm_block_cache *cache; /* for a step of a search: [highest] one for each layer, used instead of `causal` and `memory`,
                                   * since it lists the rows to attend to; else NULL */
    xlm_real *memory_weights; /* for a decoder, without `rows`: receives the attention of layer `highest` to the memory; else
                               * NULL */
    const int32_t *rows;      /* [n] rows of H[highest] to compute, ascending; NULL: all */
    int32_t n;
} xlm_stack_pass;

/* Declare the parameters of all layers of a stack. */
void xlm_stack_declare(const xlm_model_config *config, xlm_stack stack, xlm_parameters *parameters);
/* Computes H[0 … highest], where H[0] is the output of the embeddings. Memory of the tape. */
xlm_var **xlm_stack_run(const xlm_model *model, xlm_tape *tape, const xlm_stack_pass *pass);

/* Offsets of the sequences of a text among some of its rows: how many of rows[n], ascending, are before each sequence.
 * [sequences + 1], memory of the tape. */
const int32_t *xlm_stack_offsets_of_rows(xlm_tape *tape, const xlm_text *text, const int32_t *rows, int32_t n);

#endif
