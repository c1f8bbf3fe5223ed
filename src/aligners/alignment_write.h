/* xlm-mpi: the alignment of a corpus's sentence pairs, one HDF5 file: writing. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   xlm_alignment_create -> xlm_alignment_write for each pair of languages -> xlm_store_end */
#ifndef XLM_ALIGNERS_ALIGNMENT_WRITE_H
#define XLM_ALIGNERS_ALIGNMENT_WRITE_H

#include "aligners/alignment_file.h"
#include "aligners/sentence_pairs.h"

/* Links of this rank's pairs, one pair after another, each pair's in the order of xlm_links_sort(). */
typedef struct xlm_found_links {
    GArray *offsets, *links, *scores; /* uint64_t [pairs + 1], from 0; xlm_link; float, NULL: links have no scores */
} xlm_found_links;

xlm_found_links *xlm_found_links_new(void);
/* Add the n links of the next pair. */
void xlm_found_links_append(xlm_found_links *found, const xlm_link *links, const float *scores, int64_t n);
void xlm_found_links_free(xlm_found_links *found); /* NULL is allowed */

/* Collective, like all that follow. EX_CANTCREAT, EX_IOERR. */
xlm_store *xlm_alignment_create(const xlm_comm *comm, const char *path, const xlm_corpus *corpus,
                                const xlm_alignment_origin *origin, GError **error);
/* Write the links, between subwords, of all pairs of two languages in a split. Each rank has a contiguous part of the pairs, in
 * the order of ranks. */
bool xlm_alignment_write(const xlm_comm *comm, xlm_store *store, const xlm_corpus *corpus, xlm_split split,
                         const xlm_corpus_pairs *pairs, const xlm_found_links *found, GError **error);

/* Write a whole file from links between the words of `pairs`, which are those of a corpus; they are read again to find the
 * subwords of their words. The origin's corpus is the path of this corpus. On failure nothing is left. EX_CANTCREAT, EX_IOERR,
 * EX_DATAERR, EX_UNAVAILABLE: more than 2^31 links. */
bool xlm_alignment_write_words(const xlm_comm *comm, const char *path, xlm_sentence_pairs *pairs, const xlm_found_links *found,
                               const xlm_alignment_origin *origin, GError **error);

#endif
