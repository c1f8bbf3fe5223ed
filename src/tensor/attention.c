/* xlm-mpi: attention over packed sequences. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For a sequence of m queries and n keys and a head of width w:  S = Q Kᵀ / √w,  P = softmax S,  P' = dropout P,  O = P' V.
 * Only the log-sum-exp of each row of S is kept; the backward pass recomputes P and the dropout's draws:
 *     dV = P'ᵀ dO,  dP' = dO Vᵀ,  dS = P ∘ (dropout dP' − D),  D_i = dO_i · O_i,  dQ = dS K / √w,  dK = dSᵀ Q / √w.
 * Each head of each sequence is one thread's, BLOCK queries at a time, so of an m x n matrix BLOCK rows exist at once. The
 * decision about the weight of key j for query i is number j mod 8 of the draw with counter (j / 8, site and head,
 * instance, position of i).
 *
 * In bfloat16 both factors of all products are rounded, two and two along the sum (kernels.h); S, softmax, dP' and dS are
 * floats, and D is a product with the rounded dO, so that Σ_j P'_ij (dP'_ij − D_i) stays zero. */
#include "tensor/attention.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "tensor/gemm.h"
#include "tensor/kernels.h"
#include "tensor/kernels/processor.h"
#include "tensor/products.h"
#include "tensor/tape.h"

enum {
    BLOCK = 96,      /* queries; with 512 keys their rows of P and dP' are 400 KB, about half of a second-level cache */
    LINE = 16,       /* reals that rows of scratch are multiples of */
    HEAD_SHIFT = 20  /* of a counter's second word: sites below, heads above */
};

/* Columns of a variable that hold queries, keys or values. */
struct part {
    xlm_var *var;
    int64_t column;
    xlm_grad grad; /* in the backward pass */
};

struct state {
    xlm_tape *tape;
    struct part query, key, value;
    xlm_var *y;             /* a row a query, x d */
    int64_t heads, w;
    const int32_t *offsets, *query_offsets; /* [sequences + 1] */
    int32_t sequences;
    double pairs;           /* Σ m n */
    xlm_real *log_sum;      /* [heads x y->rows] */
    bool rounds;            /* products are made in bfloat16 */
    xlm_keep rate;          /* threshold 0: no dropout */
    xlm_site site;
};

/* What a thread works in. Transposed matrices have rows of ld reals, the others of stride. */
struct scratch {
    int64_t ld, stride;
    xlm_real *key_t, *value_t; /* [w x n] */
    xlm_real *key, *value;     /* [n x w] copies: rows of a T x 3d matrix lie pages apart and evict one another. One memory:
                                  the forward pass needs values, the backward pass keys. */
    xlm_real *query, *dy;      /* [BLOCK x w] copies */
    xlm_real *p, *dp;          /* [BLOCK x n] */
    /* In bfloat16, where key_t, value_t and key hold pairs: [w / 2 x n] and [n / 2 x w]. */
    uint16_t *rows;            /* [n x w] of keys or values */
    uint16_t *half_query, *half_dy, *half_p;    /* [BLOCK x w], [BLOCK x w], [BLOCK x n] */
    uint16_t *query_pairs, *dy_pairs;           /* [BLOCK / 2 x w] pairs of rows */
    uint16_t *p_pairs, *dp_pairs;               /* [BLOCK / 2 x n] */
    uint8_t *bits;             /* [(n + 7) / 8] of a row */
};

/* One head of one sequence: keys and values in rows row … row + n, queries in rows query_row … query_row + m. */
struct head {
    const struct state *s;
    const struct scratch *scratch;
    int64_t head, row, n, query_row, m;
    xlm_real factor; /* 1 / √w */
};

/* Columns of this head from a row on, of a matrix with the shape of part->var. */
static xlm_real *columns(const struct head *h, const struct part *part, int64_t row, xlm_real *matrix)
{
    return matrix + row * part->var->cols + part->column + h->head * h->s->w;
}

/* ---- scratch ---- */

static int64_t round_up(int64_t n) { return (n + LINE - 1) / LINE * LINE; }

