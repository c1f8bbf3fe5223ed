/* xlm-mpi: attention over packed sequences. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For a sequence of m queries and n keys and a head of width w:  S = Q Kᵀ / √w,  P = softmax S,  P' = dropout P,  O = P' V.
 * Only the log-sum-exp of each row of S is kept; the backward pass recomputes P and the decisions of dropout:
 *     dV = P'ᵀ dO,  dP' = dO Vᵀ,  dS = P ∘ (dropout dP' − D),  D_i = dO_i · O_i,  dQ = dS K / √w,  dK = dSᵀ Q / √w.
 * One thread computes one head of one sequence, a block of queries at a time, so that only a block's rows of an m x n matrix
 * exist at once. The decision about the weight of key j for query i is number j mod 8 of the draw with counter
 *     (j / 8 + 2^20 (head / 16), site + 2^20 (head mod 16), instance, position of i).
 * Sites are below 2^20 in each encoding; different encodings differ by multiples of 2^24 (objective/views.c). Where a query sees
 * only the first keys, a block's products end at the last key that one of its queries sees, and the weights of keys that a query
 * does not see are zero. With visible_from, a block's products also begin just before the first key that one of its queries sees,
 * at a multiple of ALIGNED keys, so that the time is linear in the length where each query sees a window of it.
 *
 * In bfloat16, both factors of all products are rounded and stored in pairs along the dimension that is summed over (kernels.h);
 * S, softmax, dP' and dS are floats, and D is a product with the rounded dO, so that Σ_j P'_ij (dP'_ij − D_i) stays zero. Both
 * types use the same code, which counts in units along that dimension: a number, or a pair of bfloat16. What differs between
 * the types is in attention_element.h. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "gemm/gemm.h"
#include "kernels/kernels.h"
#include "tensor/attention_element.h"
#include "tensor/products.h"
#include "tensor/tape.h"

enum {
    BLOCK = 96,        /* queries; with 512 keys their rows of P and dP' are 400 KB, about half of a second-level cache */
    PREFIX_BLOCK = 48, /* the same where queries see only the first keys: shorter blocks leave out more products */
    LINE = 16,         /* rows of scratch memory are multiples of this many reals */
    ALIGNED = 16,      /* keys; a multiple of the lanes of kernels, of the keys of a draw, and of a unit */
    HEAD_SHIFT = 20,   /* position of the head in the first two words of a counter; keys and sites are below */
    HEAD_BITS = 4      /* low bits of the head, which are in the second word, below those of the encoding; the others are in the
                        * first word */
};

/* Columns of a variable that hold queries, keys or values. */
struct part {
    xlm_var *var;
    int64_t column;
    xlm_grad grad; /* in the backward pass */
};

struct state {
    xlm_tape *tape;
    const xlm_attention_element *element; /* what products are made of */
    struct part query, key, value;
    xlm_var *y;             /* one row per query, x d */
    int64_t heads, w;
    const int32_t *offsets, *query_offsets; /* [sequences + 1] */
    const int32_t *visible, *visible_from; /* [query rows], or NULL */
    int32_t sequences;
    double pairs;           /* number of pairs of a query and a key that it sees */
    xlm_real *log_sum;      /* [heads x y->rows] */
    xlm_keep rate;          /* threshold 0: no dropout */
    xlm_site site;
};

/* Attention weights of a block of queries, or their gradients, and the forms in which products read them. */
struct weights {
    xlm_real *x;   /* [BLOCK x ld] */
    void *across;  /* for sums over keys: rows of `apart` units */
    int64_t apart;
    void *down;    /* for sums over queries: [units(BLOCK) x ld] */
};

/* Scratch memory of a thread. Transposed matrices have rows of ld reals, the others of stride. */
struct scratch {
    int64_t ld, stride;
    xlm_real *key_t, *value_t; /* [units(w) x ld] */
    xlm_attention_room keys;   /* for keys and values in turn: the forward pass keeps values here, the backward pass keys */
    xlm_attention_room query, dy; /* for a block */
    struct weights p, dp;      /* in bfloat16 both have the same memory for `across` */
    uint8_t *bits;             /* [(n + 7) / 8] the decisions of dropout for a row */
};

