/* xlm-mpi: calls of ICU on text that is known to be valid. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text/icu.h"

#include <glib.h>
#include <unicode/ustring.h>

void xlm_icu_demand(UErrorCode status)
{
    if (U_FAILURE(status))
        g_error("ICU: %s", u_errorName(status));
}

UChar *xlm_icu_lower_case(const char *text, int32_t bytes, int32_t *size)
{
    UErrorCode status = U_ZERO_ERROR;
    g_autofree UChar *from = g_new(UChar, (size_t)bytes + 1);
    UChar *lower = g_new(UChar, 3 * (size_t)bytes + 1); /* lower case has at most 3 times as many units */
    u_strFromUTF8(from, bytes + 1, size, text, bytes, &status);
    *size = u_strToLower(lower, 3 * bytes + 1, from, *size, "", &status);
    xlm_icu_demand(status);
    return lower;
}
