/* xlm-mpi: xlm_align, word alignment of text. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/align_words.h"
#include "commands/commands.h"
#include "program/pair_options.h"

static struct {
    gboolean lower;
    char *split, *method, *symmetrise, *words, *languages, *memory;
} given;

static char **languages; /* --languages */
static bool splits[2];   /* --split */

static xlm_align_options chosen = {.iterations = -1, .symmetrisation = XLM_GROW_DIAG_FINAL_AND, .memory = (int64_t)4 << 30,
                                   .text = {.words = XLM_WORDS_SPACE, .longest = -1}};
static xlm_model_links_options by_model; /* with --checkpoint */

static const GOptionEntry options[] = {
    {"output", 'o', XLM_WRITES, G_OPTION_ARG_FILENAME, &chosen.links,
     "links to write, one line per pair: `0-0 1-2` (default: standard output, if nothing else is written; with --checkpoint also "
     "beside --scores and --matrices)", "FILE"},
    {"method", 0, 0, G_OPTION_ARG_STRING, &given.method,
     "fertility: a hidden Markov model with fertilities, both directions trained to agree (the default); diagonal: translations "
     "near the diagonal as in fast_align, faster and less accurate; with --checkpoint ot, argmax, itermax", "METHOD"},
    {"symmetrise", 0, 0, G_OPTION_ARG_STRING, &given.symmetrise,
     "how the links of two directions are combined: forward, reverse, intersection, union, grow-diag, grow-diag-final, "
     "grow-diag-final-and (the default)", "HOW"},
    {"forward", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &chosen.forward,
     "also write the links of the direction from source to target", "FILE"},
    {"reverse", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &chosen.reverse, "also write the links from target to source", "FILE"},
    {"scores", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &chosen.scores,
     "also write the score of each link, in the order of the links: its posterior probability with --symmetrise=forward or "
     "reverse, otherwise the root of the product of those of both directions; with --checkpoint the similarity, the largest of "
     "the subwords of the two words", "FILE"},
    {"alignment", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &chosen.alignment,
     "write the alignment of a corpus: links between the subwords of each pair, with their scores (HDF5)", "A.h5"},
    {"split", 0, 0, G_OPTION_ARG_STRING, &given.split,
     "which pairs of a corpus are aligned: train (the default), held_out, or all", "train|held_out|all"},
    {"words", 0, 0, G_OPTION_ARG_STRING, &given.words,
     "words are separated by spaces (space, the default), or found by the rules of Unicode (icu)", "space|icu"},
    {"languages", 0, 0, G_OPTION_ARG_STRING, &given.languages,
     "for a corpus, the two languages, in either order (default: its only pair); for text, the names of the languages in the "
     "model of --checkpoint (default: the endings of the files' names)", "SOURCE,TARGET"},
    {"lowercase", 0, 0, G_OPTION_ARG_NONE, &given.lower, "treat words that differ only in case as the same", NULL},
    {"longest", 0, 0, G_OPTION_ARG_INT64, &chosen.text.longest,
     "pairs with more words on a side get no links, 1 to 10000 (default 1000)", "N"},
    {"iterations", 0, 0, G_OPTION_ARG_INT64, &chosen.iterations,
     "EM iterations (for fertility variational ones), after which one more pass finds links (default: 9 for fertility, 4 for "
     "diagonal, which are 5 as fast_align counts; with --model 0, which aligns without training)", "N"},
    {"save", 0, XLM_WRITES | XLM_REPLACES, G_OPTION_ARG_FILENAME, &chosen.save, "write the trained model (HDF5)", "FILE.h5"},
    {"model", 0, XLM_READS | XLM_REPLACES, G_OPTION_ARG_FILENAME, &chosen.model,
     "align with this model; with --iterations training starts from its counts, and keeps them", "FILE"},
    {"memory", 0, 0, G_OPTION_ARG_STRING, &given.memory,
     "memory per rank for the words of its sentence pairs, approximately; the rest goes to a scratch file (default "
     "4G)", "BYTES[K|M|G]"},
    {"scratch", 0, XLM_DIRECTORY, G_OPTION_ARG_FILENAME, &chosen.scratch,
     "directory of the scratch file (default: that of the output, otherwise the current one)", "DIR"},
    {.long_name = NULL}};

static bool check_numbers(GError **error)
{
    if ((chosen.iterations != -1 && !xlm_program_is_in("iterations", chosen.iterations, 0, 1000, error)) ||
        (chosen.text.longest != -1 && !xlm_program_is_in("longest", chosen.text.longest, 1, 10000, error)))
        return false;
    if (chosen.iterations == 0 && chosen.model == NULL)
        return xlm_error_set(error, EX_USAGE, "--iterations=0: without --model there is nothing to align with");
    if (chosen.save != NULL && chosen.model != NULL && chosen.iterations < 1)
        return xlm_error_set(error, EX_USAGE, "--save with --model needs --iterations: otherwise nothing is trained");
    return true;
}

/* With --checkpoint the options for statistics have no effect, so they are refused. */
static bool check_model(GError **error)
{
    const bool other = given.symmetrise != NULL || chosen.forward != NULL || chosen.reverse != NULL || given.lower ||
                       chosen.save != NULL || chosen.model != NULL || chosen.iterations != -1 ||
                       chosen.text.longest != -1 || given.memory != NULL || chosen.scratch != NULL;
    return !other ||
           xlm_error_set(error, EX_USAGE, "--symmetrise, --forward, --reverse, --lowercase, --longest, --iterations, --save, "
                         "--model, --memory and --scratch are not for alignment with a model; leave them out, or leave out "
                         "--checkpoint");
}

