/* xlm-mpi: gradients of the whole model with every option, its size, configurations refused.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "architecture_fixture.h"
#include "batch_fixture.h"
#include "gradient.h"

#include "nn/adapter.h"
#include "nn/model.h"
#include "options/options.h"

enum { LANGUAGES = 2 };

static xlm_model_config small(void)
{
    xlm_model_config c = {0};
    GError *error = NULL;
    assert_true(xlm_options_defaults(xlm_model_options, &c, &error));
    c.layers = 2;
    c.hidden_size = 6;
    c.attention_heads = 2;
    c.feed_forward_size = 10;
    c.positions = 5;
    c.vocabulary = V;
    c.languages = LANGUAGES;
    c.vocabulary_chunk = 3;
    return c;
}

struct setup {
    bool all_rows; /* of the last layer; else the masked ones alone */
    xlm_model_config config;
    xlm_parameters *parameters;
    xlm_model *model;
};

/* Parameters are drawn wider than at the start of training, so that nothing is close to linear. */
static void open_setup(struct setup *s)
{
    GError *error = NULL;
    if (!xlm_model_check(&s->config, &error)) fail_msg("%s", error->message);
    s->parameters = xlm_parameters_new();
    s->model = xlm_model_new(&s->config, s->parameters);
    xlm_parameters_seal(s->parameters);
    for (int k = 0; k < xlm_parameters_count(s->parameters); k++) {
        const xlm_parameter *p = xlm_parameters_get(s->parameters, k);
        for (int64_t i = 0; i < p->rows * p->cols; i++)
            xlm_parameters_values(s->parameters)[p->start + i] =
                (p->init == XLM_INIT_ONE) + 0.5 * gradient_number((uint32_t)k, i);
    }
}

static void close_setup(struct setup *s)
{
    xlm_model_free(s->model);
    xlm_parameters_free(s->parameters);
}

/* ---- gradients ---- */

static xlm_var *loss(xlm_tape *tape, void *context)
{
    const struct setup *s = context;
    const int32_t *rows = s->all_rows ? NULL : predicted_rows;
    xlm_var *last = xlm_model_encode(s->model, tape, &batch.corrupted, false, XLM_TOP_LAYER, rows, M)[s->config.layers];
    return xlm_lm_cross_entropy(s->model, tape, XLM_STACK_ENCODER, s->all_rows ? xlm_rows(tape, last, predicted_rows, M) : last,
                                targets, NULL, NULL);
}

static void test_gradients_of_every_option(void **state)
{
    (void)state;
    for (int options = 0; options < 64; options++) {
        struct setup s = {.config = small()};
        s.config.language_embeddings = options & 1;
        s.config.token_types = options & 2;
        s.config.share_layers = options & 4;
        s.config.embedding_size = options & 8 ? 4 : 0;
        s.config.head = options & 16 ? XLM_HEAD_XLM : XLM_HEAD_BERT;
        s.config.position_type = options & 32 ? XLM_POSITIONS_SINUSOIDAL : XLM_POSITIONS_LEARNED;
        /* Dropout on in every other one. */
        if (__builtin_popcount((unsigned)options) % 2 == 0)
            s.config.dropout = s.config.attention_dropout = 0;
        if (options % 5 != 0 && options != 63)
            continue; /* each option with and without each other one among the rest */
        open_setup(&s);
        for (int all = 0; all <= 1; all++) {
            s.all_rows = all;
            gradient_check(s.parameters, loss, &s);
        }
        close_setup(&s);
    }
}

/* Every property of an architecture alone, and two and three of them together. */
static void test_gradients_of_architectures(void **state)
{
    (void)state;
    for (int p = 0; p < 1 << 11; p++) {
        if (__builtin_popcount((unsigned)p) > 2 && p % 53 != 0)
            continue;
        struct setup s = {.config = small(), .all_rows = p % 2 == 0};
        xlm_model_config *c = &s.config;
        c->attention_heads = p % 3 == 0 ? 3 : 1;
        set_properties(p, c);
        c->position_type = p & 256 ? XLM_POSITIONS_ROTARY : XLM_POSITIONS_LEARNED;
        c->attention_window = p & 512 ? 2 : 0;
        c->rotary_theta_local = p & 512 && p & 256 ? 50 : 0;
        c->global_attention_every = p & 512 && p % 5 == 0 ? 2 : 0;
        c->activation = p & 1024 ? XLM_SWISH : XLM_GELU;
        if (p % 7 < 3)
            c->dropout = c->attention_dropout = 0;
        open_setup(&s);
        gradient_check(s.parameters, loss, &s);
        close_setup(&s);
    }
}

