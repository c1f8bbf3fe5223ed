/* xlm-mpi: ModernBERT (Warner et al. 2025) and mmBERT (Marone et al. 2025). SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pre-LN with a norm of the embeddings and none before the first attention, rotary positions, GeGLU, a window in all layers but
 * every third, and hardly any bias. Query, key and value are one matrix. Old files name the angles global_rope_theta and
 * local_rope_theta, and the layers without a window by global_attn_every_n_layers; newer ones have rope_parameters and
 * layer_types. */
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "foreign/architecture.h"

static const xlm_config_number numbers[] = {
    {"vocab_size", false, offsetof(xlm_model_config, vocabulary), NULL},
    {"hidden_size", false, offsetof(xlm_model_config, hidden_size), NULL},
    {"num_hidden_layers", false, offsetof(xlm_model_config, layers), NULL},
    {"num_attention_heads", false, offsetof(xlm_model_config, attention_heads), NULL},
    {"intermediate_size", false, offsetof(xlm_model_config, feed_forward_size), NULL},
    {"max_position_embeddings", false, offsetof(xlm_model_config, positions), "8192"},
    {"norm_eps", true, offsetof(xlm_model_config, layer_norm_epsilon), "1e-5"},
    {"mlp_dropout", true, offsetof(xlm_model_config, dropout), "0"},
    {"attention_dropout", true, offsetof(xlm_model_config, attention_dropout), "0"},
    {"local_attention", false, offsetof(xlm_model_config, attention_window), "128"},
    {"global_attn_every_n_layers", false, offsetof(xlm_model_config, global_attention_every), "3"},
    {NULL, false, 0, NULL}};

static const xlm_tensor_name body[] = {
    {"embeddings/word", "embeddings.tok_embeddings"},
    {"embeddings/layer_norm", "embeddings.norm"},
    {"encoder/layer.#/attention/layer_norm", "layers.#.attn_norm"},
    {"encoder/layer.#/attention/query", "layers.#.attn.Wqkv 0/3"},
    {"encoder/layer.#/attention/key", "layers.#.attn.Wqkv 1/3"},
    {"encoder/layer.#/attention/value", "layers.#.attn.Wqkv 2/3"},
    {"encoder/layer.#/attention/output", "layers.#.attn.Wo"},
    {"encoder/layer.#/feed_forward/layer_norm", "layers.#.mlp_norm"},
    {"encoder/layer.#/feed_forward/intermediate", "layers.#.mlp.Wi"},
    {"encoder/layer.#/feed_forward/output", "layers.#.mlp.Wo"},
    {"encoder/layer_norm", "final_norm"},
    {NULL, NULL}};

static const xlm_tensor_name head[] = {
    {"lm_head/dense", "head.dense"}, {"lm_head/layer_norm", "head.norm"}, {"lm_head", "decoder"},
    {NULL, NULL}};

static const char *const unused[] = {"embeddings.position_ids", NULL};

/* ---- config.json to ours ---- */

static const char *const activations[XLM_ACTIVATIONS] = {
    [XLM_GELU] = "gelu", [XLM_GELU_TANH] = "gelu_pytorch_tanh", [XLM_RELU] = "relu", [XLM_SWISH] = "silu"};

/* In the layers and in the head, where theirs may differ and ours may not. */
static bool read_activation(const json_t *json, xlm_foreign_config *config, const char *path, GError **error)
{
    const char *own = xlm_config_text(json, path, "hidden_activation", "gelu", error);
    const char *in_head = own != NULL ? xlm_config_text(json, path, "classifier_activation", "gelu", error) : NULL;
    if (in_head == NULL)
        return false;
    int64_t found = 0;
    while (found < XLM_ACTIVATIONS && strcmp(own, activations[found]) != 0)
        found++;
    if (strcmp(own, "gelu_new") == 0)
        found = XLM_GELU_TANH;
    if (found == XLM_ACTIVATIONS)
        return xlm_config_refuse(path, "hidden_activation", error, "is \"%s\"; known here are gelu, gelu_new, gelu_pytorch_tanh, "
                                 "relu and silu", own);
    config->model.activation = found;
    return strcmp(own, in_head) == 0 ||
           xlm_config_refuse(path, "classifier_activation", error, "is \"%s\", and hidden_activation is \"%s\"; here the head "
                             "has the activation of the layers", in_head, own);
}

