/* xlm-mpi: instances of one language's monolingual text. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sentences are joined, <s> A </s> B </s>, until the next one no longer fits. A sentence that does not fit into one instance is
 * cut: it begins a new instance and fills as many as it needs; its last part is joined with the sentences after it. No token is
 * lost, but where a language has a token that its sentences begin with: only the first part of a cut sentence begins with it, so
 * the others are left out. Sentences without tokens are skipped. Positions run on through the instance.
 *
 * With join_sentences = false an instance is one sentence, or one part of a sentence that is cut. */
#ifndef XLM_STREAM_MONOLINGUAL_H
#define XLM_STREAM_MONOLINGUAL_H

#include "stream/instances.h"

typedef struct xlm_monolingual {
    const xlm_corpus_text *text;
    int64_t length; /* maximum number of tokens of an instance, including special tokens; at least 3 */
    bool join;      /* an instance can have several sentences */
    bool first_part; /* of a sentence that is cut, only the first part is taken */
    xlm_instances instances;
    int64_t tokens; /* of the monolingual text, without special tokens */
    int64_t cut;    /* number of sentences that were cut */
} xlm_monolingual;

/* Make the index by a pass over the offsets of the text's monolingual sentences. text is borrowed. Errors:
 * EX_DATAERR when offsets go backwards, and errors of reading the corpus. On failure there is nothing to close. */
bool xlm_monolingual_open(xlm_monolingual *monolingual, const xlm_corpus_text *text, int64_t length, bool join, bool first_part,
                          GError **error);
void xlm_monolingual_close(xlm_monolingual *monolingual);
/* Append the spans of an instance (0 <= instance < instances.count) to `spans` (GArray of xlm_span). */
bool xlm_monolingual_find(const xlm_monolingual *monolingual, int64_t instance, GArray *spans, GError **error);

#endif
