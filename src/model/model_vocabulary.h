/* xlm-mpi: a model with fewer or more subwords and languages. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reduces a published model of a hundred languages to a few, and back:
 *
 *   keep      leaves out the subwords that corpora of the model's vocabulary do not have (subwords/vocabulary_change.h)
 *   add       adds a subword for each given word, and languages, after the existing ones
 *   restore   takes the vocabulary of the original model, with the rows of the model that was made of it, or else those of the
 *             original; what the model has besides comes after
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
    char *restore;    /* file of the original model, with which none of the above may be given; NULL: none */
    bool average;     /* new rows are means, else random */
    int64_t seed;     /* of the draws */
} xlm_model_vocabulary_options;

/* Write the model in `path` with such a vocabulary to `output`. EX_NOINPUT; EX_DATAERR: a damaged file, a corpus with another
 * vocabulary, a segmenter that does not support this, or nothing to add; EX_CANTCREAT, EX_IOERR. */
bool xlm_model_vocabulary_change(const char *path, const xlm_model_vocabulary_options *options, const char *output,
                                 GError **error);

#endif
