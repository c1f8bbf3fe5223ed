/* xlm-mpi: kernels of every instruction set against plain loops in double precision. SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels_fixture.h"

#include <string.h>

/* Lengths around every vector's width; GUARD floats after the end must stay as they are. */
enum { MAX_SIZE = 70, GUARD = 16 };
static const float UNTOUCHED = 12345.0f;

static void start_output(float y[MAX_SIZE + GUARD], float value)
{
    for (int i = 0; i < MAX_SIZE + GUARD; i++)
        y[i] = i < MAX_SIZE ? value : UNTOUCHED;
}

static void expect_untouched(const xlm_kernels *kernel, const char *what, int64_t n, const float *y, float value)
{
    for (int64_t i = n; i < MAX_SIZE + GUARD; i++)
        if (y[i] != (i < MAX_SIZE ? value : UNTOUCHED))
            fail_msg("%s %s, n = %d: wrote element %d", kernel->name, what, (int)n, (int)i);
}

static void check_elementwise(const xlm_kernels *kernel, int64_t n)
{
    float *a = numbers(1, n), *b = numbers(2, n), y[MAX_SIZE + GUARD];
    for (int sum = 0; sum < 2; sum++) {
        const double before = sum ? 0.5 : 0;
        start_output(y, 0.5f);
        kernel->scale(n, 1.25f, a, y, sum);
        for (int64_t i = 0; i < n; i++)
            expect(kernel, "scale", n, y[i], before + 1.25 * a[i]);
        expect_untouched(kernel, "scale", n, y, 0.5f);
        start_output(y, 0.5f);
        kernel->fill(n, 1.25f, y, sum);
        for (int64_t i = 0; i < n; i++)
            expect(kernel, "fill", n, y[i], before + 1.25);
        expect_untouched(kernel, "fill", n, y, 0.5f);
        start_output(y, 0.5f);
        kernel->multiply(n, a, b, y, sum);
        for (int64_t i = 0; i < n; i++)
            expect(kernel, "multiply", n, y[i], before + (double)a[i] * b[i]);
        expect_untouched(kernel, "multiply", n, y, 0.5f);
    }
    start_output(y, 0.5f);
    kernel->add(n, a, b, y);
    for (int64_t i = 0; i < n; i++)
        expect(kernel, "add", n, y[i], (double)a[i] + b[i]);
    expect_untouched(kernel, "add", n, y, 0.5f);
    g_free(a);
    g_free(b);
}

static void check_reductions(const xlm_kernels *kernel, int64_t n)
{
    float *a = numbers(3, n), *b = numbers(4, n), y[MAX_SIZE + GUARD];
    double sum = 0, dot = 0, largest = a[0], exponentials = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += a[i];
        dot += (double)a[i] * b[i];
        largest = fmax(largest, a[i]);
    }
    expect(kernel, "sum", n, kernel->sum(n, a), sum);
    double squares = 0;
    for (int64_t i = 0; i < n; i++)
        squares += (double)a[i] * (double)a[i];
    const double found = kernel->sum_of_squares(n, a), portable = xlm_kernels_find("portable")->sum_of_squares(n, a);
    if (fabs(found - squares) > 1e-14 * squares || found != portable)
        fail_msg("%s sum_of_squares, n = %d: %.17g, %.17g in the portable table, wanted %.17g", kernel->name, (int)n, found,
                 portable, squares);
    expect(kernel, "dot", n, kernel->dot(n, a, b), dot);
    assert_true(kernel->maximum(n, a) == (float)largest);
    start_output(y, 0.5f);
    const float total = kernel->exp_sum(n, a, (float)largest, y);
    for (int64_t i = 0; i < n; i++) {
        expect(kernel, "exp_sum", n, y[i], exp((double)a[i] - (float)largest));
        exponentials += exp((double)a[i] - (float)largest);
    }
    expect(kernel, "exp_sum", n, total, exponentials);
    assert_true(kernel->exp_sum(n, a, (float)largest, NULL) == total);
    expect_untouched(kernel, "exp_sum", n, y, 0.5f);
    /* All below zero: lanes past the end must not count as zeros. */
    for (int64_t i = 0; i < n; i++)
        a[i] = -3 - (float)i;
    assert_true(kernel->maximum(n, a) == -3);
    g_free(a);
    g_free(b);
}

