/* xlm-mpi: text of other files written to scratch files of lines. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_PREP_UNPACK_H
#define XLM_PREP_UNPACK_H

#include "formats/line_form.h"

/* Each function writes new scratch files in a directory. [out] path, or paths[n]: their names, g_free, of files that are to be
 * removed with xlm_unfinished_remove; NULL on failure. EX_CANTCREAT, EX_IOERR, and errors of reading. */

/* The rest of standard input, as it comes. */
bool xlm_unpack_input(const char *scratch, char **path, GError **error);
/* All lines of a file of which nothing has been read. */
bool xlm_unpack_lines(xlm_lines *lines, const char *scratch, char **path, GError **error);
/* The text of a WET file: its lines, empty where they are not text. */
bool xlm_unpack_wet(xlm_lines *lines, const char *scratch, char **path, GError **error);
/* The segments of a TMX file in n languages, a line for each unit, empty where it has none. [out] missing[n]: how many have
 * none. */
bool xlm_unpack_tmx(xlm_lines *lines, int n, const char *const *languages, const char *scratch, char **paths, int64_t *missing,
                    GError **error);

#endif
