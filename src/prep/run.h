/* xlm-mpi: from text files to a corpus file. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The text is read two to four times, by all ranks together, a block of lines at a time:
 *   0. all of it, when duplicates are to be left out (prep/filter.h)
 *   1. pairs, when sentences are held out: which sentences are held out (prep/split.h)
 *   2. words are counted; rank 0 learns the merges and makes the vocabulary (prep/count.c)
 *   3. text is encoded and written in the order in which it was read (prep/encode.c)
 * Only word counts, a digest of each side of each pair, digests of all sentences to find duplicates (prep/duplicates.h), and one
 * block of text per rank are kept in memory. */
#ifndef XLM_PREP_RUN_H
#define XLM_PREP_RUN_H

#include "comm/comm.h"
#include "prep/options.h"

/* Prepare the text of checked options; collective. After an error there is no output file. */
bool xlm_prep_run(const xlm_comm *comm, const xlm_prep_options *options, GError **error);

#endif