/* Two heads of w numbers; three rows of four, not in order; floats, and the same numbers as bfloat16. */
static void check_cached_rows(const xlm_kernels *kernel, int64_t w)
{
    enum { HEADS = 2, N = 3, ROWS = 4 };
    static const int32_t rows[N] = {2, 0, 3};
    const int64_t d = HEADS * w;
    float *q = numbers(30, d), *x = numbers(31, ROWS * d), *weights = numbers(32, HEADS * N), p[HEADS * N], y[MAX_SIZE + GUARD];
    uint16_t *rounded = g_new(uint16_t, ROWS * d);
    kernel->to_bfloat16(ROWS * d, x, rounded);
    kernel->scale_bfloat16(ROWS * d, 1, rounded, x);
    for (int from_rounded = 0; from_rounded < 2; from_rounded++) {
        if (from_rounded)
            kernel->dot_rows_bfloat16(N, rows, HEADS, w, q, rounded, p);
        else
            kernel->dot_rows(N, rows, HEADS, w, q, x, p);
        for (int h = 0; h < HEADS; h++)
            for (int j = 0; j < N; j++) {
                double dot = 0;
                for (int64_t i = h * w; i < h * w + w; i++)
                    dot += (double)q[i] * x[rows[j] * d + i];
                expect(kernel, "dot_rows", w, p[h * N + j], dot);
            }
        start_output(y, 0.5f);
        if (from_rounded)
            kernel->sum_rows_bfloat16(N, rows, HEADS, w, weights, rounded, y);
        else
            kernel->sum_rows(N, rows, HEADS, w, weights, x, y);
        for (int64_t i = 0; i < d; i++) {
            double sum = 0;
            for (int j = 0; j < N; j++)
                sum += (double)weights[i / w * N + j] * x[rows[j] * d + i];
            expect(kernel, "sum_rows", w, y[i], sum);
        }
        expect_untouched(kernel, "sum_rows", d, y, 0.5f);
    }
    g_free(q);
    g_free(x);
    g_free(weights);
    g_free(rounded);
}

/* ---- a hidden Markov model of positions ---- */

/* The model of n positions and what the kernels write. All arrays are exactly as long as kernels.h says. */
struct walk {
    int n;
    float *jump, *backwards, *leave, *factors, *ahead, *emission, *before, *beta;
    float *alpha, *at, *previous_beta, *jumps, *posterior;
    int32_t *list;
    xlm_positions positions;
};

static float positive(uint32_t which, int64_t i) { return 0.01f + fabsf(number(which, i)); }

/* n numbers and zeros. */
static float *with_zeros(uint32_t which, int64_t n, int64_t size)
{
    float *x = g_new0(float, size);
    for (int64_t i = 0; i < n; i++)
        x[i] = positive(which, i);
    return x;
}

static float *padded(uint32_t which, int64_t n) { return with_zeros(which, n, (n + XLM_LANES - 1) / XLM_LANES * XLM_LANES); }

static struct walk start_walk(int n)
{
    struct walk w = {.n = n, .jump = with_zeros(21, 2 * n + 1, 2 * n + 1 + XLM_LANES),
                     .backwards = g_new0(float, 2 * n + 1 + XLM_LANES),
                     .leave = padded(22, n), .list = g_new(int32_t, n), .posterior = g_new(float, MAX_SIZE + GUARD),
                     .factors = g_new0(float, 1 + (n + XLM_LANES - 1) / XLM_LANES * XLM_LANES),
                     .ahead = g_new0(float, 3 * n + XLM_LANES), .emission = numbers(23, n), .before = padded(25, n),
                     .beta = padded(26, n), .alpha = padded(27, n), .at = padded(27, n), .previous_beta = padded(27, n),
                     .jumps = with_zeros(28, 2 * n, 2 * n + XLM_LANES)};
    for (int d = 0; d <= 2 * n; d++)
        w.backwards[d] = w.jump[2 * n - d];
    /* Two of three positions are negligible. */
    for (int k = 0; k < n; k++) {
        w.emission[k] = fabsf(w.emission[k]) * (k % 3 == 0 ? 1 : 1e-8f);
        w.before[k] *= k % 3 == 0 ? 1 : 1e-8f;
    }
    start_output(w.posterior, 0.5f);
    w.positions = (xlm_positions){.n = n, .negligible = 1e-5f, .jump = w.jump, .backwards = w.backwards, .leave = w.leave,
                                  .factors = w.factors + 1, .ahead = w.ahead + n, .list = w.list};
    return w;
}

static void end_walk(struct walk *w)
{
    void *const all[] = {w->jump, w->backwards, w->leave, w->factors, w->ahead, w->emission, w->before, w->beta, w->alpha, w->at,
                         w->previous_beta, w->jumps, w->posterior, w->list};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        g_free(all[i]);
}

/* Are exactly those positions listed whose value is more than the limit, and are numbers zero past the last position? */
static void check_listed(const xlm_kernels *kernel, const struct walk *w, const double *value, double limit, const float *array)
{
    int32_t terms = 0;
    for (int k = 0; k < w->n; k++)
        if (value[k] > limit && (terms >= w->positions.terms || w->list[terms++] != k))
            fail_msg("%s positions, n = %d: %d is not listed", kernel->name, w->n, k);
    if (terms != w->positions.terms)
        fail_msg("%s positions, n = %d: %d are listed, not %d", kernel->name, w->n, w->positions.terms, terms);
    for (int k = w->n; k < (w->n + XLM_LANES - 1) / XLM_LANES * XLM_LANES; k++)
        if (array[k] != 0)
            fail_msg("%s positions, n = %d: number %d is %g", kernel->name, w->n, k, (double)array[k]);
}

