/* xlm-mpi: xlm_align show, the links of a sentence pair. SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "aligners/alignment_file.h"
#include "aligners/link_matrix.h"
#include "aligners/subword_links.h"
#include "base/terminal.h"
#include "commands/commands.h"

static struct {
    gint64 pair, width;
    char *corpus, *languages, *split;
    gboolean words, list;
} given;

static const GOptionEntry options[] = {
    {"pair", 'p', 0, G_OPTION_ARG_INT64, &given.pair, "number of the pair, from 0 (default 0)", "N"},
    {"languages", 'l', 0, G_OPTION_ARG_STRING, &given.languages,
     "its languages, if there are several pairs of languages: de-en", "A-B"},
    {"split", 0, 0, G_OPTION_ARG_STRING, &given.split, "split of the pair: train (the default) or held_out", "SPLIT"},
    {"corpus", 0, XLM_READS, G_OPTION_ARG_FILENAME, &given.corpus,
     "the corpus (default: the path that it had when it was aligned)", "FILE"},
    {"words", 'w', 0, G_OPTION_ARG_NONE, &given.words, "show words, not subwords", NULL},
    {"list", 0, 0, G_OPTION_ARG_NONE, &given.list, "show a list of linked words with their scores, not a matrix", NULL},
    {"width", 0, 0, G_OPTION_ARG_INT64, &given.width,
     "maximum width of a matrix in columns, beyond which a list is shown (default: that of the terminal; 80 without one)", "N"},
    {.long_name = NULL}};

static bool check(GError **error)
{
    xlm_split split;
    return xlm_program_is_in("pair", given.pair, 0, G_MAXINT64, error) &&
           xlm_program_is_in("width", given.width, 0, G_MAXINT, error) &&
           (given.split == NULL || xlm_split_find(given.split, &split) ||
            xlm_error_set(error, EX_USAGE, "--split=%s: must be train or held_out", given.split));
}

/* A sentence: its subwords, and what is shown of it: its subwords or its words. */
struct side {
    const char *language;
    int32_t *ids, *shown; /* [n] id; number in `labels` */
    int64_t n;
    GPtrArray *labels;
    GString *text;
};

/* ---- reading ---- */

/* Only the other split may have pairs, since --split of xlm_align chooses what is aligned. */
static void refuse_split(const xlm_alignment_file *file, xlm_split split, GError **error)
{
    const char *other = NULL;
    for (int i = 0; i < file->n; i++)
        if (file->pairs[i].split != split)
            other = xlm_split_name(file->pairs[i].split);
    xlm_error_set(error, EX_DATAERR, "%s: has no pairs of %s%s%s", xlm_store_path(file->store), xlm_split_name(split),
                  other != NULL ? "; its pairs are shown with --split " : "", other != NULL ? other : "");
}

static const xlm_alignment_pairs *choose_pairs(const xlm_alignment_file *file, GError **error)
{
    xlm_split split = XLM_TRAIN;
    if (given.split != NULL)
        xlm_split_find(given.split, &split);
    const xlm_alignment_pairs *found = NULL;
    if (given.languages != NULL)
        found = xlm_alignment_file_find(file, split, given.languages);
    g_autoptr(GString) names = g_string_new("");
    int n = 0;
    for (int i = 0; i < file->n; i++)
        if (file->pairs[i].split == split) {
            g_string_append_printf(names, "%s%s", n++ > 0 ? ", " : "", file->pairs[i].name);
            if (given.languages == NULL)
                found = &file->pairs[i];
        }
    const char *path = xlm_store_path(file->store);
    if (n == 0)
        refuse_split(file, split, error);
    else if (found == NULL)
        xlm_error_set(error, EX_USAGE, "--languages=%s: not in %s, which has %s", given.languages, path, names->str);
    else if (given.languages == NULL && n > 1)
        xlm_error_set(error, EX_USAGE, "%s: has %s; choose one with --languages", path, names->str);
    else if (given.pair >= found->pairs)
        xlm_error_set(error, EX_USAGE, "--pair=%" G_GINT64_FORMAT ": %s has %" G_GINT64_FORMAT " of %s in %s, counted from 0",
                      given.pair, path, found->pairs, found->name, xlm_split_name(split));
    else {
        return found;
    }
    return NULL;
}