static bool check(GError **error)
{
    if (!xlm_pair_options_languages(given.languages, &languages, error) ||
        !xlm_pair_options_split(given.split, XLM_TRAIN, splits, error))
        return false;
    if ((xlm_align_model_asked() && !check_model(error)) ||
        !xlm_align_model_read(given.words, given.method, chosen.alignment, &by_model, error))
        return false;
    if (xlm_align_model_asked())
        return true;
    if (given.method != NULL && (chosen.aligner = xlm_aligner_find(given.method, error)) == NULL)
        return false;
    if (given.symmetrise != NULL && !xlm_symmetrisation_find(given.symmetrise, &chosen.symmetrisation))
        return xlm_error_set(error, EX_USAGE, "--symmetrise=%s: is not one of %s", given.symmetrise, xlm_symmetrisation_names());
    if (given.words != NULL && !xlm_word_mode_find(given.words, &chosen.text.words))
        return xlm_error_set(error, EX_USAGE, "--words=%s: is neither space nor icu", given.words);
    return check_numbers(error) && xlm_program_read_memory(given.memory, &chosen.memory, error);
}

/* Do the options fit the input, a corpus or text? */
static bool check_source(char *const *arguments, bool corpus, GError **error)
{
    if (corpus)
        return g_strcmp0(given.words, "icu") != 0 ||
               xlm_error_set(error, EX_USAGE, "--words=icu: a corpus is already split into words; leave it out");
    if (chosen.alignment != NULL)
        return xlm_error_set(error, EX_USAGE, "--alignment: %s is not a corpus; make one with xlm_prep --para, or write links as "
                             "text with --output", arguments[0]);
    return given.languages == NULL || xlm_align_model_asked() ||
           xlm_error_set(error, EX_USAGE, "--languages is only for a corpus, and %s is not one, or for alignment with a model "
                         "(--checkpoint MODEL.h5); leave it out", arguments[0]);
}

static void run(const xlm_comm *comm, char *const *arguments, GError **error)
{
    xlm_align_source source = {.splits = {splits[0], splits[1]}};
    if (!xlm_pair_options_source(comm, arguments, given.split, &source.corpus, error) ||
        !check_source(arguments, source.corpus, error))
        return;
    for (int s = 0; s < 2 && languages != NULL; s++)
        source.languages[s] = languages[s];
    for (int f = 0; arguments[f] != NULL; f++)
        source.files[f] = arguments[f];
    if (xlm_align_model_asked()) {
        by_model.source = source;
        by_model.output = chosen.links;
        by_model.scores = chosen.scores;
        by_model.alignment = chosen.alignment;
        xlm_model_links(comm, &by_model, error);
        return;
    }
    const char *const outputs[] = {chosen.links, chosen.forward, chosen.reverse, chosen.scores, chosen.alignment, chosen.save};
    g_autofree char *directory = NULL; /* of the first output */
    for (size_t i = 0; i < G_N_ELEMENTS(outputs) && directory == NULL; i++)
        directory = outputs[i] != NULL ? g_path_get_dirname(outputs[i]) : NULL;
    xlm_align_options o = chosen;
    o.source = source;
    o.text.lower = given.lower;
    o.text.longest = chosen.text.longest != -1 ? chosen.text.longest : 1000;
    o.print = directory == NULL; /* if there is no file for anything */
    o.scratch = chosen.scratch != NULL ? chosen.scratch : directory != NULL ? directory : ".";
    o.command = xlm_command_line;
    xlm_align_words(comm, &o, error);
}

const xlm_command xlm_align_text = {
    .name = "text",
    .arguments = "[text] SOURCE TARGET | CORPUS.h5 -o LINKS",
    .purpose = "Align the words of sentence pairs",
    .notes =
        "text: finds which word of a sentence is a translation of which word of the other. SOURCE and TARGET are two texts,\n"
        "plain or compressed, where line i of one is the translation of line i of the other; or one text of lines `source |||\n"
        "target`; or a corpus (recognised by its first bytes), whose sentence pairs are aligned, in its order of languages:\n"
        "--alignment writes their links by number of the pair, --output as lines. By default words are aligned with statistics\n"
        "of the sentence pairs themselves, in both directions, which --symmetrise combines. With --checkpoint they are aligned\n"
        "with a model: links are computed from the similarities of the hidden states of all subwords by optimal transport (Chi\n"
        "et al. 2021), or by SimAlign's Argmax and Itermax (Jalili Sabet et al. 2020). Words are linked if any of their\n"
        "subwords are, and pairs that are longer than the model's positions get no links. Links are the same on any number of\n"
        "ranks.\n\n",
    .examples =
        "  mpiexec -n 2 xlm_align train.en train.de -o links.txt --lowercase\n"
        "  xlm_align train.en train.de -o links.txt --save en-de.h5\n"
        "  xlm_align today.en today.de -o today.txt --model en-de.h5\n"
        "  mpiexec -n 4 xlm_align corpus.h5 --languages en,de --alignment alignment.h5\n"
        "  mpiexec -n 4 xlm_align text.en text.fr --checkpoint run1/latest -o links.txt\n"
        "  xlm_align test.en test.de --checkpoint run1/latest --layer all --gold gold.naacl\n",
    .title = "Options for aligning text",
    .options = options,
    .more_title = "Options for aligning with a model",
    .more_options = xlm_align_model_options,
    .precision = true,
    .takes = {"two texts, or one of lines `source ||| target`, or a corpus", 1, 2},
    .check = check,
    .run = run,
};
