/* xlm-mpi: xlm_embed neighbours, the words nearest to a word. SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/terminal.h"
#include "commands/commands.h"
#include "program/space_inputs.h"
#include "retrieval/near_words.h"
#include "text/fields.h"
#include "text/lines.h"

static struct {
    char *language, *word_language, *word_vectors, *words, *corpus, *csv;
    gint64 count, neighbours, most;
} given = {.count = 10, .neighbours = 10};

static const GOptionEntry options[] = {
    {"language", 'l', 0, G_OPTION_ARG_STRING, &given.language,
     "language of the neighbours, by its name in the model (default: none in particular)", "LANG"},
    {"word-language", 'w', 0, G_OPTION_ARG_STRING, &given.word_language,
     "language of the given words (default: --language)", "LANG"},
    {"word-vectors", 0, XLM_READS, G_OPTION_ARG_FILENAME, &given.word_vectors,
     "file of vectors of the given words, in the same space as those of the neighbours (default: the same file)", "VECTORS"},
    {"corpus", 'c', XLM_READS, G_OPTION_ARG_FILENAME, &given.corpus,
     "neighbours are the subwords in the training text of --language in this corpus (default: all of the model)", "CORPUS.h5"},
    {"words", 0, XLM_READS, G_OPTION_ARG_FILENAME, &given.words,
     "neighbours are the words in this file, one per line, each the mean of its subwords, instead of subwords", "FILE"},
    {"count", 'n', 0, G_OPTION_ARG_INT64, &given.count, "number of neighbours of each word (default 10)", "N"},
    {"neighbours", 'k', 0, G_OPTION_ARG_INT64, &given.neighbours,
     "number of nearest words that CSLS averages over (default 10); 0: only by cosine", "K"},
    {"most", 0, 0, G_OPTION_ARG_INT64, &given.most, "read only the first N words of a file of vectors (default: all)", "N"},
    {"csv", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &given.csv, "also write the table to a file", "FILE.csv"},
    {.long_name = NULL}};

static bool check(GError **error)
{
    if (given.corpus != NULL && given.words != NULL)
        return xlm_error_set(error, EX_USAGE, "--corpus and --words cannot be combined");
    return xlm_program_is_in("most", given.most, 0, G_MAXINT64, error) &&
           xlm_program_is_in("count", given.count, 1, XLM_MAX_NEIGHBOURS, error) &&
           xlm_program_is_in("neighbours", given.neighbours, 0, XLM_MAX_NEIGHBOURS, error);
}

typedef struct work {
    xlm_space_inputs in;          /* side 0: of the neighbours; 1: of the words */
    xlm_word_set words, candidates;
    GPtrArray *asked;             /* const char *, by number of the word in `words` */
} work;

/* ---- reading ---- */

/* The words of a list, one per line, and how many have no vector. */
typedef struct word_list {
    xlm_word_set *set;
    int64_t left_out;
} word_list;

static bool take_word(void *data, const xlm_lines *lines, char *line, GError **error)
{
    word_list *list = data;
    (void)lines;
    (void)error;
    list->left_out += *g_strstrip(line) != '\0' && xlm_word_set_add(list->set, line) < 0;
    return true;
}

static bool open_candidates(work *w, GError **error)
{
    const xlm_word_side *side = &w->in.sides.side[0];
    word_list list = {.set = &w->candidates};
    if (given.words != NULL) {
        xlm_word_set_open(&w->candidates, side->space, side->language);
        if (!xlm_lines_each(given.words, take_word, &list, error))
            return false;
        if (list.left_out > 0)
            xlm_log_warn("%s: %" G_GINT64_FORMAT " words have no vector", given.words, list.left_out);
    } else {
        xlm_space_inputs_add_words(&w->in, 0, &w->candidates);
    }
    return xlm_word_set_count(&w->candidates) > 0 ||
           xlm_error_set(error, EX_DATAERR, "%s: has no word with a vector",
                         given.words != NULL ? given.words : xlm_word_space_path(side->space));
}

