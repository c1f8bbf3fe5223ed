/* xlm-mpi: passes that compute segments again against passes that keep everything. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Built twice: recompute_test in double, recompute_float_test as the programs are. */
#include "model_fixture.h"

#include "nn/layer.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "tensor/tape.h"

enum { TOKENS = 300, LONGEST = 60, LAYERS = 5 };

/* The results of a pass of a model: bits to compare. */
struct outcome {
    xlm_real loss;
    xlm_real *hidden;    /* [(L + 1) x T x d] values */
    xlm_real *gradients; /* NULL without */
    uint64_t peak;
};

static void free_outcome(struct outcome *o)
{
    g_free(o->hidden);
    g_free(o->gradients);
}

/* Objectives on the last states, on a pair of states in the middle, and on the first. One alone leaves layers without use. */
enum { LAST = 1, MIDDLE = 2, FIRST = 4, ALL = LAST | MIDDLE | FIRST };

static void seed(const struct setup *s, xlm_tape *tape, const xlm_batch *b, xlm_var **hidden, int objectives, xlm_real *loss)
{
    xlm_var *y[3];
    int n = 0;
    if (objectives & LAST)
        y[n++] = xlm_lm_cross_entropy(s->model, tape, XLM_STACK_ENCODER,
                                      xlm_rows(tape, hidden[LAYERS], b->predicted_rows, b->predicted), b->targets, NULL, NULL);
    if (objectives & MIDDLE)
        y[n++] = xlm_mean(tape, xlm_cosine(tape, hidden[2], xlm_add(tape, hidden[2], xlm_dropout(tape, hidden[3], 0.2))));
    if (objectives & FIRST)
        y[n++] = xlm_scale(tape, xlm_mean(tape, xlm_gelu(tape, hidden[0], NULL)), 0.3);
    *loss = 0;
    for (int k = 0; k < n; k++) {
        *loss += *y[k]->value;
        xlm_tape_seed(tape, y[k], 0.5 + k);
    }
}

/* The second pass of a tape, so that memory of the first is there to be misused. */
static struct outcome run(const struct setup *s, const xlm_batch *b, bool recompute, int objectives, bool with_gradients)
{
    const size_t size = (size_t)xlm_parameters_size(s->parameters), states = (size_t)(b->corrupted.tokens * s->config.hidden_size);
    struct outcome o = {.gradients = NULL};
    o.hidden = g_new(xlm_real, states * (LAYERS + 1));
    if (with_gradients)
        o.gradients = g_new(xlm_real, size);
    xlm_tape *tape = xlm_tape_new(s->parameters);
    xlm_tape_recompute(tape, recompute);
    for (uint64_t step = 1; step <= 2; step++) {
        if (with_gradients)
            memset(o.gradients, 0, size * sizeof *o.gradients);
        xlm_tape_begin(tape, o.gradients, true, 7, step);
        xlm_var **hidden = xlm_model_encode(s->model, tape, &b->corrupted, false, XLM_TOP_LAYER, NULL, 0);
        seed(s, tape, b, hidden, objectives, &o.loss);
        if (with_gradients)
            xlm_tape_backward(tape);
        for (size_t l = 0; l <= LAYERS; l++)
            memcpy(o.hidden + l * states, hidden[l]->value, states * sizeof *o.hidden);
        assert_true(step == 1 || xlm_tape_peak_bytes(tape) == o.peak);
        o.peak = xlm_tape_peak_bytes(tape);
    }
    xlm_tape_free(tape);
    return o;
}

/* Recomputing makes the bits that keeping makes, in less memory. */
static void compare(const struct setup *s, const xlm_batch *b, int objectives, bool with_gradients)
{
    struct outcome stored = run(s, b, false, objectives, with_gradients), again = run(s, b, true, objectives, with_gradients);
    assert_memory_equal(&again.loss, &stored.loss, sizeof stored.loss);
    assert_memory_equal(again.hidden, stored.hidden,
                        sizeof *stored.hidden * (size_t)(b->corrupted.tokens * s->config.hidden_size * (LAYERS + 1)));
    if (with_gradients) {
        double largest = 0;
        for (int64_t i = 0; i < xlm_parameters_size(s->parameters); i++)
            largest = fmax(largest, fabs(stored.gradients[i]));
        assert_true(largest > 1e-4);
        assert_memory_equal(again.gradients, stored.gradients,
                            sizeof *stored.gradients * (size_t)xlm_parameters_size(s->parameters));
    }
    /* A layer makes 16 d and more a token, and d of them are stored. */
    const uint64_t saved = sizeof(xlm_real) * (uint64_t)(b->corrupted.tokens * s->config.hidden_size) * (15 * (LAYERS - 1) - 1);
    if (again.peak + saved > stored.peak)
        fail_msg("%.0f bytes with recomputing, %.0f without", (double)again.peak, (double)stored.peak);
    free_outcome(&stored);
    free_outcome(&again);
}

