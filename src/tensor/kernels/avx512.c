/* xlm-mpi: kernels for AVX-512. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/kernels.h"

#include <math.h>
#include <string.h>

#if defined __x86_64__ && defined __GNUC__ && !defined XLM_DOUBLE
#include <immintrin.h>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi2"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi2")
#endif

/* exp(x), 1 ulp, of SLEEF, whose header shows it only where the whole compilation is for such processors. */
__m512 Sleef_expf16_u10avx512f(__m512 x);

enum { W = 16 };
typedef __m512 vec;

static inline __mmask16 first(int k) { return (__mmask16)((1u << k) - 1); }

static inline vec load(const float *p, int k) { return k == W ? _mm512_loadu_ps(p) : _mm512_maskz_loadu_ps(first(k), p); }

static inline void store(float *p, int k, vec v)
{
    if (k == W)
        _mm512_storeu_ps(p, v);
    else
        _mm512_mask_storeu_ps(p, first(k), v);
}

static inline vec all(float value) { return _mm512_set1_ps(value); }
static inline vec plus(vec a, vec b) { return _mm512_add_ps(a, b); }
static inline vec times(vec a, vec b) { return _mm512_mul_ps(a, b); }
static inline vec multiply_add(vec a, vec b, vec c) { return _mm512_fmadd_ps(a, b, c); }
static inline vec divide(vec a, vec b) { return _mm512_div_ps(a, b); }
static inline vec minus(vec a) { return _mm512_xor_ps(a, _mm512_set1_ps(-0.0f)); }
static inline vec magnitude(vec a) { return _mm512_abs_ps(a); }
static inline vec larger(vec a, vec b) { return _mm512_max_ps(a, b); }

static inline vec where_negative(vec x, vec a, vec b)
{
    return _mm512_mask_blend_ps(_mm512_movepi32_mask(_mm512_castps_si512(x)), b, a);
}

static inline float sum_of(vec v) { return _mm512_reduce_add_ps(v); }
static inline float largest_of(vec v) { return _mm512_reduce_max_ps(v); }

static inline vec chosen(const uint8_t *bits, int64_t i, int k, vec v)
{
    uint16_t mask;
    if (k > 8)
        memcpy(&mask, bits + i / 8, sizeof mask);
    else
        mask = bits[i / 8];
    return _mm512_maskz_mov_ps(mask, v);
}

#define fma multiply_add
#define exponential Sleef_expf16_u10avx512f
#define square_root sqrtf

static inline __m512i wide(uint32_t word) { return _mm512_set1_epi64(word); }

/* a ^ b ^ c */
static inline __m512i xor3(__m512i a, __m512i b, __m512i c) { return _mm512_ternarylogic_epi64(a, b, c, 0x96); }

/* Philox on eight counters, one in the lower half of each 64-bit lane; what gathers in the upper halves is never read. */
static uint64_t keep_eight(xlm_rng_key key, __m512i c0, uint32_t word1, uint32_t word2, uint32_t word3, __m512i threshold)
{
    __m512i c1 = wide(word1), c2 = wide(word2), c3 = wide(word3);
    uint32_t k0 = key.v[0], k1 = key.v[1];
    for (int round = 0; round < 10; round++) {
        const __m512i p0 = _mm512_mul_epu32(wide(0xD2511F53u), c0), p1 = _mm512_mul_epu32(wide(0xCD9E8D57u), c2);
        c0 = xor3(_mm512_srli_epi64(p1, 32), c1, wide(k0));
        c1 = p1;
        c2 = xor3(_mm512_srli_epi64(p0, 32), c3, wide(k1));
        c3 = p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    /* Decisions 0 … 3 and 4 … 7 of each draw as four 16-bit numbers in a 64-bit lane. */
    const __m512i low = _mm512_mask_blend_epi32(0xaaaa, c0, _mm512_slli_epi64(c1, 32));
    const __m512i high = _mm512_mask_blend_epi32(0xaaaa, c2, _mm512_slli_epi64(c3, 32));
    return _pdep_u64(_mm512_cmpge_epu16_mask(low, threshold), 0x0f0f0f0f0f0f0f0fu) |
           _pdep_u64(_mm512_cmpge_epu16_mask(high, threshold), 0xf0f0f0f0f0f0f0f0u);
}

static void keep_bits(xlm_rng_key key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, int64_t draws,
                      uint32_t threshold, uint8_t *bits)
{
    const __m512i t = _mm512_set1_epi16((short)threshold);
    for (int64_t i = 0; i < draws; i += 8) {
        const __m512i counter = _mm512_add_epi64(wide(c0 + (uint32_t)i), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
        const uint64_t eight = keep_eight(key, counter, c1, c2, c3, t);
        memcpy(bits + i, &eight, draws - i < 8 ? (size_t)(draws - i) : 8);
    }
}

#include "tensor/kernels/normal.h"

#include "tensor/kernels/bodies.h"

enum { TILE_ROWS = 6, TILE_VECTORS = 4 };

static inline __m512 pairs(__m512 a, __m512 b, bool high)
{
    const __m512d x = _mm512_castps_pd(a), y = _mm512_castps_pd(b);
    return _mm512_castpd_ps(high ? _mm512_unpackhi_pd(x, y) : _mm512_unpacklo_pd(x, y));
}

/* Within quarters of 4 lanes first, then quarters among vectors. */
static void transpose_square(int rows, int cols, const float *x, int64_t ldx, float *y, int64_t ldy)
{
    __m512 r[W], t[W];
    UNROLL for (int i = 0; i < W; i++)
        r[i] = i < rows ? load(x + i * ldx, cols) : all(0);
    UNROLL for (int i = 0; i < W; i += 4) {
        const __m512 low0 = _mm512_unpacklo_ps(r[i], r[i + 1]), high0 = _mm512_unpackhi_ps(r[i], r[i + 1]);
        const __m512 low1 = _mm512_unpacklo_ps(r[i + 2], r[i + 3]), high1 = _mm512_unpackhi_ps(r[i + 2], r[i + 3]);
        t[i] = pairs(low0, low1, false);
        t[i + 1] = pairs(low0, low1, true);
        t[i + 2] = pairs(high0, high1, false);
        t[i + 3] = pairs(high0, high1, true);
    }
    /* Quarter q of t[4 g + c] is column 4 q + c of rows 4 g … 4 g + 3. */
    UNROLL for (int c = 0; c < 4; c++) {
        const __m512 even0 = _mm512_shuffle_f32x4(t[c], t[4 + c], 0x88), odd0 = _mm512_shuffle_f32x4(t[c], t[4 + c], 0xdd);
        const __m512 even1 = _mm512_shuffle_f32x4(t[8 + c], t[12 + c], 0x88),
                     odd1 = _mm512_shuffle_f32x4(t[8 + c], t[12 + c], 0xdd);
        r[c] = _mm512_shuffle_f32x4(even0, even1, 0x88);
        r[8 + c] = _mm512_shuffle_f32x4(even0, even1, 0xdd);
        r[4 + c] = _mm512_shuffle_f32x4(odd0, odd1, 0x88);
        r[12 + c] = _mm512_shuffle_f32x4(odd0, odd1, 0xdd);
    }
    UNROLL for (int i = 0; i < W; i++)
        if (i < cols)
            store(y + i * ldy, rows, r[i]);
}

#include "tensor/kernels/attention.h"

static const xlm_kernels table = KERNELS("avx512");
const xlm_kernels *const xlm_kernels_avx512 = &table;

#ifdef __clang__
#pragma clang attribute pop
#endif
#else
const xlm_kernels *const xlm_kernels_avx512 = NULL;
#endif
