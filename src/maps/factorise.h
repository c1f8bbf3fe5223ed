/* xlm-mpi: embeddings by counting: factors of a co-occurrence table. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The matrix M of shifted positive PMI (maps/association.h) is U_k S V_kᵀ to rank k, and the vector of word w row w of
 * U_k S^p (Levy, Goldberg & Dagan 2015, §3.3: p = 1/2 or 0 serve better than 1). The file is one of vectors/vector_file.h, with
 *
 *   /singular_values  [k] f64, falling
 *   attributes of /   content = "words", vectors = "shifted positive PMI", table (its path), shift, smoothing, power, seed,
 *                     entries (pairs with M_wc or M_cw above 0), residual (largest relative error of S²) */
#ifndef XLM_MAPS_FACTORISE_H
#define XLM_MAPS_FACTORISE_H

#include "comm/comm.h"

typedef struct xlm_factorise_options {
    const char *table, *output, *command;
    int64_t rank;                              /* k, at least 1 */
    double shift, smoothing, power, tolerance; /* shift > 0 */
    uint64_t seed;
    int64_t memory;                            /* bytes that a rank may take; 0: no limit */
} xlm_factorise_options;

/* Collective. EX_NOINPUT; EX_DATAERR: the table has nothing above 0, is damaged, or has fewer subwords than the rank; EX_USAGE:
 * the memory is not enough; EX_CANTCREAT, EX_IOERR; EX_SOFTWARE. */
bool xlm_factorise(const xlm_comm *comm, const xlm_factorise_options *options, GError **error);

#endif
