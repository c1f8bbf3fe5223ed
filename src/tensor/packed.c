/* xlm-mpi: products with a matrix that is packed beforehand, by oneDNN. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/packed.h"

#include <glib.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/bfloat16.h"
#include "tensor/gemm.h"
#include "tensor/kernels.h"
#include "tensor/kernels/processor.h"

#if defined HAVE_ONEDNN && !defined XLM_DOUBLE
#define WITH_ONEDNN 1
#include <dnnl.h>
#else
#define WITH_ONEDNN 0
#endif

typedef uint16_t bfloat16;

const char *const xlm_precision_names[XLM_PRECISIONS] = {"float32", "bfloat16"};

struct xlm_packed {
    xlm_precision precision;
    int64_t k, n;
    void *bytes; /* blocks of columns, one behind the other; emulated: B as it was, floats that were rounded */
    size_t room; /* there are at it */
    GPtrArray *parts; /* xlm_packed: of a long B, PART rows each, the last one fewer; NULL or empty: B is whole */
    bool emulated, transpose;
};

static bool emulates(xlm_precision precision)
{
    return precision == XLM_BFLOAT16 && g_strcmp0(g_getenv("XLM_BF16_EMULATE"), "1") == 0;
}

const char *xlm_packed_lacks(xlm_precision precision)
{
    if (sizeof(xlm_real) != sizeof(float))
        return "the program computes in doubles";
    if (emulates(precision))
        return NULL;
    if (!WITH_ONEDNN)
        return "the program was built without oneDNN (Debian/Ubuntu: libdnnl-dev)";
    if (!xlm_processor_has_avx512())
        return "this processor has no AVX-512";
    if (precision == XLM_BFLOAT16 && !xlm_processor_has_bfloat16())
        return "this processor has no instructions for bfloat16 (AVX512_BF16 or AMX)";
    return NULL;
}

xlm_packed *xlm_packed_new(void) { return g_new0(xlm_packed, 1); }

static void make_room(xlm_packed *p, size_t bytes)
{
    enum { LINE = 64 };
    if (p->room >= bytes)
        return;
    free(p->bytes);
    p->room = (bytes + LINE - 1) / LINE * LINE;
    p->bytes = aligned_alloc(LINE, p->room);
    if (p->bytes == NULL)
        g_error("no memory for a packed matrix: %zu bytes", p->room);
}

uint64_t xlm_packed_bytes(xlm_precision precision, int64_t k, int64_t n)
{
    return (precision == XLM_BFLOAT16 ? sizeof(bfloat16) : sizeof(float)) * (uint64_t)k * (uint64_t)n;
}

/* op(A), with what is asked of it. */
typedef struct left {
    const xlm_packed *p;
    int64_t m;
    bool transpose;
    const xlm_real *a;       /* NULL: rounded */
    const bfloat16 *rounded;
    int64_t apart;           /* from row to row of A */
} left;

/* ---- without oneDNN, for tests ---- */

static void rounded(int64_t n, const xlm_real *x, float *y)
{
    enum { PART = 256 };
    bfloat16 part[PART];
    for (int64_t i = 0; i < n; i += PART) {
        const int64_t end = MIN(n, i + PART);
        xlm_kernels_get()->to_bfloat16(end - i, x + i, part);
        for (int64_t j = i; j < end; j++) {
            const uint32_t bits = (uint32_t)part[j - i] << 16;
            memcpy(&y[j], &bits, sizeof bits);
        }
    }
}

static void widened(int64_t n, const bfloat16 *x, float *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = xlm_bfloat16_value(x[i]);
}

static void emulate(const left *l, const xlm_real *bias, bool add, xlm_real *c)
{
#ifndef XLM_DOUBLE
    const xlm_packed *p = l->p;
    const int64_t m = l->m;
    const bool transpose = l->transpose;
    float *copy = g_new(float, m * p->k);
    if (l->a != NULL)
        rounded(m * p->k, l->a, copy);
    else
        widened(m * p->k, l->rounded, copy);
    for (int64_t i = 0; bias != NULL && i < m; i++)
        memcpy(c + i * p->n, bias, sizeof *c * (size_t)p->n);
    xlm_gemm(transpose, p->transpose, m, p->n, p->k, 1, copy, transpose ? m : p->k, p->bytes, p->transpose ? p->k : p->n,
             bias != NULL || add, c, p->n);
    g_free(copy);
#else
    (void)l, (void)bias, (void)add, (void)c;
#endif
}