/* From two positions, or from before the first, to all. */
static void check_forward(const xlm_kernels *kernel, struct walk *w, bool first)
{
    const double empty = 0.03;
    double alpha[MAX_SIZE], at[MAX_SIZE], sum = empty;
    const int32_t list[] = {first ? -1 : 0, w->n - 1};
    w->positions.terms = first || w->n == 1 ? 1 : 2;
    memcpy(w->list, list, sizeof *list * (size_t)w->positions.terms);
    w->factors[0] = 0.7f;
    for (int i = 0; i < w->n; i++)
        w->factors[1 + i] = 0.2f + 0.01f * (float)i;
    for (int k = 0; k < w->n; k++) {
        alpha[k] = 0;
        for (int t = 0; t < w->positions.terms; t++)
            alpha[k] += (double)w->factors[1 + list[t]] * (double)w->jump[k - list[t] + w->n];
        sum += alpha[k] *= (double)w->emission[k];
    }
    const float stay = kernel->positions_forward(&w->positions, w->emission, w->before, (float)empty, w->alpha, w->at);
    expect(kernel, "positions_forward: stay", w->n, (double)stay, empty / sum);
    for (int k = 0; k < w->n; k++) {
        at[k] = alpha[k] / sum + empty / sum * (double)w->before[k];
        expect(kernel, "positions_forward: alpha", w->n, (double)w->alpha[k], alpha[k] / sum);
        expect(kernel, "positions_forward: at", w->n, (double)w->at[k], at[k]);
        expect(kernel, "positions_forward: factors", w->n, (double)w->factors[1 + k], at[k] * (double)w->leave[k]);
    }
    check_listed(kernel, w, at, 1e-5, w->at);
}

static void check_back(const xlm_kernels *kernel, struct walk *w)
{
    const double stay = 0.3, empty = 0.04;
    const int n = w->n;
    double ahead[MAX_SIZE], before[MAX_SIZE], both[MAX_SIZE], here = 0, none = 0, largest = 0, all = 0;
    for (int k = 0; k < n; k++) {
        here += (double)w->alpha[k] * (double)w->beta[k];
        none += stay * (double)w->before[k] * (double)w->beta[k];
        ahead[k] = (double)w->emission[k] * (double)w->beta[k];
        largest = fmax(largest, ahead[k]);
    }
    const float got = kernel->positions_close(&w->positions, w->emission, w->alpha, w->before, w->beta, (float)stay,
                                              w->posterior);
    expect(kernel, "positions_close: empty", n, (double)got, none / (here + none));
    for (int k = 0; k < n; k++)
        expect(kernel, "positions_close: posterior", n, (double)w->posterior[k],
               (double)w->alpha[k] * (double)w->beta[k] / (here + none));
    expect_untouched(kernel, "positions_close", n, w->posterior, 0.5f);
    check_listed(kernel, w, ahead, 1e-5 * largest, w->ahead + n);
    const int32_t terms = w->positions.terms;
    for (int count = 0; count < 2; count++) {
        /* The list of positions_close, again. */
        w->positions.terms = 0;
        for (int k = 0; k < n; k++) {
            ahead[k] = ahead[k] > 1e-5 * largest ? ahead[k] : 0;
            if (ahead[k] > 0)
                w->list[w->positions.terms++] = k;
        }
        assert_int_equal(w->positions.terms, terms);
        kernel->positions_back(&w->positions, w->at, (float)empty, w->beta, w->previous_beta, count ? w->jumps : NULL);
        all = 0;
        for (int i = 0; i < n; i++) {
            before[i] = empty * (double)w->beta[i];
            for (int k = 0; k < n; k++)
                before[i] += (double)w->leave[i] * ahead[k] * (double)w->jump[k - i + n];
            all += (double)w->at[i] * before[i];
        }
        for (int i = 0; i < n; i++)
            expect(kernel, "positions_back: before", n, (double)w->previous_beta[i], before[i] / all);
    }
    for (int i = 0; i < n; i++)
        both[i] = (double)w->at[i] * before[i] / all;
    check_listed(kernel, w, both, 1e-5, w->previous_beta);
    for (int d = -n; d < n; d++) {
        double wanted = (double)positive(28, n + d);
        for (int i = MAX(0, -d); i < n && i + d < n; i++)
            if (both[i] > 1e-5)
                wanted += (double)w->at[i] * (double)w->leave[i] / all * ahead[i + d];
        expect(kernel, "positions_back: jumps", n, (double)w->jumps[n + d], wanted);
    }
}

static void check_positions(const xlm_kernels *kernel, int64_t n)
{
    struct walk w = start_walk((int)n);
    check_forward(kernel, &w, true);
    check_forward(kernel, &w, false);
    check_back(kernel, &w);
    end_walk(&w);
}

static void check_column_sums(const xlm_kernels *kernel, int64_t cols)
{
    enum { ROWS = 5 };
    const int64_t stride = cols + 3;
    float *x = numbers(5, ROWS * stride), y[MAX_SIZE + GUARD];
    start_output(y, 0.5f);
    kernel->column_sums(ROWS, cols, x, stride, y);
    for (int64_t c = 0; c < cols; c++) {
        double sum = 0.5;
        for (int r = 0; r < ROWS; r++)
            sum += x[r * stride + c];
        expect(kernel, "column_sums", cols, y[c], sum);
    }
    expect_untouched(kernel, "column_sums", cols, y, 0.5f);
    g_free(x);
}

