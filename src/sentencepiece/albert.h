/* xlm-mpi: the rules of text of ALBERT's tokenizer around SentencePiece. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Source: the tokenizer published with Lan et al., "ALBERT: A Lite BERT for Self-supervised Learning of Language
 * Representations", ICLR 2020, as transformers have it.
 *
 * Before: white space becomes single spaces, none at the ends (remove_space); `` and '' become "; Form KD without the characters
 * that are combined with others (unless keep_accents); lower case (do_lower_case). After: a piece that ends in a comma after a
 * digit is cut once more without it, and the comma is a piece.
 *
 * The "fast" one, in tokenizer.json, differs: it leaves out all marks (category M), lower-cases character by character, without
 * the final sigma, and nothing is cut again; its pieces with a comma behind a digit have XLM_ALBERT_PENALTY less instead. */
#ifndef XLM_SENTENCEPIECE_ALBERT_H
#define XLM_SENTENCEPIECE_ALBERT_H

#include "sentencepiece/cut.h"

typedef struct xlm_albert_text {
    int64_t lower, keep_accents, remove_space; /* 0 or 1 */
    int64_t fast;                              /* 0 or 1 */
} xlm_albert_text;

enum { XLM_ALBERT_PENALTY = 100 };

/* A normaliser of lines by these rules, which are borrowed. */
xlm_normaliser *xlm_albert_normaliser(const xlm_albert_text *rules);

/* Cut text[size] into pieces, instead of what is in `cut`. False when places are asked for and cannot be found. */
typedef bool xlm_albert_cut(const void *model, const char *text, size_t size, xlm_cut *cut);
/* Pieces with a comma after a digit are cut again. False as above. */
bool xlm_albert_cut_commas(xlm_cut *cut, xlm_albert_cut *cut_text, const void *model);
/* Is a piece one of these, which no text becomes whole? */
bool xlm_albert_cuts_again(const char *piece, size_t size);

#endif
