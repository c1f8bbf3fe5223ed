/* xlm-mpi: xlm_align score, links compared with gold links. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>

#include "aligners/links.h"
#include "base/log.h"
#include "commands/commands.h"
#include "program/pair_options.h"
#include "text/fields.h"

static struct {
    gint64 words, gold_words, gold_sentences;
    gboolean wrong, reverse;
    char *csv;
} given = {.words = XLM_COUNT_FOUND, .gold_words = XLM_COUNT_FOUND, .gold_sentences = XLM_COUNT_FOUND};

static const GOptionEntry options[] = {
    {"words-from", 0, 0, G_OPTION_ARG_INT64, &given.words,
     "LINKS counts words from 0 or 1 (default: from 0 if it has a 0, else from 1)", "0|1"},
    {"gold-words-from", 0, 0, G_OPTION_ARG_INT64, &given.gold_words,
     "the same for GOLD; with 1, a 0 in lines with sentence numbers is no word", "0|1"},
    {"gold-sentences-from", 0, 0, G_OPTION_ARG_INT64, &given.gold_sentences,
     "a GOLD of lines with sentence numbers counts sentences from 0 or 1 (default: as for words)", "0|1"},
    {"reverse", 0, 0, G_OPTION_ARG_NONE, &given.reverse, "LINKS have the target's word first: `j-i`", NULL},
    {"wrong", 0, 0, G_OPTION_ARG_NONE, &given.wrong,
     "show for each sentence the links that are not possible, and the sure ones that are missing", NULL},
    {"csv", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &given.csv, "also write the scores to a file", "FILE.csv"},
    {.long_name = NULL}};

static bool check(GError **error)
{
    return xlm_pair_options_from("words-from", given.words, error) &&
           xlm_pair_options_from("gold-words-from", given.gold_words, error) &&
           xlm_pair_options_from("gold-sentences-from", given.gold_sentences, error);
}

/* ---- which links are wrong ---- */

static const xlm_link *find(const xlm_links *links, int64_t sentence, const xlm_link *link)
{
    for (int64_t i = links->offsets[sentence]; i < links->offsets[sentence + 1]; i++)
        if (links->links[i].source == link->source && links->links[i].target == link->target)
            return &links->links[i];
    return NULL;
}

/* " 3-4 5-6": links of one that the other does not have, only sure ones or all. Prints nothing if there are none. */
static void print_missing(int64_t sentence, const char *what, const xlm_links *of, const xlm_links *in, bool sure_alone)
{
    bool any = false;
    for (int64_t i = of->offsets[sentence]; i < of->offsets[sentence + 1]; i++) {
        const xlm_link *link = &of->links[i];
        if ((sure_alone && link->possible) || find(in, sentence, link) != NULL)
            continue;
        if (!any)
            printf("%" G_GINT64_FORMAT "\t%s\t", sentence + 1, what);
        printf("%s%d-%d", any ? " " : "", link->source, link->target);
        any = true;
    }
    if (any)
        putchar('\n');
}

/* ---- scores ---- */

static void turn_round(xlm_links *links)
{
    for (int64_t s = 0; s < links->sentences; s++) {
        xlm_link *first = links->links + links->offsets[s];
        const int64_t n = links->offsets[s + 1] - links->offsets[s];
        for (int64_t i = 0; i < n; i++)
            first[i] = (xlm_link){first[i].target, first[i].source, first[i].possible};
        xlm_links_sort(first, n);
    }
}

/* Sentences without a gold link are not scored, since the correct links are not known. */
static int64_t score_all(const xlm_links *links, const xlm_links *gold, bool show_wrong, xlm_link_score *score)
{
    int64_t scored = 0;
    for (int64_t s = 0; s < gold->sentences; s++) {
        if (gold->offsets[s] == gold->offsets[s + 1])
            continue;
        scored++;
        xlm_link_score_add(score, links, s, gold, s);
        if (show_wrong) {
            print_missing(s, "wrong", links, gold, false);
            print_missing(s, "missing", gold, links, true);
        }
    }
    return scored;
}

static bool print(const xlm_link_score *score, int64_t sentences, GError **error)
{
    const double measure[] = {xlm_link_error_rate(score), xlm_link_precision(score), xlm_link_recall(score),
                              xlm_link_f1(score)};
    printf("%9s %9s %9s %9s %9s %9s %9s %9s\n", "AER", "precision", "recall", "F1", "sentences", "links", "sure", "possible");
    for (size_t i = 0; i < G_N_ELEMENTS(measure); i++)
        printf("%s%8.2f%%", i > 0 ? " " : "", 100 * measure[i]);
    printf(" %9" G_GINT64_FORMAT " %9" G_GINT64_FORMAT " %9" G_GINT64_FORMAT " %9" G_GINT64_FORMAT "\n", sentences, score->links,
           score->sure, score->possible);
    if (!xlm_program_flush(error))
        return false;
    if (given.csv == NULL)
        return true;
    GString *text = g_string_new("aer,precision,recall,f1,sentences,links,sure,possible\n");
    for (size_t i = 0; i < G_N_ELEMENTS(measure); i++)
        g_string_append_printf(text, "%.6f,", measure[i]);
    const int64_t number[] = {sentences, score->links, score->sure, score->possible};
    for (size_t i = 0; i < G_N_ELEMENTS(number); i++)
        g_string_append_printf(text, "%" G_GINT64_FORMAT "%s", number[i], i + 1 < G_N_ELEMENTS(number) ? "," : "\n");
    return xlm_fields_write(given.csv, text, error);
}