/* The two forms of GELU: Φ, or its approximation, and its derivative. */
static double normal(double u) { return 0.5 * erfc(-u * M_SQRT1_2); }
static double normal_density(double u) { return exp(-0.5 * u * u) / sqrt(2 * M_PI); }
static double tanh_argument(double u) { return sqrt(2 / M_PI) * (u + 0.044715 * u * u * u); }
static double tanh_normal(double u) { return 0.5 * (1 + tanh(tanh_argument(u))); }

static double tanh_density(double u)
{
    const double t = tanh(tanh_argument(u));
    return 0.5 * (1 - t * t) * sqrt(2 / M_PI) * (1 + 3 * 0.044715 * u * u);
}

typedef struct gelu_form {
    const char *name, *back_name;
    void (*forward)(int64_t n, const float *x, const float *bias, float *y, float *slope);
    void (*back)(int64_t n, const float *x, const float *bias, const float *dy, float *dx, bool add, float *dbias);
    double (*distribution)(double u), (*density)(double u);
} gelu_form;

static gelu_form exact_form(const xlm_kernels *kernel)
{
    return (gelu_form){"gelu", "gelu_back", kernel->activation[XLM_GELU].forward, kernel->activation[XLM_GELU].back, normal,
                       normal_density};
}

static gelu_form tanh_form(const xlm_kernels *kernel)
{
    return (gelu_form){"gelu_tanh", "gelu_tanh_back", kernel->activation[XLM_GELU_TANH].forward,
                       kernel->activation[XLM_GELU_TANH].back, tanh_normal, tanh_density};
}

/* Without a bias, with one; its gradient wanted or not, and that of x. */
static void check_gelu(const xlm_kernels *kernel, gelu_form gelu, int64_t n, bool with_bias)
{
    float *x = numbers(6, n), *dy = numbers(7, n), *b = numbers(13, n), y[MAX_SIZE + GUARD], dbias[MAX_SIZE + GUARD];
    const float *bias = with_bias ? b : NULL;
    double u[MAX_SIZE];
    for (int64_t i = 0; i < n; i++)
        u[i] = with_bias ? (double)x[i] + b[i] : x[i];
    for (int with_slope = 0; with_slope < 2; with_slope++) {
        float slope[MAX_SIZE + GUARD];
        start_output(y, 0.5f);
        start_output(slope, 0.25f);
        gelu.forward(n, x, bias, y, with_slope ? slope : NULL);
        for (int64_t i = 0; i < n; i++) {
            const double wanted = gelu.distribution(u[i]) + u[i] * gelu.density(u[i]);
            expect(kernel, gelu.name, n, y[i], u[i] * gelu.distribution(u[i]));
            expect(kernel, gelu.name, n, slope[i], with_slope ? wanted : 0.25);
        }
        expect_untouched(kernel, gelu.name, n, y, 0.5f);
        expect_untouched(kernel, gelu.name, n, slope, 0.25f);
    }
    memcpy(y, x, sizeof *y * (size_t)n);
    gelu.forward(n, y, bias, y, NULL); /* in place */
    for (int64_t i = 0; i < n; i++)
        expect(kernel, gelu.name, n, y[i], u[i] * gelu.distribution(u[i]));
    for (int form = 0; form < 8; form++) {
        const bool sum = form & 1, want_x = form & 2, want_bias = form & 4;
        start_output(y, 0.5f);
        start_output(dbias, 0.25f);
        gelu.back(n, x, bias, dy, want_x ? y : NULL, sum, want_bias ? dbias : NULL);
        for (int64_t i = 0; i < n; i++) {
            const double d = dy[i] * (gelu.distribution(u[i]) + u[i] * gelu.density(u[i]));
            expect(kernel, gelu.back_name, n, y[i], !want_x ? 0.5 : sum ? 0.5 + d : d);
            expect(kernel, gelu.back_name, n, dbias[i], want_bias ? 0.25 + d : 0.25);
        }
        expect_untouched(kernel, gelu.back_name, n, y, 0.5f);
        expect_untouched(kernel, gelu.back_name, n, dbias, 0.25f);
    }
    g_free(x);
    g_free(dy);
    g_free(b);
}

static void check_slope(const xlm_kernels *kernel, int64_t n)
{
    float *slope = numbers(6, n), *x = numbers(7, n), y[MAX_SIZE + GUARD], dbias[MAX_SIZE + GUARD];
    for (int in_place = 0; in_place < 2; in_place++) {
        start_output(y, 0.5f);
        start_output(dbias, 0.25f);
        if (in_place)
            memcpy(y, x, sizeof *y * (size_t)n);
        kernel->slope_back(n, slope, in_place ? y : x, y, dbias);
        for (int64_t i = 0; i < n; i++) {
            expect(kernel, "slope_back", n, y[i], (double)slope[i] * x[i]);
            expect(kernel, "slope_back bias", n, dbias[i], 0.25 + (double)slope[i] * x[i]);
        }
        expect_untouched(kernel, "slope_back", n, y, 0.5f);
        expect_untouched(kernel, "slope_back bias", n, dbias, 0.25f);
    }
    g_free(slope);
    g_free(x);
}