static bool read_biases(const json_t *json, xlm_foreign_config *config, const char *path, GError **error)
{
    static const char *const linear[] = {"mlp_bias", "classifier_bias"};
    xlm_model_config *m = &config->model;
    bool flag;
    if (!xlm_config_flag(json, path, "norm_bias", false, &m->norm_biases, error) ||
        !xlm_config_flag(json, path, "attention_bias", false, &m->linear_biases, error) ||
        !xlm_config_flag(json, path, "decoder_bias", true, &flag, error))
        return false;
    if (!flag)
        return xlm_config_refuse(path, "decoder_bias", error, "is false; the logits of our head have a bias");
    for (size_t i = 0; i < G_N_ELEMENTS(linear); i++) {
        if (!xlm_config_flag(json, path, linear[i], false, &flag, error))
            return false;
        if (flag != m->linear_biases)
            return xlm_config_refuse(path, linear[i], error, "differs from attention_bias; here all linear layers have biases, "
                                     "or none has");
    }
    return true;
}

/* kind: of attention, in rope_parameters; old: the key outside of it. 0 would be ours for "as in the other layers". */
static bool read_theta(const json_t *json, const char *path, const char *kind, const char *old, double default_value,
                       double *theta, GError **error)
{
    const json_t *all = json_object_get(json, "rope_parameters"), *own = json_object_get(all, kind);
    const json_t *value = json_object_get(own, "rope_theta"), *type = json_object_get(own, "rope_type");
    if (all != NULL && !json_is_null(all) && !json_is_object(all))
        return xlm_config_refuse(path, "rope_parameters", error, "is not an object");
    if (type != NULL && g_strcmp0(json_string_value(type), "default") != 0)
        return xlm_config_refuse(path, "rope_parameters", error, "has a rope_type for %s that is not \"default\"; scaled rotary "
                                 "positions are not known here", kind);
    if (value == NULL)
        value = json_object_get(json, old);
    *theta = json_is_number(value) ? json_number_value(value) : default_value;
    if (value != NULL && !json_is_null(value) && !json_is_number(value))
        return xlm_config_refuse(path, old, error, "is not a number");
    return *theta >= 1 || xlm_config_refuse(path, old, error, "is %g; the base of the wavelengths is at least 1", *theta);
}

static bool read_positions(const json_t *json, xlm_foreign_config *config, const char *path, GError **error)
{
    xlm_model_config *m = &config->model;
    const json_t *scaling = json_object_get(json, "rope_scaling");
    m->position_type = XLM_POSITIONS_ROTARY;
    if (scaling != NULL && !json_is_null(scaling))
        return xlm_config_refuse(path, "rope_scaling", error, "is not null; scaled rotary positions are not known here");
    if (!read_theta(json, path, "full_attention", "global_rope_theta", 160000, &m->rotary_theta, error))
        return false;
    /* transformers takes the global one where local_rope_theta is null, and 10,000 where there is none. */
    const double local = json_is_null(json_object_get(json, "local_rope_theta")) ? m->rotary_theta : 10000;
    return read_theta(json, path, "sliding_attention", "local_rope_theta", local, &m->rotary_theta_local, error);
}

