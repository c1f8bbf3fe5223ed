/* xlm-mpi: how much of a language's text a dictionary covers. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_LEXICON_COVERAGE_H
#define XLM_LEXICON_COVERAGE_H

#include "lexicon/frequency.h"

/* For a band (lexicon/frequency.h), the bands before it included. */
typedef struct xlm_coverage {
    int64_t subwords, tokens;    /* of the band */
    int64_t known, known_tokens; /* those among them that the dictionary has */
} xlm_coverage;

/* [in] known: [vocabulary] flags. A pass over the tokens of the text. Errors: those of xlm_frequency_list. */
bool xlm_coverage_measure(const xlm_corpus *corpus, const xlm_corpus_text *text, const bool *known,
                          xlm_coverage bands[XLM_FREQUENCY_BANDS], GError **error);

#endif
