/* xlm-mpi: the inner loops, written once over a vector type. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * avx512.c, avx2.c, neon.c and portable.c include this file after they have defined
 *     W, vec                            lanes, vector
 *     load(p, k), store(p, k, v)        the first k <= W elements; the other lanes are zero, and not stored
 *     all(value), plus, times, fma(a, b, c) = a b + c, larger, exponential
 *     normal_distribution(x, &density)  Φ(x) and φ(x)
 *     smaller, divide, minus(a) = -a, magnitude, where_negative(x, a, b) = x < 0 ? a : b
 *     sum_of(v), largest_of(v)          over lanes
 *     chosen(bits, i, k, v)             lane j < k: v where bit i + j of the array is set, else 0; i a multiple of W
 *     store_rounded(p, k, v)            k lanes as bfloat16
 *     store_rounded_pairs(p, k, a, b)   the same of two vectors, the lanes of a and b in turn
 *     halves(p, k), value_of(w)         k numbers of 16 bits in the lower halves of lanes; the bfloat16 there as floats
 *     pair(a, b), store_words(p, k, w)  the lower halves of a and b in one lane of 32 bits each; k such lanes
 *     keep_bits                         the function of the table
 * and may define
 *     INTERLEAVED                       there is store_interleaved(p, a, b, past): 2 W numbers of 16 bits of a and b in turn,
 *                                       past the caches or not
 *     PAST                              there is store_past(p, v): a vector past the caches
 * Each translation unit has its own macros and functions. */

#define INLINE static inline __attribute__((always_inline))
/* Put it before a loop over an array of vectors that must stay in registers. */
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

static inline int lanes(int64_t left) { return left < W ? (int)left : W; }

static inline void put(xlm_real *y, int k, vec value, bool sum)
{
    store(y, k, sum ? plus(load(y, k), value) : value);
}

static void add(int64_t n, const xlm_real *a, const xlm_real *b, xlm_real *y)
{
    for (int64_t i = 0; i < n; i += W) {
        const int k = lanes(n - i);
        store(y + i, k, plus(load(a + i, k), load(b + i, k)));
    }
}

static void multiply(int64_t n, const xlm_real *a, const xlm_real *b, xlm_real *y, bool sum)
{
    for (int64_t i = 0; i < n; i += W) {
        const int k = lanes(n - i);
        put(y + i, k, times(load(a + i, k), load(b + i, k)), sum);
    }
}

static void scale(int64_t n, xlm_real factor, const xlm_real *x, xlm_real *y, bool sum)
{
    const vec f = all(factor);
    for (int64_t i = 0; i < n; i += W) {
        const int k = lanes(n - i);
        put(y + i, k, times(f, load(x + i, k)), sum);
    }
}

static void fill(int64_t n, xlm_real value, xlm_real *y, bool sum)
{
    const vec v = all(value);
    for (int64_t i = 0; i < n; i += W)
        put(y + i, lanes(n - i), v, sum);
}

static xlm_real sum(int64_t n, const xlm_real *x)
{
    vec s = all(0);
    for (int64_t i = 0; i < n; i += W)
        s = plus(s, load(x + i, lanes(n - i)));
    return sum_of(s);
}

static xlm_real dot(int64_t n, const xlm_real *a, const xlm_real *b)
{
    vec s = all(0);
    for (int64_t i = 0; i < n; i += W) {
        const int k = lanes(n - i);
        s = fma(load(a + i, k), load(b + i, k), s);
    }
    return sum_of(s);
}

static xlm_real maximum(int64_t n, const xlm_real *x)
{
    vec m = all(x[0]);
    int64_t i = 0;
    for (; i + W <= n; i += W)
        m = larger(m, load(x + i, W));
    xlm_real largest = largest_of(m);
    for (; i < n; i++)
        largest = x[i] > largest ? x[i] : largest;
    return largest;
}

