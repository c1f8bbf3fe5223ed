/* xlm-mpi: kernels for 64-bit ARM, with NEON. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * arm_neon.h's vectors are the compiler's own, so that +, *, & and the like need no intrinsics. */
#include "kernels/kernels.h"

#include <math.h>
#include <string.h>

#if defined __aarch64__ && defined __ARM_NEON && !defined __AARCH64EB__ && defined __GNUC__ && !defined XLM_DOUBLE
#include <arm_neon.h>

/* SLEEF's exp(x), 1 ulp. */
float32x4_t Sleef_expf4_u10advsimd(float32x4_t x);

enum { W = 4 };
typedef float32x4_t vec;
typedef uint32x4_t words;

static inline vec all(float value) { return vdupq_n_f32(value); }
static inline words bits_of(vec v) { return vreinterpretq_u32_f32(v); }
static inline vec float_bits(words w) { return vreinterpretq_f32_u32(w); }

static inline vec load(const float *p, int k)
{
    if (k == W)
        return vld1q_f32(p);
    if (k == 1)
        return vld1q_lane_f32(p, all(0), 0);
    const vec two = vcombine_f32(vld1_f32(p), vdup_n_f32(0));
    return k == 2 ? two : vld1q_lane_f32(p + 2, two, 2);
}

static inline void store(float *p, int k, vec v)
{
    if (k == W) {
        vst1q_f32(p, v);
        return;
    }
    if (k >= 2)
        vst1_f32(p, vget_low_f32(v));
    if (k == 1)
        vst1q_lane_f32(p, v, 0);
    if (k == 3)
        vst1q_lane_f32(p + 2, v, 2);
}

