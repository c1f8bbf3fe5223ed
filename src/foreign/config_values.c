/* xlm-mpi: values of config.json, checked, and those of BERT and its successors. SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include <string.h>

#include "foreign/architecture.h"

#include "formats/json_file.h"

bool xlm_config_refuse(const char *path, const char *key, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    return xlm_error_set(error, EX_DATAERR, "%s: \"%s\" %s", path, key, what);
}

bool xlm_config_int(const json_t *json, const char *path, const char *key, int64_t default_value, int64_t *value, GError **error)
{
    const json_t *found = json_object_get(json, key);
    const bool whole = xlm_json_whole(found, value);
    if (!whole)
        *value = default_value;
    return whole || found == NULL || json_is_null(found) ||
           xlm_config_refuse(path, key, error, "is not a whole number");
}

bool xlm_config_flag(const json_t *json, const char *path, const char *key, bool default_value, bool *value, GError **error)
{
    const json_t *found = json_object_get(json, key);
    *value = json_is_boolean(found) ? json_is_true(found) : default_value;
    return found == NULL || json_is_null(found) || json_is_boolean(found) ||
           xlm_config_refuse(path, key, error, "is neither true nor false");
}

const char *xlm_config_text(const json_t *json, const char *path, const char *key, const char *default_value, GError **error)
{
    const json_t *found = json_object_get(json, key);
    if (found == NULL || json_is_null(found))
        return default_value;
    if (!json_is_string(found))
        xlm_config_refuse(path, key, error, "is not text");
    return json_string_value(found);
}

/* ---- what came of BERT ---- */

const char *const xlm_bert_unused[] = {"pooler", "embeddings.position_ids", "embeddings.token_type_ids", NULL};

bool xlm_config_read_bert(const json_t *json, xlm_foreign_config *config, const char *path, const char *activation,
                          GError **error)
{
    static const char *const tanh_forms[] = {"gelu_new", "gelu_pytorch_tanh", "gelu_fast", NULL};
    const char *act = xlm_config_text(json, path, "hidden_act", activation, error);
    const char *positions = act != NULL ? xlm_config_text(json, path, "position_embedding_type", "absolute", error) : NULL;
    bool decoder, crossed;
    if (positions == NULL || !xlm_config_flag(json, path, "is_decoder", false, &decoder, error) ||
        !xlm_config_flag(json, path, "add_cross_attention", false, &crossed, error) ||
        !xlm_config_int(json, path, "type_vocab_size", 2, &config->token_types, error) ||
        (config->pad < 0 && !xlm_config_int(json, path, "pad_token_id", 0, &config->pad, error)))
        return false;
    if (strcmp(act, "gelu") != 0 && !g_strv_contains(tanh_forms, act))
        return xlm_config_refuse(path, "hidden_act", error, "is \"%s\"; known here are \"gelu\" and \"gelu_new\"", act);
    if (strcmp(positions, "absolute") != 0)
        return xlm_config_refuse(path, "position_embedding_type", error, "is \"%s\"; known here is \"absolute\"", positions);
    if (decoder || crossed)
        return xlm_config_refuse(path, decoder ? "is_decoder" : "add_cross_attention", error, "is true; only encoders are known "
                                 "here");
    if (config->token_types < 0 || config->token_types > 2)
        return xlm_config_refuse(path, "type_vocab_size", error, "is %" G_GINT64_FORMAT "; at most 2 types of tokens are known "
                                 "here", config->token_types);
    config->model.activation = strcmp(act, "gelu") == 0 ? XLM_GELU : XLM_GELU_TANH;
    config->model.token_types = config->token_types == 2;
    return true;
}

/* Rows of positions below the model's first are left out. */
const char *xlm_config_lacks_modern(const xlm_model_config *m)
{
    return !m->norm_biases                            ? "norms without biases"
           : !m->linear_biases                        ? "linear layers without biases"
           : !m->first_norm                           ? "a first layer without a norm before attention"
           : m->position_type == XLM_POSITIONS_ROTARY ? "rotary positions"
           : m->attention_window > 0                  ? "a window of attention"
           : m->gated_feed_forward                    ? "gated feed-forward layers"
           : m->activation > XLM_GELU_TANH            ? "another activation than GELU"
                                                      : NULL;
}

const char *xlm_bert_lacks(const xlm_model_config *model, int64_t pad)
{
    (void)pad;
    const char *modern = xlm_config_lacks_modern(model);
    return modern != NULL                                    ? modern
           : model->language_embeddings                      ? "language embeddings"
           : model->head == XLM_HEAD_XLM                     ? "a head without a dense layer"
           : model->embedding_size != model->hidden_size     ? "factorised embeddings"
           : model->share_layers && model->layers > 1        ? "shared layers"
                                                             : NULL;
}

void xlm_config_write_bert(json_t *json, xlm_foreign_config *config)
{
    config->token_types = config->model.token_types ? 2 : 1;
    json_object_set_new(json, "hidden_act", json_string(config->model.activation == XLM_GELU ? "gelu" : "gelu_new"));
    json_object_set_new(json, "type_vocab_size", json_integer(config->token_types));
    json_object_set_new(json, "position_embedding_type", json_string("absolute"));
    json_object_set_new(json, "is_decoder", json_false());
}