/* Stores results i … i + k in its own way, or not at all. */
typedef void keep_values(void *y, int64_t i, int k, vec values);
INLINE void as_floats(void *y, int64_t i, int k, vec values) { store((xlm_real *)y + i, k, values); }
INLINE void as_bfloat16(void *y, int64_t i, int k, vec values) { store_rounded((uint16_t *)y + i, k, values); }
INLINE void nowhere(void *y, int64_t i, int k, vec values) { (void)y, (void)i, (void)k, (void)values; }

/* Σ exp(x − shift) of x[i] to x[end - 1]; `keep` stores the exponentials in y. */
INLINE xlm_real sum_some_exponentials(int64_t i, int64_t end, const xlm_real *x, xlm_real shift, keep_values *keep, void *y)
{
    const vec minus_shift = all(-shift);
    vec s = all(0);
    for (; i + W <= end; i += W) {
        const vec e = exponential(plus(load(x + i, W), minus_shift));
        keep(y, i, W, e);
        s = plus(s, e);
    }
    if (i < end) {
        const int k = (int)(end - i);
        xlm_real last[W]; /* the other lanes are ignored */
        store(last, W, exponential(plus(load(x + i, k), minus_shift)));
        keep(y, i, k, load(last, k));
        s = plus(s, load(last, k));
    }
    return sum_of(s);
}

/* Of all n. In floats, a word that is nearly certain would hide the hundred thousand others of a large vocabulary, each of which
 * is less than half of the last digit of its 1. */
INLINE double sum_exponentials(int64_t n, const xlm_real *x, xlm_real shift, keep_values *keep, void *y)
{
    enum { TERMS = 2048 }; /* that are added in floats */
    double sum = 0;
    for (int64_t i = 0; i < n; i += TERMS)
        sum += (double)sum_some_exponentials(i, n - i < TERMS ? n : i + TERMS, x, shift, keep, y);
    return sum;
}

static double exp_sum(int64_t n, const xlm_real *x, xlm_real shift, xlm_real *y)
{
    if (y == NULL)
        return sum_exponentials(n, x, shift, nowhere, NULL);
    return sum_exponentials(n, x, shift, as_floats, y);
}

static double exp_sum_bfloat16(int64_t n, const xlm_real *x, xlm_real shift, uint16_t *y)
{
    if (y == NULL)
        return sum_exponentials(n, x, shift, nowhere, NULL);
    return sum_exponentials(n, x, shift, as_bfloat16, y);
}

static void copy_past(int64_t n, const xlm_real *x, xlm_real *y)
{
    int64_t i = 0;
#ifdef PAST
    for (; i + W <= n; i += W)
        store_past(y + i, load(x + i, W));
#endif
    for (; i < n; i += W) {
        const int k = lanes(n - i);
        store(y + i, k, load(x + i, k));
    }
}

static void column_sums(int64_t rows, int64_t cols, const xlm_real *x, int64_t ldx, xlm_real *out)
{
    for (int64_t c = 0; c < cols; c += W) {
        const int k = lanes(cols - c);
        vec s = load(out + c, k);
        for (int64_t r = 0; r < rows; r++)
            s = plus(s, load(x + r * ldx + c, k));
        store(out + c, k, s);
    }
}

/* x + bias; without a bias, x. */
static inline vec biased(const xlm_real *x, const xlm_real *bias, int64_t i, int k)
{
    return bias != NULL ? plus(load(x + i, k), load(bias + i, k)) : load(x + i, k);
}

typedef vec distribution_of(vec x, vec *density);

/* x F(x) for a distribution F with density f, and d/dx x F(x) = F(x) + x f(x). */
INLINE void gelu_of(distribution_of *of, keep_values *keep, int64_t n, const xlm_real *x, const xlm_real *bias, void *y,
                    void *slope)
{
    for (int64_t i = 0; i < n; i += W) {
        const int k = lanes(n - i);
        const vec v = biased(x, bias, i, k);
        vec density;
        const vec distribution = of(v, &density);
        keep(y, i, k, times(v, distribution));
        if (slope != NULL)
            keep(slope, i, k, fma(v, density, distribution));
    }
}

