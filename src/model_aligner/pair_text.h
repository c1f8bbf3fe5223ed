/* xlm-mpi: pairs of sentences as subwords of a model. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_MODEL_ALIGNER_PAIR_TEXT_H
#define XLM_MODEL_ALIGNER_PAIR_TEXT_H

#include <glib.h>

#include "aligners/sentence_pairs.h"
#include "subwords/vocabulary.h"

/* One side of this rank's pairs. */
typedef struct xlm_pair_side {
    int language;    /* id, or -1: none in particular */
    GArray *offsets; /* int64_t [pairs + 1] subwords of each pair's sentence */
    GArray *ids;     /* int32_t, without the token of the language */
    GArray *words;   /* int32_t: for each subword the number of its word in the sentence, from 0 */
} xlm_pair_side;

typedef struct xlm_pair_text {
    int64_t pairs, first, all; /* of this rank; the number of the first of them; of all ranks */
    xlm_pair_side side[2];     /* source, target */
} xlm_pair_text;

/* Collective. Read all of this rank's pairs. Lines are normalised and segmented as the vocabulary says. words: what counts as a
 * word. XLM_WORDS_SPACE: what is between blanks in the file, whatever the vocabulary makes of it, so that words are numbered as
 * in other programs; or XLM_WORDS_ICU, by the rules of no language in particular, as in aligners/bitext.h. A word of which
 * normalisation leaves nothing has a number but no subwords.
 * Pairs of a corpus, which must have this vocabulary, are already subwords; their words are those of xlm_subword_words().
 * Errors: EX_DATAERR, with file and line, for lines that are not UTF-8; EX_UNAVAILABLE: more than 2^31 subwords; those of
 * xlm_tokenizer_new and of reading. */
xlm_pair_text *xlm_pair_text_read(const xlm_comm *comm, xlm_sentence_pairs *pairs, const xlm_vocabulary *vocabulary,
                                  const int languages[2], xlm_word_mode words, GError **error);
/* NULL is allowed. */
void xlm_pair_text_free(xlm_pair_text *text);

/* Where the subwords of a side of this rank's pair number `pair` begin in `ids`, and how many there are. */
int64_t xlm_pair_start(const xlm_pair_text *text, int64_t pair, int side);
int64_t xlm_pair_size(const xlm_pair_text *text, int64_t pair, int side);

#endif
