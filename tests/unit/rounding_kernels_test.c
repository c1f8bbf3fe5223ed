/* xlm-mpi: kernels that round to bfloat16, and exponentials, against plain loops. SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel_rows_fixture.h"

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

/* y = exp(x − shift) rounded, and Σ y of what was not; y may be wanted or not. Then y = factor x of such numbers. */
static void check_rounded_exponentials(const xlm_kernels *kernel, int64_t n)
{
    enum { LOW = 0x1234 };
    float *x = numbers(15, n), plain[MAX_SIZE + GUARD], scaled[MAX_SIZE + GUARD];
    uint16_t y[MAX_SIZE + 1];
    start_output(plain, 0.5f);
    const double sum = kernel->exp_sum(n, x, 1.5f, plain);
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

static void check(const xlm_kernels *kernel, int64_t n)
{
    check_bfloat16(kernel, n);
    check_pairs_of_rounded(kernel, n);
    check_rounded_exponentials(kernel, n);
}

static void test_against_loops(void **state)
{
    (void)state;
    with_all_kernels(check, check_exponential);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_loops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
