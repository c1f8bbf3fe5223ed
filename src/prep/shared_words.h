/* xlm-mpi: words of all text, counted by all ranks in bounded memory. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each rank counts the words of its own sentences in tables, one for each language. When the tables are full, they become sorted
 * runs in scratch files (text/word_runs.h). At the end every word goes to the rank that owns it by its digest, where its counts
 * are added up; then each rank reads the words that it owns:
 *
 *   xlm_shared_words_new -> { add to xlm_shared_words_table -> xlm_shared_words_bound } ... -> xlm_shared_words_settle
 *                        -> xlm_shared_words_each, as often as needed
 *
 * The words and their counts do not depend on the number of ranks or the memory; which rank owns a word does. */
#ifndef XLM_PREP_SHARED_WORDS_H
#define XLM_PREP_SHARED_WORDS_H

#include "comm/comm.h"
#include "text/word_counts.h"

typedef struct xlm_shared_words xlm_shared_words;

/* memory: bytes that this rank may take, approximately, but at least a few mebibytes. scratch: directory of scratch files,
 * copied. */
xlm_shared_words *xlm_shared_words_new(int languages, int64_t memory, const char *scratch);
void xlm_shared_words_free(xlm_shared_words *words); /* NULL is allowed */

/* The table to which words of a language are added, as they occur, until xlm_shared_words_settle. */
xlm_word_counts *xlm_shared_words_table(xlm_shared_words *words, int language);
/* Words were added to the table of a language: make room if the tables are full. Call it after every sentence. Errors wait for
 * xlm_shared_words_settle. */
void xlm_shared_words_bound(xlm_shared_words *words, int language);
/* Send all words to their owners; collective. EX_CANTCREAT, EX_IOERR. */
bool xlm_shared_words_settle(xlm_shared_words *words, const xlm_comm *comm, GError **error);

/* ---- then, the same on every rank ---- */

/* Occurrences of words of a language, in the text of all ranks. */
int64_t xlm_shared_words_total(const xlm_shared_words *words, int language);
/* Bytes that all ranks have written to scratch files while they counted. */
int64_t xlm_shared_words_spilled(const xlm_shared_words *words);

/* A word that this rank owns, not 0-terminated. counts[languages]: its counts in each language. */
typedef void xlm_shared_words_visit(void *data, const char *word, size_t size, const int64_t *counts);
/* Visit each word of this rank, in an order that says nothing. Not collective. */
void xlm_shared_words_each(const xlm_shared_words *words, xlm_shared_words_visit *visit, void *data);

#endif