/* Layers without a window: 0, k, 2 k, ... */
static bool read_layer_types(const json_t *json, xlm_foreign_config *config, const char *path, GError **error)
{
    static const char full[] = "full_attention", sliding[] = "sliding_attention";
    xlm_model_config *m = &config->model;
    const json_t *types = json_object_get(json, "layer_types"), *type;
    size_t i;
    if (types != NULL && !json_is_null(types)) {
        const int64_t n = (int64_t)json_array_size(types);
        int64_t k = 1;
        while (k < n && g_strcmp0(json_string_value(json_array_get(types, (size_t)k)), full) != 0)
            k++;
        bool regular = n == m->layers;
        json_array_foreach(types, i, type)
            regular = regular && g_strcmp0(json_string_value(type), (int64_t)i % k == 0 ? full : sliding) == 0;
        if (!regular)
            return xlm_config_refuse(path, "layer_types", error, "does not say full_attention for every k-th of the %"
                                     G_GINT64_FORMAT " layers from 0 on, and sliding_attention for the others", m->layers);
        m->global_attention_every = k;
    }
    if (m->global_attention_every < 1)
        return xlm_config_refuse(path, "global_attn_every_n_layers", error, "is not a number of at least 1");
    if (m->attention_window < 2)
        return xlm_config_refuse(path, "local_attention", error, "is not a number of at least 2");
    m->attention_window = m->attention_window / 2 * 2; /* half of it to each side, rounded down */
    if (m->global_attention_every == 1) {
        m->attention_window = 0;
        m->global_attention_every = 0;
        m->rotary_theta_local = 0; /* of no layer */
    }
    return true;
}

static bool read_config(const json_t *json, xlm_foreign_config *config, const char *path, GError **error)
{
    xlm_model_config *m = &config->model;
    const json_t *embeddings = json_object_get(json, "embedding_dropout");
    m->norm = XLM_NORM_PRE;
    m->final_norm = m->embedding_norm = m->gated_feed_forward = true;
    m->first_norm = false;
    if (json_is_number(embeddings) && fabs(json_number_value(embeddings) - m->dropout) > 0)
        xlm_log_info("%s: embedding_dropout is %g and mlp_dropout %g; here one rate is for both, %g", path,
                     json_number_value(embeddings), m->dropout, m->dropout);
    return xlm_config_int(json, path, "pad_token_id", 50283, &config->pad, error) &&
           read_activation(json, config, path, error) && read_biases(json, config, path, error) &&
           read_positions(json, config, path, error) && read_layer_types(json, config, path, error);
}

/* ---- ours to config.json ---- */

static const char *lacks(const xlm_model_config *m, int64_t pad)
{
    (void)pad;
    return m->language_embeddings                                     ? "language embeddings"
           : m->token_types                                           ? "token types"
           : m->head == XLM_HEAD_XLM                                  ? "a head without a dense layer"
           : m->embedding_size != m->hidden_size                      ? "factorised embeddings"
           : m->share_layers && m->layers > 1                         ? "shared layers"
           : m->position_type != XLM_POSITIONS_ROTARY                 ? "other positions than rotary ones"
           : !m->gated_feed_forward                                   ? "feed-forward layers without gates"
           : m->first_norm                                            ? "a norm before the first attention"
           : m->attention_window > 0 && m->global_attention_every < 1 ? "a window in the first layer"
                                                                      : NULL;
}

static void write_config(json_t *json, xlm_foreign_config *config)
{
    const xlm_model_config *m = &config->model;
    const double local = m->rotary_theta_local > 0 ? m->rotary_theta_local : m->rotary_theta;
    config->token_types = 0;
    json_auto_t *rest = json_pack("{s:s, s:s, s:b, s:b, s:b, s:b, s:b, s:f, s:f, s:f, s:s}",
        "hidden_activation", activations[m->activation], "classifier_activation", activations[m->activation],
        "norm_bias", m->norm_biases, "attention_bias", m->linear_biases, "mlp_bias", m->linear_biases, "classifier_bias",
        m->linear_biases, "decoder_bias", true, "embedding_dropout", m->dropout, "global_rope_theta", m->rotary_theta,
        "local_rope_theta", local, "classifier_pooling", "cls");
    json_object_update(json, rest);
    if (m->attention_window == 0) {
        json_object_set_new(json, "local_attention", json_integer(128)); /* of no layer */
        json_object_set_new(json, "global_attn_every_n_layers", json_integer(1));
    }
}

const xlm_architecture xlm_architecture_modernbert = {
    .model_type = "modernbert", .class_name = "ModernBert", .words_ending = "ForMaskedLM", .pre_norm = true,
    .prefix = "model.", .numbers = numbers, .body = body, .head = head, .decoder = "decoder",
    .unused = unused, .read = read_config, .lacks = lacks, .write = write_config,
};
