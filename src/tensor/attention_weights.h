/* xlm-mpi: the weights of attention, to be looked at. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TENSOR_ATTENTION_WEIGHTS_H
#define XLM_TENSOR_ATTENTION_WEIGHTS_H

#include <xlm/tape.h>

/* The mean over the heads h of the weights softmax_j(q_ih·k_jh / √w) of each query i of a sequence to all keys j of it. `visible`
 * must be NULL; values and dropout do not matter.
 * [out] weights: for each sequence queries x keys, one matrix after another; unchanged on a tape that computes nothing */
void xlm_attention_weights(const xlm_attention_inputs *inputs, xlm_real *weights);

#endif
