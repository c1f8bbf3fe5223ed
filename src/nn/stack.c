/* xlm-mpi: encoder and decoder, stacks of transformer layers (Vaswani et al. 2017, Devlin et al. 2019).
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "nn/stack.h"

#include <glib.h>
#include <math.h>

#include "nn/adapter.h"
#include "nn/model_parts.h"
#include "tensor/parameters.h"
#include "tensor/tape.h"

static xlm_var *table_of(const xlm_model *m, xlm_tape *tape, xlm_stack stack, const char *part)
{
    char name[XLM_PART_NAME];
    return xlm_model_parameter(tape, xlm_part_name(&m->config, stack, part, name), "weight");
}

/* Does the stack not see the first token of a sequence of its text? A decoder begins with it. */
static bool hides_bos(const xlm_model_config *c, xlm_stack stack) { return !c->encode_bos && stack == XLM_STACK_ENCODER; }

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

/* The sum of the tables' rows. tokens: the last table has the tokens of languages, which stand for words. scale: words, the first
 * table and these tokens, are multiplied by it first; 0: not. */
static xlm_var *sum_tables(xlm_tape *tape, const xlm_text *text, int tables, xlm_var **table, const int32_t **index, bool tokens,
                           double scale)
{
    if (scale <= 0)
        return xlm_embedding_sum(tape, tables, table, index, text->tokens, text->keys);
    xlm_var *word[2] = {table[0], table[tables - 1]};
    const int32_t *word_index[2] = {index[0], index[tables - 1]};
    const int words = tokens ? 2 : 1, others = tables - words;
    xlm_var *x = xlm_embedding_sum(tape, words, word, word_index, text->tokens, text->keys);
    x = xlm_scale(tape, x, scale);
    return others == 0 ? x : xlm_add(tape, x, xlm_embedding_sum(tape, others, table + 1, index + 1, text->tokens, text->keys));
}

/* H[0]: dropout(LayerNorm(word + position + language + token type)), changed by invertible adapters, T x d. */
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
    const int32_t unseen = hides_bos(c, stack);
    for (int32_t i = 0; i < text->tokens; i++)
        rows[i] = MAX(text->positions[i] - unseen, 0) + (int32_t)c->position_offset;
    if (c->position_type != XLM_POSITIONS_ROTARY) {
        table[tables] = m->sinusoids != NULL
                            ? xlm_constant_in_place(tape, c->positions + c->position_offset, c->embedding_size, m->sinusoids)
                            : table_of(m, tape, stack, "embeddings/position");
        index[tables++] = rows;
    }
    if (c->language_embeddings) {
        table[tables] = table_of(m, tape, stack, "embeddings/language");
        index[tables++] = text->languages;
    }
    if (c->token_types) {
        table[tables] = table_of(m, tape, stack, "embeddings/token_type");
        index[tables++] = text->types;
    }
    const bool tokens = c->language_tokens && stack == XLM_STACK_DECODER;
    if (tokens) {
        table[tables] = xlm_model_parameter(tape, "decoder/embeddings/language_token", "weight");
        begin_with_languages(tape, text, &index[0], &index[tables++]);
    }
    xlm_var *x = sum_tables(tape, text, tables, table, index, tokens,
                            c->scale_embeddings ? sqrt((double)c->embedding_size) : 0); /* T x e */
    if (c->embedding_norm)
        x = xlm_model_layer_norm(m, tape, xlm_part_name(c, stack, "embeddings/layer_norm", name), x);
    x = xlm_adapters_apply_around(m, tape, stack, xlm_dropout(tape, x, c->dropout), false);
    if (c->embedding_size == c->hidden_size)
        return x;
    return xlm_model_linear(m, tape, xlm_part_name(c, stack, "embeddings/projection", name), x);
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

static xlm_sublayer block_of(const xlm_model_config *config, xlm_layer layer, const xlm_block_class *block,
                             char name[XLM_BLOCK_NAME])
{
    const bool first = layer.number == 0 && block == &xlm_self_attention;
    return (xlm_sublayer){.name = name_block(config, layer, block, name), .norm = !first || config->first_norm};
}

/* The name of the norm after the last layer. */
static const char *name_final_norm(xlm_stack stack, char name[XLM_BLOCK_NAME])
{
    xlm_model_name(name, XLM_BLOCK_NAME, xlm_stack_name(stack), "layer_norm");
    return name;
}