static int64_t longest(const struct state *s)
{
    int64_t most = 0;
    for (int32_t i = 0; i < s->sequences; i++)
        most = MAX(most, MAX((int64_t)s->offsets[i + 1] - s->offsets[i], (int64_t)s->query_offsets[i + 1] - s->query_offsets[i]));
    return most;
}

/* Divide `memory` (NULL: only count) for sequences of at most n; returns the reals it takes. */
static int64_t divide(struct scratch *scratch, int64_t n, int64_t w, bool rounds, xlm_real *memory)
{
    const int64_t rows = MIN(n, BLOCK), stride = round_up(w);
    const int64_t ld = round_up(n) + LINE; /* so that rows of a power of two do not share cache sets */
    const int64_t in_two = rounds ? 2 : 1, pairs = (rows + 1) / 2; /* a pair is as large as a real */
    *scratch = (struct scratch){.ld = ld, .stride = stride};
    struct { xlm_real **at; int64_t size; } parts[] = {
        {&scratch->key_t, (w + 1) / in_two * ld}, {&scratch->value_t, (w + 1) / in_two * ld},
        {&scratch->key, (n + 1) / in_two * stride}, {&scratch->p, rows * ld}, {&scratch->dp, rows * ld},
        {&scratch->query, rounds ? 0 : rows * stride}, {&scratch->dy, rounds ? 0 : rows * stride},
    };
    struct { uint16_t **at; int64_t size; } halves[] = {
        {&scratch->rows, n * stride / 2}, {&scratch->half_query, rows * stride / 2}, {&scratch->half_dy, rows * stride / 2},
        {&scratch->half_p, rows * ld / 2}, {&scratch->query_pairs, pairs * stride}, {&scratch->dy_pairs, pairs * stride},
        {&scratch->p_pairs, pairs * ld}, {&scratch->dp_pairs, pairs * ld},
    };
    int64_t size = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
        *parts[i].at = memory != NULL ? memory + size : NULL;
        size += round_up(parts[i].size);
    }
    for (size_t i = 0; rounds && i < G_N_ELEMENTS(halves); i++) {
        *halves[i].at = memory != NULL ? (uint16_t *)(void *)(memory + size) : NULL;
        size += round_up(halves[i].size);
    }
    scratch->value = scratch->key;
    scratch->bits = (uint8_t *)(memory != NULL ? memory + size : NULL);
    return size + round_up((n + 7) / 8);
}

/* The scratch memory of all threads is one block, behind the table of pointers into it. */
static uint64_t table_bytes(int64_t threads) { return (sizeof(struct scratch) * (uint64_t)threads + 63) / 64 * 64; }

uint64_t xlm_attention_scratch_bytes(int64_t length, int64_t width, bool rounds)
{
    struct scratch one;
    const int64_t threads = omp_get_max_threads();
    return table_bytes(threads) + sizeof(xlm_real) * (uint64_t)(divide(&one, MAX(length, 1), width, rounds, NULL) * threads);
}

static struct scratch *borrow_scratch(const struct state *s)
{
    const int64_t n = longest(s), threads = omp_get_max_threads();
    struct scratch *all = xlm_tape_borrow(s->tape, xlm_attention_scratch_bytes(n, s->w, s->rounds));
    xlm_real *memory = (xlm_real *)((char *)all + table_bytes(threads));
    for (int64_t t = 0; t < threads; t++)
        memory += divide(&all[t], n, s->w, s->rounds, memory);
    return all;
}

/* ---- heads ---- */

static struct head head_of(const struct state *s, const struct scratch *scratch, int64_t number)
{
    const int64_t sequence = number / s->heads;
    const int32_t *keys = s->offsets + sequence, *queries = s->query_offsets + sequence;
    return (struct head){.s = s, .scratch = scratch, .head = number % s->heads, .row = keys[0], .n = keys[1] - keys[0],
                         .query_row = queries[0], .m = queries[1] - queries[0], .factor = (xlm_real)(1 / sqrt((double)s->w))};
}