/* One head of one sequence: n keys and values from row `row` on, m queries from row `query_row` on. */
struct head {
    const struct state *s;
    const struct scratch *scratch;
    int64_t head, row, n, query_row, m;
    xlm_real factor; /* 1 / √w */
};

static int64_t units(const struct head *h, int64_t n)
{
    const int64_t in_unit = h->s->element->in_unit;
    return (n + in_unit - 1) / in_unit;
}

/* The first element of this head's columns in a row of a matrix with the shape of part->var. */
static xlm_real *columns(const struct head *h, const struct part *part, int64_t row, xlm_real *matrix)
{
    return matrix + row * part->var->cols + part->column + h->head * h->s->w;
}

static xlm_attention_source rows_of(const struct head *h, const struct part *part, int64_t row)
{
    const xlm_var *v = part->var;
    const int64_t start = row * v->cols + part->column + h->head * h->s->w;
    return (xlm_attention_source){.value = v->value != NULL ? v->value + start : NULL,
                                  .rounded = v->rounded != NULL ? v->rounded + start : NULL, .apart = v->cols};
}

/* ---- scratch ---- */

static int64_t round_up(int64_t n) { return (n + LINE - 1) / LINE * LINE; }

static int64_t longest(const struct state *s)
{
    int64_t length = 0;
    for (int32_t i = 0; i < s->sequences; i++)
        length = MAX(length, MAX((int64_t)s->offsets[i + 1] - s->offsets[i],
                                 (int64_t)s->query_offsets[i + 1] - s->query_offsets[i]));
    return length;
}

/* Takes the next `reals` numbers of the memory; if that is NULL, only adds them to *size. */
static void *next(xlm_real *memory, int64_t *size, int64_t reals)
{
    void *at = memory != NULL ? memory + *size : NULL;
    *size += round_up(reals);
    return at;
}

static xlm_attention_room divide_room(int64_t rows, int64_t stride, bool rounds, xlm_real *memory, int64_t *size)
{
    xlm_attention_room room = {.down = next(memory, size, (rounds ? (rows + 1) / 2 : rows) * stride)};
    room.rounded = rounds ? next(memory, size, rows * stride / 2) : NULL;
    return room;
}

static struct weights divide_weights(int64_t rows, int64_t ld, bool rounds, xlm_real *memory, int64_t *size)
{
    struct weights w = {.x = next(memory, size, rows * ld), .apart = rounds ? ld / 2 : ld};
    w.across = w.down = w.x;
    if (rounds)
        w.down = next(memory, size, (rows + 1) / 2 * ld);
    return w;
}

/* Divides `memory` for sequences of at most n rows; if that is NULL, only counts. Returns the number of reals that it takes. */
static int64_t divide(struct scratch *scratch, int64_t n, int64_t w, bool rounds, xlm_real *memory)
{
    const int64_t rows = MIN(n, BLOCK), stride = round_up(w);
    const int64_t ld = round_up(n) + LINE; /* not a power of two: rows that far apart would share cache sets */
    const int64_t transposed = rounds ? (w + 1) / 2 * ld : w * ld;
    int64_t size = 0;
    *scratch = (struct scratch){.ld = ld, .stride = stride};
    scratch->key_t = next(memory, &size, transposed);
    scratch->value_t = next(memory, &size, transposed);
    scratch->keys = divide_room(n, stride, rounds, memory, &size);
    scratch->p = divide_weights(rows, ld, rounds, memory, &size);
    scratch->dp = divide_weights(rows, ld, rounds, memory, &size);
    scratch->query = divide_room(rows, stride, rounds, memory, &size);
    scratch->dy = divide_room(rows, stride, rounds, memory, &size);
    if (rounds)
        scratch->p.across = scratch->dp.across = next(memory, &size, rows * ld / 2);
    scratch->bits = next(memory, &size, (n + 7) / 8);
    return size;
}

