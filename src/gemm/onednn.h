/* xlm-mpi: oneDNN's code for a block of a product with a packed matrix. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What oneDNN does for a row must not depend on how many there are: its kernels for batch-reduced products ("brg") add up alike
 * for any number of them, its others do not, and are refused. oneDNN makes code for each shape (0.3 ms), which is kept. */
#ifndef XLM_GEMM_ONEDNN_H
#define XLM_GEMM_ONEDNN_H

#include "gemm/packed_internal.h"

#if WITH_ONEDNN
#include <dnnl.h>

/* How oneDNN describes a matrix: version 3 keeps what is in it to itself, version 2 has it copied by value. */
#if DNNL_VERSION_MAJOR >= 3
typedef dnnl_memory_desc_t onednn_matrix;
typedef const_dnnl_memory_desc_t onednn_const_matrix;
#else
typedef dnnl_memory_desc_t *onednn_matrix;
typedef const dnnl_memory_desc_t *onednn_const_matrix;
#endif

/* A panel's columns at most, and the rows of its tiles; in bfloat16 as many pairs of rows. */
enum { PANEL_COLUMNS = 64, PANEL_DEPTH = 16 };

/* C = A B or C += A B, A: m x k and C: m x n without gaps between rows, B in the order of b. */
typedef struct onednn_product {
    int64_t m, n;
    dnnl_primitive_t primitive;
    onednn_matrix a, b, c, bias, scratch;
    size_t scratch_bytes;
    int64_t depth;       /* rows of b, with those of zeros that fill it up */
    int64_t panel_width; /* where b is stored in panels of columns (packing.c); 0: in another order */
} onednn_product;

/* For a block of so many columns of p's matrix; to be released. */
onednn_product *onednn_find(const xlm_packed *p, int64_t rows, int64_t cols, bool bias, bool add);
void onednn_release(onednn_product *product);
/* scratch: scratch_bytes of memory. bias: NULL where the product was found without. */
void onednn_multiply(const onednn_product *product, const void *a, const void *b, const float *bias, float *c, void *scratch);
/* What a block of so many columns of p takes: k and n rounded up to oneDNN's tiles, and to lines. */
size_t onednn_block_bytes(const xlm_packed *p, int64_t cols);
/* Columns first … first + cols of r into the order in which such blocks are read. */
void onednn_pack(const xlm_packed *p, int64_t cols, const right *r, int64_t first, void *packed);
/* "oneDNN 2.6.3" */
const char *onednn_version(void);
#endif

#endif