/* For a row of this head's columns: those behind them are of the next head, which the same thread reads next. Rows lie pages
 * apart, so that the processor does not foresee it. A row at a time, between reading these: more at once wait for one another.
 * Behind the last head it is of no use, and does no harm. */
static void fetch_next(const void *row, size_t bytes)
{
    for (size_t i = bytes; i < 2 * bytes; i += LINE * sizeof(xlm_real))
        xlm_processor_fetch((const char *)row + i);
}

/* Rows first … first + rows of this head's columns, `apart` in memory, close together. */
static void copy(const struct head *h, int64_t rows, const xlm_real *from, int64_t apart, xlm_real *to)
{
    for (int64_t i = 0; i < rows; i++) {
        fetch_next(from + i * apart, sizeof *from * (size_t)h->s->w);
        memcpy(to + i * h->scratch->stride, from + i * apart, sizeof(xlm_real) * (size_t)h->s->w);
    }
}

/* The decisions about the weights of query i; NULL without dropout. */
static const uint8_t *draw(const struct head *h, int64_t i)
{
    const struct state *s = h->s;
    if (s->rate.threshold == 0)
        return NULL;
    const xlm_row_key key = xlm_row_key_of(s->query.var, h->query_row + i);
    xlm_kernels_get()->keep_bits(s->site.key, 0, s->site.site | (uint32_t)h->head << HEAD_SHIFT, key.instance, key.position,
                                 (h->n + 7) / 8, s->rate.threshold, h->scratch->bits);
    return h->scratch->bits;
}

static xlm_real *log_sums(const struct head *h) { return h->s->log_sum + h->head * h->s->y->rows + h->query_row; }

static void forward_head(const struct head *h)
{
    const struct state *s = h->s;
    const struct scratch *scratch = h->scratch;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = h->n, w = s->w, ld = scratch->ld, d = s->y->cols, query_cols = s->query.var->cols;
    const xlm_real *query = columns(h, &s->query, h->query_row, s->query.var->value);
    kernel->transpose(n, w, columns(h, &s->key, h->row, s->key.var->value), s->key.var->cols, scratch->key_t, ld);
    copy(h, n, columns(h, &s->value, h->row, s->value.var->value), s->value.var->cols, scratch->value);
    for (int64_t first = 0; first < h->m; first += BLOCK) {
        const int64_t rows = MIN(BLOCK, h->m - first);
        kernel->product(rows, n, w, query + first * query_cols, query_cols, 1, scratch->key_t, ld, scratch->p, ld, false);
        for (int64_t i = 0; i < rows; i++)
            log_sums(h)[first + i] = kernel->softmax(n, h->factor, scratch->p + i * ld, draw(h, first + i), s->rate.scale);
        kernel->product(rows, w, n, scratch->p, ld, 1, scratch->value, scratch->stride,
                        s->y->value + (h->query_row + first) * d + h->head * w, d, false);
    }
}

/* A part's gradient from row `row` on = or, with `add`, += a b; b has rows of stride. */
static void add_product(const struct head *h, const struct part *part, int64_t row, int64_t rows, int64_t depth,
                        const xlm_real *a, int64_t a_row, int64_t a_col, const xlm_real *b, bool add)
{
    if (part->grad.at != NULL)
        xlm_kernels_get()->product(rows, h->s->w, depth, a, a_row, a_col, b, h->scratch->stride,
                                   columns(h, part, row, part->grad.at), part->var->cols, add);
}

/* The gradient of a part that has no query rows. */
static void assign_zeros(const struct head *h, const struct part *part)
{
    if (part->grad.at == NULL || part->grad.add)
        return;
    for (int64_t i = 0; i < h->n; i++)
        memset(columns(h, part, h->row + i, part->grad.at), 0, sizeof(xlm_real) * (size_t)h->s->w);
}

