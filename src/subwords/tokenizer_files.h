/* xlm-mpi: tokenizers as they are published with models. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A tokenizer is a directory of files with well-known names:
 *
 *   tokenizer.json                             everything, as the library tokenizers of Hugging Face writes it
 *   vocab.txt                                  one token per line, its id is the number of the line, from 0
 *   *.model                                    the model of a library, which has everything
 *   source.spm, target.spm                     two of these, of the two languages of a model that translates
 *   vocab.json, merges.txt                     tokens with their ids, and merges
 *   nonbreaking_prefix.LANGUAGE                abbreviations of a language (text/moses.h)
 *   tokenizer_config.json, special_tokens_map.json, added_tokens.json, config.json
 *                                              which tokens are special, lower case or not, kind of model
 *
 * Each segmenter class knows which of these it reads (subwords/segmenter.h). */
#ifndef XLM_SUBWORDS_TOKENIZER_FILES_H
#define XLM_SUBWORDS_TOKENIZER_FILES_H

#include <jansson.h>

#include <xlm/special_tokens.h>

#include "base/error.h"
#include "text/words.h"

typedef struct xlm_tokenizer_files xlm_tokenizer_files;

#define XLM_TOKENIZER_ABBREVIATIONS "nonbreaking_prefix."

/* path: the directory, or a file that has the whole tokenizer, which is then the only one that is read. JSON is parsed here.
 * EX_NOINPUT; EX_DATAERR with file and line. */
xlm_tokenizer_files *xlm_tokenizer_files_read(const char *path, GError **error);
/* The same from n names and the bytes of the files, which are copied. path: for messages. */
xlm_tokenizer_files *xlm_tokenizer_files_new(const char *path, size_t n, const char *const *names, const char *const *bytes,
                                             const size_t *sizes, GError **error);
/* NULL is allowed. */
void xlm_tokenizer_files_free(xlm_tokenizer_files *files);
const char *xlm_tokenizer_files_path(const xlm_tokenizer_files *files);
/* Append the paths of all files that were read to `paths` (of char *, owned by the array). */
void xlm_tokenizer_files_list(const xlm_tokenizer_files *files, GPtrArray *paths);

/* The bytes of a file by its name, 0-terminated; NULL when there is none. The name of the first file with this ending (".model").
 * Valid as long as the files. */
const char *xlm_tokenizer_file(const xlm_tokenizer_files *files, const char *name, size_t *size);
const char *xlm_tokenizer_file_ending(const xlm_tokenizer_files *files, const char *ending);
/* The name of file i, from 0; NULL when there are no more. */
const char *xlm_tokenizer_file_at(const xlm_tokenizer_files *files, size_t i);
/* The same parsed: *.json. Borrowed. */
const json_t *xlm_tokenizer_json(const xlm_tokenizer_files *files, const char *name);
/* The text of a token, which is "text" or {"content": "text"} in JSON; NULL for anything else. */
const char *xlm_tokenizer_token_text(const json_t *value);
/* The value after keys that end with NULL: ("tokenizer.json", "model", "type", NULL). NULL when there is none. */
const json_t *xlm_tokenizer_value(const xlm_tokenizer_files *files, const char *name, ...) G_GNUC_NULL_TERMINATED;
/* Is the "type" of a step of tokenizer.json this one? */
bool xlm_tokenizer_is_type(const json_t *step, const char *type);
/* The type of the model in tokenizer.json: "BPE", "Unigram" or another. Older files (roberta-base, gpt2) do not have it: as in the
 * library tokenizers, a model with merges is then "BPE", and one whose vocabulary is a list "Unigram". NULL: of others without. */
const char *xlm_tokenizer_model_type(const xlm_tokenizer_files *files);
/* Set an error of EX_DATAERR, "DIR/vocab.txt: what". Returns false. line: 0 for none. */
bool xlm_tokenizer_refuse(const xlm_tokenizer_files *files, const char *name, int64_t line, GError **error, const char *format,
                          ...) G_GNUC_PRINTF(5, 6);

