/* xlm-mpi: words and characters as regular expressions. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For tokenizers of other programs. Characters are written out, so that the expressions mean the same whatever version of Unicode
 * an engine knows, and in the syntax that those of Perl, Oniguruma and JavaScript share. */
#ifndef XLM_TEXT_PATTERNS_H
#define XLM_TEXT_PATTERNS_H

#include <stdint.h>

#include "base/error.h"

/* Matches, one after the other, are the words of a text without white space as ICU finds them for the language (text/words.h),
 * but for ideographs, kana, and the scripts of South East Asia, which need a dictionary: of these ideographs are matched one by
 * one, the others in runs. g_free. EX_SOFTWARE when ICU has no rules. */
char *xlm_pattern_words(const char *language, GError **error);

/* Is it such an expression, by this version of Unicode or another? */
bool xlm_pattern_is_words(const char *pattern);
/* Is it a set of characters, and nothing else? */
bool xlm_pattern_is_characters(const char *pattern);

/* One character of those that a function says, U+0000 never. g_free. */
char *xlm_pattern_characters(bool (*holds)(uint32_t character));

#endif
