/* xlm-mpi: text that rank 0 reads in blocks of lines, for all ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#include "program/line_blocks.h"

#include <string.h>

bool xlm_line_blocks_open(xlm_line_blocks *blocks, const xlm_comm *comm, const char *path, GError **error)
{
    const bool input = strcmp(path, "-") == 0;
    GError *failure = NULL;
    *blocks = (xlm_line_blocks){.comm = comm, .name = input ? "standard input" : path, .text = g_string_new(NULL), .more = true};
    if (comm->rank == 0)
        blocks->lines = input ? xlm_lines_open_input(&failure) : xlm_lines_open(path, &failure);
    return xlm_comm_agree_on(comm, failure, error);
}

/* On rank 0. Returns whether there are more lines; false with *error. */
static bool read_lines(const xlm_line_blocks *b, int64_t n, size_t bytes, GError **error)
{
    const char *line;
    size_t size;
    int got = 1;
    for (int64_t i = 0; i < n && b->text->len < bytes && (got = xlm_lines_next(b->lines, &line, &size, error)) == 1; i++) {
        if (memchr(line, '\0', size) != NULL)
            return xlm_error_at(error, b->name, xlm_lines_number(b->lines), "a byte of zero; this is not text");
        g_string_append_len(b->text, line, (gssize)size);
        g_string_append_c(b->text, '\n');
    }
    return got == 1;
}

bool xlm_line_blocks_next(xlm_line_blocks *blocks, int64_t n, size_t bytes, GError **error)
{
    int64_t numbers[2] = {0}; /* bytes of the block; 1 if there may be more */
    GError *failure = NULL;
    g_string_truncate(blocks->text, 0);
    if (blocks->comm->rank == 0) {
        numbers[1] = read_lines(blocks, n, bytes, &failure);
        numbers[0] = (int64_t)blocks->text->len;
    }
    if (!xlm_comm_agree_on(blocks->comm, failure, error))
        return false;
    xlm_comm_broadcast(blocks->comm, 0, numbers, sizeof numbers);
    g_string_set_size(blocks->text, (gsize)numbers[0]);
    xlm_comm_broadcast(blocks->comm, 0, blocks->text->str, (size_t)numbers[0]);
    blocks->more = numbers[1] != 0;
    return true;
}

void xlm_line_blocks_close(xlm_line_blocks *blocks)
{
    xlm_lines_close(blocks->lines);
    g_string_free(blocks->text, TRUE);
}
