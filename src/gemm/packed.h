/* xlm-mpi: products with a matrix that is packed beforehand, by oneDNN. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * C = op(A) op(B), in float32 or bfloat16: B is brought into the order in which the processor reads it once, and multiplied as
 * often as wanted. In bfloat16 (1 bit of sign, 8 of exponent, 7 of mantissa: the upper half of a float) both factors are rounded
 * to it, to nearest and to even, and their products added up in floats. An element of C is one sum over k whose order depends on n
 * and k alone: neither on the number of threads nor on that of the rows. */
#ifndef XLM_GEMM_PACKED_H
#define XLM_GEMM_PACKED_H

#include <xlm/tape.h>

typedef enum { XLM_FLOAT32, XLM_BFLOAT16, XLM_PRECISIONS } xlm_precision;
enum { XLM_PACKED_ROWS = 16, XLM_PACKED_MOST_ROWS = 256 };
extern const char *const xlm_precision_names[XLM_PRECISIONS]; /* "float32", "bfloat16" */

/* Why there are no such products here, for messages: "this processor has no instructions for bfloat16 (AVX512_BF16 or AMX)";
 * NULL: there are. With XLM_BF16_EMULATE=1 in the environment there are those of bfloat16 everywhere: BLIS multiplies the rounded
 * factors, which is slower than float32. */
const char *xlm_packed_lacks(xlm_precision precision);
/* "oneDNN 2.6.3", that which was loaded; "oneDNN" where the program was built without it. */
const char *xlm_packed_library(void);

typedef struct xlm_packed xlm_packed;

/* A factor. Products in bfloat16 read `rounded` where it is not NULL, else `floats`, which they round; those in float32 read
 * floats alone. */
typedef struct xlm_factor {
    const xlm_real *floats;
    const uint16_t *rounded;
} xlm_factor;
static inline xlm_factor xlm_floats(const xlm_real *x) { return (xlm_factor){.floats = x}; }
static inline xlm_factor xlm_rounded(const uint16_t *x) { return (xlm_factor){.rounded = x}; }

xlm_packed *xlm_packed_new(void);
/* NULL is allowed. */
void xlm_packed_free(xlm_packed *p);
/* Take op(B), k x n, row-major without gaps between the rows, as it is now; memory is kept for the next one. */
void xlm_packed_set(xlm_packed *p, xlm_precision precision, bool transpose, int64_t k, int64_t n, const xlm_real *b);
/* Both Bᵀ and B, k x n: as two calls of xlm_packed_set, but B is read once. */
void xlm_packed_set_both(xlm_packed *transposed, xlm_packed *straight, xlm_precision precision, int64_t k, int64_t n,
                         const xlm_real *b);
/* C = op(A) op(B) + bias, or C += op(A) op(B) where `add`; op(A): m x k, C: m x n, row-major without gaps. bias: [n], or NULL.
 * Uses all threads of the rank, or one when called inside a parallel region. */
void xlm_packed_multiply(const xlm_packed *p, int64_t m, bool transpose, xlm_factor a, const xlm_real *bias, bool add,
                         xlm_real *c);
/* Gets rows row … row + rows of columns column … column + cols of C, row-major without gaps, from the thread that made them; they
 * are gone afterwards, and may be changed. They are in memory of the thread's products, so that it must make none meanwhile. */
typedef void xlm_packed_use(void *data, int64_t row, int64_t rows, int64_t column, int64_t cols, xlm_real *c);
/* C = A B + bias, handed to `use` block by block while a block is in a cache, from all threads. All blocks have the same columns
 * whatever the rows, xlm_packed_block_columns(n), the last one fewer. */
void xlm_packed_multiply_blocks(const xlm_packed *p, int64_t m, xlm_factor a, const xlm_real *bias, xlm_packed_use *use,
                                void *data);
int64_t xlm_packed_block_columns(int64_t n);
/* k rounded up, to a length of rows that many products share: code is made for each. */
int64_t xlm_packed_depth(int64_t k);
/* For sums over many rows, whose number is another each time: take B, k x n, with rows of zeros up to xlm_packed_depth(k) of
 * them. A factor A is m x xlm_packed_depth(k), zeros in its last columns; one to be transposed has k rows. */
void xlm_packed_set_rows(xlm_packed *p, xlm_precision precision, int64_t k, int64_t n, xlm_factor b);
/* C = A B, or C += A B. transposed: in bfloat16 [k x m], Aᵀ as it was rounded, for another product; its rows are `apart`; else
 * NULL. sums: NULL, or a line of k column sums of A's floats for each chunk of XLM_PACKED_ROWS rows. */
void xlm_packed_multiply_and_transpose(const xlm_packed *p, int64_t m, xlm_factor a, bool add, xlm_real *c,
                                       uint16_t *transposed, int64_t apart, xlm_real *sums);
/* Rows cut into blocks of XLM_PACKED_MOST_ROWS at most, as the threads there are best share them out: for those who make several
 * products of one block in a thread. Block i begins in row xlm_packed_block_start(&b, i), a multiple of XLM_PACKED_ROWS, and ends
 * where the next one begins. There is none where there are no rows. */
typedef struct xlm_packed_blocks {
    int64_t rows, count;
    int64_t unit, units; /* rows of a unit; units that the rows make, the last one perhaps not full */
} xlm_packed_blocks;
xlm_packed_blocks xlm_packed_divide(const xlm_packed *p, int64_t rows);
static inline int64_t xlm_packed_block_start(const xlm_packed_blocks *b, int64_t i)
{
    const int64_t row = (i * b->units / b->count) * b->unit;
    return row < b->rows ? row : b->rows;
}
/* Bytes that a k x n matrix takes when it is packed; about. */
uint64_t xlm_packed_bytes(xlm_precision precision, int64_t k, int64_t n);

#endif