#if WITH_ONEDNN

/* C is cut into blocks of so many rows, which the threads share out. What oneDNN does for a row must not depend on how many there
 * are: its kernels for batch-reduced products ("brg") add up alike for any number of them, its others do not, and are refused.
 * They want matrices without gaps, so rows are rounded, transposed or copied into memory of the thread, and the last ones filled
 * up to a multiple of ROW_UNIT: oneDNN makes code for each shape (0.3 ms), which is kept. Many columns, those of a vocabulary,
 * are cut too. */
enum {
    ROWS = 128,     /* of a block */
    LONG = 1 << 14, /* more rows of B */
    PART = 2048,    /* are multiplied by so many at a time, which stay in a cache for all rows of A, */
    ROWS_OF_PART = 64,
    ROW_UNIT = 16,
    MOST_COLUMNS = 4096, /* more are cut */
    COLUMNS = 2048,      /* into blocks of so many */
    MOST_SHAPES = 1024,
    LINE = 64
};

typedef struct shape {
    int64_t m, n, k;
    int32_t precision, bias, add, unused;
} shape;

typedef struct compiled {
    dnnl_primitive_t primitive;
    dnnl_memory_desc_t a, b, c, bias, scratch;
    size_t scratch_bytes;
} compiled;

static struct {
    GMutex lock;
    dnnl_engine_t engine;
    GHashTable *shapes; /* shape -> compiled */
} library;

/* oneDNN refuses nothing that we ask for but for want of memory. */
static void insist(dnnl_status_t status, const char *what)
{
    if (status != dnnl_success)
        g_error("oneDNN: %s: status %d%s", what, (int)status, status == dnnl_out_of_memory ? ", out of memory" : "");
}

static guint hash_shape(gconstpointer key)
{
    const unsigned char *bytes = key;
    guint hash = 5381;
    for (size_t i = 0; i < sizeof(shape); i++)
        hash = hash * 33 + bytes[i];
    return hash;
}

static gboolean equal_shapes(gconstpointer a, gconstpointer b) { return memcmp(a, b, sizeof(shape)) == 0; }

static void clear_compiled(gpointer pointer) { dnnl_primitive_destroy(((compiled *)pointer)->primitive); }
static void free_compiled(gpointer pointer) { g_atomic_rc_box_release_full(pointer, clear_compiled); }

static dnnl_memory_desc_t describe(int64_t rows, int64_t cols, xlm_precision precision, dnnl_format_tag_t order)
{
    dnnl_memory_desc_t description;
    const dnnl_dims_t dims = {rows, cols};
    insist(dnnl_memory_desc_init_by_tag(&description, 2, dims, precision == XLM_BFLOAT16 ? dnnl_bf16 : dnnl_f32, order),
           "a matrix");
    return description;
}

/* Several threads run one primitive at a time, so memory for what it does is the caller's. */
static dnnl_primitive_attr_t make_attributes(bool add)
{
    dnnl_primitive_attr_t attributes;
    insist(dnnl_primitive_attr_create(&attributes), "attributes");
    insist(dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user), "scratch memory");
    if (add) {
        dnnl_post_ops_t after;
        insist(dnnl_post_ops_create(&after), "a sum");
        insist(dnnl_post_ops_append_sum(after, 1), "a sum");
        insist(dnnl_primitive_attr_set_post_ops(attributes, after), "a sum");
        dnnl_post_ops_destroy(after);
    }
    return attributes;
}

