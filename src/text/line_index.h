/* xlm-mpi: where the lines of a plain text file begin. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Line ends are found only by reading. All ranks read a file once for this, each a range of bytes, and note a place about every
 * 128 KiB; from then on each rank can go to any line, with no more to read than what is between two places. In a file of CoNLL-U
 * sentences are counted as well as lines. */
#ifndef XLM_TEXT_LINE_INDEX_H
#define XLM_TEXT_LINE_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "comm/comm.h"

/* What is counted. A sentence has lines with more than white space, one of which does not begin with #, and ends with a blank
 * line or the file (formats/conllu.h). */
typedef enum { XLM_INDEX_LINES, XLM_INDEX_SENTENCES } xlm_index_unit;

/* A line begins at this byte, after so many lines and units. In an index of sentences, the line before it is blank. */
typedef struct xlm_line_place {
    int64_t offset, lines, units;
} xlm_line_place;

typedef struct xlm_line_index {
    xlm_index_unit unit;
    int64_t bytes, lines, units; /* of the whole file; the last line counts even if it has no line end */
    int64_t count;               /* of places, from which those of the first line are left out */
    xlm_line_place *place;       /* [count], ascending */
} xlm_line_index;

/* Read a plain text file, and make its index, the same on every rank. name: for messages. Collective. EX_NOINPUT, EX_IOERR. */
xlm_line_index *xlm_line_index_make(const xlm_comm *comm, const char *path, const char *name, xlm_index_unit unit,
                                    GError **error);
/* The last place from which unit number `unit`, from 0, is still to come. For sentences at least one is to be skipped from there,
 * because comments before the next one may be before the place; not so at the beginning of the file. */
xlm_line_place xlm_line_index_find(const xlm_line_index *index, int64_t unit);
/* The first unit of part number `part` when the file is divided into `parts` of about the same number of bytes; for part ==
 * parts, the number of units. Between two places, all units count as equally long. */
int64_t xlm_line_index_divide(const xlm_line_index *index, int64_t part, int64_t parts);
/* NULL is allowed. */
void xlm_line_index_free(xlm_line_index *index);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xlm_line_index, xlm_line_index_free)

#endif
