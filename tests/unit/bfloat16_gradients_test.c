/* xlm-mpi: gradients of a model whose products are in bfloat16, beside those in float32.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Of every parameter tensor the cosine of the two gradients of one step with dropout. The biases of keys are left out: softmax
 * does not change when they do, so that their gradients are nothing but rounding. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "base/rng.h"
#include "nn/model.h"
#include "options/options.h"
#include "subwords/special_tokens.h"
#include "tensor/parameters.h"

enum { SEQUENCES = 12, LENGTH = 40, TOKENS = SEQUENCES * LENGTH, EVERY = 6, MASKED = TOKENS / EVERY };
enum { VOCABULARY = 5000 }; /* more than one block of columns of logits (gemm/packed.h) */

static struct {
    int32_t offsets[SEQUENCES + 1], ids[TOKENS], positions[TOKENS], zeros[TOKENS], predicted_rows[MASKED], targets[MASKED];
    xlm_row_key keys[TOKENS];
} text;

static xlm_batch make_batch(void)
{
    for (int32_t i = 0; i < TOKENS; i++) {
        const xlm_rng_key key = {{5, 5}};
        const uint32_t drawn = xlm_rng_draw(key, (uint32_t)i, 0, 0, 0).v[0];
        text.ids[i] = XLM_SPECIALS + (int32_t)xlm_rng_below(drawn, VOCABULARY - XLM_SPECIALS);
        text.positions[i] = i % LENGTH;
        text.keys[i] = (xlm_row_key){(uint32_t)(i / LENGTH), (uint32_t)(i % LENGTH)};
    }
    for (int32_t s = 0; s <= SEQUENCES; s++)
        text.offsets[s] = s * LENGTH;
    for (int32_t i = 0; i < MASKED; i++) {
        text.predicted_rows[i] = i * EVERY;
        text.targets[i] = text.ids[i * EVERY];
        text.ids[i * EVERY] = XLM_ID_MASK;
    }
    return (xlm_batch){
        .corrupted = {
            .tokens = TOKENS, .sequences = SEQUENCES, .offsets = text.offsets, .ids = text.ids, .unmasked = text.ids,
            .positions = text.positions, .languages = text.zeros, .unswitched = text.zeros, .types = text.zeros,
            .keys = text.keys, .specials = &xlm_own_special_tokens,
        },
        .predicted = MASKED, .predicted_rows = text.predicted_rows, .targets = text.targets,
    };
}

static float *gradients_in(xlm_precision precision, const xlm_model *model, xlm_parameters *parameters, const xlm_batch *batch)
{
    float *gradients = g_new0(float, xlm_parameters_size(parameters));
    xlm_tape *tape = xlm_tape_new(parameters);
    xlm_tape_multiply_by(tape, precision == XLM_BFLOAT16, precision);
    xlm_tape_begin(tape, gradients, true, 1, 0);
    xlm_var **hidden = xlm_model_encode(model, tape, &batch->corrupted, false, XLM_TOP_LAYER, batch->predicted_rows,
                                        batch->predicted);
    xlm_var *h = hidden[xlm_model_get_config(model)->layers];
    xlm_tape_seed(tape, xlm_lm_cross_entropy(model, tape, XLM_STACK_ENCODER, h, batch->targets, NULL, NULL), 1);
    xlm_tape_backward(tape);
    xlm_tape_free(tape);
    return gradients;
}

static void check_tensor(const xlm_parameter *p, const float *a, const float *b)
{
    double product = 0, squares[2] = {0, 0};
    for (int64_t i = p->start; i < p->start + p->rows * p->cols; i++) {
        product += (double)a[i] * (double)b[i];
        squares[0] += (double)a[i] * (double)a[i];
        squares[1] += (double)b[i] * (double)b[i];
    }
    const double cosine = product / sqrt(squares[0] * squares[1]);
    if (!(cosine >= 0.999))
        fail_msg("%s: cosine %.6f of the gradients in bfloat16 and in float32", p->name, cosine);
    if (p->rows > 1 && memcmp(a + p->start, b + p->start, sizeof *a * (size_t)(p->rows * p->cols)) == 0)
        fail_msg("%s: the gradient is not of products in bfloat16", p->name);
}

static void check_gradients(int64_t activation, int64_t layers, int64_t width, int64_t heads)
{
    xlm_model_config c = {0};
    assert_true(xlm_options_defaults(xlm_model_options, &c, NULL));
    c.layers = layers, c.hidden_size = width, c.attention_heads = heads, c.vocabulary = VOCABULARY, c.languages = 1;
    c.activation = activation;
    assert_true(xlm_model_check(&c, NULL));
    xlm_parameters *parameters = xlm_parameters_new();
    xlm_model *model = xlm_model_new(&c, parameters);
    xlm_parameters_seal(parameters);
    xlm_parameters_initialise(parameters, 3);
    const xlm_batch batch = make_batch();
    float *whole = gradients_in(XLM_FLOAT32, model, parameters, &batch);
    float *half = gradients_in(XLM_BFLOAT16, model, parameters, &batch);
    int checked = 0;
    for (int k = 0; k < xlm_parameters_count(parameters); k++) {
        const xlm_parameter *p = xlm_parameters_get(parameters, k);
        if (g_str_has_suffix(p->name, "key/bias"))
            continue;
        check_tensor(p, whole, half);
        checked++;
    }
    assert_int_equal(checked, xlm_parameters_count(parameters) - c.layers);
    g_free(whole);
    g_free(half);
    xlm_model_free(model);
    xlm_parameters_free(parameters);
}

static void gradients_agree(void **state)
{
    (void)state;
    g_unsetenv("XLM_BF16_EMULATE");
    if (xlm_packed_lacks(XLM_BFLOAT16) == NULL) {
        check_gradients(XLM_GELU, 6, 128, 4);
        check_gradients(XLM_GELU_TANH, 6, 128, 4);
        check_gradients(XLM_GELU, 8, 512, 8); /* as jobs/roberta-8.conf */
    }
    g_setenv("XLM_BF16_EMULATE", "1", TRUE);
    check_gradients(XLM_GELU, 6, 128, 4);
    g_unsetenv("XLM_BF16_EMULATE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradients_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
