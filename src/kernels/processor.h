/* xlm-mpi: the processor's identity and features, and prefetching. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_KERNELS_PROCESSOR_H
#define XLM_KERNELS_PROCESSOR_H

#include <stdbool.h>

/* Vendor, family and model that the processor reports: "AuthenticAMD", 25, 17. */
typedef struct xlm_processor {
    char vendor[16]; /* empty on machines other than x86 */
    int family, model;
    bool avx512;     /* xlm_processor_has_avx512 */
} xlm_processor;
xlm_processor xlm_processor_identify(void);

/* Prefetch the cache line at an address, which need not be valid. */
static inline void xlm_processor_fetch(const void *at)
{
#ifdef __GNUC__
    __builtin_prefetch(at);
#else
    (void)at;
#endif
}

/* Do the processor and the operating system support the instructions that the kernels for AVX-512 use: F, BW, DQ, VL, CD, FMA and
 * BMI2? False on architectures other than x86, like the functions below. */
bool xlm_processor_has_avx512(void);
/* And those that the kernels for AVX2 use: AVX2 and FMA? */
bool xlm_processor_has_avx2(void);
/* Does it multiply bfloat16 and add the products as floats: AVX512_BF16 (processors with AMX have it too)? */
bool xlm_processor_has_bfloat16(void);
/* Does it have AVX-512 with units of 512 bits? Depends on vendor and family: AMD's processors before Zen 5 compute in two
 * halves. */
bool xlm_processor_has_whole_avx512(void);

/* From now on the calling thread, and threads that it creates, treat denormal numbers as zero. No effect on machines other than
 * x86 and 64-bit ARM. */
void xlm_processor_flush_denormals(void);

#endif
