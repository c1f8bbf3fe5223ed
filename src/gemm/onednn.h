/* xlm-mpi: oneDNN's code for a block of a product with a packed matrix. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The result of a row must not depend on the number of rows. oneDNN's kernels for batch-reduced products ("brg") add up in the
 * same order for any number of rows; its other kernels do not, and are refused. oneDNN generates code for each shape (0.3 ms),
 * which is kept. */
#ifndef XLM_GEMM_ONEDNN_H
#define XLM_GEMM_ONEDNN_H

#include "gemm/packed_internal.h"

#if WITH_ONEDNN
#include <dnnl.h>

/* oneDNN's description of a matrix: an opaque pointer in version 3, a struct that is copied by value in version 2. */
#if DNNL_VERSION_MAJOR >= 3
typedef dnnl_memory_desc_t onednn_matrix;
typedef const_dnnl_memory_desc_t onednn_const_matrix;
#else
typedef dnnl_memory_desc_t *onednn_matrix;
typedef const dnnl_memory_desc_t *onednn_const_matrix;
#endif

/* Maximum number of columns of a panel, and the number of rows of its tiles (in bfloat16, of pairs of rows). */
enum { PANEL_COLUMNS = 64, PANEL_DEPTH = 16 };

/* C = A B or C += A B, A: m x k and C: m x n without gaps between rows, B in the order of b. */
typedef struct onednn_product {
    int64_t m, n;
    const char *kernels; /* interned */
    dnnl_primitive_t primitive;
    onednn_matrix a, b, c, bias, scratch;
    size_t scratch_bytes;
    int64_t depth;       /* rows of b, including the rows of zeros that pad it */
    int64_t panel_width; /* width of the panels if b is stored in panels of columns (packing.c); 0: it is stored in another
                          * order */
} onednn_product;

/* The product for a block of p's matrix with `cols` columns. The caller must release it. */
onednn_product *onednn_find(const xlm_packed *p, int64_t rows, int64_t cols, bool bias, bool add);
void onednn_release(onednn_product *product);
/* scratch: scratch_bytes of memory. bias: NULL if the product was found without one. */
void onednn_multiply(const onednn_product *product, const void *a, const void *b, const float *bias, float *c, void *scratch);
/* Bytes of a block of p with `cols` columns: k and n are rounded up to oneDNN's tiles, and the size to cache lines. */
size_t onednn_block_bytes(const xlm_packed *p, int64_t cols);
/* Bring columns first … first + cols of r into the order in which such blocks are read. */
void onednn_pack(const xlm_packed *p, int64_t cols, const right *r, int64_t first, void *packed);
/* Does oneDNN use the instructions that brg kernels for this precision need, where the processor has them? Its variable
 * ONEDNN_MAX_CPU_ISA (until version 2.4 DNNL_MAX_CPU_ISA) may exclude them. */
bool onednn_uses(xlm_precision precision);
/* oneDNN's name for its kernels for this precision: "brg:avx512_core_bf16". */
const char *onednn_kernels(xlm_precision precision);
/* "oneDNN 2.6.3" */
const char *onednn_version(void);
#endif

#endif
