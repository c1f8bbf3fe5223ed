/* xlm-mpi: what is aligned, text or a corpus. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_ALIGNERS_ALIGN_INPUT_H
#define XLM_ALIGNERS_ALIGN_INPUT_H

#include "aligners/sentence_pairs.h"

typedef struct xlm_align_source {
    const char *files[2];     /* the second NULL: one of lines `source ||| target`, or a corpus */
    bool corpus;
    const char *languages[2]; /* of a corpus, in either order; NULL: its only pair */
    bool splits[2];           /* of a corpus, by xlm_split: which are aligned; those without such pairs are skipped */
} xlm_align_source;

typedef struct xlm_align_input {
    xlm_corpus *corpus; /* NULL: text */
    xlm_sentence_pairs *pairs;
} xlm_align_input;

/* Collective. Is it a file of HDF5, and so no text? Rank 0 looks at its first eight bytes, which say so. */
bool xlm_align_is_corpus(const xlm_comm *comm, const char *path);

/* Collective. Pairs are shared out as xlm_sentence_pairs_open() says. Those of a corpus have the order of languages that the
 * corpus has; when this is not the one that was asked for, the log says so. Errors: those of opening; EX_USAGE: the corpus has
 * no such pair of languages, or several and none was asked for. */
bool xlm_align_input_open(const xlm_comm *comm, const xlm_align_source *source, xlm_pair_work work, int64_t unit,
                          xlm_align_input *input, GError **error);
void xlm_align_input_close(xlm_align_input *input); /* also of one that was not opened, of zeros */

#endif
