/* xlm-mpi: text that rank 0 reads in blocks of lines, for all ranks. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   xlm_line_blocks_open -> { xlm_line_blocks_next while there may be more } -> xlm_line_blocks_close */
#ifndef XLM_PROGRAM_LINE_BLOCKS_H
#define XLM_PROGRAM_LINE_BLOCKS_H

#include "comm/comm.h"
#include "text/lines.h"

typedef struct xlm_line_blocks {
    const xlm_comm *comm;
    const char *name; /* of the file, for messages */
    xlm_lines *lines; /* of rank 0 */
    GString *text;    /* the block, the same on all ranks: lines, each with its LF */
    bool more;        /* another block may follow */
} xlm_line_blocks;

/* Collective. path: borrowed; "-" is standard input. Close it also after a failure. Errors of xlm_lines_open. */
bool xlm_line_blocks_open(xlm_line_blocks *blocks, const xlm_comm *comm, const char *path, GError **error);
/* Collective. Read the next block: up to n lines, none of which begins after so many bytes. EX_DATAERR for a line with a byte 0,
 * and errors of xlm_lines_next. */
bool xlm_line_blocks_next(xlm_line_blocks *blocks, int64_t n, size_t bytes, GError **error);
void xlm_line_blocks_close(xlm_line_blocks *blocks);

#endif
