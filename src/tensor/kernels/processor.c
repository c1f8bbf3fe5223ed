/* xlm-mpi: what the processor is asked directly. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/kernels/processor.h"

#include <stdint.h>

#if defined __x86_64__ && defined __GNUC__
#include <cpuid.h>
#include <immintrin.h>

bool xlm_processor_has_avx512(void)
{
    /* These look at what the operating system saves (XCR0) too. */
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

/* Family 15 and the extended family, which AMD adds to it. */
static bool is_amd_from(unsigned family)
{
    __builtin_cpu_init();
    if (!__builtin_cpu_is("amd"))
        return false;
    unsigned version = 0, b, c, d;
    __get_cpuid(1, &version, &b, &c, &d);
    return (version >> 8 & 15) + (version >> 20 & 255) >= family;
}

bool xlm_processor_is_from_zen5(void)
{
    enum { ZEN5 = 26 };
    return is_amd_from(ZEN5);
}

bool xlm_processor_has_whole_avx512(void)
{
    return xlm_processor_has_avx512() && (!is_amd_from(0) || xlm_processor_is_from_zen5());
}

#elif defined __aarch64__ && defined __GNUC__

bool xlm_processor_has_avx512(void) { return false; }
bool xlm_processor_has_avx2(void) { return false; }
bool xlm_processor_has_bfloat16(void) { return false; }
bool xlm_processor_is_from_zen5(void) { return false; }
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
bool xlm_processor_is_from_zen5(void) { return false; }
bool xlm_processor_has_whole_avx512(void) { return false; }
void xlm_processor_flush_denormals(void) {}

#endif