static bool open_words(work *w, char *const *words, GError **error)
{
    const xlm_word_side *side = &w->in.sides.side[1];
    xlm_word_set_open(&w->words, side->space, side->language);
    w->asked = g_ptr_array_new();
    for (int i = 0; words[i] != NULL; i++) {
        if (!g_utf8_validate(words[i], -1, NULL))
            return xlm_error_set(error, EX_USAGE, "word %d of the command line is not UTF-8", i + 1);
        const int64_t number = xlm_word_set_add(&w->words, words[i]);
        if (number < 0)
            return xlm_error_set(error, EX_DATAERR, "%s: has no vector for \"%s\"", xlm_word_space_path(side->space), words[i]);
        if (number == (int64_t)w->asked->len)
            g_ptr_array_add(w->asked, words[i]);
        else if (strcmp(words[i], w->asked->pdata[number]) != 0)
            xlm_log_warn("\"%s\" and \"%s\" have one vector; its neighbours are shown once, as those of \"%s\"", words[i],
                         (const char *)w->asked->pdata[number], (const char *)w->asked->pdata[number]);
    }
    return true;
}

static bool read_all(char *const *arguments, work *w, GError **error)
{
    const char *const spaces[] = {arguments[0], given.word_vectors};
    const char *const languages[] = {given.language, given.word_language != NULL ? given.word_language : given.language};
    return xlm_space_inputs_open(&w->in, spaces, languages, given.corpus, given.most, error) &&
           open_words(w, arguments + 1, error) && open_candidates(w, error);
}

static void close_work(work *w)
{
    xlm_word_set_close(&w->words);
    xlm_word_set_close(&w->candidates);
    if (w->asked != NULL)
        g_ptr_array_unref(w->asked);
    xlm_space_inputs_close(&w->in);
}

/* ---- results ---- */

/* "Ha@@ us": the subwords of a word, if it has several. */
static void print_head(const work *w, int64_t word)
{
    const int64_t first = g_array_index(w->words.offsets, int64_t, word);
    const int64_t end = g_array_index(w->words.offsets, int64_t, word + 1);
    g_autofree char *asked = xlm_terminal_escape(w->asked->pdata[word]);
    printf("%s%s", word > 0 ? "\n" : "", asked);
    if (end - first > 1) {
        printf(" =");
        for (int64_t i = first; i < end; i++) {
            const int32_t row = g_array_index(w->words.rows, int32_t, i);
            g_autofree char *name = xlm_terminal_escape(xlm_word_space_row_name(w->words.space, row));
            printf(" %s", name);
        }
    }
    putchar('\n');
}

/* The name of candidate j; empty if it is less than 0. g_free. */
static char *shown_name(const work *w, int32_t j)
{
    g_autofree char *name = j >= 0 ? xlm_word_set_name(&w->candidates, j) : g_strdup("");
    return xlm_terminal_escape(name);
}

static void print(const work *w, const xlm_near_words *found)
{
    const int count = (int)given.count;
    for (int64_t word = 0; word < xlm_word_set_count(&w->words); word++) {
        int width = 12;
        g_auto(GStrv) names = g_new0(char *, 2 * count + 1);
        for (int i = 0; i < 2 * count; i++) {
            const int32_t *nearest = found->nearest[i / count];
            names[i] = shown_name(w, nearest != NULL ? nearest[word * count + i % count] : -1);
            if (i < count)
                width = MAX(width, xlm_terminal_columns(names[i], strlen(names[i])));
        }
        print_head(w, word);
        printf("%4s %8s  %-*s%s\n", "", "cosine", width, "", found->nearest[1] != NULL ? "      CSLS" : "");
        for (int i = 0; i < count && found->nearest[0][word * count + i] >= 0; i++) {
            printf("%4d %8.4f  %s", i + 1, (double)found->score[0][word * count + i], names[i]);
            if (found->nearest[1] != NULL)
                printf("%*s  %8.4f  %s", width - xlm_terminal_columns(names[i], strlen(names[i])), "",
                       (double)found->score[1][word * count + i], names[count + i]);
            putchar('\n');
        }
    }
}