static compiled *compile(const shape *s)
{
    compiled *c = g_atomic_rc_box_new0(compiled);
    const xlm_precision precision = (xlm_precision)s->precision;
    c->a = describe(s->m, s->k, precision, dnnl_ab);
    c->b = describe(s->k, s->n, precision, dnnl_format_tag_any);
    c->c = describe(s->m, s->n, XLM_FLOAT32, dnnl_ab);
    c->bias = describe(1, s->n, XLM_FLOAT32, dnnl_ab);
    dnnl_matmul_desc_t operation;
    insist(dnnl_matmul_desc_init(&operation, &c->a, &c->b, s->bias ? &c->bias : NULL, &c->c), "a product");
    dnnl_primitive_attr_t attributes = make_attributes(s->add);
    dnnl_primitive_desc_t description;
    insist(dnnl_primitive_desc_create(&description, &operation, attributes, library.engine, NULL),
           "the description of a product");
    dnnl_primitive_attr_destroy(attributes);
    const char *kind = NULL;
    insist(dnnl_primitive_desc_query(description, dnnl_query_impl_info_str, 0, &kind), "the kind of a product");
    if (!g_str_has_prefix(kind, "brg"))
        g_error("oneDNN: %s instead of brg for %d x %d x %d", kind, (int)s->m, (int)s->n, (int)s->k);
    c->b = *dnnl_primitive_desc_query_md(description, dnnl_query_weights_md, 0);
    c->scratch = *dnnl_primitive_desc_query_md(description, dnnl_query_scratchpad_md, 0);
    c->scratch_bytes = dnnl_memory_desc_get_size(&c->scratch);
    insist(dnnl_primitive_create(&c->primitive, description), "the code of a product");
    dnnl_primitive_desc_destroy(description);
    return c;
}

/* What was compiled for a shape; to be released. oneDNN divides its work by the number of threads that there are when it
 * compiles. */
static compiled *find(const shape *s)
{
    g_mutex_lock(&library.lock);
    if (library.shapes == NULL) {
        insist(dnnl_engine_create(&library.engine, dnnl_cpu, 0), "the engine");
        library.shapes = g_hash_table_new_full(hash_shape, equal_shapes, g_free, free_compiled);
    }
    compiled *c = g_hash_table_lookup(library.shapes, s);
    if (c == NULL) {
        if (g_hash_table_size(library.shapes) >= MOST_SHAPES)
            g_hash_table_remove_all(library.shapes);
        const int threads = omp_get_max_threads();
        omp_set_num_threads(1);
        c = compile(s);
        omp_set_num_threads(threads);
        g_hash_table_insert(library.shapes, g_memdup2(s, sizeof *s), c);
    }
    g_atomic_rc_box_acquire(c);
    g_mutex_unlock(&library.lock);
    return c;
}

static compiled *find_block(const xlm_packed *p, int64_t rows, int64_t cols, bool bias, bool add)
{
    shape s;
    memset(&s, 0, sizeof s); /* as a key, by its bytes */
    s.m = rows;
    s.n = cols;
    s.k = p->k;
    s.precision = p->precision;
    s.bias = bias;
    s.add = add;
    return find(&s);
}

static dnnl_memory_t wrap(const dnnl_memory_desc_t *description, const void *bytes)
{
    dnnl_memory_t memory;
    insist(dnnl_memory_create(&memory, description, library.engine, (void *)bytes), "memory");
    return memory;
}

static void run(dnnl_primitive_t primitive, int n, const dnnl_exec_arg_t *arguments)
{
    dnnl_stream_t stream;
    insist(dnnl_stream_create(&stream, library.engine, dnnl_stream_default_flags), "a stream");
    insist(dnnl_primitive_execute(primitive, stream, n, arguments), "a product");
    insist(dnnl_stream_wait(stream), "a product");
    for (int i = 0; i < n; i++)
        dnnl_memory_destroy(arguments[i].memory);
    dnnl_stream_destroy(stream);
}

/* ---- how a product is cut ---- */

/* Columns of each block but the last. */
static int64_t columns_of_block(int64_t n) { return n > MOST_COLUMNS ? COLUMNS : n; }
static int64_t padded_rows(int64_t rows) { return (rows + ROW_UNIT - 1) / ROW_UNIT * ROW_UNIT; }
static size_t aligned(size_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }
/* Of a block of so many columns: what oneDNN asks for, k and n rounded up to its tiles. */
static size_t bytes_of_block(const xlm_packed *p, int64_t cols)
{
    compiled *c = find_block(p, ROWS, cols, false, false);
    const size_t bytes = aligned(dnnl_memory_desc_get_size(&c->b));
    free_compiled(c);
    return bytes;
}

