/* xlm-mpi: cross-entropy over the vocabulary: output layer and softmax in one. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * L = (1/M) Σ_i [log Σ_v exp z_iv − z_i,target(i)], z = h Eᵀ + b, M x V. Logits live in a block of at most `chunk` rows, in which
 * exp(z − max) replaces them; 1 / Σ exp is kept a row. The forward pass computes the first chunk last and keeps its block, so
 * that the backward pass, which begins with that chunk, computes only the others again. The backward pass is dz = (softmax z −
 * onehot) dL / M, dh = dz E, dE = dzᵀ h, db = column sums of dz. Label smoothing adds ε (z_target − mean z) to a row's loss,
 * since the log of Σ exp is in both terms, and dz becomes (softmax z − (1 − ε) onehot − ε/V) dL / M. Where E is packed the work
 * is that of vocabulary_blocks.c. */
#include "tensor/vocabulary.h"

#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "tensor/products.h"

enum { COLUMNS = 4096 }; /* number of subwords that a thread sums at a time */

/* A block is kept until the backward pass if all rows fit into it, or it has at most so many bytes: the objectives of a stream
 * each keep one, and those of a large vocabulary would take gigabytes. */
static const uint64_t KEPT_BYTES = (uint64_t)256 << 20;

struct state {
    xlm_tape *tape;
    xlm_var *h, *table, *bias, *y; /* M x e, V x e, 1 x V or NULL, 1 x 1 */
    const int32_t *targets;        /* [M] */
    double smoothing;              /* ε */
    int64_t chunk;
    bool packs;                    /* the table is packed; exponentials are then computed block by block (vocabulary.h) */
    xlm_real *inverse;             /* [M] 1 / Σ exp(z − max); NULL if the table is packed */
    /* Of the first chunk, if they are kept for the backward pass, else NULL: */
    xlm_real *kept;                /* [chunk x V] exp(z − max), if the table is not packed */
    void *weights;                 /* [chunk x V] and */
    xlm_real *share;               /* [chunk x blocks], if it is (vocabulary.h) */
};

/* Bytes of the weights of so many rows. */
static uint64_t weight_bytes(const struct state *s, int64_t rows)
{
    return (xlm_product_rounds(s->tape, s->table) ? sizeof(uint16_t) : sizeof(xlm_real)) * (uint64_t)(rows * s->table->rows);
}

static xlm_vocabulary_rows rows_of(const struct state *s, int64_t first, int64_t rows)
{
    return (xlm_vocabulary_rows){.tape = s->tape, .table = s->table, .bias = s->bias, .rows = rows,
                                 .h = xlm_factor_of(s->h, first), .targets = s->targets + first, .weights = s->weights,
                                 .share = s->share, .smoothing = s->smoothing};
}

/* Computes the logits of `rows` rows of h from row `first` on: z[rows x V]. */
static void make_logits(const struct state *s, int64_t first, int64_t rows, xlm_real *z)
{
    xlm_product(s->tape, rows, xlm_factor_of(s->h, first), s->table, s->bias, z);
}

static double mean_of(int64_t n, const xlm_real *x)
{
    double sum = 0;
    for (int64_t c = 0; c < n; c += COLUMNS)
        sum += (double)xlm_kernels_get()->sum(MIN(COLUMNS, n - c), x + c);
    return sum / (double)n;
}

/* Replaces z by exp(z − max), and computes the inverse sums and, unless it is NULL, the outcome of each row. */
static void exponentiate(const struct state *s, int64_t first, int64_t rows, xlm_real *z, xlm_vocabulary_outcome *outcome)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t v = s->table->rows, made = xlm_var_has_numbers(s->y) ? rows : 0;
#pragma omp parallel for schedule(static) if (rows * v > XLM_PARALLEL)
    for (int64_t i = 0; i < made; i++) {
        xlm_real *row = z + i * v;
        const xlm_real highest = kernel->maximum(v, row), target = row[s->targets[first + i]];
        const double above = s->smoothing > 0 && outcome != NULL ? (double)target - mean_of(v, row) : 0;
        const double sum = kernel->exp_sum(v, row, highest, row);
        s->inverse[first + i] = (xlm_real)(1 / sum);
        if (outcome != NULL)
            outcome[i] = (xlm_vocabulary_outcome){log(sum) + ((double)highest - (double)target), target >= highest, above};
    }
}

