/* xlm-mpi: the feed-forward layer of a transformer as one operator. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TENSOR_FEED_FORWARD_H
#define XLM_TENSOR_FEED_FORWARD_H

#include "tensor/tape.h"

/* y = GELU(x W₁ᵀ + b₁) W₂ᵀ, with the form of GELU by a tanh (xlm_gelu_tanh) if `tanh`. xlm_product_packs (tensor/products.h) must
 * be true of W₁ and W₂ for n rows. For the backward pass it keeps GELU's result, in the form that the product reads, and its
 * derivative; both are rounded if products are in bfloat16. Others may take over the memory of y's value (xlm_tape_passing).
 * [in] x: n x d
 * [in] inner: W₁, F x d
 * [in] bias: b₁, 1 x F
 * [in] outer: W₂, d' x F
 * [out] y: n x d' */
xlm_var *xlm_feed_forward(xlm_tape *tape, xlm_var *x, xlm_var *inner, xlm_var *bias, xlm_var *outer, bool tanh);

#endif
