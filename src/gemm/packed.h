/* xlm-mpi: products with a matrix that is packed beforehand, by oneDNN. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * C = op(A) op(B), in float32 or bfloat16: B is brought once into the order in which the processor reads it, and multiplied as
 * often as needed. For bfloat16 (1 bit of sign, 8 of exponent, 7 of mantissa: the upper half of a float) both factors are rounded
 * to nearest, ties to even, and their products are added up as floats. An element of C is one sum over k. Its order depends on n
 * and k alone, neither on the number of threads nor on the number of rows. */
#ifndef XLM_GEMM_PACKED_H
#define XLM_GEMM_PACKED_H

#include <xlm/tape.h>

typedef enum { XLM_FLOAT32, XLM_BFLOAT16, XLM_PRECISIONS } xlm_precision;
enum { XLM_PACKED_ROWS = 16, XLM_PACKED_MAX_ROWS = 256 };
extern const char *const xlm_precision_names[XLM_PRECISIONS]; /* "float32", "bfloat16" */

/* Why this machine has no such products, for messages: "the processor of HOST has no instructions for bfloat16 (AVX512_BF16 or
 * AMX)"; NULL if it has them. With XLM_BF16_EMULATE=1 in the environment every machine has products in bfloat16: BLIS multiplies
 * the rounded factors, which is slower than float32. */
const char *xlm_packed_lacks(xlm_precision precision);
/* The loaded version, such as "oneDNN 2.6.3"; "oneDNN" if the program was built without it. */
const char *xlm_packed_library(void);

typedef struct xlm_packed xlm_packed;

/* A factor. Products in bfloat16 read `rounded` if it is not NULL; otherwise they read and round `floats`. Products in float32
 * read only `floats`. */
typedef struct xlm_factor {
    const xlm_real *floats;
    const uint16_t *rounded;
} xlm_factor;
static inline xlm_factor xlm_floats(const xlm_real *x) { return (xlm_factor){.floats = x}; }
static inline xlm_factor xlm_rounded(const uint16_t *x) { return (xlm_factor){.rounded = x}; }

xlm_packed *xlm_packed_new(void);
/* NULL is allowed. */
void xlm_packed_free(xlm_packed *p);
/* Pack the present values of op(B), k x n, row-major without gaps between the rows. The memory is kept for the next matrix. */
void xlm_packed_set(xlm_packed *p, xlm_precision precision, bool transpose, int64_t k, int64_t n, const xlm_real *b);
/* The same as xlm_packed_set without transposition, but a long B in float32 stays where it is, and each of its parts is packed
 * when it is multiplied, all into the same memory: for a matrix that is as large as the table of a vocabulary. b: borrowed until
 * another matrix is packed. Its products must not be computed inside parallel regions. */
void xlm_packed_set_by_parts(xlm_packed *p, xlm_precision precision, int64_t k, int64_t n, const xlm_real *b);
/* Does a B with k rows stay where it is? */
bool xlm_packed_leaves(xlm_precision precision, int64_t k);
/* Pack both Bᵀ and B, k x n: like two calls of xlm_packed_set, but B is read only once. */
void xlm_packed_set_both(xlm_packed *transposed, xlm_packed *straight, xlm_precision precision, int64_t k, int64_t n,
                         const xlm_real *b);
/* C = op(A) op(B) + bias, or C += op(A) op(B) where `add`; op(A): m x k, C: m x n, row-major without gaps. bias: [n], or NULL.
 * Uses all threads of the rank, or one when called inside a parallel region. */
void xlm_packed_multiply(const xlm_packed *p, int64_t m, bool transpose, xlm_factor a, const xlm_real *bias, bool add,
                         xlm_real *c);
/* Receives rows row … row + rows of columns column … column + cols of C, row-major without gaps, on the thread that computed
 * them. It may change them; they are lost when it returns. They are in memory that the products of the thread use, so it must not
 * compute a product meanwhile. */
typedef void xlm_packed_use(void *data, int64_t row, int64_t rows, int64_t column, int64_t cols, xlm_real *c);
/* C = A B + bias. All threads pass C to `use` block by block, while the block is in a cache. Every block has
 * xlm_packed_block_columns(n) columns, the last one fewer, for any number of rows. */
void xlm_packed_multiply_blocks(const xlm_packed *p, int64_t m, xlm_factor a, const xlm_real *bias, xlm_packed_use *use,
                                void *data);
int64_t xlm_packed_block_columns(int64_t n);
/* k rounded up to a length that many products share, because code is generated for each length. */
int64_t xlm_packed_depth(int64_t k);
/* For sums over many rows, whose number differs each time: pack B, k x n, padded with rows of zeros to xlm_packed_depth(k) rows.
 * A factor A is m x xlm_packed_depth(k), with zeros in its last columns; one that is transposed has k rows. */
void xlm_packed_set_rows(xlm_packed *p, xlm_precision precision, int64_t k, int64_t n, xlm_factor b);
/* C = A B, or C += A B. [out] transposed: NULL, or in bfloat16 the rounded Aᵀ, [k x m] with rows `apart` elements apart, for
 * another product. [out] sums: NULL, or k column sums of A's floats for each chunk of XLM_PACKED_ROWS rows. */
void xlm_packed_multiply_and_transpose(const xlm_packed *p, int64_t m, xlm_factor a, bool add, xlm_real *c,
                                       uint16_t *transposed, int64_t apart, xlm_real *sums);
/* Rows divided into blocks of at most XLM_PACKED_MAX_ROWS rows so that the threads share them evenly, for callers that compute
 * several products of one block in a thread. Block i begins at row xlm_packed_block_start(&b, i), a multiple of XLM_PACKED_ROWS,
 * and ends where the next one begins. Without rows there are no blocks. */
typedef struct xlm_packed_blocks {
    int64_t rows, count;
    int64_t unit, units; /* rows of a unit; number of units, the last of which may not be full */
} xlm_packed_blocks;
xlm_packed_blocks xlm_packed_divide(const xlm_packed *p, int64_t rows);
static inline int64_t xlm_packed_block_start(const xlm_packed_blocks *b, int64_t i)
{
    const int64_t row = (i * b->units / b->count) * b->unit;
    return row < b->rows ? row : b->rows;
}
/* Approximate number of bytes of a packed k x n matrix. */
uint64_t xlm_packed_bytes(xlm_precision precision, int64_t k, int64_t n);

#endif
