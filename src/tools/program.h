/* xlm-mpi: command line, help and standard output of every xlm_* program. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Options are read before MPI starts, so that --help and --version work where MPI does not. Help has the form that
 * man/page.awk turns into a man page and completions/xlm-mpi.bash into completions: headings end in a colon, items stand
 * behind two blanks and two stand between an item and its meaning, and other lines behind two blanks stay as they are. */
#ifndef XLM_TOOLS_PROGRAM_H
#define XLM_TOOLS_PROGRAM_H

#include <stdint.h>

#include "comm/comm.h"

typedef struct xlm_program {
    const char *name;      /* "xlm_prep" */
    const char *arguments; /* what follows the name in the line of usage */
    const char *purpose;   /* one line, without a full stop */
    const char *notes;     /* paragraphs after the options: "Examples:\n  ..." */
    bool progress;         /* it takes long: has --progress */
    bool precision;        /* it computes with a model: has --precision */
    bool (*writes)(int argument); /* is this argument (1, 2, ...) a file that is written? NULL: all are read */
    const char *files;     /* lines about files that the program reads and writes: "  NAME  meaning\n" */
    const char *environment; /* lines about variables that only this program heeds, or NULL */
    const char *exit_codes; /* lines about codes that only this program has, or NULL */
} xlm_program;

/* Flags of an option, beside GLib's: what becomes of the file that it names. Every option of G_OPTION_ARG_FILENAME or
 * ..._FILENAME_ARRAY has one of the first three; parsing ends the program otherwise. A value LANG=FILE[,FILE] or LANG:FILE names
 * a file after that sign. */
enum {
    XLM_READS = 1 << 16,
    XLM_WRITES = 1 << 17,
    XLM_DIRECTORY = 1 << 18, /* files are made or found in it, or it is only a place */
    XLM_REPLACES = 1 << 19   /* of two options of a program: what one reads the other may replace */
};

/* Elements of an array of groups: more than any program has, so that those which are not given end it. */
enum { XLM_PROGRAM_GROUPS = 24 };

/* Options under a title of their own in --help. */
typedef struct xlm_program_group {
    const char *title; /* "Text to read" */
    const GOptionEntry *entries;
} xlm_program_group;

/* Read the options, which leaves other arguments in argv. groups[XLM_PROGRAM_GROUPS]: up to one without a title; NULL: none.
 * Given --help or --version, print and end the program. Else check what the environment says to us (XLM_KERNELS, XLM_STORE_...),
 * on this machine: ranks may differ. From here on a limit on file sizes is an error of writing, with a message, and not the end,
 * and a signal that ends the program removes what is unfinished. Files that options write are compared with those that options
 * and arguments read, and with what a run keeps in its directory.
 * EX_USAGE. */
bool xlm_program_parse(const xlm_program *program, const xlm_program_group *groups, int *argc, char ***argv, GError **error);

/* Start MPI once options are read, and rank 0 checks that what options are to write can be made. error: that of parsing, which is
 * agreed on. Collective; EX_CANTCREAT. */
bool xlm_program_open(const char *name, xlm_comm *comm, int *argc, char ***argv, GError **error);

/* Was --precision given? */
bool xlm_program_has_precision(void);

/* The command line, for attributes of files: argv before it is parsed, the program by its name and not by where it is
 * installed. g_free. */
char *xlm_program_command(const xlm_program *program, char *const *argv);

/* The one argument that parsing has left, in argv. what: names it in the error when there is none or more ("corpus").
 * NULL with EX_USAGE. */
const char *xlm_program_argument(const xlm_program *program, int argc, char *const *argv, const char *what, GError **error);

/* Is the value of an option, NULL where it was not given, one of the words, which NULL ends? EX_USAGE. */
bool xlm_program_is_one_of(const char *option, const char *word, const char *const *words, GError **error);
/* A number of bytes as an option has it: 512M, 4G, 1.5g, at least 1M. text NULL: *bytes stays. EX_USAGE. */
bool xlm_program_read_bytes(const char *option, const char *text, int64_t *bytes, GError **error);

/* Let out what was printed. EX_IOERR when any of it was lost. */
bool xlm_program_flush(GError **error);

/* The exit code of a program that was to print something and has done so: EX_OK, or EX_IOERR with a message when any of it
 * was lost. For what is printed without MPI. */
int xlm_program_printed(const xlm_program *program);

#endif
