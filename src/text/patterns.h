/* xlm-mpi: words and characters as regular expressions. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For tokenizers of other programs. All characters are written out, so that the expressions mean the same in every version of
 * Unicode, in a syntax that Perl, Oniguruma and JavaScript share. */
#ifndef XLM_TEXT_PATTERNS_H
#define XLM_TEXT_PATTERNS_H

#include <stdint.h>

#include "base/error.h"

/* An expression whose consecutive matches are the words of a text without white space as ICU finds them for the language
 * (text/words.h), except for ideographs, kana, and the scripts of South East Asia, which need a dictionary: ideographs are
 * matched one by one, the others in runs. g_free. EX_SOFTWARE when ICU has no rules. */
char *xlm_pattern_words(const char *language, GError **error);

/* Is it such an expression, made with any version of Unicode? */
bool xlm_pattern_is_words(const char *pattern);
/* Is it a single set of characters, [...]? */
bool xlm_pattern_is_characters(const char *pattern);

/* The set [...] of the characters for which `holds` returns true; U+0000 is never in it. g_free. */
char *xlm_pattern_characters(bool (*holds)(uint32_t character));

#endif
