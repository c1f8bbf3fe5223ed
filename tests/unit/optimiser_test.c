/* xlm-mpi: optimisers and schedules against textbook loops in double precision, rates of parameters.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <glib.h>
#include <math.h>
#include <string.h>

#include "base/bfloat16.h"
#include "base/rng.h"
#include "checkpoint/checkpoint_mean.h"
#include "job/optimiser.h"
#include "job/rates.h"
#include "options/options.h"

enum { STEPS = 25 };
static const double TOLERANCE = 2e-5;

static xlm_parameters *two_parameters(void)
{
    xlm_parameters *p = xlm_parameters_new();
    xlm_parameters_add(p, "weight", 7, 5, XLM_INIT_NORMAL, true);
    xlm_parameters_add(p, "bias", 1, 5, XLM_INIT_NORMAL, false);
    xlm_parameters_seal(p);
    xlm_parameters_initialise(p, 3);
    return p;
}

static double draw_gradient(int64_t step, int parameter, int64_t i)
{
    double pair[2];
    const xlm_rng_block b = xlm_rng_draw(xlm_rng_make_key(9, XLM_RNG_SAMPLE, (uint64_t)step), (uint32_t)i, (uint32_t)parameter, 0,
                                         0);
    xlm_rng_normal(b.v[0], b.v[1], pair);
    return pair[0];
}

static const xlm_comm alone = {.ranks = 1, .local_ranks = 1};

/* The update rules as the papers have them, one parameter of n numbers. */
typedef struct textbook {
    double w[64], m[64], v[64];
    int64_t n;
    double decay;
} textbook;

static void textbook_update(textbook *p, const xlm_optimiser_config *c, const double *g, int64_t step, double rate)
{
    double r[64], w_norm = 0, r_norm = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const double gradient = g[i] + (c->algorithm == XLM_OPTIMISER_ADAM ? p->decay * p->w[i] : 0);
        p->m[i] = c->beta1 * p->m[i] + (1 - c->beta1) * gradient;
        p->v[i] = c->beta2 * p->v[i] + (1 - c->beta2) * gradient * gradient;
        const double m_hat = p->m[i] / (1 - pow(c->beta1, (double)step + 1)),
            v_hat = p->v[i] / (1 - pow(c->beta2, (double)step + 1));
        r[i] = m_hat / (sqrt(v_hat) + c->epsilon) + (c->algorithm == XLM_OPTIMISER_ADAM ? 0 : p->decay * p->w[i]);
        w_norm += p->w[i] * p->w[i];
        r_norm += r[i] * r[i];
    }
    const double trust = c->algorithm == XLM_OPTIMISER_LAMB && w_norm > 0 && r_norm > 0 ? sqrt(w_norm) / sqrt(r_norm) : 1;
    for (int64_t i = 0; i < p->n; i++)
        p->w[i] -= rate * trust * r[i];
}

static void compare(int64_t algorithm)
{
    const xlm_optimiser_config config = {
        .algorithm = algorithm, .learning_rate = 0.01, .beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-6, .weight_decay = 0.1,
    };
    xlm_parameters *p = two_parameters();
    const xlm_shards shards = xlm_shards_of(&alone, xlm_parameters_size(p));
    xlm_optimiser *o = xlm_optimiser_new(&config, p, &shards);
    textbook book[2] = {0};
    float *gradient = g_new0(float, xlm_parameters_size(p));
    for (int k = 0; k < 2; k++) {
        const xlm_parameter *parameter = xlm_parameters_get(p, k);
        book[k].n = parameter->rows * parameter->cols;
        book[k].decay = parameter->decay ? config.weight_decay : 0;
        for (int64_t i = 0; i < book[k].n; i++)
            book[k].w[i] = xlm_parameters_values(p)[parameter->start + i];
    }
    for (int64_t step = 0; step < STEPS; step++) {
        const double factor = step % 2 == 0 ? 1 : 0.25;
        for (int k = 0; k < 2; k++) {
            double scaled[64];
            for (int64_t i = 0; i < book[k].n; i++) {
                const float drawn = (float)draw_gradient(step, k, i);
                gradient[xlm_parameters_get(p, k)->start + i] = drawn;
                scaled[i] = drawn * factor;
            }
            textbook_update(&book[k], &config, scaled, step, 0.01);
        }
        xlm_optimiser_update(o, gradient, factor, step, 0.01);
    }
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < book[k].n; i++)
            assert_true(fabs(xlm_parameters_values(p)[xlm_parameters_get(p, k)->start + i] - book[k].w[i]) < TOLERANCE);
    g_free(gradient);
    xlm_optimiser_free(o);
    xlm_parameters_free(p);
}

