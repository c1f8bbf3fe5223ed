/* xlm-mpi: processes as a grid, over which matrices are laid. SPDX-License-Identifier: GPL-3.0-or-later */
#include "matrix/grid.h"

#include "matrix/scalapack.h"

static void open_process_grid(xlm_process_grid *g, int system, int rows, int columns)
{
    g->context = system;
    Cblacs_gridinit(&g->context, "Row", rows, columns);
    Cblacs_gridinfo(g->context, &g->rows, &g->columns, &g->row, &g->column);
}

xlm_grid *xlm_grid_open(const xlm_comm *comm)
{
    xlm_grid *grid = g_new0(xlm_grid, 1);
    int rows = 1;
    for (int r = 1; r * r <= comm->ranks; r++)
        if (comm->ranks % r == 0)
            rows = r;
    grid->comm = comm;
    grid->system = Csys2blacs_handle(comm->mpi);
    open_process_grid(&grid->by[XLM_BY_BLOCKS], grid->system, rows, comm->ranks / rows);
    open_process_grid(&grid->by[XLM_BY_ROWS], grid->system, comm->ranks, 1);
    return grid;
}

void xlm_grid_close(xlm_grid *grid)
{
    if (grid == NULL)
        return;
    Cblacs_gridexit(grid->by[XLM_BY_ROWS].context);
    Cblacs_gridexit(grid->by[XLM_BY_BLOCKS].context);
    Cfree_blacs_system_handle(grid->system);
    g_free(grid);
}