static void label_subwords(struct side *side, const xlm_vocabulary *vocabulary)
{
    for (int64_t i = 0; i < side->n; i++) {
        side->shown[i] = (int32_t)i;
        g_ptr_array_add(side->labels, g_strdup(xlm_vocabulary_words(vocabulary)[side->ids[i]]));
    }
}

static void label_words(struct side *side, const xlm_vocabulary *vocabulary)
{
    xlm_subword_words(vocabulary, side->ids, side->n, side->shown);
    for (int64_t i = 0, end; i < side->n; i = end) {
        for (end = i + 1; end < side->n && side->shown[end] == side->shown[i];)
            end++;
        GString *word = g_string_new("");
        xlm_vocabulary_decode(vocabulary, side->ids + i, (size_t)(end - i), word);
        g_ptr_array_add(side->labels, g_string_free(word, FALSE));
    }
}

static bool read_side(struct side *side, const xlm_corpus *corpus, const xlm_corpus_text *text, int64_t sentence, GError **error)
{
    const xlm_vocabulary *vocabulary = xlm_corpus_vocabulary(corpus);
    g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
    if (!xlm_corpus_read_sentence(corpus, text, sentence, ids, error))
        return false;
    side->language = text->language;
    side->n = ids->len;
    side->ids = g_array_steal(ids, NULL);
    side->shown = g_new(int32_t, side->n + 1);
    xlm_vocabulary_decode(vocabulary, side->ids, (size_t)side->n, side->text);
    (given.words ? label_words : label_subwords)(side, vocabulary);
    return true;
}

/* ---- showing ---- */

static gint by_place(gconstpointer a, gconstpointer b, gpointer links)
{
    const xlm_link *x = (const xlm_link *)links + *(const int64_t *)a, *y = (const xlm_link *)links + *(const int64_t *)b;
    return x->source != y->source ? (x->source < y->source ? -1 : 1) : (x->target > y->target) - (x->target < y->target);
}

/* The links to show; a link between words occurs once, with the best score of its subwords. Returns their number. */
static int64_t join_links(const struct side side[2], xlm_link *links, float *scores, int64_t n)
{
    g_autofree xlm_link *joined = g_new(xlm_link, n + 1);
    g_autofree float *joined_scores = g_new(float, n + 1);
    g_autofree int64_t *order = g_new(int64_t, n + 1);
    int64_t count = 0;
    for (int64_t l = 0; l < n; l++) {
        links[l].source = side[0].shown[links[l].source];
        links[l].target = side[1].shown[links[l].target];
        order[l] = l;
    }
    g_qsort_with_data(order, (gint)n, sizeof *order, by_place, links);
    for (int64_t l = 0; l < n; l++) {
        const int64_t from = order[l];
        const float score = scores != NULL ? scores[from] : 0;
        if (count > 0 && joined[count - 1].source == links[from].source && joined[count - 1].target == links[from].target)
            joined_scores[count - 1] = MAX(joined_scores[count - 1], score);
        else {
            joined[count] = links[from];
            joined_scores[count++] = score;
        }
    }
    memcpy(links, joined, sizeof *links * (size_t)count);
    if (scores != NULL)
        memcpy(scores, joined_scores, sizeof *scores * (size_t)count);
    return count;
}

/* The file may be untrusted, and terminals obey control characters. */
static void print_clean(const char *text)
{
    g_autoptr(GString) clean = g_string_new("");
    for (const char *at = text; *at != '\0'; at = g_utf8_next_char(at)) {
        const gunichar c = g_utf8_get_char(at);
        g_string_append_unichar(clean, c != '\n' && g_unichar_iscntrl(c) ? 0xfffd : c);
    }
    fputs(clean->str, stdout);
}

