/* xlm-mpi: oneDNN's code for a block of a product with a packed matrix. SPDX-License-Identifier: GPL-3.0-or-later */
#include "gemm/onednn.h"

#if WITH_ONEDNN

#include <glib.h>
#include <string.h>

enum { MAX_SHAPES = 1024 };

typedef struct shape {
    int64_t m, n, k;
    int32_t precision, bias, add, unused;
} shape;

static struct {
    GMutex lock;
    dnnl_engine_t engine;
    GHashTable *shapes; /* shape -> onednn_product */
} library;

/* Ends the program if a call of oneDNN failed: those made here fail only for lack of memory. */
static void insist(dnnl_status_t status, const char *what)
{
    if (status != dnnl_success)
        g_error("oneDNN: %s: status %d%s", what, (int)status, status == dnnl_out_of_memory ? ", out of memory" : "");
}

/* ---- what differs between versions 2 and 3 of oneDNN ---- */

/* The order in which a matrix of two dimensions is stored. */
typedef struct storage {
    bool blocked;
    int blocks; /* number of innermost blocks; `size` and `divides` have the size of each and the dimension that it divides */
    dnnl_dims_t size, divides;
    dnnl_dims_t strides, padded; /* of the blocks, in numbers; of the matrix, with what fills it up */
} storage;

#if DNNL_VERSION_MAJOR >= 3

static onednn_matrix describe(int64_t rows, int64_t cols, dnnl_data_type_t type, dnnl_format_tag_t order)
{
    onednn_matrix matrix;
    insist(dnnl_memory_desc_create_with_tag(&matrix, 2, (const dnnl_dims_t){rows, cols}, type, order), "a matrix");
    return matrix;
}

static onednn_matrix describe_strided(const dnnl_dims_t dims, dnnl_data_type_t type, const dnnl_dims_t strides)
{
    onednn_matrix matrix;
    insist(dnnl_memory_desc_create_with_strides(&matrix, 2, dims, type, strides), "a matrix");
    return matrix;
}

static onednn_matrix copy(onednn_const_matrix matrix)
{
    onednn_matrix other;
    insist(dnnl_memory_desc_clone(&other, matrix), "a matrix");
    return other;
}

static void free_matrix(onednn_matrix matrix) { dnnl_memory_desc_destroy(matrix); }

static void append_sum(dnnl_post_ops_t operations)
{
    insist(dnnl_post_ops_append_sum(operations, 1, 0, dnnl_data_type_undef), "a sum");
}

static dnnl_primitive_desc_t describe_product(const onednn_product *c, bool bias, dnnl_primitive_attr_t attributes)
{
    dnnl_primitive_desc_t description;
    insist(dnnl_matmul_primitive_desc_create(&description, library.engine, c->a, c->b, bias ? c->bias : NULL, c->c, attributes),
           "the description of a product");
    return description;
}

static void ask_dims(onednn_const_matrix matrix, dnnl_query_t what, int n, dnnl_dims_t dims)
{
    const dnnl_dims_t *found;
    insist(dnnl_memory_desc_query(matrix, what, &found), "the order of a matrix");
    memcpy(dims, *found, sizeof **found * (size_t)n);
}

static storage storage_of(onednn_const_matrix matrix)
{
    storage s = {0};
    dnnl_format_kind_t kind;
    insist(dnnl_memory_desc_query(matrix, dnnl_query_format_kind, &kind), "the order of a matrix");
    ask_dims(matrix, dnnl_query_padded_dims, 2, s.padded);
    s.blocked = kind == dnnl_blocked;
    if (!s.blocked)
        return s;
    int32_t blocks;
    insist(dnnl_memory_desc_query(matrix, dnnl_query_inner_nblks_s32, &blocks), "the order of a matrix");
    s.blocks = blocks;
    ask_dims(matrix, dnnl_query_inner_blks, blocks, s.size);
    ask_dims(matrix, dnnl_query_inner_idxs, blocks, s.divides);
    ask_dims(matrix, dnnl_query_strides, 2, s.strides);
    return s;
}

#else

static onednn_matrix describe(int64_t rows, int64_t cols, dnnl_data_type_t type, dnnl_format_tag_t order)
{
    onednn_matrix matrix = g_new(dnnl_memory_desc_t, 1);
    insist(dnnl_memory_desc_init_by_tag(matrix, 2, (const dnnl_dims_t){rows, cols}, type, order), "a matrix");
    return matrix;
}

static onednn_matrix describe_strided(const dnnl_dims_t dims, dnnl_data_type_t type, const dnnl_dims_t strides)
{
    onednn_matrix matrix = g_new(dnnl_memory_desc_t, 1);
    insist(dnnl_memory_desc_init_by_strides(matrix, 2, dims, type, strides), "a matrix");
    return matrix;
}

static onednn_matrix copy(onednn_const_matrix matrix) { return g_memdup2(matrix, sizeof *matrix); }
static void free_matrix(onednn_matrix matrix) { g_free(matrix); }
static void append_sum(dnnl_post_ops_t operations) { insist(dnnl_post_ops_append_sum(operations, 1), "a sum"); }

