/* xlm-mpi: models that translate: M2M100 (Fan et al. 2021), NLLB-200 (NLLB Team 2022), Marian's OPUS models (Tiedemann,
 * Thottingal 2020). SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An encoder and a decoder with one table of words, which is also the output layer, sinusoidal positions, and no norm of the
 * embeddings. M2M100 and NLLB are pre-LN, Marian is post-LN and has a bias of the output layer. Their encoders read no <s>; the
 * decoder begins with </s> (M2M100, NLLB) or <pad> (Marian), which is <s> here. */
#include <string.h>

#include "base/log.h"
#include "foreign/architecture.h"

static const xlm_config_number numbers[] = {
    {"vocab_size", false, offsetof(xlm_model_config, vocabulary), NULL},
    {"d_model", false, offsetof(xlm_model_config, hidden_size), NULL},
    {"encoder_layers", false, offsetof(xlm_model_config, layers), NULL},
    {"decoder_layers", false, offsetof(xlm_model_config, decoder_layers), NULL},
    {"encoder_attention_heads", false, offsetof(xlm_model_config, attention_heads), NULL},
    {"encoder_ffn_dim", false, offsetof(xlm_model_config, feed_forward_size), NULL},
    {"max_position_embeddings", false, offsetof(xlm_model_config, positions), "1024"},
    {"dropout", true, offsetof(xlm_model_config, dropout), "0.1"},
    {"attention_dropout", true, offsetof(xlm_model_config, attention_dropout), "0"},
    {NULL, false, 0, NULL}};

#define ATTENTION(stack, ours, theirs) \
    {stack "/layer.#/" ours "/query", stack ".layers.#." theirs ".q_proj"}, \
    {stack "/layer.#/" ours "/key", stack ".layers.#." theirs ".k_proj"}, \
    {stack "/layer.#/" ours "/value", stack ".layers.#." theirs ".v_proj"}, \
    {stack "/layer.#/" ours "/output", stack ".layers.#." theirs ".out_proj"}, \
    {stack "/layer.#/" ours "/layer_norm", stack ".layers.#." theirs "_layer_norm"}
#define FEED_FORWARD(stack) \
    {stack "/layer.#/feed_forward/intermediate", stack ".layers.#.fc1"}, \
    {stack "/layer.#/feed_forward/output", stack ".layers.#.fc2"}, \
    {stack "/layer.#/feed_forward/layer_norm", stack ".layers.#.final_layer_norm"}

static const xlm_tensor_name body[] = {
    {"embeddings/word", "shared"},
    {"embeddings/position", "encoder.embed_positions"},
    ATTENTION("encoder", "attention", "self_attn"),
    FEED_FORWARD("encoder"),
    ATTENTION("decoder", "attention", "self_attn"),
    ATTENTION("decoder", "memory_attention", "encoder_attn"),
    FEED_FORWARD("decoder"),
    {"encoder/layer_norm", "encoder.layer_norm"},
    {"decoder/layer_norm", "decoder.layer_norm"},
    {NULL, NULL}};

static const xlm_tensor_name m2m100_head[] = {{NULL, NULL}};
static const xlm_tensor_name marian_head[] = {{"lm_head", "final_logits_bias="}, {NULL, NULL}};

static const char *const tied[] = {"encoder.embed_tokens", "decoder.embed_tokens", NULL};
static const char *const unused[] = {"encoder.embed_positions", "decoder.embed_positions", NULL};

/* ---- config.json to ours ---- */

static const char *const activations[XLM_ACTIVATIONS] = {
    [XLM_GELU] = "gelu", [XLM_GELU_TANH] = "gelu_new", [XLM_RELU] = "relu", [XLM_SWISH] = "swish"};

static bool read_activation(const json_t *json, xlm_foreign_config *config, const char *path, const char *usual, GError **error)
{
    const char *name = xlm_config_text(json, path, "activation_function", usual, error);
    int64_t found = 0;
    if (name == NULL)
        return false;
    while (found < XLM_ACTIVATIONS && strcmp(name, activations[found]) != 0)
        found++;
    if (strcmp(name, "silu") == 0)
        found = XLM_SWISH;
    config->model.activation = found;
    return found < XLM_ACTIVATIONS || xlm_config_refuse(path, "activation_function", error, "is \"%s\"; known here are gelu, "
                                                        "gelu_new, relu, swish and silu", name);
}