static void log_counts(const char *path, const xlm_links *links, gint64 words, gint64 sentences)
{
    const bool zero = links->words == XLM_COUNT_FROM_0 && links->first_sentence != XLM_COUNT_FOUND;
    if (words == XLM_COUNT_FOUND)
        xlm_log_info("%s: counts words from %d%s", path, links->words,
                     zero ? ", as it has a 0; if 0 is no word there, say --gold-words-from 1" : "");
    if (links->first_sentence != XLM_COUNT_FOUND && sentences == XLM_COUNT_FOUND)
        xlm_log_info("%s: counts sentences from %d", path, links->first_sentence);
    if (links->unlinked > 0)
        xlm_log_info("%s:%" G_GINT64_FORMAT ": negative word number or 0, taken as no link (%" G_GINT64_FORMAT
                     " such line%s)", path, links->first_unlinked, links->unlinked, links->unlinked == 1 ? "" : "s");
}

/* A gold file often has the first sentences of a text. If there are far more, LINKS may also be those of other text. */
static void note_sentences(const char *path, const xlm_links *links, const char *gold_path, const xlm_links *gold)
{
    if (links->sentences > 2 * gold->sentences)
        xlm_log_info("%s has %" G_GINT64_FORMAT " sentences, of which the first %" G_GINT64_FORMAT " are scored: %s ends at number %"
                     G_GINT64_FORMAT "; they must be the same sentences in the same order", path, links->sentences,
                     gold->sentences, gold_path, gold->sentences - 1 + (int64_t)gold->first_sentence);
}

/* Say if LINKS fit far better with the other word first. Turns them round. */
static void note_direction(const char *path, xlm_links *links, const xlm_links *gold, const xlm_link_score *score)
{
    static const double CLEARLY = 0.15;
    xlm_link_score other = {0};
    turn_round(links);
    score_all(links, gold, false, &other);
    if (xlm_link_error_rate(&other) < xlm_link_error_rate(score) - CLEARLY)
        xlm_log_warn("%s: with the words of each link the other way round AER is %.2f%%, not %.2f%%: %s --reverse?", path,
                     100 * xlm_link_error_rate(&other), 100 * xlm_link_error_rate(score), given.reverse ? "without" : "with");
}

static bool run(char *const *arguments, GError **error)
{
    const char *path = arguments[0], *gold_path = arguments[1];
    xlm_links *links = xlm_links_read(path, (xlm_count_from)given.words, XLM_COUNT_FROM_0, error);
    xlm_links *gold = links != NULL ? xlm_links_read(gold_path, (xlm_count_from)given.gold_words,
                                                     (xlm_count_from)given.gold_sentences, error) : NULL;
    bool good = gold != NULL;
    if (good && links->first_sentence != XLM_COUNT_FOUND)
        good = xlm_error_set(error, EX_DATAERR, "%s: links to be scored need one line per sentence, `0-0 1-2`", path);
    if (good && gold->first_sentence != XLM_COUNT_FOUND && given.gold_sentences == XLM_COUNT_FOUND)
        xlm_links_close_gaps(gold, gold_path, links->sentences);
    const bool lines = good && gold->first_sentence == XLM_COUNT_FOUND;
    if (good && (lines ? links->sentences != gold->sentences : links->sentences < gold->sentences))
        good = xlm_error_set(error, EX_DATAERR, "%s has %" G_GINT64_FORMAT " sentences, %s %" G_GINT64_FORMAT
                             "; give links of the same sentences%s", path, links->sentences, gold_path, gold->sentences,
                             lines ? "" : ", or give --gold-sentences-from");
    if (good && gold->offsets[gold->sentences] == 0)
        good = xlm_error_set(error, EX_DATAERR, "%s: has no links", gold_path);
    if (good) {
        log_counts(path, links, given.words, XLM_COUNT_FROM_0);
        log_counts(gold_path, gold, given.gold_words, given.gold_sentences);
        note_sentences(path, links, gold_path, gold);
        if (given.reverse)
            turn_round(links);
        xlm_link_score score = {0};
        const int64_t scored = score_all(links, gold, given.wrong, &score);
        good = print(&score, scored, error);
        note_direction(path, links, gold, &score);
    }
    xlm_links_free(links);
    xlm_links_free(gold);
    return good;
}

const xlm_command xlm_align_score = {
    .name = "score",
    .arguments = "score LINKS GOLD",
    .purpose = "Measure word alignments against manual ones",
    .notes =
        "score: prints the alignment error rate, the precision against possible links and the recall of sure links (Och and Ney "
        "2003). LINKS has one line per sentence pair, `0-0 1-2`. GOLD has such lines, with `3?4` or `3p4` for possible links, or "
        "lines `sentence source target [S|P]` (NAACL 2003), where a link without a letter is sure and a negative number, or 0 "
        "with --gold-words-from 1, means no link. Sentences for which GOLD has no link are not scored. If GOLD's sentence "
        "numbers have gaps and there are as many as lines in LINKS, they correspond to the lines in order. A warning says if the "
        "links fit far better with the other word first (--reverse).\n\n",
    .examples =
        "  xlm_align score links.txt gold.naacl --wrong\n",
    .options = options,
    .takes = {"links and gold links", 2, 2},
    .check = check,
    .run_alone = run,
};
