/* xlm-mpi: softmax over a vocabulary that is packed. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The logits z = h Eᵀ + b of some rows are computed block by block of columns, and never exist as a whole. Of a block b with
 * maximum m_b only w_v = exp(z_v − m_b) is kept, rounded if products are in bfloat16, and a factor that turns it into
 * probabilities:
 *     p_v = share_b w_v,   share_b = exp(m_b − max m) / Σ exp(z − max m).
 * The sum is computed from floats before they are rounded. In the backward pass w is replaced by dz, which two products read, one
 * of them transposed. */
#ifndef XLM_TENSOR_VOCABULARY_H
#define XLM_TENSOR_VOCABULARY_H

#include "gemm/packed.h"
#include "tensor/tape.h"

/* The result of the softmax of one row, in double precision, because the loss is a difference of close numbers. */
typedef struct xlm_vocabulary_outcome {
    double loss;
    bool correct; /* the target has the highest logit */
    double above; /* z_target − mean z, with label smoothing; else 0 */
} xlm_vocabulary_outcome;

typedef struct xlm_vocabulary_rows {
    xlm_tape *tape;
    xlm_var *table, *bias;  /* V x e; 1 x V, or NULL */
    int64_t rows;
    xlm_factor h;           /* [rows x e] */
    const int32_t *targets; /* [rows] */
    double smoothing;       /* ε of label smoothing */
    void *weights;          /* w, [rows x V], uint16_t if xlm_product_rounds, else xlm_real; NULL: they are not kept */
    xlm_real *share;        /* [rows x xlm_vocabulary_blocks] */
} xlm_vocabulary_rows;

/* Number of blocks that so many columns are divided into. */
int64_t xlm_vocabulary_blocks(int64_t columns);
/* Fills weights, share and outcome, [rows] or NULL. */
void xlm_vocabulary_forward(const xlm_vocabulary_rows *v, xlm_vocabulary_outcome *outcome);
/* With dz = factor (p − (1 − ε) onehot − ε/V): dh = or += dz E, [rows x e], de = or += dzᵀ h, if they are wanted, and db +=
 * column sums of dz, [V], unless it is NULL. Reads what xlm_vocabulary_forward filled in, and overwrites the weights. */
void xlm_vocabulary_backward(const xlm_vocabulary_rows *v, xlm_real factor, xlm_grad dh, xlm_grad de, xlm_real *db);

#endif