static int threads_for(void) { return omp_in_parallel() ? 1 : omp_get_max_threads(); }

/* What is packed: floats, or when b is NULL numbers that are rounded, row-major. */
typedef struct right {
    const float *b;
    const bfloat16 *rounded;
    bool transpose;
    int64_t apart; /* from row to row */
} right;

static void pack_block(const xlm_packed *p, int64_t cols, const right *r, int64_t first, void *packed)
{
    compiled *c = find_block(p, ROWS, cols, false, false);
    dnnl_memory_desc_t from;
    const dnnl_dims_t dims = {p->k, cols}, strides = {r->transpose ? 1 : r->apart, r->transpose ? r->apart : 1};
    const int64_t start = first * (r->transpose ? r->apart : 1);
    const void *b = r->b != NULL ? (const void *)(r->b + start) : r->rounded + start;
    const dnnl_data_type_t type = r->b != NULL ? dnnl_f32 : dnnl_bf16;
    insist(dnnl_memory_desc_init_by_strides(&from, 2, dims, type, strides), "a matrix");
    dnnl_primitive_desc_t description;
    dnnl_primitive_t primitive;
    const int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    insist(dnnl_reorder_primitive_desc_create(&description, &from, library.engine, &c->b, library.engine, NULL),
           "the description of packing");
    insist(dnnl_primitive_create(&primitive, description), "the code of packing"); /* which oneDNN keeps */
    omp_set_num_threads(threads);
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, wrap(&from, b)}, {DNNL_ARG_TO, wrap(&c->b, packed)}};
    run(primitive, G_N_ELEMENTS(arguments), arguments);
    dnnl_primitive_destroy(primitive);
    dnnl_primitive_desc_destroy(description);
    free_compiled(c);
}

/* Blocks of columns in the order that oneDNN asks for, by oneDNN. */
static void pack_by_library(const xlm_packed *p, size_t stride, int64_t cols, const right *r)
{
    const int threads = threads_for();
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int64_t j = 0; j < p->n; j += cols)
        pack_block(p, MIN(cols, p->n - j), r, j, (char *)p->bytes + stride * (size_t)(j / cols));
}

/* The usual order in bfloat16: panels of `width` columns, in a panel rows two by two, of which the elements of a column stand
 * side by side; columns and rows filled up with zeros. oneDNN takes twice as long to make it. */
typedef struct panels {
    const float *b;
    const bfloat16 *rounded; /* where b is NULL */
    int64_t apart;
    int64_t k, n, depth; /* depth: k rounded up */
    int64_t cols, width; /* of a block, of a panel */
    size_t stride;       /* bytes of a block */
    char *to;
} panels;

enum { DEPTH_UNIT = 16 * 2, PANEL = 64 /* columns of a panel at most */, PART_OF_K = 128 };

/* Zero when the order is another. */
static int64_t width_of_panels(const dnnl_memory_desc_t *d)
{
    const dnnl_blocking_desc_t *order = &d->format_desc.blocking;
    const int64_t width = order->inner_nblks == 3 ? order->inner_blks[1] : 0;
    const bool usual = d->format_kind == dnnl_blocked && d->extra.flags == 0 && width > 0 && width <= PANEL &&
                       order->inner_blks[0] == DEPTH_UNIT / 2 && order->inner_blks[2] == 2 && order->inner_idxs[0] == 0 &&
                       order->inner_idxs[1] == 1 && order->inner_idxs[2] == 0 && d->padded_dims[0] % DEPTH_UNIT == 0 &&
                       order->strides[0] == DEPTH_UNIT * width && order->strides[1] == d->padded_dims[0] * width;
    return usual ? width : 0;
}

static bfloat16 *panel_of(const panels *p, int64_t column)
{
    char *block = p->to + p->stride * (size_t)(column / p->cols);
    return (bfloat16 *)(void *)block + column % p->cols * p->depth;
}