static xlm_model_config deep(bool share)
{
    xlm_model_config c = middling();
    c.layers = LAYERS;
    c.hidden_size = 48;
    c.share_layers = share;
    c.embedding_size = share ? 24 : 0;
    return c;
}

static void test_same_bits_in_less_memory(void **state)
{
    (void)state;
    struct big b = make_big(TOKENS, LONGEST, 1200);
    for (int share = 0; share <= 1; share++) {
        struct setup s = open_setup(deep(share != 0), 0.1);
        for (int objectives = 1; objectives <= ALL; objectives++)
            compare(&s, &b.batch, objectives, true);
        compare(&s, &b.batch, ALL, false);
        close_setup(&s);
    }
    free_big(&b);
}

static void test_threads_and_no_dropout(void **state)
{
    (void)state;
    const int before = omp_get_max_threads();
    struct big b = make_big(TOKENS, LONGEST, 1200);
    xlm_model_config c = deep(false);
    struct setup s = open_setup(c, 0.1);
    omp_set_num_threads(2);
    compare(&s, &b.batch, ALL, true);
    omp_set_num_threads(before);
    close_setup(&s);
    c.dropout = c.attention_dropout = 0;
    s = open_setup(c, 0.1);
    struct outcome stored = run(&s, &b.batch, false, ALL, true), again = run(&s, &b.batch, true, ALL, true);
    assert_memory_equal(again.gradients, stored.gradients, sizeof *stored.gradients * (size_t)xlm_parameters_size(s.parameters));
    assert_true(again.peak < stored.peak);
    free_outcome(&stored);
    free_outcome(&again);
    close_setup(&s);
    free_big(&b);
}

static bool is_below(xlm_layer layer, int64_t frozen)
{
    return layer.stack == XLM_STACK_EMBEDDINGS || (layer.stack == XLM_STACK_ENCODER && layer.number < frozen);
}

/* The embeddings and the lowest layers without gradient: the other gradients are the same bits, those are not touched, and what
 * they would need is not kept. */
static void test_frozen_layers(void **state)
{
    (void)state;
    struct big b = make_big(TOKENS, LONGEST, 1200);
    for (int share = 0; share <= 1; share++) {
        struct setup s = open_setup(deep(share != 0), 0.1);
        struct outcome all = run(&s, &b.batch, false, ALL, true);
        uint64_t peak = all.peak;
        for (int64_t frozen = 0; frozen <= xlm_layers_of(&s.config, XLM_STACK_ENCODER); frozen++) {
            for (int k = 0; k < xlm_parameters_count(s.parameters); k++)
                if (is_below(xlm_layer_of(xlm_parameters_get(s.parameters, k)->name, NULL), frozen))
                    xlm_parameters_set_rate(s.parameters, k, 0);
            struct outcome part = run(&s, &b.batch, false, ALL, true), again = run(&s, &b.batch, true, ALL, true);
            assert_memory_equal(&part.loss, &all.loss, sizeof all.loss);
            for (int k = 0; k < xlm_parameters_count(s.parameters); k++) {
                const xlm_parameter *p = xlm_parameters_get(s.parameters, k);
                const size_t bytes = sizeof(xlm_real) * (size_t)(p->rows * p->cols);
                for (int64_t i = 0; p->rate == 0 && i < p->rows * p->cols; i++)
                    assert_true(part.gradients[p->start + i] == 0);
                if (p->rate != 0)
                    assert_memory_equal(part.gradients + p->start, all.gradients + p->start, bytes);
            }
            assert_memory_equal(again.gradients, part.gradients,
                                sizeof *part.gradients * (size_t)xlm_parameters_size(s.parameters));
            /* From the second frozen layer on, what one has is given to the next. */
            assert_true(share || frozen < 2 ||
                        part.peak + sizeof(xlm_real) * (uint64_t)(TOKENS * s.config.hidden_size) * 14 < peak);
            peak = part.peak;
            free_outcome(&part);
            free_outcome(&again);
        }
        free_outcome(&all);
        close_setup(&s);
    }
    free_big(&b);
}