static void check_copy_past(const xlm_kernels *kernel, int64_t n)
{
    float *x = numbers(14, n + 1);
    _Alignas(64) float y[MAX_SIZE + GUARD];
    start_output(y, 0.5f);
    kernel->copy_past(n, x + 1, y); /* x at any place */
    for (int64_t i = 0; i < n; i++)
        assert_true(y[i] == x[i + 1]);
    expect_untouched(kernel, "copy_past", n, y, 0.5f);
    g_free(x);
}

/* Tails: x Φ(x) neither overflows nor turns into a NaN. */
static void check_gelu_far_out(const xlm_kernels *kernel, gelu_form gelu)
{
    const float x[] = {-1e30f, -1000, -40, -14, 14, 40, 1000, 1e18f}, ones[] = {1, 1, 1, 1, 1, 1, 1, 1};
    float y[8], dx[8];
    gelu.forward(8, x, NULL, y, NULL);
    gelu.back(8, x, NULL, ones, dx, false, NULL);
    for (int i = 0; i < 8; i++) {
        expect(kernel, gelu.name, 8, y[i], x[i] > 0 ? x[i] : 0);
        expect(kernel, gelu.back_name, 8, dx[i], x[i] > 0);
    }
}

static void check_layer_norm(const xlm_kernels *kernel, int64_t n)
{
    float *x = numbers(8, n), *gamma = numbers(9, n), *beta = numbers(10, n), *dy = numbers(11, n), y[MAX_SIZE + GUARD], stats[2];
    double mean = 0, variance = 0, sum_g = 0, sum_gs = 0, s[MAX_SIZE];
    for (int64_t i = 0; i < n; i++)
        mean += (x[i] += 3) / (double)n;
    for (int64_t i = 0; i < n; i++)
        variance += (x[i] - mean) * (x[i] - mean) / (double)n;
    const double inverse = 1 / sqrt(variance + 0.01);
    start_output(y, 0.5f);
    kernel->layer_norm(n, x, gamma, beta, 0.01f, y, stats);
    expect(kernel, "layer_norm mean", n, stats[0], mean);
    expect(kernel, "layer_norm deviation", n, stats[1], inverse);
    for (int64_t i = 0; i < n; i++) {
        s[i] = (x[i] - mean) * inverse;
        expect(kernel, "layer_norm", n, y[i], s[i] * gamma[i] + beta[i]);
        sum_g += gamma[i] * dy[i];
        sum_gs += gamma[i] * dy[i] * s[i];
    }
    expect_untouched(kernel, "layer_norm", n, y, 0.5f);
    for (int sum = 0; sum < 2; sum++) {
        float dgamma[MAX_SIZE + GUARD], dbeta[MAX_SIZE + GUARD];
        start_output(y, 0.5f);
        start_output(dgamma, 0.25f);
        start_output(dbeta, 0.125f);
        kernel->layer_norm_back(n, x, gamma, stats, dy, y, sum, dgamma, dbeta);
        for (int64_t i = 0; i < n; i++) {
            const double dx = inverse * (gamma[i] * dy[i] - sum_g / (double)n - s[i] * sum_gs / (double)n);
            expect(kernel, "layer_norm_back", n, y[i], (sum ? 0.5 : 0) + dx);
            expect(kernel, "layer_norm_back gamma", n, dgamma[i], 0.25 + dy[i] * s[i]);
            expect(kernel, "layer_norm_back beta", n, dbeta[i], 0.125 + dy[i]);
        }
        expect_untouched(kernel, "layer_norm_back", n, y, 0.5f);
        expect_untouched(kernel, "layer_norm_back gamma", n, dgamma, 0.25f);
        expect_untouched(kernel, "layer_norm_back beta", n, dbeta, 0.125f);
    }
    g_free(x);
    g_free(gamma);
    g_free(beta);
    g_free(dy);
}

static void check_keep(const xlm_kernels *kernel, int64_t n)
{
    float *x = numbers(12, n), y[MAX_SIZE + GUARD];
    uint8_t *bits = g_new(uint8_t, (n + 7) / 8);
    for (int64_t i = 0; i < (n + 7) / 8; i++)
        bits[i] = (uint8_t)(i * 37 + 0x59);
    for (int sum = 0; sum < 2; sum++) {
        start_output(y, 0.5f);
        kernel->keep(n, x, bits, 1.5f, y, sum);
        for (int64_t i = 0; i < n; i++)
            expect(kernel, "keep", n, y[i], (sum ? 0.5 : 0) + (bits[i / 8] >> i % 8 & 1 ? 1.5 * x[i] : 0));
        expect_untouched(kernel, "keep", n, y, 0.5f);
    }
    g_free(x);
    g_free(bits);
}