static void adamw_follows_the_textbook(void **state) { (void)state; compare(XLM_OPTIMISER_ADAMW); }
static void adam_follows_the_textbook(void **state) { (void)state; compare(XLM_OPTIMISER_ADAM); }
static void lamb_follows_the_textbook(void **state) { (void)state; compare(XLM_OPTIMISER_LAMB); }

static void assert_near(double a, double b) { assert_true(fabs(a - b) < 1e-12); }

static void schedules_pass_known_points(void **state)
{
    (void)state;
    xlm_optimiser_config c = {.learning_rate = 2, .warmup = 10, .schedule = XLM_SCHEDULE_LINEAR};
    assert_near(xlm_learning_rate(&c, 0, 110), 0.2);
    assert_near(xlm_learning_rate(&c, 9, 110), 2);
    assert_near(xlm_learning_rate(&c, 10, 110), 2);
    assert_near(xlm_learning_rate(&c, 60, 110), 1);
    assert_near(xlm_learning_rate(&c, 109, 110), 0.02);
    c.schedule = XLM_SCHEDULE_CONSTANT;
    assert_near(xlm_learning_rate(&c, 4, 110), 1);
    assert_near(xlm_learning_rate(&c, 100, 110), 2);
    c.schedule = XLM_SCHEDULE_INVERSE_SQRT;
    assert_near(xlm_learning_rate(&c, 9, 1000), 2);
    assert_near(xlm_learning_rate(&c, 39, 1000), 1);
    c.warmup = 0;
    assert_near(xlm_learning_rate(&c, 0, 1000), 2);
    assert_near(xlm_learning_rate(&c, 3, 1000), 1);
}

/* The last 20 of 100 steps; a quarter of the way is step 85. */
static void wsd_is_constant_and_then_falls_to_zero(void **state)
{
    (void)state;
    static const double quarter[] = {[XLM_DECAY_LINEAR] = 0.75, [XLM_DECAY_SQRT] = 0.5, [XLM_DECAY_COSINE] = 0.85355339059327373};
    xlm_optimiser_config c = {.learning_rate = 2, .warmup = 10, .schedule = XLM_SCHEDULE_WSD, .decay = 0.2};
    for (c.decay_form = 0; c.decay_form < (int64_t)G_N_ELEMENTS(quarter); c.decay_form++) {
        assert_near(xlm_learning_rate(&c, 4, 100), 1);
        assert_near(xlm_learning_rate(&c, 10, 100), 2);
        assert_near(xlm_learning_rate(&c, 80, 100), 2);
        assert_near(xlm_learning_rate(&c, 85, 100), 2 * quarter[c.decay_form]);
        assert_near(xlm_learning_rate(&c, 100, 100), 0);
        assert_true(xlm_learning_rate(&c, 99, 100) > 0);
    }
    c.decay_form = XLM_DECAY_LINEAR;
    c.decay = 0;
    assert_near(xlm_learning_rate(&c, 99, 100), 2);
    c.decay = 1; /* it does not begin before the warm-up has ended */
    assert_near(xlm_learning_rate(&c, 10, 100), 2);
    assert_near(xlm_learning_rate(&c, 55, 100), 1);
    c.warmup = 200;
    assert_near(xlm_learning_rate(&c, 99, 100), 1);
}

