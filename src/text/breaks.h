/* xlm-mpi: iterators of ICU over the boundaries of a text. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TEXT_BREAKS_H
#define XLM_TEXT_BREAKS_H

#include <unicode/ubrk.h>

#include "base/error.h"

/* Boundaries of words (UBRK_WORD) or sentences (UBRK_SENTENCE) by the rules of a language, as xlm_splitter_new takes it. EX_SOFTWARE
 * when ICU has no rules. ubrk_close. */
UBreakIterator *xlm_breaks_open(UBreakIteratorType type, const char *language, GError **error);

#endif