/* The decoder's layers are as wide as the encoder's. */
static bool check_decoder(const json_t *json, const xlm_model_config *m, const char *path, GError **error)
{
    int64_t heads, width;
    if (!xlm_config_int(json, path, "decoder_attention_heads", m->attention_heads, &heads, error) ||
        !xlm_config_int(json, path, "decoder_ffn_dim", m->feed_forward_size, &width, error))
        return false;
    if (m->decoder_layers < 1)
        return xlm_config_refuse(path, "decoder_layers", error, "is not a number of at least 1");
    if (heads != m->attention_heads)
        return xlm_config_refuse(path, "decoder_attention_heads", error, "is %" G_GINT64_FORMAT ", and encoder_attention_heads is "
                                 "%" G_GINT64_FORMAT "; here both stacks have as many", heads, m->attention_heads);
    return width == m->feed_forward_size ||
           xlm_config_refuse(path, "decoder_ffn_dim", error, "is %" G_GINT64_FORMAT ", and encoder_ffn_dim is %" G_GINT64_FORMAT
                             "; here both stacks have feed-forward layers of the same width", width, m->feed_forward_size);
}

/* Settings with one value that is known, if they are there at all. */
typedef struct flag {
    const char *key;
    bool right;
} flag;

static bool check_flags(const json_t *json, const char *path, const flag *flags, GError **error)
{
    for (; flags->key != NULL; flags++) {
        bool value;
        if (!xlm_config_flag(json, path, flags->key, flags->right, &value, error))
            return false;
        if (value != flags->right)
            return xlm_config_refuse(path, flags->key, error, "is %s, which is not known here", value ? "true" : "false");
    }
    return true;
}

/* Some of what is not done here, in training alone. */
static void log_dropout(const json_t *json, const char *path)
{
    static const struct {
        const char *key, *what;
    } kinds[] = {{"activation_dropout", "nothing is dropped between the feed-forward layers"},
                 {"encoder_layerdrop", "no layers are dropped"}, {"decoder_layerdrop", "no layers are dropped"}};
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        const double rate = json_number_value(json_object_get(json, kinds[i].key));
        if (rate > 0)
            xlm_log_info("%s: %s is %g; here %s", path, kinds[i].key, rate, kinds[i].what);
    }
}

static bool read_common(const json_t *json, xlm_foreign_config *config, const char *path, const char *activation, bool scale,
                        int64_t pad, GError **error)
{
    static const flag flags[] = {{"tie_word_embeddings", true}, {"share_encoder_decoder_embeddings", true}, {NULL, false}};
    xlm_model_config *m = &config->model;
    m->head = XLM_HEAD_XLM;
    m->encode_bos = m->embedding_norm = false;
    log_dropout(json, path);
    return xlm_config_int(json, path, "pad_token_id", pad, &config->pad, error) &&
           ((config->pad >= 0 && config->pad < m->vocabulary) ||
            xlm_config_refuse(path, "pad_token_id", error, "is %" G_GINT64_FORMAT ", but the vocabulary has %" G_GINT64_FORMAT
                              " tokens", config->pad, m->vocabulary)) &&
           xlm_config_flag(json, path, "scale_embedding", scale, &m->scale_embeddings, error) &&
           check_flags(json, path, flags, error) && check_decoder(json, m, path, error) &&
           read_activation(json, config, path, activation, error);
}

static bool read_m2m100(const json_t *json, xlm_foreign_config *config, const char *path, GError **error)
{
    xlm_model_config *m = &config->model;
    if (!read_common(json, config, path, "relu", true, 1, error))
        return false;
    m->norm = XLM_NORM_PRE;
    m->final_norm = true;
    m->output_bias = false;
    m->position_type = XLM_POSITIONS_SINUSOIDAL_FAIRSEQ;
    m->position_offset = config->pad + 1; /* as in fairseq */
    return true;
}

