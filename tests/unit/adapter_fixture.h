/* xlm-mpi: gradients of models with adapters, in double precision. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TEST_ADAPTER_FIXTURE_H
#define XLM_TEST_ADAPTER_FIXTURE_H

#include "gradient.h"
#include "model_fixture.h"

#include "nn/adapter.h"

enum { TOKENS = 23, LONGEST = 7, VOCABULARY = 19 };

/* A result of the model for a text; a model with adapters, of four. */
typedef xlm_var *adapted_result(const struct setup *s, xlm_tape *tape, const xlm_batch *b);
typedef xlm_model_config adapted_model(bool one, bool other);

struct adapted_context {
    const struct setup *s;
    const xlm_batch *batch;
    adapted_result *result;
};

static inline xlm_var *build_adapted(xlm_tape *tape, void *context)
{
    const struct adapted_context *c = context;
    return c->result(c->s, tape, c->batch);
}

static inline void check_adapted_gradients(adapted_model *model, adapted_result *result)
{
    struct big b = make_big(TOKENS, LONGEST, VOCABULARY);
    for (int kind = 0; kind < 4; kind++) {
        struct setup s = open_setup(model(kind & 1, kind & 2), 0.5);
        struct adapted_context context = {&s, &b.batch, result};
        gradient_check(s.parameters, build_adapted, &context);
        close_setup(&s);
    }
    free_big(&b);
}

/* Dropout of an adapter: in training alone what it reads is another. */
static inline void check_adapter_dropout(xlm_model_config config, int adapter, adapted_result *result)
{
    struct big b = make_big(TOKENS, LONGEST, VOCABULARY);
    for (int training = 0; training < 2; training++) {
        double *without = NULL;
        for (int dropout = 0; dropout < 2; dropout++) {
            config.adapters.one[adapter].dropout = dropout / 2.0;
            struct setup s = open_setup(config, 0.5);
            xlm_tape *tape = xlm_tape_new(s.parameters);
            xlm_tape_begin(tape, NULL, training, 1, 1);
            const xlm_var *y = result(&s, tape, &b.batch);
            const size_t size = sizeof *without * (size_t)(y->rows * y->cols);
            if (dropout == 0)
                without = g_memdup2(y->value, size);
            else
                assert_int_equal(memcmp(y->value, without, size) != 0, training);
            xlm_tape_free(tape);
            close_setup(&s);
        }
        g_free(without);
    }
    free_big(&b);
}

/* With the rest of the model frozen, the parameters of adapters that learn, of which there are so many, have the gradients that
 * they have otherwise, and the rest has none. each: every element of these has a gradient. */
static inline void check_frozen(xlm_model_config config, adapted_result *result, int parameters, bool each)
{
    struct big b = make_big(TOKENS, LONGEST, VOCABULARY);
    struct setup s = open_setup(config, 0.5);
    xlm_tape *tape = xlm_tape_new(s.parameters);
    xlm_real *gradients[2];
    for (int frozen = 0; frozen < 2; frozen++) {
        for (int i = 0; frozen && i < xlm_parameters_count(s.parameters); i++) {
            const xlm_adapter *own = xlm_adapters_of_parameter(&s.config.adapters, xlm_parameters_get(s.parameters, i)->name);
            xlm_parameters_set_rate(s.parameters, i, own != NULL && own->learns);
        }
        gradients[frozen] = g_new0(xlm_real, xlm_parameters_size(s.parameters));
        xlm_tape_begin(tape, gradients[frozen], true, 1, 1);
        assert_true(xlm_adapters_learn(s.model, tape, (xlm_layer){XLM_STACK_ENCODER, 1}));
        xlm_tape_seed(tape, xlm_mean(tape, xlm_multiply(tape, result(&s, tape, &b.batch), result(&s, tape, &b.batch))), 1);
        xlm_tape_backward(tape);
    }
    int learning = 0;
    for (int i = 0; i < xlm_parameters_count(s.parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(s.parameters, i);
        bool any = false;
        learning += p->rate > 0;
        for (int64_t e = p->start; e < p->start + p->rows * p->cols; e++) {
            any |= gradients[0][e] != 0;
            if (p->rate > 0)
                assert_true((!each || gradients[0][e] != 0) &&
                            fabs(gradients[1][e] - gradients[0][e]) <= 1e-12 * (1 + fabs(gradients[0][e])));
            else
                assert_true(gradients[1][e] == 0);
        }
        assert_true(any || p->rate == 0);
    }
    assert_int_equal(learning, parameters);
    for (int frozen = 0; frozen < 2; frozen++)
        g_free(gradients[frozen]);
    xlm_tape_free(tape);
    close_setup(&s);
    free_big(&b);
}

#endif
