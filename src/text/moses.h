/* xlm-mpi: words as the tokenizer of Moses finds them, for XLM's tokenizer. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Source: Koehn et al., "Moses: Open Source Toolkit for Statistical Machine Translation", ACL 2007 (demonstrations), and its
 * scripts replace-unicode-punctuation, normalize-punctuation, remove-non-printing-char and tokenizer (without escapes), as they
 * are implemented in the Python packages transformers and sacremoses, with which XLM's models are used:
 *
 *   1. fullwidth and CJK punctuation marks and digits become those of ASCII
 *   2. punctuation is normalised: quotation marks, dashes, spaces at brackets and before marks. English: commas and full stops
 *      after a quotation mark are moved in front of it; German, Spanish, French: those in front of one are moved after it
 *   3. characters of the categories C (also tabs) are removed
 *   4. Romanian: commas, cedillas, breves and circumflexes are removed from letters
 *   5. words are separated by white space; each character that is neither a letter nor a digit is a word of its own, except
 *      . ' ` , and -. Letters are the characters with the property Alphabetic, and viramas and nuktas of Indic scripts; but
 *      not ideographs, nor syllables of Hangul if the language is not Korean, nor characters beyond U+FFFF
 *   6. several full stops in a row are a word; so is a comma, except between numbers; an apostrophe is separated from what comes
 *      before it (English), from what comes after it (French, Italian), or from both (others)
 *   7. a full stop at the end of a word is separated, unless the word has another full stop and a letter, is a known
 *      abbreviation, or comes before a word in lower case
 *   8. if requested, lower case, and accents removed (Form D without the category Mn)
 *
 * For Chinese, Japanese and Thai, Python uses other segmenters (jieba, KyTea, PyThaiNLP). Here ICU finds their words
 * (text/words.h), instead of steps 5 to 7.
 *
 * There is a list of abbreviations for each language, with lines as in the files nonbreaking_prefix.LANGUAGE of Moses: a word
 * without its full stop, with #NUMERIC_ONLY# after it if it is an abbreviation only before numbers. A small English list is built
 * in. A language without a list has that of English, as in Moses. */
#ifndef XLM_TEXT_MOSES_H
#define XLM_TEXT_MOSES_H

#include "text/normalise.h"

/* lower: apply step 8. abbreviations: borrowed; elements are char *, a language, a space and a line of its list: "en Mr",
 * "en No #NUMERIC_ONLY#"; NULL: none are given. xlm_normaliser_free. */
xlm_normaliser *xlm_moses_normaliser(bool lower, const GPtrArray *abbreviations);

#endif
