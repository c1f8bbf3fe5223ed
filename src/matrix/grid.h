/* xlm-mpi: processes as a grid, over which matrices are laid. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_MATRIX_GRID_H
#define XLM_MATRIX_GRID_H

#include "comm/comm.h"

typedef struct xlm_grid xlm_grid;

/* Collective. All ranks as R rows and C columns of processes, R the largest divisor of their number that is at most C: 1 x 1,
 * 1 x 2, 1 x 3, 2 x 2, 1 x 7, 2 x 4. comm is borrowed. */
xlm_grid *xlm_grid_open(const xlm_comm *comm);
/* Collective, after the last of its matrices has been freed. NULL is allowed. */
void xlm_grid_close(xlm_grid *grid);

void xlm_grid_extents(const xlm_grid *grid, int *rows, int *columns);
const xlm_comm *xlm_grid_comm(const xlm_grid *grid);

#endif