INLINE void gelu_back_of(distribution_of *of, int64_t n, const xlm_real *x, const xlm_real *bias, const xlm_real *dy,
                         xlm_real *dx, bool sum_dx, xlm_real *dbias)
{
    for (int64_t i = 0; i < n; i += W) {
        const int k = lanes(n - i);
        const vec v = biased(x, bias, i, k);
        vec density;
        const vec distribution = of(v, &density);
        const vec d = times(load(dy + i, k), fma(v, density, distribution));
        if (dx != NULL)
            put(dx + i, k, d, sum_dx);
        if (dbias != NULL)
            put(dbias + i, k, d, true);
    }
}

static void gelu(int64_t n, const xlm_real *x, const xlm_real *bias, xlm_real *y, xlm_real *slope)
{
    gelu_of(normal_distribution, as_floats, n, x, bias, y, slope);
}

static void gelu_back(int64_t n, const xlm_real *x, const xlm_real *bias, const xlm_real *dy, xlm_real *dx, bool sum_dx,
                      xlm_real *dbias)
{
    gelu_back_of(normal_distribution, n, x, bias, dy, dx, sum_dx, dbias);
}

/* GELU with S(u) = (1 + tanh z) / 2 = 1 / (1 + exp(-2z)), z = √(2/π) (u + 0.044715 u³), instead of Φ(u) (Hendrycks, Gimpel 2016),
 * and its derivative S(u) S(-u) 2z' instead of φ(u). */
static inline vec tanh_distribution(vec u, vec *density)
{
    const vec squares = times(u, u), two_root = all((xlm_real)1.5957691216057307117); /* 2 √(2/π) */
    const vec twice_z = times(times(two_root, u), fma(squares, all((xlm_real)0.044715), all(1)));
    const vec e = exponential(minus(magnitude(twice_z))), t = divide(all(1), plus(all(1), e)), rest = times(e, t);
    /* e falls faster than z' grows, so squares are clamped to where both are finite and e is 0. */
    const vec held = smaller(squares, all((xlm_real)1e18));
    *density = times(times(times(t, rest), two_root), fma(held, all((xlm_real)0.134145), all(1)));
    return where_negative(twice_z, rest, t);
}

static void gelu_tanh(int64_t n, const xlm_real *x, const xlm_real *bias, xlm_real *y, xlm_real *slope)
{
    gelu_of(tanh_distribution, as_floats, n, x, bias, y, slope);
}

static void gelu_tanh_back(int64_t n, const xlm_real *x, const xlm_real *bias, const xlm_real *dy, xlm_real *dx, bool sum_dx,
                           xlm_real *dbias)
{
    gelu_back_of(tanh_distribution, n, x, bias, dy, dx, sum_dx, dbias);
}

static void slope_back(int64_t n, const xlm_real *slope, const xlm_real *x, xlm_real *y, xlm_real *dbias)
{
    for (int64_t i = 0; i < n; i += W) {
        const int k = lanes(n - i);
        const vec d = times(load(x + i, k), load(slope + i, k));
        store(y + i, k, d);
        if (dbias != NULL)
            put(dbias + i, k, d, true);
    }
}

static void layer_norm(int64_t cols, const xlm_real *x, const xlm_real *gamma, const xlm_real *beta, xlm_real epsilon,
                       xlm_real *y, xlm_real stats[2])
{
    const xlm_real mean = sum(cols, x) / (xlm_real)cols;
    const vec minus_mean = all(-mean);
    vec squares = all(0);
    int64_t i = 0;
    for (; i + W <= cols; i += W) {
        const vec centred = plus(load(x + i, W), minus_mean);
        squares = fma(centred, centred, squares);
    }
    xlm_real rest = 0;
    for (; i < cols; i++)
        rest += (x[i] - mean) * (x[i] - mean);
    const xlm_real inverse = 1 / square_root((sum_of(squares) + rest) / (xlm_real)cols + epsilon);
    const vec factor = all(inverse);
    for (i = 0; i < cols; i += W) {
        const int k = lanes(cols - i);
        const vec standard = times(plus(load(x + i, k), minus_mean), factor);
        store(y + i, k, fma(standard, load(gamma + i, k), beta != NULL ? load(beta + i, k) : all(0)));
    }
    stats[0] = mean;
    stats[1] = inverse;
}

