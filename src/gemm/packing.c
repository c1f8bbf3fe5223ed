/* xlm-mpi: matrices brought into the order in which oneDNN's products read them. SPDX-License-Identifier: GPL-3.0-or-later */
#include "gemm/onednn.h"

#if WITH_ONEDNN

#include <glib.h>
#include <stdatomic.h>
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/processor.h"

/* oneDNN reorders blocks of columns itself. */
static void pack_by_library(const xlm_packed *p, size_t stride, int64_t cols, const right *r)
{
    const int threads = threads_for();
    right whole = *r;
    void *copy = NULL;
    if (r->rows < p->k) {
        const size_t row = (r->rounded != NULL ? sizeof *r->rounded : sizeof *r->b) * (size_t)p->n;
        copy = g_malloc0(row * (size_t)p->k);
        for (int64_t i = 0; i < r->rows; i++)
            memcpy((char *)copy + row * (size_t)i, r->rounded != NULL ? (const void *)(r->rounded + i * r->apart)
                                                                      : (const void *)(r->b + i * r->apart), row);
        whole = (right){.b = copy, .rounded = r->rounded != NULL ? copy : NULL, .apart = p->n, .rows = p->k};
    }
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int64_t j = 0; j < p->n; j += cols)
        onednn_pack(p, MIN(cols, p->n - j), &whole, j, (char *)p->bytes + stride * (size_t)(j / cols));
    g_free(copy);
}

/* The usual orders: panels of `width` columns. In float32 the rows of a panel follow one another; in bfloat16 rows are
 * interleaved in pairs, so that two elements of a column are side by side. Columns and rows are padded with zeros, as oneDNN
 * requires, although its products do not seem to read them. oneDNN itself takes twice as long for this. */
typedef struct panels {
    const float *b;
    const bfloat16 *rounded; /* NULL: b */
    bool floats;             /* in float32 */
    int64_t apart;
    int64_t rows, n, depth; /* of b; depth: rows including the rows of zeros */
    int64_t cols, width; /* of a block, of a panel */
    size_t stride;       /* bytes of a block */
    char *to;
} panels;

enum { DEPTH_UNIT = 2 * PANEL_DEPTH, PANEL = PANEL_COLUMNS };

static char *start_of_block(const panels *p, int64_t column) { return p->to + p->stride * (size_t)(column / p->cols); }

/* The panel that begins at this column, from this row on. */
static void *panel_of(const panels *p, int64_t column, int64_t row)
{
    const size_t number = p->floats ? sizeof(float) : sizeof(bfloat16);
    return start_of_block(p, column) + number * (size_t)(column % p->cols * p->depth + row * p->width);
}

/* Number of columns of b in the panel that begins at this column; the others of its width are zeros. */
static int64_t columns_of_panel(const panels *p, int64_t column)
{
    return MIN(p->width, MIN(p->n, (column / p->cols + 1) * p->cols) - column);
}

/* Pack rows row … row + DEPTH_UNIT of all columns, in float32. */
static void pack_float_rows(const panels *p, int64_t row)
{
    for (int64_t i = row; i < MIN(p->depth, row + DEPTH_UNIT); i++)
        for (int64_t j = 0; j < p->n; j += p->width) {
            const int64_t cols = i < p->rows ? columns_of_panel(p, j) : 0;
            float *to = panel_of(p, j, i);
            memcpy(to, p->b + i * p->apart + j, sizeof *to * (size_t)cols);
            memset(to + cols, 0, sizeof *to * (size_t)(p->width - cols));
        }
}

/* Pack rows row … row + DEPTH_UNIT of all columns, two rows at a time, so that b is read in order. */
static void pack_rows(const panels *p, int64_t row)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    for (int64_t i = row; i < row + DEPTH_UNIT; i += 2)
        for (int64_t j = 0; j < p->n; j += p->width) {
            const int64_t cols = columns_of_panel(p, j), at = i * p->apart + j;
            bfloat16 *to = panel_of(p, j, i);
            const bool both = i + 1 < p->rows;
            if (cols < p->width || i >= p->rows)
                memset(to, 0, sizeof *to * (size_t)(2 * p->width));
            if (i >= p->rows)
                continue;
            if (p->rounded != NULL)
                kernel->bfloat16_pairs(cols, p->rounded + at, both ? p->rounded + at + p->apart : NULL, to, false);
            else
                kernel->to_bfloat16_pairs(cols, p->b + at, both ? p->b + at + p->apart : NULL, to);
        }
}

/* Rows of b are packed in both directions, a part of each row at a time: this many numbers in float32 and in bfloat16. Both are
 * multiples of a panel's width, and divide PART_OF_LONG. */
enum { PART_FLOATS = 512, PART_ROUNDED = 128 };

