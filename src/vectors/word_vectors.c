/* xlm-mpi: word embeddings of subwords, and of words of several subwords. SPDX-License-Identifier: GPL-3.0-or-later */
#include "vectors/word_vectors.h"

/* Rows of a parameter; NULL when the model has none of this name. */
static const float *rows_of(const xlm_parameters *parameters, const char *name)
{
    const int at = xlm_parameters_find(parameters, name);
    return at >= 0 ? xlm_parameters_values(parameters) + xlm_parameters_get(parameters, at)->start : NULL;
}

void xlm_row_means(const float *matrix, int64_t width, const float *added, int64_t n, const int64_t *offsets, const int32_t *rows,
                   float *vectors)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < width; c++) {
            double sum = 0;
            for (int64_t k = offsets[i]; k < offsets[i + 1]; k++)
                sum += (double)matrix[rows[k] * width + c];
            sum /= (double)(offsets[i + 1] - offsets[i]);
            vectors[i * width + c] = (float)(sum + (added != NULL ? (double)added[c] : 0));
        }
}

void xlm_word_vectors(const xlm_model_config *model, const xlm_parameters *parameters, int language, int64_t n,
                      const int64_t *offsets, const int32_t *ids, float *vectors)
{
    const int64_t e = model->embedding_size;
    const float *languages = rows_of(parameters, "embeddings/language/weight"); /* languages x e */
    xlm_row_means(rows_of(parameters, "embeddings/word/weight") /* V x e */, e,
                  language >= 0 && languages != NULL ? languages + language * e : NULL, n, offsets, ids, vectors);
}