/* With s = (x − mean) r, r = 1/sqrt(var + ε), g = γ dy:  dx = r (g − mean g − s · mean(g s)). */
static void layer_norm_back(int64_t cols, const xlm_real *x, const xlm_real *gamma, const xlm_real stats[2],
                            const xlm_real *dy, xlm_real *dx, bool sum_dx, xlm_real *dgamma, xlm_real *dbeta)
{
    const vec minus_mean = all(-stats[0]), factor = all(stats[1]);
    vec sum_g = all(0), sum_gs = all(0);
    for (int64_t i = 0; i < cols; i += W) {
        const int k = lanes(cols - i);
        const vec standard = times(plus(load(x + i, k), minus_mean), factor), d = load(dy + i, k);
        const vec g = times(d, load(gamma + i, k));
        sum_g = plus(sum_g, g);
        sum_gs = fma(g, standard, sum_gs);
        if (dbeta != NULL)
            store(dbeta + i, k, plus(load(dbeta + i, k), d));
        store(dgamma + i, k, fma(d, standard, load(dgamma + i, k)));
    }
    if (dx == NULL)
        return;
    const vec minus_mean_g = all(-sum_of(sum_g) / (xlm_real)cols), minus_mean_gs = all(-sum_of(sum_gs) / (xlm_real)cols);
    for (int64_t i = 0; i < cols; i += W) {
        const int k = lanes(cols - i);
        const vec standard = times(plus(load(x + i, k), minus_mean), factor);
        const vec g = times(load(dy + i, k), load(gamma + i, k));
        put(dx + i, k, times(factor, fma(standard, minus_mean_gs, plus(g, minus_mean_g))), sum_dx);
    }
}

static void keep(int64_t n, const xlm_real *x, const uint8_t *bits, xlm_real factor, xlm_real *y, bool sum)
{
    const vec f = all(factor);
    for (int64_t i = 0; i < n; i += W) {
        const int k = lanes(n - i);
        put(y + i, k, chosen(bits, i, k, times(f, load(x + i, k))), sum);
    }
}

/* v, with dropout if there are bits. */
static inline vec dropped(const uint8_t *bits, int64_t i, int k, vec factor, vec v)
{
    return bits != NULL ? chosen(bits, i, k, times(factor, v)) : v;
}

static void residual(int64_t cols, const xlm_real *x, const xlm_real *z, const xlm_real *bias, const uint8_t *bits,
                     xlm_real keep_scale, xlm_real *s)
{
    const vec factor = all(keep_scale);
    for (int64_t i = 0; i < cols; i += W) {
        const int k = lanes(cols - i);
        store(s + i, k, plus(load(x + i, k), dropped(bits, i, k, factor, biased(z, bias, i, k))));
    }
}

static void residual_back(int64_t cols, const xlm_real *ds, const uint8_t *bits, xlm_real keep_scale, xlm_real *dz, bool sum_dz,
                          xlm_real *dbias)
{
    const vec factor = all(keep_scale);
    for (int64_t i = 0; i < cols; i += W) {
        const int k = lanes(cols - i);
        const vec d = dropped(bits, i, k, factor, load(ds + i, k));
        if (dz != NULL)
            put(dz + i, k, d, sum_dz);
        if (dbias != NULL)
            put(dbias + i, k, d, true);
    }
}

static void to_bfloat16(int64_t n, const xlm_real *x, uint16_t *y)
{
    for (int64_t i = 0; i < n; i += W) {
        const int k = lanes(n - i);
        store_rounded(y + i, k, load(x + i, k));
    }
}

static void to_bfloat16_pairs(int64_t n, const xlm_real *x, const xlm_real *z, uint16_t *y)
{
    for (int64_t i = 0; i < n; i += W) {
        const int k = lanes(n - i);
        store_rounded_pairs(y + 2 * i, k, load(x + i, k), z != NULL ? load(z + i, k) : all(0));
    }
}

