/* xlm-mpi: XLM (Conneau, Lample 2019). SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An embedding of the language is added to each token, and the decoder reads the hidden states as they are. The feed-forward
 * layers are four times as wide as the others. */

#include "foreign/architecture.h"

static const xlm_config_number numbers[] = {
    {"emb_dim", false, offsetof(xlm_model_config, hidden_size), NULL},
    {"n_layers", false, offsetof(xlm_model_config, layers), NULL},
    {"n_heads", false, offsetof(xlm_model_config, attention_heads), NULL},
    {"max_position_embeddings", false, offsetof(xlm_model_config, positions), "512"},
    {"layer_norm_eps", true, offsetof(xlm_model_config, layer_norm_epsilon), "1e-12"},
    {"dropout", true, offsetof(xlm_model_config, dropout), "0.1"},
    {"attention_dropout", true, offsetof(xlm_model_config, attention_dropout), "0.1"},
    {NULL, false, 0, NULL}};

static const xlm_tensor_name body[] = {
    {"embeddings/word", "embeddings"},
    {"embeddings/position", "position_embeddings"},
    {"embeddings/language", "lang_embeddings"},
    {"embeddings/layer_norm", "layer_norm_emb"},
    {"encoder/layer.#/attention/query", "attentions.#.q_lin"},
    {"encoder/layer.#/attention/key", "attentions.#.k_lin"},
    {"encoder/layer.#/attention/value", "attentions.#.v_lin"},
    {"encoder/layer.#/attention/output", "attentions.#.out_lin"},
    {"encoder/layer.#/attention/layer_norm", "layer_norm1.#"},
    {"encoder/layer.#/feed_forward/intermediate", "ffns.#.lin1"},
    {"encoder/layer.#/feed_forward/output", "ffns.#.lin2"},
    {"encoder/layer.#/feed_forward/layer_norm", "layer_norm2.#"},
    {NULL, NULL}};

static const xlm_tensor_name head[] = {{"lm_head", "pred_layer.proj"}, {NULL, NULL}};

static const char *const unused[] = {"position_ids", NULL};

/* Check settings that must have one value. */
static bool check_flags(const json_t *json, const char *path, GError **error)
{
    static const struct {
        const char *key;
        bool default_value, right;
        const char *what;
    } flags[] = {{"gelu_activation", true, true, "the activation is ReLU"},
                 {"asm", false, false, "the softmax is adaptive"},
                 {"causal", false, false, "attention looks back only"},
                 {"is_encoder", true, true, "it is a decoder"}};
    for (size_t i = 0; i < G_N_ELEMENTS(flags); i++) {
        bool value;
        if (!xlm_config_flag(json, path, flags[i].key, flags[i].default_value, &value, error))
            return false;
        if (value != flags[i].right)
            return xlm_config_refuse(path, flags[i].key, error, "is %s: %s, which is not known here", value ? "true" : "false",
                                     flags[i].what);
    }
    return true;
}

/* "lang2id": {"de": 0, ...}. */
static bool read_languages(const json_t *json, xlm_foreign_config *config, const char *path, GError **error)
{
    const int64_t n = config->model.languages;
    const json_t *object = json_object_get(json, "lang2id"), *id;
    const char *name;
    if (!json_is_object(object) || n < 1 || n > XLM_MAX_LANGUAGES || json_object_size(object) != (size_t)n)
        return object == NULL || json_is_null(object) ||
               xlm_config_refuse(path, "lang2id", error, "does not name n_langs = %" G_GINT64_FORMAT " languages", n);
    config->languages = g_new0(char *, (size_t)n + 1);
    json_object_foreach((json_t *)(uintptr_t)object, name, id) {
        const json_int_t i = json_is_integer(id) ? json_integer_value(id) : -1;
        if (i < 0 || i >= n || config->languages[i] != NULL || *name == '\0') {
            for (int64_t k = 0; k < n; k++) /* names after a gap are not lost */
                g_clear_pointer(&config->languages[k], g_free);
            return xlm_config_refuse(path, "lang2id", error, "the id of \"%s\" is not one of 0 to %" G_GINT64_FORMAT ", or "
                                     "another's too", name, n - 1);
        }
        config->languages[i] = g_strdup(name);
    }
    return true;
}

