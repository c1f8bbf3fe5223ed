/* xlm-mpi: untrusted text inside XML and HTML. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_BASE_MARKUP_H
#define XLM_BASE_MARKUP_H

#include <glib.h>

/* Append text so that XML and HTML read it as text, between tags and in quoted attributes. & < > " ' are escaped, and line ends
 * and tabs become blanks. Bytes that are not UTF-8, control characters and characters that change the direction of the following
 * text become U+FFFD. */
void xlm_markup_append(GString *out, const char *text);
/* The same between two pieces of markup, which are appended as they are: "<p>" and "</p>". */
void xlm_markup_wrap(GString *out, const char *before, const char *text, const char *after);

#endif