static void bfloat16_pairs(int64_t n, const uint16_t *x, const uint16_t *z, uint16_t *y, bool past)
{
    int64_t i = 0;
#ifdef INTERLEAVED
    for (; z != NULL && i + 2 * W <= n; i += 2 * W)
        store_interleaved(y + 2 * i, x + i, z + i, past);
#else
    (void)past;
#endif
    for (; i < n; i += W) {
        const int k = lanes(n - i);
        store_words(y + 2 * i, k, z != NULL ? pair(halves(x + i, k), halves(z + i, k)) : halves(x + i, k));
    }
}

static void gelu_bfloat16(int64_t n, const xlm_real *x, const xlm_real *bias, uint16_t *y, uint16_t *slope)
{
    gelu_of(normal_distribution, as_bfloat16, n, x, bias, y, slope);
}

static void gelu_tanh_bfloat16(int64_t n, const xlm_real *x, const xlm_real *bias, uint16_t *y, uint16_t *slope)
{
    gelu_of(tanh_distribution, as_bfloat16, n, x, bias, y, slope);
}

static void slope_back_bfloat16(int64_t n, const uint16_t *slope, const xlm_real *x, uint16_t *y, xlm_real *dbias)
{
    for (int64_t i = 0; i < n; i += W) {
        const int k = lanes(n - i);
        const vec d = times(load(x + i, k), value_of(halves(slope + i, k)));
        store_rounded(y + i, k, d);
        if (dbias != NULL)
            put(dbias + i, k, d, true);
    }
}

/* Squares of floats are exact in double, so the bits depend neither on W nor on whether additions are fused with them. */
static double sum_of_squares(int64_t n, const xlm_real *x)
{
    enum { SUMS = 16 };
    double sum[SUMS] = {0};
    int64_t i = 0;
    for (; i + SUMS <= n; i += SUMS) {
#pragma omp simd
        for (int k = 0; k < SUMS; k++)
            sum[k] += (double)x[i + k] * (double)x[i + k];
    }
    for (; i < n; i++)
        sum[i % SUMS] += (double)x[i] * (double)x[i];
    for (int half = SUMS / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++)
            sum[k] += sum[k + half];
    return sum[0];
}

static void scale_bfloat16(int64_t n, xlm_real factor, const uint16_t *x, xlm_real *y)
{
    const vec f = all(factor);
    for (int64_t i = 0; i < n; i += W) {
        const int k = lanes(n - i);
        store(y + i, k, times(f, value_of(halves(x + i, k))));
    }
}

static xlm_real dot_bfloat16(int64_t n, const uint16_t *a, const xlm_real *b)
{
    vec s = all(0);
    for (int64_t i = 0; i < n; i += W) {
        const int k = lanes(n - i);
        s = fma(value_of(halves(a + i, k)), load(b + i, k), s);
    }
    return sum_of(s);
}

/* Numbers i … i + k of an array of floats or bfloat16. */
typedef vec read_values(const void *x, int64_t i, int k);
INLINE vec of_floats(const void *x, int64_t i, int k) { return load((const xlm_real *)x + i, k); }
INLINE vec of_bfloat16(const void *x, int64_t i, int k) { return value_of(halves((const uint16_t *)x + i, k)); }

/* This and the next function read each row from beginning to end, for all heads. */
INLINE void dot_rows_of(read_values *read, int64_t n, const int32_t *rows, int64_t heads, int64_t w, const xlm_real *q,
                        const void *keys, xlm_real *p)
{
    for (int64_t j = 0; j < n; j++) {
        const int64_t key = rows[j] * heads * w;
        for (int64_t h = 0; h < heads; h++) {
            vec s = all(0);
            for (int64_t i = h * w; i < h * w + w; i += W) {
                const int k = lanes(h * w + w - i);
                s = fma(load(q + i, k), read(keys, key + i, k), s);
            }
            p[h * n + j] = sum_of(s);
        }
    }
}

