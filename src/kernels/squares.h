/* xlm-mpi: transposed squares and products of vectors, for tables of several lanes. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * x86.h and neon.c include this file after bodies.h, and after they have defined
 *     turn(r)                           the W x W square of the vectors r[W] becomes its transpose
 *     bits_of(vec), float_bits(words)   the bits of floats, the floats of bits
 * and declared product_bfloat16, a function of the table. */

static void transpose_square(int rows, int cols, const float *x, int64_t ldx, float *y, int64_t ldy)
{
    vec r[W];
    UNROLL for (int i = 0; i < W; i++)
        r[i] = i < rows ? load(x + i * ldx, cols) : all(0);
    turn(r);
    UNROLL for (int i = 0; i < W; i++)
        if (i < cols)
            store(y + i * ldy, rows, r[i]);
}

/* Two rows at a time, their elements side by side in a lane. */
static void transpose_halves_square(int rows, int cols, const uint16_t *x, int64_t ldx, uint16_t *y, int64_t ldy)
{
    vec r[W];
    const words zero = bits_of(all(0));
    UNROLL for (int i = 0; i < W; i++)
        r[i] = 2 * i >= rows ? all(0)
                             : float_bits(pair(halves(x + 2 * i * ldx, cols),
                                               2 * i + 1 < rows ? halves(x + (2 * i + 1) * ldx, cols) : zero));
    turn(r);
    UNROLL for (int i = 0; i < W; i++)
        if (i < cols) {
            store_words(y + i * ldy, rows / 2, bits_of(r[i]));
            if (rows % 2 != 0)
                y[i * ldy + rows - 1] = x[(rows - 1) * ldx + i];
        }
}

#include "kernels/activations.h"
#include "kernels/attention.h"
#include "kernels/positions.h"

static void product_bfloat16(int64_t m, int64_t n, int64_t depth, const uint16_t *a, int64_t a_row, int64_t a_col,
                             const uint16_t *b, int64_t ldb, float *c, int64_t ldc, bool sum_c)
{
    tiles_across(true, m, n, depth, (const float *)(const void *)a, a_row, a_col, (const float *)(const void *)b, ldb, c, ldc,
                 sum_c);
}
