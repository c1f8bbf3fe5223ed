/* xlm-mpi: numbers and instruction sets of the tests of kernels. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TEST_KERNELS_FIXTURE_H
#define XLM_TEST_KERNELS_FIXTURE_H

#include <glib.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernels/kernels.h"

static const char *const names[] = {"portable", "neon", "avx2", "avx512"};

static float number(uint32_t which, int64_t i)
{
    return (float)(4 * xlm_rng_unit(xlm_rng_draw((xlm_rng_key){{1, 2}}, (uint32_t)i, which, 0, 0).v[0]) - 2);
}

/* n numbers, exactly as long as they may be read, so that a sanitizer sees a read beyond them. */
static float *numbers(uint32_t which, int64_t n)
{
    float *x = g_new(float, n);
    for (int64_t i = 0; i < n; i++)
        x[i] = number(which, i);
    return x;
}

static void expect(const xlm_kernels *kernel, const char *what, int64_t n, double got, double wanted)
{
    if (!(fabs(got - wanted) <= 2e-6 * fmax(1, fabs(wanted))))
        fail_msg("%s %s, n = %d: %.9g, not %.9g", kernel->name, what, (int)n, got, wanted);
}

#endif