/* Rows row … row + DEPTH_UNIT of all columns. */
static void pack_rows(const panels *p, int64_t row)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    for (int64_t j = 0; j < p->n; j += p->width) {
        const int64_t cols = MIN(p->width, MIN(p->n, (j / p->cols + 1) * p->cols) - j);
        bfloat16 *panel = panel_of(p, j) + row * p->width;
        if (cols < p->width || row + DEPTH_UNIT > p->k)
            memset(panel, 0, sizeof *panel * (size_t)(DEPTH_UNIT * p->width));
        for (int64_t i = row; p->b == NULL && i < MIN(row + DEPTH_UNIT, p->k); i += 2)
            kernel->bfloat16_pairs(cols, p->rounded + i * p->apart + j,
                                   i + 1 < p->k ? p->rounded + (i + 1) * p->apart + j : NULL,
                                   panel + (i - row) * p->width);
        for (int64_t i = row; p->b != NULL && i < MIN(row + DEPTH_UNIT, p->k); i += 2)
            kernel->to_bfloat16_pairs(cols, p->b + i * p->apart + j, i + 1 < p->k ? p->b + (i + 1) * p->apart + j : NULL,
                                      panel + (i - row) * p->width);
    }
}

/* The panel from this column on, a row of b each column. Pairs are moved as floats. */
static void pack_columns(const panels *p, int64_t column)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t cols = MIN(p->width, MIN(p->n, (column / p->cols + 1) * p->cols) - column);
    bfloat16 *panel = panel_of(p, column);
    float part[PANEL * PART_OF_K / 2];
    if (cols < p->width)
        memset(panel, 0, sizeof *panel * (size_t)(p->depth * p->width));
    for (int64_t row = 0; row < p->depth; row += PART_OF_K) {
        const int64_t rows = MIN(PART_OF_K, p->depth - row), there = MIN(rows, p->k - row);
        for (int64_t j = 0; j < cols; j++) {
            bfloat16 *to = (bfloat16 *)(void *)part + j * PART_OF_K;
            kernel->to_bfloat16(there, p->b + (column + j) * p->apart + row, to);
            memset(to + there, 0, sizeof *to * (size_t)(rows - there));
        }
        kernel->transpose(cols, rows / 2, (const xlm_real *)part, PART_OF_K / 2, (xlm_real *)(void *)(panel + row * p->width),
                          p->width);
    }
}

static void pack_whole(xlm_packed *p, const right *r)
{
    const int64_t cols = columns_of_block(p->n), blocks = (p->n + cols - 1) / cols, last = p->n - (blocks - 1) * cols;
    const size_t stride = bytes_of_block(p, cols);
    make_room(p, stride * (size_t)(blocks - 1) + bytes_of_block(p, last));
    compiled *whole = find_block(p, ROWS, cols, false, false);
    compiled *rest = find_block(p, ROWS, last, false, false);
    const panels q = {.b = r->b, .rounded = r->rounded, .apart = r->apart, .k = p->k, .n = p->n,
                      .depth = whole->b.padded_dims[0], .cols = cols,
                      .width = p->precision == XLM_BFLOAT16 ? width_of_panels(&whole->b) : 0, .stride = stride, .to = p->bytes};
    const int threads = threads_for();
    if (q.width == 0 || q.width != width_of_panels(&rest->b) || (blocks > 1 && cols % q.width != 0)) {
        pack_by_library(p, stride, cols, r);
    } else if (r->transpose) {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t j = 0; j < q.n; j += q.width)
            pack_columns(&q, j);
    } else {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t i = 0; i < q.depth; i += DEPTH_UNIT)
            pack_rows(&q, i);
    }
    free_compiled(whole);
    free_compiled(rest);
}

static void pack(xlm_packed *p, const right *r)
{
    if (p->parts == NULL)
        p->parts = g_ptr_array_new_with_free_func((GDestroyNotify)xlm_packed_free);
    const guint parts = p->k > LONG ? (guint)((p->k + PART - 1) / PART) : 0, before = p->parts->len;
    g_ptr_array_set_size(p->parts, (gint)parts);
    if (parts == 0) {
        pack_whole(p, r);
        return;
    }
    for (guint i = 0; i < parts; i++) {
        if (i >= before)
            p->parts->pdata[i] = xlm_packed_new();
        xlm_packed *part = p->parts->pdata[i];
        const int64_t first = (int64_t)i * PART;
        part->precision = p->precision;
        part->k = MIN(PART, p->k - first);
        part->n = p->n;
        const int64_t start = first * (r->transpose ? 1 : r->apart);
        pack_whole(part, &(right){.b = r->b != NULL ? r->b + start : NULL,
                                  .rounded = r->rounded != NULL ? r->rounded + start : NULL,
                                  .transpose = r->transpose, .apart = r->apart});
    }
}

