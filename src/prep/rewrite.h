/* xlm-mpi: rewriting a text file by all ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_PREP_REWRITE_H
#define XLM_PREP_REWRITE_H

#include "prep/scan.h"

/* Go to this rank's next block of the scan and append the rewritten block to `out`, which is empty. state: the caller's. */
typedef void xlm_rewrite_block(xlm_scan *scan, GString *out, void *state);

/* Read the source (of one side) and write `path`, block after block in the order of the source, whatever the number of ranks. The
 * file has a temporary name until it is complete. [out] lines: number of lines of the source. Collective. Errors: those of
 * reading, EX_CANTCREAT, EX_IOERR; then there is no file. */
bool xlm_prep_rewrite(const xlm_comm *comm, const xlm_prep_source *source, const char *path, xlm_rewrite_block *block,
                      void *state, int64_t *lines, GError **error);

#endif
