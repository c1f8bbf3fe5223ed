/* xlm-mpi: matrices of pairs' subwords in a file, for heat maps. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   /                  format = "xlm-mpi alignment matrices", format_version, program_version, and what
 *                      its maker adds: model (its path), step, method, values (what the numbers are); command and
 *                      encode of xlm_align
 *   /rows, /columns    [P] u32: the shape of each pair's matrix, its numbers of source and target subwords; 0 if a pair has no
 *                      matrix, because a side has no subwords or the pair is too long for the model
 *   /offsets           [P + 1] u64: where each pair's values begin
 *   /layer.N/values    f32: of layer N, row by row. The value of source subword i and target subword j of pair p is number
 *                      offsets[p] + i · columns[p] + j
 *   /source, /target   offsets [P + 1] u64, subwords i32 (ids), words i32 (for each subword the number of its word in the
 *                      sentence, from 0; XLM_MATRIX_NO_WORD of <s>, </s> and the token of a language, which the matrices of
 *                      xlm_align do not have); attribute language
 *   /vocabulary        as in corpus.h5: /vocabulary/words has the texts of ids */
#ifndef XLM_ALIGNERS_MATRIX_FILE_H
#define XLM_ALIGNERS_MATRIX_FILE_H

#include "comm/comm.h"
#include "store/store.h"
#include "subwords/vocabulary.h"

#define XLM_MATRIX_FILE_FORMAT "xlm-mpi alignment matrices"
enum { XLM_MATRIX_FILE_VERSION = 1 };

enum { XLM_MATRIX_NO_WORD = -1 /* in words: the subword is part of no word */ };

typedef struct xlm_matrix_file xlm_matrix_file;

/* One side of a rank's pairs. */
typedef struct xlm_matrix_side {
    int language;           /* id, or -1: none in particular */
    const int64_t *offsets; /* [pairs + 1] subwords of each pair's sentence, from 0 */
    const int32_t *subwords, *words;
} xlm_matrix_side;

typedef struct xlm_matrix_pairs {
    int64_t pairs; /* of this rank; the ranks' pairs follow one another */
    xlm_matrix_side side[2];   /* source, target */
    const bool *left_out;      /* [pairs] more pairs without a matrix, besides those with an empty side; NULL: none */
} xlm_matrix_pairs;

/* All functions are collective except xlm_matrix_file_store, xlm_matrix_file_add and xlm_matrix_file_full. */

/* Layers first … first + layers - 1. EX_CANTCREAT, EX_IOERR. */
xlm_matrix_file *xlm_matrix_file_create(const xlm_comm *comm, const char *path, const xlm_matrix_pairs *pairs,
                                        const xlm_vocabulary *vocabulary, int64_t first, int64_t layers, GError **error);
/* For attributes of /. */
xlm_store *xlm_matrix_file_store(xlm_matrix_file *file);
/* Add the next matrix, n values, of a layer (0: the first of the file). The pairs of this rank that have a matrix come in order. */
void xlm_matrix_file_add(xlm_matrix_file *file, int64_t layer, int64_t n, const float *values);
/* Has so much been added that it should be written? */
bool xlm_matrix_file_full(const xlm_matrix_file *file);
/* Write what was added. */
bool xlm_matrix_file_write(xlm_matrix_file *file, GError **error);
/* If `good`, write what was added and give the file its name; else, and on failure, nothing is left on disk. Frees *file; NULL
 * is allowed. Returns false if there is no file. */
bool xlm_matrix_file_end(xlm_matrix_file *file, bool good, GError **error);

#endif
