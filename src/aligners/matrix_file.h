/* xlm-mpi: matrices of pairs' subwords in a file, for heat maps. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   /                  format = "xlm-mpi alignment matrices", format_version, program_version, and what
 *                      xlm_matrix_file_describe adds: model (its path), step, method, values (what the numbers are); command and
 *                      encode of xlm_align
 *   /rows, /columns    [P] u32: the shape of each pair's matrix, its numbers of source and target subwords; 0 where the pair has
 *                      none, because a side has no subwords or it is too long for the model
 *   /offsets           [P + 1] u64: where each pair's values begin
 *   /layer.N/values    f32: of layer N, row by row. The value of source subword i and target subword j of pair p is number
 *                      offsets[p] + i · columns[p] + j
 *   /source, /target   offsets [P + 1] u64, subwords i32 (ids), words i32 (number of the word in its sentence, from 0, that
 *                      each subword is of); attribute language
 *   /vocabulary        as in corpus.h5: /vocabulary/words has the texts of ids */
#ifndef XLM_ALIGNERS_MATRIX_FILE_H
#define XLM_ALIGNERS_MATRIX_FILE_H

#include "comm/comm.h"
#include "store/store.h"
#include "subwords/vocabulary.h"

#define XLM_MATRIX_FILE_FORMAT "xlm-mpi alignment matrices"
enum { XLM_MATRIX_FILE_VERSION = 1 };

typedef struct xlm_matrix_file xlm_matrix_file;

/* One side of a rank's pairs. */
typedef struct xlm_matrix_side {
    int language;           /* id, or -1: none in particular */
    const int64_t *offsets; /* [pairs + 1] subwords of each pair's sentence, from 0 */
    const int32_t *subwords, *words;
} xlm_matrix_side;

typedef struct xlm_matrix_pairs {
    int64_t pairs, first, all; /* of this rank; the number of the first of them; of all ranks */
    xlm_matrix_side side[2];   /* source, target */
    const bool *left_out;      /* [pairs] those that have no matrix, beside those with a side without subwords; NULL: none */
} xlm_matrix_pairs;

/* All functions are collective but xlm_matrix_file_add and xlm_matrix_file_full. */

/* Layers first … first + layers - 1. EX_CANTCREAT, EX_IOERR. */
xlm_matrix_file *xlm_matrix_file_create(const xlm_comm *comm, const char *path, const xlm_matrix_pairs *pairs,
                                        const xlm_vocabulary *vocabulary, int64_t first, int64_t layers, GError **error);
/* Attributes of /. */
bool xlm_matrix_file_describe(xlm_matrix_file *file, const char *name, const char *value, GError **error);
bool xlm_matrix_file_describe_number(xlm_matrix_file *file, const char *name, int64_t value, GError **error);
/* The next matrix, of n values, of layer number `layer` of those that the file has: pairs of this rank that have one, in order. */
void xlm_matrix_file_add(xlm_matrix_file *file, int64_t layer, int64_t n, const float *values);
/* Has so much come that it is to be written? */
bool xlm_matrix_file_full(const xlm_matrix_file *file);
/* Write what has come. */
bool xlm_matrix_file_write(xlm_matrix_file *file, GError **error);
/* Give the file its name. It is gone afterwards, also on failure, when nothing is left on disk. */
bool xlm_matrix_file_commit(xlm_matrix_file *file, GError **error);
/* Remove what was written. NULL is allowed. */
void xlm_matrix_file_discard(xlm_matrix_file *file);

#endif
