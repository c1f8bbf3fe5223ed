/* xlm-mpi: pairs of sentences for alignment. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pairs are in two files, in which line i of one is the translation of line i of the other, or in one file of lines `source |||
 * target`, as for fast_align; plain or gzip, but not on standard input, because text is read more than once. A plain file is read
 * from the beginning of a rank's part; a gzip file is decompressed up to there each time. Or pairs are those of a corpus. Each
 * rank has a contiguous part with about the same work, which it reads as often as it needs; on any number of ranks, all ranks
 * together have every pair once, in order. Text is returned unchanged from the file; the code that splits it into words checks
 * that it is UTF-8. Text of a corpus consists of the words of xlm_subword_words(), separated by single spaces.
 *
 *   xlm_sentence_pairs_open -> { xlm_sentence_pairs_next ... xlm_sentence_pairs_rewind } ... -> xlm_sentence_pairs_close */
#ifndef XLM_ALIGNERS_SENTENCE_PAIRS_H
#define XLM_ALIGNERS_SENTENCE_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "comm/comm.h"
#include "corpus/corpus.h"

typedef struct xlm_sentence_pairs xlm_sentence_pairs;

/* Collective. files: [n], source and target for n = 2, lines with ` ||| ` for n = 1. Rank 0 reads the text once and divides it by
 * work: the work of a pair is about proportional to the product, or the sum, of the bytes of its sides. Parts begin at multiples
 * of `unit` pairs, so that fixed runs of pairs are on one rank, whatever the number of ranks. EX_NOINPUT; EX_DATAERR: files with
 * different numbers of lines, with both numbers; a line without `|||` or with several; no pairs. */
typedef enum { XLM_PAIR_WORK_PRODUCT, XLM_PAIR_WORK_SUM } xlm_pair_work;
xlm_sentence_pairs *xlm_sentence_pairs_open(const xlm_comm *comm, const char *const *files, int n, xlm_pair_work work,
                                            int64_t unit, GError **error);
/* The same for two languages of a corpus, by subwords instead of bytes: the pairs of `n` parts, one part after another. In the
 * first part numbers are those of the corpus's pairs; they continue in the next part. corpus: borrowed. EX_DATAERR. */
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
/* Pairs of this rank: the number of the first, from 0, and how many. */
int64_t xlm_sentence_pairs_first(const xlm_sentence_pairs *pairs);
int64_t xlm_sentence_pairs_count(const xlm_sentence_pairs *pairs);
/* For messages: the file of a side (0: source, 1: target); the place of a pair in it, "line 17", "pair 16 of train" (g_free). */
const char *xlm_sentence_pairs_path(const xlm_sentence_pairs *pairs, int side);
char *xlm_sentence_pairs_place(const xlm_sentence_pairs *pairs, int64_t number);
/* The corpus, NULL for files; its parts, [*n]. */
const xlm_corpus *xlm_sentence_pairs_corpus(const xlm_sentence_pairs *pairs);
const xlm_corpus_part *xlm_sentence_pairs_parts(const xlm_sentence_pairs *pairs, int *n);

/* The next of this rank's pairs, in order. [out] text, size: [2] source and target, not terminated, valid until the next call;
 * number: the pair's number among all; may be NULL. Returns 1, 0 after the last pair, or -1 with *error: EX_DATAERR (damaged gzip
 * data, a file that has changed), EX_IOERR. Not collective. */
int xlm_sentence_pairs_next(xlm_sentence_pairs *pairs, const char *text[2], size_t size[2], int64_t *number, GError **error);
/* For a corpus: the subwords of a side of the pair that was last returned, [*n], valid as long as its text. */
const int32_t *xlm_sentence_pairs_subwords(const xlm_sentence_pairs *pairs, int side, int64_t *n);
/* Back to the first of this rank's pairs. Not collective. EX_IOERR. */
bool xlm_sentence_pairs_rewind(xlm_sentence_pairs *pairs, GError **error);

#endif
