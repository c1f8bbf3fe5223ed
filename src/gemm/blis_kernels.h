/* xlm-mpi: which of BLIS's kernels can be asked for here. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_GEMM_BLIS_KERNELS_H
#define XLM_GEMM_BLIS_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

/* Can BLIS compute with the kernels that have this number in its arch_t: was it built with them, and has the processor their
 * instructions? */
bool xlm_blis_kernels_run(int64_t number);
/* All that can be asked for: "0 (skx), 3 (haswell)". g_free. */
char *xlm_blis_kernels_list(void);

#endif
