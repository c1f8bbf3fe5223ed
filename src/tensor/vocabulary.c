/* xlm-mpi: cross-entropy over the vocabulary, decoder and softmax in one. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * L = (1/M) Σ_i [log Σ_v exp z_iv − z_i,target(i)], z = h Eᵀ + b, M x V. Logits live in a block of at most `chunk` rows, in which
 * exp(z − max) replaces them; 1 / Σ exp is kept a row. The backward pass is dz = (softmax z − onehot) dL / M,
 * dh = dz E, dE = dzᵀ h, db = column sums of dz. */
#include <math.h>
#include <string.h>

#include "tensor/kernels.h"
#include "tensor/products.h"
#include "tensor/tape.h"

enum { COLUMNS = 4096 }; /* of the vocabulary that one thread sums at a time */

struct state {
    xlm_tape *tape;
    xlm_var *h, *table, *bias, *y; /* M x e, V x e, 1 x V or NULL, 1 x 1 */
    const int32_t *targets;        /* [M] */
    int64_t chunk;
    xlm_real *kept;                /* [M x V] exp(z − max), when all rows fit in one chunk */
    xlm_real *inverse;             /* [M] 1 / Σ exp(z − max) */
};

/* What one row's softmax leaves behind, in double: its loss is a difference of close numbers. */
struct outcome {
    double loss;
    bool correct;
};

/* z[rows x V] of rows first ... of h. */
static void make_logits(const struct state *s, int64_t first, int64_t rows, xlm_real *z)
{
    xlm_product(s->tape, rows, s->h->value + first * s->h->cols, s->table, s->bias, z);
}

/* exp(z − max) in place; inverse sums; losses when outcome is not NULL. */
static void exponentiate(const struct state *s, int64_t first, int64_t rows, xlm_real *z, struct outcome *outcome)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t v = s->table->rows;
#pragma omp parallel for schedule(static) if (rows * v > XLM_PARALLEL)
    for (int64_t i = 0; i < rows; i++) {
        xlm_real *row = z + i * v;
        const xlm_real highest = kernel->maximum(v, row), target = row[s->targets[first + i]];
        const xlm_real sum = kernel->exp_sum(v, row, highest, row);
        s->inverse[first + i] = 1 / sum;
        if (outcome != NULL)
            outcome[i] = (struct outcome){log((double)sum) + ((double)highest - (double)target), target >= highest};
    }
}

/* exp(z − max) becomes dz. */
static void differentiate(const struct state *s, int64_t first, int64_t rows, xlm_real factor, xlm_real *z)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t v = s->table->rows;
#pragma omp parallel for schedule(static) if (rows * v > XLM_PARALLEL)
    for (int64_t i = 0; i < rows; i++) {
        xlm_real *row = z + i * v;
        kernel->scale(v, factor * s->inverse[first + i], row, row, false);
        row[s->targets[first + i]] -= factor;
    }
}

/* Rows and columns of a tile that is still in the first-level cache when its last use comes. */
enum { TILE_ROWS = 32, TILE_COLUMNS = 256 };

/* dz as products in bfloat16 read it, in both directions, z being read once. */
struct rounded {
    const struct state *s;
    int64_t first, rows;
    xlm_real factor;
    const xlm_real *z;
    int64_t depth;         /* rows rounded up */
    uint16_t *dz, *turned; /* [rows x V]; [V x depth] dzᵀ */
    xlm_real *db;          /* [V], added to, or NULL */
};

static void round_tile(const struct rounded *r, int64_t row, int64_t column)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t v = r->s->table->rows, rows = MIN(TILE_ROWS, r->rows - row), cols = MIN(TILE_COLUMNS, v - column);
    xlm_real tile[TILE_ROWS * TILE_COLUMNS];
    for (int64_t i = 0; i < rows; i++) {
        xlm_real *dz = tile + i * TILE_COLUMNS;
        const int64_t target = r->s->targets[r->first + row + i] - column;
        kernel->scale(cols, r->factor * r->s->inverse[r->first + row + i], r->z + (row + i) * v + column, dz, false);
        if (target >= 0 && target < cols)
            dz[target] -= r->factor;
        kernel->to_bfloat16(cols, dz, r->dz + (row + i) * v + column);
    }
    kernel->transpose_bfloat16(rows, cols, r->dz + row * v + column, v, r->turned + column * r->depth + row, r->depth);
    if (r->db != NULL)
        kernel->column_sums(rows, cols, tile, TILE_COLUMNS, r->db + column);
}

static void round_gradients(const struct rounded *r)
{
    const int64_t v = r->s->table->rows;
#pragma omp parallel for schedule(static) if (r->rows * v > XLM_PARALLEL)
    for (int64_t column = 0; column < v; column += TILE_COLUMNS)
        for (int64_t row = 0; row < r->rows; row += TILE_ROWS)
            round_tile(r, row, column);
}

static void backward_rounded(struct rounded *r, xlm_grad dh, xlm_grad de)
{
    const struct state *s = r->s;
    const int64_t v = s->table->rows;
    r->depth = xlm_packed_depth(r->rows);
    r->dz = XLM_TAPE_BORROW(s->tape, uint16_t, r->rows * v);
    r->turned = XLM_TAPE_BORROW(s->tape, uint16_t, v * r->depth);
    round_gradients(r);
    if (dh.at != NULL)
        xlm_packed_multiply_rounded(xlm_product_parameter(s->tape, s->table, false), r->rows, false, r->dz, dh.add, dh.at);
    if (de.at != NULL)
        xlm_product_of_rounded(s->tape, r->rows, r->turned, s->h->value + r->first * s->h->cols, NULL, s->table, de);
    xlm_tape_return(s->tape, r->turned);
    xlm_tape_return(s->tape, r->dz);
}