static GString *make_csv(const work *w, const xlm_near_words *found)
{
    static const char *const measures[] = {"cosine", "csls"};
    GString *csv = g_string_new("word,measure,rank,neighbour,score\n");
    for (int64_t word = 0; word < xlm_word_set_count(&w->words); word++)
        for (int by = 0; by < 2; by++)
            for (int64_t i = 0; found->nearest[by] != NULL && i < given.count; i++) {
                const int32_t j = found->nearest[by][word * given.count + i];
                g_autofree char *name = j >= 0 ? xlm_word_set_name(&w->candidates, j) : NULL;
                if (name == NULL)
                    break;
                xlm_fields_append_csv(csv, w->asked->pdata[word]);
                g_string_append_printf(csv, ",%s,%" G_GINT64_FORMAT ",", measures[by], i + 1);
                xlm_fields_append_csv(csv, name);
                g_string_append_printf(csv, ",%.6f\n", (double)found->score[by][word * given.count + i]);
            }
    return csv;
}

static void find(const xlm_comm *comm, const work *w, GError **error)
{
    const double begin = xlm_clock();
    const xlm_near_words_input input = {
        .words = &w->words, .candidates = &w->candidates, .sources = w->in.rows[1], .count = (int)given.count,
        .neighbours = (int)given.neighbours,
    };
    xlm_near_words found = xlm_near_words_find(comm, &input);
    if (comm->rank == 0)
        print(w, &found);
    xlm_log_info("among %" G_GINT64_FORMAT " %s%s%s: %.1f s", xlm_word_set_count(&w->candidates),
                 given.words == NULL && xlm_word_space_model(w->candidates.space) != NULL ? "subwords" : "words",
                 given.corpus != NULL ? " of " : "", given.corpus != NULL ? given.language : "", xlm_clock() - begin);
    xlm_program_end_table(comm, given.csv, make_csv(w, &found), error);
    xlm_near_words_free(&found);
}

static void run(const xlm_comm *comm, char *const *arguments, GError **error)
{
    work w = {.asked = NULL};
    GError *failure = NULL;
    read_all(arguments, &w, &failure);
    if (xlm_comm_agree_on(comm, failure, error))
        find(comm, &w, error);
    close_work(&w);
}

/* Only the checkpoint or vectors; the others are words. */
static bool is_file(int argument) { return argument == 1; }

const xlm_command xlm_embed_neighbours = {
    .name = "neighbours",
    .arguments = "neighbours CHECKPOINT|VECTORS WORD...",
    .purpose = "Show the words nearest to a word, in its own language or another",
    .notes =
        "neighbours: ranks words by the cosine of the word embeddings, and by CSLS (Conneau et al. 2018), which subtracts how "
        "close both words are to their neighbours. Neighbours are the subwords of a checkpoint (with --corpus only those of "
        "--language, with --words any list of words) or the words of a file of vectors; a subword that ends in @@ is continued "
        "by the next. A word of several subwords is their mean. If the model has language embeddings, those of --language and "
        "--word-language are added. A word is not a neighbour of itself, in either language of one model. Ranks share the "
        "products.\n\n",
    .examples =
        "  xlm_embed neighbours run1/latest Haus --word-language de --language en --corpus corpus.h5\n"
        "  xlm_embed neighbours en.vec Haus Hund --word-vectors de.vec --count 5 --csv neighbours.csv\n",
    .options = options,
    .takes = {"a checkpoint or a file of vectors, and one or more words", 2, G_MAXINT},
    .is_file = is_file,
    .check = check,
    .run = run,
};
