/* xlm-mpi: a corpus's sentence pairs one after another. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Some hundreds of pairs are read at a time, so that a corpus of any size takes little memory. */
#ifndef XLM_ALIGNERS_CORPUS_WALK_H
#define XLM_ALIGNERS_CORPUS_WALK_H

#include "corpus/corpus.h"

typedef struct xlm_corpus_walk xlm_corpus_walk;

/* Begins with pair 0. corpus, pairs: borrowed. sizes_alone: do not read subwords. xlm_corpus_walk_free. */
xlm_corpus_walk *xlm_corpus_walk_new(const xlm_corpus *corpus, const xlm_corpus_pairs *pairs, bool sizes_alone);
void xlm_corpus_walk_free(xlm_corpus_walk *walk); /* NULL is allowed */
/* Continue with this pair. */
void xlm_corpus_walk_to(xlm_corpus_walk *walk, int64_t pair);
/* The next pair. [out] ids: [2] subwords of source and target, valid until the next call (NULL: sizes alone); n: [2] their
 * number. Returns 1, 0 after the last, or -1 with EX_DATAERR. */
int xlm_corpus_walk_next(xlm_corpus_walk *walk, const int32_t *ids[2], int64_t n[2], GError **error);

#endif
