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
    char *language[2];
    char *translations, *subwords, *output;
    double share;
    gint64 seed;
} given = {.share = 1};

static const GOptionEntry source_options[] = {
    {"text", 0, XLM_READS, G_OPTION_ARG_FILENAME_ARRAY, &given.text,
     "lines `word translation`, separated by a space or a tab, as in MUSE; plain or compressed; may be repeated", "FILE"},
    {"dictd", 0, XLM_READS, G_OPTION_ARG_FILENAME_ARRAY, &given.dictd,
     "a dictd database such as those of FreeDict, NAME.index with NAME.dict.dz or NAME.dict; may be repeated", "NAME"},
    {"twins", 0, XLM_READS, G_OPTION_ARG_FILENAME_ARRAY, &given.twins,
     "lines `subword<tab>subword`, entries of the vocabulary, as xlm_prep --write-twins writes them; may be repeated",
     "FILE"},
    {"source", 0, 0, G_OPTION_ARG_STRING, &given.language[0], "language of the first word, by its name in the corpus", "LANG"},
    {"target", 0, 0, G_OPTION_ARG_STRING, &given.language[1], "language of the translation, by its name in the corpus", "LANG"},
    {.long_name = NULL}};

static const GOptionEntry choice_options[] = {
    {"translations", 0, 0, G_OPTION_ARG_STRING, &given.translations,
     "with --dictd: which translations of an entry are taken, the first or all (default first)", "first|all"},
    {"subwords", 0, 0, G_OPTION_ARG_STRING, &given.subwords,
     "which words are taken: those of one subword (one, the default), or all, each represented by its first subword (first)",
     "one|first"},
    {"share", 0, 0, G_OPTION_ARG_DOUBLE, &given.share,
     "share of the source subwords with a translation to keep, drawn at random (default 1)", "SHARE"},
    {"seed", 0, 0, G_OPTION_ARG_INT64, &given.seed, "seed of that draw (default 0)", "N"},
    {.long_name = NULL}};

static const GOptionEntry output_options[] = {
    {"output", 'o', XLM_WRITES, G_OPTION_ARG_FILENAME, &given.output,
     "dictionary to write (HDF5; default: lines `subword<tab>subword` on standard output, which --twins reads)", "FILE"},
    {.long_name = NULL}};

static const xlm_program_group option_groups[XLM_PROGRAM_GROUPS] = {
    {"Dictionaries to read", source_options},
    {"What to take", choice_options},
    {"File to write", output_options},
};

/* Parses "first" or the other word. [out] first: the value, or the default if nothing is given. */
static bool take_choice(const char *option, const char *word, const char *other, bool default_first, bool *first, GError **error)
{
    *first = word != NULL ? strcmp(word, "first") == 0 : default_first;
    return word == NULL || *first || strcmp(word, other) == 0 ||
           xlm_error_set(error, EX_USAGE, "--%s=%s: must be first or %s", option, word, other);
}

static void add_sources(GArray *sources, char **paths, xlm_entries_form form)
{
    for (; paths != NULL && *paths != NULL; paths++) {
        const xlm_lexicon_source source = {form, *paths};
        g_array_append_val(sources, source);
    }
}

static bool check(xlm_lexicon_options *o, int argc, char *const *argv, GError **error)
{
    if ((o->corpus = xlm_program_argument(&program, argc, argv, "corpus", error)) == NULL)
        return false;
    if (o->sources->len == 0)
        return xlm_error_set(error, EX_USAGE, "nothing to read; give --text, --dictd or --twins");
    if (o->language[0] == NULL || o->language[1] == NULL)
        return xlm_error_set(error, EX_USAGE, "give their languages with --source and --target");
    if (strcmp(o->language[0], o->language[1]) == 0)
        return xlm_error_set(error, EX_USAGE, "--source and --target are both %s; a dictionary needs two languages",
                             o->language[0]);
    if (!(o->share > 0 && o->share <= 1))
        return xlm_error_set(error, EX_USAGE, "--share=%g: must be in (0, 1]", o->share);
    if (given.translations != NULL && given.dictd == NULL)
        return xlm_error_set(error, EX_USAGE, "--translations is for --dictd");
    if (given.subwords != NULL && given.text == NULL && given.dictd == NULL)
        return xlm_error_set(error, EX_USAGE, "--subwords is for --text and --dictd; --twins has subwords");
    return take_choice("translations", given.translations, "all", true, &o->first_translation, error) &&
           take_choice("subwords", given.subwords, "one", false, &o->first_subword, error);
}

static bool read_options(xlm_lexicon_options *o, GArray *sources, int *argc, char ***argv, GError **error)
{
    o->command = xlm_program_command(&program, *argv);
    const bool good = xlm_program_parse(&program, option_groups, argc, argv, error);
    add_sources(sources, given.text, XLM_ENTRIES_TEXT);
    add_sources(sources, given.dictd, XLM_ENTRIES_DICTD);
    add_sources(sources, given.twins, XLM_ENTRIES_TWINS);
    o->sources = sources;
    o->output = given.output;
    o->share = given.share;
    o->seed = given.seed;
    for (int side = 0; side < 2; side++)
        o->language[side] = given.language[side];
    return good && check(o, *argc, *argv, error);
}

static void free_options(xlm_lexicon_options *o, GArray *sources)
{
    xlm_program_free_options(option_groups);
    g_free((char *)o->command);
    g_array_unref(sources);
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    xlm_lexicon_options options = {0};
    GArray *sources = g_array_new(FALSE, FALSE, sizeof(xlm_lexicon_source));
    const bool good = read_options(&options, sources, &argc, &argv, &error);

    /* A dictionary is small: if started on several ranks, one does the work. */
    xlm_comm comm;
    if (xlm_program_open(program.name, &comm, &argc, &argv, &error) && good && comm.rank == 0 &&
        xlm_lexicon_make(&options, &error))
        xlm_program_flush(&error);
    xlm_comm_agree(&comm, &error);
    free_options(&options, sources);
    return xlm_comm_close(&comm, error);
}
