/* xlm-mpi: what a variable is, for the tape, its operators and the model. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All others read variables with the functions of xlm/tape.h. */
#ifndef XLM_TENSOR_VARIABLE_H
#define XLM_TENSOR_VARIABLE_H

#include <xlm/tape.h>

struct xlm_var {
    int64_t rows, cols;
    xlm_real *value;         /* [rows x cols]; NULL if the variable exists only in bfloat16 (xlm_tape_record_rounded), or after
                                another operator has taken over its memory (xlm_tape_take_over) */
    uint16_t *rounded;       /* [rows x cols] the value in bfloat16, if the operator that made it stores it for products
                                (xlm_products_take_rounded); else NULL */
    xlm_real *grad;          /* NULL if no gradient is wanted; else [rows x cols], but this memory exists only in the backward
                                functions of the operator that made the variable and of those that read it */
    const xlm_row_key *keys; /* [rows] the token that each row belongs to, a key of draws (dropout); or NULL */
};

#endif
