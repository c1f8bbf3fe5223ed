/* xlm-mpi: architectures of other programs. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A model directory of Hugging Face's transformers has config.json, whose "model_type" names an architecture, and tensors with
 * names of their own. An architecture is a file with an xlm_architecture, mostly tables: keys of config.json beside those of
 * [model], names of tensors beside those of our parameters (nn/model.h), and a line in the table of architectures.c. Matrices
 * of linear layers are out x in on both sides, so nothing is transposed.
 *
 *   theirs to ours   xlm_foreign_config_parse -> xlm_foreign_config.model -> { xlm_architecture_tensor } of each parameter
 *   ours to theirs   xlm_architecture_choose -> xlm_foreign_config_print, { xlm_architecture_tensor } of each parameter
 *
 * Anything that our encoder does not compute is refused with its name. */
#ifndef XLM_FOREIGN_ARCHITECTURE_H
#define XLM_FOREIGN_ARCHITECTURE_H

#include <jansson.h>

#include "nn/model.h"

typedef struct xlm_architecture xlm_architecture;

/* A model as config.json has it. */
typedef struct xlm_foreign_config {
    const xlm_architecture *architecture;
    xlm_model_config model;  /* as our configuration, including vocabulary and languages; not checked (xlm_model_check) */
    int64_t token_types;     /* number of rows of their table; model.token_types is set if there are two, and a single row is
                                added to the positions */
    bool mapping;            /* embeddings are projected even where embedding_size = hidden_size */
    int64_t pad;             /* id of the padding token, or -1 */
    char **languages;        /* names by id, then NULL; NULL if config.json names none */
    char *pair_form, *translations; /* of a model that was ours: as in xlm_loaded_model (model/model_file.h) */
} xlm_foreign_config;
void xlm_foreign_config_clear(xlm_foreign_config *config);

/* ---- one architecture ---- */

/* A number of config.json that is a key of [model] too. */
typedef struct xlm_config_number {
    const char *theirs;
    bool real;
    size_t offset;        /* in xlm_model_config */
    const char *default_value; /* if config.json does not have the key; NULL: it must have it */
} xlm_config_number;

/* Names without /weight and /bias, .weight and .bias. # is the number of the layer. A tensor that has several of our parameters
 * below one another is named for each of them: "Wqkv 0/3" has ours first of three. "final_logits_bias=" is the whole name. */
typedef struct xlm_tensor_name {
    const char *ours, *theirs;
} xlm_tensor_name;

/* The parameter is part `number`, from 0, of `of` equal parts of a tensor. */
typedef struct xlm_tensor_part {
    int number, of;
} xlm_tensor_part;

struct xlm_architecture {
    const char *model_type;  /* "bert" */
    const char *class_name;  /* that names of classes begin with: "Bert" */
    const char *words_ending; /* of the class with a head for words: "ForMaskedLM"; those of tasks: foreign/task_heads.h */
    bool pre_norm;           /* norms before the sublayers and after the last layer; else post-LN */
    bool no_embedding_norm;  /* embeddings have no norm */
    bool has_decoder;        /* above the encoder; the head for words is the table of words and, if `head` has it, its bias */
    const char *prefix;      /* before all names in `body`, except in a bare model: "bert." */
    const xlm_config_number *numbers; /* theirs NULL ends */
    const xlm_tensor_name *body, *head; /* ours NULL ends */
    const char *decoder;     /* of the head, its weight tied to the word embeddings, its bias to lm_head/bias */
    const char *const *tied; /* tensors of the body that are the word embeddings again: names after the prefix, then NULL; NULL:
                              * none */
    const char *const *unused; /* other tensors that the body may have: beginnings of their names after the prefix, then NULL */

    /* The rest of config.json. EX_DATAERR. */
    bool (*read)(const json_t *json, xlm_foreign_config *config, const char *path, GError **error);
    /* What the model has and this architecture does not, for a message: "token types"; NULL: it can hold the model. */
    const char *(*lacks)(const xlm_model_config *model, int64_t pad);
    /* The rest of config.json, and config->token_types, mapping. */
    void (*write)(json_t *json, xlm_foreign_config *config);
};

