/* xlm-mpi: rows of attention in the type of its products. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Attention counts in units along the dimension that a product sums over: a unit is one number, or in bfloat16 a pair of
 * consecutive numbers, and has the size of a real. An xlm_attention_element has the functions that differ between the types. */
#ifndef XLM_TENSOR_ATTENTION_ELEMENT_H
#define XLM_TENSOR_ATTENTION_ELEMENT_H

#include <xlm/tape.h>

/* Memory for rows of a head's columns: close together, and in bfloat16 also as pairs of rows. */
typedef struct xlm_attention_room {
    uint16_t *rounded; /* [rows x stride]; in bfloat16 only */
    xlm_real *down;    /* [units(rows) x stride] */
} xlm_attention_room;

/* Rows of a head's columns in a wider matrix. */
typedef struct xlm_attention_source {
    const xlm_real *value;   /* the first row; NULL if there is only the rounded form */
    const uint16_t *rounded; /* the first row; NULL: not rounded yet */
    int64_t apart;           /* numbers from row to row */
} xlm_attention_source;

/* Rows in the form that products read. */
typedef struct xlm_attention_block {
    const void *across; /* for sums over the columns: [rows x units(w)], rows of `apart` units */
    int64_t apart;
    const void *down;   /* for sums over the rows: [units(rows) x w], rows of stride units; NULL unless asked for */
} xlm_attention_block;

typedef struct xlm_attention_element {
    int64_t in_unit; /* numbers in a unit, which has the size of a real */
    /* Rows of w numbers in the form that products read: where they are, or copied into the room, with rows of `stride` units for
     * sums over rows. down: whether that form is needed too. */
    xlm_attention_block (*load)(int64_t rows, int64_t w, xlm_attention_source x, xlm_attention_room room, int64_t stride,
                                bool down);
    /* Brings a complete row of n weights into the form for sums over keys, and all rows of a block into that for sums over
     * queries. */
    void (*finish_row)(int64_t n, const xlm_real *x, void *across);
    void (*finish_rows)(int64_t rows, int64_t n, const xlm_real *x, void *down, int64_t ld);
    /* As xlm_kernels.product, of units. */
    void (*product)(int64_t m, int64_t n, int64_t depth, const void *a, int64_t a_row, int64_t a_col, const void *b, int64_t ldb,
                    xlm_real *c, int64_t ldc, bool add);
    xlm_real (*dot)(int64_t n, const void *a, const xlm_real *b); /* a: a row of a block's `across` */
} xlm_attention_element;

extern const xlm_attention_element xlm_attention_reals, xlm_attention_bfloat16;

/* The place of unit `number` of a matrix of units. */
static inline void *xlm_attention_unit(const void *matrix, int64_t number) { return (xlm_real *)matrix + number; }

/* Prefetches, for a row of a head's columns, the columns of the next head, which the same thread reads next. Rows are pages
 * apart, so the processor cannot predict this. Call it for one row at a time, between reads, because more requests at once wait
 * for one another. After the last head it is useless and harmless. */
void xlm_attention_fetch_next(const void *row, size_t bytes);

#endif
