/* xlm-mpi: the products of linear layers, in the tape's precision. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * y = x Wᵀ + b and its backward pass, x: n x in, W: out x in, y: n x out, where W is a variable. Parameters are packed
 * (gemm/packed.h) once while they stay as they are, in both directions. Products with other variables, and small ones of floats,
 * are BLIS's (gemm/gemm.h), in floats. */
#ifndef XLM_TENSOR_PRODUCTS_H
#define XLM_TENSOR_PRODUCTS_H

#include "gemm/packed.h"
#include "tensor/tape.h"

/* From this row on. */
static inline xlm_factor xlm_factor_of(const xlm_var *x, int64_t row)
{
    return (xlm_factor){.floats = x->value != NULL ? x->value + row * x->cols : NULL,
                        .rounded = x->rounded != NULL ? x->rounded + row * x->cols : NULL};
}

/* y = x Wᵀ + b. bias: 1 x out, or NULL. */
void xlm_product(xlm_tape *tape, int64_t n, xlm_factor x, xlm_var *weight, const xlm_var *bias, xlm_real *y);
/* The same, rounded, where xlm_product_rounds. */
void xlm_product_to_rounded(xlm_tape *tape, int64_t n, xlm_factor x, xlm_var *weight, const xlm_var *bias, uint16_t *y);
/* The operator of it for what attention reads (its queries, keys and values): as xlm_linear, but where products are made in
 * bfloat16 y is rounded, and its floats are not there. */
xlm_var *xlm_linear_to_rounded(xlm_tape *tape, xlm_var *x, xlm_var *weight, xlm_var *bias);
/* dx = dy W, or dx += dy W where dx.add. */
void xlm_product_of_gradient(xlm_tape *tape, int64_t n, const xlm_real *dy, xlm_var *weight, xlm_grad dx);
/* dW = dyᵀ x, or dW += dyᵀ x where dw.add. */
void xlm_product_of_weight(xlm_tape *tape, int64_t n, const xlm_real *dy, xlm_factor x, const xlm_var *weight, xlm_grad dw);
/* Both, and db += column sums of dy, db: [out]; where one is NULL, or its at, not that one. In bfloat16 dy is read and rounded
 * once. */
void xlm_product_backward(xlm_tape *tape, int64_t n, const xlm_real *dy, xlm_factor x, xlm_var *weight, xlm_grad dx,
                          xlm_grad dw, xlm_real *db);

/* Whether products are made in bfloat16 in general, those of activations among them. */
bool xlm_products_round(const xlm_tape *tape);
/* For an operator whose result y, recorded last, goes into products: where they are made in bfloat16, memory for y->rounded, to be
 * filled in together with y->value; else NULL. */
uint16_t *xlm_products_take_rounded(xlm_tape *tape, xlm_var *y);
/* For operators that make several products of one part of the rows, which are to be called when this is true: products of n rows
 * with this parameter are made from its packed form. */
bool xlm_product_packs(const xlm_tape *tape, int64_t n, const xlm_var *weight);
/* The same, in bfloat16; it does not depend on the rows then. */
bool xlm_product_rounds(const xlm_tape *tape, const xlm_var *weight);
/* The parameter packed as it is now: Wᵀ, in x out, where `transpose`, else W. The tape's. */
const xlm_packed *xlm_product_parameter(xlm_tape *tape, xlm_var *weight, bool transpose);
/* dW = dyᵀ x, or dW += dyᵀ x; dy_transposed: out x xlm_packed_depth(n), dyᵀ rounded, of which columns from n on are filled
 * up here. */
void xlm_product_of_rounded(xlm_tape *tape, int64_t n, uint16_t *dy_transposed, xlm_factor x, const xlm_var *weight,
                            xlm_grad dw);

#endif
