/* xlm-mpi: kernels for AVX-512. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Compiled a second time, with XLM_WITH_AVX512_BF16, for processors that multiply bfloat16 too (avx512_bfloat16.c). */
#include "kernels/kernels.h"

#include <math.h>
#include <string.h>

#if defined __x86_64__ && defined __GNUC__ && !defined XLM_DOUBLE
#include <immintrin.h>

#define TARGET "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi2"
#ifdef __clang__
#ifdef XLM_WITH_AVX512_BF16
#pragma clang attribute push(__attribute__((target(TARGET ",avx512bf16"))), apply_to = function)
#else
#pragma clang attribute push(__attribute__((target(TARGET))), apply_to = function)
#endif
#elif defined XLM_WITH_AVX512_BF16
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi2,avx512bf16")
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi2")
#endif

enum { W = 16 };
typedef __m512 vec;
typedef __m512d pairs_of_floats;
typedef __m512i words;
typedef uint64_t decisions;

#define OF(name) _mm512_##name

static inline __mmask16 first(int k) { return (__mmask16)((1u << k) - 1); }

static inline vec load(const float *p, int k) { return k == W ? _mm512_loadu_ps(p) : _mm512_maskz_loadu_ps(first(k), p); }

static inline void store(float *p, int k, vec v)
{
    if (k == W)
        _mm512_storeu_ps(p, v);
    else
        _mm512_mask_storeu_ps(p, first(k), v);
}

static inline vec magnitude(vec a) { return _mm512_abs_ps(a); }

static inline unsigned above(vec a, vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ); }
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

/* exp(x), within 1.1 ulp: 2^n exp(r), r = x − n ln 2 in two steps, n = x / ln 2 rounded. The polynomial of degree 6 interpolates
 * exp at the Chebyshev nodes of |r| <= ln(2) / 2. SLEEF's function takes three times as long, because loops must call it. x is
 * clamped to slightly beyond the range in which exp(x) is finite and not 0 as a float; the second operand of min and max keeps a
 * NaN. */
static inline vec exponential(vec x)
{
    static const float P[] = {1, 1, 0.5f, 0.16666415f, 0.04166635f, 0.008375134f, 0.0013941119f};
    x = _mm512_min_ps(_mm512_set1_ps(89), _mm512_max_ps(_mm512_set1_ps(-104), x));
    const vec n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504f)),
                                       _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    vec r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.6931472f), x);
    r = _mm512_fnmadd_ps(n, _mm512_set1_ps(-1.9046542e-9f), r);
    vec p = _mm512_set1_ps(P[6]);
    for (int i = 5; i >= 0; i--)
        p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(P[i]));
    return _mm512_scalef_ps(p, n);
}

static inline words wide(uint32_t word) { return _mm512_set1_epi64(word); }
static inline words counting(void) { return _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7); }
static inline words xor3(words a, words b, words c) { return _mm512_ternarylogic_epi64(a, b, c, 0x96); }
static inline words odd_words(words a, words b) { return _mm512_mask_blend_epi32(0xaaaa, a, b); }

static inline decisions keep_mask(words low, words high, words threshold)
{
    return _pdep_u64(_mm512_cmpge_epu16_mask(low, threshold), 0x0f0f0f0f0f0f0f0fu) |
           _pdep_u64(_mm512_cmpge_epu16_mask(high, threshold), 0xf0f0f0f0f0f0f0f0u);
}

static inline words bits_of(vec v) { return _mm512_castps_si512(v); }
static inline vec float_bits(words w) { return _mm512_castsi512_ps(w); }

static inline words halves(const uint16_t *p, int k)
{
    const void *at = p;
    return _mm512_cvtepu16_epi32(k == W ? _mm256_loadu_si256(at) : _mm256_maskz_loadu_epi16(first(k), p));
}

static inline words both(words a, words b) { return _mm512_and_si512(a, b); }
static inline words either(words a, words b) { return _mm512_or_si512(a, b); }

static inline void store_words(uint16_t *p, int k, words w)
{
    if (k == W)
        _mm512_storeu_si512(p, w);
    else
        _mm512_mask_storeu_epi32(p, first(k), w);
}

