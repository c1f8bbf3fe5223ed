/* xlm-mpi: xlm_cooc, how often subwords occur near one another. SPDX-License-Identifier: GPL-3.0-or-later */
#include "commands/commands.h"

/* The table: one line per command. The first is called if none is named. */
#define COMMANDS(COMMAND) \
    COMMAND(count) \
    COMMAND(top) \
    COMMAND(export)

#define DECLARE(name) extern const xlm_command xlm_cooc_##name;
#define ADDRESS(name) &xlm_cooc_##name,
COMMANDS(DECLARE)
static const xlm_command *const commands[] = {COMMANDS(ADDRESS)};

int main(int argc, char **argv)
{
    const xlm_command_program program = {
        .name = "xlm_cooc",
        .purpose = "Count how often subwords of a corpus occur near each other, for the objective gc and for embeddings",
        .files = "  CORPUS.h5  a corpus of xlm_prep\n"
                 "  COOC.h5    a table of xlm_cooc\n",
        .n = G_N_ELEMENTS(commands),
        .commands = commands,
        .unnamed = true,
    };
    return xlm_command_main(&program, argc, argv);
}
