/* xlm-mpi: programs of several commands, such as `xlm_embed alignment`. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A command is one file, <program>_<command>.c, and one line in the table of its program. Its options are known only when it is
 * called, so that one of another command is refused. A program may have a command that is called when none is named. */
#ifndef XLM_TOOLS_COMMAND_H
#define XLM_TOOLS_COMMAND_H

#include "comm/comm.h"
#include "tools/program.h"

typedef struct xlm_command {
    const char *name;      /* "alignment" */
    const char *arguments; /* for the line of usage: the name, and what follows it */
    const char *purpose;   /* one line, without a full stop */
    const char *notes;     /* paragraphs for --help */
    const char *examples;  /* lines for --help */
    const char *title;     /* of its options */
    const GOptionEntry *options;
    const char *more_title; /* of a second group of options; NULL: there is none */
    const GOptionEntry *more_options;
    bool precision; /* it computes with a model: has --precision */
    /* Before MPI starts: n arguments follow the command's name; do they and the options go together? EX_USAGE. */
    bool (*check)(int n, GError **error);
    /* Collective. The program's command line is in xlm_command_line. *error: agreed on. */
    void (*run)(const xlm_comm *comm, char *const *arguments, GError **error);
    void (*free_options)(void);
} xlm_command;

typedef struct xlm_command_program {
    const char *name;    /* "xlm_embed" */
    const char *purpose; /* of all commands */
    const char *files;   /* as in xlm_program */
    int n;
    const xlm_command *const *commands; /* [n] */
    bool unnamed;        /* the first is called when the first argument is no command's name */
} xlm_command_program;

/* "xlm_embed alignment ...", as it was typed, for attributes of files. */
extern char *xlm_command_line;

/* The whole main: reads the command and its options, sets threads, runs it; the program's exit code. */
int xlm_command_main(const xlm_command_program *program, int argc, char **argv);

#endif
