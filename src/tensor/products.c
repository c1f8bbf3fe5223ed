/* xlm-mpi: the products of linear layers, in the tape's precision. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/products.h"

#include <string.h>

#include "gemm/gemm.h"
#include "gemm/packed.h"
#include "kernels/kernels.h"
#include "tensor/tape_internal.h"

/* Products of floats with at most this many multiply-adds are always computed by BLIS: they have many shapes, and oneDNN would
 * have to generate code for each. */
static const int64_t SMALL = 1 << 18;

/* A parameter, or a stack of them, in one of the two directions in which it is packed. */
typedef struct key {
    const xlm_real *values;
    int64_t rows, cols;
    int64_t transpose; /* Wᵀ, else W; not a bool, so that the struct has no padding */
} key;

typedef struct entry {
    key key; /* first: it is the key in the table */
    xlm_packed *packed;
    uint64_t state; /* state_of the parameter when it was packed */
} entry;

static guint hash_key(gconstpointer pointer)
{
    const key *k = pointer;
    return g_direct_hash(k->values) + (guint)k->transpose;
}

static gboolean equal_keys(gconstpointer a, gconstpointer b) { return memcmp(a, b, sizeof(key)) == 0; }

static void free_entry(gpointer pointer)
{
    xlm_packed_free(((entry *)pointer)->packed);
    g_free(pointer);
}

bool xlm_product_packs(const xlm_tape *tape, int64_t n, const xlm_var *weight)
{
    if (!tape->packs || !((const variable *)weight)->leaf)
        return false;
    return tape->precision == XLM_BFLOAT16 || tape->mode.rows_alone || n * weight->rows * weight->cols > SMALL;
}

bool xlm_products_round(const xlm_tape *tape) { return tape->packs && tape->precision == XLM_BFLOAT16; }

uint16_t *xlm_products_take_rounded(xlm_tape *tape, xlm_var *y)
{
    if (xlm_products_round(tape))
        y->rounded = XLM_TAPE_NUMBERS(tape, uint16_t, y->rows * y->cols);
    return y->rounded;
}

bool xlm_product_rounds(const xlm_tape *tape, const xlm_var *weight)
{
    return xlm_products_round(tape) && ((const variable *)weight)->leaf;
}

static entry *entry_of(xlm_tape *tape, const xlm_var *weight, bool transpose)
{
    if (tape->packed == NULL)
        tape->packed = g_hash_table_new_full(hash_key, equal_keys, NULL, free_entry);
    const key k = {weight->value, weight->rows, weight->cols, transpose};
    entry *e = g_hash_table_lookup(tape->packed, &k);
    if (e == NULL) {
        e = g_new0(entry, 1);
        e->key = k;
        e->packed = xlm_packed_new();
        g_hash_table_add(tape->packed, e);
    }
    return e;
}

/* Changes whenever the parameter may have changed. */
static uint64_t state_of(const xlm_tape *tape, const xlm_var *weight)
{
    const xlm_parameter *first = xlm_parameters_get(tape->parameters, ((const variable *)weight)->first);
    return tape->mode.values == NULL && first->rate == 0 ? tape->frozen_state : tape->parameter_state;
}

/* If there will be a backward pass, which needs the other direction, both are packed together. */
const xlm_packed *xlm_product_parameter(xlm_tape *tape, xlm_var *weight, bool transpose)
{
    if (of_shapes(tape))
        return NULL;
    entry *e = entry_of(tape, weight, transpose);
    const uint64_t state = state_of(tape, weight);
    if (e->state == state)
        return e->packed;
    const int64_t rows = weight->rows, cols = weight->cols;
    if (transpose && weight->grad != NULL) {
        entry *straight = entry_of(tape, weight, false);
        xlm_packed_set_both(e->packed, straight->packed, tape->precision, rows, cols, weight->value);
        straight->state = state;
    } else {
        xlm_packed_set(e->packed, tape->precision, transpose, transpose ? cols : rows, transpose ? rows : cols, weight->value);
    }
    e->state = state;
    return e->packed;
}

const xlm_packed *xlm_product_parameter_by_parts(xlm_tape *tape, xlm_var *weight)
{
    if (of_shapes(tape) || weight->grad != NULL)
        return xlm_product_parameter(tape, weight, false);
    entry *e = entry_of(tape, weight, false);
    const uint64_t state = state_of(tape, weight);
    if (e->state != state)
        xlm_packed_set_by_parts(e->packed, tape->precision, weight->rows, weight->cols, weight->value);
    e->state = state;
    return e->packed;
}

/* On a tape of shapes, counts a product of n rows with this parameter, and returns true. */
static bool is_counted(const xlm_tape *tape, int64_t n, const xlm_var *weight)
{
    if (of_shapes(tape))
        xlm_gemm_count(2 * (double)n * (double)weight->rows * (double)weight->cols);
    return of_shapes(tape);
}

