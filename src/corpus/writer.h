/* xlm-mpi: corpus files (corpus.h) written by all ranks together. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Text grows at its end: in each round every rank gives some sentences, and rank 0's come first, then rank 1's, ...
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
    GArray *lengths; /* uint32_t: tokens of each sentence */
} xlm_encoded_text;

/* [in] languages: n names. [in] pairs: P x 2 language ids. [in] subwords: size of the vocabulary, decides the width of
 * a token. Copies what it needs; comm remains the caller's. */
xlm_corpus_writer *xlm_corpus_writer_create(const xlm_comm *comm, const char *path, int n, const char *const *languages,
                                            int pair_count, const int (*pairs)[2], int64_t subwords, GError **error);
/* The file, for everything except text: vocabulary, languages, attributes of the root. */
xlm_store *xlm_corpus_writer_store(xlm_corpus_writer *writer);

/* Append each rank's sentences. [out] *first: index in the text of this rank's first sentence. */
bool xlm_corpus_writer_text(xlm_corpus_writer *writer, xlm_split split, int language, const xlm_encoded_text *text,
                            int64_t *first, GError **error);
/* Append each rank's n links (n x 2). */
bool xlm_corpus_writer_links(xlm_corpus_writer *writer, xlm_split split, int pair, int64_t n, const int64_t *links,
                             GError **error);
/* All monolingual text is written: the text that follows comes from pairs. */
void xlm_corpus_writer_end_monolingual(xlm_corpus_writer *writer);

/* Writes what is only known at the end and gives the file its name; frees the writer, also on failure. */
bool xlm_corpus_writer_commit(xlm_corpus_writer *writer, GError **error);
/* Discard the file. NULL is allowed. */
void xlm_corpus_writer_discard(xlm_corpus_writer *writer);

#endif