INLINE void sum_rows_of(read_values *read, int64_t n, const int32_t *rows, int64_t heads, int64_t w, const xlm_real *p,
                        const void *values, xlm_real *y)
{
    fill(heads * w, 0, y, false);
    for (int64_t j = 0; j < n; j++) {
        const int64_t value = rows[j] * heads * w;
        for (int64_t h = 0; h < heads; h++) {
            const vec weight = all(p[h * n + j]);
            for (int64_t i = h * w; i < h * w + w; i += W) {
                const int k = lanes(h * w + w - i);
                store(y + i, k, fma(weight, read(values, value + i, k), load(y + i, k)));
            }
        }
    }
}

static void dot_rows(int64_t n, const int32_t *rows, int64_t heads, int64_t w, const xlm_real *q, const xlm_real *keys,
                     xlm_real *p)
{
    dot_rows_of(of_floats, n, rows, heads, w, q, keys, p);
}

static void dot_rows_bfloat16(int64_t n, const int32_t *rows, int64_t heads, int64_t w, const xlm_real *q, const uint16_t *keys,
                              xlm_real *p)
{
    dot_rows_of(of_bfloat16, n, rows, heads, w, q, keys, p);
}

static void sum_rows(int64_t n, const int32_t *rows, int64_t heads, int64_t w, const xlm_real *p, const xlm_real *values,
                     xlm_real *y)
{
    sum_rows_of(of_floats, n, rows, heads, w, p, values, y);
}

static void sum_rows_bfloat16(int64_t n, const int32_t *rows, int64_t heads, int64_t w, const xlm_real *p, const uint16_t *values,
                              xlm_real *y)
{
    sum_rows_of(of_bfloat16, n, rows, heads, w, p, values, y);
}

#define KERNELS(of)                                                                                                    \
    {                                                                                                                  \
        .activation = {[XLM_GELU] = {gelu, gelu_back, gelu_bfloat16, gelu_gate, gelu_gate_bfloat16},                   \
                       [XLM_GELU_TANH] = {gelu_tanh, gelu_tanh_back, gelu_tanh_bfloat16, gelu_tanh_gate,               \
                                          gelu_tanh_gate_bfloat16},                                                    \
                       [XLM_RELU] = {relu, relu_back, relu_bfloat16, relu_gate, relu_gate_bfloat16},                   \
                       [XLM_SWISH] = {swish, swish_back, swish_bfloat16, swish_gate, swish_gate_bfloat16}},            \
        .rotate = rotate, .rotate_bfloat16 = rotate_bfloat16,                                                          \
        .name = of, .add = add, .multiply = multiply, .scale = scale, .fill = fill, .sum = sum, .dot = dot,            \
        .copy_past = copy_past, .sum_of_squares = sum_of_squares,                                                      \
        .maximum = maximum, .exp_sum = exp_sum, .column_sums = column_sums,                                           \
        .layer_norm = layer_norm, .layer_norm_back = layer_norm_back, .keep_bits = keep_bits, .keep = keep,            \
        .residual = residual, .residual_back = residual_back,                                                          \
        .to_bfloat16 = to_bfloat16, .to_bfloat16_pairs = to_bfloat16_pairs, .bfloat16_pairs = bfloat16_pairs,          \
        .slope_back = slope_back, .slope_back_bfloat16 = slope_back_bfloat16,                                          \
        .transpose = transpose, .transpose_bfloat16 = transpose_bfloat16, .product = product, .softmax = softmax,      \
        .softmax_back = softmax_back, .product_bfloat16 = product_bfloat16, .dot_bfloat16 = dot_bfloat16,              \
        .exp_sum_bfloat16 = exp_sum_bfloat16, .scale_bfloat16 = scale_bfloat16,                                        \
        .dot_rows = dot_rows, .dot_rows_bfloat16 = dot_rows_bfloat16,                                                  \
        .sum_rows = sum_rows, .sum_rows_bfloat16 = sum_rows_bfloat16,                                                  \
        .positions_forward = positions_forward, .positions_close = positions_close, .positions_back = positions_back,  \
    }
