/* xlm-mpi: kernels over the positions of an aligner against plain loops in double precision.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel_rows_fixture.h"

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
    double ahead[MAX_SIZE], before[MAX_SIZE], both[MAX_SIZE] = {0}, here = 0, none = 0, largest = 0, all = 0;
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

static void test_against_loops(void **state)
{
    (void)state;
    with_all_kernels(check_positions, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_loops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
