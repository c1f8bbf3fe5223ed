/* xlm-mpi: the words that BLEU compares. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Text is a GArray of its characters (uint32_t). It is cut by putting spaces between words:
 *
 *   13a     of sacreBLEU, after NIST's mteval-v13a: ASCII punctuation and symbols are words of their own, except ' and -, and .
 *           and , between digits; - after a digit is one. <skipped> is removed, and &quot; &amp; &lt; &gt; are decoded
 *   intl    of mteval-v14: every symbol (Unicode's category S) is a word of its own; and so is punctuation (P) next to a
 *           character that is not a number (N)
 *   zh      Chinese characters are words of their own; the text between them is cut like 13a, but nothing in it is replaced
 *   char    every character but white space is a word
 *   none    words are between white space (xlm_is_white_space)
 *   blanks  words are between the white space of ASCII, as multi-bleu.perl has it */
#ifndef XLM_TRANSLATION_SCORES_BLEU_WORDS_H
#define XLM_TRANSLATION_SCORES_BLEU_WORDS_H

#include "base/error.h"

typedef enum { XLM_BLEU_13A, XLM_BLEU_INTL, XLM_BLEU_ZH, XLM_BLEU_CHAR, XLM_BLEU_NONE, XLM_BLEU_BLANKS } xlm_bleu_words;

/* Their names, and NULL: index xlm_bleu_words. */
extern const char *const xlm_bleu_word_names[];

/* Letters as they are; in lower case (full mapping, root locale); only ASCII letters in lower case, like multi-bleu.perl -lc. */
typedef enum { XLM_BLEU_AS_IS, XLM_BLEU_LOWER, XLM_BLEU_LOWER_ASCII } xlm_bleu_case;

/* The characters of text, UTF-8, in place of those in `characters`. */
void xlm_bleu_read(const char *text, xlm_bleu_case letters, GArray *characters);
/* Put spaces between words. `spare`: another array, for intermediate forms. */
void xlm_bleu_cut(xlm_bleu_words words, GArray *characters, GArray *spare);
/* Does this character separate words? */
bool xlm_bleu_is_blank(xlm_bleu_words words, uint32_t character);

#endif
