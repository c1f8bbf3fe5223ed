/* xlm-mpi: what the processor is asked directly. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TENSOR_KERNELS_PROCESSOR_H
#define XLM_TENSOR_KERNELS_PROCESSOR_H

#include <stdbool.h>

/* The instructions our kernels use, by processor and operating system: F, BW, DQ, VL, CD, FMA, BMI2; AVX2 and FMA. False
 * on other kinds of machine. */
bool xlm_processor_has_avx512(void);
bool xlm_processor_has_avx2(void);
/* AVX-512 of which the processor does 512 bits at once, told by its maker and family: AMD's before Zen 5 do them in halves. */
bool xlm_processor_has_whole_avx512(void);

/* Denormal numbers are taken and given as zero by the calling thread, and by threads it creates from now on. Nothing on
 * machines that we know no way on. */
void xlm_processor_flush_denormals(void);

#endif
