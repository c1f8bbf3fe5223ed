/* xlm-mpi: structs and functions that the files of packed matrices share. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * packed.c manages their memory; packed_call.c has the functions that others call and the arithmetic for tests; packing.c brings
 * a matrix into oneDNN's order; packed_multiply.c divides products into blocks and converts the left factor; onednn.c calls
 * oneDNN for a block. Without oneDNN, and in double precision, the last three are empty. */
#ifndef XLM_GEMM_PACKED_INTERNAL_H
#define XLM_GEMM_PACKED_INTERNAL_H

#include <glib.h>
#include <omp.h>

#include "gemm/packed.h"

#if defined HAVE_ONEDNN && !defined XLM_DOUBLE
#define WITH_ONEDNN 1
#else
#define WITH_ONEDNN 0
#endif

typedef uint16_t bfloat16;

struct xlm_packed {
    xlm_precision precision;
    int64_t k, n;
    int64_t rows; /* rows that B has; the others up to k are zeros, as are those of an A that is transposed */
    void *bytes; /* blocks of columns, one after another; if emulated, B itself, rounded but stored as floats */
    size_t room; /* number of bytes at `bytes` */
    GPtrArray *parts; /* xlm_packed: parts of a long B with PART_OF_LONG rows each, the last one fewer; NULL or empty: B is in one
                       * part */
    const xlm_real *unpacked; /* a long B, whose parts are packed one at a time, in the memory of the only one of `parts`; or
                               * NULL */
    bool emulated, transpose;
};

/* op(A), and what to do with it. */
typedef struct left {
    const xlm_packed *p;
    int64_t m;
    bool transpose;
    const xlm_real *a;       /* read if `rounded` is NULL, and for the sums */
    const bfloat16 *rounded;
    int64_t apart;           /* from row to row of A */
    bfloat16 *transposed;    /* [k x m] receives Aᵀ; NULL: not wanted */
    int64_t transposed_apart;
    xlm_real *sums;          /* [chunks x k] receives column sums of A, rows `sums_apart` apart; NULL: not wanted */
    int64_t sums_apart;
    xlm_packed_use *use;     /* receives C; NULL: C is written to memory */
    void *data;
} left;

/* A matrix to be packed, row-major. */
typedef struct right {
    const xlm_real *b;       /* read if `rounded` is NULL */
    const bfloat16 *rounded;
    bool transpose;
    int64_t apart; /* from row to row */
    int64_t rows;  /* rows that op(B) has; rows of zeros follow, up to k */
} right;

/* C is divided into blocks of rows, which the threads share. Many columns, such as those of a vocabulary, are divided too, and so
 * is a long sum over k. */
enum {
    MAX_ROWS = XLM_PACKED_MAX_ROWS,
    LONG = 1 << 14,      /* if B has more rows, */
    PART_OF_LONG = 2048, /* this many are multiplied at a time, which stay in a cache for all rows of A */
    MAX_COLUMNS = 4096,  /* if C has more columns, */
    COLUMNS = 2048,      /* it is divided into blocks of this many */
    LINE = 64            /* bytes */
};

/* Columns of each block but the last. */
static inline int64_t columns_of_block(int64_t n) { return n > MAX_COLUMNS ? COLUMNS : n; }
static inline size_t aligned(size_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }
static inline int threads_for(void) { return omp_in_parallel() ? 1 : omp_get_max_threads(); }

/* Column sums of rows row … row + rows of A, row being a multiple of XLM_PACKED_ROWS, into l->sums. */
void packed_sum_rows(const left *l, int64_t row, int64_t rows);
/* Make p->bytes at least that large; its contents are lost. */
void packed_room(xlm_packed *p, size_t bytes);

#if WITH_ONEDNN
/* The precision, k and n of p must be set. */
void packed_pack(xlm_packed *p, const right *r);
/* Pack parts of b, which is long, only when they are multiplied. */
void packed_borrow(xlm_packed *p, const xlm_real *b);
/* Number of parts of a long B; 0: it is in one part. One of them, packed. */
guint packed_parts(const xlm_packed *p);
const xlm_packed *packed_part(const xlm_packed *p, guint i);
/* Pack B and its transpose; B is read only once. */
void packed_pack_both(xlm_packed *transposed, xlm_packed *straight, const xlm_real *b);
/* Divide A, m x k, into blocks of at most MAX_ROWS rows, fewer if rows are long. across: number of blocks of columns of C. */
xlm_packed_blocks packed_divide(int64_t m, int64_t k, int64_t across);
void packed_product(const left *l, const xlm_real *bias, bool add, xlm_real *c);
#endif

#endif
