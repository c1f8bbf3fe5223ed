/* xlm-mpi: xlm_align dictionary, a bilingual dictionary from links. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/link_dictionary.h"
#include "commands/commands.h"

static struct {
    gboolean lower, mutual;
    char *words;
} given;

static xlm_link_dictionary_options chosen = {.min_count = 1, .text = {.words = XLM_WORDS_SPACE}};

static const GOptionEntry options[] = {
    {"output", 'o', XLM_WRITES, G_OPTION_ARG_FILENAME, &chosen.output,
     "dictionary to write, lines `word<tab>translation`, which xlm_dict --text reads (default: standard output)", "FILE"},
    {"scores", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &chosen.scores,
     "also write the entries with the number of their links, p(translation | word) and p(word | translation), separated by tabs",
     "FILE"},
    {"min-count", 0, 0, G_OPTION_ARG_INT64, &chosen.min_count, "leave out pairs of words with fewer links (default 1)", "N"},
    {"min-probability", 0, 0, G_OPTION_ARG_DOUBLE, &chosen.min_probability,
     "leave out pairs whose p(translation | word) is lower (default 0)", "P"},
    {"top", 0, 0, G_OPTION_ARG_INT64, &chosen.top,
     "keep at most this many of the remaining translations of a word, those with the most links (default 0, all)", "K"},
    {"mutual", 0, 0, G_OPTION_ARG_NONE, &given.mutual,
     "keep only pairs in which each word is the best translation of the other", NULL},
    {"words", 0, 0, G_OPTION_ARG_STRING, &given.words,
     "words are separated by spaces (space, the default), or found by the rules of Unicode (icu); as for the links", "space|icu"},
    {"lowercase", 0, 0, G_OPTION_ARG_NONE, &given.lower, "treat words that differ only in case as the same", NULL},
    {.long_name = NULL}};

static bool check(GError **error)
{
    if (given.words != NULL && !xlm_word_mode_find(given.words, &chosen.text.words))
        return xlm_error_set(error, EX_USAGE, "--words=%s: is neither space nor icu", given.words);
    if (!(chosen.min_probability >= 0 && chosen.min_probability <= 1))
        return xlm_error_set(error, EX_USAGE, "--min-probability=%g: must be in [0, 1]", chosen.min_probability);
    return xlm_program_is_in("min-count", chosen.min_count, 1, G_MAXINT64, error) &&
           xlm_program_is_in("top", chosen.top, 0, G_MAXINT64, error);
}

static void run(const xlm_comm *comm, char *const *arguments, GError **error)
{
    xlm_link_dictionary_options o = chosen;
    int texts = 0;
    for (; arguments[texts + 1] != NULL; texts++)
        o.texts[texts] = arguments[texts];
    o.links = arguments[texts];
    o.text.lower = given.lower;
    o.mutual = given.mutual;
    xlm_link_dictionary_make(comm, &o, error);
}

const xlm_command xlm_align_dictionary = {
    .name = "dictionary",
    .arguments = "dictionary SOURCE TARGET LINKS -o DICT.txt",
    .purpose = "Make a bilingual dictionary of the words that links join",
    .notes =
        "dictionary: counts which words of two texts are linked. LINKS has a line for each sentence pair, words counted from 0,\n"
        "as xlm_align and other programs write them; the texts are two files, or one of lines `source ||| target`. p(t | s) is\n"
        "the share of the links of source word s that are to t, and p(s | t) the share of those of t that are to s. The\n"
        "translations of a word are sorted by number of links, of equal ones the word with fewer links in all first. The\n"
        "dictionary is the same on any number of ranks.\n\n",
    .examples =
        "  mpiexec -n 4 xlm_align dictionary train.en train.de links.txt --lowercase --mutual --min-count 3 -o en-de.txt\n",
    .options = options,
    .takes = {"two texts, or one of lines `source ||| target`, and their links", 2, 3},
    .check = check,
    .run = run,
};
