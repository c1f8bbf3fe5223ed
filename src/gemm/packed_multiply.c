/* xlm-mpi: products with a packed matrix, block by block. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * oneDNN's code needs matrices without gaps, so rows are rounded, transposed or copied into memory of the thread. The last rows
 * are padded to a multiple of ROW_UNIT, so that code is generated for few shapes. */
#include "gemm/onednn.h"

#if WITH_ONEDNN

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/exhaustion.h"
#include "kernels/kernels.h"
#include "kernels/processor.h"

enum { ROW_UNIT = XLM_PACKED_ROWS };

static int64_t padded_rows(int64_t rows) { return (rows + ROW_UNIT - 1) / ROW_UNIT * ROW_UNIT; }

/* Memory of each thread, kept for the next product. */
typedef struct workspace {
    void *bytes;
    size_t size;
} workspace;

static void free_workspace(gpointer pointer)
{
    free(((workspace *)pointer)->bytes);
    g_free(pointer);
}

static GPrivate own_workspace = G_PRIVATE_INIT(free_workspace);

static char *take(size_t bytes)
{
    workspace *w = g_private_get(&own_workspace);
    if (w == NULL)
        g_private_set(&own_workspace, w = g_new0(workspace, 1));
    if (w->size < bytes) {
        free(w->bytes);
        w->size = aligned(bytes + bytes / 4);
        w->bytes = aligned_alloc(LINE, w->size);
        if (w->bytes == NULL)
            xlm_exhaustion_no_memory(w->size, "a matrix product");
    }
    return w->bytes;
}

/* Number of columns of A that are transposed together, through memory that stays in the first-level cache. The functions that
 * transpose read the l->p->rows rows that A has, and leave the rest of each row of y unchanged. */
enum { TOGETHER = 128 };

/* Numbers that are rounded, two rows of A at a time: their elements side by side are transposed, as floats. */
static void transpose_rounded(const left *l, int64_t row, int64_t rows, bfloat16 *y)
{
    enum { DEPTH = 64 };
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t k = l->p->k, there = l->p->rows;
    float part[DEPTH / 2 * TOGETHER], by_rows[TOGETHER * DEPTH / 2];
    for (int64_t j = 0; j < there; j += DEPTH) {
        const int64_t depth = MIN(DEPTH, there - j);
        for (int64_t i = 0; i < depth; i += 2) {
            const bfloat16 *a = l->rounded + (j + i) * l->apart + row;
            kernel->bfloat16_pairs(rows, a, i + 1 < depth ? a + l->apart : NULL, (bfloat16 *)(void *)(part + i / 2 * TOGETHER),
                                   false);
        }
        kernel->transpose((depth + 1) / 2, rows, (const xlm_real *)part, TOGETHER, (xlm_real *)by_rows, DEPTH / 2);
        for (int64_t i = 0; i < rows; i++)
            memcpy(y + i * k + j, by_rows + i * (DEPTH / 2), sizeof *y * (size_t)depth);
    }
}

/* Floats to be rounded; a row of the part fills a line of y. */
static void transpose_and_round(const left *l, int64_t row, int64_t rows, bfloat16 *y)
{
    enum { DEPTH = LINE / sizeof *y };
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t k = l->p->k, there = l->p->rows;
    xlm_real part[TOGETHER * DEPTH]; /* [rows x DEPTH] */
    for (int64_t j = 0; j < there; j += DEPTH) {
        const int64_t depth = MIN(DEPTH, there - j);
        kernel->transpose(depth, rows, l->a + j * l->apart + row, l->apart, part, DEPTH);
        for (int64_t i = 0; i < rows; i++)
            kernel->to_bfloat16(depth, part + i * DEPTH, y + i * k + j);
    }
}

/* Transpose floats. Rows of A are pages apart, and the processor cannot predict which part of them is read next, so the code
 * prefetches it. */