/* ---- multiplying ---- */

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
            g_error("no memory for a matrix product: %zu bytes", w->size);
    }
    return w->bytes;
}

/* The same of numbers that are rounded, two rows of A at a time: their elements side by side are transposed, as floats. */
static void transpose_rounded(const left *l, int64_t row, int64_t rows, bfloat16 *y)
{
    enum { DEPTH = 64 };
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t k = l->p->k;
    float part[DEPTH / 2 * ROWS], turned[ROWS * DEPTH / 2];
    for (int64_t j = 0; j < k; j += DEPTH) {
        const int64_t depth = MIN(DEPTH, k - j);
        for (int64_t i = 0; i < depth; i += 2) {
            const bfloat16 *a = l->rounded + (j + i) * l->apart + row;
            kernel->bfloat16_pairs(rows, a, i + 1 < depth ? a + l->apart : NULL, (bfloat16 *)(void *)(part + i / 2 * ROWS));
        }
        kernel->transpose((depth + 1) / 2, rows, (const xlm_real *)part, ROWS, (xlm_real *)turned, DEPTH / 2);
        for (int64_t i = 0; i < rows; i++)
            memcpy(y + i * k + j, turned + i * (DEPTH / 2), sizeof *y * (size_t)depth);
    }
}

/* y = rows row … row + rows of op(A) as bfloat16, and zeros below them up to `padded`. A is transposed a part at a time, which
 * stays in the first-level cache; a row of it fills a line of y. */
static void round_rows(const left *l, int64_t row, int64_t rows, int64_t padded, bfloat16 *y)
{
    enum { COLS = 32 };
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t k = l->p->k;
    if (l->a == NULL && l->transpose) {
        transpose_rounded(l, row, rows, y);
    } else if (l->a == NULL) {
        for (int64_t i = 0; i < rows; i++)
            memcpy(y + i * k, l->rounded + (row + i) * l->apart, sizeof *y * (size_t)k);
    } else if (!l->transpose) {
        for (int64_t i = 0; i < rows; i++)
            kernel->to_bfloat16(k, l->a + (row + i) * l->apart, y + i * k);
    } else {
        xlm_real part[ROWS * COLS]; /* [rows x COLS] */
        for (int64_t j = 0; j < k; j += COLS) {
            const int64_t cols = MIN(COLS, k - j);
            kernel->transpose(cols, rows, l->a + j * l->apart + row, l->apart, part, COLS);
            for (int64_t i = 0; i < rows; i++)
                kernel->to_bfloat16(cols, part + i * COLS, y + i * k + j);
        }
    }
    memset(y + rows * k, 0, sizeof *y * (size_t)((padded - rows) * k));
}

static void copy_rows(const left *l, int64_t row, int64_t rows, int64_t padded, float *y)
{
    const int64_t k = l->p->k;
    if (l->transpose)
        xlm_kernels_get()->transpose(k, rows, (const xlm_real *)(l->a + row), l->apart, (xlm_real *)y, k);
    for (int64_t i = 0; !l->transpose && i < rows; i++)
        memcpy(y + i * k, l->a + (row + i) * l->apart, sizeof *y * (size_t)k);
    memset(y + rows * k, 0, sizeof *y * (size_t)((padded - rows) * k));
}

static void execute(const compiled *c, const void *a, const void *b, const float *bias, float *out, void *scratch)
{
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, wrap(&c->a, a)},
                                         {DNNL_ARG_WEIGHTS, wrap(&c->b, b)},
                                         {DNNL_ARG_DST, wrap(&c->c, out)},
                                         {DNNL_ARG_SCRATCHPAD, wrap(&c->scratch, scratch)},
                                         {DNNL_ARG_BIAS, wrap(&c->bias, bias)}};
    run(c->primitive, bias != NULL ? 5 : 4, arguments);
    if (bias == NULL)
        dnnl_memory_destroy(arguments[4].memory);
}

