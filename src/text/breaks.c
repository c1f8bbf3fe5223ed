/* xlm-mpi: iterators of ICU over the boundaries of a text. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text/breaks.h"

#include <string.h>
#include <unicode/uloc.h>

UBreakIterator *xlm_breaks_open(UBreakIteratorType type, const char *language, GError **error)
{
    UErrorCode status = U_ZERO_ERROR;
    char locale[ULOC_FULLNAME_CAPACITY];
    int32_t read = 0;
    if (language == NULL)
        language = "";
    uloc_forLanguageTag(language, locale, sizeof locale, &read, &status);
    if (U_FAILURE(status) || status == U_STRING_NOT_TERMINATED_WARNING || (size_t)read != strlen(language))
        g_strlcpy(locale, language, sizeof locale);
    status = U_ZERO_ERROR;
    UBreakIterator *breaks = ubrk_open(type, locale, NULL, 0, &status);
    if (U_SUCCESS(status))
        return breaks;
    xlm_error_set(error, EX_SOFTWARE, "ICU has no %s breaks for language `%s` (%s); is its data installed?",
                  type == UBRK_WORD ? "word" : "sentence", language, u_errorName(status));
    return NULL;
}
