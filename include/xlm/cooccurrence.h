/* xlm-mpi: how often subwords stand near one another. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_COOCCURRENCE_H
#define XLM_COOCCURRENCE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The symmetric matrix X of a file of xlm_cooc, in compressed rows: those entries that are not 0, each once, in the row of the
 * smaller id. X_ij is the sum over languages and distances r = 1 … window of c_language w_r times the number of times that j
 * stands r subwords before or after i in a sentence. Special tokens are in no pair. */
typedef struct xlm_cooccurrence_table {
    int64_t vocabulary;      /* V */
    int64_t window;          /* the largest distance that was counted */
    int64_t entries;         /* E */
    const uint64_t *offsets; /* [V+1] entries of row i are offsets[i] … offsets[i+1] */
    const uint32_t *columns; /* [E] ids j >= i, ascending within a row */
    const float *counts;     /* [E] X_ij > 0 */
} xlm_cooccurrence_table;

/* X of two ids of the vocabulary, 0 where they never met. A search in one row: its length's logarithm. */
static inline double xlm_cooccurrence_find(const xlm_cooccurrence_table *table, int32_t a, int32_t b)
{
    const int32_t row = a < b ? a : b;
    const uint32_t column = (uint32_t)(a < b ? b : a);
    const uint64_t end = table->offsets[row + 1];
    uint64_t first = table->offsets[row], n = end - first;
    while (n > 0) { /* the first column that is not below */
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
