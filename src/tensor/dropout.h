/* xlm-mpi: dropout masks, drawn once and kept for the backward pass. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The decision for column c of a row is the 16-bit number c mod 8 of the draw with counter
 *     (c / 8, site, instance, position),
 * so that it depends on the token, not on the place of its row. One bit per decision is kept: 1/32 of the memory of a result, and
 * faster to read than to draw again. */
#ifndef XLM_TENSOR_DROPOUT_H
#define XLM_TENSOR_DROPOUT_H

#include "kernels/kernels.h"
#include "tensor/tape.h"

typedef struct xlm_keep_mask {
    xlm_site site;
    xlm_keep rate;
    int64_t bytes; /* of a row's bits */
    uint8_t *bits; /* [rows x bytes]; NULL: everything is kept */
} xlm_keep_mask;

/* Takes a site for draws and memory for the bits; neither if the tape is not training or p = 0. */
static inline xlm_keep_mask xlm_keep_mask_new(xlm_tape *tape, int64_t rows, int64_t cols, double p)
{
    xlm_keep_mask m = {.rate = xlm_keep_rate(p), .bytes = (cols + 7) / 8};
    if (xlm_tape_training(tape) && m.rate.threshold > 0) {
        m.site = xlm_tape_site(tape);
        m.bits = xlm_tape_take_numbers(tape, (uint64_t)(rows * m.bytes));
    }
    return m;
}

/* The bits of row i, after they have been drawn; NULL if everything is kept. */
static inline uint8_t *xlm_keep_mask_row(const xlm_keep_mask *m, int64_t i)
{
    return m->bits != NULL ? m->bits + i * m->bytes : NULL;
}

/* Draws the bits of row i of x, and returns them. */
static inline const uint8_t *xlm_keep_mask_draw(const xlm_keep_mask *m, const xlm_kernels *kernel, const xlm_var *x, int64_t i)
{
    uint8_t *bits = xlm_keep_mask_row(m, i);
    const xlm_row_key key = xlm_row_key_of(x, i);
    if (bits != NULL)
        kernel->keep_bits(m->site.key, 0, m->site.site, key.instance, key.position, m->bytes, m->rate.threshold, bits);
    return bits;
}

#endif
