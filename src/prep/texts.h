/* xlm-mpi: the sources of a preparation as plain files of lines. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Text is read several times, by ranges of bytes. So what is not a plain file of lines (compressed files, members of archives,
 * standard input, TMX, WET) is read once, by one rank, different files by different ranks at the same time, and written to a
 * scratch file that all ranks then read. A text that several sources use, such as two fields of one file, is read once for all.
 * Each plain file gets an index of its lines (text/line_index.h).
 *
 * Line i of a scratch file is line i of the uncompressed file, or unit i of a TMX file: numbers in messages are those. */
#ifndef XLM_PREP_TEXTS_H
#define XLM_PREP_TEXTS_H

#include "comm/comm.h"
#include "prep/options.h"
#include "text/line_index.h"

/* A text, the same on every rank. */
typedef struct xlm_prep_text {
    const char *name; /* in messages: the user's file, or "standard input" */
    const char *file; /* the user's file, or a scratch file with what came from standard input */
    char *path;       /* the plain file */
    bool scratch;     /* path is a scratch file */
    xlm_line_index *index;
} xlm_prep_text;

typedef struct xlm_prep_texts xlm_prep_texts;

/* Set `text` of n sources, which it lends them until xlm_prep_texts_close, with names and files. Standard input, if it is among
 * them, is read into a scratch file. scratch: directory for scratch files, which all ranks must see; borrowed. Collective.
 * EX_CANTCREAT, EX_IOERR. */
xlm_prep_texts *xlm_prep_texts_open(const xlm_comm *comm, xlm_prep_source *const *sources, guint n, const char *scratch,
                                    GError **error);
/* Unpack the texts of these sources, and find their lines. Collective. EX_DATAERR if the two sides of a source have different
 * numbers of lines; errors of xlm_lines_open, xlm_lines_next, xlm_tmx_read and xlm_wet_next, the first in the order of files on
 * any number of ranks; EX_CANTCREAT, EX_IOERR when a scratch file cannot be written. */
bool xlm_prep_texts_read(xlm_prep_texts *texts, const xlm_comm *comm, xlm_prep_source *const *sources, guint n, GError **error);
/* Remove the scratch files, when no rank reads them any more. Not collective. NULL is allowed. */
void xlm_prep_texts_close(xlm_prep_texts *texts);

#endif