static void norm_is_the_root_of_the_sum_of_squares(void **state)
{
    (void)state;
    xlm_parameters *p = xlm_parameters_new();
    xlm_parameters_add(p, "weight", 100, 1003, XLM_INIT_ZERO, true);
    xlm_parameters_seal(p);
    const int64_t n = xlm_parameters_size(p);
    float *g = g_new0(float, n);
    double expected = 0;
    for (int64_t i = 0; i < 100 * 1003; i++) {
        g[i] = (float)(i % 17) - 8;
        expected += (double)g[i] * g[i];
    }
    const xlm_shards shards = xlm_shards_of(&alone, n);
    assert_true(fabs(xlm_gradient_norm(&shards, g) - sqrt(expected)) < 1e-9 * sqrt(expected));
    g[5] = NAN;
    assert_true(isnan(xlm_gradient_norm(&shards, g)));
    g_free(g);
    xlm_parameters_free(p);
}

/* ---- rates of parameters ---- */

static double rate_of(const xlm_parameters *p, const char *name)
{
    const int k = xlm_parameters_find(p, name);
    assert_true(k >= 0);
    return xlm_parameters_get(p, k)->rate;
}

/* The parameters of a model of three layers and a decoder with its own embeddings, and an objective's, with these settings. */
static xlm_parameters *rated_decoder(double decay, const char *freeze, bool share, bool head_frozen, int decoder_layers)
{
    xlm_model_config model = {0};
    const xlm_optimiser_config config = {.learning_rate = 1, .layer_decay = decay, .freeze = (char *)freeze};
    assert_true(xlm_options_defaults(xlm_model_options, &model, NULL));
    model.layers = 3;
    model.decoder_layers = decoder_layers;
    model.share_embeddings = decoder_layers == 0;
    model.hidden_size = 8;
    model.attention_heads = 2;
    model.vocabulary = 20;
    model.languages = 2;
    model.share_layers = share;
    model.language_embeddings = true;
    model.embedding_size = 4;
    model.final_norm = true;
    assert_true(xlm_model_check(&model, NULL));
    xlm_parameters *p = xlm_parameters_new();
    xlm_model_free(xlm_model_new(&model, p));
    xlm_parameters_add(p, "objectives/tagging/weight", 3, 8, XLM_INIT_NORMAL, true);
    assert_true(xlm_rates_set(&config, &model, head_frozen, p, NULL));
    return p;
}

static xlm_parameters *rated(double decay, const char *freeze, bool share, bool head_frozen)
{
    return rated_decoder(decay, freeze, share, head_frozen, 0);
}

/* Powers of a half are exact. */
static void rates_fall_from_layer_to_layer(void **state)
{
    (void)state;
    static const struct { const char *name; double rate; } known[] = {
        {"embeddings/word/weight", 0.125}, {"embeddings/position/weight", 0.125}, {"embeddings/language/weight", 0.125},
        {"embeddings/layer_norm/bias", 0.125}, {"embeddings/projection/weight", 0.125},
        {"encoder/layer.0/attention/query/weight", 0.25}, {"encoder/layer.0/feed_forward/layer_norm/bias", 0.25},
        {"encoder/layer.1/attention/output/bias", 0.5}, {"encoder/layer.2/feed_forward/output/weight", 1},
        {"lm_head/dense/weight", 1}, {"lm_head/bias", 1}, {"objectives/tagging/weight", 1},
    };
    xlm_parameters *p = rated(0.5, NULL, false, false);
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
        assert_true(rate_of(p, known[i].name) == known[i].rate);
    xlm_parameters_free(p);
    p = rated(0.5, NULL, true, false);
    assert_true(rate_of(p, "embeddings/word/weight") == 0.5 && rate_of(p, "encoder/layer.shared/attention/key/bias") == 1 &&
                rate_of(p, "lm_head/bias") == 1);
    xlm_parameters_free(p);
    p = rated(1, NULL, false, false);
    for (int k = 0; k < xlm_parameters_count(p); k++)
        assert_true(xlm_parameters_get(p, k)->rate == 1);
    xlm_parameters_free(p);
}

