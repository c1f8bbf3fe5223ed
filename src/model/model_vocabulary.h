/* xlm-mpi: a model with fewer or more subwords and languages. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reduces a published model of a hundred languages to a few, and back:
 *
 *   keep      leaves out the subwords that corpora of the model's vocabulary do not have (subwords/vocabulary_change.h)
 *   add       adds a subword for each given word, and languages, after the existing ones
 *   restore   the vocabulary of an original, with the rows of a model that was made of it, and the original's for the rest; what
 *             the model has besides comes after
 *
 * The rows are written by model/model_rows.h. Nothing here is collective. */
#ifndef XLM_MODEL_MODEL_VOCABULARY_H
#define XLM_MODEL_MODEL_VOCABULARY_H

#include <stdint.h>

#include "base/error.h"

typedef struct xlm_model_vocabulary_options {
    char **keep;      /* corpora, ended by NULL; NULL: keep all subwords */
    char *words;      /* a file of words to add, one per line; NULL: none */
    char **languages; /* names to add, ended by NULL; NULL: none */
    char *restore;    /* the original model; then none of the above. NULL: none */
    bool average;     /* new rows are means, else random */
    int64_t seed;     /* of the draws */
} xlm_model_vocabulary_options;

/* Write the model of `path` with such a vocabulary as `output`. EX_NOINPUT; EX_DATAERR: file and what is wrong, also for a corpus
 * with another vocabulary and for a segmenter that does not support this; EX_CANTCREAT, EX_IOERR. */
bool xlm_model_vocabulary_change(const char *path, const xlm_model_vocabulary_options *options, const char *output,
                                 GError **error);

#endif
