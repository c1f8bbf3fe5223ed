/* xlm-mpi: the feed-forward layer of a transformer as one operator. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TENSOR_FEED_FORWARD_H
#define XLM_TENSOR_FEED_FORWARD_H

#include "tensor/tape.h"

/* y = a(x W₁ᵀ + b₁) W₂ᵀ, or with a gate, if W₁ has 2 F rows, y = (a(u) ⊙ v) W₂ᵀ with (u, v) = x W₁ᵀ + b₁ (xlm_gate).
 * xlm_product_packs (tensor/products.h) must be true of W₁ and W₂ for n rows. For the backward pass it keeps the result of the
 * activation or the gate, in the form that the product reads, and its derivatives; all are rounded if products are in bfloat16.
 * Others may take over the memory of y's value (xlm_tape_passing).
 * [in] x: n x d
 * [in] inner: W₁, F x d or 2 F x d
 * [in] bias: b₁, 1 x F or 1 x 2 F, or NULL
 * [in] outer: W₂, d' x F
 * [out] y: n x d' */
xlm_var *xlm_feed_forward(xlm_tape *tape, xlm_activation activation, xlm_var *x, xlm_var *inner, xlm_var *bias, xlm_var *outer);

#endif
