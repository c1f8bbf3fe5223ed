/* xlm-mpi: vocabularies and tokenizers of models of other programs. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_FOREIGN_FOREIGN_VOCABULARY_H
#define XLM_FOREIGN_FOREIGN_VOCABULARY_H

#include <jansson.h>
#include <xlm/model.h>

#include "foreign/convert.h"
#include "subwords/vocabulary.h"

/* The vocabulary of a model directory, or of options->tokenizer, from xlm_vocabulary.h5 if that exists. rows: of the model's word
 * embeddings. embedded: number of languages that the model has embeddings of, 0 if none. named: their names in config.json, or
 * NULL. EX_DATAERR: there is no tokenizer that is known, or it is not that of the model. */
xlm_vocabulary *xlm_foreign_vocabulary_read(const char *directory, const xlm_convert_options *options, int64_t rows,
                                            int64_t embedded, char **named, GError **error);

/* [out] larger: the vocabulary followed by the additional subwords that transformers' tokenizer needs, without synthetic
 * languages; NULL if it needs none. EX_DATAERR: more subwords than there are ids. */
bool xlm_foreign_vocabulary_complete(const xlm_vocabulary *vocabulary, xlm_vocabulary **larger, GError **error);

/* Write xlm_vocabulary.h5, and the files of transformers' tokenizer, into a directory. larger: of
 * xlm_foreign_vocabulary_complete. config: of the model. separators: how many tokens its task has between two texts; 0: it has no
 * task with two. [out] notes: sentences about how that tokenizer differs from ours are appended, for the model card; they are
 * logged too. */
bool xlm_foreign_vocabulary_write(const xlm_vocabulary *vocabulary, const xlm_vocabulary *larger, const xlm_model_config *config,
                                  int separators, const char *directory, GString *notes, GError **error);

/* Write a text as a file, and a JSON value, which is taken. EX_CANTCREAT, EX_IOERR. */
bool xlm_foreign_write_text(const char *directory, const char *name, const char *text, GError **error);
bool xlm_foreign_write_json(const char *directory, const char *name, json_t *json, GError **error);

#endif