/* Call `add` for each line of merges.txt, without its end; it returns NULL, or what is wrong with the line. Empty lines, and a
 * first line that gives the version of the format, are skipped. EX_DATAERR with the line. */
bool xlm_tokenizer_merges(const xlm_tokenizer_files *files, const char *(*add)(void *model, const char *line, size_t size),
                          void *model, GError **error);
/* The merges of tokenizer.json, all of which are then applied, in their order. EX_DATAERR: it has none, or says that words of the
 * vocabulary are not merged (ignore_merges), or that merges are left out at random (dropout). */
const json_t *xlm_tokenizer_json_merges(const xlm_tokenizer_files *files, GError **error);
/* Is there a vocab.json with a token that ends in </w>, the end of a word? */
bool xlm_tokenizer_ends_words(const xlm_tokenizer_files *files);

/* The class of transformers that reads the files, "BertTokenizer": of tokenizer_config.json, or else of config.json; NULL: they
 * name none. [out] file: that has it; may be NULL. */
const char *xlm_tokenizer_class(const xlm_tokenizer_files *files, const char **file);
/* Is this class one that has no rules of its own, but those of tokenizer.json? */
bool xlm_tokenizer_class_is_plain(const char *kind);
/* The same as xlm_tokenizer_class, but NULL where the class is plain. */
const char *xlm_tokenizer_class_with_rules(const xlm_tokenizer_files *files, const char **file);

/* A flag of tokenizer_config.json, or `default_value`. null is not a flag. */
bool xlm_tokenizer_flag(const xlm_tokenizer_files *files, const char *key, bool default_value);
/* The token that has a role such as "mask_token", from special_tokens_map.json or tokenizer_config.json; NULL: they do not give
 * one. */
const char *xlm_tokenizer_role(const xlm_tokenizer_files *files, const char *role);
/* The array of additional special tokens, by its present or its former name; NULL: there is none. [out] file: that has it. */
const json_t *xlm_tokenizer_additional(const xlm_tokenizer_files *files, const char **file);

/* All tokens by id, and which of them are special. */
typedef struct xlm_published_tokens {
    GPtrArray *text;                   /* char *, by id; NULL where no token has the id */
    char *special[XLM_SPECIAL_TOKENS]; /* their texts; NULL: the tokenizer has no such token */
    xlm_word_mode words;               /* for a class without its own normaliser */
    bool lowercase;
    char **languages;            /* names of languages, then NULL; NULL: the tokenizer names none */
    const char *language_form; /* form of their tokens (xlm_vocabulary_settings); NULL: they have none */
    void *second;                /* another model of the class, which is that of text in one of them; NULL: there is none. Owned by
                                  * the caller of adopt */
    int second_language;         /* that language */
} xlm_published_tokens;

void xlm_published_tokens_init(xlm_published_tokens *tokens);
void xlm_published_tokens_clear(xlm_published_tokens *tokens);
/* Give a token its id. EX_DATAERR: the id is negative, larger than files of this size could have, or another token's. */
bool xlm_published_tokens_set(xlm_published_tokens *tokens, const xlm_tokenizer_files *files, const char *file, int64_t id,
                              const char *text, GError **error);
/* Add all tokens of a JSON object {"token": id}, such as vocab.json. */
bool xlm_published_tokens_add_object(xlm_published_tokens *tokens, const xlm_tokenizer_files *files, const char *file,
                                     const json_t *object, GError **error);
/* Add the tokens that tokenizer.json ("added_tokens") or added_tokens.json adds. */
bool xlm_published_tokens_add_added(xlm_published_tokens *tokens, const xlm_tokenizer_files *files, GError **error);
/* Determine the special tokens: those in special_tokens_map.json or tokenizer_config.json; otherwise the first existing token of
 * the class's usual names, separated by spaces, by xlm_special. cls_token has priority over bos_token, and sep_token over
 * eos_token. */
void xlm_published_tokens_find_special(xlm_published_tokens *tokens, const xlm_tokenizer_files *files,
                                       const char *const usual[XLM_SPECIAL_TOKENS]);

#endif