static void transpose_floats(const left *l, int64_t row, int64_t rows, float *y)
{
    enum { DEPTH = 64, IN_LINE = LINE / sizeof *y };
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t k = l->p->k, there = l->p->rows;
    float part[DEPTH * TOGETHER];
    for (int64_t j = 0; j < there; j += DEPTH) {
        const int64_t depth = MIN(DEPTH, there - j);
        for (int64_t i = 0; i < depth; i++) {
            const xlm_real *a = l->a + (j + i) * l->apart + row;
            for (int64_t c = 0; j + i + DEPTH < there && c < rows; c += IN_LINE)
                xlm_processor_fetch(a + DEPTH * l->apart + c);
            memcpy(part + i * TOGETHER, a, sizeof *a * (size_t)rows);
        }
        for (int64_t c = 0; c < rows; c += IN_LINE)
            kernel->transpose(depth, MIN(IN_LINE, rows - c), (const xlm_real *)part + c, TOGETHER, (xlm_real *)y + c * k + j, k);
    }
}

/* y = rows row … row + rows of op(A) in the precision of p, and zeros below them up to `padded`. */
static void take_rows(const left *l, int64_t row, int64_t rows, int64_t padded, void *y)
{
    const int64_t k = l->p->k;
    const size_t line = xlm_packed_bytes(l->p->precision, 1, k), each = xlm_packed_bytes(l->p->precision, 1, 1);
    for (int64_t i = 0; i < rows; i += l->transpose ? TOGETHER : 1) {
        void *to = (char *)y + line * (size_t)i;
        const int64_t count = MIN(TOGETHER, rows - i);
        for (int64_t r = 0; l->transpose && l->p->rows < k && r < count; r++)
            memset((char *)to + line * (size_t)r + each * (size_t)l->p->rows, 0, each * (size_t)(k - l->p->rows));
        if (l->transpose && l->p->precision == XLM_FLOAT32)
            transpose_floats(l, row + i, count, to);
        else if (l->transpose && l->rounded != NULL)
            transpose_rounded(l, row + i, count, to);
        else if (l->transpose)
            transpose_and_round(l, row + i, count, to);
        else if (l->p->precision == XLM_FLOAT32)
            memcpy(to, l->a + (row + i) * l->apart, line);
        else if (l->rounded != NULL)
            memcpy(to, l->rounded + (row + i) * l->apart, line);
        else
            xlm_kernels_get()->to_bfloat16(k, l->a + (row + i) * l->apart, to);
    }
    memset((char *)y + line * (size_t)rows, 0, line * (size_t)(padded - rows));
}

/* Compute into C, whose rows are n apart, through `copy`, whose rows have no gaps. */
static void execute_by_copy(const onednn_product *made, const void *a, const void *b, const float *bias, bool add, int64_t rows,
                            int64_t n, float *c, float *copy, void *scratch)
{
    const int64_t padded = made->m, cols = made->n;
    for (int64_t i = 0; add && i < padded; i++) {
        if (i < rows)
            memcpy(copy + i * cols, c + i * n, sizeof *c * (size_t)cols);
        else
            memset(copy + i * cols, 0, sizeof *c * (size_t)cols);
    }
    onednn_multiply(made, a, b, bias, copy, scratch);
    for (int64_t i = 0; i < rows; i++)
        memcpy(c + i * n, copy + i * cols, sizeof *c * (size_t)cols);
}

static int64_t min_rows(const xlm_packed_blocks *b) { return b->units / b->count * b->unit; }

/* A product divided into blocks. */
typedef struct blocks {
    const left *l;
    xlm_packed_blocks down;
    onednn_product *made[2][2]; /* [for a block with one unit more][for the last columns] */
    int64_t cols, across;       /* columns of a block, blocks */
    size_t stride;              /* bytes of B's blocks of columns */
    const float *bias;
    bool add;
    float *c;
} blocks;

