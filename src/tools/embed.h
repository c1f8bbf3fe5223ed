/* xlm-mpi: the commands of xlm_embed. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A command is one file, embed_<command>.c, and one line in the table of xlm_embed.c. Its options are known only when it is
 * called, so that one of another command is refused. */
#ifndef XLM_TOOLS_EMBED_H
#define XLM_TOOLS_EMBED_H

#include "comm/comm.h"

typedef struct xlm_embed_command {
    const char *name;      /* "alignment" */
    const char *arguments; /* for the line of usage: the name, and what follows it */
    const char *purpose;   /* one line, without a full stop */
    const char *notes;     /* paragraphs for --help */
    const char *examples;  /* lines for --help */
    const char *title;     /* of its options */
    const GOptionEntry *options;
    /* Before MPI starts: n arguments follow the command's name; do they and the options go together? EX_USAGE. */
    bool (*check)(int n, GError **error);
    /* Collective. The program's command line is in xlm_embed_command_line. *error: agreed on. */
    void (*run)(const xlm_comm *comm, char *const *arguments, GError **error);
    void (*free_options)(void);
} xlm_embed_command;

/* "xlm_embed alignment ...", as it was typed, for attributes of files. */
extern char *xlm_embed_command_line;

extern const xlm_embed_command xlm_embed_alignment, xlm_embed_export;

#endif
