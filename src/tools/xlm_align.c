/* xlm-mpi: xlm_align, word alignments. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tools/align.h"

static const xlm_command *const commands[] = {&xlm_align_score, &xlm_align_show};

int main(int argc, char **argv)
{
    const xlm_command_program program = {
        .name = "xlm_align",
        .purpose = "Measure and show word alignments of sentence pairs",
        .files = "  LINKS  links a line a sentence pair, `0-0 1-2`\n"
                 "  GOLD   links made by people: such lines, or lines `sentence source target [S|P]`\n"
                 "  A.h5   alignment of a corpus's sentence pairs, with links between subwords\n",
        .n = G_N_ELEMENTS(commands),
        .commands = commands,
    };
    return xlm_command_main(&program, argc, argv);
}
