/* xlm-mpi: inner loops of activations besides GELU, of gates, and rotations. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Included after bodies.h, which says what must be defined. Each activation is x F(x), where F is a distribution function. */

/* ReLU, x F(x) where F is 0 below 0 and 1 from there on. */
static inline vec step_distribution(vec u, vec *density)
{
    *density = all(0);
    return where_negative(u, all(0), all(1));
}

/* Swish, x F(x) with the logistic function F(x) = 1 / (1 + exp(-x)), whose derivative is F(x) F(-x)
 * (Ramachandran et al. 2017). */
static inline vec logistic_distribution(vec u, vec *density)
{
    const vec e = exponential(minus(magnitude(u))), t = divide(all(1), plus(all(1), e)), rest = times(e, t);
    *density = times(t, rest);
    return where_negative(u, rest, t);
}

static void relu(int64_t n, const xlm_real *x, const xlm_real *bias, xlm_real *y, xlm_real *slope)
{
    gelu_of(step_distribution, as_floats, n, x, bias, y, slope);
}

static void relu_back(int64_t n, const xlm_real *x, const xlm_real *bias, const xlm_real *dy, xlm_real *dx, bool sum_dx,
                      xlm_real *dbias)
{
    gelu_back_of(step_distribution, n, x, bias, dy, dx, sum_dx, dbias);
}

static void swish(int64_t n, const xlm_real *x, const xlm_real *bias, xlm_real *y, xlm_real *slope)
{
    gelu_of(logistic_distribution, as_floats, n, x, bias, y, slope);
}

static void swish_back(int64_t n, const xlm_real *x, const xlm_real *bias, const xlm_real *dy, xlm_real *dx, bool sum_dx,
                       xlm_real *dbias)
{
    gelu_back_of(logistic_distribution, n, x, bias, dy, dx, sum_dx, dbias);
}

static void relu_bfloat16(int64_t n, const xlm_real *x, const xlm_real *bias, uint16_t *y, uint16_t *slope)
{
    gelu_of(step_distribution, as_bfloat16, n, x, bias, y, slope);
}

static void swish_bfloat16(int64_t n, const xlm_real *x, const xlm_real *bias, uint16_t *y, uint16_t *slope)
{
    gelu_of(logistic_distribution, as_bfloat16, n, x, bias, y, slope);
}

/* y = u F(u) v of the first and the last n of 2 n numbers; slope: dy/du, active: dy/dv = u F(u). */
INLINE void gate_of(distribution_of *of, keep_values *keep_in, int64_t n, const xlm_real *x, const xlm_real *bias, void *y,
                    void *slope, void *active)
{
    const xlm_real *gate_bias = bias != NULL ? bias + n : NULL;
    for (int64_t i = 0; i < n; i += W) {
        const int k = lanes(n - i);
        const vec u = biased(x, bias, i, k), v = biased(x + n, gate_bias, i, k);
        vec density;
        const vec distribution = of(u, &density), a = times(u, distribution);
        keep_in(y, i, k, times(a, v));
        if (slope == NULL)
            continue;
        keep_in(slope, i, k, times(fma(u, density, distribution), v));
        keep_in(active, i, k, a);
    }
}

#define GATE(name, of)                                                                                                 \
    static void name##_gate(int64_t n, const xlm_real *x, const xlm_real *bias, xlm_real *y, xlm_real *slope, xlm_real *active) \
    {                                                                                                                  \
        gate_of(of, as_floats, n, x, bias, y, slope, active);                                                          \
    }                                                                                                                  \
    static void name##_gate_bfloat16(int64_t n, const xlm_real *x, const xlm_real *bias, uint16_t *y, uint16_t *slope, \
                                     uint16_t *active)                                                                 \
    {                                                                                                                  \
        gate_of(of, as_bfloat16, n, x, bias, y, slope, active);                                                        \
    }
GATE(gelu, normal_distribution)
GATE(gelu_tanh, tanh_distribution)
GATE(relu, step_distribution)
GATE(swish, logistic_distribution)

/* Pairs (i, i + w/2) of each head turned by angles whose cosines and sines are given; back: by their negatives. */
static void rotate(int64_t heads, int64_t w, const xlm_real *turns, bool back, xlm_real *x)
{
    const int64_t half = w / 2;
    for (int64_t h = 0; h < heads; h++, x += w)
        for (int64_t i = 0; i < half; i += W) {
            const int k = lanes(half - i);
            const vec c = load(turns + i, k), s = back ? minus(load(turns + half + i, k)) : load(turns + half + i, k);
            const vec a = load(x + i, k), b = load(x + half + i, k);
            store(x + i, k, fma(a, c, minus(times(b, s))));
            store(x + half + i, k, fma(b, c, times(a, s)));
        }
}

static void rotate_bfloat16(int64_t heads, int64_t w, const xlm_real *turns, uint16_t *x)
{
    const int64_t half = w / 2;
    for (int64_t h = 0; h < heads; h++, x += w)
        for (int64_t i = 0; i < half; i += W) {
            const int k = lanes(half - i);
            const vec c = load(turns + i, k), s = load(turns + half + i, k);
            const vec a = value_of(halves(x + i, k)), b = value_of(halves(x + half + i, k));
            store_rounded(x + i, k, fma(a, c, minus(times(b, s))));
            store_rounded(x + half + i, k, fma(b, c, times(a, s)));
        }
}