/* The encoder is below the decoder's layers, and these above their own embeddings. */
static void a_decoder_has_rates_of_its_own(void **state)
{
    (void)state;
    static const struct { const char *name; double rate, frozen; } known[] = {
        {"embeddings/word/weight", 0.03125, 0}, {"encoder/layer.0/attention/query/weight", 0.0625, 0},
        {"encoder/layer.2/feed_forward/output/weight", 0.25, 0.25}, {"decoder/embeddings/word/weight", 0.25, 0.25},
        {"decoder/embeddings/projection/bias", 0.25, 0.25}, {"decoder/layer.0/memory_attention/query/weight", 0.5, 0.5},
        {"decoder/layer.1/attention/query/weight", 1, 1}, {"lm_head/bias", 1, 0}, {"decoder/lm_head/dense/weight", 1, 0},
        {"decoder/lm_head/bias", 1, 0},
    };
    xlm_parameters *all = rated_decoder(0.5, NULL, false, false, 2), *some = rated_decoder(0.5, "2", false, true, 2);
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
        assert_true(rate_of(all, known[i].name) == known[i].rate && rate_of(some, known[i].name) == known[i].frozen);
    xlm_parameters_free(all);
    xlm_parameters_free(some);
}

static void what_is_frozen_has_no_rate(void **state)
{
    (void)state;
    xlm_parameters *p = rated(0.5, "embeddings", false, true);
    assert_true(rate_of(p, "embeddings/word/weight") == 0 && rate_of(p, "embeddings/projection/bias") == 0);
    assert_true(rate_of(p, "encoder/layer.0/attention/query/weight") == 0.25 && rate_of(p, "lm_head/dense/bias") == 0);
    assert_true(rate_of(p, "objectives/tagging/weight") == 1);
    xlm_parameters_free(p);
    p = rated(0.5, "2", false, false);
    assert_true(rate_of(p, "embeddings/word/weight") == 0 && rate_of(p, "encoder/layer.0/attention/query/bias") == 0 &&
                rate_of(p, "encoder/layer.1/feed_forward/output/bias") == 0);
    assert_true(rate_of(p, "encoder/layer.2/attention/query/bias") == 1 && rate_of(p, "lm_head/bias") == 1);
    assert_true(rate_of(p, "encoder/layer_norm/weight") == 1);
    xlm_parameters_free(p);
    /* The norm after the last layer is no part of the head. */
    p = rated_decoder(0.5, "3", false, false, 2);
    assert_true(rate_of(p, "encoder/layer.2/attention/query/bias") == 0 && rate_of(p, "encoder/layer_norm/weight") == 0 &&
                rate_of(p, "encoder/layer_norm/bias") == 0);
    assert_true(rate_of(p, "decoder/layer_norm/weight") == 1 && rate_of(p, "lm_head/bias") == 1);
    xlm_parameters_free(p);
    static const char *const wrong[] = {"4", "0", "-1", "embedding", "2 layers", "1.5"};
    int64_t layers;
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        GError *error = NULL;
        assert_false(xlm_rates_read_freeze(wrong[i], 3, &layers, &error));
        assert_non_null(strstr(error->message, wrong[i]));
        g_error_free(error);
    }
    assert_true(xlm_rates_read_freeze("3", 3, &layers, NULL) && layers == 3);
    assert_true(xlm_rates_read_freeze(NULL, 3, &layers, NULL) && layers == -1);
}

static void layer_of_a_name(void **state)
{
    (void)state;
    static const struct {
        const char *name, *rest;
        xlm_layer layer;
    } cases[] = {
        {"encoder/layer.0/attention/query/weight", "attention/query/weight", {XLM_STACK_ENCODER, 0}},
        {"encoder/layer.12/feed_forward", "feed_forward", {XLM_STACK_ENCODER, 12}},
        {"encoder/layer.shared/attention/output/bias", "attention/output/bias", {XLM_STACK_ENCODER, 0}},
        {"embeddings/word/weight", NULL, {XLM_STACK_EMBEDDINGS, 0}},
        {"lm_head/bias", NULL, {XLM_STACK_NONE, 0}},
        {"decoder/layer.4/attention/query/weight", "attention/query/weight", {XLM_STACK_DECODER, 4}},
        {"decoder/embeddings/word/weight", NULL, {XLM_STACK_DECODER, XLM_OWN_EMBEDDINGS}},
        {"decoder/lm_head/bias", NULL, {XLM_STACK_NONE, 0}},
        {"decoder/embeddingses/bias", NULL, {XLM_STACK_NONE, 0}},
        {"objectives/encoder/layer.3/weight", NULL, {XLM_STACK_NONE, 0}},
        {"encoder_layer.3/weight", NULL, {XLM_STACK_NONE, 0}},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *rest;
        const xlm_layer layer = xlm_layer_of(cases[i].name, &rest);
        assert_true(layer.stack == cases[i].layer.stack && layer.number == cases[i].layer.number);
        assert_string_equal(rest, cases[i].rest != NULL ? cases[i].rest : cases[i].name);
        if (layer.stack == XLM_STACK_ENCODER) {
            char name[100];
            const xlm_model_config config = {.layers = 20, .share_layers = strstr(cases[i].name, "shared") != NULL};
            xlm_layer_name(&config, layer, rest, name, sizeof name);
            assert_string_equal(name, cases[i].name);
            assert_int_equal(xlm_layers_above(&config, layer), config.share_layers ? 0 : 19 - layer.number);
        }
    }
}

