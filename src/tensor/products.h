/* xlm-mpi: the products of linear layers, in the tape's precision. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * y = x Wᵀ + b and its backward pass, x: n x in, W: out x in, y: n x out, where W is a variable. A parameter is packed
 * (gemm/packed.h) in both directions, and packed again only after it has changed, thus only once if it is frozen. Products with
 * other variables, and small ones of floats, are computed by BLIS (gemm/gemm.h), in floats. */
#ifndef XLM_TENSOR_PRODUCTS_H
#define XLM_TENSOR_PRODUCTS_H

#include "gemm/packed.h"
#include "tensor/tape.h"

/* The rows of x from this one on, as a factor. */
static inline xlm_factor xlm_factor_of(const xlm_var *x, int64_t row)
{
    return (xlm_factor){.floats = x->value != NULL ? x->value + row * x->cols : NULL,
                        .rounded = x->rounded != NULL ? x->rounded + row * x->cols : NULL};
}

/* y = x Wᵀ + b. bias: 1 x out, or NULL. */
void xlm_product(xlm_tape *tape, int64_t n, xlm_factor x, xlm_var *weight, const xlm_var *bias, xlm_real *y);
/* The same, with y rounded to bfloat16; xlm_product_rounds must be true of the weight. */
void xlm_product_to_rounded(xlm_tape *tape, int64_t n, xlm_factor x, xlm_var *weight, const xlm_var *bias, uint16_t *y);
/* The linear layer for queries, keys and values of attention: like xlm_linear, but if products are computed in bfloat16, y exists
 * only in bfloat16. */
xlm_var *xlm_linear_to_rounded(xlm_tape *tape, xlm_var *x, xlm_var *weight, xlm_var *bias);

/* Rotary position embeddings (Su et al. 2021): in each head of even width w, elements i and i + w/2 are the parts of a vector in
 * a plane, which is turned by an angle that grows with the position. So products of queries and keys depend on how far apart
 * they are. */
typedef struct xlm_rotation {
    int64_t heads;          /* those in the first heads · w columns are rotated */
    int64_t w;
    const xlm_real *turns;  /* [positions x w] cosines of w/2 angles and their sines, not copied */
    int64_t positions;
    const int32_t *at;      /* [n] the position of each row, not copied */
} xlm_rotation;
/* The same as xlm_linear_to_rounded, rotated; in bfloat16 the numbers are rounded before the rotation and after it. Its backward
 * pass rotates the gradient of y back, in place. rotation: copied. */
xlm_var *xlm_linear_rotated(xlm_tape *tape, xlm_var *x, xlm_var *weight, xlm_var *bias, const xlm_rotation *rotation);
/* Are heads and positions those of n rows of so many columns? Ends the program with a message if not. */
void xlm_rotation_check(const char *operator_name, const xlm_rotation *rotation, int64_t n, int64_t cols);
/* Rotates n rows of so many columns in place, or back. */
void xlm_rotation_apply(const xlm_rotation *rotation, bool back, int64_t n, int64_t cols, xlm_real *y);
/* dx = dy W, or dx += dy W if dx.add. */
void xlm_product_of_gradient(xlm_tape *tape, int64_t n, const xlm_real *dy, xlm_var *weight, xlm_grad dx);
/* dW = dyᵀ x, or dW += dyᵀ x if dw.add. */
void xlm_product_of_weight(xlm_tape *tape, int64_t n, const xlm_real *dy, xlm_factor x, const xlm_var *weight, xlm_grad dw);
/* Both, and db += column sums of dy, db: [out]; those of the three whose memory is NULL are left out. In bfloat16, dy is read and
 * rounded only once. */
void xlm_product_backward(xlm_tape *tape, int64_t n, const xlm_real *dy, xlm_factor x, xlm_var *weight, xlm_grad dx,
                          xlm_grad dw, xlm_real *db);

/* Whether products are made in bfloat16 in general, those of activations among them. */
bool xlm_products_round(const xlm_tape *tape);
/* For an operator whose result y, recorded last, goes into products: where they are made in bfloat16, memory for y->rounded, to
 * be filled in together with y->value; else NULL. */
uint16_t *xlm_products_take_rounded(xlm_tape *tape, xlm_var *y);
/* Are products of n rows with this variable computed with its packed form? For operators that compute several products of one
 * block of rows, which need it. */
bool xlm_product_packs(const xlm_tape *tape, int64_t n, const xlm_var *weight);
/* Are they computed with its packed form in bfloat16? This does not depend on the number of rows. */
bool xlm_product_rounds(const xlm_tape *tape, const xlm_var *weight);
/* The parameter, packed with its present values: Wᵀ, in x out, if `transpose`, else W. Owned by the tape. */
const xlm_packed *xlm_product_parameter(xlm_tape *tape, xlm_var *weight, bool transpose);
/* The same as xlm_product_parameter without transposition, for one product of the backward pass outside of parallel regions. The
 * long table of a frozen vocabulary is not kept a third time, in float32: its parts are packed when they are multiplied. */
const xlm_packed *xlm_product_parameter_by_parts(xlm_tape *tape, xlm_var *weight);
/* dW = dyᵀ x, or dW += dyᵀ x if dw.add. dy_transposed: dyᵀ rounded, out x xlm_packed_depth(n); the columns from n on are set to
 * zero here. */
void xlm_product_of_rounded(xlm_tape *tape, int64_t n, uint16_t *dy_transposed, xlm_factor x, const xlm_var *weight,
                            xlm_grad dw);

#endif
