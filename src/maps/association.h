/* xlm-mpi: how much more often words occur together than by chance, over ranks. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For the counts X of a table (lexicon/cooccurrence.h), shifted positive pointwise mutual information (Levy & Goldberg 2014,
 * "Neural Word Embedding as Implicit Matrix Factorization", §3.2; smoothing: Levy, Goldberg & Dagan 2015, §3.1):
 *
 *     M_wc = max(0, log( X_wc / (X_w P(c)) ) − log k),   X_w = Σ_c X_wc,   P(c) = X_c^a / Σ_c' X_c'^a
 *
 * X is symmetric; M is symmetric only if a = 1. Both M_wc and M_cw are kept for each pair for which one of them is above 0, so
 * that a row of M and the same row of Mᵀ have their entries in the same places.
 *
 * Word i is row i / R of rank i mod R, because words are sorted by frequency, and rows of frequent words are long. All ranks have
 * the same number of rows; the last of them may belong to no word. The position of word i among the rows of all ranks, one after
 * another, is (i mod R) rows + i / R. */
#ifndef XLM_MAPS_ASSOCIATION_H
#define XLM_MAPS_ASSOCIATION_H

#include "comm/comm.h"
#include "lexicon/cooccurrence.h"

typedef struct xlm_association {
    const xlm_comm *comm;
    int64_t vocabulary;
    int64_t rows;         /* of this rank, and of every other */
    int64_t entries;      /* of all ranks' rows */
    int64_t blocks;       /* of columns, so narrow that their part of x stays in a core's cache */
    uint64_t *offsets;    /* [blocks x rows + 1] where the entries of each row of each block begin */
    uint32_t *columns;    /* positions; in each row by ascending number of the word */
    float *values[2];     /* of M, of Mᵀ */
} xlm_association;

/* Collective. shift: k > 0; smoothing: a. Each rank reads a part of the table, and sends rows to the ranks that keep them;
 * besides its own rows it needs up to about 150 MB of memory. EX_DATAERR: damage; no value is above 0. */
bool xlm_association_read(const xlm_comm *comm, const xlm_cooccurrence *table, double shift, double smoothing,
                          xlm_association *association, GError **error);
/* A struct of zeros is allowed. */
void xlm_association_free(xlm_association *association);
/* Maximum number of bytes that a rank needs for a table; the table need not have been read. */
int64_t xlm_association_bytes(const xlm_comm *comm, const xlm_cooccurrence *table);

/* Columns of vectors that are multiplied at a time: x of all ranks then stays in the processor's cache. */
enum { XLM_ASSOCIATION_COLUMNS = 16 };

/* y = M x, or Mᵀ x with `transpose`, of this rank's rows. x: [n / 16] panels of [R rows x 16], rows by position; y: [rows x n],
 * row-major; n: a multiple of 16. Not collective; all threads. The same bits for any number of ranks and threads. */
void xlm_association_multiply(const xlm_association *association, bool transpose, int64_t n, const double *x, double *y);

#endif
