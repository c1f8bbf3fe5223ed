/* xlm-mpi: links of all ranks as text in one file. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One line per sentence pair, with links separated by spaces, words counted from 0, sorted by source, then target: `0-0 1-2` (the
 * Pharaoh format of fast_align and Moses). A pair without links has an empty line. Scores are in a file of their own, also one
 * line per pair, in the order of the links, so that programs that read links need not know of them. */
#ifndef XLM_ALIGNERS_LINK_FILE_H
#define XLM_ALIGNERS_LINK_FILE_H

#include "aligners/links.h"
#include "comm/comm.h"

/* Append the line of a pair, with its LF. */
void xlm_link_file_append(GString *lines, const xlm_link *links, int64_t n);
/* The same for the scores of its links, with four digits each: `0.9312 0.5`. */
void xlm_link_file_append_scores(GString *lines, const float *scores, int64_t n);

/* Collective. Write the lines of all ranks, own[size] of each, in the order of ranks. Each rank writes its own at its place in a
 * file that all nodes must see, and that gets its name when it is complete. path NULL: rank 0 writes to standard output.
 * EX_CANTCREAT, EX_IOERR: the same on all ranks, and nothing is left. */
bool xlm_link_file_write(const xlm_comm *comm, const char *path, const char *own, size_t size, GError **error);

#endif
