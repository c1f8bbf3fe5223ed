/* xlm-mpi: what the files of packed matrices share. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * packed.c has their memory; packed_call.c is what others call, and the arithmetic for tests; packing.c brings a matrix into
 * oneDNN's order, packed_multiply.c cuts products into blocks and converts their left factor, onednn.c has the code for a block.
 * Without oneDNN, and in double precision, the last three are empty. */
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
    int64_t rows; /* of B that there are, the others up to k are zeros, and so are those of an A that is to be transposed */
    void *bytes; /* blocks of columns, one after the other; emulated: B as it was, floats that were rounded */
    size_t room; /* there are at it */
    GPtrArray *parts; /* xlm_packed: of a long B, PART_OF_LONG rows each, the last one fewer; NULL or empty: B is whole */
    bool emulated, transpose;
};

/* op(A), with what is asked of it. */
typedef struct left {
    const xlm_packed *p;
    int64_t m;
    bool transpose;
    const xlm_real *a;       /* read where `rounded` is NULL, and for the sums */
    const bfloat16 *rounded;
    int64_t apart;           /* from row to row of A */
    bfloat16 *transposed;    /* [k x m] for Aᵀ, where it is wanted as well, */
    int64_t transposed_apart;
    xlm_real *sums;          /* [chunks x k] column sums of A, a line `sums_apart` after the other, where they are wanted */
    int64_t sums_apart;
    xlm_packed_use *use;     /* gets C; NULL: it is written */
    void *data;
} left;

/* What is packed, row-major. */
typedef struct right {
    const xlm_real *b;       /* read where `rounded` is NULL */
    const bfloat16 *rounded;
    bool transpose;
    int64_t apart; /* from row to row */
    int64_t rows;  /* of op(B) that there are; zeros are below them, up to k */
} right;

/* C is cut into blocks of rows, which the threads share out. Many columns, those of a vocabulary, are cut too, and so is a long
 * sum over k. */
enum {
    MAX_ROWS = XLM_PACKED_MOST_ROWS,
    LONG = 1 << 14,      /* more rows of B */
    PART_OF_LONG = 2048, /* are multiplied by so many at a time, which stay in a cache for all rows of A */
    MAX_COLUMNS = 4096, /* more are cut */
    COLUMNS = 2048,      /* into blocks of so many */
    LINE = 64            /* bytes */
};

/* Columns of each block but the last. */
static inline int64_t columns_of_block(int64_t n) { return n > MAX_COLUMNS ? COLUMNS : n; }
static inline size_t aligned(size_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }
static inline int threads_for(void) { return omp_in_parallel() ? 1 : omp_get_max_threads(); }

/* Column sums of rows row … row + rows of A, row being a multiple of XLM_PACKED_ROWS, into l->sums. */
void packed_sum_rows(const left *l, int64_t row, int64_t rows);
/* At least so many bytes at p->bytes; what was there is lost. */
void packed_room(xlm_packed *p, size_t bytes);

#if WITH_ONEDNN
/* p: precision, k and n are set. */
void packed_pack(xlm_packed *p, const right *r);
/* B and its transpose, B being read once. */
void packed_pack_both(xlm_packed *transposed, xlm_packed *straight, const xlm_real *b);
/* A, m x k, into blocks of at most MAX_ROWS rows, fewer where these are long; for C of so many blocks of columns. */
xlm_packed_blocks packed_divide(int64_t m, int64_t k, int64_t across);
void packed_product(const left *l, const xlm_real *bias, bool add, xlm_real *c);
#endif

#endif
