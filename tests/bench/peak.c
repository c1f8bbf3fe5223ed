/* xlm-mpi: the maximum speed of the processor. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     peak [THREADS]     GFLOP/s in single precision of fused multiply-adds in registers, of all threads together: the best of
 *                        several rounds */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { SUMS = 12, TIMES = 1 << 20, ROUNDS = 12 };

/* Independent sums, so many that none is waited for; volatile, so that they are made. */
#define MULTIPLY_ADDS(name, bytes)                                                                                     \
    static double name(void)                                                                                           \
    {                                                                                                                  \
        typedef float vec __attribute__((vector_size(bytes)));                                                         \
        vec sum[SUMS], factor = {0}, more = {0};                                                                       \
        volatile float start = 0.5f;                                                                                   \
        factor = factor + start;                                                                                       \
        more = more + start;                                                                                           \
        for (int i = 0; i < SUMS; i++)                                                                                 \
            sum[i] = more * (float)i;                                                                                  \
        for (int t = 0; t < TIMES; t++) {                                                                              \
            _Pragma("GCC unroll 12") for (int i = 0; i < SUMS; i++) sum[i] = sum[i] * factor + more;                   \
        }                                                                                                              \
        for (int i = 1; i < SUMS; i++)                                                                                 \
            sum[0] += sum[i];                                                                                          \
        start = sum[0][0];                                                                                             \
        return 2.0 * SUMS * TIMES * (bytes) / sizeof(float);                                                           \
    }

#if defined __x86_64__ && defined __GNUC__
MULTIPLY_ADDS(with_sse, 16)
__attribute__((target("avx512f"))) MULTIPLY_ADDS(with_avx512, 64)
__attribute__((target("avx2,fma"))) MULTIPLY_ADDS(with_avx2, 32)

static double multiply_add(void)
{
    if (__builtin_cpu_supports("avx512f"))
        return with_avx512();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return with_avx2();
    return with_sse();
}
#else
MULTIPLY_ADDS(multiply_add, 16)
#endif

int main(int argc, char **argv)
{
    if (argc > 1)
        omp_set_num_threads(atoi(argv[1]));
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double flops = 0;
        const double begin = omp_get_wtime();
#pragma omp parallel reduction(+ : flops)
        flops += multiply_add();
        const double rate = flops / (omp_get_wtime() - begin);
        best = rate > best ? rate : best;
    }
    printf("%.1f\n", 1e-9 * best);
    return 0;
}
