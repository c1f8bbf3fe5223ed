/* xlm-mpi: xlm_embed, what a model's embeddings are like. SPDX-License-Identifier: GPL-3.0-or-later */
#include "commands/commands.h"

static const xlm_command *const commands[] = {&xlm_embed_alignment, &xlm_embed_cca, &xlm_embed_dictionary, &xlm_embed_export,
                                             &xlm_embed_factorise, &xlm_embed_map, &xlm_embed_mine, &xlm_embed_neighbours,
                                             &xlm_embed_pca, &xlm_embed_procrustes, &xlm_embed_retrieval,
                                             &xlm_embed_similarity, &xlm_embed_whiten};

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
        .commands = commands,
    };
    return xlm_command_main(&program, argc, argv);
}
