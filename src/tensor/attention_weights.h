/* xlm-mpi: attention weights, for programs that examine them. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TENSOR_ATTENTION_WEIGHTS_H
#define XLM_TENSOR_ATTENTION_WEIGHTS_H

#include <xlm/tape.h>

/* The mean over the heads h of the weights softmax_j(q_ih·k_jh / √w) of each query i for all keys j of its sequence; 0 for
 * keys that it does not see.
 * [in] inputs: the value and dropout are not read
 * [out] weights: for each sequence queries x keys, one matrix after another; unchanged on a tape that computes nothing */
void xlm_attention_weights(const xlm_attention_inputs *inputs, xlm_real *weights);

#endif
