/* xlm-mpi: matrices of doubles that are distributed over the ranks. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A matrix has one of two layouts, both block-cyclic in ScaLAPACK's sense:
 *   XLM_BY_BLOCKS  blocks of 32 x 32, dealt to the processes of the grid in both directions; best for decompositions
 *   XLM_BY_ROWS    each rank has one run of whole rows; as in files, and best for tall matrices of few columns
 * A rank may hold nothing of a matrix that is smaller than the grid. Only src/matrix reads
 * and changes descriptors and local parts; others see rows and columns, which count from 0. Arrays that are passed are row-major.
 *
 * All functions that take a matrix are collective over the grid's ranks unless their comment says otherwise. */
#ifndef XLM_MATRIX_MATRIX_H
#define XLM_MATRIX_MATRIX_H

#include "comm/comm.h"

typedef enum { XLM_BY_BLOCKS, XLM_BY_ROWS, XLM_LAYOUTS } xlm_layout;

/* The ranks as a grid of processes, for each layout. */
typedef struct xlm_process_grid {
    int context; /* of BLACS */
    int rows, columns, row, column; /* of processes; of this one */
} xlm_process_grid;

typedef struct xlm_grid {
    const xlm_comm *comm;
    int system; /* BLACS's handle of the communicator */
    xlm_process_grid by[XLM_LAYOUTS];
} xlm_grid;

/* Collective. For XLM_BY_BLOCKS the ranks form R rows and C columns of processes, R being the largest divisor of their number
 * that is at most C: 1 x 1, 1 x 2, 1 x 3, 2 x 2, 1 x 7, 2 x 4. comm is borrowed. */
xlm_grid *xlm_grid_open(const xlm_comm *comm);
/* Collective, after the last of its matrices has been freed. NULL is allowed. */
void xlm_grid_close(xlm_grid *grid);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xlm_grid, xlm_grid_close)

typedef struct xlm_matrix xlm_matrix;

/* rows x columns zeros, at least 1 x 1. Not collective, but every rank makes the same call and gets the same result. EX_DATAERR
 * if the part of a rank would have 2^31 elements or more, which ScaLAPACK cannot count: more ranks are needed. */
xlm_matrix *xlm_matrix_new(const xlm_grid *grid, xlm_layout layout, int64_t rows, int64_t columns, GError **error);
/* Not collective. NULL is allowed. */
void xlm_matrix_free(xlm_matrix *matrix);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xlm_matrix, xlm_matrix_free)
int64_t xlm_matrix_rows(const xlm_matrix *matrix);

/* For a matrix by rows; not collective: this rank's rows are *first … *first + *n. Element (*first + i, j) is number
 * j * *stride + i of the array, which the matrix owns: columns are contiguous. */
double *xlm_matrix_own_rows(xlm_matrix *matrix, int64_t *first, int64_t *n, int64_t *stride);
/* The rows *first … *first + *n that this rank has of a matrix of `rows` rows in layout XLM_BY_ROWS. Not collective. */
void xlm_matrix_share(const xlm_comm *comm, int64_t rows, int64_t *first, int64_t *n);

/* Set from, or copy to, an array [rows x columns] that is the same on every rank; for small matrices. Only xlm_matrix_get is
 * collective. */
void xlm_matrix_set(xlm_matrix *matrix, const double *values);
void xlm_matrix_get(const xlm_matrix *matrix, double *values);
/* Copy a matrix to one of the same extents, which may have the other layout. */
void xlm_matrix_copy(const xlm_matrix *from, xlm_matrix *to);

#endif