static void backward_rows(const struct head *h, int64_t first, int64_t rows)
{
    const struct state *s = h->s;
    const struct scratch *scratch = h->scratch;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = h->n, w = s->w, ld = scratch->ld, d = s->y->cols, start = (h->query_row + first) * d + h->head * w;
    const int64_t stride = scratch->stride;
    copy(h, rows, columns(h, &s->query, h->query_row + first, s->query.var->value), s->query.var->cols, scratch->query);
    copy(h, rows, s->y->grad + start, d, scratch->dy);
    xlm_real mean[BLOCK]; /* all first, since each waits for memory that the others can wait for meanwhile */
    for (int64_t i = 0; i < rows; i++) {
        fetch_next(s->y->value + start + i * d, sizeof *s->y->value * (size_t)w);
        mean[i] = kernel->dot(w, scratch->dy + i * stride, s->y->value + start + i * d);
    }
    kernel->product(rows, n, w, scratch->query, stride, 1, scratch->key_t, ld, scratch->p, ld, false);
    kernel->product(rows, n, w, scratch->dy, stride, 1, scratch->value_t, ld, scratch->dp, ld, false);
    for (int64_t i = 0; i < rows; i++)
        kernel->softmax_back(n, h->factor, log_sums(h)[first + i], mean[i], scratch->p + i * ld, scratch->dp + i * ld,
                             draw(h, first + i), s->rate.scale);
    add_product(h, &s->query, h->query_row + first, rows, n, scratch->dp, ld, 1, scratch->key, s->query.grad.add);
    add_product(h, &s->key, h->row, n, rows, scratch->dp, 1, ld, scratch->query, s->key.grad.add || first > 0);
    add_product(h, &s->value, h->row, n, rows, scratch->p, 1, ld, scratch->dy, s->value.grad.add || first > 0);
}

static void backward_head(const struct head *h)
{
    const struct state *s = h->s;
    const struct scratch *scratch = h->scratch;
    const xlm_kernels *kernel = xlm_kernels_get();
    const xlm_real *key = columns(h, &s->key, h->row, s->key.var->value);
    if (h->m == 0) {
        assign_zeros(h, &s->key);
        assign_zeros(h, &s->value);
        return;
    }
    kernel->transpose(h->n, s->w, key, s->key.var->cols, scratch->key_t, scratch->ld);
    kernel->transpose(h->n, s->w, columns(h, &s->value, h->row, s->value.var->value), s->value.var->cols, scratch->value_t,
                      scratch->ld);
    copy(h, h->n, key, s->key.var->cols, scratch->key);
    for (int64_t first = 0; first < h->m; first += BLOCK)
        backward_rows(h, first, MIN(BLOCK, h->m - first));
}

/* ---- the same in bfloat16 ---- */

/* Rows rounded; an odd one's last pair is filled up. */
static void round_rows(int64_t rows, int64_t cols, const xlm_real *x, int64_t ldx, uint16_t *y, int64_t ldy)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    for (int64_t i = 0; i < rows; i++) {
        kernel->to_bfloat16(cols, x + i * ldx, y + i * ldy);
        if (cols % 2 != 0)
            y[i * ldy + cols] = 0;
    }
}

/* Pairs of rows, ldy pairs apart; an odd last one's are filled up. */
static void pair_rows(int64_t rows, int64_t cols, const xlm_real *x, int64_t ldx, uint16_t *y, int64_t ldy)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    for (int64_t i = 0; i < rows; i += 2)
        kernel->to_bfloat16_pairs(cols, x + i * ldx, i + 1 < rows ? x + (i + 1) * ldx : NULL, y + i * ldy);
}

/* Rows of a head's columns in a wider matrix, while the next head's are fetched. */
static void round_columns(int64_t rows, int64_t cols, const xlm_real *x, int64_t ldx, uint16_t *y, int64_t ldy)
{
    for (int64_t i = 0; i < rows; i++) {
        fetch_next(x + i * ldx, sizeof *x * (size_t)cols);
        round_rows(1, cols, x + i * ldx, ldx, y + i * ldy, ldy);
    }
}

/* Pairs of rows that are rounded, ldx apart. */
static void pair_rounded(int64_t rows, int64_t cols, const uint16_t *x, int64_t ldx, uint16_t *y, int64_t ldy)
{
    for (int64_t i = 0; i < rows; i += 2)
        xlm_kernels_get()->bfloat16_pairs(cols, x + i * ldx, i + 1 < rows ? x + (i + 1) * ldx : NULL, y + i * ldy, false);
}