/* The scratch memory of all threads is one block, after the table of pointers into it. */
static uint64_t table_bytes(int64_t threads) { return (sizeof(struct scratch) * (uint64_t)threads + 63) / 64 * 64; }

static uint64_t scratch_bytes(int64_t length, int64_t width, bool rounds)
{
    struct scratch one;
    const int64_t threads = omp_get_max_threads();
    return table_bytes(threads) + sizeof(xlm_real) * (uint64_t)(divide(&one, MAX(length, 1), width, rounds, NULL) * threads);
}

static struct scratch *borrow_scratch(const struct state *s)
{
    const int64_t n = longest(s), threads = omp_get_max_threads();
    const bool rounds = s->element->in_unit > 1;
    struct scratch *all = xlm_tape_borrow(s->tape, scratch_bytes(n, s->w, rounds));
    if (!xlm_var_has_numbers(s->y))
        return all;
    xlm_real *memory = (xlm_real *)((char *)all + table_bytes(threads));
    for (int64_t t = 0; t < threads; t++)
        memory += divide(&all[t], n, s->w, rounds, memory);
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

static int64_t block_rows(const struct state *s) { return s->visible != NULL ? PREFIX_BLOCK : BLOCK; }

/* The number of keys that query i sees. */
static int64_t seen_by(const struct head *h, int64_t i)
{
    return h->s->visible != NULL ? h->s->visible[h->query_row + i] : h->n;
}

/* The first key that query i sees. */
static int64_t seen_from(const struct head *h, int64_t i)
{
    return h->s->visible_from != NULL ? h->s->visible_from[h->query_row + i] : 0;
}

static int64_t align(int64_t key) { return key / ALIGNED * ALIGNED; }

/* The decisions of dropout about the weights of query i for n keys from `first` on, a multiple of 8; NULL without dropout. */
static const uint8_t *draw(const struct head *h, int64_t i, int64_t first, int64_t n)
{
    const struct state *s = h->s;
    if (s->rate.threshold == 0)
        return NULL;
    const xlm_row_key key = xlm_row_key_of(s->query.var, h->query_row + i);
    const uint32_t high = (uint32_t)h->head >> HEAD_BITS, low = (uint32_t)h->head & ((1u << HEAD_BITS) - 1);
    xlm_kernels_get()->keep_bits(s->site.key, (uint32_t)(first / 8) + (high << HEAD_SHIFT), s->site.site | low << HEAD_SHIFT,
                                 key.instance, key.position, (n + 7) / 8, s->rate.threshold, h->scratch->bits);
    return h->scratch->bits;
}

static xlm_real *log_sums(const struct head *h) { return h->s->log_sum + h->head * h->s->y->rows + h->query_row; }

/* Sets the weights from the first key that a query does not see to the last key that its block sees to zero. */
static void clear_unseen(xlm_real *row, int64_t seen, int64_t keys)
{
    if (seen < keys)
        memset(row + seen, 0, sizeof *row * (size_t)(keys - seen));
}

/* The weights of query i for the keys of a block from `start` on: those before the first key that it sees become −∞, so that they
 * weigh nothing. Returns where the others begin, rounded down to a multiple of ALIGNED keys; x before that is zero. */
static int64_t hide_unseen(const struct head *h, int64_t i, int64_t start, xlm_real *row)
{
    const int64_t from = seen_from(h, i) - start, begin = align(from);
    for (int64_t j = begin; j < from; j++)
        row[j] = -(xlm_real)INFINITY;
    memset(row, 0, sizeof *row * (size_t)begin);
    return begin;
}

/* Rows of x in the form that products read. down: also for sums over the rows (xlm_attention_block.down). */
static xlm_attention_block load(const struct head *h, xlm_attention_source x, int64_t rows, xlm_attention_room room, bool down)
{
    return h->s->element->load(rows, h->s->w, x, room, h->scratch->stride, down);
}

/* Writes the transposed keys or values to `to`, [units(w) x n]; returns them as they are in scratch->keys. */
static xlm_attention_block load_transposed(const struct head *h, const struct part *part, bool down, xlm_real *to)
{
    const xlm_attention_block x = load(h, rows_of(h, part, h->row), h->n, h->scratch->keys, down);
    xlm_kernels_get()->transpose(h->n, units(h, h->s->w), x.across, x.apart, to, h->scratch->ld);
    return x;
}

/* The row of a number of a key, a multiple of ALIGNED, in rows of keys or values for sums over keys. */
static const void *key_row(const struct head *h, const void *down, int64_t key)
{
    return xlm_attention_unit(down, key / h->s->element->in_unit * h->scratch->stride);
}

static void forward_head(const struct head *h)
{
    const struct state *s = h->s;
    const xlm_attention_element *e = s->element;
    const struct scratch *scratch = h->scratch;
    const int64_t w = s->w, ld = scratch->ld, d = s->y->cols, block = block_rows(s);
    const struct weights *p = &scratch->p;
    load_transposed(h, &s->key, false, scratch->key_t);
    const xlm_attention_block value = load(h, rows_of(h, &s->value, h->row), h->n, scratch->keys, true);
    for (int64_t first = 0; first < h->m; first += block) {
        const int64_t rows = MIN(block, h->m - first), start = align(seen_from(h, first));
        const int64_t keys = seen_by(h, first + rows - 1) - start;
        const xlm_attention_block query = load(h, rows_of(h, &s->query, h->query_row + first), rows, scratch->query, false);
        e->product(rows, keys, units(h, w), query.across, query.apart, 1, scratch->key_t + start, ld, p->x, ld, false);
        for (int64_t i = 0; i < rows; i++) {
            const int64_t seen = seen_by(h, first + i) - start;
            xlm_real *row = p->x + i * ld;
            const int64_t begin = hide_unseen(h, first + i, start, row);
            log_sums(h)[first + i] = xlm_kernels_get()->softmax(seen - begin, h->factor, row + begin,
                                                                draw(h, first + i, start + begin, seen - begin), s->rate.scale);
            clear_unseen(row, seen, keys);
            e->finish_row(keys, row, xlm_attention_unit(p->across, i * p->apart));
        }
        e->product(rows, w, units(h, keys), p->across, p->apart, 1, key_row(h, value.down, start), scratch->stride,
                   s->y->value + (h->query_row + first) * d + h->head * w, d, false);
    }
}

/* Sets the gradients of keys or values that no query sees, from number `first` to `end` - 1, to zero. */
static void clear_unused(const struct head *h, const struct part *part, int64_t first, int64_t end)
{
    if (part->grad.at == NULL || part->grad.add)
        return;
    for (int64_t i = first; i < end; i++)
        memset(columns(h, part, h->row + i, part->grad.at), 0, sizeof(xlm_real) * (size_t)h->s->w);
}

/* Adds aᵀ b of a block of queries to the gradient of keys or values. a: weights of keys start to end - 1, b: rows of the queries.
 * The gradients of the first `before` keys have sums of earlier blocks; those of the others are assigned. */
static void add_to_keys(const struct head *h, const struct part *part, int64_t before, int64_t start, int64_t end, int64_t rows,
                        const void *a, const void *b)
{
    const struct scratch *scratch = h->scratch;
    const int64_t known = MAX(start, before), parts[2][2] = {{start, known}, {known, end}};
    clear_unused(h, part, before, start);
    for (int i = 0; part->grad.at != NULL && i < 2; i++) {
        const int64_t first = parts[i][0], n = parts[i][1] - first;
        if (n > 0)
            h->s->element->product(n, h->s->w, units(h, rows), xlm_attention_unit(a, first - start), 1, scratch->ld, b,
                                   scratch->stride, columns(h, part, h->row + first, part->grad.at), part->var->cols,
                                   i == 0 || part->grad.add);
    }
}

/* The gradients from `rows` queries, beginning with number `first`. before: number of keys that earlier blocks saw. key: the rows
 * of all keys. Returns the number of the key after the last one that these queries see. */
static int64_t backward_rows(const struct head *h, int64_t first, int64_t rows, int64_t before, const xlm_attention_block *key)
{
    const struct state *s = h->s;
    const xlm_attention_element *e = s->element;
    const struct scratch *scratch = h->scratch;
    const struct weights *p = &scratch->p, *dp = &scratch->dp;
    const int64_t w = s->w, ld = scratch->ld, d = s->y->cols, start = (h->query_row + first) * d + h->head * w;
    const int64_t begin_keys = align(seen_from(h, first)), end = seen_by(h, first + rows - 1), keys = end - begin_keys;
    const xlm_attention_block query = load(h, rows_of(h, &s->query, h->query_row + first), rows, scratch->query, true);
    const xlm_attention_source gradient = {.value = s->y->grad + start, .apart = d};
    const xlm_attention_block dy = load(h, gradient, rows, scratch->dy, true);
    xlm_real mean[BLOCK]; /* computed for all rows first, so that the processor waits for their memory at the same time */
    for (int64_t i = 0; i < rows; i++) {
        xlm_attention_fetch_next(s->y->value + start + i * d, sizeof *s->y->value * (size_t)w);
        mean[i] = e->dot(w, xlm_attention_unit(dy.across, i * dy.apart), s->y->value + start + i * d);
    }
    e->product(rows, keys, units(h, w), query.across, query.apart, 1, scratch->key_t + begin_keys, ld, p->x, ld,
               false);
    e->product(rows, keys, units(h, w), dy.across, dy.apart, 1, scratch->value_t + begin_keys, ld, dp->x, ld, false);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t seen = seen_by(h, first + i) - begin_keys, begin = hide_unseen(h, first + i, begin_keys, p->x + i * ld);
        memset(dp->x + i * ld, 0, sizeof(xlm_real) * (size_t)begin);
        xlm_kernels_get()->softmax_back(seen - begin, h->factor, log_sums(h)[first + i], mean[i], p->x + i * ld + begin,
                                        dp->x + i * ld + begin, draw(h, first + i, begin_keys + begin, seen - begin),
                                        s->rate.scale);
        clear_unseen(p->x + i * ld, seen, keys);
        clear_unseen(dp->x + i * ld, seen, keys);
        e->finish_row(keys, dp->x + i * ld, xlm_attention_unit(dp->across, i * dp->apart));
    }
    e->finish_rows(rows, keys, p->x, p->down, ld);
    e->finish_rows(rows, keys, dp->x, dp->down, ld);
    if (s->query.grad.at != NULL)
        e->product(rows, w, units(h, keys), dp->across, dp->apart, 1, key_row(h, key->down, begin_keys),
                   scratch->stride, columns(h, &s->query, h->query_row + first, s->query.grad.at),
                   s->query.var->cols, s->query.grad.add);
    add_to_keys(h, &s->key, before, begin_keys, end, rows, dp->down, query.down);
    add_to_keys(h, &s->value, before, begin_keys, end, rows, p->down, dy.down);
    return end;
}

