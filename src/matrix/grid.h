/* xlm-mpi: processes as a grid, over which matrices are laid. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_MATRIX_GRID_H
#define XLM_MATRIX_GRID_H

#include "comm/comm.h"

/* How a matrix is laid over the processes (matrix/matrix.h). */
typedef enum { XLM_BY_BLOCKS, XLM_BY_ROWS, XLM_LAYOUTS } xlm_layout;

typedef struct xlm_process_grid {
    int context; /* BLACS's */
    int rows, columns, row, column; /* of processes; this one's */
} xlm_process_grid;

typedef struct xlm_grid {
    const xlm_comm *comm;
    int system; /* BLACS's handle of the communicator */
    xlm_process_grid by[XLM_LAYOUTS];
} xlm_grid;

/* Collective. All ranks as R rows and C columns of processes, R the largest divisor of their number that is at most C: 1 x 1,
 * 1 x 2, 1 x 3, 2 x 2, 1 x 7, 2 x 4. comm is borrowed. */
xlm_grid *xlm_grid_open(const xlm_comm *comm);
/* Collective, after the last of its matrices has been freed. NULL is allowed. */
void xlm_grid_close(xlm_grid *grid);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xlm_grid, xlm_grid_close)

#endif