void xlm_stack_declare(const xlm_model_config *config, xlm_stack stack, xlm_parameters *parameters)
{
    char name[XLM_BLOCK_NAME];
    for (int64_t l = 0; l < xlm_layers_of(config, stack); l++)
        for (const xlm_block_class *const *block = blocks_of(stack); *block != NULL; block++) {
            const xlm_sublayer of = block_of(config, (xlm_layer){stack, l}, *block, name);
            (*block)->declare(config, &of, parameters);
        }
    if (config->final_norm && xlm_layers_of(config, stack) > 0)
        xlm_model_add_layer_norm(config, parameters, name_final_norm(stack, name), config->hidden_size);
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
    for (const xlm_block_class *const *block = blocks_of(layer->layer.stack); *block != NULL; block++) {
        const xlm_sublayer of = block_of(&layer->model->config, layer->layer, *block, name);
        x = (*block)->apply(layer->model, tape, &of, x, &layer->rows);
    }
    return x;
}

/* Is the layer frozen, and none of the adapters beside it learns? */
static bool is_frozen(xlm_tape *tape, const struct layer *layer)
{
    char name[XLM_BLOCK_NAME], weight[XLM_BLOCK_NAME + 16];
    g_snprintf(weight, sizeof weight, "%s/query/weight",
               name_block(&layer->model->config, layer->layer, blocks_of(layer->layer.stack)[0], name));
    return xlm_tape_is_frozen(tape, weight) && !xlm_adapters_learn(layer->model, tape, layer->layer);
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

/* Has the layer a window (attention_window)? */
static bool is_local(const xlm_model_config *c, xlm_layer layer)
{
    return c->attention_window > 0 && layer.stack == XLM_STACK_ENCODER &&
           (c->global_attention_every == 0 || layer.number % c->global_attention_every != 0);
}

/* The rows that tokens see through a window: attention_window / 2 of their sequence on each side, with causal attention on the
 * first side only. */
static void look_through_window(xlm_tape *tape, const xlm_model_config *c, const xlm_text *text, xlm_block_rows *rows)
{
    const uint64_t bytes = sizeof *rows->visible * (uint64_t)MAX(text->tokens, 1);
    int32_t *from = xlm_tape_take(tape, bytes), *visible = xlm_tape_take(tape, bytes);
    const int32_t side = (int32_t)(c->attention_window / 2);
    for (int32_t s = 0; s < text->sequences; s++)
        for (int32_t i = text->offsets[s]; i < text->offsets[s + 1]; i++) {
            const int32_t place = i - text->offsets[s], length = text->offsets[s + 1] - text->offsets[s];
            from[i] = MAX(place - side, 0);
            visible[i] = rows->visible != NULL ? rows->visible[i] : MIN(place + side + 1, length);
        }
    rows->visible_from = from;
    rows->visible = visible;
}

/* All rows but those in which a sequence begins do not see the latter. [in, out] rows: for all rows of the text. */
static void hide_first_rows(xlm_tape *tape, const xlm_text *text, xlm_block_rows *rows)
{
    const uint64_t bytes = sizeof *rows->visible * (uint64_t)MAX(text->tokens, 1);
    int32_t *from = xlm_tape_take(tape, bytes), *visible = xlm_tape_take(tape, bytes);
    for (int32_t s = 0; s < text->sequences; s++)
        for (int32_t i = text->offsets[s]; i < text->offsets[s + 1]; i++) {
            from[i] = MAX(rows->visible_from != NULL ? rows->visible_from[i] : 0, i > text->offsets[s]);
            visible[i] = rows->visible != NULL ? rows->visible[i] : text->offsets[s + 1] - text->offsets[s];
        }
    rows->visible_from = from;
    rows->visible = visible;
}

/* No row of a decoder's text sees the first row of its sequence of the memory, unless that is the only one. */
static void hide_first_of_memory(xlm_tape *tape, const xlm_model_config *c, const xlm_stack_pass *pass, xlm_block_rows *rows)
{
    const xlm_text *text = pass->text;
    const uint64_t bytes = sizeof *rows->visible * (uint64_t)MAX(text->tokens, 1);
    int32_t *from = xlm_tape_take(tape, bytes), *visible = xlm_tape_take(tape, bytes);
    for (int32_t s = 0; s < text->sequences; s++)
        for (int32_t i = text->offsets[s]; i < text->offsets[s + 1]; i++) {
            visible[i] = pass->memory_offsets[s + 1] - pass->memory_offsets[s];
            from[i] = xlm_unseen_memory(c, visible[i]);
        }
    rows->memory_visible_from = from;
    rows->memory_visible = visible;
}

/* The rotation of the layers with a window, or of the others; NULL: none. */
static const xlm_rotation *rotation_of(xlm_tape *tape, const xlm_model *model, const xlm_text *text, bool local)
{
    const xlm_model_config *c = &model->config;
    if (c->position_type != XLM_POSITIONS_ROTARY)
        return NULL;
    xlm_rotation *r = XLM_TAPE_TAKE(tape, xlm_rotation, 1);
    *r = (xlm_rotation){.heads = c->attention_heads, .w = c->hidden_size / c->attention_heads,
                        .turns = model->turns[local && model->turns[1] != NULL], .positions = c->positions,
                        .at = text->positions};
    return r;
}

static const int32_t *of_wanted(xlm_tape *tape, const xlm_stack_pass *pass, const int32_t *all)
{
    int32_t *some = xlm_tape_take(tape, sizeof *some * (uint64_t)MAX(pass->n, 1));
    for (int32_t i = 0; i < pass->n; i++)
        some[i] = all[pass->rows[i]];
    return some;
}

static void want_rows(xlm_tape *tape, const xlm_stack_pass *pass, xlm_block_rows *rows)
{
    rows->wanted = pass->rows;
    rows->n = pass->n;
    rows->wanted_offsets = xlm_stack_offsets_of_rows(tape, pass->text, pass->rows, pass->n);
    if (rows->visible != NULL)
        rows->visible = of_wanted(tape, pass, rows->visible);
    if (rows->visible_from != NULL)
        rows->visible_from = of_wanted(tape, pass, rows->visible_from);
    if (rows->memory_visible != NULL) {
        rows->memory_visible = of_wanted(tape, pass, rows->memory_visible);
        rows->memory_visible_from = of_wanted(tape, pass, rows->memory_visible_from);
    }
}

xlm_var **xlm_stack_run(const xlm_model *model, xlm_tape *tape, const xlm_stack_pass *pass)
{
    const int64_t layers = pass->highest;
    const xlm_model_config *c = &model->config;
    const bool windows = c->attention_window > 0 && pass->stack == XLM_STACK_ENCODER;
    xlm_block_rows all = {
        .offsets = pass->text->offsets, .sequences = pass->text->sequences,
        .visible = pass->causal ? visible_of(tape, pass->text) : NULL,
        .memory = pass->memory, .memory_offsets = pass->memory_offsets,
    };
    all.rotation = rotation_of(tape, model, pass->text, false);
    if (!c->encode_bos && pass->memory != NULL)
        hide_first_of_memory(tape, c, pass, &all);
    xlm_block_rows local = all;
    if (windows) {
        look_through_window(tape, c, pass->text, &local);
        local.rotation = rotation_of(tape, model, pass->text, true);
    }
    if (hides_bos(c, pass->stack))
        hide_first_rows(tape, pass->text, &all);
    if (hides_bos(c, pass->stack) && windows)
        hide_first_rows(tape, pass->text, &local);
    xlm_var **hidden = xlm_tape_take(tape, sizeof *hidden * (uint64_t)(layers + 1));
    hidden[0] = embed(model, tape, pass->stack, pass->text);
    if (layers == 0 && pass->rows != NULL)
        hidden[0] = xlm_rows(tape, hidden[0], pass->rows, pass->n);
    for (int64_t l = 0; l < layers; l++) {
        struct layer *layer = xlm_tape_take(tape, sizeof *layer);
        *layer = (struct layer){.model = model, .layer = {pass->stack, l},
                                .rows = is_local(c, (xlm_layer){pass->stack, l}) ? local : all};
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
    if (c->final_norm && layers > 0 && layers == (pass->stack == XLM_STACK_DECODER ? c->decoder_layers : c->layers)) {
        char name[XLM_BLOCK_NAME];
        hidden[layers] = xlm_model_layer_norm(model, tape, name_final_norm(pass->stack, name), hidden[layers]);
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
