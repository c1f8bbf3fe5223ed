/* xlm-mpi: rows of attention in the type of its products. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/attention_element.h"

#include <string.h>

#include "kernels/kernels.h"
#include "kernels/processor.h"

enum { LINE = 64 }; /* bytes of a cache line */

/* ---- products of floats, or of doubles where gradients are checked ---- */

void xlm_attention_fetch_next(const void *row, size_t bytes)
{
    for (size_t i = bytes; i < 2 * bytes; i += LINE)
        xlm_processor_fetch((const char *)row + i);
}

/* Rows of a T x 3d matrix are pages apart and evict one another from the cache, so those that are read repeatedly are copied. */
static xlm_attention_block load_reals(int64_t rows, int64_t w, xlm_attention_source x, xlm_attention_room room, int64_t stride,
                                      bool down)
{
    if (!down)
        return (xlm_attention_block){.across = x.value, .apart = x.apart};
    for (int64_t i = 0; i < rows; i++) {
        xlm_attention_fetch_next(x.value + i * x.apart, sizeof *x.value * (size_t)w);
        memcpy(room.down + i * stride, x.value + i * x.apart, sizeof *x.value * (size_t)w);
    }
    return (xlm_attention_block){.across = room.down, .apart = stride, .down = room.down};
}

/* Products read the weights as they are. */
static void leave_row(int64_t n, const xlm_real *x, void *across) { (void)n, (void)x, (void)across; }

static void leave_rows(int64_t rows, int64_t n, const xlm_real *x, void *down, int64_t ld)
{
    (void)rows, (void)n, (void)x, (void)down, (void)ld;
}

static void multiply_reals(int64_t m, int64_t n, int64_t depth, const void *a, int64_t a_row, int64_t a_col, const void *b,
                           int64_t ldb, xlm_real *c, int64_t ldc, bool add)
{
    xlm_kernels_get()->product(m, n, depth, a, a_row, a_col, b, ldb, c, ldc, add);
}

static xlm_real dot_reals(int64_t n, const void *a, const xlm_real *b) { return xlm_kernels_get()->dot(n, a, b); }

const xlm_attention_element xlm_attention_reals = {1, load_reals, leave_row, leave_rows, multiply_reals, dot_reals};

/* ---- products of bfloat16 ---- */

/* Rounds a row. If n is odd, the last pair is padded with zero. */
static void round_row(int64_t n, const xlm_real *x, void *across)
{
    uint16_t *y = across;
    xlm_kernels_get()->to_bfloat16(n, x, y);
    if (n % 2 != 0)
        y[n] = 0;
}

/* Rounds and interleaves rows in pairs. If their number is odd, the last row is paired with zeros. */
static void pair_rows(int64_t rows, int64_t n, const xlm_real *x, void *down, int64_t ld)
{
    for (int64_t i = 0; i < rows; i += 2)
        xlm_kernels_get()->to_bfloat16_pairs(n, x + i * ld, i + 1 < rows ? x + (i + 1) * ld : NULL, (uint16_t *)down + i * ld);
}

static xlm_attention_block load_rounded(int64_t rows, int64_t w, xlm_attention_source x, xlm_attention_room room, int64_t stride,
                                        bool down)
{
    for (int64_t i = 0; i < rows; i++) {
        uint16_t *y = room.rounded + i * stride;
        if (x.rounded == NULL) {
            xlm_attention_fetch_next(x.value + i * x.apart, sizeof *x.value * (size_t)w);
            round_row(w, x.value + i * x.apart, y);
            continue;
        }
        xlm_attention_fetch_next(x.rounded + i * x.apart, sizeof *x.rounded * (size_t)w);
        memcpy(y, x.rounded + i * x.apart, sizeof *y * (size_t)w);
        if (w % 2 != 0)
            y[w] = 0;
    }
    uint16_t *pairs = (uint16_t *)(void *)room.down;
    for (int64_t i = 0; down && i < rows; i += 2)
        xlm_kernels_get()->bfloat16_pairs(w, room.rounded + i * stride, i + 1 < rows ? room.rounded + (i + 1) * stride : NULL,
                                          pairs + i * stride, false);
    return (xlm_attention_block){.across = room.rounded, .apart = stride / 2, .down = down ? pairs : NULL};
}

static void multiply_rounded(int64_t m, int64_t n, int64_t depth, const void *a, int64_t a_row, int64_t a_col, const void *b,
                             int64_t ldb, xlm_real *c, int64_t ldc, bool add)
{
    xlm_kernels_get()->product_bfloat16(m, n, depth, a, a_row, a_col, b, ldb, c, ldc, add);
}

static xlm_real dot_rounded(int64_t n, const void *a, const xlm_real *b) { return xlm_kernels_get()->dot_bfloat16(n, a, b); }

const xlm_attention_element xlm_attention_bfloat16 = {2, load_rounded, round_row, pair_rows, multiply_rounded, dot_rounded};
