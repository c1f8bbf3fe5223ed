/* xlm-mpi: words as Moses finds them, for XLM's tokenizer. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Source: Koehn et al., "Moses: Open Source Toolkit for Statistical Machine Translation", ACL 2007 (demonstrations), and its
 * scripts replace-unicode-punctuation, normalize-punctuation, remove-non-printing-char and tokenizer (without escapes), in the
 * form in which the Python packages transformers and sacremoses have them and XLM's models are used:
 *
 *   1. fullwidth and CJK punctuation marks and digits become those of ASCII
 *   2. punctuation is normalised: quotation marks, dashes, spaces at brackets and in front of marks. English: a comma or full
 *      stop goes in front of the quotation mark before it; German, Spanish, French: after the one after it
 *   3. characters of the categories C (tabs too) are left out
 *   4. Romanian: letters with a comma, cedilla, breve or circumflex lose it
 *   5. words are between white space; what is neither letter nor digit is a word of its own, but for . ' ` , and -. Letters
 *      have the property Alphabetic, or are viramas and nuktas of Indic scripts; ideographs, syllables of Hangul where the
 *      language is not Korean, and characters beyond U+FFFF are none
 *   6. full stops in a row are a word; a comma is one, but between numbers; an apostrophe is cut off before what follows it
 *      (English), after it (French, Italian), or on both sides (others)
 *   7. a full stop at the end of a word is cut off, but where the word has another one and a letter, is a known abbreviation, or
 *      goes before a word in lower case
 *   8. if asked for, lower case, and accents stripped (Form D without the category Mn)
 *
 * Chinese, Japanese and Thai have other segmenters in Python (jieba, KyTea, PyThaiNLP): here their words are ICU's (text/words.h)
 * instead of steps 5 to 7.
 *
 * Abbreviations are lists of a language each, lines as in the files nonbreaking_prefix.LANGUAGE of Moses: a word without its full
 * stop, and #NUMERIC_ONLY# after it if it is one in front of numbers alone. A small list of English ones is built in. A language
 * without a list has that of English, as in Moses. */
#ifndef XLM_TEXT_MOSES_H
#define XLM_TEXT_MOSES_H

#include "text/normalise.h"

/* lower: step 8. abbreviations: borrowed, [char *] "en Mr", "en No #NUMERIC_ONLY#": a language, a space, a line of its list. */
xlm_normaliser *xlm_moses_normaliser(bool lower, const GPtrArray *abbreviations);

#endif