static dnnl_primitive_desc_t describe_product(const onednn_product *c, bool bias, dnnl_primitive_attr_t attributes)
{
    dnnl_matmul_desc_t operation;
    dnnl_primitive_desc_t description;
    insist(dnnl_matmul_desc_init(&operation, c->a, c->b, bias ? c->bias : NULL, c->c), "a product");
    insist(dnnl_primitive_desc_create(&description, &operation, attributes, library.engine, NULL),
           "the description of a product");
    return description;
}

static storage storage_of(onednn_const_matrix matrix)
{
    const dnnl_blocking_desc_t *order = &matrix->format_desc.blocking;
    storage s = {.blocked = matrix->format_kind == dnnl_blocked, .blocks = order->inner_nblks};
    memcpy(s.padded, matrix->padded_dims, sizeof s.padded);
    memcpy(s.size, order->inner_blks, sizeof s.size);
    memcpy(s.divides, order->inner_idxs, sizeof s.divides);
    memcpy(s.strides, order->strides, sizeof s.strides);
    return s;
}

#endif

/* ---- the code of products ---- */

static guint hash_shape(gconstpointer key)
{
    const unsigned char *bytes = key;
    guint hash = 5381;
    for (size_t i = 0; i < sizeof(shape); i++)
        hash = hash * 33 + bytes[i];
    return hash;
}

static gboolean equal_shapes(gconstpointer a, gconstpointer b) { return memcmp(a, b, sizeof(shape)) == 0; }

static void clear_product(gpointer pointer)
{
    onednn_product *c = pointer;
    dnnl_primitive_destroy(c->primitive);
    const onednn_matrix matrices[] = {c->a, c->b, c->c, c->bias, c->scratch};
    for (size_t i = 0; i < G_N_ELEMENTS(matrices); i++)
        free_matrix(matrices[i]);
}

void onednn_release(onednn_product *product) { g_atomic_rc_box_release_full(product, clear_product); }
static void release(gpointer pointer) { onednn_release(pointer); }

static dnnl_data_type_t type_of(xlm_precision precision) { return precision == XLM_BFLOAT16 ? dnnl_bf16 : dnnl_f32; }

/* Several threads run the same primitive at once, so the caller provides its scratch memory. */
static dnnl_primitive_attr_t make_attributes(bool add)
{
    dnnl_primitive_attr_t attributes;
    insist(dnnl_primitive_attr_create(&attributes), "attributes");
    insist(dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user), "scratch memory");
    if (add) {
        dnnl_post_ops_t after;
        insist(dnnl_post_ops_create(&after), "a sum");
        append_sum(after);
        insist(dnnl_primitive_attr_set_post_ops(attributes, after), "a sum");
        dnnl_post_ops_destroy(after);
    }
    return attributes;
}

/* The width of the panels in which a k x n matrix is stored (packing.c writes them): tiles of PANEL_DEPTH rows, in bfloat16 two
 * by two, one below the other, panel after panel. Zero if the order is a different one. */
static int64_t width_of_panels(const storage *s, xlm_precision precision, size_t bytes)
{
    const bool two = precision == XLM_BFLOAT16;
    const int64_t unit = two ? 2 * PANEL_DEPTH : PANEL_DEPTH;
    const int64_t width = s->blocked && s->blocks == (two ? 3 : 2) ? s->size[1] : 0;
    const bool usual = width > 0 && width <= PANEL_COLUMNS && width % 16 == 0 && s->size[0] == PANEL_DEPTH &&
                       s->divides[0] == 0 && s->divides[1] == 1 && (!two || (s->size[2] == 2 && s->divides[2] == 0)) &&
                       s->padded[0] % unit == 0 && s->strides[0] == unit * width && s->strides[1] == s->padded[0] * width &&
                       bytes == xlm_packed_bytes(precision, s->padded[0], s->padded[1]);
    return usual ? width : 0;
}

static void set_order(onednn_product *c, xlm_precision precision, onednn_const_matrix b)
{
    free_matrix(c->b);
    c->b = copy(b);
    const storage s = storage_of(b);
    c->depth = s.padded[0];
    c->panel_width = width_of_panels(&s, precision, dnnl_memory_desc_get_size(b));
}