static bool read_config(const json_t *json, xlm_foreign_config *config, const char *path, GError **error)
{
    xlm_model_config *m = &config->model;
    bool sinusoidal, languages;
    const char *words = json_object_get(json, "vocab_size") != NULL ? "vocab_size" : "n_words";
    if (!xlm_config_int(json, path, words, 0, &m->vocabulary, error) ||
        !xlm_config_int(json, path, "n_langs", 1, &m->languages, error) ||
        !xlm_config_flag(json, path, "use_lang_emb", true, &languages, error) ||
        !xlm_config_flag(json, path, "sinusoidal_embeddings", false, &sinusoidal, error) ||
        !xlm_config_int(json, path, "pad_index", 2, &config->pad, error) || !check_flags(json, path, error))
        return false;
    m->position_type = sinusoidal ? XLM_POSITIONS_SINUSOIDAL : XLM_POSITIONS_LEARNED;
    m->language_embeddings = languages && m->languages > 1;
    m->head = XLM_HEAD_XLM;
    if (m->hidden_size > 0 && m->hidden_size <= INT32_MAX)
        m->feed_forward_size = 4 * m->hidden_size;
    return read_languages(json, config, path, error);
}

static const char *lacks(const xlm_model_config *model, int64_t pad)
{
    (void)pad;
    const char *modern = xlm_config_lacks_modern(model);
    return modern != NULL                                              ? modern
           : model->token_types                                        ? "token types"
           : model->head == XLM_HEAD_BERT                              ? "a head with a dense layer"
           : model->embedding_size != model->hidden_size               ? "factorised embeddings"
           : model->share_layers && model->layers > 1                  ? "shared layers"
           : model->activation != XLM_GELU                             ? "GELU with a tanh"
           : model->feed_forward_size != 4 * model->hidden_size        ? "feed-forward layers that are not 4 x hidden_size wide"
           : model->language_embeddings && model->languages < 2        ? "an embedding of a single language"
                                                                       : NULL;
}

static void write_config(json_t *json, xlm_foreign_config *config)
{
    const xlm_model_config *m = &config->model;
    json_auto_t *numbers_and_flags = json_pack(
        "{s:I, s:I, s:b, s:b, s:b, s:b, s:b, s:b, s:I}", "vocab_size", (json_int_t)m->vocabulary, "n_words",
        (json_int_t)m->vocabulary, "gelu_activation", true, "sinusoidal_embeddings",
        m->position_type == XLM_POSITIONS_SINUSOIDAL && m->position_offset == 0, "asm", false, "causal", false, "is_encoder",
        true, "use_lang_emb", m->language_embeddings, "n_langs", (json_int_t)m->languages);
    json_object_update(json, numbers_and_flags);
    config->token_types = 0;
    if (config->languages == NULL)
        return;
    json_t *ids = json_object(), *names = json_object();
    for (int64_t i = 0; i < m->languages; i++) {
        char number[24];
        g_snprintf(number, sizeof number, "%" G_GINT64_FORMAT, i);
        json_object_set_new(ids, config->languages[i], json_integer(i));
        json_object_set_new(names, number, json_string(config->languages[i]));
    }
    json_object_set_new(json, "lang2id", ids);
    json_object_set_new(json, "id2lang", names);
}

const xlm_architecture xlm_architecture_xlm = {
    .model_type = "xlm", .class_name = "XLM", .words_ending = "WithLMHeadModel",
    .prefix = "transformer.", .numbers = numbers, .body = body, .head = head, .decoder = "pred_layer.proj",
    .unused = unused, .read = read_config, .lacks = lacks, .write = write_config,
};