static void backward_head(const struct head *h)
{
    const struct state *s = h->s;
    const int64_t block = block_rows(s);
    int64_t seen = 0;
    if (h->m > 0) {
        load_transposed(h, &s->value, false, h->scratch->value_t);
        const xlm_attention_block key = load_transposed(h, &s->key, true, h->scratch->key_t); /* last: the room keeps keys */
        for (int64_t first = 0; first < h->m; first += block)
            seen = backward_rows(h, first, MIN(block, h->m - first), seen, &key);
    }
    clear_unused(h, &s->key, seen, h->n);
    clear_unused(h, &s->value, seen, h->n);
}

static void each_head(const struct state *s, void (*work)(const struct head *))
{
    struct scratch *scratch = borrow_scratch(s);
    const int64_t heads = s->sequences * s->heads, threads = omp_get_max_threads();
    /* A thread takes several heads of a sequence together, but so few that there would be at least four parts per thread if all
     * sequences were as long as the longest. */
    const double square = (double)longest(s) * (double)longest(s), share = (double)s->heads * s->pairs / (double)(4 * threads);
    const int64_t together = CLAMP((int64_t)(share / MAX(square, 1)), 1, s->heads);
    const int64_t made = xlm_var_has_numbers(s->y) ? heads : 0;
#pragma omp parallel for schedule(dynamic, together) if (s->pairs * (double)s->y->cols > XLM_PARALLEL)
    for (int64_t k = 0; k < made; k++) {
        const struct head h = head_of(s, &scratch[omp_get_thread_num()], k);
        work(&h);
    }
    xlm_tape_return(s->tape, scratch);
}

