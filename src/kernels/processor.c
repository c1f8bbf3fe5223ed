/* xlm-mpi: the processor, identified by its own instructions. SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/processor.h"

#include <stdint.h>
#include <string.h>

#if defined __x86_64__ && defined __GNUC__
#include <cpuid.h>
#include <immintrin.h>

bool xlm_processor_has_avx512(void)
{
    /* These also check what the operating system saves (XCR0). */
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
}

bool xlm_processor_has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

/* Leaf 7, second part, bit 5 of EAX; compilers name it differently. */
bool xlm_processor_has_bfloat16(void)
{
    unsigned a, b, c, d;
    return xlm_processor_has_avx512() && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 5 & 1) != 0;
}

void xlm_processor_flush_denormals(void)
{
    const unsigned flush_to_zero = 1u << 15, denormals_are_zero = 1u << 6;
    _mm_setcsr(_mm_getcsr() | flush_to_zero | denormals_are_zero);
}

/* Leaf 0 has the vendor's name in EBX, EDX, ECX. Leaf 1 has the family and the model: if the family is 15, the extended family is
 * added to it; in families 6 and 15 the extended model is the upper half of the model. */
xlm_processor xlm_processor_identify(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    xlm_processor p = {.avx512 = xlm_processor_has_avx512()};
    if (!__get_cpuid(0, &a, &b, &c, &d))
        return p;
    memcpy(p.vendor, &b, sizeof b);
    memcpy(p.vendor + 4, &d, sizeof d);
    memcpy(p.vendor + 8, &c, sizeof c);
    __get_cpuid(1, &a, &b, &c, &d);
    const int family = (int)(a >> 8 & 15);
    p.family = family == 15 ? family + (int)(a >> 20 & 255) : family;
    p.model = (int)(a >> 4 & 15) + (family == 6 || family == 15 ? (int)(a >> 16 & 15) << 4 : 0);
    return p;
}

bool xlm_processor_has_whole_avx512(void)
{
    enum { ZEN5 = 26 };
    const xlm_processor p = xlm_processor_identify();
    return p.avx512 && (strcmp(p.vendor, "AuthenticAMD") != 0 || p.family >= ZEN5);
}

#elif defined __aarch64__ && defined __GNUC__

bool xlm_processor_has_avx512(void) { return false; }
bool xlm_processor_has_avx2(void) { return false; }
bool xlm_processor_has_bfloat16(void) { return false; }
xlm_processor xlm_processor_identify(void) { return (xlm_processor){.vendor = ""}; }
bool xlm_processor_has_whole_avx512(void) { return false; }

void xlm_processor_flush_denormals(void)
{
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    __asm__ volatile("msr fpcr, %0" : : "r"(control | UINT64_C(1) << 24));
}

#else

bool xlm_processor_has_avx512(void) { return false; }
bool xlm_processor_has_avx2(void) { return false; }
bool xlm_processor_has_bfloat16(void) { return false; }
xlm_processor xlm_processor_identify(void) { return (xlm_processor){.vendor = ""}; }
bool xlm_processor_has_whole_avx512(void) { return false; }
void xlm_processor_flush_denormals(void) {}

#endif
