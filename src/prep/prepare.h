/* xlm-mpi: from text files to a corpus file. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The text is read two or three times, by all ranks together, a block of lines at a time:
 *   1. pairs, when sentences are held out: who is held out (prepare_split.h)
 *   2. words are counted; rank 0 learns the merges and makes the vocabulary (prepare_count.h)
 *   3. text is encoded and written in the order in which it was read (prepare_encode.h)
 * Nothing is kept in memory but word counts, a digest for each side of a pair, and one block of text a rank. */
#ifndef XLM_PREP_PREPARE_H
#define XLM_PREP_PREPARE_H

#include "comm/comm.h"
#include "prep/options.h"

/* Do what checked options say; collective. Any error leaves no file behind. */
bool xlm_prepare(const xlm_comm *comm, const xlm_prepare_options *options, GError **error);

#endif
