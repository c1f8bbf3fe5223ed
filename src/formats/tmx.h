/* xlm-mpi: translation memories in TMX. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file of TMX 1.1 to 1.4b is a list of translation units, each with the same sentence in several languages. It is read from its
 * beginning to its end, a unit at a time, whatever its size, in any encoding that its XML declares.
 *
 * The text of a segment is what is between its tags, without the codes of other formats that bpt, ept, it, ph and ut hold; line
 * breaks become blanks. Text that an XML file defines itself (entities) is refused, since a few bytes may stand for gigabytes. */
#ifndef XLM_FORMATS_TMX_H
#define XLM_FORMATS_TMX_H

#include "text/lines.h"

/* Is this the language that is wanted, or a regional form of it: is en-US, or en_us, given for en? The case does not matter. */
bool xlm_tmx_language_matches(const char *wanted, const char *given);

/* Called for each unit. segments: [n], without line ends; NULL where the unit has no segment in that language. Returns false with
 * *error to stop reading. */
typedef bool xlm_tmx_take(void *data, const GString *const *segments, GError **error);

/* Read all units of a file of which nothing has been read. languages: [n]; of several segments of a language the first counts.
 * EX_DATAERR with the line, or one shortly after it: not TMX, not well-formed, not in the encoding that it declares, entities, or
 * a segment of more than XLM_LINES_LONGEST bytes; errors of xlm_lines_next and `take`. */
bool xlm_tmx_read(xlm_lines *lines, int n, const char *const *languages, xlm_tmx_take *take, void *data, GError **error);

#endif