static void print(const xlm_alignment_file *file, const xlm_alignment_pairs *pairs, const struct side side[2], xlm_link *links,
                  float *scores, int64_t n)
{
    const xlm_alignment_origin *origin = &file->origin;
    const xlm_terminal terminal = {.fd = STDOUT_FILENO};
    const int width = given.width > 0 ? (int)given.width : xlm_terminal_width(&terminal);
    g_autoptr(GString) out = g_string_new("");
    g_string_append_printf(out, "pair %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT ", %s %s, by %s%s%s\n", given.pair, pairs->pairs,
                           pairs->name, xlm_split_name(pairs->split), origin->method,
                           origin->symmetrisation[0] != '\0' ? ", " : "", origin->symmetrisation);
    for (int s = 0; s < 2; s++)
        g_string_append_printf(out, "%s: %s\n", side[s].language, side[s].text->str);
    g_string_append_c(out, '\n');
    const xlm_link_picture picture = {
        .source = (const char *const *)side[0].labels->pdata, .target = (const char *const *)side[1].labels->pdata,
        .sources = side[0].labels->len, .targets = side[1].labels->len, .links = links, .scores = scores,
        .n = join_links(side, links, scores, n)};
    if (given.list || !xlm_link_matrix_append(out, &picture, width))
        xlm_link_list_append(out, &picture);
    else if (scores != NULL)
        g_string_append(out, "\n■ linked, □ with a score below 0.5\n");
    print_clean(out->str);
}

static bool show_pair(const xlm_alignment_file *file, const xlm_alignment_pairs *pairs, const xlm_corpus *corpus, GError **error)
{
    const xlm_corpus_pairs *of = xlm_corpus_find_pairs(corpus, pairs->split, pairs->name, NULL);
    struct side side[2] = {0};
    int64_t sentence[2];
    for (int s = 0; s < 2; s++) {
        side[s].labels = g_ptr_array_new_with_free_func(g_free);
        side[s].text = g_string_new("");
    }
    g_autofree xlm_link *links = NULL;
    g_autofree float *scores = NULL;
    bool good = xlm_corpus_read_links(corpus, of, given.pair, 1, sentence, error) &&
                read_side(&side[0], corpus, of->source, sentence[0], error) &&
                read_side(&side[1], corpus, of->target, sentence[1], error);
    if (good) {
        const int64_t sizes[1][2] = {{side[0].n, side[1].n}};
        uint64_t offsets[2];
        good = xlm_alignment_file_read(file, pairs, given.pair, 1, sizes, offsets, &links, &scores, error);
        if (good)
            print(file, pairs, side, links, scores, (int64_t)offsets[1]);
    }
    for (int s = 0; s < 2; s++) {
        g_ptr_array_unref(side[s].labels);
        g_string_free(side[s].text, TRUE);
        g_free(side[s].ids);
        g_free(side[s].shown);
    }
    return good && xlm_program_flush(error);
}

/* The corpus, which may have been moved since it was aligned. */
static xlm_corpus *open_corpus(const char *path, GError **error)
{
    xlm_alignment_file *file = xlm_alignment_file_open(path, NULL, error);
    xlm_corpus *corpus = NULL;
    if (file == NULL)
        return NULL;
    const char *name = given.corpus != NULL ? given.corpus : file->origin.corpus;
    GError *why = NULL;
    corpus = xlm_corpus_open(name, &why);
    if (given.corpus == NULL && why != NULL && xlm_error_exit_code(why) == EX_NOINPUT) {
        g_clear_error(&why);
        xlm_error_set(error, EX_NOINPUT, "%s: its corpus, %s, does not exist; give its path with --corpus", path, name);
    } else if (why != NULL) {
        g_propagate_error(error, why);
    }
    xlm_alignment_file_close(file);
    return corpus;
}

static bool run(char *const *arguments, GError **error)
{
    g_autoptr(xlm_corpus) corpus = open_corpus(arguments[0], error);
    xlm_alignment_file *file = corpus != NULL ? xlm_alignment_file_open(arguments[0], corpus, error) : NULL;
    const xlm_alignment_pairs *pairs = file != NULL ? choose_pairs(file, error) : NULL;
    const bool good = pairs != NULL && show_pair(file, pairs, corpus, error);
    xlm_alignment_file_close(file);
    return good;
}

const xlm_command xlm_align_show = {
    .name = "show",
    .arguments = "show A.h5",
    .purpose = "Show the links of a sentence pair",
    .notes =
        "show: prints the two sentences, and a matrix of their links with a line for each subword of the source, or a list of "
        "linked subwords if the matrix is wider than the terminal.\n\n",
    .examples =
        "  xlm_align show alignment.h5 --pair 17 --words\n",
    .options = options,
    .takes = {"one alignment", 1, 1},
    .check = check,
    .run_alone = run,
};
