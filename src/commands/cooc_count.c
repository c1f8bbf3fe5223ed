/* xlm-mpi: xlm_cooc count, counting a corpus. SPDX-License-Identifier: GPL-3.0-or-later */

#include "commands/commands.h"
#include "lexicon/cooccurrence_count.h"
#include "program/pair_options.h"

static struct {
    gint64 window, min_count, max_vocabulary;
    char *weights, *factors, *split, *memory, *scratch, *add, *output;
} given = {.window = -1, .min_count = -1, .max_vocabulary = -1};

static int64_t memory_bytes = (int64_t)2 << 30;
static bool splits[XLM_SPLITS]; /* --split */

static const GOptionEntry options[] = {
    {"output", 'o', XLM_WRITES | XLM_REPLACES, G_OPTION_ARG_FILENAME, &given.output, "table to write (HDF5)", "FILE.h5"},
    {"window", 0, 0, G_OPTION_ARG_INT64, &given.window,
     "number of tokens before and after a token that are counted, 1 to 64 (default 2)", "N"},
    {"weights", 0, 0, G_OPTION_ARG_STRING, &given.weights,
     "weight of a pair at distance r: 1/(r + 1) (inverse, the default), 1/r as in GloVe (glove), 1 (even)", "inverse|glove|even"},
    {"factors", 0, 0, G_OPTION_ARG_STRING, &given.factors,
     "multiply the counts of a language by the number of tokens of the largest language divided by its own (largest, the "
     "default), or not (none)", "largest|none"},
    {"split", 0, 0, G_OPTION_ARG_STRING, &given.split,
     "which text of the corpus is counted (default train)", "train|held_out|all"},
    {"min-count", 0, 0, G_OPTION_ARG_INT64, &given.min_count,
     "leave out subwords with a smaller count in the vocabulary (default 0)", "N"},
    {"max-vocab", 0, 0, G_OPTION_ARG_INT64, &given.max_vocabulary,
     "count only the N subwords with the largest counts in the vocabulary (default 0: all)", "N"},
    {"add", 0, XLM_READS | XLM_REPLACES, G_OPTION_ARG_FILENAME, &given.add,
     "add to the counts of this table, which was made from other text with the same vocabulary; its window is used, and its "
     "subwords, whatever their counts in the other text", "FILE"},
    {"memory", 0, 0, G_OPTION_ARG_STRING, &given.memory,
     "memory per rank for counting, approximately; the rest goes to scratch files, except a row of the table, which comes from all "
     "ranks at once (default 2G)", "BYTES[K|M|G]"},
    {"scratch", 0, XLM_DIRECTORY, G_OPTION_ARG_FILENAME, &given.scratch,
     "directory of scratch files (default: that of the output)", "DIR"},
    {.long_name = NULL}};

static bool check(GError **error)
{
    static const char *const weights[] = {"inverse", "glove", "even", NULL}, *const factors[] = {"largest", "none", NULL};
    if (given.output == NULL)
        return xlm_error_set(error, EX_USAGE, "no file to write; give -o FILE");
    return (given.window == -1 || xlm_program_is_in("window", given.window, 1, XLM_COOCCURRENCE_MAX_WINDOW, error)) &&
           (given.min_count == -1 || xlm_program_is_in("min-count", given.min_count, 0, G_MAXINT64, error)) &&
           (given.max_vocabulary == -1 || xlm_program_is_in("max-vocab", given.max_vocabulary, 0, G_MAXINT64, error)) &&
           xlm_program_is_one_of("weights", given.weights, weights, error) &&
           xlm_program_is_one_of("factors", given.factors, factors, error) &&
           xlm_pair_options_split(given.split, XLM_TRAIN, splits, error) &&
           xlm_program_read_memory(given.memory, &memory_bytes, error);
}

static void run(const xlm_comm *comm, char *const *arguments, GError **error)
{
    const xlm_cooccurrence_options o = {
        .corpus = arguments[0], .output = given.output, .add = given.add,
        .rule = {given.window, given.weights, given.factors, given.min_count, given.max_vocabulary},
        .train = splits[XLM_TRAIN], .held_out = splits[XLM_HELD_OUT], .memory = memory_bytes, .scratch = given.scratch,
        .command = xlm_command_line,
    };
    xlm_cooccurrence_count(comm, &o, error);
}

const xlm_command xlm_cooc_count = {
    .name = "count",
    .arguments = "[count] CORPUS.h5 -o COOC.h5",
    .purpose = "Count how often subwords of a corpus occur near each other",
    .notes =
        "count: counts how often each pair of subwords occurs 1, 2, … --window tokens apart within a sentence, as integers, by "
        "language; and X, their sum weighted by distance and language, which the objective gc reads. A table is the same on any "
        "number of ranks, and counting two texts with --add gives the same table as counting both at once; but --min-count and "
        "--max-vocab apply to the counts of the first text alone, and those of the subwords that it leaves in are complete. "
        "Subwords that are left out still take up their positions, so their neighbours do not move closer together.\n\n",
    .examples =
        "  mpiexec -n 8 xlm_cooc corpus.h5 -o cooc.h5 --window 2\n"
        "  mpiexec -n 8 xlm_cooc more.h5 --add cooc.h5 -o both.h5\n",
    .options = options,
    .takes = {"one corpus; --add adds the table of another one", 1, 1},
    .check = check,
    .run = run,
};