/* One row: with or without bias, with or without bits, in place or not. */
static void check_residual(const xlm_kernels *kernel, int64_t n, bool with_bias, const uint8_t *bits)
{
    float *x = numbers(14, n), *z = numbers(15, n), *b = numbers(16, n), y[MAX_SIZE + GUARD];
    for (int in_place = 0; in_place <= 1; in_place++) {
        start_output(y, 0.5f);
        if (in_place)
            memcpy(y, z, sizeof(float) * (size_t)n);
        kernel->residual(n, x, in_place ? y : z, with_bias ? b : NULL, bits, 1.5f, y);
        for (int64_t i = 0; i < n; i++) {
            const double sum = (double)z[i] + (with_bias ? b[i] : 0);
            expect(kernel, "residual", n, y[i], x[i] + (bits == NULL ? sum : bits[i / 8] >> i % 8 & 1 ? 1.5 * sum : 0));
        }
        expect_untouched(kernel, "residual", n, y, 0.5f);
    }
    g_free(x);
    g_free(z);
    g_free(b);
}

/* dz wanted, to be added to, in place of ds, or not wanted; the bias's gradient wanted or not. */
static void check_residual_back(const xlm_kernels *kernel, int64_t n, const uint8_t *bits)
{
    enum { ASSIGN, ADD, IN_PLACE, NONE, FORMS };
    float *ds = numbers(17, n), dz[MAX_SIZE + GUARD], dbias[MAX_SIZE + GUARD];
    for (int form = 0; form < 2 * FORMS; form++) {
        const int way = form % FORMS;
        start_output(dz, 0.5f);
        start_output(dbias, 0.25f);
        if (way == IN_PLACE)
            memcpy(dz, ds, sizeof(float) * (size_t)n);
        kernel->residual_back(n, way == IN_PLACE ? dz : ds, bits, 1.5f, way != NONE ? dz : NULL, way == ADD,
                              form < FORMS ? dbias : NULL);
        for (int64_t i = 0; i < n; i++) {
            const double d = bits == NULL ? ds[i] : bits[i / 8] >> i % 8 & 1 ? 1.5 * ds[i] : 0;
            expect(kernel, "residual_back", n, dz[i], way == NONE ? 0.5 : way == ADD ? 0.5 + d : d);
            expect(kernel, "residual_back bias", n, dbias[i], form < FORMS ? 0.25 + d : 0.25);
        }
        expect_untouched(kernel, "residual_back", n, dz, 0.5f);
        expect_untouched(kernel, "residual_back bias", n, dbias, 0.25f);
    }
    g_free(ds);
}

static void check_residuals(const xlm_kernels *kernel, int64_t n)
{
    uint8_t *bits = g_new(uint8_t, (n + 7) / 8);
    for (int64_t i = 0; i < (n + 7) / 8; i++)
        bits[i] = (uint8_t)(i * 53 + 0xa6);
    for (int form = 0; form < 4; form++)
        check_residual(kernel, n, form & 1, form & 2 ? bits : NULL);
    check_residual_back(kernel, n, bits);
    check_residual_back(kernel, n, NULL);
    g_free(bits);
}

/* To nearest, and to even in the middle; the upper half of a float. Denormals are zero. */
static uint16_t bfloat16_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (isnan(x))
        return (uint16_t)(bits >> 16 | 0x40);
    if ((bits & 0x7fffffff) < 0x800000)
        return (uint16_t)(bits >> 16 & 0x8000);
    const uint32_t rest = bits & 0xffff, half = 0x8000;
    return (uint16_t)((bits >> 16) + (rest > half || (rest == half && (bits >> 16 & 1) != 0)));
}

static void check_bfloat16(const xlm_kernels *kernel, int64_t n)
{
    static const float special[] = {1 + 1.0f / 256, 1 + 3.0f / 256, -1 - 1.0f / 256, 0, INFINITY, -INFINITY, NAN, 3.4e38f, 1e-30f,
                                    1e-39f, -1e-39f, 1.1754942e-38f, 1.17549435e-38f};
    enum { SPECIAL = G_N_ELEMENTS(special), LOW = 0x1234 };
    float *x = numbers(12, n), *z = numbers(13, n);
    for (int64_t i = 0; i < MIN(n, SPECIAL); i++)
        x[i] = z[n - 1 - i] = special[(i + n) % SPECIAL];
    uint16_t y[2 * MAX_SIZE + 2];
    for (int form = 0; form < 3; form++) {
        const int64_t each = form == 0 ? 1 : 2;
        for (int64_t i = 0; i < (int64_t)G_N_ELEMENTS(y); i++)
            y[i] = LOW;
        if (form == 0)
            kernel->to_bfloat16(n, x, y);
        else
            kernel->to_bfloat16_pairs(n, x, form == 1 ? z : NULL, y);
        for (int64_t i = 0; i < n; i++) {
            const uint16_t other = form == 1 ? bfloat16_of(z[i]) : 0;
            if (y[each * i] != bfloat16_of(x[i]) || (form > 0 && y[2 * i + 1] != other))
                fail_msg("%s bfloat16, form %d, n = %d: element %d, of %g: %x", kernel->name, form, (int)n, (int)i, (double)x[i],
                         y[each * i]);
        }
        assert_int_equal(y[each * n], LOW);
    }
    g_free(x);
    g_free(z);
}

