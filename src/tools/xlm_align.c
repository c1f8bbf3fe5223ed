/* xlm-mpi: xlm_align, word alignments. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tools/align.h"

static const xlm_command *const commands[] = {&xlm_align_text, &xlm_align_score, &xlm_align_show, &xlm_align_symmetrise};

int main(int argc, char **argv)
{
    const xlm_command_program program = {
        .name = "xlm_align",
        .purpose = "Align the words of sentence pairs, show, join and measure alignments",
        .files = "  SOURCE, TARGET  texts, a sentence a line\n"
                 "  CORPUS.h5       what xlm_prep wrote, with sentence pairs\n"
                 "  LINKS           links a line a sentence pair, `0-0 1-2`\n"
                 "  GOLD            links made by people: such lines, or lines `sentence source target [S|P]`\n"
                 "  A.h5            alignment of a corpus's sentence pairs, with links between subwords\n"
                 "  MODEL.h5        what xlm_train wrote, OUTPUT/latest for example\n",
        .n = G_N_ELEMENTS(commands),
        .commands = commands,
        .unnamed = true,
    };
    return xlm_command_main(&program, argc, argv);
}
