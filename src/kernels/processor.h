/* xlm-mpi: what the processor identifies itself as, and a request to it. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_KERNELS_PROCESSOR_H
#define XLM_KERNELS_PROCESSOR_H

#include <stdbool.h>

/* Who made the processor, and which one it is, by itself: "AuthenticAMD", 25, 17. */
typedef struct xlm_processor {
    char vendor[16]; /* empty on machines other than x86 */
    int family, model;
    bool avx512;     /* xlm_processor_has_avx512 */
} xlm_processor;
xlm_processor xlm_processor_identify(void);

/* Ask for the line of memory at an address, which need not be there, before it is read. */
static inline void xlm_processor_fetch(const void *at)
{
#ifdef __GNUC__
    __builtin_prefetch(at);
#else
    (void)at;
#endif
}

/* The instructions our kernels use, by processor and operating system: F, BW, DQ, VL, CD, FMA, BMI2; AVX2 and FMA. False
 * on other kinds of machine. */
bool xlm_processor_has_avx512(void);
bool xlm_processor_has_avx2(void);
/* Products of bfloat16 that are added to floats: AVX512_BF16 (AMX comes with it). */
bool xlm_processor_has_bfloat16(void);
/* AVX-512 with units of 512 bits, by the processor's maker and family: AMD's before Zen 5 compute in halves. */
bool xlm_processor_has_whole_avx512(void);

/* Denormal numbers are taken and given as zero by the calling thread, and by threads it creates from now on. No effect on
 * machines other than x86. */
void xlm_processor_flush_denormals(void);

#endif
