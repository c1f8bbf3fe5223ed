/* xlm-mpi: models of Hugging Face's transformers, converted to our files and back. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A model of theirs is a directory: config.json, model.safetensors (or several with a table), and the files of a tokenizer; one
 * that we write also has a model card, README.md, and xlm_vocabulary.h5, which has the vocabulary as in our files, so that a
 * model that comes back is complete. Values are copied one block of a tensor at a time, so a model of any size takes the memory
 * of a few blocks. Nothing here is collective. What is left out, and why, is logged. */
#ifndef XLM_FOREIGN_CONVERT_H
#define XLM_FOREIGN_CONVERT_H

#include "base/error.h"

typedef struct xlm_convert_options {
    char *tokenizer; /* directory with the tokenizer; NULL: the model's own */
    char **languages; /* names by id, then NULL; NULL: those that the model gives, otherwise "und" */
} xlm_convert_options;

/* directory -> a file that all readers of models accept (model/model_file.h). EX_NOINPUT; EX_DATAERR: file and what is wrong, for
 * tensors their names; EX_CANTCREAT, EX_IOERR. On failure there is no file of the final name. */
bool xlm_convert_import(const char *directory, const xlm_convert_options *options, const char *output, GError **error);

/* model -> a directory, which must not exist yet, or be empty. EX_DATAERR: no architecture can hold the model; other errors as
 * above. The directory gets its name when it is complete. */
bool xlm_convert_export(const char *model, const char *output, GError **error);

/* Is it a directory, or, by its name, a file from such a directory? Pickled files count too; xlm_convert_import refuses them with
 * a message. */
bool xlm_convert_is_theirs(const char *path);

#define XLM_CONVERT_VOCABULARY "xlm_vocabulary.h5"
/* format of that file; its layout: format_version, /vocabulary and /languages (subwords/vocabulary.h). */
#define XLM_CONVERT_VOCABULARY_FORMAT "xlm-mpi vocabulary"
enum { XLM_CONVERT_VOCABULARY_VERSION = 1 };

/* Maximum number of elements in memory at a time. */
enum { XLM_CONVERT_BLOCK = 1 << 22 };

#endif