void xlm_product(xlm_tape *tape, int64_t n, xlm_factor x, xlm_var *weight, const xlm_var *bias, xlm_real *y)
{
    const int64_t in = weight->cols, out = weight->rows;
    if (is_counted(tape, n, weight))
        return;
    if (xlm_product_packs(tape, n, weight)) {
        xlm_packed_multiply(xlm_product_parameter(tape, weight, true), n, false, x, bias != NULL ? bias->value : NULL, false, y);
        return;
    }
    if (bias != NULL) {
#pragma omp parallel for schedule(static) if (n * out > XLM_PARALLEL)
        for (int64_t i = 0; i < n; i++)
            memcpy(y + i * out, bias->value, sizeof(xlm_real) * (size_t)out);
    }
    (tape->mode.rows_alone ? xlm_gemm_rows_alone : xlm_gemm)(false, true, n, out, in, 1, x.floats, in, weight->value, in,
                                                             bias != NULL, y, out);
}

/* Where the blocks of a product are written, rounded: [rows x cols]. */
typedef struct rounded_result {
    uint16_t *y;
    int64_t cols;
} rounded_result;

static void round_block(void *data, int64_t row, int64_t rows, int64_t column, int64_t cols, xlm_real *block)
{
    const rounded_result *r = data;
    for (int64_t i = 0; i < rows; i++)
        xlm_kernels_get()->to_bfloat16(cols, block + i * cols, r->y + (row + i) * r->cols + column);
}

void xlm_product_to_rounded(xlm_tape *tape, int64_t n, xlm_factor x, xlm_var *weight, const xlm_var *bias, uint16_t *y)
{
    if (is_counted(tape, n, weight))
        return;
    xlm_packed_multiply_blocks(xlm_product_parameter(tape, weight, true), n, x, bias != NULL ? bias->value : NULL, round_block,
                               &(rounded_result){.y = y, .cols = weight->rows});
}

void xlm_product_of_gradient(xlm_tape *tape, int64_t n, const xlm_real *dy, xlm_var *weight, xlm_grad dx)
{
    const int64_t in = weight->cols, out = weight->rows;
    if (is_counted(tape, n, weight))
        return;
    if (xlm_product_packs(tape, n, weight))
        xlm_packed_multiply(xlm_product_parameter(tape, weight, false), n, false, xlm_floats(dy), NULL, dx.add, dx.at);
    else
        xlm_gemm(false, false, n, in, out, 1, dy, out, weight->value, in, dx.add, dx.at, in);
}

static xlm_packed *packed_rows(xlm_tape *tape)
{
    if (tape->packed_rows == NULL)
        tape->packed_rows = xlm_packed_new();
    return tape->packed_rows;
}

/* dW from n rows of x. dy: out x xlm_packed_depth(n), or with `transpose` n x out. */
static void multiply_rows(xlm_tape *tape, int64_t n, bool transpose, xlm_factor dy, xlm_factor x, const xlm_var *weight,
                          xlm_grad dw)
{
    if (is_counted(tape, n, weight))
        return;
    if (n == 0 && !dw.add)
        memset(dw.at, 0, sizeof(xlm_real) * (size_t)(weight->rows * weight->cols));
    if (n == 0)
        return;
    xlm_packed_set_rows(packed_rows(tape), tape->precision, n, weight->cols, x);
    xlm_packed_multiply(packed_rows(tape), weight->rows, transpose, dy, NULL, dw.add, dw.at);
}

void xlm_product_of_weight(xlm_tape *tape, int64_t n, const xlm_real *dy, xlm_factor x, const xlm_var *weight, xlm_grad dw)
{
    const int64_t in = weight->cols, out = weight->rows;
    if (of_shapes(tape) || xlm_product_packs(tape, n, weight))
        multiply_rows(tape, n, true, xlm_floats(dy), x, weight, dw);
    else
        xlm_gemm(true, false, out, in, n, 1, dy, out, x.floats, in, dw.add, dw.at, in);
}

void xlm_product_of_rounded(xlm_tape *tape, int64_t n, uint16_t *dy_transposed, xlm_factor x, const xlm_var *weight, xlm_grad dw)
{
    const int64_t depth = xlm_packed_depth(n), out = weight->rows;
    for (int64_t i = 0; n < depth && i < out && !of_shapes(tape); i++)
        memset(dy_transposed + i * depth + n, 0, sizeof *dy_transposed * (size_t)(depth - n));
    multiply_rows(tape, n, false, xlm_rounded(dy_transposed), x, weight, dw);
}

