/* xlm-mpi: how often subwords occur near each other. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_COOCCURRENCE_H
#define XLM_COOCCURRENCE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The symmetric matrix X of a file of xlm_cooc, in compressed rows: each entry that is not 0 is stored once, in the row of the
 * smaller id. X_ij is the sum over languages l and distances r = 1 … window of c_l w_r times the number of times that j occurs r
 * subwords before or after i in a sentence of language l, with the factors c_l and the weights w_r of the file. Special tokens
 * are in no pair. */
typedef struct xlm_cooccurrence_table {
    int64_t vocabulary;      /* V */
    int64_t window;          /* the largest distance counted, in subwords */
    int64_t entries;         /* E */
    const uint64_t *offsets; /* [V+1] row i has entries offsets[i] to offsets[i+1] - 1 */
    const uint32_t *columns; /* [E] ids j >= i, ascending within a row */
    const float *counts;     /* [E] X_ij > 0 */
} xlm_cooccurrence_table;

/* X_ab, 0 if the two never co-occur; takes time logarithmic in the length of a row.
 * [in] a: id, 0 to V - 1
 * [in] b: id, 0 to V - 1 */
static inline double xlm_cooccurrence_find(const xlm_cooccurrence_table *table, int32_t a, int32_t b)
{
    const int32_t row = a < b ? a : b;
    const uint32_t column = (uint32_t)(a < b ? b : a);
    const uint64_t end = table->offsets[row + 1];
    uint64_t first = table->offsets[row], n = end - first;
    while (n > 0) { /* the first column >= column */
        const uint64_t half = n / 2;
        const uint64_t below = table->columns[first + half] < column;
        first += below ? half + 1 : 0;
        n = below ? n - half - 1 : half;
    }
    return first < end && table->columns[first] == column ? (double)table->counts[first] : 0;
}

#ifdef __cplusplus
}
#endif
#endif
