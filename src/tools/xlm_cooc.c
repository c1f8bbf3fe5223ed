/* xlm-mpi: xlm_cooc, how often subwords occur near one another. SPDX-License-Identifier: GPL-3.0-or-later */
#include "commands/commands.h"

static const xlm_command *const commands[] = {&xlm_cooc_count, &xlm_cooc_top, &xlm_cooc_export};

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
