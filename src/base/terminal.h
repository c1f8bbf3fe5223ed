/* xlm-mpi: the terminal that a live line can be drawn on. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A program that was started by hand has it as standard error. A rank has a pipe there, which its launcher reads; but where the
 * launcher runs in the foreground of this node's terminal, and hands messages on to it, that terminal is the rank's too, even of
 * ranks in a session of their own (MPICH's). Where messages go into a file, a pipe or a batch system, there is none. */
#ifndef XLM_BASE_TERMINAL_H
#define XLM_BASE_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct xlm_terminal {
    int fd;         /* -1: there is none */
    bool messages;  /* what is written to standard error is shown there too */
    bool launched;  /* messages get there, if they do, through another process */
    pid_t launcher; /* whose terminal it is; 0: the process's own */
} xlm_terminal;

/* anywhere: also where messages go elsewhere, the one that the process belongs to. */
xlm_terminal xlm_terminal_find(bool anywhere);
/* The process, or its launcher, is what the terminal's user works with; it was not sent into the background. */
bool xlm_terminal_in_foreground(const xlm_terminal *terminal);
/* Columns, at this moment. */
int xlm_terminal_width(const xlm_terminal *terminal);
/* Write all of a text; what fails is not drawn. */
void xlm_terminal_write(const xlm_terminal *terminal, const char *text);

/* Columns that UTF-8 text takes on a terminal: a letter of East Asian scripts two, a mark on the letter before it none. */
int xlm_terminal_columns(const char *text, size_t size);

/* Text as it may be shown on a terminal: control characters, a line end too, marks that turn the direction of text, and bytes
 * that are no UTF-8 as \n, \x1b, \u202e. g_free. */
char *xlm_terminal_escape(const char *text);

/* A line of fields with two blanks between them, cut to `width` characters: fields at its end that do not fit whole are left out;
 * only a first one that does not is cut. g_free. */
char *xlm_terminal_cut(const char *line, int width);

#endif