/* Rounding x may give a value one step, 2^-8 of it, away from that of a result that differs by rounding. */
static void expect_rounded(const xlm_kernels *kernel, const char *what, int64_t n, uint16_t got, double wanted)
{
    const uint32_t bits = (uint32_t)got << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    if (!(fabs((double)x - wanted) <= fabs(wanted) / 255 + 1e-6))
        fail_msg("%s %s, n = %d: %.9g, not %.9g", kernel->name, what, (int)n, (double)x, wanted);
}

static void check_rounded_gelu(const xlm_kernels *kernel, bool tanh, int64_t n)
{
    const gelu_form form = tanh ? tanh_form(kernel) : exact_form(kernel);
    void (*const gelu)(int64_t, const float *, const float *, uint16_t *, uint16_t *) =
        kernel->activation[tanh ? XLM_GELU_TANH : XLM_GELU].forward_bfloat16;
    enum { LOW = 0x1234 };
    float *x = numbers(6, n), *bias = numbers(13, n);
    uint16_t y[MAX_SIZE + 1], slope[MAX_SIZE + 1], alone[MAX_SIZE + 1];
    y[n] = slope[n] = alone[n] = LOW;
    gelu(n, x, bias, y, slope);
    gelu(n, x, bias, alone, NULL);
    assert_memory_equal(y, alone, sizeof *y * (size_t)(n + 1));
    for (int64_t i = 0; i < n; i++) {
        const double u = (double)x[i] + (double)bias[i];
        expect_rounded(kernel, form.name, n, y[i], u * form.distribution(u));
        expect_rounded(kernel, form.back_name, n, slope[i], form.distribution(u) + u * form.density(u));
    }
    assert_int_equal(y[n], LOW);
    assert_int_equal(slope[n], LOW);
    float dbias[MAX_SIZE + GUARD];
    start_output(dbias, 0.25f);
    for (int64_t i = 0; i < n; i++)
        slope[i] = bfloat16_of(bias[i]);
    kernel->slope_back_bfloat16(n, slope, x, y, dbias);
    for (int64_t i = 0; i < n; i++) {
        const uint32_t bits = (uint32_t)slope[i] << 16;
        float factor;
        memcpy(&factor, &bits, sizeof factor);
        if (y[i] != bfloat16_of(x[i] * factor))
            fail_msg("%s slope_back_bfloat16, n = %d: %04x of %.9g x %.9g", kernel->name, (int)n, y[i], (double)x[i],
                     (double)factor);
        expect(kernel, "slope_back_bfloat16", n, (double)dbias[i], 0.25 + (double)x[i] * (double)factor);
    }
    assert_int_equal(y[n], LOW);
    expect_untouched(kernel, "slope_back_bfloat16", n, dbias, 0.25f);
    g_free(x);
    g_free(bias);
}

/* y = exp(x − shift) rounded, and Σ y of what was not; y may be wanted or not. Then y = factor x of such numbers. */
static void check_rounded_exponentials(const xlm_kernels *kernel, int64_t n)
{
    enum { LOW = 0x1234 };
    float *x = numbers(15, n), plain[MAX_SIZE + GUARD], scaled[MAX_SIZE + GUARD];
    uint16_t y[MAX_SIZE + 1];
    start_output(plain, 0.5f);
    const float sum = kernel->exp_sum(n, x, 1.5f, plain);
    y[n] = LOW;
    expect(kernel, "exp_sum_bfloat16", n, kernel->exp_sum_bfloat16(n, x, 1.5f, y), sum);
    expect(kernel, "exp_sum_bfloat16 alone", n, kernel->exp_sum_bfloat16(n, x, 1.5f, NULL), sum);
    for (int64_t i = 0; i < n; i++)
        if (y[i] != bfloat16_of(plain[i]))
            fail_msg("%s exp_sum_bfloat16, n = %d: element %d is %x, not that of %g", kernel->name, (int)n, (int)i, y[i],
                     (double)plain[i]);
    assert_int_equal(y[n], LOW);
    start_output(scaled, 0.5f);
    kernel->scale_bfloat16(n, -3, y, scaled);
    for (int64_t i = 0; i < n; i++) {
        const uint32_t bits = (uint32_t)y[i] << 16;
        float value;
        memcpy(&value, &bits, sizeof value);
        assert_true(scaled[i] == -3 * value);
    }
    expect_untouched(kernel, "scale_bfloat16", n, scaled, 0.5f);
    g_free(x);
}