/* ---- the operator ---- */

/* Is the variable nothing but those of the three parts that are in it, side by side? Then each element of its gradient is
 * written, and the gradient need not be cleared. */
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
    each_head(s, backward_head);
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
    for (int32_t i = 0; i < in->sequences; i++) {
        const int32_t keys = in->offsets[i + 1] - in->offsets[i];
        if (keys == 0 && query_offsets[i] < query_offsets[i + 1])
            xlm_tape_fail("attention", "sequence %d has queries, but no key", i);
        for (int32_t q = query_offsets[i]; in->visible != NULL && q < query_offsets[i + 1]; q++)
            if (in->visible[q] < (q > query_offsets[i] ? in->visible[q - 1] : 1) || in->visible[q] > keys)
                xlm_tape_fail("attention", "sequence %d: a query after query %d sees %d of %d keys", i, q - query_offsets[i],
                              in->visible[q], keys);
    }
    for (int32_t i = 0; in->visible_from != NULL && i < in->sequences; i++)
        for (int32_t q = query_offsets[i]; q < query_offsets[i + 1]; q++)
            if (in->visible == NULL || in->visible_from[q] < (q > query_offsets[i] ? in->visible_from[q - 1] : 0) ||
                in->visible_from[q] >= in->visible[q])
                xlm_tape_fail("attention", "sequence %d: query %d sees no key, or one before those of the query before it", i,
                              q - query_offsets[i]);
    if (in->heads < 1 || in->width % in->heads != 0 || in->heads > 1 << (32 - HEAD_SHIFT))
        xlm_tape_fail("attention", "%" G_GINT64_FORMAT " heads do not divide a width of %" G_GINT64_FORMAT, in->heads, in->width);
}

