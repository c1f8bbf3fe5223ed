/* xlm-mpi: the sentences of a text. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Between sentence boundaries of Unicode (UAX #29) as ICU tailors them for the language. Abbreviations are not known: "Dr. Smith"
 * may be two sentences. */
#ifndef XLM_TEXT_SENTENCES_H
#define XLM_TEXT_SENTENCES_H

#include "text/words.h"

typedef struct xlm_sentence_splitter xlm_sentence_splitter;

/* [in] language: as xlm_splitter_new. To be used by one thread at a time. EX_SOFTWARE when ICU has no rules. */
xlm_sentence_splitter *xlm_sentence_splitter_new(const char *language, GError **error);
/* NULL is allowed. */
void xlm_sentence_splitter_free(xlm_sentence_splitter *splitter);

/* [in] text: UTF-8, size <= XLM_LINE_MAX. Returns the *n sentences in order, which together are the whole text, white space at their
 * ends included; valid until the next call. EX_SOFTWARE. */
const xlm_word *xlm_sentence_splitter_split(xlm_sentence_splitter *splitter, const char *text, size_t size, size_t *n,
                                            GError **error);

#endif
