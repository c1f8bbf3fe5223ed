/* xlm-mpi: the attention of the decoder to its memory. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_NN_MEMORY_WEIGHTS_H
#define XLM_NN_MEMORY_WEIGHTS_H

#include <xlm/model.h>

/* The attention of a layer of the decoder to its memory, for given texts: for each token i of sequence s and each row j of the
 * memory of s, the mean over the heads h of softmax_j(q_ih·k_jh / √w). Without gradient and dropout; the tape must have begun.
 * [in] text: what the decoder reads
 * [in] memory: rows x d
 * [in] memory_offsets: [sequences + 1] of the memory
 * [in] layer: 1 to D
 * Returns [sequences], each [tokens of s x rows of s], memory of the tape; without numbers on a tape that computes nothing. */
const xlm_real *const *xlm_memory_weights(const xlm_model *model, xlm_tape *tape, const xlm_text *text, xlm_var *memory,
                                          const int32_t *memory_offsets, int64_t layer);

#endif