static double count_pairs(const xlm_attention_inputs *in, const int32_t *query_offsets)
{
    double pairs = 0;
    for (int32_t i = 0; in->visible != NULL && i < query_offsets[in->sequences]; i++)
        pairs += in->visible[i] - (in->visible_from != NULL ? in->visible_from[i] : 0);
    for (int32_t i = 0; in->visible == NULL && i < in->sequences; i++)
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
        .element = rounds ? &xlm_attention_bfloat16 : &xlm_attention_reals,
        .query = {.var = inputs->query, .column = inputs->query_column},
        .key = {.var = inputs->key, .column = inputs->key_column},
        .value = {.var = inputs->value, .column = inputs->value_column},
        .y = y,
        .heads = inputs->heads,
        .w = inputs->width / inputs->heads,
        .offsets = inputs->offsets,
        .query_offsets = query_offsets,
        .visible = inputs->visible,
        .visible_from = inputs->visible_from,
        .sequences = inputs->sequences,
        .pairs = count_pairs(inputs, query_offsets),
        .log_sum = XLM_TAPE_NUMBERS(tape, xlm_real, rows * inputs->heads),
    };
    if (xlm_tape_training(tape))
        s->rate = xlm_keep_rate(inputs->dropout);
    if (s->rate.threshold > 0)
        s->site = xlm_tape_site(tape);
    each_head(s, forward_head);
    xlm_gemm_count(2 * 2 * s->pairs * (double)inputs->width);
    return y;
}