/* Numbers in a word of 4 bytes: one in float32, two in bfloat16. */
static int64_t numbers_of_word(const panels *p) { return p->floats ? 1 : 2; }

typedef struct part {
    const float *words;
    int64_t apart; /* from row to row */
} part;

/* Round `rows` rows of b from `at` on, `there` numbers of each, and pad them with zeros. Such parts of rows lie pages apart, so
 * the processor cannot predict the next one; it is prefetched from `next` on, which need not be a valid address. */
static part round_part(const panels *p, const float *at, int64_t there, int64_t rows, const float *next, bfloat16 *memory)
{
    for (int64_t j = 0; j < rows; j++) {
        bfloat16 *row = memory + j * PART_ROUNDED;
        for (int64_t i = 0; i < PART_ROUNDED; i += LINE / (int64_t)sizeof *next)
            xlm_processor_fetch(next + j * p->apart + i);
        xlm_kernels_get()->to_bfloat16(there, at + j * p->apart, row);
        memset(row + there, 0, sizeof *row * (size_t)(PART_ROUNDED - there));
    }
    return (part){.words = (const float *)(const void *)memory, .apart = PART_ROUNDED / 2};
}

/* Pack the first `there` rows of `from` as rows of p from `start` on, in columns column … column + cols. Only the backward pass
 * reads them. */
static void place_rows(const panels *p, int64_t start, int64_t there, int64_t column, int64_t cols, const part *from)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t numbers = numbers_of_word(p);
    for (int64_t i = 0; i < MIN(PANEL, p->depth - start); i += numbers)
        for (int64_t j = 0; j < cols; j += p->width) {
            const int64_t n = MIN(p->width, cols - j);
            void *to = panel_of(p, column + j, start + i);
            if (n < p->width || i >= there)
                memset(to, 0, sizeof(float) * (size_t)p->width);
            if (i >= there)
                continue;
            const float *row = from->words + i * from->apart;
            const bfloat16 *one = (const bfloat16 *)(const void *)row, *two = (const bfloat16 *)(const void *)(row + from->apart);
            if (p->floats)
                kernel->copy_past(n, (const xlm_real *)row + j, to);
            else
                kernel->bfloat16_pairs(n, one + j, i + 1 < there ? two + j : NULL, to, true);
        }
}

/* Pack the panel that begins at this column; each of its columns is a row of b. straight: NULL, or where the same rows of b are
 * also packed as rows, from `start` on. */
static void pack_columns(const panels *p, int64_t column, const panels *straight, int64_t start)
{
    const int64_t cols = columns_of_panel(p, column), numbers = numbers_of_word(p), step = p->floats ? PART_FLOATS : PART_ROUNDED;
    _Alignas(LINE) bfloat16 memory[PANEL * PART_ROUNDED];
    if (cols < p->width || (p->floats && p->rows < p->depth))
        memset(panel_of(p, column, 0), 0, sizeof(float) * (size_t)(p->depth / numbers * p->width));
    for (int64_t row = 0; row < p->depth; row += step) {
        const int64_t rows = MIN(step, p->depth - row), there = MAX(0, MIN(rows, p->rows - row));
        const bool more = row + step < p->rows;
        const float *b = p->b + column * p->apart + row, *next = more ? b + step : p->b + (column + cols) * p->apart;
        const part from = p->floats ? (part){.words = b, .apart = p->apart} : round_part(p, b, there, cols, next, memory);
        xlm_kernels_get()->transpose(cols, p->floats ? there : rows / numbers, (const xlm_real *)from.words, from.apart,
                                     panel_of(p, column, row), p->width);
        if (straight != NULL)
            place_rows(straight, column - start, cols, row, there, &from);
    }
}

/* Make room for r in p, which must not be long. width: 0 if oneDNN's order is not a usual one. */
static panels prepare(xlm_packed *p, const right *r)
{
    const int64_t cols = columns_of_block(p->n), blocks = (p->n + cols - 1) / cols, last = p->n - (blocks - 1) * cols;
    const size_t stride = onednn_block_bytes(p, cols);
    packed_room(p, stride * (size_t)(blocks - 1) + onednn_block_bytes(p, last));
    onednn_product *whole = onednn_find(p, MAX_ROWS, cols, false, false);
    onednn_product *rest = onednn_find(p, MAX_ROWS, last, false, false);
    panels q = {.b = r->b, .rounded = r->rounded, .floats = p->precision == XLM_FLOAT32, .apart = r->apart, .rows = r->rows,
                .n = p->n, .depth = whole->depth, .cols = cols, .width = whole->panel_width, .stride = stride,
                .to = p->bytes};
    if (q.width != 0 && (q.width != rest->panel_width || (blocks > 1 && cols % q.width != 0)))
        q.width = 0;
    onednn_release(whole);
    onednn_release(rest);
    return q;
}

