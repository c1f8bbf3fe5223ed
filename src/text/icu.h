/* xlm-mpi: calls of ICU on text that is known to be valid. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TEXT_ICU_H
#define XLM_TEXT_ICU_H

#include <unicode/utypes.h>

/* Ends the program if status is a failure. With valid text, valid patterns and large enough buffers ICU fails only if it lacks
 * memory or has no data. */
void xlm_icu_demand(UErrorCode status);

/* UTF-8 in lower case, by the rules that are no language's own. text: [bytes]. Returns [*size] units of UTF-16; g_free. */
UChar *xlm_icu_lower_case(const char *text, int32_t bytes, int32_t *size);

#endif
