/* xlm-mpi: optimisers and schedules against textbook loops in double precision. SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <glib.h>
#include <math.h>

#include "base/rng.h"
#include "train/optimiser.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adamw_follows_the_textbook),
        cmocka_unit_test(adam_follows_the_textbook),
        cmocka_unit_test(lamb_follows_the_textbook),
        cmocka_unit_test(schedules_pass_known_points),
        cmocka_unit_test(norm_is_the_root_of_the_sum_of_squares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