static int64_t half(int64_t n) { return (n + 1) / 2; }
static uint16_t *pairs(xlm_real *memory) { return (uint16_t *)(void *)memory; }

/* Rows from `row` on of this head's queries, keys or values, which may be rounded already; y: rows of stride. */
static void round_part(const struct head *h, const struct part *part, int64_t row, int64_t rows, uint16_t *y)
{
    const int64_t w = h->s->w, ldx = part->var->cols, stride = h->scratch->stride;
    if (part->var->rounded == NULL) {
        round_columns(rows, w, columns(h, part, row, part->var->value), ldx, y, stride);
        return;
    }
    const uint16_t *x = part->var->rounded + row * ldx + part->column + h->head * w;
    for (int64_t i = 0; i < rows; i++) {
        fetch_next(x + i * ldx, sizeof *x * (size_t)w);
        memcpy(y + i * stride, x + i * ldx, sizeof *x * (size_t)w);
        if (w % 2 != 0)
            y[i * stride + w] = 0;
    }
}

/* Keys or values as pairs along w, [w / 2 x n]; `rows` keeps them rounded. */
static void transpose_pairs(const struct head *h, const struct part *part, xlm_real *to)
{
    const struct scratch *scratch = h->scratch;
    round_part(h, part, h->row, h->n, scratch->rows);
    xlm_kernels_get()->transpose(h->n, half(h->s->w), (const xlm_real *)(void *)scratch->rows, scratch->stride / 2, to,
                                 scratch->ld);
}

static void forward_head_rounded(const struct head *h)
{
    const struct state *s = h->s;
    const struct scratch *scratch = h->scratch;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = h->n, w = s->w, ld = scratch->ld, stride = scratch->stride, d = s->y->cols;
    transpose_pairs(h, &s->key, scratch->key_t);
    round_part(h, &s->value, h->row, n, scratch->rows);
    pair_rounded(n, w, scratch->rows, stride, pairs(scratch->value), stride);
    for (int64_t first = 0; first < h->m; first += BLOCK) {
        const int64_t rows = MIN(BLOCK, h->m - first);
        round_part(h, &s->query, h->query_row + first, rows, scratch->half_query);
        kernel->product_bfloat16(rows, n, half(w), scratch->half_query, stride / 2, 1, pairs(scratch->key_t), ld, scratch->p, ld,
                                 false);
        for (int64_t i = 0; i < rows; i++) {
            xlm_real *p = scratch->p + i * ld;
            log_sums(h)[first + i] = kernel->softmax(n, h->factor, p, draw(h, first + i), s->rate.scale);
            round_rows(1, n, p, 0, scratch->half_p + i * ld, 0);
        }
        kernel->product_bfloat16(rows, w, half(n), scratch->half_p, ld / 2, 1, pairs(scratch->value), stride,
                                 s->y->value + (h->query_row + first) * d + h->head * w, d, false);
    }
}

static void add_rounded(const struct head *h, const struct part *part, int64_t row, int64_t rows, int64_t depth,
                        const uint16_t *a, int64_t a_row, int64_t a_col, const uint16_t *b, bool add)
{
    if (part->grad.at != NULL)
        xlm_kernels_get()->product_bfloat16(rows, h->s->w, depth, a, a_row, a_col, b, h->scratch->stride,
                                            columns(h, part, row, part->grad.at), part->var->cols, add);
}

