/* xlm-mpi: products with a matrix that is packed beforehand, for callers. SPDX-License-Identifier: GPL-3.0-or-later */
#include "gemm/packed.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "base/bfloat16.h"
#include "gemm/gemm.h"
#include "gemm/onednn.h"
#include "gemm/packed_kernels.h"
#include "kernels/kernels.h"
#include "kernels/processor.h"

const char *const xlm_precision_names[XLM_PRECISIONS] = {"float32", "bfloat16"};

static bool emulates(xlm_precision precision)
{
    return precision == XLM_BFLOAT16 && g_strcmp0(g_getenv("XLM_BF16_EMULATE"), "1") == 0;
}

/* Any rank may have the message, and rank 0 prints it, so it names the host. */
static const char *processor_lacks(const char *what)
{
    g_autofree char *text = g_strdup_printf("the processor of %s has no %s", g_get_host_name(), what);
    return g_intern_string(text);
}

#if WITH_ONEDNN
/* The same where oneDNN does not use what the processor has, mostly for a limit that the user set. */
static const char *onednn_lacks(const char *what)
{
    const char *const limits[] = {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"}; /* in the order in which oneDNN looks for them */
    g_autofree char *limit = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(limits) && limit == NULL; i++)
        if (g_getenv(limits[i]) != NULL)
            limit = g_strdup_printf(" (%s=%s)", limits[i], g_getenv(limits[i]));
    g_autofree char *text = g_strdup_printf("oneDNN uses no %s on %s%s", what, g_get_host_name(), limit != NULL ? limit : "");
    return g_intern_string(text);
}
#endif

const char *xlm_packed_lacks(xlm_precision precision)
{
    if (sizeof(xlm_real) != sizeof(float))
        return "the program computes in doubles";
    if (emulates(precision))
        return NULL;
    if (!WITH_ONEDNN)
        return "the program was built without oneDNN (Debian/Ubuntu: libdnnl-dev)";
    static const char for_float32[] = "AVX-512", for_bfloat16[] = "instructions for bfloat16 (AVX512_BF16 or AMX)";
    if (!xlm_processor_has_avx512())
        return processor_lacks(for_float32);
    if (precision == XLM_BFLOAT16 && !xlm_processor_has_bfloat16())
        return processor_lacks(for_bfloat16);
#if WITH_ONEDNN
    if (!onednn_uses(XLM_FLOAT32))
        return onednn_lacks(for_float32);
    if (!onednn_uses(precision))
        return onednn_lacks(for_bfloat16);
#endif
    return NULL;
}

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
    const int64_t there = m * (transpose ? p->rows : p->k);
    float *copy = g_new0(float, m * p->k);
    if (l->rounded != NULL)
        widened(there, l->rounded, copy);
    else
        rounded(there, l->a, copy);
    for (int64_t i = 0; bias != NULL && i < m; i++)
        memcpy(c + i * p->n, bias, sizeof *c * (size_t)p->n);
    if (l->sums != NULL)
        packed_sum_rows(l, 0, m);
    for (int64_t i = 0; l->transposed != NULL && i < m * p->k; i++)
        l->transposed[i % p->k * l->transposed_apart + i / p->k] = xlm_bfloat16_of(copy[i]);
    xlm_gemm_rows_alone(transpose, p->transpose, m, p->n, p->k, 1, copy, transpose ? m : p->k, p->bytes,
                        p->transpose ? p->k : p->n, bias != NULL || add, c, p->n);
    g_free(copy);
#else
    (void)l, (void)bias, (void)add, (void)c;
#endif
}

/* ---- for all ---- */

static void describe(xlm_packed *p, xlm_precision precision, bool transpose, int64_t k, int64_t n)
{
    p->precision = precision;
    p->k = p->rows = k;
    p->n = n;
    p->transpose = transpose;
    p->unpacked = NULL;
    p->emulated = emulates(precision);
}

void xlm_packed_set(xlm_packed *p, xlm_precision precision, bool transpose, int64_t k, int64_t n, const xlm_real *b)
{
    describe(p, precision, transpose, k, n);
    if (p->emulated) {
        packed_room(p, sizeof(float) * (size_t)(k * n));
        rounded(k * n, b, p->bytes);
        return;
    }
#if WITH_ONEDNN
    packed_pack(p, &(right){.b = b, .transpose = transpose, .apart = transpose ? k : n, .rows = k});
#else
    (void)b;
    g_error("xlm_packed_set: %s", xlm_packed_lacks(precision));
#endif
}

bool xlm_packed_leaves(xlm_precision precision, int64_t k) { return precision == XLM_FLOAT32 && k > LONG && WITH_ONEDNN; }

void xlm_packed_set_by_parts(xlm_packed *p, xlm_precision precision, int64_t k, int64_t n, const xlm_real *b)
{
    if (!xlm_packed_leaves(precision, k)) {
        xlm_packed_set(p, precision, false, k, n, b);
        return;
    }
    describe(p, precision, false, k, n);
#if WITH_ONEDNN
    packed_borrow(p, b);
#endif
}

