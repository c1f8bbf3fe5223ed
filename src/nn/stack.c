/* xlm-mpi: encoder and decoder, stacks of post-LN transformer layers (Vaswani et al. 2017, Devlin et al. 2019).
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "nn/stack.h"

#include <glib.h>

#include "nn/model_parts.h"
#include "tensor/parameters.h"
#include "tensor/tape.h"

static xlm_var *table_of(const xlm_model *m, xlm_tape *tape, xlm_stack stack, const char *part)
{
    char name[XLM_PART_NAME];
    return xlm_model_parameter(tape, xlm_part_name(&m->config, stack, part, name), "weight");
}

/* Makes the word at position 0 the token of its language: the table of words gives nothing there, that of languages alone. */
static void begin_with_languages(xlm_tape *tape, const xlm_text *text, const int32_t **words, const int32_t **languages)
{
    const int32_t n = MAX(text->tokens, 1);
    int32_t *word = XLM_TAPE_TAKE(tape, int32_t, n), *language = XLM_TAPE_TAKE(tape, int32_t, n);
    for (int32_t i = 0; i < text->tokens; i++) {
        word[i] = text->positions[i] == 0 ? -1 : text->ids[i];
        language[i] = text->positions[i] == 0 ? text->languages[i] : -1;
    }
    *words = word;
    *languages = language;
}

/* H[0]: dropout(LayerNorm(word + position + language + token type)), T x d. */
static xlm_var *embed(const xlm_model *m, xlm_tape *tape, xlm_stack stack, const xlm_text *text)
{
    const xlm_model_config *c = &m->config;
    char name[XLM_PART_NAME];
    xlm_var *table[5];
    const int32_t *index[5];
    int tables = 0;

    table[tables] = table_of(m, tape, stack, "embeddings/word");
    index[tables++] = text->ids;
    int32_t *rows = xlm_tape_take(tape, sizeof *rows * (uint64_t)MAX(text->tokens, 1));
    for (int32_t i = 0; i < text->tokens; i++)
        rows[i] = text->positions[i] + (int32_t)c->position_offset;
    table[tables] = m->sinusoids != NULL
                        ? xlm_constant_in_place(tape, c->positions + c->position_offset, c->embedding_size, m->sinusoids)
                        : table_of(m, tape, stack, "embeddings/position");
    index[tables++] = rows;
    if (c->language_embeddings) {
        table[tables] = table_of(m, tape, stack, "embeddings/language");
        index[tables++] = text->languages;
    }
    if (c->token_types) {
        table[tables] = table_of(m, tape, stack, "embeddings/token_type");
        index[tables++] = text->types;
    }
    if (c->language_tokens && stack == XLM_STACK_DECODER) {
        table[tables] = xlm_model_parameter(tape, "decoder/embeddings/language_token", "weight");
        begin_with_languages(tape, text, &index[0], &index[tables++]);
    }
    xlm_var *x = xlm_embedding_sum(tape, tables, table, index, text->tokens, text->keys); /* T x e */
    x = xlm_dropout(tape, xlm_model_layer_norm(m, tape, xlm_part_name(c, stack, "embeddings/layer_norm", name), x), c->dropout);
    if (c->embedding_size == c->hidden_size)
        return x;
    return xlm_model_linear(tape, xlm_part_name(c, stack, "embeddings/projection", name), x);
}

/* ---- layers ---- */

/* The sublayers of a layer, the lowest first; NULL-terminated. */
static const xlm_block_class *const *blocks_of(xlm_stack stack)
{
    static const xlm_block_class *const encoder[] = {&xlm_self_attention, &xlm_feed_forward_block, NULL};
    static const xlm_block_class *const decoder[] = {&xlm_self_attention, &xlm_memory_attention, &xlm_feed_forward_block, NULL};
    return stack == XLM_STACK_DECODER ? decoder : encoder;
}

static const char *name_block(const xlm_model_config *config, xlm_layer layer, const xlm_block_class *block,
                              char name[XLM_BLOCK_NAME])
{
    xlm_layer_name(config, layer, block->name, name, XLM_BLOCK_NAME);
    return name;
}

void xlm_stack_declare(const xlm_model_config *config, xlm_stack stack, xlm_parameters *parameters)
{
    char name[XLM_BLOCK_NAME];
    for (int64_t l = 0; l < xlm_layers_of(config, stack); l++)
        for (const xlm_block_class *const *block = blocks_of(stack); *block != NULL; block++)
            (*block)->declare(config, name_block(config, (xlm_layer){stack, l}, *block, name), parameters);
}

/* What a layer needs besides its input. */
struct layer {
    const xlm_model *model;
    xlm_layer layer;
    xlm_block_rows rows;
};

static xlm_var *run_layer(xlm_tape *tape, xlm_var *x, const void *data)
{
    const struct layer *layer = data;
    char name[XLM_BLOCK_NAME];
    for (const xlm_block_class *const *block = blocks_of(layer->layer.stack); *block != NULL; block++)
        x = (*block)->apply(layer->model, tape, name_block(&layer->model->config, layer->layer, *block, name), x, &layer->rows);
    return x;
}

static bool is_frozen(xlm_tape *tape, const struct layer *layer)
{
    char name[XLM_BLOCK_NAME], weight[XLM_BLOCK_NAME + 16];
    g_snprintf(weight, sizeof weight, "%s/query/weight",
               name_block(&layer->model->config, layer->layer, blocks_of(layer->layer.stack)[0], name));
    return xlm_tape_is_frozen(tape, weight);
}

