/* xlm-mpi: xlm_dict, a bilingual dictionary in the subwords of a corpus. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "comm/comm.h"
#include "lexicon/subword_pairs.h"
#include "program/program.h"

static const xlm_program program = {
    .name = "xlm_dict",
    .arguments = "[-o DICT.h5] CORPUS.h5",
    .progress = true,
    .purpose = "Make a bilingual dictionary of the subwords of a corpus, for the objectives align and dict-mlm",
    .notes =
        "Words are normalised and segmented like the corpus. An entry is taken if both its words are in the vocabulary, each as\n"
        "one subword (see --subwords). Entries of several words and words that are their own translation are not taken, nor are\n"
        "twins of a synthetic language that is neither of the two; a special token is an error. Lines that cannot be read are\n"
        "counted, and the first are shown. If few entries are taken, the log says how to get more.\n\n"
        "The file has the pairs of vocabulary ids (/dictionary/pairs) and those that --share left out (/dictionary/left_out); a\n"
        "smaller share with the same seed is a subset of a larger one. Its coverage of each language's text is reported by\n"
        "frequency: for the most frequent 1, 10 and 50 % of its subwords, and for all.\n\n"
        "Examples:\n"
        "  xlm_dict corpus.h5 --source en --target de --text en-de.txt -o en-de.h5\n"
        "  xlm_dict corpus.h5 --source en --target de --dictd /usr/share/dictd/freedict-eng-deu -o en-de.h5\n"
        "  xlm_dict made.h5 --source en --target xx --twins twins.txt --share 0.25 --seed 1 -o quarter.h5\n\n",
    .files =
        "  DICT.h5  pairs of subwords, for streams, objectives and xlm_embed\n",
};

static struct {
    char **text, **dictd, **twins;
    char *translations, *subwords;
} given;

static xlm_lexicon_options chosen = {.share = 1};

static const GOptionEntry source_options[] = {
    {"text", 0, XLM_READS, G_OPTION_ARG_FILENAME_ARRAY, &given.text,
     "lines `word translation`, separated by a space or a tab, as in MUSE; plain or compressed; may be repeated", "FILE"},
    {"dictd", 0, XLM_READS, G_OPTION_ARG_FILENAME_ARRAY, &given.dictd,
     "a dictd database such as those of FreeDict, NAME.index with NAME.dict.dz or NAME.dict; may be repeated", "NAME"},
    {"twins", 0, XLM_READS, G_OPTION_ARG_FILENAME_ARRAY, &given.twins,
     "lines `subword<tab>subword`, entries of the vocabulary, as xlm_prep --write-twins writes them; may be repeated", "FILE"},
    {"source", 0, 0, G_OPTION_ARG_STRING, &chosen.language[0], "language of the first word, by its name in the corpus", "LANG"},
    {"target", 0, 0, G_OPTION_ARG_STRING, &chosen.language[1], "language of the translation, by its name in the corpus", "LANG"},
    {.long_name = NULL}};

static const GOptionEntry choice_options[] = {
    {"translations", 0, 0, G_OPTION_ARG_STRING, &given.translations,
     "with --dictd: which translations of an entry are taken, the first or all (default first)", "first|all"},
    {"subwords", 0, 0, G_OPTION_ARG_STRING, &given.subwords,
     "which words are taken: those of one subword (one, the default), or all, each represented by its first subword "
     "(first)", "one|first"},
    {"share", 0, 0, G_OPTION_ARG_DOUBLE, &chosen.share,
     "share of the source subwords with a translation to keep, drawn at random (default 1)", "SHARE"},
    {"seed", 0, 0, G_OPTION_ARG_INT64, &chosen.seed, "seed of that draw (default 0)", "N"},
    {.long_name = NULL}};

static const GOptionEntry output_options[] = {
    {"output", 'o', XLM_WRITES, G_OPTION_ARG_FILENAME, &chosen.output,
     "dictionary to write (HDF5; default: lines `subword<tab>subword` on standard output, which --twins reads)", "FILE.h5"},
    {.long_name = NULL}};

static const xlm_program_group option_groups[XLM_PROGRAM_GROUPS] = {
    {"Dictionaries to read", source_options},
    {"What to take", choice_options},
    {"File to write", output_options},
};

static void add_sources(GArray *sources, char **paths, xlm_entries_form form)
{
    for (; paths != NULL && *paths != NULL; paths++) {
        const xlm_lexicon_source source = {form, *paths};
        g_array_append_val(sources, source);
    }
}

static bool check(int argc, char *const *argv, GError **error)
{
    static const char *const translations[] = {"first", "all", NULL}, *const subwords[] = {"first", "one", NULL};
    if ((chosen.corpus = xlm_program_argument(&program, argc, argv, "corpus", error)) == NULL)
        return false;
    if (chosen.sources->len == 0)
        return xlm_error_set(error, EX_USAGE, "nothing to read; give --text, --dictd or --twins");
    if (chosen.language[0] == NULL || chosen.language[1] == NULL)
        return xlm_error_set(error, EX_USAGE, "give their languages with --source and --target");
    if (strcmp(chosen.language[0], chosen.language[1]) == 0)
        return xlm_error_set(error, EX_USAGE, "--source and --target are both %s; a dictionary needs two languages",
                             chosen.language[0]);
    if (!(chosen.share > 0 && chosen.share <= 1))
        return xlm_error_set(error, EX_USAGE, "--share=%g: must be in (0, 1]", chosen.share);
    if (given.translations != NULL && given.dictd == NULL)
        return xlm_error_set(error, EX_USAGE, "--translations is for --dictd");
    if (given.subwords != NULL && given.text == NULL && given.dictd == NULL)
        return xlm_error_set(error, EX_USAGE, "--subwords is for --text and --dictd; --twins has subwords");
    chosen.first_translation = g_strcmp0(given.translations, "all") != 0;
    chosen.first_subword = g_strcmp0(given.subwords, "first") == 0;
    return xlm_program_is_one_of("translations", given.translations, translations, error) &&
           xlm_program_is_one_of("subwords", given.subwords, subwords, error);
}

static bool read_options(GArray *sources, int *argc, char ***argv, GError **error)
{
    const bool good = xlm_program_parse(&program, option_groups, argc, argv, error);
    add_sources(sources, given.text, XLM_ENTRIES_TEXT);
    add_sources(sources, given.dictd, XLM_ENTRIES_DICTD);
    add_sources(sources, given.twins, XLM_ENTRIES_TWINS);
    chosen.sources = sources;
    return good && check(*argc, *argv, error);
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    g_autofree char *command = xlm_program_command(&program, argv);
    chosen.command = command;
    g_autoptr(GArray) sources = g_array_new(FALSE, FALSE, sizeof(xlm_lexicon_source));
    const bool good = read_options(sources, &argc, &argv, &error);

    /* A dictionary is small: if started on several ranks, one does the work. */
    xlm_comm comm;
    if (xlm_program_open(program.name, &comm, &argc, &argv, &error) && good && comm.rank == 0 &&
        xlm_lexicon_make(&chosen, &error))
        xlm_program_flush(&error);
    xlm_comm_agree(&comm, &error);
    xlm_program_free_options(option_groups);
    return xlm_comm_close(&comm, error);
}