/* Two parameters, the first of rate `rate`, after some steps with weight decay. */
static xlm_parameters *updated(int64_t algorithm, double rate, double learning_rate, float *moment)
{
    const xlm_optimiser_config config = {
        .algorithm = algorithm, .beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-6, .weight_decay = 0.1,
    };
    xlm_parameters *p = two_parameters();
    xlm_parameters_set_rate(p, 0, rate);
    const xlm_shards shards = xlm_shards_of(&alone, xlm_parameters_size(p));
    xlm_optimiser *o = xlm_optimiser_new(&config, p, &shards);
    float *gradient = g_new0(float, xlm_parameters_size(p));
    for (int64_t step = 0; step < STEPS; step++) {
        for (int64_t i = 0; i < xlm_parameters_size(p); i++)
            gradient[i] = (float)draw_gradient(step, 0, i);
        xlm_optimiser_update(o, gradient, 1, step, learning_rate);
    }
    for (int64_t i = 0; i < 35; i++)
        *moment += fabsf(o->first_moment[i]) + o->second_moment[i];
    g_free(gradient);
    xlm_optimiser_free(o);
    return p;
}

static void updates_go_by_the_rate(void **state)
{
    (void)state;
    for (int64_t algorithm = XLM_OPTIMISER_ADAMW; algorithm <= XLM_OPTIMISER_LAMB; algorithm++) {
        float moment[4] = {0};
        xlm_parameters *first = two_parameters(), *frozen = updated(algorithm, 0, 0.01, &moment[0]),
                       *quarter = updated(algorithm, 0.25, 0.01, &moment[1]), *whole = updated(algorithm, 1, 0.01, &moment[2]),
                       *slow = updated(algorithm, 1, 0.0025, &moment[3]);
        const float *values[] = {xlm_parameters_values(first), xlm_parameters_values(frozen), xlm_parameters_values(quarter),
                                 xlm_parameters_values(whole), xlm_parameters_values(slow)};
        const int64_t start = xlm_parameters_get(first, 1)->start;
        assert_memory_equal(values[1], values[0], 35 * sizeof(float)); /* frozen: decay and all */
        assert_true(moment[0] == 0 && moment[1] > 0);
        assert_memory_equal(values[2], values[4], 35 * sizeof(float)); /* a quarter of the rate is a rate of a quarter */
        for (int k = 1; k <= 2; k++)
            assert_memory_equal(values[k] + start, values[3] + start, 5 * sizeof(float)); /* the other parameter is as ever */
        assert_true(values[2][0] != values[3][0] && values[3][0] != values[0][0]);
        xlm_parameters *const all[] = {first, frozen, quarter, whole, slow};
        for (size_t k = 0; k < G_N_ELEMENTS(all); k++)
            xlm_parameters_free(all[k]);
    }
}