/* exp from underflow to overflow, to 1.2 units in the last place, in all lanes. */
static void check_exponential(const xlm_kernels *kernel)
{
    const float normal = 1.17549435e-38f;
    for (int step = 0; step < 400000; step += 17) {
        float x[17], y[17];
        for (int j = 0; j < 17; j++)
            x[j] = (float)(-110 + 2e2 * (step + j) / 4e5);
        (void)kernel->exp_sum(17, x, 0, y);
        for (int j = 0; j < 17; j++) {
            const double wanted = exp((double)x[j]);
            const float near = (float)wanted;
            bool good = fabs((double)y[j] - wanted) <= 1.2 * (double)(near - nextafterf(near, 0));
            if (wanted < (double)normal)
                good = y[j] >= 0 && y[j] <= normal;
            else if (isinf(near))
                good = y[j] == INFINITY;
            if (!good)
                fail_msg("%s: exp(%.9g) = %.9g, not %.9g", kernel->name, (double)x[j], (double)y[j], wanted);
        }
    }
    const float far[] = {-INFINITY, INFINITY, NAN, -1e30f, 1e30f, 0};
    float y[G_N_ELEMENTS(far)];
    (void)kernel->exp_sum(G_N_ELEMENTS(far), far, 0, y);
    assert_true(y[0] == 0 && y[1] == INFINITY && isnan(y[2]) && y[3] == 0 && y[4] == INFINITY && y[5] == 1);
}

static void check_pairs_of_rounded(const xlm_kernels *kernel, int64_t n)
{
    enum { LOW = 0x1234 };
    uint16_t *x = g_new(uint16_t, n), *z = g_new(uint16_t, n);
    _Alignas(64) uint16_t y[2 * MAX_SIZE + 1];
    for (int64_t i = 0; i < n; i++) {
        x[i] = (uint16_t)(40000 + 13 * i);
        z[i] = (uint16_t)(7 * i + 1);
    }
    for (int form = 0; form < 4; form++) {
        y[2 * n] = LOW;
        kernel->bfloat16_pairs(n, x, form % 2 == 0 ? NULL : z, y, form > 1);
        for (int64_t i = 0; i < n; i++)
            if (y[2 * i] != x[i] || y[2 * i + 1] != (form % 2 == 0 ? 0 : z[i]))
                fail_msg("%s bfloat16_pairs, n = %d: element %d", kernel->name, (int)n, (int)i);
        assert_int_equal(y[2 * n], LOW);
    }
    g_free(x);
    g_free(z);
}

static void test_against_loops(void **state)
{
    (void)state;
    int tables = 0;
    for (size_t k = 0; k < G_N_ELEMENTS(names); k++) {
        const xlm_kernels *kernel = xlm_kernels_find(names[k]);
        if (kernel == NULL)
            continue;
        assert_string_equal(kernel->name, names[k]);
        tables++;
        for (int64_t n = 1; n <= MAX_SIZE; n++) {
            check_elementwise(kernel, n);
            check_reductions(kernel, n);
            if (2 * n <= MAX_SIZE)
                check_cached_rows(kernel, n);
            check_column_sums(kernel, n);
            check_positions(kernel, n);
            check_slope(kernel, n);
            check_copy_past(kernel, n);
            for (int bias = 0; bias < 2; bias++) {
                check_gelu(kernel, exact_form(kernel), n, bias);
                check_gelu(kernel, tanh_form(kernel), n, bias);
            }
            check_layer_norm(kernel, n);
            check_keep(kernel, n);
            check_bfloat16(kernel, n);
            check_rounded_gelu(kernel, false, n);
            check_rounded_gelu(kernel, true, n);
            check_pairs_of_rounded(kernel, n);
            check_rounded_exponentials(kernel, n);
            check_residuals(kernel, n);
        }
        check_exponential(kernel);
        check_gelu_far_out(kernel, exact_form(kernel));
        check_gelu_far_out(kernel, tanh_form(kernel));
    }
    assert_true(tables >= 1);
    assert_null(xlm_kernels_find("none of these"));
    assert_non_null(xlm_kernels_get());
}

/* The decisions are those of xlm_rng_draw, whatever the instruction set: by definition, from the words of each block. */
static void test_same_bits_everywhere(void **state)
{
    (void)state;
    const xlm_rng_key key = xlm_rng_make_key(3, XLM_RNG_DROPOUT, 9);
    static const uint32_t thresholds[] = {0, 1, 6554, 32768, 65535}, starts[] = {0, 5, 0xfffffffdu};
    for (size_t k = 0; k < G_N_ELEMENTS(names); k++) {
        const xlm_kernels *kernel = xlm_kernels_find(names[k]);
        for (int64_t draws = 1; kernel != NULL && draws <= 33; draws++) {
            const uint32_t threshold = thresholds[draws % 5], start = starts[draws % 3];
            uint8_t *bits = g_new(uint8_t, draws);
            kernel->keep_bits(key, start, 11, 0xfffffff0u, 13, draws, threshold, bits);
            for (int64_t i = 0; i < draws; i++) {
                const xlm_rng_block b = xlm_rng_draw(key, start + (uint32_t)i, 11, 0xfffffff0u, 13);
                for (int j = 0; j < 8; j++) {
                    const uint32_t sixteen = j % 2 == 0 ? b.v[j / 2] & 0xffff : b.v[j / 2] >> 16;
                    assert_int_equal(bits[i] >> j & 1, sixteen >= threshold);
                }
            }
            g_free(bits);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_loops), cmocka_unit_test(test_same_bits_everywhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
