/* xlm-mpi: xlm_embed factorise, embeddings by counting. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "commands/commands.h"
#include "maps/factorise.h"

static xlm_factorise_options given = {.rank = 300, .seed = 1, .shift = 1, .smoothing = 0.75, .power = 0.5, .tolerance = 1e-4};
static char *memory; /* --memory */

static const GOptionEntry options[] = {
    {"output", 'o', XLM_WRITES, G_OPTION_ARG_FILENAME, &given.output, "vectors to write (HDF5)", "FILE.h5"},
    {"rank", 0, 0, G_OPTION_ARG_INT64, &given.rank, "dimensions of the vectors (default 300)", "K"},
    {"shift", 0, 0, G_OPTION_ARG_DOUBLE, &given.shift,
     "subtract the log of this number from the PMI before negative values become 0, like the negative samples of word2vec "
     "(default 1: nothing)", "N"},
    {"smoothing", 0, 0, G_OPTION_ARG_DOUBLE, &given.smoothing,
     "exponent of the counts in the probability of a context (default 0.75; 1: the counts themselves)", "A"},
    {"power", 0, 0, G_OPTION_ARG_DOUBLE, &given.power,
     "vectors are left singular vectors times this power of the singular values (default 0.5)", "P"},
    {"tolerance", 0, 0, G_OPTION_ARG_DOUBLE, &given.tolerance,
     "maximum relative residual of the square of a singular value (default 1e-4)", "X"},
    {"memory", 0, 0, G_OPTION_ARG_STRING, &memory,
     "stop before the work if a rank would need more than this (default: only report how much)", "BYTES[K|M|G]"},
    {"seed", 0, 0, G_OPTION_ARG_INT64, &given.seed, "seed of the random vectors that the iteration starts with (default 1)", "N"},
    {.long_name = NULL}};

static bool check(GError **error)
{
    if (given.output == NULL)
        return xlm_error_set(error, EX_USAGE, "no file to write; give -o FILE.h5");
    if (!(given.shift > 0 && isfinite(given.shift)))
        return xlm_error_set(error, EX_USAGE, "--shift=%g: must be above 0", given.shift);
    if (!(given.smoothing >= 0 && given.smoothing <= 1))
        return xlm_error_set(error, EX_USAGE, "--smoothing=%g: must be from 0 to 1", given.smoothing);
    if (!isfinite(given.power))
        return xlm_error_set(error, EX_USAGE, "--power=%g: must be a finite number", given.power);
    if (!(given.tolerance > 0 && given.tolerance < 1))
        return xlm_error_set(error, EX_USAGE, "--tolerance=%g: must be above 0 and below 1", given.tolerance);
    return xlm_program_is_in("rank", given.rank, 1, 1 << 13, error) &&
           xlm_program_is_in("seed", (gint64)given.seed, 0, G_MAXINT64, error) &&
           xlm_program_read_memory(memory, &given.memory, error);
}

static void run(const xlm_comm *comm, char *const *arguments, GError **error)
{
    given.table = arguments[0];
    given.command = xlm_command_line;
    xlm_factorise(comm, &given, error);
}

const xlm_command xlm_embed_factorise = {
    .name = "factorise",
    .arguments = "factorise COOC.h5 -o VECTORS.h5",
    .purpose = "Make word vectors from counts: factors of a co-occurrence table",
    .notes =
        "factorise: computes the classical baseline (Levy & Goldberg 2014): the matrix of shifted positive PMI from the counts "
        "of xlm_cooc, and its largest singular values and vectors, by randomised subspace iteration over all ranks. The file has "
        "a vector for each subword of the table, and is read by the other commands that take vectors.\n\n",
    .examples =
        "  mpiexec -n 2 xlm_embed factorise cooc.h5 -o counted.h5 --rank 300 --shift 5\n",
    .options = options,
    .takes = {"one table of xlm_cooc", 1, 1},
    .check = check,
    .run = run,
};
