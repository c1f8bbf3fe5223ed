/* xlm-mpi: the tokens that may continue a hypothesis. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_NN_SEARCH_ROWS_H
#define XLM_NN_SEARCH_ROWS_H

#include <xlm/search.h>

/* A token that may follow. */
typedef struct xlm_continuation {
    int32_t id;
    double log_probability;
} xlm_continuation;

/* What is known about one row of logits. */
typedef struct xlm_row_request {
    bool end;              /* only </s> may follow */
    uint32_t sample;       /* number of the sample of its sentence */
    uint32_t position;
    xlm_row_key key;       /* of the sentence */
} xlm_row_request;

/* How the rows of a step are continued. */
typedef struct xlm_row_choice {
    const xlm_special_tokens *specials;
    const xlm_search_options *options;
    int64_t n;             /* number of continuations of each row */
} xlm_row_choice;

/* Finds the continuations of a row: the choice->n most probable ones, the most probable first and among equal ones smaller ids
 * first, or fewer if there are no more; when sampling, the one that is drawn. It is </s> if only that may follow, or if the
 * logits are NaN.
 * [in,out] logits: [vocabulary], overwritten
 * [out] found: [choice->n]
 * Returns their number, at least 1. */
int64_t xlm_search_continue_row(const xlm_row_choice *choice, const xlm_row_request *request, int64_t vocabulary,
                                xlm_real *logits, xlm_continuation *found);

#endif
