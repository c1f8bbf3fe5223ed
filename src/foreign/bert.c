/* xlm-mpi: BERT and mBERT (Devlin et al. 2019). SPDX-License-Identifier: GPL-3.0-or-later */
#include "foreign/architecture.h"

static const xlm_config_number numbers[] = {XLM_BERT_NUMBERS("1e-12", "0.1"), {NULL, false, 0, NULL}};

const xlm_tensor_name xlm_bert_body[] = {
    {"embeddings/word", "embeddings.word_embeddings"},
    {"embeddings/position", "embeddings.position_embeddings"},
    {"embeddings/token_type", "embeddings.token_type_embeddings"},
    {"embeddings/layer_norm", "embeddings.LayerNorm"},
    {"encoder/layer.#/attention/query", "encoder.layer.#.attention.self.query"},
    {"encoder/layer.#/attention/key", "encoder.layer.#.attention.self.key"},
    {"encoder/layer.#/attention/value", "encoder.layer.#.attention.self.value"},
    {"encoder/layer.#/attention/output", "encoder.layer.#.attention.output.dense"},
    {"encoder/layer.#/attention/layer_norm", "encoder.layer.#.attention.output.LayerNorm"},
    {"encoder/layer.#/feed_forward/intermediate", "encoder.layer.#.intermediate.dense"},
    {"encoder/layer.#/feed_forward/output", "encoder.layer.#.output.dense"},
    {"encoder/layer.#/feed_forward/layer_norm", "encoder.layer.#.output.LayerNorm"},
    {NULL, NULL}};

static const xlm_tensor_name head[] = {
    {"lm_head/dense", "cls.predictions.transform.dense"},
    {"lm_head/layer_norm", "cls.predictions.transform.LayerNorm"},
    {"lm_head", "cls.predictions"},
    {NULL, NULL}};

static bool read_config(const json_t *json, xlm_foreign_config *config, const char *path, GError **error)
{
    return xlm_config_read_bert(json, config, path, "gelu", error);
}

const xlm_architecture xlm_architecture_bert = {
    .model_type = "bert", .class_name = "Bert", .words_ending = "ForMaskedLM",
    .prefix = "bert.", .numbers = numbers, .body = xlm_bert_body, .head = head, .decoder = "cls.predictions.decoder",
    .unused = xlm_bert_unused, .read = read_config, .lacks = xlm_bert_lacks, .write = xlm_config_write_bert,
};