/* ---- the two rates of dropout ---- */

/* Each has its own effect, whatever the other is. */
static void test_dropout_and_attention_dropout(void **state)
{
    (void)state;
    double top[4][T * 6];
    for (int rates = 0; rates < 4; rates++) {
        struct setup s = {.config = small()};
        s.config.dropout = rates & 1 ? 0.5 : 0;
        s.config.attention_dropout = rates & 2 ? 0.5 : 0;
        open_setup(&s);
        xlm_tape *tape = xlm_tape_new(s.parameters);
        xlm_tape_begin(tape, NULL, true, 1, 1);
        memcpy(top[rates], xlm_model_encode(s.model, tape, &batch.corrupted, false, XLM_TOP_LAYER, NULL, 0)[2]->value,
               sizeof top[rates]);
        for (int other = 0; other < rates; other++)
            assert_memory_not_equal(top[other], top[rates], sizeof top[rates]);
        xlm_tape_free(tape);
        close_setup(&s);
    }
}

/* ---- weight decay ---- */

/* On weights; not on biases, nor on those of norms. */
static void test_decay_is_on_weights(void **state)
{
    (void)state;
    for (int p = 0; p < 1 << 13; p += 97) {
        struct setup s = {.config = small()};
        xlm_model_config *c = &s.config;
        set_properties(p, c);
        c->language_embeddings = c->token_types = p % 2 == 0 && p % 7 != 1;
        c->embedding_size = p % 3 == 0 ? 4 : 0;
        c->head = p % 5 == 0 ? XLM_HEAD_XLM : XLM_HEAD_BERT;
        c->decoder_layers = p % 7 < 3 ? 1 : 0;
        c->share_embeddings = c->decoder_layers == 0 || p % 7 == 0;
        c->language_tokens = c->decoder_layers > 0 && p % 7 == 1;
        c->adapters = (xlm_adapters){.n = 2, .one = {
            {.name = "lora", .rank = 2, .alpha = 2, .targets = (1u << XLM_ADAPTER_TARGETS) - 1, .learns = true},
            {.name = "bottleneck", .kind = XLM_ADAPTER_BOTTLENECK, .size = 3, .invertible = true}}};
        open_setup(&s);
        int with = 0;
        for (int k = 0; k < xlm_parameters_count(s.parameters); k++) {
            const xlm_parameter *of = xlm_parameters_get(s.parameters, k);
            const bool weight = !g_str_has_suffix(of->name, "bias") && strstr(of->name, "norm") == NULL;
            if (of->decay != weight)
                fail_msg("decay of %s", of->name);
            with += weight;
        }
        assert_true(with > 0 && with < xlm_parameters_count(s.parameters));
        close_setup(&s);
    }
}

/* ---- size ---- */

static int64_t parameters_of(xlm_model_config c)
{
    GError *error = NULL;
    assert_true(xlm_model_check(&c, &error));
    xlm_parameters *p = xlm_parameters_new();
    xlm_model *model = xlm_model_new(&c, p);
    const int64_t n = xlm_parameters_elements(p);
    xlm_model_free(model);
    xlm_parameters_free(p);
    return n;
}

/* Counted by hand; F = 4 d. */
static int64_t layer_size(int64_t d) { return 12 * d * d + 13 * d; }
static int64_t bert_head_size(int64_t d, int64_t e, int64_t v) { return d * e + e + 2 * e + v; }

static xlm_model_config published(int64_t layers, int64_t d, int64_t heads, int64_t v)
{
    xlm_model_config c = {0};
    assert_true(xlm_options_defaults(xlm_model_options, &c, NULL));
    c.layers = layers, c.hidden_size = d, c.attention_heads = heads, c.vocabulary = v, c.languages = 15;
    return c;
}

