/* xlm-mpi: which kernels compute products with a packed matrix. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_GEMM_PACKED_KERNELS_H
#define XLM_GEMM_PACKED_KERNELS_H

#include "gemm/packed.h"

/* For messages, and to compare: "oneDNN's brg:avx512_core_bf16", what oneDNN chooses by the processor and by its own variables, or
 * "XLM_BF16_EMULATE=1". xlm_packed_lacks(precision) must be NULL. */
const char *xlm_packed_kernels(xlm_precision precision);

#endif
