/* xlm-mpi: the command line of every xlm_* program: --help, --version, errors of usage. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Options are read before MPI starts, so that --help and --version work where MPI does not. Help has the form that
 * help2man turns into a man page. */
#ifndef XLM_TOOLS_PROGRAM_H
#define XLM_TOOLS_PROGRAM_H

#include "base/error.h"

typedef struct xlm_program {
    const char *name;      /* "xlm_prep" */
    const char *arguments; /* what follows the name in the line of usage */
    const char *purpose;   /* one line, without a full stop */
    const char *notes;     /* paragraphs after the options: "Examples:\n  ..." */
    const char *exit_codes; /* lines about codes that only this program has, or NULL */
} xlm_program;

/* A context without groups of options yet. g_option_context_free. */
GOptionContext *xlm_program_context(const xlm_program *program);
/* Add a group of options under a title ("Text to read"). */
void xlm_program_add(GOptionContext *context, const char *title, const GOptionEntry *entries);
/* Read the options, which leaves other arguments in argv. Given --help or --version, print and end the program with
 * EX_OK. EX_USAGE. */
bool xlm_program_parse(const xlm_program *program, GOptionContext *context, int *argc, char ***argv, GError **error);

#endif
