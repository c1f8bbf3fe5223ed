/* xlm-mpi: bottleneck and invertible adapters, in double precision. SPDX-License-Identifier: GPL-3.0-or-later */
#include "adapter_fixture.h"

enum { WIDTH = 9, SIZE = 4 };

/* The adapter of a language, one of a task, and LoRA beside the same sublayer. pre: pre-LN, and embeddings of their own width;
 * decoder: with embeddings of its own. */
static xlm_model_config adapted(bool pre, bool decoder)
{
    xlm_model_config c = defaults();
    c.layers = 2, c.decoder_layers = decoder ? 1 : 0, c.share_embeddings = !decoder;
    c.hidden_size = WIDTH, c.attention_heads = 3, c.feed_forward_size = 12, c.positions = 16, c.vocabulary = VOCABULARY;
    c.dropout = c.attention_dropout = 0;
    if (pre)
        c.norm = XLM_NORM_PRE, c.final_norm = true, c.norm_biases = c.linear_biases = false, c.embedding_size = 6;
    c.adapters = (xlm_adapters){.n = 3, .one = {
        {.name = "language", .kind = XLM_ADAPTER_BOTTLENECK, .size = SIZE, .invertible = true},
        {.name = "task", .kind = XLM_ADAPTER_BOTTLENECK, .size = 3, .learns = true},
        {.name = "lora", .rank = 1, .alpha = 2, .targets = XLM_ADAPT_FEED_FORWARD_OUTPUT}}};
    return c;
}

/* What the head makes of the top states: the invertible adapter is in it twice. */
static xlm_var *top(const struct setup *s, xlm_tape *tape, const xlm_batch *b)
{
    const xlm_text *text = &b->corrupted;
    xlm_var *h = xlm_model_encode(s->model, tape, text, false, XLM_TOP_LAYER, NULL, 0)[s->config.layers];
    if (s->config.decoder_layers == 0)
        return xlm_lm_transform(s->model, tape, XLM_STACK_ENCODER, h);
    h = xlm_model_decode(s->model, tape, text, h, text->offsets, XLM_TOP_LAYER, NULL, 0)[s->config.decoder_layers];
    return xlm_lm_transform(s->model, tape, XLM_STACK_DECODER, h);
}

static void test_gradients(void **state)
{
    (void)state;
    check_adapted_gradients(adapted, top);
}

/* adapter NULL: of the model itself. */
static const xlm_real *values(const struct setup *s, const char *adapter, const char *part, const char *what)
{
    g_autofree char *whole = adapter != NULL ? g_strdup_printf("adapters/%s/%s", adapter, part) : g_strdup(part);
    g_autofree char *name = g_strconcat(whole, "/", what, NULL);
    const int at = xlm_parameters_find(s->parameters, name);
    assert_true(at >= 0);
    return xlm_parameters_values(s->parameters) + xlm_parameters_get(s->parameters, at)->start;
}

/* y += max(D x + d, 0) Uᵀ + u, x: in numbers, y: out */
static void add_bottleneck(const struct setup *s, const char *adapter, const char *part, int size, int in, const double *x,
                           int out, double *y)
{
    const xlm_real *down = values(s, adapter, part, "down/weight"), *d = values(s, adapter, part, "down/bias");
    const xlm_real *up = values(s, adapter, part, "up/weight"), *u = values(s, adapter, part, "up/bias");
    for (int j = 0; j < out; j++)
        y[j] += u[j];
    for (int k = 0; k < size; k++) {
        double z = d[k];
        for (int i = 0; i < in; i++)
            z += down[k * in + i] * x[i];
        for (int j = 0; j < out && z > 0; j++)
            y[j] += up[j * size + k] * z;
    }
}

static void layer_norm(const struct setup *s, const char *norm, double *x)
{
    const xlm_real *gamma = values(s, NULL, norm, "weight"), *beta = values(s, NULL, norm, "bias");
    double mean = 0, square = 0;
    for (int i = 0; i < WIDTH; i++)
        mean += x[i] / WIDTH;
    for (int i = 0; i < WIDTH; i++)
        square += (x[i] - mean) * (x[i] - mean) / WIDTH;
    for (int i = 0; i < WIDTH; i++)
        x[i] = gamma[i] * (x[i] - mean) / sqrt(square + s->config.layer_norm_epsilon) + beta[i];
}

/* Each adapter reads what the sublayer and the adapters before it made, and adds to it. */
static void test_stacked(void **state)
{
    (void)state;
    static const char block[] = "encoder/layer.1/feed_forward";
    for (int pre = 0; pre < 2; pre++) {
        struct setup s = open_setup(adapted(pre, false), 0.5);
        xlm_tape *tape = xlm_tape_new(s.parameters);
        xlm_tape_begin(tape, NULL, false, 1, 1);
        xlm_real x[WIDTH], f[WIDTH];
        double wanted[WIDTH], h[WIDTH];
        for (int i = 0; i < WIDTH; i++) {
            x[i] = number(1, i);
            wanted[i] = f[i] = number(2, i);
        }
        for (int k = 0; k < 2; k++) {
            for (int i = 0; i < WIDTH; i++)
                h[i] = x[i] + wanted[i];
            if (!pre)
                layer_norm(&s, "encoder/layer.1/feed_forward/layer_norm", h);
            add_bottleneck(&s, k == 0 ? "language" : "task", block, k == 0 ? SIZE : 3, WIDTH, h, WIDTH, wanted);
        }
        const xlm_sublayer sublayer = {.name = block, .norm = true};
        const xlm_var *y = xlm_adapters_apply_after(s.model, tape, &sublayer, xlm_constant(tape, 1, WIDTH, x),
                                                 xlm_constant(tape, 1, WIDTH, f));
        for (int i = 0; i < WIDTH; i++)
            assert_true(fabs(y->value[i] - wanted[i]) < 1e-12);
        xlm_tape_free(tape);
        close_setup(&s);
    }
}