static void test_number_of_parameters(void **state)
{
    (void)state;
    xlm_model_config c = published(8, 512, 8, 40000); /* roberta-8: the defaults */
    assert_int_equal(parameters_of(c), 40000 * 512 + 514 * 512 + 2 * 512 + 8 * layer_size(512) + bert_head_size(512, 512, 40000));
    assert_int_equal(parameters_of(c), 46266944);
    c = published(12, 768, 12, 250002); /* xlm-r base: 278,295,186 with its one row of token types */
    assert_int_equal(parameters_of(c), 278295186 - 768);
    c = published(12, 768, 12, 119547); /* mBERT */
    c.token_types = true, c.position_offset = 0;
    assert_int_equal(parameters_of(c), (119547 + 512 + 2 + 2) * 768 + 12 * layer_size(768) + bert_head_size(768, 768, 119547));
    assert_int_equal(parameters_of(c), 177974523);
    c = published(12, 768, 12, 30000); /* albert-base: 11.7 M with its pooler of 768 x 769 */
    c.token_types = true, c.position_offset = 0, c.embedding_size = 128, c.share_layers = true;
    assert_int_equal(parameters_of(c),
                     (30000 + 512 + 2 + 2) * 128 + 129 * 768 + layer_size(768) + bert_head_size(768, 128, 30000));
    assert_int_equal(parameters_of(c), 11683584 - 768 * 769 + 768 * 128 + 3 * 128 + 30000);
    c = published(12, 1024, 8, 95000); /* xlm-15 */
    c.head = XLM_HEAD_XLM, c.language_embeddings = true, c.position_offset = 0;
    assert_int_equal(parameters_of(c), (95000 + 512 + 15 + 2) * 1024 + 12 * layer_size(1024) + 95000);
    c.position_type = XLM_POSITIONS_SINUSOIDAL;
    assert_int_equal(parameters_of(c), (95000 + 15 + 2) * 1024 + 12 * layer_size(1024) + 95000);
}

static void refuse(xlm_model_config c, int code, const char *message)
{
    GError *error = NULL;
    assert_false(xlm_model_check(&c, &error));
    assert_string_equal(error->message, message);
    assert_int_equal(xlm_error_exit_code(error), code);
    g_error_free(error);
}

static void test_wrong_configurations_are_refused(void **state)
{
    (void)state;
    xlm_model_config c = published(8, 512, 7, 40000);
    refuse(c, EX_CONFIG, "attention_heads = 7 does not divide hidden_size = 512; take attention_heads = 8");
    c.attention_heads = 4000;
    refuse(c, EX_CONFIG, "attention_heads = 4000 does not divide hidden_size = 512; take attention_heads = 512");
    c = published(8, 512, 8, XLM_SPECIALS);
    refuse(c, EX_DATAERR, "vocabulary = 5: must be from 6, of which 5 are special tokens, to 2147483647; prepare the corpus "
           "again");
    c = published(8, 512, 8, 40000);
    c.languages = 0;
    refuse(c, EX_DATAERR, "languages = 0: must be from 1 to 65535; prepare the corpus again");
}

static void test_defaults_that_depend_on_others(void **state)
{
    (void)state;
    xlm_model_config c = published(8, 512, 8, 40000);
    assert_true(xlm_model_check(&c, NULL));
    assert_int_equal(c.feed_forward_size, 2048);
    assert_int_equal(c.embedding_size, 512);
    c.feed_forward_size = 100, c.embedding_size = 64;
    assert_true(xlm_model_check(&c, NULL));
    assert_int_equal(c.feed_forward_size, 100);
    assert_int_equal(c.embedding_size, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients_of_every_option),
        cmocka_unit_test(test_gradients_of_architectures),
        cmocka_unit_test(test_dropout_and_attention_dropout),
        cmocka_unit_test(test_decay_is_on_weights),
        cmocka_unit_test(test_number_of_parameters),
        cmocka_unit_test(test_wrong_configurations_are_refused),
        cmocka_unit_test(test_defaults_that_depend_on_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
