/* xlm-mpi: columns of a matrix, taken and added to. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TENSOR_COLUMNS_H
#define XLM_TENSOR_COLUMNS_H

#include "tensor/products.h"

/* n columns of x from `first` on, n >= 1.
 * [in] x: m x d, first + n ≤ d
 * [out] y: m x n */
xlm_var *xlm_columns(xlm_tape *tape, xlm_var *x, int64_t first, int64_t n);
/* y = a, with b[i] added to its columns from column[i] on, and then rotated (rotation: copied; NULL: not): for queries, keys and
 * values of attention, y also exists in bfloat16 if products are computed in it.
 * [in] a: m x d
 * [in] n: number of the others, any
 * [in] b: [n] m x w_i each, column[i] + w_i ≤ d
 * [out] y: m x d */
xlm_var *xlm_add_columns(xlm_tape *tape, xlm_var *a, int n, xlm_var *const *b, const int64_t *column,
                         const xlm_rotation *rotation);

#endif
