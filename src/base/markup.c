/* xlm-mpi: untrusted text inside XML and HTML. SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/markup.h"

/* Is it a character that XML does not allow, or that changes how the text after it is shown? */
static gboolean is_harmful(gunichar c)
{
    return c < ' ' || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
           (c >= 0xfdd0 && c <= 0xfdef) || (c & 0xfffe) == 0xfffe;
}

void xlm_markup_append(GString *out, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    for (const char *at = valid; *at != '\0'; at = g_utf8_next_char(at)) {
        const gunichar c = g_utf8_get_char(at);
        switch (c) {
        case '&': g_string_append(out, "&amp;"); break;
        case '<': g_string_append(out, "&lt;"); break;
        case '>': g_string_append(out, "&gt;"); break;
        case '"': g_string_append(out, "&quot;"); break;
        case '\'': g_string_append(out, "&#39;"); break;
        case '\n': case '\t': case '\r': g_string_append_c(out, ' '); break;
        default: g_string_append_unichar(out, is_harmful(c) ? 0xfffd : c); break;
        }
    }
}

void xlm_markup_wrap(GString *out, const char *before, const char *text, const char *after)
{
    g_string_append(out, before);
    xlm_markup_append(out, text);
    g_string_append(out, after);
}
