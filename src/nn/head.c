/* xlm-mpi: the language modelling head, its decoder tied to the word embeddings. SPDX-License-Identifier: GPL-3.0-or-later */
#include "nn/model_parts.h"
#include "tensor/parameters.h"

xlm_var *xlm_lm_transform(const xlm_model *model, xlm_tape *tape, xlm_var *h)
{
    const xlm_model_config *c = &model->config;
    if (c->head == XLM_HEAD_XLM)
        return c->embedding_size == c->hidden_size ? h : xlm_model_linear(tape, "lm_head/dense", h);
    return xlm_model_layer_norm(model, tape, "lm_head/layer_norm", xlm_model_gelu(model, tape, "lm_head/dense", h));
}

xlm_var *xlm_lm_cross_entropy(const xlm_model *model, xlm_tape *tape, xlm_var *h, const int32_t *targets,
                              const xlm_lm_settings *settings, xlm_score *scores)
{
    return xlm_vocab_smoothed_cross_entropy(tape, xlm_lm_transform(model, tape, h), xlm_param(tape, "embeddings/word/weight"),
                                            xlm_param(tape, "lm_head/bias"), targets, settings != NULL ? settings->label_smoothing : 0,
                                            model->config.vocabulary_chunk, scores);
}

xlm_var *xlm_lm_logits(const xlm_model *model, xlm_tape *tape, xlm_var *h)
{
    return xlm_linear(tape, xlm_lm_transform(model, tape, h), xlm_param(tape, "embeddings/word/weight"),
                      xlm_param(tape, "lm_head/bias"));
}

xlm_var *xlm_lm_next_tokens(const xlm_model *model, xlm_tape *tape, const xlm_text *text, xlm_var *h,
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
    return xlm_lm_cross_entropy(model, tape, xlm_rows(tape, h, rows, n), targets, settings, scores);
}