/* Masters are what parameters without masters would be, to the bit; what passes read is rounded, and can be shown whole. */
static void masters_are_updated(void **state)
{
    (void)state;
    for (int64_t algorithm = XLM_OPTIMISER_ADAMW; algorithm <= XLM_OPTIMISER_LAMB; algorithm++) {
        const xlm_optimiser_config config = {.algorithm = algorithm, .beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-6};
        xlm_parameters *p[2] = {two_parameters(), two_parameters()};
        const int64_t n = xlm_parameters_size(p[0]);
        const xlm_shards shards = xlm_shards_of(&alone, n);
        xlm_optimiser *o[2] = {xlm_optimiser_new(&config, p[0], &shards), xlm_optimiser_new(&config, p[1], &shards)};
        g_autofree float *gradient = g_new0(float, n);
        const float *floats = xlm_parameters_values(p[0]), *rounded = xlm_parameters_values(p[1]);
        xlm_optimiser_keep_masters(o[1]);
        for (int64_t step = 0; step < STEPS; step++)
            for (int k = 0; k < 2; k++) {
                for (int64_t i = 0; i < n; i++)
                    gradient[i] = (float)draw_gradient(step, 0, i);
                xlm_optimiser_update(o[k], gradient, 1, step, 0.01);
            }
        assert_memory_equal(o[1]->masters, floats, sizeof(float) * (size_t)n);
        assert_memory_not_equal(rounded, floats, sizeof(float) * (size_t)n);
        for (int64_t i = 0; i < n; i++)
            assert_true(rounded[i] == xlm_bfloat16_round(floats[i]));
        xlm_optimiser_show_masters(o[1]);
        assert_memory_equal(rounded, floats, sizeof(float) * (size_t)n);
        for (int k = 0; k < 2; k++) {
            xlm_optimiser_free(o[k]);
            xlm_parameters_free(p[k]);
        }
    }
}

/* ---- members of the mean of checkpoints ---- */

static void members_are(const xlm_best_score *members, const char *steps)
{
    GString *text = g_string_new(NULL);
    for (int i = 0; i < 3; i++)
        g_string_append_printf(text, "%s%.0f", i > 0 ? " " : "", members[i].step);
    assert_string_equal(text->str, steps);
    g_string_free(text, TRUE);
}

static void the_last_or_the_best_are_averaged(void **state)
{
    (void)state;
    static const double scores[] = {0.5, 0.7, 0.6, 0.7, 0.5, 0.65};
    static const char *const last[] = {"1 0 0", "1 2 0", "1 2 3", "2 3 4", "3 4 5", "4 5 6"};
    static const char *const best[] = {"1 0 0", "1 2 0", "1 2 3", "2 3 4", "2 3 4", "2 4 6"};
    xlm_best_score by_step[3] = {{0}}, by_score[3] = {{0}};
    for (int i = 0; i < 6; i++) {
        xlm_checkpoint_mean_add(by_step, 3, false, (xlm_best_score){scores[i], i + 1});
        xlm_checkpoint_mean_add(by_score, 3, true, (xlm_best_score){scores[i], i + 1});
        members_are(by_step, last[i]);
        members_are(by_score, best[i]);
        assert_int_equal(xlm_checkpoint_mean_members(by_score, 3), MIN(i + 1, 3));
    }
    /* The newest of equal checkpoints is removed, and so is a new one. */
    xlm_best_score equal[3] = {{0}};
    for (int i = 0; i < 4; i++)
        xlm_checkpoint_mean_add(equal, 3, true, (xlm_best_score){0.5, i + 1});
    members_are(equal, "1 2 3");
    xlm_checkpoint_mean_add(equal, 3, true, (xlm_best_score){0.6, 5});
    members_are(equal, "1 2 5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adamw_follows_the_textbook),
        cmocka_unit_test(adam_follows_the_textbook),
        cmocka_unit_test(lamb_follows_the_textbook),
        cmocka_unit_test(schedules_pass_known_points),
        cmocka_unit_test(wsd_is_constant_and_then_falls_to_zero),
        cmocka_unit_test(norm_is_the_root_of_the_sum_of_squares),
        cmocka_unit_test(rates_fall_from_layer_to_layer),
        cmocka_unit_test(what_is_frozen_has_no_rate),
        cmocka_unit_test(a_decoder_has_rates_of_its_own),
        cmocka_unit_test(layer_of_a_name),
        cmocka_unit_test(updates_go_by_the_rate),
        cmocka_unit_test(masters_are_updated),
        cmocka_unit_test(the_last_or_the_best_are_averaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
