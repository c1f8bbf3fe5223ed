/* xlm-mpi: what a variable is, for the tape, its operators and the model. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Others read variables by the functions of xlm/tape.h. */
#ifndef XLM_TENSOR_VARIABLE_H
#define XLM_TENSOR_VARIABLE_H

#include <xlm/tape.h>

struct xlm_var {
    int64_t rows, cols;
    xlm_real *value;         /* [rows x cols] */
    uint16_t *rounded;       /* value in bfloat16, for products, where the operator that made it knew that they take it
                                (xlm_products_take_rounded); else NULL. Where this alone is there (xlm_tape_record_rounded)
                                value is NULL. */
    xlm_real *grad;          /* NULL when no gradient is wanted; else [rows x cols], but that memory is there only while
                                backward functions run: of the operator that made the variable, and of those it went into */
    const xlm_row_key *keys; /* [rows], or NULL: which token a row belongs to (dropout draws from it) */
};

#endif
