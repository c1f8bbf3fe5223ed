/* xlm-mpi: kernels for any processor, and for double precision. SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/kernels.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { W = 1 };
typedef xlm_real vec;

static inline vec load(const xlm_real *p, int k) { (void)k; return *p; }
static inline void store(xlm_real *p, int k, vec v) { (void)k; *p = v; }
static inline vec all(xlm_real value) { return value; }
static inline vec plus(vec a, vec b) { return a + b; }
static inline vec times(vec a, vec b) { return a * b; }
static inline vec multiply_add(vec a, vec b, vec c) { return a * b + c; }
static inline vec larger(vec a, vec b) { return a > b ? a : b; }
static inline vec smaller(vec a, vec b) { return a < b ? a : b; }
static inline vec divide(vec a, vec b) { return a / b; }
static inline vec minus(vec a) { return -a; }
static inline vec magnitude(vec v) { return v < 0 ? -v : v; }
static inline unsigned above(vec a, vec b) { return a > b; }
static inline vec where_negative(vec x, vec a, vec b) { return x < 0 ? a : b; }
static inline xlm_real sum_of(vec v) { return v; }
static inline xlm_real largest_of(vec v) { return v; }

static inline vec chosen(const uint8_t *bits, int64_t i, int k, vec v)
{
    (void)k;
    return bits[i / 8] >> i % 8 & 1 ? v : 0;
}

#define fma multiply_add
#ifdef XLM_DOUBLE
#define exponential exp
#define square_root sqrt
#define complement erfc
#else
#define exponential expf
#define square_root sqrtf
#define complement erfcf
#endif

static inline vec normal_distribution(vec x, vec *density)
{
    *density = (xlm_real)0.39894228040143267794 * exponential((xlm_real)-0.5 * x * x);
    return (xlm_real)0.5 * complement((xlm_real)-0.70710678118654752440 * x);
}

static void keep_bits(xlm_rng_key key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, int64_t draws,
                      uint32_t threshold, uint8_t *bits)
{
    for (int64_t i = 0; i < draws; i++) {
        const xlm_rng_block b = xlm_rng_draw(key, c0 + (uint32_t)i, c1, c2, c3);
        unsigned byte = 0;
        for (unsigned k = 0; k < 4; k++)
            byte |= ((b.v[k] & 0xffffu) >= threshold) << 2 * k | (b.v[k] >> 16 >= threshold) << (2 * k + 1);
        bits[i] = (uint8_t)byte;
    }
}

typedef uint32_t words;

static inline words rounded(vec v)
{
    const float x = (float)v;
    words bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7f800000) == 0)
        return bits >> 16 & 0x8000;
    return (x != x ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static inline words halves(const uint16_t *p, int k) { (void)k; return *p; }

static inline vec value_of(words w)
{
    const words bits = w << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline words pair(words low, words high) { return low | high << 16; }

/* The lower half comes first in memory, also where the bytes of a word are in the other order. */
static inline void store_words(uint16_t *p, int k, words w)
{
    (void)k;
    p[0] = (uint16_t)w;
    p[1] = (uint16_t)(w >> 16);
}

static inline void store_rounded(uint16_t *p, int k, vec v) { (void)k; *p = (uint16_t)rounded(v); }
static inline void store_rounded_pairs(uint16_t *p, int k, vec a, vec b) { store_words(p, k, pair(rounded(a), rounded(b))); }

static void product_bfloat16(int64_t m, int64_t n, int64_t depth, const uint16_t *a, int64_t a_row, int64_t a_col,
                             const uint16_t *b, int64_t ldb, xlm_real *c, int64_t ldc, bool add)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            xlm_real s = add ? c[i * ldc + j] : 0;
            for (int64_t l = 0; l < 2 * depth; l++)
                s += value_of(a[2 * (i * a_row + l / 2 * a_col) + l % 2]) * value_of(b[2 * (l / 2 * ldb + j) + l % 2]);
            c[i * ldc + j] = s;
        }
}

static inline vec add_pairs(vec a, vec b, vec c) { return a * b + c; } /* never used for pairs: product_bfloat16 is above */

#include "kernels/bodies.h"

enum { TILE_ROWS = 4, TILE_VECTORS = 4 };

static void transpose_square(int rows, int cols, const xlm_real *x, int64_t ldx, xlm_real *y, int64_t ldy)
{
    (void)rows, (void)cols, (void)ldx, (void)ldy;
    *y = *x;
}

static void transpose_halves_square(int rows, int cols, const uint16_t *x, int64_t ldx, uint16_t *y, int64_t ldy)
{
    (void)cols, (void)ldy;
    for (int i = 0; i < rows; i++)
        y[i] = x[i * ldx];
}

#include "kernels/activations.h"
#include "kernels/attention.h"
#include "kernels/positions.h"

static const xlm_kernels table = KERNELS("portable");
const xlm_kernels *const xlm_kernels_portable = &table;
