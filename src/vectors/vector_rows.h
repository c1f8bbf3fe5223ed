/* xlm-mpi: the vectors of a file, distributed over ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_VECTORS_VECTOR_ROWS_H
#define XLM_VECTORS_VECTOR_ROWS_H

#include "comm/comm.h"

/* Rows first … first + own of n are this rank's: each rank has one run of them. */
typedef struct xlm_vector_rows {
    const xlm_comm *comm;
    int64_t n, width, first, own;
    int64_t *begin; /* [ranks + 1] where each rank's run begins, then n; the same on every rank */
    float *values; /* [own x width] */
    char **words;  /* [n] of all, on every rank, then NULL; NULL: they have no names */
} xlm_vector_rows;

/* Collective. path: an HDF5 file of vectors (vectors/vector_file.h), of which each rank reads only its rows; a text file of words
 * with vectors; or a checkpoint, for its word embeddings except those of special tokens. language: of a checkpoint, the language
 * whose embedding is added; NULL: none. max_vectors: how many are read; 0: all. *rows is closed also after a failure. EX_NOINPUT;
 * EX_DATAERR: fewer than two vectors, or one with a number that is not finite, which is named. */
bool xlm_vector_rows_open(const xlm_comm *comm, const char *path, const char *language, int64_t max_vectors,
                          xlm_vector_rows *rows, GError **error);
/* Collective: leave out the rows that are 0, which have no direction and are no observations but words without data, so that two
 * files that have them in common would be taken for alike. other: of as many rows, distributed alike; what is 0 in one of the two
 * is left out of both; NULL: none. path: for the log, which says how many. EX_DATAERR: fewer than two vectors are left. */
bool xlm_vector_rows_leave_out_zeros(xlm_vector_rows *rows, xlm_vector_rows *other, const char *path, GError **error);
/* After zeros, too. */
void xlm_vector_rows_close(xlm_vector_rows *rows);

/* [out] mean: [width] of all rows of all ranks. */
void xlm_vector_rows_mean(const xlm_vector_rows *rows, double *mean);
/* [out] product: [x width, y width] Σ (x_i − mean x)(y_i − mean y)ᵀ over all rows i; y of as many rows as x, and x
 * itself for its scatter matrix. In double precision, with all threads. Collective. */
void xlm_vector_rows_product(const xlm_vector_rows *x, const double *mean_x, const xlm_vector_rows *y, const double *mean_y,
                             double *product);
/* [out] image: [own x k] (x_i − mean) A, A: [width x k]. Not collective. */
void xlm_vector_rows_image(const xlm_vector_rows *rows, const double *mean, int64_t k, const double *a, float *image);

#endif
