/* xlm-mpi: xlm_align, word alignments. SPDX-License-Identifier: GPL-3.0-or-later */
#include "commands/commands.h"

/* The table: one line per command. The first is called if none is named. */
#define COMMANDS(COMMAND) \
    COMMAND(text) \
    COMMAND(dictionary) \
    COMMAND(score) \
    COMMAND(show) \
    COMMAND(symmetrise)

#define DECLARE(name) extern const xlm_command xlm_align_##name;
#define ADDRESS(name) &xlm_align_##name,
COMMANDS(DECLARE)
static const xlm_command *const commands[] = {COMMANDS(ADDRESS)};

int main(int argc, char **argv)
{
    const xlm_command_program program = {
        .name = "xlm_align",
        .purpose = "Align the words of sentence pairs; show, combine and measure alignments",
        .files = "  SOURCE, TARGET  texts, one sentence per line\n"
                 "  CORPUS.h5       a corpus of xlm_prep with sentence pairs\n"
                 "  LINKS           links, one line per sentence pair: `0-0 1-2`\n"
                 "  GOLD            manual links: such lines, or lines `sentence source target [S|P]`\n"
                 "  A.h5            alignment of a corpus's sentence pairs, with links between subwords\n"
                 "  MODEL.h5        a checkpoint of xlm_train, for example OUTPUT/latest\n",
        .n = G_N_ELEMENTS(commands),
        .rounds = true,
        .commands = commands,
        .unnamed = true,
    };
    return xlm_command_main(&program, argc, argv);
}