static bool read_marian(const json_t *json, xlm_foreign_config *config, const char *path, GError **error)
{
    static const flag flags[] = {{"normalize_before", false}, {"normalize_embedding", false}, {"add_final_layer_norm", false},
                                 {"static_position_embeddings", true}, {NULL, false}};
    if (!read_common(json, config, path, "gelu", false, 58100, error))
        return false;
    /* extra_pos_embeddings, a number in older files, is of learned positions, and is not used by this kind. */
    config->model.position_type = XLM_POSITIONS_SINUSOIDAL_HALVES;
    return check_flags(json, path, flags, error);
}

/* ---- ours to config.json ---- */

static const char *lacks_common(const xlm_model_config *m)
{
    return m->decoder_layers == 0                     ? "models without a decoder"
           : !m->share_embeddings                     ? "embeddings of the decoder's own"
           : m->language_embeddings                   ? "language embeddings"
           : m->language_tokens                       ? "tokens of languages instead of <s>"
           : m->token_types                           ? "token types"
           : m->head != XLM_HEAD_XLM                  ? "a head with a dense layer"
           : m->embedding_size != m->hidden_size      ? "factorised embeddings"
           : m->share_layers                          ? "shared layers"
           : m->encode_bos                            ? "an encoder that sees <s>"
           : !m->linear_biases                        ? "linear layers without biases"
           : !m->norm_biases                          ? "norms without biases"
           : !m->first_norm                           ? "a first layer without a norm before attention"
           : m->gated_feed_forward                    ? "gated feed-forward layers"
           : m->layer_norm_epsilon < 1e-5 || m->layer_norm_epsilon > 1e-5 ? "another layer_norm_epsilon than 1e-5"
                                                      : NULL;
}

static const char *m2m100_lacks(const xlm_model_config *m, int64_t pad)
{
    const char *lacked = lacks_common(m);
    return lacked != NULL                                                ? lacked
           : m->output_bias                                              ? "a bias of the output layer"
           : m->position_type != XLM_POSITIONS_SINUSOIDAL_FAIRSEQ        ? "other positions than fairseq's sinusoids"
           : m->position_offset != pad + 1                               ? "another position_offset than the id of <pad> + 1"
                                                                         : NULL;
}

static const char *marian_lacks(const xlm_model_config *m, int64_t pad)
{
    (void)pad;
    const char *lacked = lacks_common(m);
    return lacked != NULL                                               ? lacked
           : !m->output_bias                                            ? "an output layer without a bias"
           : m->position_type != XLM_POSITIONS_SINUSOIDAL_HALVES        ? "other positions than sines before cosines"
           : m->position_offset != 0                                    ? "a position_offset"
                                                                        : NULL;
}

static void write_config(json_t *json, xlm_foreign_config *config)
{
    const xlm_model_config *m = &config->model;
    config->token_types = 0;
    json_auto_t *rest = json_pack("{s:I, s:I, s:s, s:b, s:f, s:f, s:f, s:b, s:I}",
        "decoder_attention_heads", (json_int_t)m->attention_heads, "decoder_ffn_dim", (json_int_t)m->feed_forward_size,
        "activation_function", activations[m->activation], "scale_embedding", m->scale_embeddings, "activation_dropout", 0.0,
        "encoder_layerdrop", 0.0, "decoder_layerdrop", 0.0, "is_encoder_decoder", true, "num_hidden_layers",
        (json_int_t)m->layers);
    json_object_update(json, rest);
    json_object_set_new(json, "max_length", json_integer(m->positions)); /* of what is generated; by default only 20 */
    json_object_set_new(json, "num_beams", json_integer(5));
}

const xlm_architecture xlm_architecture_m2m100 = {
    .model_type = "m2m_100", .class_name = "M2M100", .words_ending = "ForConditionalGeneration", .pre_norm = true,
    .no_embedding_norm = true, .has_decoder = true, .prefix = "model.", .numbers = numbers, .body = body,
    .head = m2m100_head, .decoder = "lm_head", .tied = tied, .unused = unused, .read = read_m2m100, .lacks = m2m100_lacks,
    .write = write_config,
};

const xlm_architecture xlm_architecture_marian = {
    .model_type = "marian", .class_name = "Marian", .words_ending = "MTModel", .no_embedding_norm = true, .has_decoder = true,
    .prefix = "model.", .numbers = numbers, .body = body, .head = marian_head, .decoder = "lm_head", .tied = tied,
    .unused = unused, .read = read_marian, .lacks = marian_lacks, .write = write_config,
};
