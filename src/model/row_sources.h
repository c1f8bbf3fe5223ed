/* xlm-mpi: where the rows of a larger vocabulary come from. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A run that starts from a model (run/warm_start.h) may read a corpus with more subwords and languages than the model has.
 * Arrays with a row for each subword or language get the model's row wherever it has the word, which is found by its spelling; a
 * row that the model does not have stays as it was drawn, or becomes the mean of those rows of the model that stand for it. */
#ifndef XLM_MODEL_ROW_SOURCES_H
#define XLM_MODEL_ROW_SOURCES_H

#include "subwords/vocabulary.h"

/* Row i of the larger array is the mean of the rows source[first[i] .. first[i + 1]) of the old one; of none: it stays. */
typedef struct xlm_row_sources {
    int64_t rows;
    int64_t *first;  /* [rows + 1] */
    int32_t *source; /* [first[rows]] */
    int64_t taken, averaged, drawn; /* rows of one source by name, of the mean, and those that stay; together all of them */
    int64_t left;    /* rows of the old array that the larger one does not have */
} xlm_row_sources;

/* Does `larger` cut text into words and subwords as `old` does, but for more subwords? Word mode, case and class of the segmenter
 * are the same, all subwords of `old` are there, and what its segmenter learned is the first part of what larger's did. Else
 * EX_DATAERR with words that say what differs, such as "12 of its 500 subwords are not there, `hou@@` the first"; the caller puts
 * the files in front and what to do after. */
bool xlm_vocabulary_extends(const xlm_vocabulary *old, const xlm_vocabulary *larger, GError **error);

/* Rows of subwords. average: a new subword is the mean of the subwords that `old` cuts its text into. It has no source when `old`
 * knows none of its characters, and when it is a twin, whose letters are its own. Else new rows have no source. */
xlm_row_sources *xlm_row_sources_of_subwords(const xlm_vocabulary *old, const xlm_vocabulary *larger, bool average);
/* Rows of languages, by name. average: a new one is the mean of all that `old` has. */
xlm_row_sources *xlm_row_sources_of_languages(const xlm_vocabulary *old, const xlm_vocabulary *larger, bool average);
/* NULL is allowed. */
void xlm_row_sources_free(xlm_row_sources *sources);

/* larger_rows [sources->rows x cols] from old_rows. What has one source is copied to the bit; means are added up in double
 * precision, in the order of the sources. */
void xlm_row_sources_apply(const xlm_row_sources *sources, int64_t cols, const float *old_rows, float *larger_rows);

#endif