/* Into C, whose rows are n apart, by way of `copy`, whose rows have no gaps. */
static void execute_by_copy(const compiled *made, const void *a, const void *b, const float *bias, bool add, int64_t rows,
                            int64_t n, float *c, float *copy, void *scratch)
{
    const int64_t padded = made->c.dims[0], cols = made->c.dims[1];
    for (int64_t i = 0; add && i < padded; i++) {
        if (i < rows)
            memcpy(copy + i * cols, c + i * n, sizeof *c * (size_t)cols);
        else
            memset(copy + i * cols, 0, sizeof *c * (size_t)cols);
    }
    execute(made, a, b, bias, copy, scratch);
    for (int64_t i = 0; i < rows; i++)
        memcpy(c + i * n, copy + i * cols, sizeof *c * (size_t)cols);
}

/* Rows row … row + rows of C, by the thread that calls. made: of blocks of columns, and of the last one. */
static void multiply_rows(const left *l, compiled *const made[2], size_t stride, int64_t row, int64_t rows, const float *bias,
                          bool add, float *c)
{
    const xlm_packed *p = l->p;
    const int64_t padded = made[0]->c.dims[0], cols = columns_of_block(p->n), blocks = (p->n + cols - 1) / cols;
    const bool ready = p->precision == XLM_FLOAT32 || l->a == NULL, copies = blocks > 1 || padded != rows;
    const bool direct = ready && !l->transpose && padded == rows && l->apart == p->k;
    const size_t a_bytes = direct ? 0 : aligned(xlm_packed_bytes(p->precision, padded, p->k));
    const size_t c_bytes = copies ? aligned(sizeof *c * (size_t)(padded * cols)) : 0;
    char *memory = take(a_bytes + c_bytes + MAX(made[0]->scratch_bytes, made[1]->scratch_bytes));
    char *scratch = memory + a_bytes + c_bytes;
    const void *a = memory;
    if (direct)
        a = l->a != NULL ? (const void *)(l->a + row * p->k) : l->rounded + row * p->k;
    else if (p->precision == XLM_BFLOAT16)
        round_rows(l, row, rows, padded, (bfloat16 *)(void *)memory);
    else
        copy_rows(l, row, rows, padded, (float *)(void *)memory);
    for (int64_t j = 0; j < blocks; j++) {
        const compiled *of = made[j == blocks - 1];
        const void *b = (const char *)p->bytes + stride * (size_t)j;
        const float *own_bias = bias != NULL ? bias + j * cols : NULL;
        float *out = c + row * p->n + j * cols;
        if (copies)
            execute_by_copy(of, a, b, own_bias, add, rows, p->n, out, (float *)(void *)(memory + a_bytes), scratch);
        else
            execute(of, a, b, own_bias, out, scratch);
    }
}

/* In blocks of so many rows. */
static void multiply_whole(const left *l, int64_t unit, const float *bias, bool add, float *c)
{
    const xlm_packed *p = l->p;
    const int64_t down = (l->m + unit - 1) / unit, last_rows = l->m - (down - 1) * unit;
    const int64_t cols = columns_of_block(p->n), last_cols = p->n - (p->n - 1) / cols * cols;
    const size_t stride = bytes_of_block(p, cols);
    compiled *made[2][2]; /* [the last rows][the last columns] */
    for (int i = 0; i < 4; i++)
        made[i / 2][i % 2] = find_block(p, i / 2 == 0 ? unit : padded_rows(last_rows), i % 2 == 0 ? cols : last_cols,
                                        bias != NULL, add);
    const int threads = threads_for();
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int64_t i = 0; i < down; i++)
        multiply_rows(l, made[i == down - 1], stride, i * unit, i == down - 1 ? last_rows : unit, bias, add, c);
    for (int i = 0; i < 4; i++)
        free_compiled(made[i / 2][i % 2]);
}

