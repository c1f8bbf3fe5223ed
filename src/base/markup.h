/* xlm-mpi: untrusted text inside XML and HTML. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_BASE_MARKUP_H
#define XLM_BASE_MARKUP_H

#include <glib.h>

/* Append the text so that it is read as text, between tags and in quoted attributes: & < > " ' escaped; line ends and tabs are
 * blanks; what is not UTF-8, control characters, and those that turn the direction of what follows are U+FFFD. */
void xlm_markup_append(GString *out, const char *text);

#endif
