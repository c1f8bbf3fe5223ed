/* xlm-mpi: what a corpus was made from, for its attributes. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_PREP_PROVENANCE_H
#define XLM_PREP_PROVENANCE_H

#include "prep/options.h"
#include "store/store.h"

typedef struct xlm_provenance xlm_provenance;

/* Start computing the SHA-256 of every input in the background, in a thread of this rank; inputs are distributed over ranks. Not
 * collective. */
xlm_provenance *xlm_provenance_begin(const xlm_comm *comm, const xlm_prep_options *options);
/* Wait for all digests and write /inputs and the attributes of the root of a corpus file; collective. lines[i]: of source i. The
 * provenance is gone afterwards. */
bool xlm_provenance_write(xlm_provenance *provenance, const xlm_comm *comm, const xlm_prep_options *options,
                          const int64_t *lines, xlm_store *store, GError **error);
/* Give up; NULL is allowed. */
void xlm_provenance_free(xlm_provenance *provenance);

#endif
