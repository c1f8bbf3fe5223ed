/* xlm-mpi: xlm_embed, what a model's embeddings are like. SPDX-License-Identifier: GPL-3.0-or-later */
#include "commands/commands.h"

/* The table: one line per command. */
#define COMMANDS(COMMAND) \
    COMMAND(alignment) \
    COMMAND(cca) \
    COMMAND(dictionary) \
    COMMAND(export) \
    COMMAND(factorise) \
    COMMAND(map) \
    COMMAND(mine) \
    COMMAND(neighbours) \
    COMMAND(pca) \
    COMMAND(procrustes) \
    COMMAND(retrieval) \
    COMMAND(similarity) \
    COMMAND(whiten)

#define DECLARE(name) extern const xlm_command xlm_embed_##name;
#define ADDRESS(name) &xlm_embed_##name,
COMMANDS(DECLARE)
static const xlm_command *const commands[] = {COMMANDS(ADDRESS)};

int main(int argc, char **argv)
{
    const xlm_command_program program = {
        .name = "xlm_embed",
        .purpose = "Measure and export a trained model's representations of words and sentences",
        .files = "  CHECKPOINT      a checkpoint of xlm_train, for example OUTPUT/latest\n"
                 "  DICT.h5         a dictionary of xlm_dict\n"
                 "  CORPUS.h5       a corpus of xlm_prep\n"
                 "  COOC.h5         a table of xlm_cooc\n"
                 "  SOURCE, TARGET  texts, one sentence per line\n"
                 "  VECTORS         words with their vectors: text of xlm_embed export, word2vec, fastText; HDF5 of export\n",
        .n = G_N_ELEMENTS(commands),
        .rounds = true,
        .commands = commands,
    };
    return xlm_command_main(&program, argc, argv);
}
