/* xlm-mpi: vocabularies and tokenizers of models of other programs. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_FOREIGN_FOREIGN_VOCABULARY_H
#define XLM_FOREIGN_FOREIGN_VOCABULARY_H

#include <jansson.h>
#include <xlm/model.h>

#include "foreign/convert.h"
#include "subwords/vocabulary.h"

/* The vocabulary of a model directory, or of options->tokenizer, from xlm_vocabulary.h5 if that is there. rows: of the model's
 * word embeddings. embedded: languages that the model has embeddings of, 0 for none. named: their names by config.json, or NULL.
 * EX_DATAERR: none that is known, or not this model's. */
xlm_vocabulary *xlm_foreign_vocabulary_read(const char *directory, const xlm_convert_options *options, int64_t rows,
                                            int64_t embedded, char **named, GError **error);

/* [out] *larger: the vocabulary, after it the subwords that transformers' tokenizer must have besides, without synthetic
 * languages; NULL when there are none. EX_DATAERR: more subwords than there are ids. */
bool xlm_foreign_vocabulary_complete(const xlm_vocabulary *vocabulary, xlm_vocabulary **larger, GError **error);

/* Into a directory: xlm_vocabulary.h5, and what transformers make a tokenizer of. larger: of xlm_foreign_vocabulary_complete.
 * config: of the model. [out] notes: sentences about where that tokenizer is not ours, appended, for the model card; they are
 * logged too. */
bool xlm_foreign_vocabulary_write(const xlm_vocabulary *vocabulary, const xlm_vocabulary *larger, const xlm_model_config *config,
                                  const char *directory, GString *notes, GError **error);

/* Write a text as a file, and a JSON value, which is taken. EX_CANTCREAT, EX_IOERR. */
bool xlm_foreign_write_text(const char *directory, const char *name, const char *text, GError **error);
bool xlm_foreign_write_json(const char *directory, const char *name, json_t *json, GError **error);

#endif
