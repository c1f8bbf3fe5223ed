/* xlm-mpi: the text rules of ALBERT's tokenizer, before and after SentencePiece. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Source: the tokenizer published with Lan et al., "ALBERT: A Lite BERT for Self-supervised Learning of Language
 * Representations", ICLR 2020, as implemented in transformers.
 *
 * Before SentencePiece: white space becomes single spaces, with none at the ends (remove_space); `` and '' become "; Form KD
 * without combining characters (unless keep_accents); lower case (do_lower_case). After it: a piece that ends in a digit and a
 * comma is cut again without the comma, and the comma becomes a piece.
 *
 * The "fast" tokenizer, in tokenizer.json, differs: it removes all marks (category M), lower-cases character by character,
 * without the final sigma, and cuts nothing again. Instead, the scores of its pieces with a comma after a digit are lower by
 * XLM_ALBERT_PENALTY. */
#ifndef XLM_SENTENCEPIECE_ALBERT_H
#define XLM_SENTENCEPIECE_ALBERT_H

#include "sentencepiece/cut.h"

typedef struct xlm_albert_text {
    int64_t lower, keep_accents, remove_space; /* 0 or 1 */
    int64_t fast;                              /* 0 or 1 */
} xlm_albert_text;

enum { XLM_ALBERT_PENALTY = 100 };

/* A normaliser of lines by these rules. The rules are borrowed. */
xlm_normaliser *xlm_albert_normaliser(const xlm_albert_text *rules);

/* Cut text[size] into pieces, which replace those in `cut`. False when places are requested and cannot be found. */
typedef bool xlm_albert_cut(const void *model, const char *text, size_t size, xlm_cut *cut);
/* Cut pieces with a comma after a digit again. False as above. */
bool xlm_albert_cut_commas(xlm_cut *cut, xlm_albert_cut *cut_text, const void *model);
/* Is it such a piece, which is cut again and so never occurs in segmented text? */
bool xlm_albert_cuts_again(const char *piece, size_t size);

#endif
