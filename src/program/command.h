/* xlm-mpi: programs of several commands, such as `xlm_embed alignment`. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A command is one file, <program>_<command>.c, and one line in the table of its program. Only the options of the command that is
 * called are known, so that those of another command are refused. The first command of a program may be
 * the one that is called if none is named. */
#ifndef XLM_PROGRAM_COMMAND_H
#define XLM_PROGRAM_COMMAND_H

#include "comm/comm.h"
#include "program/program.h"

typedef struct xlm_command {
    const char *name;      /* "alignment" */
    const char *arguments; /* for the usage line: the name and the arguments */
    const char *purpose;   /* one line, without a full stop */
    const char *notes;     /* paragraphs for --help */
    const char *examples;  /* lines for --help */
    const char *title;     /* of its options; NULL: "Options of NAME" */
    const GOptionEntry *options;
    const char *more_title; /* of a second group of options; NULL: there is none */
    const GOptionEntry *more_options;
    bool precision; /* computes with a model: has --precision */
    struct {
        const char *what; /* "a checkpoint, a dictionary and a corpus" */
        int min, max;
    } takes; /* arguments after the command's name */
    bool (*is_file)(int argument); /* is argument 1, 2, ... after the command's name a file? NULL: all are */
    /* Called before MPI starts: are the options right? EX_USAGE. NULL: there is nothing to check. */
    bool (*check)(GError **error);
    /* Collective. arguments: those after the command's name, ended by NULL. The program's command line is in xlm_command_line.
     * *error: agreed on. */
    void (*run)(const xlm_comm *comm, char *const *arguments, GError **error);
    /* Instead of `run`: called on rank 0 only; its error is agreed on afterwards. */
    bool (*run_alone)(char *const *arguments, GError **error);
} xlm_command;

typedef struct xlm_command_program {
    const char *name;    /* "xlm_embed" */
    const char *purpose; /* of all commands */
    const char *files;   /* as in xlm_program */
    int n;
    const xlm_command *const *commands; /* [n] */
    bool rounds;         /* it computes with kernels, which round in a way of their own */
    bool unnamed;        /* the first is called if the first argument is not the name of a command */
} xlm_command_program;

/* "xlm_embed alignment ...", as typed, for attributes of files. */
extern char *xlm_command_line;

/* The whole main: reads the command and its options, sets threads, runs it; the program's exit code. */
int xlm_command_main(const xlm_command_program *program, int argc, char **argv);

#endif
