/* xlm-mpi: the terminal that a live line can be drawn on. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * In a program that was started by hand, it is standard error. The standard error of a rank is a pipe that its launcher reads. If
 * the launcher runs in the foreground of a terminal of this node and passes messages on to it, that terminal is the rank's too,
 * even if the rank has a session of its own (as with MPICH). If messages go into a file, a pipe or a batch system, there is
 * none. */
#ifndef XLM_BASE_TERMINAL_H
#define XLM_BASE_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct xlm_terminal {
    int fd;         /* -1: there is none */
    bool messages;  /* it also shows what is written to standard error */
    bool launched;  /* messages reach it, if at all, through another process */
    pid_t launcher; /* the process whose terminal it is; 0: this process */
} xlm_terminal;

/* anywhere: return the terminal of the process even if messages go elsewhere. */
xlm_terminal xlm_terminal_find(bool anywhere);
/* Is the process, or its launcher, in the foreground of the terminal? */
bool xlm_terminal_in_foreground(const xlm_terminal *terminal);
/* Columns at this moment. */
int xlm_terminal_width(const xlm_terminal *terminal);
/* Write a whole text. Errors are ignored. */
void xlm_terminal_write(const xlm_terminal *terminal, const char *text);

/* Columns that UTF-8 text takes on a terminal: two for a wide East Asian character, none for a combining mark,
 * one for a byte that is not UTF-8. */
int xlm_terminal_columns(const char *text, size_t size);

/* Text that is safe on a terminal: control characters (also line ends), marks that change the direction of text, and bytes that
 * are not UTF-8 are written as \n, \x1b or \u202e. g_free. */
char *xlm_terminal_escape(const char *text);

/* A line of fields with two blanks between them, at most `width` characters long. Fields at the end that do not fit are left out;
 * the first field is cut if it does not fit. g_free. */
char *xlm_terminal_cut(const char *line, int width);

#endif
