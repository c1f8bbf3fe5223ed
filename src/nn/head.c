/* xlm-mpi: the language modelling head, whose output layer is tied to the word embeddings.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>

#include "nn/adapter.h"
#include "nn/layer.h"
#include "nn/model_parts.h"
#include "tensor/parameters.h"

static xlm_var *parameter_of(const xlm_model *model, xlm_tape *tape, xlm_stack stack, const char *part, const char *parameter)
{
    char name[XLM_PART_NAME];
    return xlm_model_parameter(tape, xlm_part_name(&model->config, stack, part, name), parameter);
}

/* E [V x e] and b [V] of the stack, or NULL: logits are y Eᵀ + b. */
static xlm_var *words_of(const xlm_model *model, xlm_tape *tape, xlm_stack stack)
{
    return parameter_of(model, tape, stack, "embeddings/word", "weight");
}

static xlm_var *bias_of(const xlm_model *model, xlm_tape *tape, xlm_stack stack)
{
    return model->config.output_bias ? parameter_of(model, tape, stack, "lm_head", "bias") : NULL;
}

/* y without what invertible adapters change. */
static xlm_var *transform(const xlm_model *model, xlm_tape *tape, xlm_stack stack, xlm_var *h)
{
    const xlm_model_config *c = &model->config;
    char dense[XLM_PART_NAME], norm[XLM_PART_NAME];
    xlm_part_name(c, stack, "lm_head/dense", dense);
    xlm_part_name(c, stack, "lm_head/layer_norm", norm);
    if (c->head == XLM_HEAD_XLM)
        return c->embedding_size == c->hidden_size ? h : xlm_model_linear(model, tape, dense, h);
    return xlm_model_layer_norm(model, tape, norm, xlm_model_activate(model, tape, dense, h));
}

xlm_var *xlm_lm_transform(const xlm_model *model, xlm_tape *tape, xlm_stack stack, xlm_var *h)
{
    g_assert(stack == XLM_STACK_ENCODER || (stack == XLM_STACK_DECODER && model->config.decoder_layers > 0));
    return xlm_adapters_apply_around(model, tape, stack, transform(model, tape, stack, h), true);
}

xlm_var *xlm_lm_cross_entropy(const xlm_model *model, xlm_tape *tape, xlm_stack stack, xlm_var *h, const int32_t *targets,
                              const xlm_lm_settings *settings, xlm_score *scores)
{
    xlm_var *y = xlm_lm_transform(model, tape, stack, h);
    return xlm_vocab_smoothed_cross_entropy(tape, y, words_of(model, tape, stack), bias_of(model, tape, stack), targets,
                                            settings != NULL ? settings->label_smoothing : 0, model->config.vocabulary_chunk,
                                            scores);
}

xlm_var *xlm_lm_logits(const xlm_model *model, xlm_tape *tape, xlm_stack stack, xlm_var *h)
{
    xlm_var *y = xlm_lm_transform(model, tape, stack, h);
    return xlm_linear(tape, y, words_of(model, tape, stack), bias_of(model, tape, stack));
}

xlm_var *xlm_lm_next_tokens(const xlm_model *model, xlm_tape *tape, xlm_stack stack, const xlm_text *text, xlm_var *h,
                            const xlm_lm_settings *settings, xlm_score *scores)
{
    const int32_t n = text->tokens - text->sequences; /* no sequence is empty */
    if (n <= 0)
        return NULL;
    int32_t *rows = xlm_tape_take(tape, sizeof *rows * (uint64_t)n), *targets = xlm_tape_take(tape, sizeof *targets * (uint64_t)n);
    int32_t k = 0;
    for (int32_t s = 0; s < text->sequences; s++)
        for (int32_t i = text->offsets[s]; i + 1 < text->offsets[s + 1]; i++) {
            rows[k] = i;
            targets[k++] = text->unmasked[i + 1];
        }
    return xlm_lm_cross_entropy(model, tape, stack, xlm_rows(tape, h, rows, n), targets, settings, scores);
}
