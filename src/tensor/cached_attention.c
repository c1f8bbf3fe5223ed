/* xlm-mpi: attention of single rows to a cache of keys and values. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * In a search, this is limited by the reading of memory. So the keys of all heads of a row are next to one another, as are its
 * values, and each row is read once, from beginning to end, for all heads. */
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
        return (xlm_cache_rows){.rows = rows, .rounded = XLM_TAPE_NUMBERS(tape, uint16_t, 2 * rows * width)};
    return (xlm_cache_rows){.rows = rows, .reals = XLM_TAPE_NUMBERS(tape, xlm_real, 2 * rows * width)};
}

/* Copies `width` columns of a row of x, from `column` on, to number `place` of the cache. */
static void write_row(xlm_cache_rows cache, int64_t width, const xlm_var *x, int64_t row, int64_t column, int64_t place)
{
    const int64_t from = row * x->cols + column;
    if (cache.rounded != NULL)
        memcpy(cache.rounded + place, x->rounded + from, sizeof *cache.rounded * (size_t)width);
    else
        memcpy(cache.reals + place, x->value + from, sizeof *cache.reals * (size_t)width);
}

void xlm_cache_rows_write(xlm_cache_rows cache, int64_t width, xlm_var *x, int64_t column, const int32_t *rows)
{
    if (column + 2 * width > x->cols)
        xlm_tape_fail("cache_rows_write", "columns %" G_GINT64_FORMAT " … are not among %" G_GINT64_FORMAT, column, x->cols);
    if (!xlm_var_has_numbers(x))
        return;
    for (int64_t i = 0; i < x->rows; i++) {
        const int64_t row = rows != NULL ? rows[i] : i;
        write_row(cache, width, x, i, column, row * width);
        write_row(cache, width, x, i, column + width, (cache.rows + row) * width);
    }
}

/* A query, and the scratch memory of a thread. */
struct query {
    const xlm_cached_attention_inputs *in;
    const int32_t *rows; /* [keys] */
    int64_t keys;
    const xlm_real *q;   /* [d] */
    xlm_real *p;         /* [heads x keys] q·k_j, then the attention weights */
    xlm_real *y;         /* [d] */
};

static void attend(const struct query *a)
{
    const xlm_kernels *kernels = xlm_kernels_get();
    const xlm_cache_rows cache = a->in->cache;
    const int64_t heads = a->in->heads, w = a->in->width / heads, values = cache.rows * a->in->width;
    if (cache.rounded != NULL)
        kernels->dot_rows_bfloat16(a->keys, a->rows, heads, w, a->q, cache.rounded, a->p);
    else
        kernels->dot_rows(a->keys, a->rows, heads, w, a->q, cache.reals, a->p);
    for (int64_t h = 0; h < heads; h++)
        kernels->softmax(a->keys, (xlm_real)(1 / sqrt((double)w)), a->p + h * a->keys, NULL, 1);
    if (cache.rounded != NULL)
        kernels->sum_rows_bfloat16(a->keys, a->rows, heads, w, a->p, cache.rounded + values, a->y);
    else
        kernels->sum_rows(a->keys, a->rows, heads, w, a->p, cache.reals + values, a->y);
}

/* The query of row i as reals; if it is in bfloat16, converted in `to`. */
static const xlm_real *query_of(const xlm_cached_attention_inputs *in, int64_t i, xlm_real *to)
{
    const int64_t place = i * in->query->cols + in->query_column;
    if (in->cache.rounded == NULL)
        return in->query->value + place;
    xlm_kernels_get()->scale_bfloat16(in->width, 1, in->query->rounded + place, to);
    return to;
}

static void attend_all(const xlm_cached_attention_inputs *in, const xlm_var *y, int64_t room, xlm_real *scratch)
{
    const int64_t d = in->width;
#pragma omp parallel for schedule(dynamic, 1) if (y->rows * room > XLM_PARALLEL)
    for (int64_t i = 0; i < y->rows; i++) {
        xlm_real *own = scratch + omp_get_thread_num() * room;
        attend(&(struct query){.in = in, .rows = in->rows[i], .keys = in->lengths[i], .q = query_of(in, i, own), .p = own + d,
                               .y = y->value + i * d});
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
    const int64_t room = in->width + in->heads * longest;
    xlm_real *scratch = XLM_TAPE_BORROW(tape, xlm_real, omp_get_max_threads() * room);
    xlm_tape_moves(tape, (double)(in->cache.rounded != NULL ? sizeof(uint16_t) : sizeof(xlm_real)) * 2 * (double)pairs *
                             (double)in->width);
    if (xlm_var_has_numbers(y))
        attend_all(in, y, room, scratch);
    xlm_tape_return(tape, scratch);
    xlm_gemm_count(2 * 2 * (double)pairs * (double)in->width);
    return y;
}
