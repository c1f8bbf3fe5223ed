/* xlm-mpi: models and batches for tests of the encoder, in either precision. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TESTS_MODEL_FIXTURE_H
#define XLM_TESTS_MODEL_FIXTURE_H

#include <glib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "nn/model.h"
#include "options/options.h"
#include "subwords/special_tokens.h"

enum { LANGUAGES = 2 };

struct setup {
    xlm_model_config config;
    xlm_parameters *parameters;
    xlm_model *model;
};

static inline xlm_model_config defaults(void)
{
    xlm_model_config c = {0};
    assert_true(xlm_options_defaults(xlm_model_options, &c, NULL));
    c.languages = LANGUAGES;
    return c;
}

static inline double number(uint32_t which, int64_t i)
{
    return 2 * xlm_rng_unit(xlm_rng_draw((xlm_rng_key){{8, 9}}, (uint32_t)i, which, 0, 0).v[0]) - 1;
}

/* Parameters uniform in ± width, those of norms around 1. */
static inline struct setup open_setup(xlm_model_config config, double width)
{
    struct setup s = {.config = config};
    assert_true(xlm_model_check(&s.config, NULL));
    s.parameters = xlm_parameters_new();
    s.model = xlm_model_new(&s.config, s.parameters);
    xlm_parameters_seal(s.parameters);
    for (int k = 0; k < xlm_parameters_count(s.parameters); k++) {
        const xlm_parameter *p = xlm_parameters_get(s.parameters, k);
        for (int64_t i = 0; i < p->rows * p->cols; i++)
            xlm_parameters_values(s.parameters)[p->start + i] =
                (xlm_real)((p->init == XLM_INIT_ONE) + width * number((uint32_t)k, i));
    }
    return s;
}

static inline void close_setup(struct setup *s)
{
    xlm_model_free(s->model);
    xlm_parameters_free(s->parameters);
}

struct big {
    int32_t *offsets, *ids, *positions, *languages, *types, *predicted_rows, *targets;
    xlm_row_key *keys;
    xlm_batch batch;
};

/* Sequences of 1 … longest tokens, every seventh token masked. */
static inline struct big make_big(int32_t tokens, int32_t longest, int32_t vocabulary)
{
    struct big b = {0};
    b.offsets = g_new0(int32_t, tokens + 1);
    b.ids = g_new(int32_t, tokens);
    b.positions = g_new(int32_t, tokens);
    b.languages = g_new(int32_t, tokens);
    b.types = g_new0(int32_t, tokens);
    b.predicted_rows = g_new(int32_t, tokens);
    b.targets = g_new(int32_t, tokens);
    b.keys = g_new(xlm_row_key, tokens);
    int32_t sequences = 0, masked = 0;
    for (int32_t row = 0; row < tokens; sequences++) {
        const int32_t n = MIN(1 + (longest - 1) * (sequences % 5) / 4, tokens - row);
        for (int32_t i = 0; i < n; i++, row++) {
            b.ids[row] = (int32_t)((number(77, row) + 1) / 2 * vocabulary);
            b.positions[row] = i;
            b.languages[row] = sequences % LANGUAGES;
            b.keys[row] = (xlm_row_key){(uint32_t)sequences + 3, (uint32_t)i};
            if (row % 7 == 3) {
                b.targets[masked] = (b.ids[row] + 1) % vocabulary;
                b.predicted_rows[masked++] = row;
            }
        }
        b.offsets[sequences + 1] = row;
    }
    b.batch = (xlm_batch){
        .corrupted = {
            .tokens = tokens, .sequences = sequences, .offsets = b.offsets, .ids = b.ids, .unmasked = b.ids,
            .positions = b.positions, .languages = b.languages, .unswitched = b.languages, .types = b.types, .keys = b.keys,
            .specials = &xlm_own_special_tokens,
        },
        .predicted = masked, .predicted_rows = b.predicted_rows, .targets = b.targets,
    };
    return b;
}

static inline void free_big(struct big *b)
{
    int32_t *const arrays[] = {b->offsets, b->ids, b->positions, b->languages, b->types, b->predicted_rows, b->targets};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_free(arrays[i]);
    g_free(b->keys);
}

static inline xlm_model_config middling(void)
{
    xlm_model_config c = defaults();
    c.layers = 2;
    c.hidden_size = 96;
    c.attention_heads = 4;
    c.positions = 150;
    c.vocabulary = 1200;
    c.language_embeddings = true;
    return c;
}

#endif
