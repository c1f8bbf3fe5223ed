/* xlm-mpi: kernels for AVX2 with FMA. SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/kernels.h"

#include <math.h>
#include <string.h>

#if defined __x86_64__ && defined __GNUC__ && !defined XLM_DOUBLE
#include <immintrin.h>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif

/* SLEEF's exp(x), 1 ulp. SLEEF's header declares it only if the whole file is compiled for such processors. */
__m256 Sleef_expf8_u10avx2(__m256 x);

enum { W = 8 };
typedef __m256 vec;
typedef __m256d pairs_of_floats;
typedef __m256i words;
typedef uint32_t decisions;

#define OF(name) _mm256_##name

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

static inline vec magnitude(vec a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }

static inline unsigned above(vec a, vec b) { return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ)); }

static inline vec where_negative(vec x, vec a, vec b) { return _mm256_blendv_ps(b, a, x); }

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

#define exponential Sleef_expf8_u10avx2

static inline words wide(uint32_t word) { return _mm256_set1_epi64x(word); }
static inline words counting(void) { return _mm256_setr_epi64x(0, 1, 2, 3); }
static inline words xor3(words a, words b, words c) { return _mm256_xor_si256(_mm256_xor_si256(a, b), c); }
static inline words odd_words(words a, words b) { return _mm256_blend_epi32(a, b, 0xaa); }

static inline decisions keep_mask(words low, words high, words threshold)
{
    const words keep_low = _mm256_cmpeq_epi16(_mm256_max_epu16(low, threshold), low);
    const words keep_high = _mm256_cmpeq_epi16(_mm256_max_epu16(high, threshold), high);
    const words bytes = _mm256_packs_epi16(keep_low, keep_high);
    return (uint32_t)_mm256_movemask_epi8(_mm256_shuffle_epi32(bytes, _MM_SHUFFLE(3, 1, 2, 0)));
}

static inline words bits_of(vec v) { return _mm256_castps_si256(v); }
static inline vec float_bits(words w) { return _mm256_castsi256_ps(w); }
static inline words both(words a, words b) { return _mm256_and_si256(a, b); }
static inline words either(words a, words b) { return _mm256_or_si256(a, b); }

static inline words where_nan(vec x, words a, words b)
{
    return _mm256_blendv_epi8(b, a, _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q)));
}

/* A zero with the same sign where bits are those of a denormal or zero; else w. */
static inline words without_denormals(words bits, words w)
{
    const words exponent = both(bits, _mm256_set1_epi32(0x7f800000)), sign = both(bits, _mm256_set1_epi32((int)0x80000000u));
    return _mm256_blendv_epi8(w, sign, _mm256_cmpeq_epi32(exponent, _mm256_setzero_si256()));
}

static inline void store_halves(uint16_t *p, int k, words w)
{
    const __m128i halves = _mm_packus_epi32(_mm256_castsi256_si128(w), _mm256_extracti128_si256(w, 1));
    if (k == W)
        _mm_storeu_si128((__m128i *)(void *)p, halves);
    else
        memcpy(p, &halves, sizeof *p * (size_t)k);
}

static inline words halves(const uint16_t *p, int k)
{
    __m128i h = _mm_setzero_si128();
    if (k == W)
        h = _mm_loadu_si128((const __m128i *)(const void *)p);
    else
        memcpy(&h, p, sizeof *p * (size_t)k);
    return _mm256_cvtepu16_epi32(h);
}

static inline void store_words(uint16_t *p, int k, words w) { _mm256_maskstore_epi32((int *)(void *)p, first(k), w); }

enum { TILE_ROWS = 6, TILE_VECTORS = 2 };

static inline void exchange_quarters(const vec *t, vec *r)
{
    r[0] = _mm256_permute2f128_ps(t[0], t[4], 0x20);
    r[4] = _mm256_permute2f128_ps(t[0], t[4], 0x31);
}

#include "kernels/x86.h"

static const xlm_kernels table = KERNELS("avx2");
const xlm_kernels *const xlm_kernels_avx2 = &table;

#ifdef __clang__
#pragma clang attribute pop
#endif
#else
const xlm_kernels *const xlm_kernels_avx2 = NULL;
#endif
