/* xlm-mpi: the corpus to which xlm_prep --append adds text. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The new corpus has the old one's vocabulary, word mode and rule of held-out sentences. Its sentences are copied, not read as
 * text again (prep/append.c). */
#ifndef XLM_PREP_APPENDED_H
#define XLM_PREP_APPENDED_H

#include "corpus/corpus.h"
#include "prep/earlier_split.h"

typedef struct xlm_appended {
    xlm_corpus *corpus;
    char *command, **inputs; /* what it was made by and of */
    xlm_earlier_split split; /* which of its sentences are held out */
    GArray **dropped;        /* sets (prep/ascending.h) by language: sentences of the training text that are not copied, because
                              * new pairs hold them or their translations out (prep/append_split.h); NULL: none */
    int64_t *dropped_counts; /* by id: how often subwords are in these sentences, of languages that are not synthetic; or NULL */
} xlm_appended;

/* Not collective. EX_USAGE when the path names several files; EX_NOINPUT; EX_DATAERR, also when it is a corpus with pairs that
 * was written before these digests were listed. */
xlm_appended *xlm_appended_open(const char *path, GError **error);
/* NULL is allowed. */
void xlm_appended_close(xlm_appended *appended);

/* The number of dropped sentences of a language before a sentence; is a sentence one of them? */
int64_t xlm_appended_dropped_below(const xlm_appended *appended, int language, int64_t sentence);
bool xlm_appended_is_dropped(const xlm_appended *appended, int language, int64_t sentence);

/* Is it a synthetic language? */
bool xlm_appended_is_made_language(const xlm_appended *appended, int language);
/* Is this pair one of a synthetic language and its base, which has no text of its own? */
bool xlm_appended_is_made(const xlm_appended *appended, const xlm_corpus_pairs *pairs);

#endif
