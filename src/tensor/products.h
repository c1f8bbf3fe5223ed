/* xlm-mpi: the products of linear layers, in the tape's precision. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * y = x Wᵀ + b and its backward pass, x: n x in, W: out x in, y: n x out, where W is a variable. Parameters are packed
 * (tensor/packed.h) once while they stay as they are, in both directions. Products with other variables, and small ones of floats,
 * are BLIS's (tensor/gemm.h), in floats. */
#ifndef XLM_TENSOR_PRODUCTS_H
#define XLM_TENSOR_PRODUCTS_H

#include "tensor/tape.h"

/* y = x Wᵀ + b. bias: 1 x out, or NULL. */
void xlm_product(xlm_tape *tape, int64_t n, const xlm_real *x, xlm_var *weight, const xlm_var *bias, xlm_real *y);
/* dx = dy W, or dx += dy W where dx.add. */
void xlm_product_of_gradient(xlm_tape *tape, int64_t n, const xlm_real *dy, xlm_var *weight, xlm_grad dx);
/* dW = dyᵀ x, or dW += dyᵀ x where dw.add. */
void xlm_product_of_weight(xlm_tape *tape, int64_t n, const xlm_real *dy, const xlm_real *x, const xlm_var *weight, xlm_grad dw);

#endif
