/* xlm-mpi: where the rows of a larger vocabulary come from. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A run that starts from a model (run/warm_start.h) may read a corpus with more subwords and languages than the model has. In
 * arrays with a row for each subword or language, a word gets the row of the word that is spelt alike in the model. A row that
 * the model does not have keeps its random values, or becomes the mean of the rows of the model that represent it. */
#ifndef XLM_MODEL_ROW_SOURCES_H
#define XLM_MODEL_ROW_SOURCES_H

#include "subwords/vocabulary.h"

/* Row i of the larger array is the mean of the rows source[first[i] .. first[i + 1]) of the old one; if there are none, it is not
 * changed. */
typedef struct xlm_row_sources {
    int64_t rows;
    int64_t *first;  /* [rows + 1] */
    int32_t *source; /* [first[rows]] */
    int64_t taken, averaged, drawn; /* number of rows that have a source of the same name, that are means, and that have no
                                     * source; together all rows */
    int64_t left;    /* rows of the old array that the larger one does not have */
} xlm_row_sources;

/* Does `larger` cut text into words and subwords like `old`, except that it has more subwords? Word mode, case and class of the
 * segmenter must be the same, `larger` must have all subwords of `old`, and what the segmenter of `old` learned must be the first
 * part of what that of `larger` learned. Otherwise EX_DATAERR with the difference, such as "12 of its 500 subwords are not there,
 * `hou@@` the first"; the caller puts the files before it and the remedy after it. */
bool xlm_vocabulary_extends(const xlm_vocabulary *old, const xlm_vocabulary *larger, GError **error);

/* Rows of subwords. average: the row of a new subword is the mean of the rows of those subwords that `old` cuts its text into; it
 * has no source if `old` knows none of its characters, or if it is a twin, whose letters are not those of a text. Without
 * average, new rows have no source. xlm_row_sources_free. */
xlm_row_sources *xlm_row_sources_of_subwords(const xlm_vocabulary *old, const xlm_vocabulary *larger, bool average);
/* Rows of languages, by name. average: the row of a new language is the mean of all languages of `old`. xlm_row_sources_free. */
xlm_row_sources *xlm_row_sources_of_languages(const xlm_vocabulary *old, const xlm_vocabulary *larger, bool average);
/* NULL is allowed. */
void xlm_row_sources_free(xlm_row_sources *sources);

/* larger_rows [sources->rows x cols] from old_rows. Rows with one source are copied bit by bit; means are added up in double
 * precision, in the order of the sources. */
void xlm_row_sources_apply(const xlm_row_sources *sources, int64_t cols, const float *old_rows, float *larger_rows);

#endif
