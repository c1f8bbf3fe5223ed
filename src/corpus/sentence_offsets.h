/* xlm-mpi: where sentences lie in a text. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_CORPUS_SENTENCE_OFFSETS_H
#define XLM_CORPUS_SENTENCE_OFFSETS_H

#include "corpus/corpus.h"

/* For n sentences in any order: the first token of each and the number of its tokens. Their offsets are read in as few
 * reads as possible: in one when the sentences occur near one another. sentences: every second number, as in the
 * rows of links as xlm_corpus_read_links gives them. */
bool xlm_corpus_sentence_offsets(const xlm_corpus *corpus, const xlm_corpus_text *text, int64_t n, const int64_t *sentences,
                          int64_t *starts, int64_t *tokens, GError **error);

#endif
