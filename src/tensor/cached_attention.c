/* xlm-mpi: attention of single rows to a cache of keys and values. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A row of the cache is read from its beginning to its end, for all heads, and each row once for the keys and once for the
 * values: a search spends its time here on memory. */
#include "tensor/cached_attention.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "gemm/gemm.h"
#include "kernels/kernels.h"
#include "tensor/products.h"
#include "tensor/tape.h"

xlm_cache_rows xlm_cache_rows_take(xlm_tape *tape, int64_t rows, int64_t width)
{
    if (xlm_products_round(tape))
        return (xlm_cache_rows){.rounded = XLM_TAPE_NUMBERS(tape, uint16_t, 2 * rows * width)};
    return (xlm_cache_rows){.reals = XLM_TAPE_NUMBERS(tape, xlm_real, 2 * rows * width)};
}

void xlm_cache_rows_write(xlm_cache_rows cache, int64_t width, xlm_var *x, int64_t column, const int32_t *rows)
{
    if (column + 2 * width > x->cols)
        xlm_tape_fail("cache_rows_write", "columns %" G_GINT64_FORMAT " … are not among %" G_GINT64_FORMAT, column, x->cols);
    if (!xlm_var_has_numbers(x))
        return;
    for (int64_t i = 0; i < x->rows; i++) {
        const int64_t to = (rows != NULL ? rows[i] : i) * 2 * width, from = i * x->cols + column;
        if (cache.rounded != NULL)
            memcpy(cache.rounded + to, x->rounded + from, sizeof *cache.rounded * 2 * (size_t)width);
        else
            memcpy(cache.reals + to, x->value + from, sizeof *cache.reals * 2 * (size_t)width);
    }
}

/* A query, and what a thread works in. */
struct query {
    const xlm_cached_attention_inputs *in;
    const int32_t *rows; /* [keys] */
    int64_t keys;
    const xlm_real *q;   /* [d] */
    xlm_real *row;       /* [d] a key or a value that was bfloat16 */
    xlm_real *p;         /* [heads x keys] q·k_j, then the attention weights */
    xlm_real *y;         /* [d] */
};

/* The d numbers at this place as reals; those that are bfloat16 in `to`. */
static const xlm_real *read_row(int64_t d, const xlm_real *reals, const uint16_t *rounded, int64_t place, xlm_real *to)
{
    if (rounded == NULL)
        return reals + place;
    xlm_kernels_get()->scale_bfloat16(d, 1, rounded + place, to);
    return to;
}

static void attend(const struct query *a)
{
    const xlm_kernels *kernels = xlm_kernels_get();
    const xlm_cache_rows cache = a->in->cache;
    const int64_t d = a->in->width, heads = a->in->heads, w = d / heads;
    for (int64_t j = 0; j < a->keys; j++) {
        const xlm_real *key = read_row(d, cache.reals, cache.rounded, a->rows[j] * 2 * d, a->row);
        for (int64_t h = 0; h < heads; h++)
            a->p[h * a->keys + j] = kernels->dot(w, a->q + h * w, key + h * w);
    }
    for (int64_t h = 0; h < heads; h++)
        kernels->softmax(a->keys, (xlm_real)(1 / sqrt((double)w)), a->p + h * a->keys, NULL, 1);
    for (int64_t j = 0; j < a->keys; j++) {
        const xlm_real *value = read_row(d, cache.reals, cache.rounded, a->rows[j] * 2 * d + d, a->row);
        for (int64_t h = 0; h < heads; h++)
            kernels->scale(w, a->p[h * a->keys + j], value + h * w, a->y + h * w, j > 0);
    }
}

static void attend_all(const xlm_cached_attention_inputs *in, const xlm_var *y, int64_t room, xlm_real *scratch)
{
    const int64_t d = in->width;
#pragma omp parallel for schedule(dynamic, 1) if (y->rows * room > XLM_PARALLEL)
    for (int64_t i = 0; i < y->rows; i++) {
        xlm_real *own = scratch + omp_get_thread_num() * room;
        const uint16_t *rounded = in->cache.rounded != NULL ? in->query->rounded : NULL;
        const xlm_real *q = read_row(d, in->query->value, rounded, i * in->query->cols + in->query_column, own);
        attend(&(struct query){.in = in, .rows = in->rows[i], .keys = in->lengths[i], .q = q, .row = own + d,
                               .p = own + 2 * d, .y = y->value + i * d});
    }
}

xlm_var *xlm_cached_attention(xlm_tape *tape, const xlm_cached_attention_inputs *in)
{
    if (in->query->grad != NULL)
        xlm_tape_fail("cached_attention", "it has no gradient");
    if (in->heads < 1 || in->width % in->heads != 0 || in->query_column + in->width > in->query->cols)
        xlm_tape_fail("cached_attention", "%" G_GINT64_FORMAT " heads and a width of %" G_GINT64_FORMAT, in->heads, in->width);
    xlm_var *y = xlm_tape_record_rounded(tape, "cached_attention", in->query->rows, in->width, 1, &in->query, NULL, NULL,
                                         (xlm_tape_rounded){.inputs = in->cache.rounded != NULL});
    int64_t longest = 1, pairs = 0;
    for (int64_t i = 0; i < y->rows; i++) {
        if (in->lengths[i] < 1)
            xlm_tape_fail("cached_attention", "query %" G_GINT64_FORMAT " has no key", i);
        longest = MAX(longest, in->lengths[i]);
        pairs += in->lengths[i];
    }
    const int64_t room = 2 * in->width + in->heads * longest;
    xlm_real *scratch = XLM_TAPE_BORROW(tape, xlm_real, omp_get_max_threads() * room);
    xlm_tape_moves(tape, (double)(in->cache.rounded != NULL ? sizeof(uint16_t) : sizeof(xlm_real)) * 2 * (double)pairs *
                             (double)in->width);
    if (xlm_var_has_numbers(y))
        attend_all(in, y, room, scratch);
    xlm_tape_return(tape, scratch);
    xlm_gemm_count(2 * 2 * (double)pairs * (double)in->width);
    return y;
}
