/* xlm-mpi: the subwords of a language's text by frequency. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_LEXICON_FREQUENCY_H
#define XLM_LEXICON_FREQUENCY_H

#include "corpus/corpus.h"

typedef struct xlm_frequency {
    int32_t id; /* of a subword */
    int64_t count;
} xlm_frequency;

/* Frequency bands for which measures are reported: the most frequent subwords of a text, up to this share of its subwords. */
enum { XLM_FREQUENCY_BANDS = 4 };
extern const double xlm_frequency_bands[XLM_FREQUENCY_BANDS]; /* 0.01, 0.1, 0.5, 1 */
/* How many of n subwords are in band b or an earlier one: at least one if there are any. */
int64_t xlm_frequency_band_end(int64_t n, int b);

/* A list (xlm_frequency) of all subwords in the text except special tokens, the most frequent first, those of equal count by id.
 * Reads all tokens of the text. g_array_unref. EX_DATAERR for a token that is not in the vocabulary; errors of reading. */
GArray *xlm_frequency_list(const xlm_corpus *corpus, const xlm_corpus_text *text, GError **error);
/* The same for the training text of a language, by its name. EX_DATAERR also when there is none. */
GArray *xlm_frequency_list_of(const xlm_corpus *corpus, const char *language, GError **error);
/* Sort a list in this order. */
void xlm_frequency_sort(GArray *list);

/* How much of a band and the bands before it a dictionary covers. */
typedef struct xlm_coverage {
    int64_t subwords, tokens;
    int64_t known, known_tokens; /* those of them that the dictionary has */
} xlm_coverage;

/* [in] known: [vocabulary] flags. Reads all tokens of the text. Errors of xlm_frequency_list. */
bool xlm_coverage_measure(const xlm_corpus *corpus, const xlm_corpus_text *text, const bool *known,
                          xlm_coverage bands[XLM_FREQUENCY_BANDS], GError **error);

#endif
