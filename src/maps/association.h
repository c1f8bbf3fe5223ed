/* xlm-mpi: how much more often words meet than by chance, over ranks. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For the counts X of a table (lexicon/cooccurrence.h), shifted positive pointwise mutual information (Levy & Goldberg 2014,
 * "Neural Word Embedding as Implicit Matrix Factorization", §3.2; smoothing: Levy, Goldberg & Dagan 2015, §3.1):
 *
 *     M_wc = max(0, log( X_wc / (X_w P(c)) ) − log k),   X_w = Σ_c X_wc,   P(c) = X_c^a / Σ_c' X_c'^a
 *
 * X is symmetric, M is only where a = 1. Both M_wc and M_cw are kept for the pairs of which one is above 0, by rows: a row of M
 * and a row of Mᵀ are in the same place.
 *
 * Word i is row i / R of rank i mod R: words are sorted by frequency, and rows of frequent ones are long. All ranks have the same
 * number of rows, of which the last may be no word's. Its position among the rows of all ranks, one after another, is
 * (i mod R) rows + i / R. */
#ifndef XLM_MAPS_ASSOCIATION_H
#define XLM_MAPS_ASSOCIATION_H

#include "comm/comm.h"
#include "lexicon/cooccurrence.h"

typedef struct xlm_association {
    const xlm_comm *comm;
    int64_t vocabulary;
    int64_t rows;         /* of this rank, and of every other */
    int64_t entries;      /* of all ranks' rows */
    int64_t blocks;       /* of columns, each of so many words that their part of x stays in a core's cache */
    uint64_t *offsets;    /* [blocks rows + 1] entries of each block, of which those of each row */
    uint32_t *columns;    /* positions, each row's by rising number of the word */
    float *values[2];     /* of M, of Mᵀ */
} xlm_association;

/* Collective. shift: k > 0; smoothing: a. Each rank reads a part of the table, and rows are sent to those who keep them: in
 * memory are at most the rank's rows and some ten MB. EX_DATAERR: damage; no value is above 0. */
bool xlm_association_read(const xlm_comm *comm, const xlm_cooccurrence *table, double shift, double smoothing,
                          xlm_association *association, GError **error);
/* After zeros, too. */
void xlm_association_free(xlm_association *association);
/* Bytes of a rank for a table, at most, before it is read. */
int64_t xlm_association_bytes(const xlm_comm *comm, const xlm_cooccurrence *table);

/* Columns of vectors that are multiplied at a time: x of all ranks then stays in the processor's cache. */
enum { XLM_ASSOCIATION_COLUMNS = 16 };

/* y = M x, or Mᵀ x with `transpose`, of this rank's rows. x: [n / 16] panels of [R rows x 16], rows by position; y: [rows x n],
 * row-major; n: a multiple of 16. Not collective; all threads. The same bits for any number of ranks and threads. */
void xlm_association_multiply(const xlm_association *association, bool transpose, int64_t n, const double *x, double *y);

#endif