static void pack_whole(xlm_packed *p, const right *r)
{
    const panels q = prepare(p, r);
    const int threads = threads_for();
    if (q.width == 0) {
        pack_by_library(p, q.stride, q.cols, r);
    } else if (r->transpose) {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t j = 0; j < q.n; j += q.width)
            pack_columns(&q, j, NULL, 0);
    } else {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t i = 0; i < q.depth; i += DEPTH_UNIT) {
            if (q.floats)
                pack_float_rows(&q, i);
            else
                pack_rows(&q, i);
        }
    }
}

guint packed_parts(const xlm_packed *p)
{
    return p->k > LONG ? (guint)((p->k + PART_OF_LONG - 1) / PART_OF_LONG) : 0;
}

static void describe_part(const xlm_packed *p, guint i, xlm_packed *each)
{
    each->precision = p->precision;
    each->k = MIN(PART_OF_LONG, p->k - (int64_t)i * PART_OF_LONG);
    each->rows = CLAMP(p->rows - (int64_t)i * PART_OF_LONG, 0, each->k);
    each->n = p->n;
}

static void set_parts(xlm_packed *p, guint parts)
{
    if (p->parts == NULL)
        p->parts = g_ptr_array_new_with_free_func((GDestroyNotify)xlm_packed_free);
    const guint before = p->parts->len;
    g_ptr_array_set_size(p->parts, (gint)parts);
    for (guint i = before; i < parts; i++)
        p->parts->pdata[i] = xlm_packed_new();
}

/* The parts of a long matrix, and the part of r that is in each. */
static void divide(xlm_packed *p)
{
    set_parts(p, packed_parts(p));
    for (guint i = 0; i < p->parts->len; i++)
        describe_part(p, i, p->parts->pdata[i]);
}

static right rows_of_part(const xlm_packed *each, guint i, const right *r)
{
    const int64_t first = (int64_t)i * PART_OF_LONG, start = first * (r->transpose ? 1 : r->apart);
    return (right){.b = r->b != NULL ? r->b + start : NULL, .rounded = r->rounded != NULL ? r->rounded + start : NULL,
                   .transpose = r->transpose, .apart = r->apart, .rows = MAX(0, MIN(each->k, r->rows - first))};
}

void packed_pack(xlm_packed *p, const right *r)
{
    divide(p);
    if (p->parts->len == 0)
        pack_whole(p, r);
    for (guint i = 0; i < p->parts->len; i++) {
        const right of_part = rows_of_part(p->parts->pdata[i], i, r);
        pack_whole(p->parts->pdata[i], &of_part);
    }
}

void packed_borrow(xlm_packed *p, const xlm_real *b)
{
    set_parts(p, 1);
    p->unpacked = b;
}

const xlm_packed *packed_part(const xlm_packed *p, guint i)
{
    if (p->unpacked == NULL)
        return p->parts->pdata[i];
    const right whole = {.b = p->unpacked, .apart = p->n, .rows = p->k};
    xlm_packed *each = p->parts->pdata[0];
    describe_part(p, i, each);
    const right of_part = rows_of_part(each, i, &whole);
    pack_whole(each, &of_part);
    return each;
}

void packed_pack_both(xlm_packed *transposed, xlm_packed *straight, const xlm_real *b)
{
    const right columns = {.b = b, .transpose = true, .apart = transposed->k, .rows = transposed->k};
    const right rows = {.b = b, .apart = straight->n, .rows = straight->k};
    divide(transposed);
    divide(straight);
    const guint parts = MAX(1, straight->parts->len);
    const panels to = transposed->parts->len == 0 ? prepare(transposed, &columns) : (panels){.width = 0};
    panels *part_of = g_new(panels, parts);
    bool usual = to.width == PANEL;
    for (guint i = 0; i < parts; i++) {
        const right of_part = straight->parts->len > 0 ? rows_of_part(straight->parts->pdata[i], i, &rows) : rows;
        part_of[i] = prepare(straight->parts->len > 0 ? straight->parts->pdata[i] : straight, &of_part);
        usual = usual && part_of[i].width > 0 && PART_ROUNDED % part_of[i].width == 0;
    }
    if (usual) {
        const int64_t rows_of_each = straight->parts->len > 0 ? PART_OF_LONG : straight->k;
        const int threads = threads_for();
#pragma omp parallel num_threads(threads)
        {
#pragma omp for schedule(static) nowait
            for (int64_t j = 0; j < to.n; j += PANEL)
                pack_columns(&to, j, &part_of[j / rows_of_each], j / rows_of_each * rows_of_each);
            atomic_thread_fence(memory_order_seq_cst); /* no weaker fence waits for stores that bypass the caches */
        }
    } else {
        packed_pack(transposed, &columns);
        packed_pack(straight, &rows);
    }
    g_free(part_of);
}

#endif
