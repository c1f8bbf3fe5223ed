/* xlm-mpi: softmax over a vocabulary that is packed. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Some rows of z = h Eᵀ + b, made block by block of columns and never there as a whole: of a block, with highest element m_b,
 * stays w_v = exp(z_v − m_b), rounded where products are made in bfloat16, and what makes probabilities of it, p_v = share_b w_v,
 * share_b = exp(m_b − max m) / Σ exp(z − max m), whose sum is made of floats before they are rounded. In the backward pass w is
 * replaced by dz, which is read in both directions. */
#ifndef XLM_TENSOR_VOCABULARY_H
#define XLM_TENSOR_VOCABULARY_H

#include "gemm/packed.h"
#include "tensor/tape.h"

/* What one row's softmax leaves after, in double: its loss is a difference of close numbers. */
typedef struct xlm_vocabulary_outcome {
    double loss;
    bool correct;
    double above; /* z_target − mean z, with label smoothing; else 0 */
} xlm_vocabulary_outcome;

typedef struct xlm_vocabulary_rows {
    xlm_tape *tape;
    xlm_var *table, *bias;  /* V x e; 1 x V, or NULL */
    int64_t rows;
    xlm_factor h;           /* [rows x e] */
    const int32_t *targets; /* [rows] */
    double smoothing;       /* ε of label smoothing */
    void *weights;          /* [rows x V], uint16_t where xlm_product_rounds, else xlm_real; NULL: they are not kept */
    xlm_real *share;        /* [rows x xlm_vocabulary_blocks] */
} xlm_vocabulary_rows;

/* Into how many blocks so many columns are cut. */
int64_t xlm_vocabulary_blocks(int64_t columns);
/* Fills weights, share and outcome, [rows] or NULL. */
void xlm_vocabulary_forward(const xlm_vocabulary_rows *v, xlm_vocabulary_outcome *outcome);
/* dz = factor (p − (1 − ε) onehot − ε/V); dh = dz E, [rows x e], de = dzᵀ h where they are wanted, db += column sums of dz where it is not
 * NULL. */
void xlm_vocabulary_backward(const xlm_vocabulary_rows *v, xlm_real factor, xlm_grad dh, xlm_grad de, xlm_real *db);

#endif
