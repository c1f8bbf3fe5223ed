/* xlm-mpi: adapters beside linear layers, in double precision. SPDX-License-Identifier: GPL-3.0-or-later */
#include "adapter_fixture.h"

enum { WIDTH = 8 };

/* Two adapters, which meet at some linear layers. modern: ModernBERT's layers. */
static xlm_model_config adapted(bool modern, bool decoder)
{
    xlm_model_config c = defaults();
    c.layers = 2, c.decoder_layers = decoder ? 1 : 0;
    c.hidden_size = WIDTH, c.attention_heads = 2, c.feed_forward_size = 12, c.positions = 16, c.vocabulary = VOCABULARY;
    c.dropout = c.attention_dropout = 0;
    if (modern) {
        c.norm = XLM_NORM_PRE, c.final_norm = true, c.first_norm = false, c.norm_biases = c.linear_biases = false;
        c.position_type = XLM_POSITIONS_ROTARY, c.gated_feed_forward = true;
    }
    c.adapters = (xlm_adapters){.n = 2, .one = {
        {.name = "one", .rank = 3, .alpha = 5, .targets = (1u << XLM_ADAPTER_TARGETS) - 1, .learns = true},
        {.name = "two", .rank = 1, .alpha = 2, .targets = XLM_ADAPT_VALUE | XLM_ADAPT_INTERMEDIATE}}};
    return c;
}

static xlm_var *encode(const struct setup *s, xlm_tape *tape, const xlm_batch *b)
{
    return xlm_model_encode(s->model, tape, &b->corrupted, false, XLM_TOP_LAYER, NULL, 0)[s->config.layers];
}

static xlm_var *top(const struct setup *s, xlm_tape *tape, const xlm_batch *b)
{
    xlm_var *h = encode(s, tape, b);
    if (s->config.decoder_layers == 0)
        return h;
    const int32_t *offsets = b->corrupted.offsets;
    return xlm_model_decode(s->model, tape, &b->corrupted, h, offsets, XLM_TOP_LAYER, NULL, 0)[s->config.decoder_layers];
}

static void test_gradients(void **state)
{
    (void)state;
    check_adapted_gradients(adapted, top);
}

static xlm_real *values(const struct setup *s, const char *name)
{
    const int at = xlm_parameters_find(s->parameters, name);
    return at < 0 ? NULL : xlm_parameters_values(s->parameters) + xlm_parameters_get(s->parameters, at)->start;
}

/* W + (α / r) B A in place of W, for each weight that adapters are beside. Returns the number of these. */
static int merge(const struct setup *from, const struct setup *to)
{
    int merged = 0;
    for (int i = 0; i < xlm_parameters_count(to->parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(to->parameters, i);
        xlm_real *w = values(to, p->name);
        memcpy(w, values(from, p->name), sizeof *w * (size_t)(p->rows * p->cols));
        for (int64_t k = 0; k < from->config.adapters.n; k++) {
            const xlm_adapter *a = &from->config.adapters.one[k];
            char name[XLM_ADAPTER_PARAMETER];
            if (!g_str_has_suffix(p->name, "/weight") || (xlm_adapter_target_of(p->name) & a->targets) == 0)
                continue;
            g_autofree char *linear = g_strndup(p->name, strlen(p->name) - strlen("/weight"));
            const xlm_real *down = values(from, xlm_adapter_parameter(a, linear, "lora_a", name));
            const xlm_real *up = values(from, xlm_adapter_parameter(a, linear, "lora_b", name));
            for (int64_t r = 0; r < p->rows; r++)
                for (int64_t c = 0; c < p->cols; c++)
                    for (int64_t j = 0; j < a->rank; j++)
                        w[r * p->cols + c] += a->alpha / (double)a->rank * up[r * a->rank + j] * down[j * p->cols + c];
            merged++;
        }
    }
    return merged;
}

static void test_merged_weights_compute_the_same(void **state)
{
    (void)state;
    struct big b = make_big(TOKENS, LONGEST, VOCABULARY);
    for (int kind = 0; kind < 4; kind++) {
        struct setup s = open_setup(adapted(kind & 1, kind & 2), 0.5);
        xlm_model_config plain = s.config;
        plain.adapters.n = 0;
        struct setup merged = open_setup(plain, 0.5);
        assert_int_equal(merge(&s, &merged), 2 * (6 + 2) + (kind & 2 ? 10 + 3 : 0));
        xlm_tape *tape = xlm_tape_new(s.parameters), *other = xlm_tape_new(merged.parameters);
        xlm_tape_begin(tape, NULL, false, 1, 1);
        xlm_tape_begin(other, NULL, false, 1, 1);
        const xlm_var *x = top(&s, tape, &b.batch), *y = top(&merged, other, &b.batch);
        for (int64_t i = 0; i < x->rows * x->cols; i++)
            assert_true(fabs(x->value[i] - y->value[i]) < 1e-12);
        xlm_tape_free(tape);
        xlm_tape_free(other);
        close_setup(&merged);
        close_setup(&s);
    }
    free_big(&b);
}

static void test_gradients_beside_a_frozen_model(void **state)
{
    (void)state;
    check_frozen(adapted(true, false), top, 2 * 2 * 6, true);
}

static void test_names_and_checks(void **state)
{
    (void)state;
    xlm_adapters all = adapted(false, false).adapters;
    GError *error = NULL;
    assert_true(xlm_adapters_check(&all, NULL));
    assert_ptr_equal(xlm_adapters_of_parameter(&all, "adapters/two/encoder/layer.0/attention/value/lora_a"), &all.one[1]);
    assert_null(xlm_adapters_of_parameter(&all, "adapters/tw/encoder/layer.0/attention/value/lora_a"));
    assert_null(xlm_adapters_of_parameter(&all, "encoder/layer.0/attention/value/weight"));
    assert_int_equal(xlm_adapter_target_of("decoder/layer.3/memory_attention/key/weight"), XLM_ADAPT_KEY);
    assert_int_equal(xlm_adapter_target_of("encoder/layer.shared/feed_forward/output"), XLM_ADAPT_FEED_FORWARD_OUTPUT);
    assert_int_equal(xlm_adapter_target_of("encoder/layer.3/attention/layer_norm/weight"), 0);
    assert_int_equal(xlm_adapter_target_of("lm_head/dense/weight"), 0);
    const char *rest;
    const xlm_layer layer = xlm_layer_of("adapters/one/encoder/layer.1/attention/query/lora_a", &rest);
    assert_true(layer.stack == XLM_STACK_ENCODER && layer.number == 1);
    assert_string_equal(rest, "attention/query/lora_a");
    strcpy(all.one[1].name, "one");
    assert_false(xlm_adapters_check(&all, &error));
    g_clear_error(&error);
    strcpy(all.one[1].name, "t/o");
    assert_false(xlm_adapters_check(&all, &error));
    g_clear_error(&error);
    all.n = XLM_MAX_ADAPTERS + 1;
    assert_false(xlm_adapters_check(&all, &error));
    g_clear_error(&error);
}

static void test_dropout(void **state)
{
    (void)state;
    check_adapter_dropout(adapted(false, false), 0, top);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients), cmocka_unit_test(test_dropout), cmocka_unit_test(test_merged_weights_compute_the_same),
        cmocka_unit_test(test_gradients_beside_a_frozen_model), cmocka_unit_test(test_names_and_checks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
