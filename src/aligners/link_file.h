/* xlm-mpi: links of all ranks as text in one file. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A line a sentence pair, links between spaces, words from 0, by source, then target: `0-0 1-2` (Pharaoh, as fast_align and Moses
 * have it); an empty line for a pair without links. Scores are in a file of their own, one line per pair as well, those of the
 * same links in the same order: programs that read the links need not know of them. */
#ifndef XLM_ALIGNERS_LINK_FILE_H
#define XLM_ALIGNERS_LINK_FILE_H

#include "aligners/links.h"
#include "comm/comm.h"

/* Append the line of a pair, with its LF. */
void xlm_link_file_append(GString *lines, const xlm_link *links, int64_t n);
/* The same for the scores of its links, four digits of each: `0.9312 0.5`. */
void xlm_link_file_append_scores(GString *lines, const float *scores, int64_t n);

/* Collective. Write the ranks' lines, own[size] of each, one after another in the order of ranks. Each rank writes its own at its
 * place in a file that all nodes see, which gets its name when it is whole. path NULL: standard output, where rank 0 writes.
 * EX_CANTCREAT, EX_IOERR: the same on all ranks, and nothing is left. */
bool xlm_link_file_write(const xlm_comm *comm, const char *path, const char *own, size_t size, GError **error);

#endif
