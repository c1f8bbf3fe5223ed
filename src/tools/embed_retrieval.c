/* xlm-mpi: xlm_embed retrieval, whether translations are nearest. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/align_input.h"
#include "model_aligner/model_links.h"
#include "retrieval/sentence_retrieval.h"
#include "tools/embed.h"
#include "tools/pair_options.h"
#include "vectors/sentence_vectors.h"

enum { MOST_NEIGHBOURS = 1000 };

static struct {
    char *layer, *languages, *split, *pooling, *csv;
    gint64 pool, neighbours;
    gboolean special_tokens;
} given = {.pool = 0, .neighbours = 10};

static int files;          /* arguments behind the checkpoint */
static char *languages[2]; /* --languages */
static xlm_retrieval_options chosen;

static const GOptionEntry options[] = {
    {"layer", 0, 0, G_OPTION_ARG_STRING, &given.layer,
     "layer whose hidden states are taken: 0 (embeddings) to the number of layers, or all (the default)", "N|all"},
    {"pool", 0, 0, G_OPTION_ARG_INT64, &given.pool,
     "look for a translation among the sentences of N pairs: the first N, the next N, ...; pairs behind the last whole N are "
     "left out (default: among all)", "N"},
    {"neighbours", 'k', 0, G_OPTION_ARG_INT64, &given.neighbours, "nearest sentences that CSLS takes the mean of (default 10)",
     "K"},
    {"split", 0, 0, G_OPTION_ARG_STRING, &given.split, "which pairs of a corpus: held_out (the default), train, all of both",
     "held_out|train|all"},
    {"languages", 0, 0, G_OPTION_ARG_STRING, &given.languages,
     "of a corpus, which two languages (default: its only pair); of text, what the model calls the languages (default: the "
     "endings of the files' names)", "SOURCE,TARGET"},
    {"pooling", 0, 0, G_OPTION_ARG_STRING, &given.pooling,
     "how the hidden states of a sentence become one vector: mean, first or max (default: mean, and beside it the row of <s>)",
     "HOW"},
    {"special-tokens", 0, 0, G_OPTION_ARG_NONE, &given.special_tokens, "pool over <s> and </s>, too", NULL},
    {"csv", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &given.csv, "write the table to a file too", "FILE"},
    {.long_name = NULL}};

static bool check(int n, GError **error)
{
    files = n - 1;
    chosen = (xlm_retrieval_options){.pool = given.pool, .neighbours = (int)given.neighbours, .csv = given.csv,
                                     .special_tokens = given.special_tokens};
    if (n != 2 && n != 3)
        return xlm_error_set(error, EX_USAGE, "retrieval takes a checkpoint, and a corpus or two texts; see xlm_embed --help");
    if (given.pool < 0)
        return xlm_error_set(error, EX_USAGE, "--pool=%" G_GINT64_FORMAT ": is not a number of pairs", given.pool);
    if (given.neighbours < 1 || given.neighbours > MOST_NEIGHBOURS)
        return xlm_error_set(error, EX_USAGE, "--neighbours=%" G_GINT64_FORMAT ": is not in 1 to %d", given.neighbours,
                             MOST_NEIGHBOURS);
    return xlm_pooling_find(given.pooling, -1, &chosen.pooling, error) &&
           xlm_pair_options_layer(given.layer, XLM_LAYER_ALL, &chosen.layer, error) &&
           xlm_pair_options_languages(given.languages, languages, error) &&
           xlm_pair_options_split(given.split, XLM_HELD_OUT, chosen.source.splits, error);
}

/* Do the options go together with what is given, a corpus or text? */
static bool check_source(char *const *paths, const bool corpus[2], GError **error)
{
    if (files == 2 && (corpus[0] || corpus[1]))
        return xlm_error_set(error, EX_USAGE, "%s: is HDF5, and no text; a corpus has the sentences of both languages, and is "
                             "given alone", paths[corpus[0] ? 0 : 1]);
    return corpus[0] || given.split == NULL ||
           xlm_error_set(error, EX_USAGE, "--split is for a corpus, which %s is not; leave it out", paths[0]);
}

static void run(const xlm_comm *comm, char *const *arguments, GError **error)
{
    bool corpus[2] = {false, false};
    GError *failure = NULL;
    for (int f = 0; f < files; f++)
        corpus[f] = xlm_align_is_corpus(comm, arguments[1 + f]);
    check_source(arguments + 1, corpus, &failure);
    if (!xlm_comm_agree_on(comm, failure, error))
        return;
    chosen.checkpoint = arguments[0];
    chosen.source.corpus = corpus[0];
    for (int f = 0; f < files; f++)
        chosen.source.files[f] = arguments[1 + f];
    for (int s = 0; s < 2; s++)
        chosen.source.languages[s] = languages[s];
    xlm_sentence_retrieval(comm, &chosen, error);
}

static void free_options(void)
{
    char *const texts[] = {given.layer, given.languages, given.split, given.pooling, given.csv, languages[0], languages[1]};
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
}

const xlm_command xlm_embed_retrieval = {
    .name = "retrieval",
    .arguments = "retrieval CHECKPOINT CORPUS.h5 | SOURCE TARGET",
    .purpose = "Measure how often a sentence's translation is the nearest sentence of the other language",
    .notes =
        "retrieval: for each sentence of the held-out pairs of a corpus, or of two texts, plain or gzip, line i of one the\n"
        "translation of line i of the other: is its translation the nearest of all sentences of the other side? In both\n"
        "directions, for every layer, with the mean of the hidden states of the sentence's subwords (mean) and with that of <s>\n"
        "as its vector; by cosine, and by CSLS (Conneau et al. 2018), which takes from the cosine how near a sentence is to\n"
        "many. Sentences are encoded alone. One that stands several times is right where one of its places is; other ties count\n"
        "as wrong. Shown are shares of sentences; they do not depend on the number of ranks.\n"
        "\n",
    .examples =
        "  mpiexec -n 4 xlm_embed retrieval run1/latest corpus.h5 --csv retrieval.csv\n"
        "  mpiexec -n 4 xlm_embed retrieval run1/latest test.en test.de --layer 8 --pool 1000\n",
    .title = "Options of retrieval",
    .options = options,
    .precision = true,
    .check = check,
    .run = run,
    .free_options = free_options,
};
