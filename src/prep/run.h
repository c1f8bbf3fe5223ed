/* xlm-mpi: from text files to a corpus file. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is no plain file of lines is unpacked, and all text is read once to find its lines (prep/texts.h). Then it is read two to
 * four times, by all ranks together, a block of lines at a time:
 *   0. all of it, when duplicates are to be left out (prep/filter.h)
 *   1. pairs, when sentences are held out: which sentences are held out (prep/split.h)
 *   2. words are counted; rank 0 learns the merges; the vocabulary is made (prep/make_vocabulary.c)
 *   3. text is encoded and written in the order in which it was read (prep/encode.c)
 * Only word counts, a digest of each side of each pair, digests of all sentences to find duplicates (prep/duplicates.h), and one
 * block of text per rank are kept in memory; with --append also digests of the pairs of the corpus, divided over the ranks, and its
 * /assigned, on every rank. */
#ifndef XLM_PREP_RUN_H
#define XLM_PREP_RUN_H

#include "comm/comm.h"
#include "prep/options.h"

/* Prepare the text of checked options; collective. After an error there is no output file. */
bool xlm_prep_run(const xlm_comm *comm, const xlm_prep_options *options, GError **error);

#endif