/* An odd width: the second part is the longer one. */
static void test_invertible(void **state)
{
    (void)state;
    static const char f[] = "embeddings/invertible/f", g[] = "embeddings/invertible/g";
    enum { FIRST = WIDTH / 2, SECOND = WIDTH - FIRST };
    struct setup s = open_setup(adapted(false, false), 0.5);
    xlm_tape *tape = xlm_tape_new(s.parameters);
    xlm_tape_begin(tape, NULL, false, 1, 1);
    xlm_real x[2 * WIDTH];
    double wanted[2 * WIDTH];
    for (int i = 0; i < 2 * WIDTH; i++)
        wanted[i] = x[i] = number(3, i);
    for (double *row = wanted; row < wanted + 2 * WIDTH; row += WIDTH) {
        add_bottleneck(&s, "language", f, SECOND / 2, SECOND, row + FIRST, FIRST, row);
        add_bottleneck(&s, "language", g, FIRST / 2, FIRST, row, SECOND, row + FIRST);
    }
    xlm_var *y = xlm_adapters_apply_around(s.model, tape, XLM_STACK_ENCODER, xlm_constant(tape, 2, WIDTH, x), false);
    const xlm_var *back = xlm_adapters_apply_around(s.model, tape, XLM_STACK_ENCODER, y, true);
    for (int i = 0; i < 2 * WIDTH; i++) {
        assert_true(fabs(y->value[i] - wanted[i]) < 1e-12);
        assert_true(fabs(back->value[i] - x[i]) < 1e-12 && fabs(y->value[i] - x[i]) > 1e-6);
    }
    xlm_tape_free(tape);
    close_setup(&s);
}

/* Two of them, in the opposite order back. */
static void test_several_invertible(void **state)
{
    (void)state;
    xlm_model_config c = adapted(true, false);
    c.adapters.one[1].invertible = true;
    struct setup s = open_setup(c, 0.5);
    xlm_tape *tape = xlm_tape_new(s.parameters);
    xlm_tape_begin(tape, NULL, false, 1, 1);
    xlm_real x[6];
    for (int i = 0; i < 6; i++)
        x[i] = number(4, i);
    xlm_var *y = xlm_adapters_apply_around(s.model, tape, XLM_STACK_ENCODER, xlm_constant(tape, 1, 6, x), false);
    const xlm_var *back = xlm_adapters_apply_around(s.model, tape, XLM_STACK_ENCODER, y, true);
    for (int i = 0; i < 6; i++)
        assert_true(fabs(back->value[i] - x[i]) < 1e-12 && fabs(y->value[i] - x[i]) > 1e-6);
    xlm_tape_free(tape);
    close_setup(&s);
}

static void test_frozen(void **state)
{
    (void)state;
    check_frozen(adapted(false, false), top, 2 * 4, false);
}

static void test_checks(void **state)
{
    (void)state;
    GError *error = NULL;
    xlm_model_config c = adapted(false, false);
    c.adapters.one[0].size = 0;
    assert_true(xlm_model_check(&c, NULL));
    assert_int_equal(c.adapters.one[0].size, 1); /* a sixteenth of 9, but at least 1 */
    c.hidden_size = 96, c.embedding_size = 1;
    assert_false(xlm_model_check(&c, &error));
    assert_non_null(strstr(error->message, "invertible = true is for embeddings of at least 2 columns"));
    g_clear_error(&error);
    xlm_adapters all = adapted(false, false).adapters;
    all.one[1].targets = XLM_ADAPT_KEY;
    assert_false(xlm_adapters_check(&all, &error));
    g_clear_error(&error);
    all = adapted(false, false).adapters;
    all.one[1].dropout = 1;
    assert_false(xlm_adapters_check(&all, &error));
    g_clear_error(&error);
    const xlm_adapter a = adapted(false, false).adapters.one[0];
    xlm_adapter other = a;
    assert_null(xlm_adapter_difference(&a, &other));
    other.invertible = false;
    g_autofree char *why = xlm_adapter_difference(&a, &other);
    assert_string_equal(why, "invertible = true there, false here");
    other.kind = XLM_ADAPTER_LORA;
    g_autofree char *kinds = xlm_adapter_difference(&a, &other);
    assert_string_equal(kinds, "kind = bottleneck there, lora here");
    const xlm_layer layer = xlm_layer_of("adapters/language/embeddings/invertible/f/down/weight", NULL);
    assert_int_equal(layer.stack, XLM_STACK_EMBEDDINGS);
}

static void test_dropout(void **state)
{
    (void)state;
    check_adapter_dropout(adapted(false, false), 1, top);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients), cmocka_unit_test(test_dropout), cmocka_unit_test(test_stacked),
        cmocka_unit_test(test_invertible), cmocka_unit_test(test_several_invertible), cmocka_unit_test(test_frozen),
        cmocka_unit_test(test_checks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
