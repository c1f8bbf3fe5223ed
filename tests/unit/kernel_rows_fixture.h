/* xlm-mpi: what tests of kernels on single rows have in common: lengths, outputs, rounding.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TEST_KERNEL_ROWS_FIXTURE_H
#define XLM_TEST_KERNEL_ROWS_FIXTURE_H

#include <string.h>

#include "kernels_fixture.h"

/* Lengths around every vector's width; GUARD floats after the end must stay as they are. */
enum { MAX_SIZE = 70, GUARD = 16 };
static const float UNTOUCHED = 12345.0f;

static inline void start_output(float y[MAX_SIZE + GUARD], float value)
{
    for (int i = 0; i < MAX_SIZE + GUARD; i++)
        y[i] = i < MAX_SIZE ? value : UNTOUCHED;
}

static inline void expect_untouched(const xlm_kernels *kernel, const char *what, int64_t n, const float *y, float value)
{
    for (int64_t i = n; i < MAX_SIZE + GUARD; i++)
        if (y[i] != (i < MAX_SIZE ? value : UNTOUCHED))
            fail_msg("%s %s, n = %d: wrote element %d", kernel->name, what, (int)n, (int)i);
}

/* To nearest, and to even in the middle; the upper half of a float. Denormals are zero. */
static inline uint16_t bfloat16_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (isnan(x))
        return (uint16_t)(bits >> 16 | 0x40);
    if ((bits & 0x7fffffff) < 0x800000)
        return (uint16_t)(bits >> 16 & 0x8000);
    const uint32_t rest = bits & 0xffff, half = 0x8000;
    return (uint16_t)((bits >> 16) + (rest > half || (rest == half && (bits >> 16 & 1) != 0)));
}

/* Rounding x may give a value one step, 2^-8 of it, away from that of a result that differs by rounding. */
static inline void expect_rounded(const xlm_kernels *kernel, const char *what, int64_t n, uint16_t got, double wanted)
{
    const uint32_t bits = (uint32_t)got << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    if (!(fabs((double)x - wanted) <= fabs(wanted) / 255 + 1e-6))
        fail_msg("%s %s, n = %d: %.9g, not %.9g", kernel->name, what, (int)n, (double)x, wanted);
}

/* Calls `check` for each instruction set of this processor with each length, and `once`, if it is not NULL. */
static inline void with_all_kernels(void (*check)(const xlm_kernels *kernel, int64_t n), void (*once)(const xlm_kernels *kernel))
{
    int tables = 0;
    for (size_t k = 0; k < G_N_ELEMENTS(names); k++) {
        const xlm_kernels *kernel = xlm_kernels_find(names[k]);
        if (kernel == NULL)
            continue;
        assert_string_equal(kernel->name, names[k]);
        tables++;
        for (int64_t n = 1; n <= MAX_SIZE; n++)
            check(kernel, n);
        if (once != NULL)
            once(kernel);
    }
    assert_true(tables >= 1);
}

#endif
