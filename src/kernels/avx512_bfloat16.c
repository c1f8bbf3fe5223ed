/* xlm-mpi: kernels for AVX-512 with AVX512_BF16. SPDX-License-Identifier: GPL-3.0-or-later */
#define XLM_WITH_AVX512_BF16
#include "kernels/avx512.c"