static void backward_bias(int64_t rows, int64_t v, const xlm_real *dz, xlm_real *db)
{
    const xlm_kernels *kernel = xlm_kernels_get();
#pragma omp parallel for schedule(static) if (rows * v > XLM_PARALLEL)
    for (int64_t c = 0; c < v; c += COLUMNS)
        kernel->column_sums(rows, MIN(COLUMNS, v - c), dz + c, v, db + c);
}

static void backward(void *pointer)
{
    const struct state *s = pointer;
    const int64_t m = s->h->rows, e = s->h->cols, v = s->table->rows;
    const xlm_real factor = s->y->grad[0] / (xlm_real)m;
    const xlm_grad dh = xlm_grad_open(s->h);
    xlm_grad de = xlm_grad_open(s->table);
    xlm_real *db = s->bias != NULL ? xlm_grad_add(s->bias) : NULL;
    xlm_real *block = s->kept != NULL ? NULL : XLM_TAPE_BORROW(s->tape, xlm_real, s->chunk * v);
    for (int64_t first = 0; first < m; first += s->chunk) {
        const int64_t rows = MIN(s->chunk, m - first);
        xlm_real *z = s->kept;
        if (z == NULL) {
            z = block;
            make_logits(s, first, rows, z);
            exponentiate(s, first, rows, z, NULL);
        }
        if (xlm_product_rounds(s->tape, s->table)) {
            struct rounded r = {.s = s, .first = first, .rows = rows, .factor = factor, .z = z, .db = db};
            backward_rounded(&r, (xlm_grad){.at = dh.at != NULL ? dh.at + first * e : NULL, .add = dh.add}, de);
            de.add = true;
            continue;
        }
        differentiate(s, first, rows, factor, z);
        const xlm_grad own = {.at = dh.at != NULL ? dh.at + first * e : NULL, .add = dh.add};
        xlm_product_backward(s->tape, rows, z, s->h->value + first * e, s->table, own, de);
        de.add = true;
        if (db != NULL)
            backward_bias(rows, v, z, db);
    }
    if (block != NULL)
        xlm_tape_return(s->tape, block);
}

static void check(const struct state *s)
{
    const int64_t v = s->table->rows;
    if (s->h->cols != s->table->cols)
        xlm_tape_fail("vocab_cross_entropy", "h has %" G_GINT64_FORMAT " columns, the table %" G_GINT64_FORMAT, s->h->cols,
                      s->table->cols);
    if (s->bias != NULL && (s->bias->rows != 1 || s->bias->cols != v))
        xlm_tape_fail("vocab_cross_entropy", "the bias is not 1 x %" G_GINT64_FORMAT, v);
    if (s->h->rows < 1 || s->chunk < 1)
        xlm_tape_fail("vocab_cross_entropy", "rows and chunk must be at least 1");
    for (int64_t i = 0; i < s->h->rows; i++)
        if (s->targets[i] < 0 || s->targets[i] >= v)
            xlm_tape_fail("vocab_cross_entropy", "target %d of row %" G_GINT64_FORMAT " is not one of %" G_GINT64_FORMAT,
                          s->targets[i], i, v);
}

static int32_t *copy_targets(xlm_tape *tape, const int32_t *targets, int64_t n)
{
    int32_t *copy = XLM_TAPE_TAKE(tape, int32_t, n);
    memcpy(copy, targets, sizeof *copy * (size_t)n);
    return copy;
}

xlm_var *xlm_vocab_cross_entropy(xlm_tape *tape, xlm_var *h, xlm_var *table, xlm_var *bias, const int32_t *targets,
                                 int64_t chunk, xlm_score *scores)
{
    const int64_t m = h->rows, v = table->rows;
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    xlm_var *const inputs[] = {h, table, bias};
    xlm_var *y = xlm_tape_record(tape, "vocab_cross_entropy", 1, 1, bias != NULL ? 3 : 2, inputs, backward, s);
    y->keys = NULL;
    *s = (struct state){.tape = tape, .h = h, .table = table, .bias = bias, .y = y, .chunk = MIN(chunk, m),
                        .targets = copy_targets(tape, targets, m), .inverse = XLM_TAPE_TAKE(tape, xlm_real, m)};
    check(s);
    /* Logits are written by the product and replaced by their exponentials. */
    xlm_tape_moves(tape, (double)sizeof(xlm_real) * (double)(m * h->cols + v * h->cols + 3 * m * v));
    const bool keep = y->grad != NULL && m <= chunk;
    xlm_real *block = keep ? XLM_TAPE_TAKE(tape, xlm_real, m * v) : XLM_TAPE_BORROW(tape, xlm_real, s->chunk * v);
    struct outcome *outcome = XLM_TAPE_BORROW(tape, struct outcome, s->chunk);
    double total = 0;
    for (int64_t first = 0; first < m; first += s->chunk) {
        const int64_t rows = MIN(s->chunk, m - first);
        make_logits(s, first, rows, block);
        exponentiate(s, first, rows, block, outcome);
        for (int64_t i = 0; i < rows; i++) {
            total += outcome[i].loss;
            if (scores != NULL)
                scores[first + i] = (xlm_score){.loss = (float)outcome[i].loss, .correct = outcome[i].correct};
        }
    }
    xlm_tape_return(tape, outcome);
    if (keep)
        s->kept = block;
    else
        xlm_tape_return(tape, block);
    y->value[0] = (xlm_real)(total / (double)m);
    return y;
}
