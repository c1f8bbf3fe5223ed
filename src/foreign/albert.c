/* xlm-mpi: ALBERT (Lan et al. 2020). SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Factorised embeddings, with a mapping to the width of the layers that is there even where both widths are the same; layers in
 * groups that share weights: one group, or as many as there are layers. */
#include "foreign/architecture.h"

#define LAYER "encoder.albert_layer_groups.#.albert_layers.0."

static const xlm_config_number numbers[] = {
    XLM_BERT_NUMBERS("1e-12", "0"), {"embedding_size", false, offsetof(xlm_model_config, embedding_size), NULL},
    {NULL, false, 0, NULL}};

static const xlm_tensor_name body[] = {
    {"embeddings/word", "embeddings.word_embeddings"},
    {"embeddings/position", "embeddings.position_embeddings"},
    {"embeddings/token_type", "embeddings.token_type_embeddings"},
    {"embeddings/layer_norm", "embeddings.LayerNorm"},
    {"embeddings/projection", "encoder.embedding_hidden_mapping_in"},
    {"encoder/layer.#/attention/query", LAYER "attention.query"},
    {"encoder/layer.#/attention/key", LAYER "attention.key"},
    {"encoder/layer.#/attention/value", LAYER "attention.value"},
    {"encoder/layer.#/attention/output", LAYER "attention.dense"},
    {"encoder/layer.#/attention/layer_norm", LAYER "attention.LayerNorm"},
    {"encoder/layer.#/feed_forward/intermediate", LAYER "ffn"},
    {"encoder/layer.#/feed_forward/output", LAYER "ffn_output"},
    {"encoder/layer.#/feed_forward/layer_norm", LAYER "full_layer_layer_norm"},
    {NULL, NULL}};

static const xlm_tensor_name head[] = {
    {"lm_head/dense", "predictions.dense"}, {"lm_head/layer_norm", "predictions.LayerNorm"}, {"lm_head", "predictions"},
    {NULL, NULL}};

static bool read_config(const json_t *json, xlm_foreign_config *config, const char *path, GError **error)
{
    xlm_model_config *m = &config->model;
    int64_t groups, inner;
    if (!xlm_config_int(json, path, "num_hidden_groups", 1, &groups, error) ||
        !xlm_config_int(json, path, "inner_group_num", 1, &inner, error))
        return false;
    if (inner != 1)
        return xlm_config_refuse(path, "inner_group_num", error, "is %" G_GINT64_FORMAT "; a group of more than one layer is not "
                                 "known here", inner);
    if (groups != 1 && groups != m->layers)
        return xlm_config_refuse(path, "num_hidden_groups", error, "is %" G_GINT64_FORMAT "; layers share one set of weights (1) "
                                 "or none (%" G_GINT64_FORMAT ")", groups, m->layers);
    m->share_layers = groups == 1 && m->layers > 1;
    config->mapping = true;
    return xlm_config_read_bert(json, config, path, "gelu_new", error);
}

static const char *lacks(const xlm_model_config *model, int64_t pad)
{
    (void)pad;
    const char *modern = xlm_config_lacks_modern(model);
    return modern != NULL                   ? modern
           : model->language_embeddings     ? "language embeddings"
           : model->head == XLM_HEAD_XLM    ? "a head without activation and LayerNorm"
                                            : NULL;
}

static void write_config(json_t *json, xlm_foreign_config *config)
{
    const xlm_model_config *m = &config->model;
    xlm_config_write_bert(json, config);
    json_object_set_new(json, "num_hidden_groups", json_integer(m->share_layers ? 1 : m->layers));
    json_object_set_new(json, "inner_group_num", json_integer(1));
    config->mapping = true;
}

const xlm_architecture xlm_architecture_albert = {
    .model_type = "albert", .class_name = "Albert", .words_ending = "ForMaskedLM",
    .prefix = "albert.", .numbers = numbers, .body = body, .head = head, .decoder = "predictions.decoder",
    .unused = xlm_bert_unused, .read = read_config, .lacks = lacks, .write = write_config,
};
