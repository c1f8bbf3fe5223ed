/* xlm-mpi: what the processor is asked directly. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TENSOR_KERNELS_PROCESSOR_H
#define XLM_TENSOR_KERNELS_PROCESSOR_H

#include <stdbool.h>

/* The instructions our kernels use, by processor and operating system: F, BW, DQ, VL, CD, FMA, BMI2; AVX2 and FMA. False
 * on other kinds of machine. */
bool xlm_processor_has_avx512(void);
bool xlm_processor_has_avx2(void);

/* Denormal numbers are taken and given as zero by the calling thread, and by threads it creates from now on. Nothing on
 * machines that we know no way on. */
void xlm_processor_flush_denormals(void);

/* How many times more numbers a second go through 512-bit fused multiply-adds than through 256-bit ones: about 2 with two
 * 512-bit units, about 1 with one, or when they are done in halves. Takes some milliseconds; 0 at once without AVX-512. */
double xlm_processor_wide_gain(void);

#endif
