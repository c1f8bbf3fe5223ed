/* xlm-mpi: models of Hugging Face's transformers into our files and out of them. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A model of theirs is a directory: config.json, model.safetensors (or several with a table), and the files of a tokenizer; one
 * that we write has a model card, README.md, and xlm_vocabulary.h5 too, which has the vocabulary as our files have it, so that a
 * model that comes back is whole. Values go one block of a tensor at a time; a model of any size takes the memory of a few
 * blocks. Nothing here is collective. What is left out, and why, is logged. */
#ifndef XLM_FOREIGN_CONVERT_H
#define XLM_FOREIGN_CONVERT_H

#include "base/error.h"

typedef struct xlm_convert_options {
    char *tokenizer; /* directory with the tokenizer; NULL: the model's own */
    char **languages; /* names, ended by NULL, by id; NULL: as the model says, else "und" */
} xlm_convert_options;

/* directory -> a file that all readers of models accept (model/model_file.h). EX_NOINPUT; EX_DATAERR: file and what is wrong, for
 * tensors their names; EX_CANTCREAT, EX_IOERR. Nothing under the final name on failure. */
bool xlm_convert_import(const char *directory, const xlm_convert_options *options, const char *output, GError **error);

/* model -> a directory, which must not be there yet, or be empty. EX_DATAERR: no architecture can hold the model; others as
 * above. The directory has its name when all is in it. */
bool xlm_convert_export(const char *model, const char *output, GError **error);

/* Is it a directory, or by its name a file of such a one, pickled too, which xlm_convert_import refuses with a message? */
bool xlm_convert_is_theirs(const char *path);

#define XLM_CONVERT_VOCABULARY "xlm_vocabulary.h5"
/* format of that file; its layout: format_version, /vocabulary and /languages (subwords/vocabulary.h). */
#define XLM_CONVERT_VOCABULARY_FORMAT "xlm-mpi vocabulary"
enum { XLM_CONVERT_VOCABULARY_VERSION = 1 };

/* Elements that are in memory at a time. */
enum { XLM_CONVERT_BLOCK = 1 << 22 };

#endif
