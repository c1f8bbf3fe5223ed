/* xlm-mpi: RoBERTa (Liu et al. 2019), XLM-R (Conneau et al. 2020), XLM-R XL and XXL (Goyal et al. 2021).
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * BERT's encoder, in which the row of position 0 comes after that of the padding token's id, and another head, whose activation
 * is exact GELU whatever the layers have. XLM-R XL is pre-LN. */
#include "foreign/architecture.h"

static const xlm_config_number numbers[] = {XLM_BERT_NUMBERS("1e-12", "0.1"), {NULL, false, 0, NULL}};

static const xlm_config_number xl_numbers[] = {XLM_BERT_NUMBERS("1e-5", "0.1"), {NULL, false, 0, NULL}};

static const xlm_tensor_name xl_body[] = {
    {"embeddings/word", "embeddings.word_embeddings"},
    {"embeddings/position", "embeddings.position_embeddings"},
    {"embeddings/token_type", "embeddings.token_type_embeddings"},
    {"encoder/layer.#/attention/layer_norm", "encoder.layer.#.attention.self_attn_layer_norm"},
    {"encoder/layer.#/attention/query", "encoder.layer.#.attention.self.query"},
    {"encoder/layer.#/attention/key", "encoder.layer.#.attention.self.key"},
    {"encoder/layer.#/attention/value", "encoder.layer.#.attention.self.value"},
    {"encoder/layer.#/attention/output", "encoder.layer.#.attention.output.dense"},
    {"encoder/layer.#/feed_forward/layer_norm", "encoder.layer.#.LayerNorm"},
    {"encoder/layer.#/feed_forward/intermediate", "encoder.layer.#.intermediate.dense"},
    {"encoder/layer.#/feed_forward/output", "encoder.layer.#.output.dense"},
    {"encoder/layer_norm", "encoder.LayerNorm"},
    {NULL, NULL}};

static const xlm_tensor_name head[] = {
    {"lm_head/dense", "lm_head.dense"}, {"lm_head/layer_norm", "lm_head.layer_norm"}, {"lm_head", "lm_head"}, {NULL, NULL}};

static bool read_config(const json_t *json, xlm_foreign_config *config, const char *path, GError **error)
{
    xlm_model_config *m = &config->model;
    if (!xlm_config_int(json, path, "pad_token_id", 1, &config->pad, error) ||
        !xlm_config_read_bert(json, config, path, "gelu", error))
        return false;
    if (config->pad < 0 || config->pad >= 1024 || config->pad + 1 >= m->positions)
        return xlm_config_refuse(path, "pad_token_id", error, "is %" G_GINT64_FORMAT ", but positions are counted from the id "
                                 "after it, and max_position_embeddings is %" G_GINT64_FORMAT, config->pad, m->positions);
    m->position_offset = config->pad + 1;
    m->positions -= m->position_offset;
    return m->activation == XLM_GELU ||
           xlm_config_refuse(path, "hidden_act", error, "is not \"gelu\", which the head has whatever the layers have");
}

static const char *lacks_any(const xlm_model_config *model, int64_t pad)
{
    const char *lacked = xlm_bert_lacks(model, pad);
    return lacked != NULL                        ? lacked
           : model->activation != XLM_GELU       ? "GELU with a tanh"
           : model->position_offset != pad + 1   ? "a first position other than the padding token's id + 1"
                                                 : NULL;
}

static const char *lacks_one_language(const xlm_model_config *model, int64_t pad)
{
    return model->languages > 1 ? "several languages" : lacks_any(model, pad);
}

static void write_config(json_t *json, xlm_foreign_config *config)
{
    xlm_config_write_bert(json, config);
    json_object_set_new(json, "max_position_embeddings", json_integer(config->model.positions + config->model.position_offset));
}

static bool read_xl_config(const json_t *json, xlm_foreign_config *config, const char *path, GError **error)
{
    config->model.norm = XLM_NORM_PRE;
    config->model.final_norm = true;
    config->model.embedding_norm = false;
    return read_config(json, config, path, error);
}

const xlm_architecture xlm_architecture_roberta = {
    .model_type = "roberta", .class_name = "Roberta", .words_ending = "ForMaskedLM",
    .prefix = "roberta.", .numbers = numbers, .body = xlm_bert_body, .head = head, .decoder = "lm_head.decoder",
    .unused = xlm_bert_unused, .read = read_config, .lacks = lacks_one_language, .write = write_config,
};

const xlm_architecture xlm_architecture_xlm_roberta = {
    .model_type = "xlm-roberta", .class_name = "XLMRoberta", .words_ending = "ForMaskedLM",
    .prefix = "roberta.", .numbers = numbers, .body = xlm_bert_body, .head = head, .decoder = "lm_head.decoder",
    .unused = xlm_bert_unused, .read = read_config, .lacks = lacks_any, .write = write_config,
};

const xlm_architecture xlm_architecture_xlm_roberta_xl = {
    .model_type = "xlm-roberta-xl", .class_name = "XLMRobertaXL", .words_ending = "ForMaskedLM", .pre_norm = true,
    .no_embedding_norm = true, .prefix = "roberta.", .numbers = xl_numbers, .body = xl_body, .head = head,
    .decoder = "lm_head.decoder",
    .unused = xlm_bert_unused, .read = read_xl_config, .lacks = lacks_any, .write = write_config,
};