/* ---- all of them (architectures.c) ---- */

/* The first that can hold a model. pad: id of its padding token. NULL with EX_DATAERR, which says what each one lacks. */
const xlm_architecture *xlm_architecture_choose(const xlm_model_config *model, int64_t pad, GError **error);

/* Their name of one of our parameters, without the prefix if `bare`; NULL if there is none. g_free. part: NULL, or
 * gets what part of the tensor the parameter is. */
char *xlm_architecture_tensor(const xlm_architecture *architecture, bool bare, const char *parameter, xlm_tensor_part *part);
/* May the body have a tensor of this name besides those that we know? rest: the name after the prefix. */
bool xlm_architecture_is_unused(const xlm_architecture *architecture, const char *rest);

/* The bytes of a config.json; path: for messages. The caller clears *config. EX_DATAERR: not JSON, an architecture or setting
 * that is not known, a number that is missing. */
bool xlm_foreign_config_parse(const char *path, const char *bytes, size_t size, xlm_foreign_config *config, GError **error);
/* A new object with all of config.json but "architectures" and what the tokenizer says. Sets token_types and mapping. */
json_t *xlm_foreign_config_print(xlm_foreign_config *config);

/* ---- for the files of architectures (config_values.c): values of config.json, checked; EX_DATAERR ---- */

bool xlm_config_int(const json_t *json, const char *path, const char *key, int64_t default_value, int64_t *value, GError **error);
bool xlm_config_flag(const json_t *json, const char *path, const char *key, bool default_value, bool *value, GError **error);
/* NULL with an error. */
const char *xlm_config_text(const json_t *json, const char *path, const char *key, const char *default_value, GError **error);
/* "path: "key": what". Returns false. */
bool xlm_config_refuse(const char *path, const char *key, GError **error, const char *format, ...) G_GNUC_PRINTF(4, 5);

/* What BERT and its successors share: "hidden_act" (default_value: the value if it is missing), types of tokens (the same), kinds
 * of position embeddings, decoders. */
bool xlm_config_read_bert(const json_t *json, xlm_foreign_config *config, const char *path, const char *activation,
                          GError **error);
void xlm_config_write_bert(json_t *json, xlm_foreign_config *config);
extern const char *const xlm_bert_unused[];
/* What no architecture before ModernBERT has: rotary positions, gates, windows, layers without biases. NULL: nothing. */
const char *xlm_config_lacks_modern(const xlm_model_config *model);
/* What BERT lacks (xlm_architecture.lacks), and RoBERTa too. */
const char *xlm_bert_lacks(const xlm_model_config *model, int64_t pad);
extern const xlm_tensor_name xlm_bert_body[]; /* of BERT, RoBERTa, XLM-R */
/* Rows of tables: the keys of config.json that BERT and its successors have in common. eps, dropout_rate: default values. */
#define XLM_BERT_NUMBERS(eps, dropout_rate) \
    {"vocab_size", false, offsetof(xlm_model_config, vocabulary), NULL}, \
    {"hidden_size", false, offsetof(xlm_model_config, hidden_size), NULL}, \
    {"num_hidden_layers", false, offsetof(xlm_model_config, layers), NULL}, \
    {"num_attention_heads", false, offsetof(xlm_model_config, attention_heads), NULL}, \
    {"intermediate_size", false, offsetof(xlm_model_config, feed_forward_size), NULL}, \
    {"max_position_embeddings", false, offsetof(xlm_model_config, positions), NULL}, \
    {"layer_norm_eps", true, offsetof(xlm_model_config, layer_norm_epsilon), eps}, \
    {"hidden_dropout_prob", true, offsetof(xlm_model_config, dropout), dropout_rate}, \
    {"attention_probs_dropout_prob", true, offsetof(xlm_model_config, attention_dropout), dropout_rate}

#endif
