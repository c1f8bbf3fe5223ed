/* xlm-mpi: what is aligned, text or a corpus. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_ALIGNERS_ALIGN_INPUT_H
#define XLM_ALIGNERS_ALIGN_INPUT_H

#include "aligners/sentence_pairs.h"

typedef struct xlm_align_source {
    const char *files[2];     /* files[1] NULL: files[0] has lines `source ||| target`, or is a corpus */
    bool corpus;
    const char *languages[2]; /* of a corpus, in either order; NULL: its only pair of languages */
    bool splits[2];           /* [xlm_split] of a corpus: which are aligned; splits without such pairs are skipped */
} xlm_align_source;

typedef struct xlm_align_input {
    xlm_corpus *corpus; /* NULL: text */
    xlm_sentence_pairs *pairs;
} xlm_align_input;

/* Collective. Is the file HDF5, and so a corpus? Rank 0 looks at its first eight bytes. */
bool xlm_align_is_corpus(const xlm_comm *comm, const char *path);

/* Collective. Pairs are divided among ranks as xlm_sentence_pairs_open() says. In a corpus, source and target are as the corpus
 * has them; if the languages were asked for in the other order, the log says so. Errors: those of opening; EX_USAGE: the corpus
 * has no such pair of languages, or has several and none was asked for. */
bool xlm_align_input_open(const xlm_comm *comm, const xlm_align_source *source, xlm_pair_work work, int64_t unit,
                          xlm_align_input *input, GError **error);
void xlm_align_input_close(xlm_align_input *input); /* also if it was not opened and is all zeros */

#endif
