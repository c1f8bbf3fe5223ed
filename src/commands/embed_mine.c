/* xlm-mpi: xlm_embed mine, translations found among sentences. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "commands/commands.h"
#include "program/pair_options.h"
#include "retrieval/sentence_mining.h"
#include "vectors/sentence_vectors.h"

static struct {
    char *gold, *training, *languages, *score, *pooling, *output, *csv, *threshold;
    gint64 layer, neighbours;
    gboolean special_tokens;
} given = {.layer = -1, .neighbours = 4};

static char **languages, **training;
static xlm_mining_options chosen;

static const GOptionEntry options[] = {
    {"gold", 'g', XLM_READS, G_OPTION_ARG_FILENAME, &given.gold,
     "gold pairs to score against, one line source id<tab>target id each", "FILE"},
    {"training", 0, XLM_READS, G_OPTION_ARG_FILENAME, &given.training,
     "other sentences and gold pairs, on which the threshold is chosen (default: on --gold itself)", "SOURCE,TARGET,GOLD"},
    {"threshold", 0, 0, G_OPTION_ARG_STRING, &given.threshold, "take pairs with at least this score instead", "X"},
    {"score", 0, 0, G_OPTION_ARG_STRING, &given.score, "score of pairs: margin (default) or cosine", "HOW"},
    {"neighbours", 'k', 0, G_OPTION_ARG_INT64, &given.neighbours,
     "number of nearest sentences on the other side that are candidates, and whose mean cosine the margin uses (default 4)", "K"},
    {"layer", 0, 0, G_OPTION_ARG_INT64, &given.layer,
     "layer whose hidden states are used: 0 (embeddings) to the number of layers, the default", "N"},
    {"pooling", 0, 0, G_OPTION_ARG_STRING, &given.pooling,
     "how the hidden states of a sentence are pooled into one vector: mean (default), first or max", "HOW"},
    {"special-tokens", 0, 0, G_OPTION_ARG_NONE, &given.special_tokens,
     "also pool over <s>, </s> and the token of the language, if it has one", NULL},
    {"languages", 0, 0, G_OPTION_ARG_STRING, &given.languages,
     "names of the languages in the model (default: the endings of the files' names)", "SOURCE,TARGET"},
    {"output", 'o', XLM_WRITES, G_OPTION_ARG_FILENAME, &given.output,
     "write the pairs to this file: score<tab>source id<tab>target id, in descending order of score", "OUT.tsv"},
    {"csv", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &given.csv, "also write the table to a file", "FILE.csv"},
    {.long_name = NULL}};

static bool read_threshold(GError **error)
{
    chosen.threshold = NAN;
    if (given.threshold == NULL)
        return true;
    char *end;
    chosen.threshold = g_ascii_strtod(given.threshold, &end);
    return (*given.threshold != '\0' && *end == '\0' && isfinite(chosen.threshold)) ||
           xlm_error_set(error, EX_USAGE, "--threshold=%s: is not a number", given.threshold);
}

static bool check(GError **error)
{
    static const char *const scores[] = {"margin", "cosine", NULL};
    if (!xlm_program_is_one_of("score", given.score, scores, error) ||
        !xlm_program_is_in("neighbours", given.neighbours, 1, XLM_MAX_NEIGHBOURS, error) ||
        (given.layer != -1 && !xlm_program_is_in("layer", given.layer, 0, G_MAXINT64, error)))
        return false;
    if (given.training != NULL && given.threshold != NULL)
        return xlm_error_set(error, EX_USAGE, "--training and --threshold cannot be combined: both set the threshold");
    if (given.gold == NULL && given.training == NULL && given.threshold == NULL)
        return xlm_error_set(error, EX_USAGE, "give gold pairs (--gold FILE), or the threshold (--threshold X, --training "
                             "SOURCE,TARGET,GOLD)");
    chosen = (xlm_mining_options){
        .gold = given.gold, .layer = given.layer, .special_tokens = given.special_tokens,
        .margin = xlm_program_number_of(given.score, scores) == 0, .neighbours = (int)given.neighbours,
        .output = given.output, .csv = given.csv,
    };
    return xlm_pooling_find(given.pooling, XLM_POOL_MEAN, &chosen.pooling, error) && read_threshold(error) &&
           xlm_program_list("training", given.training, 3, 3, "three files separated by commas, SOURCE,TARGET,GOLD", &training,
                            error) &&
           xlm_pair_options_languages(given.languages, &languages, error);
}

static void run(const xlm_comm *comm, char *const *arguments, GError **error)
{
    chosen.checkpoint = arguments[0];
    for (int s = 0; s < 2; s++) {
        chosen.files[s] = arguments[1 + s];
        chosen.languages[s] = languages != NULL ? languages[s] : NULL;
    }
    for (int i = 0; i < 3; i++)
        chosen.training[i] = training != NULL ? training[i] : NULL;
    xlm_sentence_mining(comm, &chosen, error);
}

const xlm_command xlm_embed_mine = {
    .name = "mine",
    .arguments = "mine CHECKPOINT SOURCE.tsv TARGET.tsv",
    .purpose = "Find translations among the sentences of two texts, and score them as in BUCC",
    .notes =
        "mine: finds which sentences of two files of lines id<tab>sentence, plain or compressed, are translations of each other. "
        "The vector of a sentence is computed from a layer's hidden states. Pairs are scored by the ratio margin (Artetxe & Schwenk "
        "2019), the cosine divided by the mean cosine of both with their K nearest, or by the cosine; each sentence is in at "
        "most one pair. Pairs from a threshold on are taken, which is chosen on the training files of the task. The result does "
        "not depend on the number of ranks.\n\n",
    .examples =
        "  mpiexec -n 4 xlm_embed mine run1/latest de-en.test.de de-en.test.en --gold de-en.test.gold --layer 8 \\\n"
        "      --training de-en.training.de,de-en.training.en,de-en.training.gold -o pairs.tsv\n",
    .options = options,
    .takes = {"a checkpoint and two files of sentences", 3, 3},
    .precision = true,
    .check = check,
    .run = run,
};
