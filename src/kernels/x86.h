/* xlm-mpi: what AVX2 and AVX-512 have in common, written once. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * avx2.c and avx512.c include this file after they have defined
 *     W, vec, pairs_of_floats, words    lanes; vectors of W floats, of W / 2 doubles, of W / 2 64-bit integers
 *     OF(name)                          the intrinsic of that name for this width: _mm256_name or _mm512_name
 *     load, store, chosen, magnitude, where_negative, sum_of, largest_of, exponential   as bodies.h and normal.h want them
 *     wide(word), counting()            a word in each 64-bit lane; 0, 1, 2, ... in them
 *     float_bits(words)                 the floats of these bits
 *     halves(p, k)                      as bodies.h wants it
 *     bits_of(vec), both(a, b), either(a, b)   of 32-bit lanes: a & b; a | b
 *     store_words(p, k, words)          the first k 32-bit lanes
 *     xor3(a, b, c), odd_words(a, b)    a ^ b ^ c; the even 32-bit lanes of a beside the odd ones of b
 *     decisions, keep_mask(low, high, threshold)   an unsigned integer with one byte for each 64-bit lane, and its value: bits 0
 *                                       to 3 of a byte say which 16-bit lanes of low are at least the threshold, bits 4 to 7
 *                                       which ones of high
 *     NATIVE_BFLOAT16                   where there are instructions for it, with add_pairs as attention.h wants it and
 *                                       store_rounded, store_rounded_pairs as bodies.h wants them; else instead of those
 *     where_nan(x, a, b)                of 32-bit lanes: a where x is not a number, else b
 *     without_denormals(bits, w)        w, but a zero of their sign where bits are those of a denormal or zero
 *     store_halves(p, k, words)         the lower halves of the first k 32-bit lanes
 *     TILE_ROWS, TILE_VECTORS           as attention.h wants them
 *     exchange_quarters(t, r)           the last stage of a transposition, below
 * and it defines the whole table of kernels. */

static inline vec all(float value) { return OF(set1_ps)(value); }
static inline vec plus(vec a, vec b) { return OF(add_ps)(a, b); }
static inline vec times(vec a, vec b) { return OF(mul_ps)(a, b); }
static inline vec multiply_add(vec a, vec b, vec c) { return OF(fmadd_ps)(a, b, c); }
static inline vec divide(vec a, vec b) { return OF(div_ps)(a, b); }
static inline vec minus(vec a) { return OF(xor_ps)(a, all(-0.0f)); }
static inline vec larger(vec a, vec b) { return OF(max_ps)(a, b); }
static inline vec smaller(vec a, vec b) { return OF(min_ps)(a, b); }

#define fma multiply_add
#define square_root sqrtf

enum { DRAWS = W / 2 }; /* as many counters as there are 64-bit lanes */
_Static_assert(sizeof(decisions) == DRAWS, "a byte of decisions for each draw");

/* Philox on DRAWS counters, one in the lower half of each 64-bit lane; the upper halves are never read. */
static inline decisions keep_draws(xlm_rng_key key, words c0, uint32_t word1, uint32_t word2, uint32_t word3, words threshold)
{
    words c1 = wide(word1), c2 = wide(word2), c3 = wide(word3);
    uint32_t k0 = key.v[0], k1 = key.v[1];
    for (int round = 0; round < 10; round++) {
        const words p0 = OF(mul_epu32)(wide(0xD2511F53u), c0), p1 = OF(mul_epu32)(wide(0xCD9E8D57u), c2);
        c0 = xor3(OF(srli_epi64)(p1, 32), c1, wide(k0));
        c1 = p1;
        c2 = xor3(OF(srli_epi64)(p0, 32), c3, wide(k1));
        c3 = p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    /* Decisions 0 … 3 and 4 … 7 of each draw as four 16-bit numbers in a 64-bit lane. */
    return keep_mask(odd_words(c0, OF(slli_epi64)(c1, 32)), odd_words(c2, OF(slli_epi64)(c3, 32)), threshold);
}

static void keep_bits(xlm_rng_key key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, int64_t draws,
                      uint32_t threshold, uint8_t *bits)
{
    const words t = OF(set1_epi16)((short)threshold);
    for (int64_t i = 0; i < draws; i += DRAWS) {
        const decisions kept = keep_draws(key, OF(add_epi64)(wide(c0 + (uint32_t)i), counting()), c1, c2, c3, t);
        memcpy(bits + i, &kept, draws - i < DRAWS ? (size_t)(draws - i) : sizeof kept);
    }
}

static inline words pair(words low, words high) { return either(low, OF(slli_epi32)(high, 16)); }
static inline vec value_of(words w) { return float_bits(OF(slli_epi32)(w, 16)); }

#ifndef NATIVE_BFLOAT16
static inline vec add_pairs(vec a, vec b, vec c)
{
    const words high = OF(set1_epi32)((int)0xffff0000u);
    c = multiply_add(value_of(bits_of(a)), value_of(bits_of(b)), c);
    return multiply_add(float_bits(both(bits_of(a), high)), float_bits(both(bits_of(b), high)), c);
}

/* Rounded to 16 bits, in the lower halves of lanes whose upper halves are zero. Denormals become zero. */
static inline words rounded(vec v)
{
    const words bits = bits_of(v), one = OF(set1_epi32)(1), quiet = OF(set1_epi32)(0x400000);
    const words even = OF(add_epi32)(OF(add_epi32)(bits, OF(set1_epi32)(0x7fff)), both(OF(srli_epi32)(bits, 16), one));
    return OF(srli_epi32)(where_nan(v, either(bits, quiet), without_denormals(bits, even)), 16);
}

static inline void store_rounded(uint16_t *p, int k, vec v) { store_halves(p, k, rounded(v)); }
static inline void store_rounded_pairs(uint16_t *p, int k, vec a, vec b) { store_words(p, k, pair(rounded(a), rounded(b))); }
#endif

#include "kernels/normal.h"

static void product_bfloat16(int64_t m, int64_t n, int64_t depth, const uint16_t *a, int64_t a_row, int64_t a_col,
                             const uint16_t *b, int64_t ldb, float *c, int64_t ldc, bool sum_c);

#include "kernels/bodies.h"

/* In each quarter of 4 lanes: the first two of a and b, or the last two. */
static inline vec pairs(vec a, vec b, bool high)
{
    const pairs_of_floats x = OF(castps_pd)(a), y = OF(castps_pd)(b);
    return OF(castpd_ps)(high ? OF(unpackhi_pd)(x, y) : OF(unpacklo_pd)(x, y));
}

/* Within quarters of 4 lanes first; then quarter q of t[4 g + c] is column 4 q + c of rows 4 g … 4 g + 3, and
 * exchange_quarters puts it in place: quarter g of r[4 q + c]. */
INLINE void turn(vec r[W])
{
    vec t[W];
    UNROLL for (int i = 0; i < W; i += 4) {
        const vec low0 = OF(unpacklo_ps)(r[i], r[i + 1]), high0 = OF(unpackhi_ps)(r[i], r[i + 1]);
        const vec low1 = OF(unpacklo_ps)(r[i + 2], r[i + 3]), high1 = OF(unpackhi_ps)(r[i + 2], r[i + 3]);
        t[i] = pairs(low0, low1, false);
        t[i + 1] = pairs(low0, low1, true);
        t[i + 2] = pairs(high0, high1, false);
        t[i + 3] = pairs(high0, high1, true);
    }
    UNROLL for (int c = 0; c < 4; c++)
        exchange_quarters(t + c, r + c);
}

#include "kernels/squares.h"
