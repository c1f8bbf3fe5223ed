/* xlm-mpi: attention of queries that see the first keys only, in float32 and in bfloat16.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Such a query's result and gradient are, bit by bit, those of a query whose sequence has these keys and no others: sums over
 * keys have the same order, and what is not seen adds zeros. Gradients of keys and values are sums over queries in another
 * order. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "gemm/packed.h"
#include "tensor/parameters.h"
#include "tensor/variable.h"

enum { HEADS = 2, MAX_LENGTH = 130 };
static const int32_t LENGTHS[] = {1, 2, 15, 16, 17, 48, 49, 64, 65, MAX_LENGTH};

struct results {
    float *y, *gradient; /* [n x d]; of the parameter qkv, [n x 3 d] */
};

/* A sequence of n queries that see their prefixes, or each query as a sequence of its own with copies of the keys it sees. */
static struct results attend(xlm_parameters *p, xlm_precision precision, int32_t n, int64_t d, bool apart)
{
    const int32_t keys = apart ? n * (n + 1) / 2 : n;
    int32_t *offsets = g_new0(int32_t, n + 1), *query_offsets = g_new0(int32_t, n + 1), *visible = g_new0(int32_t, n),
            *rows = g_new0(int32_t, keys);
    for (int32_t q = 0, key = 0; q < n; q++) {
        visible[q] = query_offsets[q + 1] = q + 1;
        for (int32_t j = 0; apart && j <= q; j++)
            rows[key++] = j;
        offsets[q + 1] = key;
    }
    const int32_t one[] = {0, n};
    struct results r = {g_new(float, n * d), g_new0(float, xlm_parameters_size(p))};
    xlm_tape *tape = xlm_tape_new(p);
    xlm_tape_multiply_by(tape, precision == XLM_BFLOAT16, precision);
    xlm_tape_begin(tape, r.gradient, true, 1, 1);
    xlm_var *x = xlm_param(tape, "qkv"), *kept = apart ? xlm_rows(tape, x, rows, keys) : x;
    const xlm_attention_inputs inputs = {
        .query = x, .key = kept, .value = kept, .key_column = d, .value_column = 2 * d, .width = d, .heads = HEADS,
        .offsets = apart ? offsets : one, .query_offsets = apart ? query_offsets : NULL, .visible = apart ? NULL : visible,
        .sequences = apart ? n : 1, .dropout = 0.1,
    };
    xlm_var *y = xlm_attention(tape, &inputs);
    memcpy(r.y, y->value, sizeof *r.y * (size_t)(n * d));
    xlm_tape_seed(tape, xlm_mean(tape, xlm_multiply(tape, y, y)), 1);
    xlm_tape_backward(tape);
    xlm_tape_free(tape);
    g_free(offsets);
    g_free(query_offsets);
    g_free(visible);
    g_free(rows);
    return r;
}

static void check_part(const struct results *got, const struct results *wanted, int32_t n, int64_t d, int part, double tolerance)
{
    for (int32_t i = 0; i < n; i++)
        for (int64_t c = part * d; c < (part + 1) * d; c++) {
            const float a = got->gradient[i * 3 * d + c], b = wanted->gradient[i * 3 * d + c];
            if (!(fabs((double)a - (double)b) <= tolerance))
                fail_msg("%d tokens, gradient of row %d, column %d: %.9g, not %.9g", n, i, (int)c, (double)a, (double)b);
        }
}

static void compare(xlm_precision precision, int32_t n, int64_t d)
{
    xlm_parameters *p = xlm_parameters_new();
    xlm_parameters_add(p, "qkv", n, 3 * d, XLM_INIT_NORMAL, false);
    xlm_parameters_seal(p);
    xlm_parameters_initialise(p, 3);
    for (int64_t i = 0; i < xlm_parameters_size(p); i++)
        xlm_parameters_values(p)[i] *= 40; /* so that weights are far from alike */
    struct results whole = attend(p, precision, n, d, false), apart = attend(p, precision, n, d, true);
    assert_memory_equal(whole.y, apart.y, sizeof *whole.y * (size_t)(n * d));
    check_part(&whole, &apart, n, d, 0, 0);
    /* Sums over queries have rounded factors in bfloat16, in both alike, but for the order. */
    for (int part = 1; part < 3; part++)
        check_part(&whole, &apart, n, d, part, 2e-6);
    for (int i = 0; i < 2; i++) {
        g_free(i == 0 ? whole.y : apart.y);
        g_free(i == 0 ? whole.gradient : apart.gradient);
    }
    xlm_parameters_free(p);
}

static void prefixes_are_sequences(void **state)
{
    (void)state;
    g_setenv("XLM_BF16_EMULATE", "1", TRUE);
    for (size_t i = 0; i < G_N_ELEMENTS(LENGTHS); i++)
        for (int precision = 0; precision < 2; precision++) {
            compare(precision == 0 ? XLM_FLOAT32 : XLM_BFLOAT16, LENGTHS[i], HEADS * 16);
            compare(precision == 0 ? XLM_FLOAT32 : XLM_BFLOAT16, LENGTHS[i], HEADS * 9);
        }
    g_unsetenv("XLM_BF16_EMULATE");
}

/* Keys that a query does not see do not affect it, whatever their values. */
static void later_keys_have_no_effect(void **state)
{
    (void)state;
    const int64_t d = HEADS * 16;
    xlm_parameters *p = xlm_parameters_new();
    xlm_parameters_add(p, "qkv", MAX_LENGTH, 3 * d, XLM_INIT_NORMAL, false);
    xlm_parameters_seal(p);
    xlm_parameters_initialise(p, 3);
    struct results before = attend(p, XLM_FLOAT32, MAX_LENGTH, d, false);
    for (int64_t i = MAX_LENGTH / 2 * 3 * d; i < xlm_parameters_size(p); i++)
        xlm_parameters_values(p)[i] = 1e6f * (float)(i % 7);
    struct results after = attend(p, XLM_FLOAT32, MAX_LENGTH, d, false);
    assert_memory_equal(before.y, after.y, sizeof *before.y * (size_t)(MAX_LENGTH / 2 * d));
    assert_true(memcmp(before.y + MAX_LENGTH / 2 * d, after.y + MAX_LENGTH / 2 * d, sizeof *before.y * (size_t)d) != 0);
    g_free(before.y);
    g_free(before.gradient);
    g_free(after.y);
    g_free(after.gradient);
    xlm_parameters_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(prefixes_are_sequences), cmocka_unit_test(later_keys_have_no_effect)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