void xlm_packed_set_both(xlm_packed *transposed, xlm_packed *straight, xlm_precision precision, int64_t k, int64_t n,
                         const xlm_real *b)
{
    if (emulates(precision)) {
        xlm_packed_set(transposed, precision, true, n, k, b);
        xlm_packed_set(straight, precision, false, k, n, b);
        return;
    }
#if WITH_ONEDNN
    describe(transposed, precision, true, n, k);
    describe(straight, precision, false, k, n);
    packed_pack_both(transposed, straight, b);
#else
    g_error("xlm_packed_set_both: %s", xlm_packed_lacks(precision));
#endif
}

int64_t xlm_packed_depth(int64_t k)
{
    enum { UNIT = 32 };
    return (k + UNIT - 1) / UNIT * UNIT;
}

void xlm_packed_set_rows(xlm_packed *p, xlm_precision precision, int64_t k, int64_t n, xlm_factor b)
{
    describe(p, precision, false, xlm_packed_depth(k), n);
    p->rows = k;
    if (p->emulated) {
        packed_room(p, sizeof(float) * (size_t)(p->k * n));
        if (b.rounded != NULL)
            widened(k * n, b.rounded, p->bytes);
        else
            rounded(k * n, b.floats, p->bytes);
        memset((float *)p->bytes + k * n, 0, sizeof(float) * (size_t)((p->k - k) * n));
        return;
    }
#if WITH_ONEDNN
    packed_pack(p, &(right){.b = b.floats, .rounded = precision == XLM_BFLOAT16 ? b.rounded : NULL, .apart = n, .rows = k});
#else
    g_error("xlm_packed_set_rows: %s", xlm_packed_lacks(precision));
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
    packed_product(l, bias, add, c);
    xlm_gemm_count(2 * (double)l->m * (double)l->p->n * (double)l->p->rows);
#endif
}

static left left_of(const xlm_packed *p, int64_t m, bool transpose, xlm_factor a)
{
    return (left){.p = p, .m = m, .transpose = transpose, .a = a.floats, .apart = transpose ? m : p->k,
                  .rounded = p->precision == XLM_BFLOAT16 ? a.rounded : NULL};
}

void xlm_packed_multiply(const xlm_packed *p, int64_t m, bool transpose, xlm_factor a, const xlm_real *bias, bool add,
                         xlm_real *c)
{
    const left l = left_of(p, m, transpose, a);
    multiply_by(&l, bias, add, c);
}

int64_t xlm_packed_block_columns(int64_t n) { return columns_of_block(n); }

/* Computes C as a whole if it is not computed in such blocks. */
static void use_whole(const left *l, const xlm_real *bias)
{
    const int64_t n = l->p->n, cols = columns_of_block(n);
    left writing = *l;
    writing.use = NULL;
    xlm_real *c = g_new(xlm_real, l->m * n), *block = g_new(xlm_real, l->m * cols);
    multiply_by(&writing, bias, false, c);
    for (int64_t j = 0; j < n; j += cols) {
        const int64_t width = MIN(cols, n - j);
        for (int64_t i = 0; i < l->m; i++)
            memcpy(block + i * width, c + i * n + j, sizeof *c * (size_t)width);
        l->use(l->data, 0, l->m, j, width, block);
    }
    g_free(c);
    g_free(block);
}

void xlm_packed_multiply_blocks(const xlm_packed *p, int64_t m, xlm_factor a, const xlm_real *bias, xlm_packed_use *use,
                                void *data)
{
    left l = left_of(p, m, false, a);
    l.use = use;
    l.data = data;
    if (p->emulated || (p->parts != NULL && p->parts->len > 0))
        use_whole(&l, bias);
    else
        multiply_by(&l, bias, false, NULL);
}

xlm_packed_blocks xlm_packed_divide(const xlm_packed *p, int64_t rows)
{
#if WITH_ONEDNN
    if (!p->emulated)
        return packed_divide(rows, p->k, 1);
#endif
    (void)p;
    /* Blocks do not depend on the number of threads: BLIS's result for a row might depend on the number of rows. */
    const int64_t count = (rows + MAX_ROWS - 1) / MAX_ROWS;
    return (xlm_packed_blocks){.rows = rows, .count = count, .unit = MAX_ROWS, .units = count};
}

void xlm_packed_multiply_and_transpose(const xlm_packed *p, int64_t m, xlm_factor a, bool add, xlm_real *c,
                                       uint16_t *transposed, int64_t apart, xlm_real *sums)
{
    left l = left_of(p, m, false, a);
    l.transposed = transposed;
    l.transposed_apart = apart;
    l.sums = sums;
    l.sums_apart = p->k;
    multiply_by(&l, NULL, add, c);
}

const char *xlm_packed_kernels(xlm_precision precision)
{
#if WITH_ONEDNN
    if (!emulates(precision)) {
        g_autofree char *text = g_strconcat("oneDNN's ", onednn_kernels(precision), NULL);
        return g_intern_string(text);
    }
#endif
    (void)precision;
    return "XLM_BF16_EMULATE=1";
}

const char *xlm_packed_library(void)
{
#if WITH_ONEDNN
    return onednn_version();
#else
    return "oneDNN";
#endif
}
