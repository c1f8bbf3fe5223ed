/* xlm-mpi: what the processor is asked directly. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/kernels/processor.h"

#include <stdint.h>
#include <time.h>

#if defined __x86_64__ && defined __GNUC__
#include <immintrin.h>

bool xlm_processor_has_avx512(void)
{
    /* These look at what the operating system saves (XCR0) too. */
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
}

bool xlm_processor_has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

void xlm_processor_flush_denormals(void)
{
    const unsigned flush_to_zero = 1u << 15, denormals_are_zero = 1u << 6;
    _mm_setcsr(_mm_getcsr() | flush_to_zero | denormals_are_zero);
}

enum { ROUNDS = 1000 };

/* Twelve independent chains: more than latency times units, so that the units are never idle. Written in assembly, that
 * nothing but the multiply-adds is timed; %0 … %11 are the chains, whose numbers stay below 2. */
#define CHAIN(i) "vfmadd213ps %13, %12, %" #i "\n\t"
#define MULTIPLY_ADD(name, vector, set1)                                                                               \
    __attribute__((target("avx512f"), noinline)) static void name(void)                                                \
    {                                                                                                                  \
        const vector factor = set1(0.5f), term = set1(1.0f);                                                           \
        vector a = term, b = term, c = term, d = term, e = term, f = term;                                             \
        vector g = term, h = term, i = term, j = term, k = term, l = term;                                             \
        for (int round = 0; round < ROUNDS; round++)                                                                   \
            __asm__ volatile(CHAIN(0) CHAIN(1) CHAIN(2) CHAIN(3) CHAIN(4) CHAIN(5) CHAIN(6) CHAIN(7) CHAIN(8) CHAIN(9) \
                                 CHAIN(10) CHAIN(11)                                                                   \
                             : "+v"(a), "+v"(b), "+v"(c), "+v"(d), "+v"(e), "+v"(f), "+v"(g), "+v"(h), "+v"(i),        \
                               "+v"(j), "+v"(k), "+v"(l)                                                               \
                             : "v"(factor), "v"(term));                                                                \
    }
MULTIPLY_ADD(wide, __m512, _mm512_set1_ps)
MULTIPLY_ADD(narrow, __m256, _mm256_set1_ps)
#undef MULTIPLY_ADD
#undef CHAIN

static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void keep_shortest(void (*loop)(void), double *shortest)
{
    const double begin = clock_seconds();
    loop();
    const double seconds = clock_seconds() - begin;
    *shortest = seconds < *shortest ? seconds : *shortest;
}

double xlm_processor_wide_gain(void)
{
    static const double DURATION = 0.004;
    if (!xlm_processor_has_avx512())
        return 0;
    /* A run of either loop is some 3 µs, shorter than a time slice, so that of many some are not disturbed. They run by turns,
     * because the clock rate sinks while 512-bit instructions are about, and what a hardware thread beside this one takes, it takes
     * from both. */
    const double begin = clock_seconds();
    double shortest_wide = 1, shortest_narrow = 1;
    for (int turn = 0; turn < 100 || clock_seconds() - begin < DURATION; turn++) {
        keep_shortest(wide, &shortest_wide);
        keep_shortest(narrow, &shortest_narrow);
    }
    return 2 * shortest_narrow / shortest_wide;
}

#elif defined __aarch64__ && defined __GNUC__

bool xlm_processor_has_avx512(void) { return false; }
bool xlm_processor_has_avx2(void) { return false; }
double xlm_processor_wide_gain(void) { return 0; }

void xlm_processor_flush_denormals(void)
{
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    __asm__ volatile("msr fpcr, %0" : : "r"(control | UINT64_C(1) << 24));
}

#else

bool xlm_processor_has_avx512(void) { return false; }
bool xlm_processor_has_avx2(void) { return false; }
double xlm_processor_wide_gain(void) { return 0; }
void xlm_processor_flush_denormals(void) {}

#endif
