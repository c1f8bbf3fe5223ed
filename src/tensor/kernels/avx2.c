/* xlm-mpi: kernels for AVX2 with FMA. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/kernels.h"

#include <math.h>
#include <string.h>

#if defined __x86_64__ && defined __GNUC__ && !defined XLM_DOUBLE
#include <immintrin.h>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif

/* exp(x), 1 ulp, of SLEEF, whose header shows it only where the whole compilation is for such processors. */
__m256 Sleef_expf8_u10avx2(__m256 x);

enum { W = 8 };
typedef __m256 vec;

static inline __m256i first(int k)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(k), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

static inline vec load(const float *p, int k) { return k == W ? _mm256_loadu_ps(p) : _mm256_maskload_ps(p, first(k)); }

static inline void store(float *p, int k, vec v)
{
    if (k == W)
        _mm256_storeu_ps(p, v);
    else
        _mm256_maskstore_ps(p, first(k), v);
}

static inline vec all(float value) { return _mm256_set1_ps(value); }
static inline vec plus(vec a, vec b) { return _mm256_add_ps(a, b); }
static inline vec times(vec a, vec b) { return _mm256_mul_ps(a, b); }
static inline vec multiply_add(vec a, vec b, vec c) { return _mm256_fmadd_ps(a, b, c); }
static inline vec divide(vec a, vec b) { return _mm256_div_ps(a, b); }
static inline vec minus(vec a) { return _mm256_xor_ps(a, _mm256_set1_ps(-0.0f)); }
static inline vec magnitude(vec a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
static inline vec where_negative(vec x, vec a, vec b) { return _mm256_blendv_ps(b, a, x); }
static inline vec larger(vec a, vec b) { return _mm256_max_ps(a, b); }

static inline float sum_of(vec v)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

static inline float largest_of(vec v)
{
    __m128 m = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
}

static inline vec chosen(const uint8_t *bits, int64_t i, int k, vec v)
{
    (void)k;
    const __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i set = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(bits[i / 8]), lane), lane);
    return _mm256_and_ps(v, _mm256_castsi256_ps(set));
}

#define fma multiply_add
#define exponential Sleef_expf8_u10avx2
#define square_root sqrtf

static inline __m256i wide(uint32_t word) { return _mm256_set1_epi64x(word); }

/* Philox on four counters, one in the lower half of each 64-bit lane; what gathers in the upper halves is never read. */
static uint32_t keep_four(xlm_rng_key key, __m256i c0, uint32_t word1, uint32_t word2, uint32_t word3, __m256i threshold)
{
    __m256i c1 = wide(word1), c2 = wide(word2), c3 = wide(word3);
    uint32_t k0 = key.v[0], k1 = key.v[1];
    for (int round = 0; round < 10; round++) {
        const __m256i p0 = _mm256_mul_epu32(wide(0xD2511F53u), c0), p1 = _mm256_mul_epu32(wide(0xCD9E8D57u), c2);
        c0 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p1, 32), c1), wide(k0));
        c1 = p1;
        c2 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p0, 32), c3), wide(k1));
        c3 = p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    /* Decisions 0 … 3 and 4 … 7 of each draw as four 16-bit numbers in a 64-bit lane. */
    const __m256i low = _mm256_blend_epi32(c0, _mm256_slli_epi64(c1, 32), 0xaa);
    const __m256i high = _mm256_blend_epi32(c2, _mm256_slli_epi64(c3, 32), 0xaa);
    const __m256i keep_low = _mm256_cmpeq_epi16(_mm256_max_epu16(low, threshold), low);
    const __m256i keep_high = _mm256_cmpeq_epi16(_mm256_max_epu16(high, threshold), high);
    const __m256i bytes = _mm256_packs_epi16(keep_low, keep_high);
    return (uint32_t)_mm256_movemask_epi8(_mm256_shuffle_epi32(bytes, _MM_SHUFFLE(3, 1, 2, 0)));
}

static void keep_bits(xlm_rng_key key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, int64_t draws,
                      uint32_t threshold, uint8_t *bits)
{
    const __m256i t = _mm256_set1_epi16((short)threshold);
    for (int64_t i = 0; i < draws; i += 4) {
        const __m256i counter = _mm256_add_epi64(wide(c0 + (uint32_t)i), _mm256_setr_epi64x(0, 1, 2, 3));
        const uint32_t four = keep_four(key, counter, c1, c2, c3, t);
        memcpy(bits + i, &four, draws - i < 4 ? (size_t)(draws - i) : 4);
    }
}

#include "tensor/kernels/normal.h"

#include "tensor/kernels/bodies.h"

enum { TILE_ROWS = 6, TILE_VECTORS = 2 };

static inline __m256 pairs(__m256 a, __m256 b, bool high)
{
    const __m256d x = _mm256_castps_pd(a), y = _mm256_castps_pd(b);
    return _mm256_castpd_ps(high ? _mm256_unpackhi_pd(x, y) : _mm256_unpacklo_pd(x, y));
}

/* Within halves of 4 lanes first, then halves among vectors. */
static void transpose_square(int rows, int cols, const float *x, int64_t ldx, float *y, int64_t ldy)
{
    __m256 r[W], t[W];
    UNROLL for (int i = 0; i < W; i++)
        r[i] = i < rows ? load(x + i * ldx, cols) : all(0);
    UNROLL for (int i = 0; i < W; i += 4) {
        const __m256 low0 = _mm256_unpacklo_ps(r[i], r[i + 1]), high0 = _mm256_unpackhi_ps(r[i], r[i + 1]);
        const __m256 low1 = _mm256_unpacklo_ps(r[i + 2], r[i + 3]), high1 = _mm256_unpackhi_ps(r[i + 2], r[i + 3]);
        t[i] = pairs(low0, low1, false);
        t[i + 1] = pairs(low0, low1, true);
        t[i + 2] = pairs(high0, high1, false);
        t[i + 3] = pairs(high0, high1, true);
    }
    UNROLL for (int c = 0; c < 4; c++) {
        r[c] = _mm256_permute2f128_ps(t[c], t[4 + c], 0x20);
        r[4 + c] = _mm256_permute2f128_ps(t[c], t[4 + c], 0x31);
    }
    UNROLL for (int i = 0; i < W; i++)
        if (i < cols)
            store(y + i * ldy, rows, r[i]);
}

#include "tensor/kernels/attention.h"

static const xlm_kernels table = KERNELS("avx2");
const xlm_kernels *const xlm_kernels_avx2 = &table;

#ifdef __clang__
#pragma clang attribute pop
#endif
#else
const xlm_kernels *const xlm_kernels_avx2 = NULL;
#endif
