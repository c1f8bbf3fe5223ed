/* xlm-mpi: corpus files (corpus.h) written by all ranks together. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Text is appended: in each round every rank gives some sentences; those of rank 0 come first, then those of rank 1, and so on.
 *
 *   xlm_corpus_writer_create -> { xlm_corpus_writer_text | xlm_corpus_writer_links } ... -> xlm_corpus_writer_commit
 *
 * All functions are collective, and fail on all ranks together. */
#ifndef XLM_CORPUS_WRITER_H
#define XLM_CORPUS_WRITER_H

#include "corpus/corpus.h"

typedef struct xlm_corpus_writer xlm_corpus_writer;

/* Sentences of one language and split, as one rank has encoded them. */
typedef struct xlm_encoded_text {
    GArray *tokens;  /* int32_t:  ids of all sentences, one after another */
    GArray *lengths; /* uint32_t: number of tokens of each sentence */
} xlm_encoded_text;

/* [in] languages: [n] names. [in] pairs: [pair_count x 2] language ids. [in] subwords: size of the vocabulary, which decides the
 * width of a token. comm is borrowed as long as the writer lives; all else is copied. Errors of xlm_store_create. */
xlm_corpus_writer *xlm_corpus_writer_create(const xlm_comm *comm, const char *path, int n, const char *const *languages,
                                            int pair_count, const int (*pairs)[2], int64_t subwords, GError **error);
/* The file, to which the caller writes everything except text: vocabulary, languages, attributes of the root. */
xlm_store *xlm_corpus_writer_store(xlm_corpus_writer *writer);

/* Append each rank's sentences. [out] *first: index in the text of this rank's first sentence. */
bool xlm_corpus_writer_text(xlm_corpus_writer *writer, xlm_split split, int language, const xlm_encoded_text *text,
                            int64_t *first, GError **error);
/* Append each rank's n links. [in] pair: index in `pairs`; links: [n x 2]. */
bool xlm_corpus_writer_links(xlm_corpus_writer *writer, xlm_split split, int pair, int64_t n, const int64_t *links,
                             GError **error);
/* Call this when all monolingual text has been written: the text that follows comes from pairs. */
void xlm_corpus_writer_end_monolingual(xlm_corpus_writer *writer);

/* Write what is known only at the end, and give the file its name. Frees the writer, also on failure. */
bool xlm_corpus_writer_commit(xlm_corpus_writer *writer, GError **error);
/* Discard the file and free the writer. NULL is allowed. */
void xlm_corpus_writer_discard(xlm_corpus_writer *writer);

#endif
