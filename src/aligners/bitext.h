/* xlm-mpi: the words of a rank's sentence pairs, as numbers. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * On each rank the different words of a side are numbered 0 … types - 1. */
#ifndef XLM_ALIGNERS_BITEXT_H
#define XLM_ALIGNERS_BITEXT_H

#include "aligners/sentence_pairs.h"
#include "text/word_counts.h"
#include "text/words.h"

typedef struct xlm_bitext_options {
    xlm_word_mode words; /* space: between ASCII blanks, as other aligners count them; icu: by the rules of no language */
    bool lower;
    int64_t longest;     /* maximum number of words of a side; longer pairs are not aligned */
} xlm_bitext_options;

/* Maximum number of bytes of a normalised word. A longer one is no word, but encoded data or a line without blanks, and one of them
 * would be paid for by all: in the file of a model each word takes as many bytes as the longest. */
enum { XLM_BITEXT_WORD_BYTES = 1024 };

/* Splits sentences of one side into words, and numbers them 0 … in order of their first occurrence. */
typedef struct xlm_word_reader xlm_word_reader;

/* options: borrowed. */
xlm_word_reader *xlm_word_reader_new(const xlm_bitext_options *options, GError **error);
void xlm_word_reader_free(xlm_word_reader *reader); /* NULL is allowed */
/* The numbers of the words of a sentence, valid until the next call. Returns how many, or -1: EX_DATAERR for text that is not
 * UTF-8, to be prefixed with its place. */
int64_t xlm_word_reader_read(xlm_word_reader *reader, const char *text, size_t size, const int32_t **words, GError **error);
/* All words so far, normalised (text/normalise.h). Borrowed. */
const xlm_word_counts *xlm_word_reader_words(const xlm_word_reader *reader);

typedef struct xlm_bitext_side {
    int64_t *offsets;  /* [pairs + 1] the words of pair p are words[offsets[p]] … words[offsets[p + 1]] */
    int32_t *words;    /* [offsets[pairs]] numbers of this rank */
    int32_t types;
    char **texts;      /* [types], normalised (text/normalise.h) */
} xlm_bitext_side;

/* A pair that is not aligned, because a side is empty, or a side or a word is too long, has no words on either side. `types` and
 * `texts` also have the words of pairs with an empty side or too many words, but none that is too long. */
typedef struct xlm_bitext {
    const xlm_comm *comm;
    int64_t first, pairs; /* this rank's */
    int64_t total;        /* of all ranks */
    /* Of all ranks: how many pairs have an empty side, one of too many words, or, of the others, a word that is too long, and the
     * number of the first, -1 if none. */
    int64_t empty, first_empty, long_ones, first_long, long_words, first_long_word;
    xlm_bitext_side side[2];
} xlm_bitext;

/* Collective. Read this rank's part. The words of a corpus are those of xlm_subword_words(), whatever `words` says. comm:
 * borrowed. EX_DATAERR: text that is not UTF-8, with file and line; EX_UNAVAILABLE: more than 2^31 words. */
xlm_bitext *xlm_bitext_read(const xlm_comm *comm, xlm_sentence_pairs *pairs, const xlm_bitext_options *options, GError **error);
void xlm_bitext_free(xlm_bitext *bitext); /* NULL is allowed */

/* The number of words of a pair on a side. */
static inline int xlm_bitext_length(const xlm_bitext_side *side, int64_t pair)
{
    return (int)(side->offsets[pair + 1] - side->offsets[pair]);
}

#endif