/* db += column sums of dy, n x out, as sums of the sums of each `chunk` rows. */
static void sum_gradients(xlm_tape *tape, int64_t n, int64_t out, const xlm_real *dy, int64_t chunk, xlm_real *db)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t chunks = (n + chunk - 1) / chunk;
    xlm_real *partial = XLM_TAPE_BORROW(tape, xlm_real, chunks * out);
    if (of_shapes(tape)) {
        xlm_tape_return(tape, partial);
        return;
    }
#pragma omp parallel for schedule(static) if (n * out > XLM_PARALLEL)
    for (int64_t k = 0; k < chunks; k++) {
        memset(partial + k * out, 0, sizeof(xlm_real) * (size_t)out);
        kernel->column_sums(MIN(chunk, n - k * chunk), out, dy + k * chunk * out, out, partial + k * out);
    }
    xlm_sum_chunks(chunks, out, partial, db);
    xlm_tape_return(tape, partial);
}

/* dx = or += dy W, and dyᵀ rounded and column sums of chunks unless NULL, as in xlm_packed_multiply_and_transpose; db += the sum
 * of these sums. */
static void multiply_gradient(xlm_tape *tape, int64_t n, const xlm_real *dy, xlm_var *weight, xlm_grad dx, uint16_t *transposed,
                              xlm_real *sums, xlm_real *db)
{
    if (is_counted(tape, n, weight))
        return;
    const int64_t chunks = (n + XLM_PACKED_ROWS - 1) / XLM_PACKED_ROWS;
    xlm_packed_multiply_and_transpose(xlm_product_parameter(tape, weight, false), n, xlm_floats(dy), dx.add, dx.at, transposed,
                                      transposed != NULL ? xlm_packed_depth(n) : 0, sums);
    if (sums != NULL)
        xlm_sum_chunks(chunks, weight->rows, sums, db);
}

/* dx and db with the packed parameter, in one reading of dy. */
static void backward_input(xlm_tape *tape, int64_t n, const xlm_real *dy, xlm_var *weight, xlm_grad dx, xlm_real *db)
{
    const int64_t out = weight->rows, chunks = (n + XLM_PACKED_ROWS - 1) / XLM_PACKED_ROWS;
    xlm_real *sums = XLM_TAPE_BORROW(tape, xlm_real, chunks * out);
    multiply_gradient(tape, n, dy, weight, dx, NULL, sums, db);
    xlm_tape_return(tape, sums);
}

/* dx, dW and db, where dy is read and rounded only once. */
static void backward_rounded(xlm_tape *tape, int64_t n, const xlm_real *dy, xlm_factor x, xlm_var *weight, xlm_grad dx,
                             xlm_grad dw, xlm_real *db)
{
    const int64_t depth = xlm_packed_depth(n), out = weight->rows, chunks = (n + XLM_PACKED_ROWS - 1) / XLM_PACKED_ROWS;
    uint16_t *transposed = XLM_TAPE_BORROW(tape, uint16_t, out * depth);
    xlm_real *sums = db != NULL ? XLM_TAPE_BORROW(tape, xlm_real, chunks * out) : NULL;
    multiply_gradient(tape, n, dy, weight, dx, transposed, sums, db);
    if (sums != NULL)
        xlm_tape_return(tape, sums);
    xlm_product_of_rounded(tape, n, transposed, x, weight, dw);
    xlm_tape_return(tape, transposed);
}

void xlm_product_backward(xlm_tape *tape, int64_t n, const xlm_real *dy, xlm_factor x, xlm_var *weight, xlm_grad dx,
                          xlm_grad dw, xlm_real *db)
{
    if (dx.at != NULL && dw.at != NULL && n > 0 && xlm_product_rounds(tape, weight)) {
        backward_rounded(tape, n, dy, x, weight, dx, dw, db);
        return;
    }
    const bool packs = xlm_product_packs(tape, n, weight), together = packs && n > 0 && dx.at != NULL && db != NULL;
    if (together)
        backward_input(tape, n, dy, weight, dx, db);
    else if (dx.at != NULL)
        xlm_product_of_gradient(tape, n, dy, weight, dx);
    if (dw.at != NULL)
        xlm_product_of_weight(tape, n, dy, x, weight, dw);
    if (db != NULL && !together) /* in chunks of the same size, so that the bits do not depend on whether dx is wanted */
        sum_gradients(tape, n, weight->rows, dy, packs ? XLM_PACKED_ROWS : XLM_CHUNK, db);
}

void xlm_tape_multiply_by(xlm_tape *tape, bool packs_parameters, xlm_precision precision)
{
    tape->packs = packs_parameters;
    tape->precision = precision;
    tape->frozen_state = ++tape->parameter_state;
}

void xlm_tape_hold_parameters(xlm_tape *tape, bool hold)
{
    tape->holds = hold;
    tape->parameter_state++;
}
