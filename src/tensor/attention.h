/* xlm-mpi: what attention takes beside its results. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TENSOR_ATTENTION_H
#define XLM_TENSOR_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes that xlm_attention borrows from the tape while it works: all threads' scratch for sequences of at most `length`
 * and heads of `width`, in bfloat16 where `rounds`. */
uint64_t xlm_attention_scratch_bytes(int64_t length, int64_t width, bool rounds);

#endif
