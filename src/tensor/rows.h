/* xlm-mpi: rows of a matrix by index. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TENSOR_ROWS_H
#define XLM_TENSOR_ROWS_H

#include <xlm/tape.h>

/* to[index_i] += from[i], i ascending for each row of `to`, without those whose index is -1. from: n x cols. */
void xlm_rows_scatter_add(int64_t n, int64_t cols, const int32_t *index, const xlm_real *from, xlm_real *to);

/* A copy of index[n] in memory of the tape. Ends the program if an index is not in [lowest, rows). */
int32_t *xlm_rows_copy_index(xlm_tape *tape, const char *operator_name, int64_t n, const int32_t *index, int32_t lowest,
                             int64_t rows);

#endif
