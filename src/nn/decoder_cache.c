/* xlm-mpi: the decoder, computing one token of each hypothesis at a time. SPDX-License-Identifier: GPL-3.0-or-later */
#include "nn/decoder_cache.h"

#include <glib.h>
#include <string.h>

#include "nn/layer.h"
#include "nn/model_parts.h"
#include "nn/stack.h"
#include "tensor/tape.h"
#include "tensor/variable.h"

struct xlm_decoder_cache {
    const xlm_model *model;
    xlm_tape *tape;
    xlm_var *memory;
    xlm_block_cache *layer; /* [decoder_layers] */
};

/* Layers with the same weights have the same keys and values of the memory. */
static bool has_own_memory(const xlm_model_config *config, int64_t layer) { return layer == 0 || !config->share_layers; }

struct keys_of_layer {
    const xlm_decoder_cache *cache;
    int64_t layer;
};

static void keep_memory(xlm_tape *tape, void *data)
{
    const struct keys_of_layer *k = data;
    const xlm_model_config *config = &k->cache->model->config;
    char block[XLM_BLOCK_NAME];
    xlm_layer_name(config, (xlm_layer){XLM_STACK_DECODER, k->layer}, xlm_memory_attention.name, block, sizeof block);
    xlm_cache_rows_write(k->cache->layer[k->layer].memory, config->hidden_size,
                         xlm_memory_attention_keys(k->cache->model, tape, block, k->cache->memory), 0, NULL);
}

xlm_decoder_cache *xlm_decoder_cache_new(const xlm_model *model, xlm_tape *tape, int64_t rows, xlm_var *memory)
{
    const xlm_model_config *c = &model->config;
    xlm_decoder_cache *cache = XLM_TAPE_TAKE(tape, xlm_decoder_cache, 1);
    g_assert(c->decoder_layers > 0);
    *cache = (xlm_decoder_cache){.model = model, .tape = tape, .memory = memory,
                                 .layer = XLM_TAPE_TAKE(tape, xlm_block_cache, c->decoder_layers)};
    for (int64_t l = 0; l < c->decoder_layers; l++) {
        struct keys_of_layer keys = {.cache = cache, .layer = l};
        cache->layer[l] = (xlm_block_cache){.tokens = xlm_cache_rows_take(tape, rows, c->hidden_size)};
        if (has_own_memory(c, l)) {
            cache->layer[l].memory = xlm_cache_rows_take(tape, memory->rows, c->hidden_size);
            xlm_tape_work_inside(tape, keep_memory, &keys);
        } else {
            cache->layer[l].memory = cache->layer[0].memory;
        }
    }
    return cache;
}

xlm_var *xlm_decoder_cache_step(xlm_decoder_cache *cache, const xlm_decoder_step *step)
{
    const xlm_model_config *c = &cache->model->config;
    int32_t *types = XLM_TAPE_TAKE(cache->tape, int32_t, step->n);
    memset(types, 0, sizeof *types * (size_t)step->n);
    for (int64_t l = 0; l < c->decoder_layers; l++)
        cache->layer[l].step = &step->rows;
    const xlm_text text = {.tokens = step->n, .ids = step->ids, .unmasked = step->ids, .positions = step->positions,
                           .languages = step->languages, .unswitched = step->languages, .types = types};
    const xlm_stack_pass pass = {.stack = XLM_STACK_DECODER, .text = &text, .cache = cache->layer, .highest = c->decoder_layers};
    return xlm_stack_run(cache->model, cache->tape, &pass)[c->decoder_layers];
}