/* Replaces exp(z − max) by dz. */
static void differentiate(const struct state *s, int64_t first, int64_t rows, xlm_real factor, xlm_real *z)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t v = s->table->rows, made = xlm_var_has_numbers(s->y) ? rows : 0;
#pragma omp parallel for schedule(static) if (rows * v > XLM_PARALLEL)
    for (int64_t i = 0; i < made; i++) {
        xlm_real *row = z + i * v;
        kernel->scale(v, factor * s->inverse[first + i], row, row, false);
        if (s->smoothing > 0)
            kernel->fill(v, -factor * (xlm_real)(s->smoothing / (double)v), row, true);
        row[s->targets[first + i]] -= factor * (xlm_real)(1 - s->smoothing);
    }
}

static void backward_bias(int64_t rows, int64_t v, const xlm_real *dz, xlm_real *db)
{
    const xlm_kernels *kernel = xlm_kernels_get();
#pragma omp parallel for schedule(static) if (rows * v > XLM_PARALLEL)
    for (int64_t c = 0; c < v; c += COLUMNS)
        kernel->column_sums(rows, MIN(COLUMNS, v - c), dz + c, v, db + c);
}

static void backward_packed(const struct state *s, xlm_real factor, xlm_grad dh, xlm_grad de, xlm_real *db)
{
    const int64_t m = s->h->rows, v = s->table->rows;
    const bool kept = s->weights != NULL;
    void *weights = kept ? s->weights : xlm_tape_borrow(s->tape, weight_bytes(s, s->chunk));
    xlm_real *share = kept ? s->share : XLM_TAPE_BORROW(s->tape, xlm_real, s->chunk * xlm_vocabulary_blocks(v));
    for (int64_t first = 0; first < m; first += s->chunk, de.add = true) {
        xlm_vocabulary_rows rows = rows_of(s, first, MIN(s->chunk, m - first));
        rows.weights = weights;
        rows.share = share;
        if (!kept || first > 0)
            xlm_vocabulary_forward(&rows, NULL);
        const xlm_grad own = {.at = dh.at != NULL ? dh.at + first * s->h->cols : NULL, .add = dh.add};
        xlm_vocabulary_backward(&rows, factor, own, de, db);
    }
    if (!kept) {
        xlm_tape_return(s->tape, share);
        xlm_tape_return(s->tape, weights);
    }
}

static void backward(void *pointer)
{
    const struct state *s = pointer;
    const int64_t m = s->h->rows, e = s->h->cols, v = s->table->rows;
    const xlm_real factor = xlm_var_has_numbers(s->y) ? s->y->grad[0] / (xlm_real)m : 0;
    const xlm_grad dh = xlm_grad_open(s->h);
    xlm_grad de = xlm_grad_open(s->table);
    xlm_real *db = s->bias != NULL ? xlm_grad_add(s->bias) : NULL;
    if (s->packs) {
        backward_packed(s, factor, dh, de, db);
        return;
    }
    xlm_real *z = s->kept != NULL ? s->kept : XLM_TAPE_BORROW(s->tape, xlm_real, s->chunk * v);
    for (int64_t first = 0; first < m; first += s->chunk) {
        const int64_t rows = MIN(s->chunk, m - first);
        if (s->kept == NULL || first > 0) {
            make_logits(s, first, rows, z);
            exponentiate(s, first, rows, z, NULL);
        }
        differentiate(s, first, rows, factor, z);
        const xlm_grad own = {.at = dh.at != NULL ? dh.at + first * e : NULL, .add = dh.add};
        xlm_product_backward(s->tape, rows, z, xlm_factor_of(s->h, first), s->table, own, de, NULL);
        de.add = true;
        if (db != NULL && xlm_var_has_numbers(s->y))
            backward_bias(rows, v, z, db);
    }
    if (s->kept == NULL)
        xlm_tape_return(s->tape, z);
}