static onednn_product *compile(const shape *s)
{
    onednn_product *c = g_atomic_rc_box_new0(onednn_product);
    const xlm_precision precision = (xlm_precision)s->precision;
    const dnnl_data_type_t type = type_of(precision);
    c->m = s->m;
    c->n = s->n;
    c->a = describe(s->m, s->k, type, dnnl_ab);
    c->b = describe(s->k, s->n, type, dnnl_format_tag_any);
    c->c = describe(s->m, s->n, dnnl_f32, dnnl_ab);
    c->bias = describe(1, s->n, dnnl_f32, dnnl_ab);
    dnnl_primitive_attr_t attributes = make_attributes(s->add);
    dnnl_primitive_desc_t description = describe_product(c, s->bias, attributes);
    dnnl_primitive_attr_destroy(attributes);
    const char *kind = NULL;
    insist(dnnl_primitive_desc_query(description, dnnl_query_impl_info_str, 0, &kind), "the kind of a product");
    if (!g_str_has_prefix(kind, "brg"))
        g_error("oneDNN: %s instead of brg for %d x %d x %d", kind, (int)s->m, (int)s->n, (int)s->k);
    c->kernels = g_intern_string(kind);
    set_order(c, precision, dnnl_primitive_desc_query_md(description, dnnl_query_weights_md, 0));
    c->scratch = copy(dnnl_primitive_desc_query_md(description, dnnl_query_scratchpad_md, 0));
    c->scratch_bytes = dnnl_memory_desc_get_size(c->scratch);
    insist(dnnl_primitive_create(&c->primitive, description), "the code of a product");
    dnnl_primitive_desc_destroy(description);
    return c;
}

/* oneDNN divides the work among the number of threads that is set when it generates code, so that is 1 meanwhile. */
static onednn_product *find(const shape *s)
{
    g_mutex_lock(&library.lock);
    if (library.shapes == NULL) {
        insist(dnnl_engine_create(&library.engine, dnnl_cpu, 0), "the engine");
        library.shapes = g_hash_table_new_full(hash_shape, equal_shapes, g_free, release);
    }
    onednn_product *c = g_hash_table_lookup(library.shapes, s);
    if (c == NULL) {
        if (g_hash_table_size(library.shapes) >= MAX_SHAPES)
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

onednn_product *onednn_find(const xlm_packed *p, int64_t rows, int64_t cols, bool bias, bool add)
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

static dnnl_memory_t wrap(onednn_const_matrix matrix, const void *bytes)
{
    dnnl_memory_t memory;
    insist(dnnl_memory_create(&memory, matrix, library.engine, (void *)bytes), "memory");
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

size_t onednn_block_bytes(const xlm_packed *p, int64_t cols)
{
    onednn_product *c = onednn_find(p, MAX_ROWS, cols, false, false);
    const size_t bytes = aligned(dnnl_memory_desc_get_size(c->b));
    onednn_release(c);
    return bytes;
}

void onednn_pack(const xlm_packed *p, int64_t cols, const right *r, int64_t first, void *packed)
{
    onednn_product *c = onednn_find(p, MAX_ROWS, cols, false, false);
    const dnnl_dims_t dims = {p->k, cols}, strides = {r->transpose ? 1 : r->apart, r->transpose ? r->apart : 1};
    const int64_t start = first * (r->transpose ? r->apart : 1);
    const void *b = r->rounded != NULL ? (const void *)(r->rounded + start) : r->b + start;
    const onednn_matrix from = describe_strided(dims, r->rounded != NULL ? dnnl_bf16 : dnnl_f32, strides);
    dnnl_primitive_desc_t description;
    dnnl_primitive_t primitive;
    const int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    insist(dnnl_reorder_primitive_desc_create(&description, from, library.engine, c->b, library.engine, NULL),
           "the description of packing");
    insist(dnnl_primitive_create(&primitive, description), "the code of packing"); /* which oneDNN keeps */
    omp_set_num_threads(threads);
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, wrap(from, b)}, {DNNL_ARG_TO, wrap(c->b, packed)}};
    run(primitive, G_N_ELEMENTS(arguments), arguments);
    dnnl_primitive_destroy(primitive);
    dnnl_primitive_desc_destroy(description);
    free_matrix(from);
    onednn_release(c);
}

void onednn_multiply(const onednn_product *c, const void *a, const void *b, const float *bias, float *out, void *scratch)
{
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, wrap(c->a, a)},
                                         {DNNL_ARG_WEIGHTS, wrap(c->b, b)},
                                         {DNNL_ARG_DST, wrap(c->c, out)},
                                         {DNNL_ARG_SCRATCHPAD, wrap(c->scratch, scratch)},
                                         {DNNL_ARG_BIAS, wrap(c->bias, bias)}};
    run(c->primitive, bias != NULL ? 5 : 4, arguments);
    if (bias == NULL)
        dnnl_memory_destroy(arguments[4].memory);
}

bool onednn_uses(xlm_precision precision)
{
    const unsigned needed = precision == XLM_BFLOAT16 ? dnnl_cpu_isa_avx512_core_bf16 : dnnl_cpu_isa_avx512_core;
    return ((unsigned)dnnl_get_effective_cpu_isa() & needed) == needed; /* a set of instructions has the bits of those within it */
}

const char *onednn_kernels(xlm_precision precision)
{
    const xlm_packed any = {.precision = precision, .k = PANEL_COLUMNS};
    onednn_product *c = onednn_find(&any, XLM_PACKED_ROWS, PANEL_COLUMNS, false, false);
    const char *name = c->kernels;
    onednn_release(c);
    return name;
}

const char *onednn_version(void)
{
    static char text[32];
    const dnnl_version_t *v = dnnl_version();
    g_snprintf(text, sizeof text, "oneDNN %d.%d.%d", v->major, v->minor, v->patch);
    return text;
}

#endif
