/* xlm-mpi: softmax over a vocabulary that is packed. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "gemm/gemm.h"
#include "kernels/kernels.h"
#include "tensor/products.h"
#include "tensor/vocabulary.h"

int64_t xlm_vocabulary_blocks(int64_t columns)
{
    const int64_t cols = xlm_packed_block_columns(columns);
    return (columns + cols - 1) / cols;
}

/* ---- forward ---- */

/* What is known of each block of a row until all blocks have been computed. */
typedef struct softmax {
    const xlm_vocabulary_rows *v;
    int64_t blocks, cols; /* number of blocks of columns; columns of a block */
    xlm_real *highest;    /* [rows x blocks], in the memory of v->share */
    xlm_real *sum;        /* [rows x blocks] Σ exp(z − highest) */
    xlm_real *target;     /* [rows] z of the target */
    xlm_real *plain;      /* [rows x blocks] Σ z, for label smoothing; else NULL */
} softmax;

/* The place of the weight w of a column in a row; NULL if weights are not kept. */
static void *weights_at(const xlm_vocabulary_rows *v, int64_t row, int64_t column)
{
    const size_t each = xlm_product_rounds(v->tape, v->table) ? sizeof(uint16_t) : sizeof(xlm_real);
    return v->weights != NULL ? (char *)v->weights + each * (size_t)(row * v->table->rows + column) : NULL;
}

static void use_block(void *data, int64_t row, int64_t rows, int64_t column, int64_t cols, xlm_real *z)
{
    const softmax *s = data;
    const xlm_vocabulary_rows *v = s->v;
    const xlm_kernels *kernel = xlm_kernels_get();
    const bool rounds = xlm_product_rounds(v->tape, v->table);
    for (int64_t i = row; i < row + rows; i++, z += cols) {
        const int64_t at = i * s->blocks + column / s->cols, target = v->targets[i] - column;
        if (target >= 0 && target < cols)
            s->target[i] = z[target];
        s->highest[at] = kernel->maximum(cols, z);
        if (s->plain != NULL)
            s->plain[at] = kernel->sum(cols, z);
        s->sum[at] = (xlm_real)(rounds ? kernel->exp_sum_bfloat16(cols, z, s->highest[at], weights_at(v, i, column))
                                       : kernel->exp_sum(cols, z, s->highest[at], weights_at(v, i, column)));
    }
}

/* Puts the blocks of a row together: computes their shares, and returns the outcome of the row. */
static xlm_vocabulary_outcome join_blocks(const softmax *s, int64_t row)
{
    xlm_real *share = s->highest + row * s->blocks;
    const xlm_real *sum = s->sum + row * s->blocks;
    const double highest = (double)xlm_kernels_get()->maximum(s->blocks, share), target = (double)s->target[row];
    double total = 0;
    for (int64_t b = 0; b < s->blocks; b++)
        total += (double)sum[b] * exp((double)share[b] - highest);
    for (int64_t b = 0; b < s->blocks; b++)
        share[b] = (xlm_real)(exp((double)share[b] - highest) / total);
    double plain = 0;
    for (int64_t b = 0; b < s->blocks && s->plain != NULL; b++)
        plain += (double)s->plain[row * s->blocks + b];
    const double above = s->plain != NULL ? target - plain / (double)s->v->table->rows : 0;
    return (xlm_vocabulary_outcome){log(total) + (highest - target), target >= highest, above};
}

static double product_flops(const xlm_vocabulary_rows *v)
{
    return 2 * (double)v->rows * (double)v->table->rows * (double)v->table->cols;
}

void xlm_vocabulary_forward(const xlm_vocabulary_rows *v, xlm_vocabulary_outcome *outcome)
{
    const xlm_packed *table = xlm_product_parameter(v->tape, v->table, true);
    softmax s = {.v = v, .blocks = xlm_vocabulary_blocks(v->table->rows), .cols = xlm_packed_block_columns(v->table->rows),
                 .highest = v->share};
    const bool smooths = v->smoothing > 0;
    s.sum = XLM_TAPE_BORROW(v->tape, xlm_real, v->rows * (s.blocks + 1 + (smooths ? s.blocks : 0)));
    s.target = s.sum + v->rows * s.blocks;
    s.plain = smooths ? s.target + v->rows : NULL;
    if (!xlm_var_has_numbers(v->table)) {
        xlm_gemm_count(product_flops(v));
        xlm_tape_return(v->tape, s.sum);
        return;
    }
    xlm_packed_multiply_blocks(table, v->rows, v->h, v->bias != NULL ? v->bias->value : NULL, use_block, &s);
    for (int64_t i = 0; i < v->rows; i++) {
        const xlm_vocabulary_outcome one = join_blocks(&s, i);
        if (outcome != NULL)
            outcome[i] = one;
    }
    xlm_tape_return(v->tape, s.sum);
}