/* Compute block (i, j) of C on the calling thread. */
static void multiply_block(const blocks *q, int64_t i, int64_t j)
{
    const left *l = q->l;
    const xlm_packed *p = l->p;
    const int64_t row = xlm_packed_block_start(&q->down, i), rows = xlm_packed_block_start(&q->down, i + 1) - row;
    const onednn_product *made = q->made[padded_rows(rows) > min_rows(&q->down)][j == q->across - 1];
    const int64_t padded = made->m, cols = made->n;
    const bool ready = p->precision == XLM_FLOAT32 || l->rounded != NULL;
    const bool copies = l->use != NULL || q->across > 1 || padded != rows;
    const bool direct = ready && !l->transpose && padded == rows && l->apart == p->k;
    const size_t a_bytes = direct ? 0 : aligned(xlm_packed_bytes(p->precision, padded, p->k));
    const size_t c_bytes = copies ? aligned(sizeof *q->c * (size_t)(padded * cols)) : 0;
    char *memory = take(a_bytes + c_bytes + made->scratch_bytes), *scratch = memory + a_bytes + c_bytes;
    const void *a = memory, *b = (const char *)p->bytes + q->stride * (size_t)j;
    if (direct)
        a = l->rounded != NULL ? (const void *)(l->rounded + row * p->k) : l->a + row * p->k;
    else
        take_rows(l, row, rows, padded, memory);
    if (l->sums != NULL && j == 0)
        packed_sum_rows(l, row, rows);
    if (l->transposed != NULL && j == 0)
        xlm_kernels_get()->transpose_bfloat16(rows, p->k, a, p->k, l->transposed + row, l->transposed_apart);
    const float *bias = q->bias != NULL ? q->bias + j * q->cols : NULL;
    float *copy = (float *)(void *)(memory + a_bytes);
    if (l->use != NULL) {
        onednn_multiply(made, a, b, bias, copy, scratch);
        l->use(l->data, row, rows, j * q->cols, cols, (xlm_real *)copy);
    } else if (copies) {
        execute_by_copy(made, a, b, bias, q->add, rows, p->n, q->c + row * p->n + j * q->cols, copy, scratch);
    } else {
        onednn_multiply(made, a, b, bias, q->c + row * p->n, scratch);
    }
}

xlm_packed_blocks packed_divide(int64_t m, int64_t k, int64_t across)
{
    enum { READING = 16 };    /* cost of a block, in rows, for reading the other matrix */
    enum { NUMBERS = 1 << 20 }; /* maximum number of elements of A in a block */
    const int64_t max_rows = CLAMP(NUMBERS / k / ROW_UNIT * ROW_UNIT, ROW_UNIT, MAX_ROWS);
    const int64_t units = padded_rows(m) / ROW_UNIT, fewest = (m + max_rows - 1) / max_rows, threads = threads_for();
    xlm_packed_blocks best = {.rows = m, .count = fewest, .unit = ROW_UNIT, .units = units};
    double min_work = INFINITY;
    for (int64_t count = MAX(fewest, 1); count <= MIN(units, fewest + threads); count++) {
        const double each = (double)units / (double)count * ROW_UNIT + READING;
        const double work = (double)((count * across + threads - 1) / threads) * each; /* of the busiest thread */
        if (work < min_work) {
            min_work = work;
            best.count = count;
        }
    }
    return best;
}

static void multiply_whole(const left *l, const float *bias, bool add, float *c)
{
    const xlm_packed *p = l->p;
    const int64_t cols = columns_of_block(p->n), across = (p->n + cols - 1) / cols;
    blocks q = {.l = l, .down = packed_divide(l->m, p->k, across), .cols = cols, .across = across,
                .stride = onednn_block_bytes(p, cols), .bias = bias, .add = add, .c = c};
    const bool uneven = q.down.units % q.down.count != 0;
    for (int i = 0; i < 4; i++)
        q.made[i / 2][i % 2] = onednn_find(p, min_rows(&q.down) + (i / 2 == 1 && uneven ? ROW_UNIT : 0),
                                           i % 2 == 0 ? cols : p->n - (across - 1) * cols, bias != NULL, add);
    const int threads = threads_for();
    /* Blocks of rows of one block of columns run one after another, while that part of B is in a cache. */
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < q.down.count * across; i++)
        multiply_block(&q, i % q.down.count, i / q.down.count);
    for (int i = 0; i < 4; i++)
        onednn_release(q.made[i / 2][i % 2]);
}

void packed_product(const left *l, const float *bias, bool add, float *c)
{
    const guint parts = packed_parts(l->p);
    if (parts == 0)
        multiply_whole(l, bias, add, c);
    for (guint i = 0; i < parts; i++) {
        const int64_t first = (int64_t)i * PART_OF_LONG, start = first * (l->transpose ? l->apart : 1);
        left part = *l;
        part.p = packed_part(l->p, i);
        part.a = l->a != NULL ? l->a + start : NULL;
        part.rounded = l->rounded != NULL ? l->rounded + start : NULL;
        part.transposed = l->transposed != NULL ? l->transposed + first * l->transposed_apart : NULL;
        part.sums = l->sums != NULL ? l->sums + first : NULL;
        multiply_whole(&part, i == 0 ? bias : NULL, i > 0 || add, c);
    }
}

#endif
