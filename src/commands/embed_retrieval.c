/* xlm-mpi: xlm_embed retrieval, whether translations are nearest. SPDX-License-Identifier: GPL-3.0-or-later */
#include "commands/commands.h"
#include "model_aligner/model_links.h"
#include "program/pair_options.h"
#include "retrieval/sentence_retrieval.h"
#include "vectors/sentence_vectors.h"

static struct {
    char *layer, *languages, *split, *pooling, *csv;
    gint64 pool, neighbours;
    gboolean special_tokens;
} given = {.pool = 0, .neighbours = 10};

static char **languages; /* --languages */
static xlm_retrieval_options chosen;

static const GOptionEntry options[] = {
    {"layer", 0, 0, G_OPTION_ARG_STRING, &given.layer,
     "layer whose hidden states are used: 0 (embeddings) to the number of layers, or all (the default)", "N|all"},
    {"pool", 0, 0, G_OPTION_ARG_INT64, &given.pool,
     "search for a translation among the sentences of N pairs: the first N, the next N, ...; pairs after the last complete N are "
     "left out (default: among all)", "N"},
    {"neighbours", 'k', 0, G_OPTION_ARG_INT64, &given.neighbours,
     "number of nearest sentences that CSLS averages over (default 10)", "K"},
    {"split", 0, 0, G_OPTION_ARG_STRING, &given.split,
     "which pairs of a corpus: held_out (the default), train, or all", "held_out|train|all"},
    {"languages", 0, 0, G_OPTION_ARG_STRING, &given.languages,
     "for a corpus, the two languages (default: its only pair); for text, the names of the languages in the model (default: the "
     "endings of the files' names)", "SOURCE,TARGET"},
    {"pooling", 0, 0, G_OPTION_ARG_STRING, &given.pooling,
     "how the hidden states of a sentence are pooled into one vector: mean, first or max (default: mean, and also the state of "
     "<s>)", "HOW"},
    {"special-tokens", 0, 0, G_OPTION_ARG_NONE, &given.special_tokens,
     "also pool over <s>, </s> and the token of the language, if it has one", NULL},
    {"csv", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &given.csv, "also write the table to a file", "FILE.csv"},
    {.long_name = NULL}};

static bool check(GError **error)
{
    chosen = (xlm_retrieval_options){.pool = given.pool, .neighbours = (int)given.neighbours, .csv = given.csv,
                                     .special_tokens = given.special_tokens};
    return xlm_program_is_in("pool", given.pool, 0, G_MAXINT64, error) &&
           xlm_program_is_in("neighbours", given.neighbours, 1, XLM_MAX_NEIGHBOURS, error) &&
           xlm_pooling_find(given.pooling, -1, &chosen.pooling, error) &&
           xlm_pair_options_layer(given.layer, XLM_LAYER_ALL, &chosen.layer, error) &&
           xlm_pair_options_languages(given.languages, &languages, error) &&
           xlm_pair_options_split(given.split, XLM_HELD_OUT, chosen.source.splits, error);
}

static void run(const xlm_comm *comm, char *const *arguments, GError **error)
{
    if (!xlm_pair_options_source(comm, arguments + 1, given.split, &chosen.source.corpus, error))
        return;
    chosen.checkpoint = arguments[0];
    for (int f = 0; arguments[1 + f] != NULL; f++)
        chosen.source.files[f] = arguments[1 + f];
    for (int s = 0; s < 2 && languages != NULL; s++)
        chosen.source.languages[s] = languages[s];
    xlm_sentence_retrieval(comm, &chosen, error);
}

const xlm_command xlm_embed_retrieval = {
    .name = "retrieval",
    .arguments = "retrieval CHECKPOINT CORPUS.h5 | SOURCE TARGET",
    .purpose = "Measure how often a sentence's translation is the nearest sentence of the other language",
    .notes =
        "retrieval: tests for each sentence of the held-out pairs of a corpus, or of two texts, plain or compressed, where line i "
        "of one is the translation of line i of the other, whether its translation is the nearest of all sentences of the other "
        "side: in both directions, for every layer, with the mean of the hidden states of the sentence's subwords (mean) and "
        "with the state of <s> as its vector; by cosine, and by CSLS (Conneau et al. 2018), which subtracts from the cosine how "
        "close both sentences are to their neighbours. Sentences are encoded separately. If a sentence occurs several times, any "
        "of its copies is correct; other ties count as wrong. The table shows shares of sentences, which do not depend on the "
        "number of ranks.\n\n",
    .examples =
        "  mpiexec -n 4 xlm_embed retrieval run1/latest corpus.h5 --csv retrieval.csv\n"
        "  mpiexec -n 4 xlm_embed retrieval run1/latest test.en test.de --layer 8 --pool 1000\n",
    .options = options,
    .takes = {"a checkpoint, and a corpus or two texts", 2, 3},
    .precision = true,
    .check = check,
    .run = run,
};
