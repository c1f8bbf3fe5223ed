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

/* Most 512-bit fused multiply-adds seen in a cycle: about 2 with two units, never more than 1 with one. Takes some
 * milliseconds; 0 at once without AVX-512. */
double xlm_processor_wide_rate(void);

#endif
