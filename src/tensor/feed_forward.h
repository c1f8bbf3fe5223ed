/* xlm-mpi: the feed-forward layer of a transformer as one operator. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TENSOR_FEED_FORWARD_H
#define XLM_TENSOR_FEED_FORWARD_H

#include "tensor/tape.h"

/* y = GELU(x W₁ᵀ + b₁) W₂ᵀ, GELU by a tanh (xlm_gelu_tanh) where `tanh`. x: n x d, W₁: F x d, b₁: 1 x F, W₂: d' x F, y: n x d';
 * W₁ and W₂ parameters of which xlm_product_packs (tensor/products.h) is true for n rows. For the backward pass it keeps GELU's
 * result, in the form that the product reads, and its derivative; both are rounded if products are in bfloat16. y is passing
 * (tensor/tape.h). */
xlm_var *xlm_feed_forward(xlm_tape *tape, xlm_var *x, xlm_var *inner, xlm_var *bias, xlm_var *outer, bool tanh);

#endif