/* A layer that is frozen, as are all layers below it (tensor/parameters.h), is computed as in a pass without gradient: nothing of
 * it is kept for the backward pass, which ends above it. */
static xlm_var *run_segment(xlm_tape *tape, xlm_var *x, const struct layer *layer)
{
    xlm_tape_mode mode = xlm_tape_get_mode(tape);
    const bool gradient = mode.gradient;
    if (gradient && x->grad == NULL && layer->rows.memory == NULL && is_frozen(tape, layer)) {
        mode.gradient = false;
        xlm_tape_set_mode(tape, mode);
    }
    xlm_var *y = xlm_tape_segment(tape, x, run_layer, layer);
    mode = xlm_tape_get_mode(tape);
    mode.gradient = gradient;
    xlm_tape_set_mode(tape, mode);
    return y;
}

const int32_t *xlm_stack_offsets_of_rows(xlm_tape *tape, const xlm_text *text, const int32_t *rows, int32_t n)
{
    int32_t *offsets = xlm_tape_take(tape, sizeof *offsets * (uint64_t)(text->sequences + 1));
    int32_t row = 0;
    for (int32_t s = 0; s < text->sequences; s++) {
        offsets[s] = row;
        while (row < n && rows[row] < text->offsets[s + 1])
            row++;
    }
    offsets[text->sequences] = row;
    return offsets;
}

/* With causal attention, the number of tokens that each token sees: 1 + its place in its sequence. */
static const int32_t *visible_of(xlm_tape *tape, const xlm_text *text)
{
    int32_t *visible = xlm_tape_take(tape, sizeof *visible * (uint64_t)MAX(text->tokens, 1));
    for (int32_t s = 0; s < text->sequences; s++)
        for (int32_t i = text->offsets[s]; i < text->offsets[s + 1]; i++)
            visible[i] = 1 + i - text->offsets[s];
    return visible;
}

static void want_rows(xlm_tape *tape, const xlm_stack_pass *pass, xlm_block_rows *rows)
{
    rows->wanted = pass->rows;
    rows->n = pass->n;
    rows->wanted_offsets = xlm_stack_offsets_of_rows(tape, pass->text, pass->rows, pass->n);
    if (rows->visible == NULL)
        return;
    int32_t *visible = xlm_tape_take(tape, sizeof *visible * (uint64_t)MAX(pass->n, 1));
    for (int32_t i = 0; i < pass->n; i++)
        visible[i] = rows->visible[pass->rows[i]];
    rows->visible = visible;
}

xlm_var **xlm_stack_run(const xlm_model *model, xlm_tape *tape, const xlm_stack_pass *pass)
{
    const int64_t layers = pass->highest;
    const xlm_block_rows all = {
        .offsets = pass->text->offsets, .sequences = pass->text->sequences,
        .visible = pass->causal ? visible_of(tape, pass->text) : NULL,
        .memory = pass->memory, .memory_offsets = pass->memory_offsets,
    };
    xlm_var **hidden = xlm_tape_take(tape, sizeof *hidden * (uint64_t)(layers + 1));
    hidden[0] = embed(model, tape, pass->stack, pass->text);
    if (layers == 0 && pass->rows != NULL)
        hidden[0] = xlm_rows(tape, hidden[0], pass->rows, pass->n);
    for (int64_t l = 0; l < layers; l++) {
        struct layer *layer = xlm_tape_take(tape, sizeof *layer);
        *layer = (struct layer){.model = model, .layer = {pass->stack, l}, .rows = all};
        layer->rows.cache = pass->cache != NULL ? &pass->cache[l] : NULL;
        layer->rows.memory_weights = l == layers - 1 ? pass->memory_weights : NULL;
        if (l == layers - 1 && pass->rows != NULL) {
            /* Not recomputed: it has few results, and they are the first that the backward pass needs. */
            want_rows(tape, pass, &layer->rows);
            hidden[layers] = run_layer(tape, hidden[l], layer);
        } else {
            hidden[l + 1] = run_segment(tape, hidden[l], layer);
        }
    }
    return hidden;
}

xlm_var **xlm_model_encode(const xlm_model *model, xlm_tape *tape, const xlm_text *text, bool causal, int64_t highest,
                           const int32_t *rows, int32_t n)
{
    const int64_t layers = model->config.layers;
    const xlm_stack_pass pass = {.stack = XLM_STACK_ENCODER, .text = text, .causal = causal,
                                 .highest = highest == XLM_TOP_LAYER ? layers : highest, .rows = rows, .n = n};
    g_assert(pass.highest >= 0 && pass.highest <= layers);
    return xlm_stack_run(model, tape, &pass);
}

xlm_var **xlm_model_decode(const xlm_model *model, xlm_tape *tape, const xlm_text *text, xlm_var *memory,
                           const int32_t *memory_offsets, int64_t highest, const int32_t *rows, int32_t n)
{
    const int64_t layers = model->config.decoder_layers;
    const xlm_stack_pass pass = {.stack = XLM_STACK_DECODER, .text = text, .causal = true, .memory = memory,
                                 .memory_offsets = memory_offsets, .highest = highest == XLM_TOP_LAYER ? layers : highest,
                                 .rows = rows, .n = n};
    g_assert(layers > 0 && pass.highest >= 0 && pass.highest <= layers);
    return xlm_stack_run(model, tape, &pass);
}
