/* xlm-mpi: the tokens that may continue a hypothesis. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_NN_SEARCH_ROWS_H
#define XLM_NN_SEARCH_ROWS_H

#include <xlm/search.h>

/* A token that may follow. */
typedef struct xlm_continuation {
    int32_t id;
    double log_probability;
} xlm_continuation;

/* What is asked for one row of logits. */
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

/* The continuations of a row: the most probable first, ties by id; when sampling, the one that is drawn. Fewer than n if the
 * vocabulary has no more. Changes the logits.
 * [in,out] logits: [vocabulary]
 * [out] found: [n]
 * Returns their number. */
int64_t xlm_search_continue_row(const xlm_row_choice *choice, const xlm_row_request *request, int64_t vocabulary,
                                xlm_real *logits, xlm_continuation *found);

#endif