static inline vec plus(vec a, vec b) { return a + b; }
static inline vec times(vec a, vec b) { return a * b; }
static inline vec multiply_add(vec a, vec b, vec c) { return vfmaq_f32(c, a, b); }
static inline vec divide(vec a, vec b) { return a / b; }
static inline vec minus(vec a) { return -a; }
static inline vec magnitude(vec a) { return vabsq_f32(a); }
/* Of a number and what is none, b, as on other processors; NEON's maximum is not a number. */
static inline vec larger(vec a, vec b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
static inline vec smaller(vec a, vec b) { return vbslq_f32(vcltq_f32(a, b), a, b); }
static inline vec where_negative(vec x, vec a, vec b) { return vbslq_f32(vcltzq_f32(x), a, b); }
static inline float sum_of(vec v) { return vaddvq_f32(v); }

static inline float largest_of(vec v)
{
    const vec m = larger(v, vextq_f32(v, v, 2));
    return vgetq_lane_f32(larger(m, vextq_f32(m, m, 1)), 0);
}

/* 1, 2, 4, 8: a bit for each lane. */
static inline words lane_bits(void) { return (words){1, 2, 4, 8}; }

static inline unsigned above(vec a, vec b) { return vaddvq_u32(vcgtq_f32(a, b) & lane_bits()); }

static inline vec chosen(const uint8_t *bits, int64_t i, int k, vec v)
{
    (void)k;
    return float_bits(bits_of(v) & vtstq_u32(vdupq_n_u32(bits[i / 8] >> i % 8), lane_bits()));
}

#define fma multiply_add
#define square_root sqrtf
#define exponential Sleef_expf4_u10advsimd

/* ---- random draws ---- */

static inline void multiply_words(uint32_t factor, words c, words *low, words *high)
{
    const words a = vreinterpretq_u32_u64(vmull_n_u32(vget_low_u32(c), factor)),
                b = vreinterpretq_u32_u64(vmull_high_n_u32(c, factor));
    *low = vuzp1q_u32(a, b);
    *high = vuzp2q_u32(a, b);
}

/* Of a word of each of W draws: bit 0, its lower half is at least the threshold; bit 1, its upper half is. */
static inline words decide(words word, words threshold)
{
    const words low = vcgeq_u32(word & vdupq_n_u32(0xffff), threshold), high = vcgeq_u32(word >> 16, threshold);
    return (low & vdupq_n_u32(1)) | (high & vdupq_n_u32(2));
}

/* Philox on W counters. */
static void keep_bits(xlm_rng_key key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, int64_t draws, uint32_t threshold,
                      uint8_t *bits)
{
    const words t = vdupq_n_u32(threshold), counting = {0, 1, 2, 3};
    for (int64_t i = 0; i < draws; i += W) {
        words w0 = vdupq_n_u32(c0 + (uint32_t)i) + counting, w1 = vdupq_n_u32(c1), w2 = vdupq_n_u32(c2), w3 = vdupq_n_u32(c3);
        uint32_t k0 = key.v[0], k1 = key.v[1];
        for (int round = 0; round < 10; round++) {
            words low0, high0, low2, high2;
            multiply_words(0xD2511F53u, w0, &low0, &high0);
            multiply_words(0xCD9E8D57u, w2, &low2, &high2);
            w0 = high2 ^ w1 ^ vdupq_n_u32(k0);
            w1 = low2;
            w2 = high0 ^ w3 ^ vdupq_n_u32(k1);
            w3 = low0;
            k0 += 0x9E3779B9u;
            k1 += 0xBB67AE85u;
        }
        const words kept = decide(w0, t) | decide(w1, t) << 2 | decide(w2, t) << 4 | decide(w3, t) << 6;
        const uint16x4_t narrow = vmovn_u32(kept);
        const uint8x8_t bytes = vmovn_u16(vcombine_u16(narrow, narrow));
        memcpy(bits + i, &bytes, draws - i < W ? (size_t)(draws - i) : W);
    }
}

/* ---- numbers of 16 bits ---- */

static inline words halves(const uint16_t *p, int k)
{
    uint16x4_t h = vdup_n_u16(0);
    if (k == W)
        h = vld1_u16(p);
    else
        memcpy(&h, p, sizeof *p * (size_t)k);
    return vmovl_u16(h);
}

static inline void store_words(uint16_t *p, int k, words w)
{
    if (k == W)
        memcpy(p, &w, sizeof w);
    else
        memcpy(p, &w, 2 * sizeof *p * (size_t)k);
}

static inline words pair(words low, words high) { return low | high << 16; }
static inline vec value_of(words w) { return float_bits(w << 16); }

static inline vec add_pairs(vec a, vec b, vec c)
{
    const words high = vdupq_n_u32(0xffff0000u);
    c = multiply_add(value_of(bits_of(a)), value_of(bits_of(b)), c);
    return multiply_add(float_bits(bits_of(a) & high), float_bits(bits_of(b) & high), c);
}

/* Rounded to 16 bits, in the lower halves of lanes whose upper halves are zero. Denormals become zero. */
static inline words rounded(vec v)
{
    const words bits = bits_of(v), even = bits + 0x7fff + (bits >> 16 & 1);
    const words small = vceqzq_u32(bits & vdupq_n_u32(0x7f800000)), number = vceqq_f32(v, v);
    const words finite = vbslq_u32(small, bits & vdupq_n_u32(0x80000000u), even);
    return vbslq_u32(number, finite, bits | vdupq_n_u32(0x400000)) >> 16;
}

static inline void store_rounded(uint16_t *p, int k, vec v)
{
    const uint16x4_t h = vmovn_u32(rounded(v));
    if (k == W)
        vst1_u16(p, h);
    else
        memcpy(p, &h, sizeof *p * (size_t)k);
}

static inline void store_rounded_pairs(uint16_t *p, int k, vec a, vec b) { store_words(p, k, pair(rounded(a), rounded(b))); }

#include "kernels/normal.h"

static void product_bfloat16(int64_t m, int64_t n, int64_t depth, const uint16_t *a, int64_t a_row, int64_t a_col,
                             const uint16_t *b, int64_t ldb, float *c, int64_t ldc, bool sum_c);

#include "kernels/bodies.h"

/* 32 registers hold the sums, the right operands and the left one. */
enum { TILE_ROWS = 6, TILE_VECTORS = 4 };

/* The first two of a and b, or the last two. */
static inline vec pairs(vec a, vec b, bool high)
{
    const float64x2_t x = vreinterpretq_f64_f32(a), y = vreinterpretq_f64_f32(b);
    return vreinterpretq_f32_f64(high ? vzip2q_f64(x, y) : vzip1q_f64(x, y));
}

INLINE void turn(vec r[W])
{
    const vec even0 = vtrn1q_f32(r[0], r[1]), odd0 = vtrn2q_f32(r[0], r[1]);
    const vec even2 = vtrn1q_f32(r[2], r[3]), odd2 = vtrn2q_f32(r[2], r[3]);
    r[0] = pairs(even0, even2, false);
    r[1] = pairs(odd0, odd2, false);
    r[2] = pairs(even0, even2, true);
    r[3] = pairs(odd0, odd2, true);
}

#include "kernels/squares.h"

static const xlm_kernels table = KERNELS("neon");
const xlm_kernels *const xlm_kernels_neon = &table;

#else
const xlm_kernels *const xlm_kernels_neon = NULL;
#endif