#define PAST
static inline void store_past(float *p, vec v) { _mm512_stream_ps(p, v); }

#define INTERLEAVED
static inline void store_interleaved(uint16_t *p, const uint16_t *a, const uint16_t *b, bool past)
{
    const words x = _mm512_loadu_si512(a), y = _mm512_loadu_si512(b);
    const words low = _mm512_unpacklo_epi16(x, y), high = _mm512_unpackhi_epi16(x, y); /* of each quarter */
    const words order = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), four = _mm512_set1_epi64(4);
    const words first_half = _mm512_permutex2var_epi64(low, order, high);
    const words second_half = _mm512_permutex2var_epi64(low, _mm512_add_epi64(order, four), high);
    if (past) {
        _mm512_stream_si512((void *)p, first_half);
        _mm512_stream_si512((void *)(p + 2 * W), second_half);
    } else {
        _mm512_storeu_si512(p, first_half);
        _mm512_storeu_si512(p + 2 * W, second_half);
    }
}

#ifdef XLM_WITH_AVX512_BF16
#define NATIVE_BFLOAT16
static inline vec add_pairs(vec a, vec b, vec c) { return _mm512_dpbf16_ps(c, (__m512bh)a, (__m512bh)b); }

static inline void store_rounded(uint16_t *p, int k, vec v)
{
    const __m256i halves = (__m256i)_mm512_cvtneps_pbh(v);
    if (k == W) /* stores under a mask take several times as long */
        _mm256_storeu_si256((__m256i *)(void *)p, halves);
    else
        _mm256_mask_storeu_epi16(p, first(k), halves);
}

static inline void store_rounded_pairs(uint16_t *p, int k, vec a, vec b)
{
    const words low = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(a));
    const words high = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(b));
    store_words(p, k, either(low, _mm512_slli_epi32(high, 16)));
}
#else
static inline words where_nan(vec x, words a, words b)
{
    return _mm512_mask_blend_epi32(_mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), b, a);
}

/* A zero with the same sign where bits are those of a denormal or zero; else w. */
static inline words without_denormals(words bits, words w)
{
    const __mmask16 small = _mm512_testn_epi32_mask(bits, _mm512_set1_epi32(0x7f800000));
    return _mm512_mask_and_epi32(w, small, bits, _mm512_set1_epi32((int)0x80000000u));
}

static inline void store_halves(uint16_t *p, int k, words w)
{
    if (k == W) /* stores under a mask take several times as long */
        _mm256_storeu_si256((__m256i *)(void *)p, _mm512_cvtepi32_epi16(w));
    else
        _mm512_mask_cvtepi32_storeu_epi16(p, first(k), w);
}
#endif

enum { TILE_ROWS = 6, TILE_VECTORS = 4 };

static inline void exchange_quarters(const vec *t, vec *r)
{
    const vec even0 = _mm512_shuffle_f32x4(t[0], t[4], 0x88), odd0 = _mm512_shuffle_f32x4(t[0], t[4], 0xdd);
    const vec even1 = _mm512_shuffle_f32x4(t[8], t[12], 0x88), odd1 = _mm512_shuffle_f32x4(t[8], t[12], 0xdd);
    r[0] = _mm512_shuffle_f32x4(even0, even1, 0x88);
    r[8] = _mm512_shuffle_f32x4(even0, even1, 0xdd);
    r[4] = _mm512_shuffle_f32x4(odd0, odd1, 0x88);
    r[12] = _mm512_shuffle_f32x4(odd0, odd1, 0xdd);
}

#include "kernels/x86.h"

static const xlm_kernels table = KERNELS("avx512");
#ifdef XLM_WITH_AVX512_BF16
const xlm_kernels *const xlm_kernels_avx512_bfloat16 = &table;
#else
const xlm_kernels *const xlm_kernels_avx512 = &table;
#endif

#ifdef __clang__
#pragma clang attribute pop
#endif
#elif defined XLM_WITH_AVX512_BF16
const xlm_kernels *const xlm_kernels_avx512_bfloat16 = NULL;
#else
const xlm_kernels *const xlm_kernels_avx512 = NULL;
#endif