/* ---- segments of every form ---- */

enum { ROWS = 7, WIDTH = 5 };

/* An operator that, as those of plugins do, has its inputs' gradients opened by the tape. */
struct twice {
    xlm_var *x, *y;
};

static void twice_backward(void *pointer)
{
    const struct twice *s = pointer;
    for (int i = 0; i < ROWS * WIDTH; i++)
        s->x->grad[i] += 2 * s->y->grad[i];
}

static xlm_var *inner(xlm_tape *tape, xlm_var *x, const void *data)
{
    (void)data;
    struct twice *s = xlm_tape_take(tape, sizeof *s);
    *s = (struct twice){.x = x, .y = xlm_operator(tape, ROWS, WIDTH, 1, &x, twice_backward, s)};
    for (int i = 0; i < ROWS * WIDTH; i++)
        s->y->value[i] = 2 * x->value[i];
    return xlm_dropout(tape, xlm_gelu(tape, xlm_linear(tape, s->y, xlm_param(tape, "w"), NULL), NULL), 0.3);
}

static xlm_var *outer(xlm_tape *tape, xlm_var *x, const void *data)
{
    xlm_var *y = xlm_tape_segment(tape, xlm_tape_segment(tape, x, inner, data), inner, data);
    return xlm_add(tape, y, x);
}

static xlm_var *same(xlm_tape *tape, xlm_var *x, const void *data)
{
    (void)tape;
    (void)data;
    return x;
}

static xlm_real run_segments(xlm_parameters *p, bool recompute, bool constant, xlm_real *gradients)
{
    xlm_tape *tape = xlm_tape_new(p);
    xlm_tape_recompute(tape, recompute);
    xlm_tape_begin(tape, gradients, true, 2, 3);
    xlm_var *x = xlm_param(tape, "x");
    if (constant)
        x = xlm_constant(tape, ROWS, WIDTH, x->value);
    for (int k = 0; k < 3; k++)
        x = xlm_tape_segment(tape, xlm_tape_segment(tape, x, outer, NULL), same, NULL);
    xlm_var *loss = xlm_mean(tape, xlm_dropout(tape, xlm_linear(tape, x, xlm_param(tape, "w"), NULL), 0.5));
    xlm_tape_seed(tape, loss, 1);
    xlm_tape_backward(tape);
    const xlm_real value = *loss->value;
    xlm_tape_free(tape);
    return value;
}

/* Segments in segments, that give back what they were given, whose input is a parameter or wants no gradient. */
static void test_segments_of_every_form(void **state)
{
    (void)state;
    xlm_parameters *p = xlm_parameters_new();
    xlm_parameters_add(p, "x", ROWS, WIDTH, XLM_INIT_NORMAL, true);
    xlm_parameters_add(p, "w", WIDTH, WIDTH, XLM_INIT_NORMAL, true);
    xlm_parameters_seal(p);
    for (int64_t i = 0; i < xlm_parameters_size(p); i++)
        xlm_parameters_values(p)[i] = (xlm_real)number(1, i);
    for (int constant = 0; constant <= 1; constant++) {
        const size_t n = (size_t)xlm_parameters_size(p);
        xlm_real *stored = g_new0(xlm_real, n), *again = g_new0(xlm_real, n);
        const xlm_real wanted = run_segments(p, false, constant != 0, stored), got = run_segments(p, true, constant != 0, again);
        assert_memory_equal(&got, &wanted, sizeof got);
        assert_memory_equal(again, stored, n * sizeof *stored);
        assert_true(fabs(stored[xlm_parameters_get(p, 1)->start]) > 0);
        g_free(stored);
        g_free(again);
    }
    xlm_parameters_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits_in_less_memory),
        cmocka_unit_test(test_threads_and_no_dropout),
        cmocka_unit_test(test_frozen_layers),
        cmocka_unit_test(test_segments_of_every_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
