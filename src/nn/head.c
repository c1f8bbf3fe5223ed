/* xlm-mpi: the language modelling head, its decoder tied to the word embeddings. SPDX-License-Identifier: GPL-3.0-or-later */
#include "nn/model_internal.h"
#include "tensor/parameters.h"

xlm_var *xlm_lm_transform(const xlm_model *model, xlm_tape *tape, xlm_var *h)
{
    const xlm_model_config *c = &model->config;
    if (c->head == XLM_HEAD_XLM)
        return c->embedding_size == c->hidden_size ? h : xlm_model_linear(tape, "lm_head/dense", h);
    return xlm_model_layer_norm(model, tape, "lm_head/layer_norm", xlm_model_gelu(model, tape, "lm_head/dense", h));
}

xlm_var *xlm_lm_cross_entropy(const xlm_model *model, xlm_tape *tape, xlm_var *h, const int32_t *targets, xlm_score *scores)
{
    return xlm_vocab_cross_entropy(tape, xlm_lm_transform(model, tape, h), xlm_param(tape, "embeddings/word/weight"),
                                   xlm_param(tape, "lm_head/bias"), targets, model->config.vocabulary_chunk, scores);
}

xlm_var *xlm_lm_logits(const xlm_model *model, xlm_tape *tape, xlm_var *h)
{
    return xlm_linear(tape, xlm_lm_transform(model, tape, h), xlm_param(tape, "embeddings/word/weight"),
                      xlm_param(tape, "lm_head/bias"));
}
