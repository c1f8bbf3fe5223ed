/* xlm-mpi: pairs of sentences that are to be aligned. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * They stand in two files, line i of one the translation of line i of the other, or in one file of lines `source ||| target`, as
 * fast_align reads; plain or gzip, not on standard input, for text is read more than once. A plain file is read from a rank's
 * part on, a gzip file is decompressed up to there, each time anew. Or they are those of a corpus. Each rank has a contiguous
 * part, of about the same work, which it reads as often as it needs; all ranks together have every pair once, in order, on any
 * number of ranks. Text is given as it stands in the file; who makes words of it checks that it is UTF-8. Text of a corpus is
 * words with single spaces between them, those of xlm_subword_words().
 *
 *   xlm_sentence_pairs_open -> { xlm_sentence_pairs_next ... xlm_sentence_pairs_rewind } ... -> xlm_sentence_pairs_close */
#ifndef XLM_ALIGNERS_SENTENCE_PAIRS_H
#define XLM_ALIGNERS_SENTENCE_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "comm/comm.h"
#include "corpus/corpus.h"

typedef struct xlm_sentence_pairs xlm_sentence_pairs;

/* Collective. files: [n], source and target for n = 2, lines with ` ||| ` for n = 1. Rank 0 looks through the text once and
 * shares it out by work: what a pair takes is about proportional to the bytes of its sides, multiplied or added up. Parts begin
 * at multiples of `unit` pairs, so that fixed runs of pairs are on one rank, whatever the number of ranks. EX_NOINPUT; EX_DATAERR:
 * files of different numbers of lines, with both; a line without, or with more than one, `|||`; no pairs at all. */
typedef enum { XLM_PAIR_WORK_PRODUCT, XLM_PAIR_WORK_SUM } xlm_pair_work;
xlm_sentence_pairs *xlm_sentence_pairs_open(const xlm_comm *comm, const char *const *files, int n, xlm_pair_work work,
                                            int64_t unit, GError **error);
/* The same of two languages of a corpus, by subwords in place of bytes: the pairs of `n` parts, one part behind the other.
 * Numbers are those of the corpus's pairs in the first part, and go on in the next. corpus: borrowed. EX_DATAERR. */
typedef struct xlm_corpus_part {
    xlm_split split;
    const xlm_corpus_pairs *pairs;
} xlm_corpus_part;
enum { XLM_CORPUS_PARTS = 2 }; /* at most */
xlm_sentence_pairs *xlm_sentence_pairs_open_corpus(const xlm_comm *comm, const xlm_corpus *corpus, const xlm_corpus_part *parts,
                                                   int n, xlm_pair_work work, int64_t unit, GError **error);
void xlm_sentence_pairs_close(xlm_sentence_pairs *pairs); /* NULL is allowed */

/* Pairs of all ranks. */
int64_t xlm_sentence_pairs_total(const xlm_sentence_pairs *pairs);
/* This rank's: the number of the first, from 0, and how many. */
int64_t xlm_sentence_pairs_first(const xlm_sentence_pairs *pairs);
int64_t xlm_sentence_pairs_count(const xlm_sentence_pairs *pairs);
/* For messages: the file of a side (0: source, 1: target); where in it a pair stands, "line 17", "pair 16 of train" (g_free). */
const char *xlm_sentence_pairs_path(const xlm_sentence_pairs *pairs, int side);
char *xlm_sentence_pairs_place(const xlm_sentence_pairs *pairs, int64_t number);
/* The corpus, NULL for files; its parts, [*n]. */
const xlm_corpus *xlm_sentence_pairs_corpus(const xlm_sentence_pairs *pairs);
const xlm_corpus_part *xlm_sentence_pairs_parts(const xlm_sentence_pairs *pairs, int *n);

/* The next of this rank's pairs, in order. [out] text, size: [2] source and target, not terminated, valid until the next call;
 * number: of the pair among all, may be NULL. Returns 1, 0 behind the last, or -1 with *error: EX_DATAERR (damaged gzip data, a
 * file that was changed), EX_IOERR. Not collective. */
int xlm_sentence_pairs_next(xlm_sentence_pairs *pairs, const char *text[2], size_t size[2], int64_t *number, GError **error);
/* Of a corpus: the subwords of a side of the pair that was last returned, [*n], valid as its text is. */
const int32_t *xlm_sentence_pairs_subwords(const xlm_sentence_pairs *pairs, int side, int64_t *n);
/* Back to the first of this rank's pairs. Not collective. EX_IOERR. */
bool xlm_sentence_pairs_rewind(xlm_sentence_pairs *pairs, GError **error);

#endif