static void backward_rows_rounded(const struct head *h, int64_t first, int64_t rows)
{
    const struct state *s = h->s;
    const struct scratch *scratch = h->scratch;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = h->n, w = s->w, ld = scratch->ld, stride = scratch->stride, d = s->y->cols;
    const int64_t start = (h->query_row + first) * d + h->head * w;
    xlm_real mean[BLOCK];
    round_part(h, &s->query, h->query_row + first, rows, scratch->half_query);
    pair_rounded(rows, w, scratch->half_query, stride, scratch->query_pairs, stride);
    round_columns(rows, w, s->y->grad + start, d, scratch->half_dy, stride);
    pair_rounded(rows, w, scratch->half_dy, stride, scratch->dy_pairs, stride);
    for (int64_t i = 0; i < rows; i++) {
        fetch_next(s->y->value + start + i * d, sizeof *s->y->value * (size_t)w);
        mean[i] = kernel->dot_bfloat16(w, scratch->half_dy + i * stride, s->y->value + start + i * d);
    }
    kernel->product_bfloat16(rows, n, half(w), scratch->half_query, stride / 2, 1, pairs(scratch->key_t), ld, scratch->p, ld,
                             false);
    kernel->product_bfloat16(rows, n, half(w), scratch->half_dy, stride / 2, 1, pairs(scratch->value_t), ld, scratch->dp, ld,
                             false);
    for (int64_t i = 0; i < rows; i++) {
        xlm_real *dp = scratch->dp + i * ld;
        kernel->softmax_back(n, h->factor, log_sums(h)[first + i], mean[i], scratch->p + i * ld, dp, draw(h, first + i),
                             s->rate.scale);
        round_rows(1, n, dp, 0, scratch->half_p + i * ld, 0);
    }
    pair_rows(rows, n, scratch->p, ld, scratch->p_pairs, ld);
    pair_rows(rows, n, scratch->dp, ld, scratch->dp_pairs, ld);
    add_rounded(h, &s->query, h->query_row + first, rows, half(n), scratch->half_p, ld / 2, 1, pairs(scratch->key),
                s->query.grad.add);
    add_rounded(h, &s->key, h->row, n, half(rows), scratch->dp_pairs, 1, ld, scratch->query_pairs, s->key.grad.add || first > 0);
    add_rounded(h, &s->value, h->row, n, half(rows), scratch->p_pairs, 1, ld, scratch->dy_pairs, s->value.grad.add || first > 0);
}

static void backward_head_rounded(const struct head *h)
{
    const struct state *s = h->s;
    const struct scratch *scratch = h->scratch;
    if (h->m == 0) {
        assign_zeros(h, &s->key);
        assign_zeros(h, &s->value);
        return;
    }
    transpose_pairs(h, &s->value, scratch->value_t);
    transpose_pairs(h, &s->key, scratch->key_t); /* last, so that `rows` holds keys */
    pair_rounded(h->n, s->w, scratch->rows, scratch->stride, pairs(scratch->key), scratch->stride);
    for (int64_t first = 0; first < h->m; first += BLOCK)
        backward_rows_rounded(h, first, MIN(BLOCK, h->m - first));
}

static void each_head(const struct state *s, void (*work)(const struct head *))
{
    struct scratch *scratch = borrow_scratch(s);
    const int64_t heads = s->sequences * s->heads, threads = omp_get_max_threads();
    /* Those of a sequence, but no more than leave four parts a thread, were all sequences as long as the longest. */
    const double most = (double)longest(s) * (double)longest(s), share = (double)s->heads * s->pairs / (double)(4 * threads);
    const int64_t together = CLAMP((int64_t)(share / MAX(most, 1)), 1, s->heads);
#pragma omp parallel for schedule(dynamic, together) if (s->pairs * (double)s->y->cols > XLM_PARALLEL)
    for (int64_t k = 0; k < heads; k++) {
        const struct head h = head_of(s, &scratch[omp_get_thread_num()], k);
        work(&h);
    }
    xlm_tape_return(s->tape, scratch);
}

/* ---- the operator ---- */

/* The parts that this variable holds are all that it holds: its gradient is written once everywhere, and needs no clearing. */
static bool all_parts(struct part *const part[3], const xlm_var *var, int64_t d)
{
    int64_t parts = 0;
    bool met[3] = {false, false, false};
    for (int i = 0; i < 3; i++) {
        if (part[i]->var != var)
            continue;
        const int64_t column = part[i]->column / d;
        if (part[i]->column % d != 0 || column > 2 || met[column])
            return false;
        met[column] = true;
        parts++;
    }
    return var->cols == parts * d;
}

