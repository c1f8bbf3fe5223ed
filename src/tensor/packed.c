/* xlm-mpi: products with a matrix that is packed beforehand, by oneDNN. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/packed.h"

#include <glib.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- rounding ---- */

/* Infinities stay, and so does what is no number; denormals become zero, as everywhere. */
static inline bfloat16 round_to_bfloat16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
    return (bfloat16)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded >> 16);
}

/* ---- without oneDNN, for tests ---- */

static float *rounded(int64_t n, const xlm_real *x, float *y)
{
    for (int64_t i = 0; i < n; i++) {
        const uint32_t bits = (uint32_t)round_to_bfloat16((float)x[i]) << 16;
        memcpy(&y[i], &bits, sizeof bits);
    }
    return y;
}

static void emulate(const xlm_packed *p, int64_t m, bool transpose, const xlm_real *a, const xlm_real *bias, bool add,
                    xlm_real *c)
{
#ifndef XLM_DOUBLE
    float *copy = rounded(m * p->k, a, g_new(float, m * p->k));
    for (int64_t i = 0; bias != NULL && i < m; i++)
        memcpy(c + i * p->n, bias, sizeof *c * (size_t)p->n);
    xlm_gemm(transpose, p->transpose, m, p->n, p->k, 1, copy, transpose ? m : p->k, p->bytes, p->transpose ? p->k : p->n,
             bias != NULL || add, c, p->n);
    g_free(copy);
#else
    (void)p, (void)m, (void)transpose, (void)a, (void)bias, (void)add, (void)c;
#endif
}

#if WITH_ONEDNN

/* C is cut into blocks of so many rows, which the threads share out. What oneDNN does for a row must not depend on how many there
 * are: its kernels for batch-reduced products ("brg") add up alike for any number of them, its others do not, and are refused.
 * They want matrices without gaps, so rows are rounded, transposed or copied into memory of the thread, and the last ones filled
 * up to a multiple of ROW_UNIT: oneDNN makes code for each shape (0.3 ms), which is kept. Many columns, those of a vocabulary, are
 * cut too. */
enum {
    ROWS = 128,        /* of a block */
    LONG = 1 << 14,    /* from this k on */
    ROWS_OF_LONG = 32, /* so many, as its rows take much memory */
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
static int64_t rows_of_block(int64_t k) { return k > LONG ? ROWS_OF_LONG : ROWS; }
static int64_t padded_rows(int64_t rows) { return (rows + ROW_UNIT - 1) / ROW_UNIT * ROW_UNIT; }
static size_t aligned(size_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }
/* Of a block of so many columns: what oneDNN asks for, k and n rounded up to its tiles. */
static size_t bytes_of_block(const xlm_packed *p, int64_t cols)
{
    compiled *c = find_block(p, rows_of_block(p->k), cols, false, false);
    const size_t bytes = aligned(dnnl_memory_desc_get_size(&c->b));
    free_compiled(c);
    return bytes;
}

static int threads_for(void) { return omp_in_parallel() ? 1 : omp_get_max_threads(); }

static void pack_block(const xlm_packed *p, int64_t cols, bool transpose, const float *b, void *packed)
{
    compiled *c = find_block(p, rows_of_block(p->k), cols, false, false);
    dnnl_memory_desc_t from;
    const dnnl_dims_t dims = {p->k, cols}, strides = {transpose ? 1 : p->n, transpose ? p->k : 1};
    insist(dnnl_memory_desc_init_by_strides(&from, 2, dims, dnnl_f32, strides), "a matrix");
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

static void pack(xlm_packed *p, bool transpose, const float *b)
{
    const int64_t cols = columns_of_block(p->n), blocks = (p->n + cols - 1) / cols, last = p->n - (blocks - 1) * cols;
    const size_t stride = bytes_of_block(p, cols);
    make_room(p, stride * (size_t)(blocks - 1) + bytes_of_block(p, last));
    const int threads = threads_for();
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int64_t j = 0; j < blocks; j++)
        pack_block(p, j == blocks - 1 ? last : cols, transpose, b + j * cols * (transpose ? p->k : 1),
                   (char *)p->bytes + stride * (size_t)j);
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

/* op(A), with what is asked of it. */
typedef struct left {
    const xlm_packed *p;
    int64_t m;
    bool transpose;
    const float *a;
} left;

/* y = rows row … row + rows of op(A) as bfloat16, and zeros below them up to `padded`. */
static void round_rows(const left *l, int64_t row, int64_t rows, int64_t padded, bfloat16 *y)
{
    const int64_t k = l->p->k;
    if (!l->transpose) {
        const float *a = l->a + row * k;
        for (int64_t i = 0; i < rows * k; i++)
            y[i] = round_to_bfloat16(a[i]);
    } else {
        enum { TILE = 16 };
        for (int64_t j = 0; j < k; j += TILE)
            for (int64_t i = 0; i < rows; i++)
                for (int64_t h = j; h < MIN(k, j + TILE); h++)
                    y[i * k + h] = round_to_bfloat16(l->a[h * l->m + row + i]);
    }
    memset(y + rows * k, 0, sizeof *y * (size_t)((padded - rows) * k));
}

static void copy_rows(const left *l, int64_t row, int64_t rows, int64_t padded, float *y)
{
    const int64_t k = l->p->k;
    if (l->transpose)
        xlm_kernels_get()->transpose(k, rows, (const xlm_real *)(l->a + row), l->m, (xlm_real *)y, k);
    else
        memcpy(y, l->a + row * k, sizeof *y * (size_t)(rows * k));
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
    const bool direct = p->precision == XLM_FLOAT32 && !l->transpose && padded == rows, copies = blocks > 1 || padded != rows;
    const size_t a_bytes = direct ? 0 : aligned(xlm_packed_bytes(p->precision, padded, p->k));
    const size_t c_bytes = copies ? aligned(sizeof *c * (size_t)(padded * cols)) : 0;
    char *memory = take(a_bytes + c_bytes + MAX(made[0]->scratch_bytes, made[1]->scratch_bytes));
    char *scratch = memory + a_bytes + c_bytes;
    if (p->precision == XLM_BFLOAT16)
        round_rows(l, row, rows, padded, (bfloat16 *)(void *)memory);
    else if (!direct)
        copy_rows(l, row, rows, padded, (float *)(void *)memory);
    const void *a = direct ? (const void *)(l->a + row * p->k) : memory;
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

static void multiply(const left *l, const float *bias, bool add, float *c)
{
    const xlm_packed *p = l->p;
    const int64_t unit = rows_of_block(p->k), down = (l->m + unit - 1) / unit, last_rows = l->m - (down - 1) * unit;
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

#endif

/* ---- for all ---- */

void xlm_packed_free(xlm_packed *p)
{
    if (p == NULL)
        return;
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
    pack(p, transpose, b);
#else
    (void)b;
    g_error("xlm_packed_set: %s", xlm_packed_lacks(precision));
#endif
}

void xlm_packed_multiply(const xlm_packed *p, int64_t m, bool transpose, const xlm_real *a, const xlm_real *bias, bool add,
                         xlm_real *c)
{
    if (m == 0)
        return;
    if (p->emulated) {
        emulate(p, m, transpose, a, bias, add, c);
        return;
    }
#if WITH_ONEDNN
    const left l = {.p = p, .m = m, .transpose = transpose, .a = a};
    multiply(&l, bias, add, c);
    xlm_gemm_count(2 * (double)m * (double)p->n * (double)p->k);
#endif
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