static void multiply(const left *l, const float *bias, bool add, float *c)
{
    const xlm_packed *p = l->p;
    if (p->parts == NULL || p->parts->len == 0) {
        multiply_whole(l, ROWS, bias, add, c);
        return;
    }
    for (guint i = 0; i < p->parts->len; i++) {
        const int64_t first = (int64_t)i * PART, start = first * (l->transpose ? l->apart : 1);
        left part = *l;
        part.p = p->parts->pdata[i];
        part.a = l->a != NULL ? l->a + start : NULL;
        part.rounded = l->rounded != NULL ? l->rounded + start : NULL;
        multiply_whole(&part, ROWS_OF_PART, i == 0 ? bias : NULL, i > 0 || add, c);
    }
}

#endif

/* ---- for all ---- */

void xlm_packed_free(xlm_packed *p)
{
    if (p == NULL)
        return;
    g_clear_pointer(&p->parts, g_ptr_array_unref);
    free(p->bytes);
    g_free(p);
}

void xlm_packed_set(xlm_packed *p, xlm_precision precision, bool transpose, int64_t k, int64_t n, const xlm_real *b)
{
    p->precision = precision;
    p->k = k;
    p->n = n;
    p->transpose = transpose;
    p->emulated = emulates(precision);
    if (p->emulated) {
        make_room(p, sizeof(float) * (size_t)(k * n));
        rounded(k * n, b, p->bytes);
        return;
    }
#if WITH_ONEDNN
    pack(p, &(right){.b = b, .transpose = transpose, .apart = transpose ? k : n});
#else
    (void)b;
    g_error("xlm_packed_set: %s", xlm_packed_lacks(precision));
#endif
}

void xlm_packed_set_rounded(xlm_packed *p, int64_t k, int64_t n, const uint16_t *b)
{
    p->precision = XLM_BFLOAT16;
    p->k = k;
    p->n = n;
    p->transpose = false;
    p->emulated = emulates(XLM_BFLOAT16);
    if (p->emulated) {
        make_room(p, sizeof(float) * (size_t)(k * n));
        widened(k * n, b, p->bytes);
        return;
    }
#if WITH_ONEDNN
    pack(p, &(right){.rounded = b, .apart = n});
#else
    g_error("xlm_packed_set_rounded: %s", xlm_packed_lacks(XLM_BFLOAT16));
#endif
}

static void multiply_by(const left *l, const xlm_real *bias, bool add, xlm_real *c)
{
    if (l->m == 0)
        return;
    if (l->p->emulated) {
        emulate(l, bias, add, c);
        return;
    }
#if WITH_ONEDNN
    multiply(l, bias, add, c);
    xlm_gemm_count(2 * (double)l->m * (double)l->p->n * (double)l->p->k);
#endif
}

void xlm_packed_multiply(const xlm_packed *p, int64_t m, bool transpose, const xlm_real *a, const xlm_real *bias, bool add,
                         xlm_real *c)
{
    multiply_by(&(left){.p = p, .m = m, .transpose = transpose, .a = a, .apart = transpose ? m : p->k}, bias, add, c);
}

void xlm_packed_multiply_rounded(const xlm_packed *p, int64_t m, bool transpose, const uint16_t *a, bool add, xlm_real *c)
{
    multiply_by(&(left){.p = p, .m = m, .transpose = transpose, .rounded = a, .apart = transpose ? m : p->k}, NULL, add, c);
}

void xlm_packed_multiply_and_round(const xlm_packed *p, int64_t m, const xlm_real *a, bool add, xlm_real *c, uint16_t *rounded)
{
    enum { UNIT = 128 }; /* rows that are read again while they are in a cache */
    const int64_t units = (m + UNIT - 1) / UNIT, k = p->k;
    const int threads = omp_in_parallel() ? 1 : omp_get_max_threads();
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < units; i++) {
        const int64_t first = i * UNIT, rows = MIN(UNIT, m - first);
        xlm_kernels_get()->to_bfloat16(rows * k, a + first * k, rounded + first * k);
        xlm_packed_multiply_rounded(p, rows, false, rounded + first * k, add, c + first * p->n);
    }
}

const char *xlm_packed_library(void)
{
#if WITH_ONEDNN
    static char text[32];
    const dnnl_version_t *v = dnnl_version();
    g_snprintf(text, sizeof text, "oneDNN %d.%d.%d", v->major, v->minor, v->patch);
    return text;
#else
    return "oneDNN";
#endif
}