/* ---- backward ---- */

/* Rows and columns of a tile that stays in the first-level cache until its last use. */
enum { TILE_ROWS = 32, TILE_COLUMNS = 256 };

typedef struct gradients {
    const xlm_vocabulary_rows *v;
    xlm_real factor;
    int64_t blocks, cols;
    int64_t depth;    /* number of rows, rounded up (xlm_packed_depth) */
    uint16_t *turned; /* [V x depth] dzᵀ in bfloat16; NULL in float32 */
    xlm_real *db;     /* [V], added to, or NULL */
} gradients;

/* Computes dz of columns of one block for one row. */
static void make_row(const gradients *g, int64_t row, int64_t column, int64_t cols, xlm_real *dz)
{
    const xlm_vocabulary_rows *v = g->v;
    const xlm_kernels *kernel = xlm_kernels_get();
    const xlm_real factor = g->factor * v->share[row * g->blocks + column / g->cols];
    const int64_t target = v->targets[row] - column;
    if (g->turned != NULL)
        kernel->scale_bfloat16(cols, factor, weights_at(v, row, column), dz);
    else
        kernel->scale(cols, factor, weights_at(v, row, column), dz, false);
    if (v->smoothing > 0)
        kernel->fill(cols, -g->factor * (xlm_real)(v->smoothing / (double)v->table->rows), dz, true);
    if (target >= 0 && target < cols)
        dz[target] -= g->factor * (xlm_real)(1 - v->smoothing);
}

static void make_tile(const gradients *g, int64_t row, int64_t column, int64_t cols)
{
    const xlm_vocabulary_rows *v = g->v;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t all = v->table->rows, rows = MIN(TILE_ROWS, v->rows - row);
    const bool rounds = g->turned != NULL;
    xlm_real memory[TILE_ROWS * TILE_COLUMNS], *tile = rounds ? memory : weights_at(v, row, column);
    const int64_t apart = rounds ? TILE_COLUMNS : all;
    for (int64_t i = 0; i < rows; i++) {
        make_row(g, row + i, column, cols, tile + i * apart);
        if (rounds)
            kernel->to_bfloat16(cols, tile + i * apart, weights_at(v, row + i, column));
    }
    if (rounds)
        kernel->transpose_bfloat16(rows, cols, weights_at(v, row, column), all, g->turned + column * g->depth + row, g->depth);
    if (g->db != NULL)
        kernel->column_sums(rows, cols, tile, apart, g->db + column);
}

static void make_gradients(const gradients *g)
{
    const int64_t rows = g->v->rows, all = g->v->table->rows, tiles = (g->cols + TILE_COLUMNS - 1) / TILE_COLUMNS;
#pragma omp parallel for schedule(static) if (rows * all > XLM_PARALLEL)
    for (int64_t i = 0; i < g->blocks * tiles; i++) {
        const int64_t block = i / tiles * g->cols, column = block + i % tiles * TILE_COLUMNS;
        const int64_t cols = MIN(TILE_COLUMNS, MIN(all, block + g->cols) - column);
        for (int64_t row = 0; row < rows && cols > 0; row += TILE_ROWS)
            make_tile(g, row, column, cols);
    }
}

void xlm_vocabulary_backward(const xlm_vocabulary_rows *v, xlm_real factor, xlm_grad dh, xlm_grad de, xlm_real *db)
{
    gradients g = {.v = v, .factor = factor, .depth = xlm_packed_depth(v->rows), .db = db,
                   .blocks = xlm_vocabulary_blocks(v->table->rows), .cols = xlm_packed_block_columns(v->table->rows)};
    const bool rounds = xlm_product_rounds(v->tape, v->table);
    if (rounds)
        g.turned = XLM_TAPE_BORROW(v->tape, uint16_t, v->table->rows * g.depth);
    const bool numbers = xlm_var_has_numbers(v->table);
    if (numbers)
        make_gradients(&g);
    if (dh.at != NULL && !numbers)
        xlm_gemm_count(product_flops(v));
    else if (dh.at != NULL)
        xlm_packed_multiply(xlm_product_parameter_by_parts(v->tape, v->table), v->rows, false,
                            rounds ? xlm_rounded(v->weights) : xlm_floats(v->weights), NULL, dh.add, dh.at);
    if (de.at != NULL && rounds)
        xlm_product_of_rounded(v->tape, v->rows, g.turned, v->h, v->table, de);
    else if (de.at != NULL)
        xlm_product_of_weight(v->tape, v->rows, v->weights, v->h, v->table, de);
    if (rounds)
        xlm_tape_return(v->tape, g.turned);
}
