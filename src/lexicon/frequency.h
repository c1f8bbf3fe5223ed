/* xlm-mpi: the subwords of a language's text by frequency. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_LEXICON_FREQUENCY_H
#define XLM_LEXICON_FREQUENCY_H

#include "corpus/corpus.h"

/* A subword of a text. */
typedef struct xlm_frequency {
    int32_t id;
    int64_t count;
} xlm_frequency;

/* Frequency bands that measures are reported by: the most frequent subwords of a text, up to this share of all it has. */
enum { XLM_FREQUENCY_BANDS = 4 };
extern const double xlm_frequency_bands[XLM_FREQUENCY_BANDS]; /* 0.01, 0.1, 0.5, 1 */
/* How many of n subwords are in band b or one before it: at least one when there is any. */
int64_t xlm_frequency_band_end(int64_t n, int b);

/* [xlm_frequency] of all subwords that the text has, without special tokens, by falling count, ties by id. A pass over its
 * tokens. g_array_unref. EX_DATAERR for a token that is not in the vocabulary, and the errors of reading. */
GArray *xlm_frequency_list(const xlm_corpus *corpus, const xlm_corpus_text *text, GError **error);
/* The same for the training text of a language, by its name. EX_DATAERR also when there is none. */
GArray *xlm_frequency_list_of(const xlm_corpus *corpus, const char *language, GError **error);

#endif