static void check(const struct state *s)
{
    const int64_t v = s->table->rows;
    if (s->h->cols != s->table->cols)
        xlm_tape_fail("vocab_cross_entropy", "h has %" G_GINT64_FORMAT " columns, the table %" G_GINT64_FORMAT, s->h->cols,
                      s->table->cols);
    if (s->bias != NULL && (s->bias->rows != 1 || s->bias->cols != v))
        xlm_tape_fail("vocab_cross_entropy", "the bias is not 1 x %" G_GINT64_FORMAT, v);
    if (!(s->smoothing >= 0 && s->smoothing <= 1))
        xlm_tape_fail("vocab_cross_entropy", "label smoothing of %g is not from 0 to 1", s->smoothing);
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

/* Takes the memory of a block: what is kept until the backward pass, or is returned after the forward pass. Weights of a packed
 * table that are not kept are not even written. */
static void take_block(struct state *s, bool keep)
{
    const int64_t v = s->table->rows, share = s->chunk * xlm_vocabulary_blocks(v);
    if (keep && s->packs) {
        s->weights = xlm_tape_take_numbers(s->tape, weight_bytes(s, s->chunk));
        s->share = XLM_TAPE_NUMBERS(s->tape, xlm_real, share);
    } else if (keep) {
        s->kept = XLM_TAPE_NUMBERS(s->tape, xlm_real, s->chunk * v);
    } else if (s->packs) {
        s->share = XLM_TAPE_BORROW(s->tape, xlm_real, share);
    } else {
        s->kept = XLM_TAPE_BORROW(s->tape, xlm_real, s->chunk * v);
    }
}

static void return_block(struct state *s)
{
    xlm_tape_return(s->tape, s->packs ? s->share : s->kept);
    s->share = s->kept = NULL;
}

/* Returns the sum of the losses of all rows. scores: [M] or NULL. */
static double forward(struct state *s, bool keep, xlm_score *scores)
{
    const int64_t m = s->h->rows;
    take_block(s, keep);
    xlm_vocabulary_outcome *outcome = XLM_TAPE_BORROW(s->tape, xlm_vocabulary_outcome, m);
    for (int64_t first = (m - 1) / s->chunk * s->chunk; first >= 0; first -= s->chunk) {
        const xlm_vocabulary_rows rows = rows_of(s, first, MIN(s->chunk, m - first));
        if (s->packs) {
            xlm_vocabulary_forward(&rows, outcome + first);
        } else {
            make_logits(s, first, rows.rows, s->kept);
            exponentiate(s, first, rows.rows, s->kept, outcome + first);
        }
    }
    double total = 0;
    for (int64_t i = 0; i < m; i++) {
        const xlm_vocabulary_outcome one = xlm_var_has_numbers(s->y) ? outcome[i] : (xlm_vocabulary_outcome){0};
        total += one.loss + s->smoothing * one.above;
        if (scores != NULL)
            scores[i] = (xlm_score){.loss = (float)one.loss, .correct = one.correct};
    }
    xlm_tape_return(s->tape, outcome);
    if (!keep)
        return_block(s);
    return total;
}

xlm_var *xlm_vocab_cross_entropy(xlm_tape *tape, xlm_var *h, xlm_var *table, xlm_var *bias, const int32_t *targets,
                                 int64_t chunk, xlm_score *scores)
{
    return xlm_vocab_smoothed_cross_entropy(tape, h, table, bias, targets, 0, chunk, scores);
}

xlm_var *xlm_vocab_smoothed_cross_entropy(xlm_tape *tape, xlm_var *h, xlm_var *table, xlm_var *bias, const int32_t *targets,
                                          double smoothing, int64_t chunk, xlm_score *scores)
{
    const int64_t m = h->rows, v = table->rows;
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    xlm_var *const inputs[] = {h, table, bias};
    xlm_var *y = xlm_tape_record(tape, "vocab_cross_entropy", 1, 1, bias != NULL ? 3 : 2, inputs, backward, s);
    y->keys = NULL;
    *s = (struct state){.tape = tape, .h = h, .table = table, .bias = bias, .y = y, .chunk = MIN(chunk, m),
                        .smoothing = smoothing, .targets = copy_targets(tape, targets, m),
                        .packs = xlm_product_packs(tape, MIN(chunk, m), table)};
    check(s);
    if (!s->packs)
        s->inverse = XLM_TAPE_NUMBERS(tape, xlm_real, m);
    /* Logits are written, read and replaced by their exponentials; if the table is packed, only the exponentials are written. */
    const double logits = xlm_product_rounds(tape, table) ? 0.5 : s->packs ? 1 : 3;
    xlm_tape_moves(tape, (double)sizeof(xlm_real) * ((double)(m * h->cols + v * h->cols) + logits * (double)(m * v)));
    const uint64_t kept = s->packs ? weight_bytes(s, s->chunk) : sizeof(xlm_real) * (uint64_t)(s->chunk * v);
    const double total = forward(s, y->grad != NULL && (m <= chunk || kept <= KEPT_BYTES), scores);
    if (xlm_var_has_numbers(y))
        y->value[0] = (xlm_real)(total / (double)m);
    return y;
}
