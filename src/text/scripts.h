/* xlm-mpi: letters of a text by their scripts. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Letters are characters of the general category L. A letter belongs to every script that Unicode says it is used in (property
 * Script_Extensions: U+30FC to Hiragana and Katakana). Letters of no script in particular (Common, Inherited: the micro sign,
 * letters of mathematics) do not count. */
#ifndef XLM_TEXT_SCRIPTS_H
#define XLM_TEXT_SCRIPTS_H

#include <stdint.h>

#include "base/error.h"

/* One or more scripts. It does not change, so any number of threads may use it. */
typedef struct xlm_scripts xlm_scripts;

/* The scripts in which a language is usually written, as ICU knows them: Hani, Hira and Kana for "ja". language: as in
 * xlm_splitter_new. NULL when ICU knows none. xlm_scripts_free. */
xlm_scripts *xlm_scripts_of_language(const char *language);
/* The scripts of a list "Deva,Latn" of codes of ISO 15924, or names of Unicode. EX_USAGE when there is no such script, or no
 * letter has it. xlm_scripts_free. */
xlm_scripts *xlm_scripts_parse(const char *codes, GError **error);
/* NULL is allowed. */
void xlm_scripts_free(xlm_scripts *scripts);

/* Their codes: "Deva,Latn". */
const char *xlm_scripts_codes(const xlm_scripts *scripts);
/* [in] text: valid UTF-8. [out] letters: how many it has; theirs: how many of them belong to one of the scripts. */
void xlm_scripts_count(const xlm_scripts *scripts, const char *text, size_t size, int64_t *letters, int64_t *theirs);

#endif