static void open_gradients(struct state *s)
{
    struct part *const part[] = {&s->query, &s->key, &s->value};
    for (int i = 0; i < 3; i++) {
        int first = 0; /* part of the same variable */
        while (part[first]->var != part[i]->var)
            first++;
        if (!all_parts(part, part[i]->var, s->y->cols))
            part[i]->grad = (xlm_grad){.at = xlm_grad_add(part[i]->var), .add = true};
        else
            part[i]->grad = first < i ? part[first]->grad : xlm_grad_open(part[i]->var);
    }
}

static void backward(void *pointer)
{
    struct state *s = pointer;
    open_gradients(s);
    each_head(s, s->rounds ? backward_head_rounded : backward_head);
    xlm_gemm_count(5 * 2 * s->pairs * (double)s->y->cols);
}

static void check(const xlm_attention_inputs *in, const int32_t *query_offsets)
{
    const xlm_var *const var[] = {in->query, in->key, in->value};
    const int64_t column[] = {in->query_column, in->key_column, in->value_column};
    for (int i = 0; i < 3; i++) {
        const int32_t *offsets = i == 0 ? query_offsets : in->offsets;
        if (offsets[0] != 0 || var[i]->rows != offsets[in->sequences])
            xlm_tape_fail("attention", "%" G_GINT64_FORMAT " rows, but the sequences have %d … %d", var[i]->rows, offsets[0],
                          offsets[in->sequences]);
        if (column[i] < 0 || column[i] + in->width > var[i]->cols)
            xlm_tape_fail("attention", "columns %" G_GINT64_FORMAT " … are not among %" G_GINT64_FORMAT, column[i], var[i]->cols);
    }
    for (int32_t i = 0; i < in->sequences; i++)
        if (in->offsets[i] == in->offsets[i + 1] && query_offsets[i] < query_offsets[i + 1])
            xlm_tape_fail("attention", "sequence %d has queries, but no key", i);
    if (in->heads < 1 || in->width % in->heads != 0 || in->heads > 1 << (32 - HEAD_SHIFT))
        xlm_tape_fail("attention", "%" G_GINT64_FORMAT " heads do not divide a width of %" G_GINT64_FORMAT, in->heads, in->width);
}

static double count_pairs(const xlm_attention_inputs *in, const int32_t *query_offsets)
{
    double pairs = 0;
    for (int32_t i = 0; i < in->sequences; i++)
        pairs += (double)(query_offsets[i + 1] - query_offsets[i]) * (in->offsets[i + 1] - in->offsets[i]);
    return pairs;
}

xlm_var *xlm_attention(xlm_tape *tape, const xlm_attention_inputs *inputs)
{
    const int32_t *query_offsets = inputs->query_offsets != NULL ? inputs->query_offsets : inputs->offsets;
    check(inputs, query_offsets);
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    xlm_var *const variables[] = {inputs->query, inputs->key, inputs->value};
    const int64_t rows = inputs->query->rows;
    const bool rounds = xlm_products_round(tape);
    xlm_var *y = xlm_tape_record_rounded(tape, "attention", rows, inputs->width, 3, variables, backward, s,
                                         (xlm_tape_rounded){.inputs = rounds});
    y->keys = inputs->query->keys;
    *s = (struct state){
        .tape = tape,
        .query = {.var = inputs->query, .column = inputs->query_column},
        .key = {.var = inputs->key, .column = inputs->key_column},
        .value = {.var = inputs->value, .column = inputs->value_column},
        .y = y,
        .heads = inputs->heads,
        .w = inputs->width / inputs->heads,
        .offsets = inputs->offsets,
        .query_offsets = query_offsets,
        .sequences = inputs->sequences,
        .pairs = count_pairs(inputs, query_offsets),
        .log_sum = XLM_TAPE_TAKE(tape, xlm_real, rows * inputs->heads),
        .rounds = rounds,
        .rate = xlm_tape_training(tape) ? xlm_keep_rate(inputs->dropout) : (xlm_keep){0},
    };
    if (s->rate.threshold > 0)
        s->site = xlm_tape_site(tape);
    each_head(s, s->rounds ? forward_head_rounded : forward_head);
    xlm_gemm_count(2 * 2 * s->pairs * (double)inputs->width);
    return y;
}
