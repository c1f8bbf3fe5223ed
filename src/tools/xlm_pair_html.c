/* xlm-mpi: line-aligned text from a manual that exists in several languages. SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>

#include "base/log.h"
#include "formats/html_pairs.h"
#include "program/program.h"

static const xlm_program program = {
    .name = "xlm_pair_html",
    .arguments = "-o DIR LANG=ROOT...",
    .progress = true,
    .purpose = "Make parallel and monolingual text from web pages that exist in several languages",
    .notes =
        "ROOT is the directory of the pages (.html, .htm, .xhtml, .xht) in language LANG. Paragraphs with the same id on pages\n"
        "with the same path below ROOT are taken as translations of each other.\n\n"
        "Files written, UTF-8, one paragraph per line:\n"
        "  A-B.A, A-B.B  for each pair of languages, in the order given: line i of one is the translation of line i of the\n"
        "                other; pairs of equal texts and repeated pairs are left out\n"
        "  mono.A        for each language: its paragraphs in the order of its pages, without repeated texts\n"
        "A line for each language and pair, with counts, goes to standard output.\n\n"
        "With --original, a paragraph that equals the corresponding one in the original counts as not yet translated, and is\n"
        "left out of all files of its language. (So are the few whose translation is the same word.)\n\n"
        "Examples:\n"
        "  xlm_pair_html -o text en=manual/en de=manual/de\n"
        "  xlm_pair_html -o text --original en=manual/en de=manual/de fr=manual/fr\n\n",
    .files =
        "  DIR/LANG-LANG.LANG  aligned text, one sentence per line\n",
};

static struct {
    char *directory, *original;
} given;

static const GOptionEntry options[] = {
    {"output", 'o', XLM_DIRECTORY, G_OPTION_ARG_FILENAME, &given.directory, "directory to write to; created if necessary", "DIR"},
    {"original", 0, 0, G_OPTION_ARG_STRING, &given.original,
     "the language that the others are translated from: one of those given, or another, which is only read", "LANG[=ROOT]"},
    {.long_name = NULL}};

static const xlm_program_group option_groups[XLM_PROGRAM_GROUPS] = {{"Options", options}};

/* argument: "LANG=ROOT", for the original also "LANG". */
static bool take_language(xlm_html_pairs *pairs, const char *argument, bool original, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(argument, "=", 2);
    const char *name = parts[0], *root = name != NULL && parts[1] != NULL && *parts[1] != '\0' ? parts[1] : NULL;
    if (original)
        return name != NULL ? xlm_html_pairs_set_original(pairs, name, root, error)
                            : xlm_error_set(error, EX_USAGE, "--original: expected LANG or LANG=ROOT");
    return root != NULL ? xlm_html_pairs_add(pairs, name, root, error)
                        : xlm_error_set(error, EX_USAGE, "\"%s\": expected LANG=ROOT, as in en=manual/en", argument);
}

static bool read_command_line(xlm_html_pairs *pairs, int *argc, char ***argv, GError **error)
{
    if (!xlm_program_parse(&program, option_groups, argc, argv, error))
        return false;
    if (*argc < 2)
        return xlm_error_set(error, EX_USAGE, "no language given, LANG=ROOT; see %s --help", program.name);
    if (given.directory == NULL)
        return xlm_error_set(error, EX_USAGE, "no directory to write to; give --output=DIR");
    for (int i = 1; i < *argc; i++)
        if (!take_language(pairs, (*argv)[i], false, error))
            return false;
    return given.original == NULL || take_language(pairs, given.original, true, error);
}

static bool print_report(const xlm_html_pairs *pairs, GError **error)
{
    g_autofree char *report = xlm_html_pairs_report(pairs);
    fputs(report, stdout);
    return xlm_program_flush(error);
}

int main(int argc, char **argv)
{
    xlm_log_open(program.name, true);
    GError *error = NULL;
    xlm_html_pairs *pairs = xlm_html_pairs_new();
    if (read_command_line(pairs, &argc, &argv, &error) && xlm_html_pairs_read(pairs, &error) &&
        xlm_html_pairs_write(pairs, given.directory, &error))
        print_report(pairs, &error);
    xlm_html_pairs_free(pairs);
    xlm_program_free_options(option_groups);
    return xlm_error_exit(error);
}
