/* xlm-mpi: attention of single rows to keys and values that earlier passes have computed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A search decodes one token of each hypothesis at a time. The keys and values of earlier tokens are kept in a cache: first the
 * keys of all its rows, d columns each, then the values. A query attends to the rows that a list names, so that hypotheses
 * with the same beginning share its rows, and none is ever copied. */
#ifndef XLM_TENSOR_CACHED_ATTENTION_H
#define XLM_TENSOR_CACHED_ATTENTION_H

#include <xlm/tape.h>

/* Memory for keys and values. One of the two pointers is NULL: the numbers are reals, or bfloat16 if products are computed in it
 * (xlm_products_round). */
typedef struct xlm_cache_rows {
    int64_t rows;
    xlm_real *reals;   /* [2 x rows x d] */
    uint16_t *rounded; /* the same */
} xlm_cache_rows;

typedef struct xlm_cached_attention_inputs {
    xlm_var *query;       /* n x any */
    int64_t query_column; /* the first of d columns */
    int64_t width;        /* d, a multiple of heads */
    int64_t heads;
    xlm_cache_rows cache;
    const int32_t *const *rows; /* [n] the rows of the cache that query i attends to */
    const int32_t *lengths;     /* [n] their number, at least 1 */
} xlm_cached_attention_inputs;

/* Memory of the tape for `rows` rows of keys and values of `width` numbers each, in the type of the tape's products. */
xlm_cache_rows xlm_cache_rows_take(xlm_tape *tape, int64_t rows, int64_t width);
/* Copies 2 · width columns of row i of x, from `column` on, to row rows[i] of the cache (rows NULL: to row i): its key and its
 * value. */
void xlm_cache_rows_write(xlm_cache_rows cache, int64_t width, xlm_var *x, int64_t column, const int32_t *rows);

/* O_i = Σ_j p_ij v_j, p_i = softmax_j(q_i·k_j / √w) for each head of w = d / heads columns; without gradient or dropout. A row's
 * result does not depend on the other queries. */
xlm_var *xlm_cached_attention(xlm_tape *tape, const xlm_cached_attention_inputs *inputs);

#endif
