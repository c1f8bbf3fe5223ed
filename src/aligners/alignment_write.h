/* xlm-mpi: the alignment of a corpus's sentence pairs, one HDF5 file: writing. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   xlm_alignment_create -> xlm_alignment_write for each pair of languages -> xlm_alignment_commit | xlm_alignment_discard */
#ifndef XLM_ALIGNERS_ALIGNMENT_WRITE_H
#define XLM_ALIGNERS_ALIGNMENT_WRITE_H

#include "aligners/alignment_file.h"
#include "aligners/sentence_pairs.h"

typedef struct xlm_alignment_writer xlm_alignment_writer;

/* Collective, as all that follows. corpus: borrowed until the end. EX_CANTCREAT, EX_IOERR. */
xlm_alignment_writer *xlm_alignment_create(const xlm_comm *comm, const char *path, const xlm_corpus *corpus,
                                           const xlm_alignment_origin *origin, GError **error);
/* Links of all pairs of two languages in a split, of which each rank has a contiguous part, in the order of ranks. n: this rank's
 * pairs; offsets: [n + 1], from 0; links: [offsets[n]] between subwords, those of a pair in order; scores: the same, NULL
 * without; where any rank has some, one without links may give NULL as well. */
bool xlm_alignment_write(xlm_alignment_writer *writer, xlm_split split, const xlm_corpus_pairs *pairs, int64_t n,
                         const uint64_t *offsets, const xlm_link *links, const float *scores, GError **error);
/* The same of links between words, of all parts of `pairs`: those of this corpus, xlm_sentence_pairs_open_corpus(), which are
 * aligned and are read again here to find the words of their subwords. offsets: [xlm_sentence_pairs_count() + 1]. */
bool xlm_alignment_write_words(xlm_alignment_writer *writer, xlm_sentence_pairs *pairs, const uint64_t *offsets,
                               const xlm_link *links, const float *scores, GError **error);
/* Give the file its name. The writer is gone afterwards, also when this fails; then nothing is left. */
bool xlm_alignment_commit(xlm_alignment_writer *writer, GError **error);
void xlm_alignment_discard(xlm_alignment_writer *writer); /* NULL is allowed */

#endif
