/* xlm-mpi: word embeddings of subwords, and of words of several subwords. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_VECTORS_WORD_VECTORS_H
#define XLM_VECTORS_WORD_VECTORS_H

#include "nn/model.h"

/* [out] vectors: [n x embedding_size]: vector i is the mean of the rows of embeddings/word/weight with the ids offsets[i] …
 * offsets[i + 1] (at least one), plus the row of the language in embeddings/language/weight when language is not -1 and the model
 * has them. offsets: [n + 1]. */
void xlm_word_vectors(const xlm_model_config *model, const xlm_parameters *parameters, int language, int64_t n,
                      const int64_t *offsets, const int32_t *ids, float *vectors);

/* The same of the rows of any matrix, [… x width]; added: [width] or NULL. */
void xlm_row_means(const float *matrix, int64_t width, const float *added, int64_t n, const int64_t *offsets, const int32_t *rows,
                   float *vectors);

#endif
