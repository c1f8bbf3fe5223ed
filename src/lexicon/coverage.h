/* xlm-mpi: how much of a language's text a dictionary covers. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_LEXICON_COVERAGE_H
#define XLM_LEXICON_COVERAGE_H

#include "corpus/corpus.h"

/* Bands of the subwords that a language's training text has, by falling count: the first 1 %, 10 %, 50 %, all. */
enum { XLM_COVERAGE_BANDS = 4 };

typedef struct xlm_coverage {
    double part;               /* 0.01 ... 1 */
    int64_t subwords, tokens;  /* of the band */
    int64_t known, known_tokens; /* those among them that the dictionary has */
} xlm_coverage;

/* [in] known: [vocabulary] flags. A pass over the tokens of the text. Bands have at least one subword when the text has a
 * token. Errors: what reading the corpus says. */
bool xlm_coverage_measure(const xlm_corpus *corpus, const xlm_corpus_text *text, const bool *known,
                          xlm_coverage bands[XLM_COVERAGE_BANDS], GError **error);

#endif
