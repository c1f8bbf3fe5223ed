/* xlm-mpi: xlm_embed similarity, word vectors compared with human judgements. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/terminal.h"
#include "commands/commands.h"
#include "program/space_inputs.h"
#include "retrieval/analogies.h"
#include "retrieval/scored_pairs.h"
#include "text/fields.h"

static struct {
    char **pairs, **keys, **dictionaries, **analogies;
    char *languages, *corpus, *csv;
    gint64 most;
} given;

static char **languages; /* --languages */

static const GOptionEntry options[] = {
    {"pairs", 'p', XLM_READS, G_OPTION_ARG_FILENAME_ARRAY, &given.pairs,
     "pairs of words with a score, one line word<tab>word<tab>score each, as in MUSE and SemEval-2017; may be repeated", "FILE"},
    {"keys", 0, XLM_READS, G_OPTION_ARG_FILENAME_ARRAY, &given.keys,
     "scores of --pairs in a separate file, one number per line (SemEval's keys); one for each --pairs, in order", "FILE"},
    {"dictionary", 'd', XLM_READS, G_OPTION_ARG_FILENAME_ARRAY, &given.dictionaries,
     "words and their translations, whose cosines are measured (MUSE's dictionaries); may be repeated", "FILE"},
    {"analogies", 'a', XLM_READS, G_OPTION_ARG_FILENAME_ARRAY, &given.analogies,
     "analogies, lines of four words and lines \": section\" (Google), or word<tab>answers (BATS); may be repeated", "FILE"},
    {"languages", 'l', 0, G_OPTION_ARG_STRING, &given.languages,
     "language of the words, or of the first and the second word of a pair, by the names in the model; their language embeddings "
     "are added if the model has them", "LANG[,LANG]"},
    {"corpus", 'c', XLM_READS, G_OPTION_ARG_FILENAME, &given.corpus,
     "answers of analogies are searched for among the subwords in the training text of --languages in this corpus (default: all "
     "of the model)", "CORPUS.h5"},
    {"most", 0, 0, G_OPTION_ARG_INT64, &given.most, "read only the first N words of a file of vectors (default: all)", "N"},
    {"csv", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &given.csv, "also write the results to a file", "FILE.csv"},
    {.long_name = NULL}};

static guint count(char **list) { return list != NULL ? g_strv_length(list) : 0; }

static bool check(GError **error)
{
    if (given.pairs == NULL && given.dictionaries == NULL && given.analogies == NULL)
        return xlm_error_set(error, EX_USAGE, "there is nothing to measure; give --pairs, --dictionary or --analogies");
    if (given.keys != NULL && count(given.keys) != count(given.pairs))
        return xlm_error_set(error, EX_USAGE, "there are %u --keys for %u --pairs", count(given.keys), count(given.pairs));
    return xlm_program_is_in("most", given.most, 0, G_MAXINT64, error) &&
           xlm_program_list("languages", given.languages, 1, 2, "one or two languages", &languages, error);
}

/* All input, and its results. */
typedef struct work {
    xlm_space_inputs in;
    xlm_pair_list *scored, *dictionaries; /* as many as there are files */
    xlm_analogies **analogies;
    GString *csv;
} work;

/* ---- reading ---- */

static bool read_all(char *const *arguments, work *w, GError **error)
{
    const char *const first = languages != NULL ? languages[0] : NULL;
    const char *const names[] = {first, first != NULL && languages[1] != NULL ? languages[1] : first};
    for (guint i = 0; i < count(given.pairs); i++)
        if (!xlm_scored_pairs_read(given.pairs[i], given.keys != NULL ? given.keys[i] : NULL, &w->scored[i], error))
            return false;
    for (guint i = 0; i < count(given.dictionaries); i++)
        if (!xlm_pair_list_read_dictionary(given.dictionaries[i], &w->dictionaries[i], error))
            return false;
    for (guint i = 0; i < count(given.analogies); i++)
        if ((w->analogies[i] = xlm_analogies_read(given.analogies[i], error)) == NULL)
            return false;
    return xlm_space_inputs_open(&w->in, (const char *const *)arguments, names, given.corpus, given.most, error);
}

static void open_work(work *w)
{
    *w = (work){.scored = g_new0(xlm_pair_list, count(given.pairs) + 1),
                .dictionaries = g_new0(xlm_pair_list, count(given.dictionaries) + 1),
                .analogies = g_new0(xlm_analogies *, count(given.analogies) + 1),
                .csv = g_string_new("kind,file,section,items,covered,measure,value\n")};
}

static void close_work(work *w)
{
    for (guint i = 0; i < count(given.pairs); i++)
        xlm_pair_list_close(&w->scored[i]);
    for (guint i = 0; i < count(given.dictionaries); i++)
        xlm_pair_list_close(&w->dictionaries[i]);
    for (guint i = 0; i < count(given.analogies); i++)
        xlm_analogies_free(w->analogies[i]);
    g_free(w->scored);
    g_free(w->dictionaries);
    g_free(w->analogies);
    if (w->csv != NULL)
        g_string_free(w->csv, TRUE);
    xlm_space_inputs_close(&w->in);
}

/* ---- results ---- */

/* A missing number is an empty field. */
static void append_row(work *w, const char *kind, const char *file, const char *section, int64_t items, int64_t covered,
                       const char *measure, double value)
{
    xlm_fields_append_csv(w->csv, kind);
    g_string_append_c(w->csv, ',');
    xlm_fields_append_csv(w->csv, file);
    g_string_append_c(w->csv, ',');
    xlm_fields_append_csv(w->csv, section);
    g_string_append_printf(w->csv, ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%s,", items, covered, measure);
    g_string_append_printf(w->csv, isnan(value) ? "\n" : "%.6g\n", value);
}

static void print_name(const char *name, int width)
{
    g_autofree char *shown = xlm_terminal_escape(name);
    printf("%s%*s", shown, MAX(width - xlm_terminal_columns(shown, strlen(shown)), 0), "");
}

/* Columns of a table of file names. */
static int widest(char **files)
{
    int width = 24;
    for (guint i = 0; i < count(files); i++) {
        g_autofree char *name = g_path_get_basename(files[i]);
        width = MAX(width, xlm_terminal_columns(name, strlen(name)));
    }
    return width;
}

static void print_count(int64_t items, int64_t covered)
{
    printf(" %9" G_GINT64_FORMAT " %8.2f%%", items, items > 0 ? 100 * (double)covered / (double)items : 0);
}

/* "-" for what is not defined. */
static void print_number(const char *format, int width, double value)
{
    char text[32];
    g_snprintf(text, sizeof text, format, value);
    printf(" %*s", width, isnan(value) ? "-" : text);
}

/* Nothing in a file is covered: usually it, or the vectors, are for other languages. */
static void check_covered(const char *file, const char *what, int64_t covered)
{
    if (covered == 0)
        xlm_log_warn("%s: none of its %s has vectors; is it for these languages, in this order?", file, what);
}

/* A column of a table of pairs: its head, its name in the csv, and its number in xlm_pair_measure. */
typedef struct column {
    const char *head, *name, *format;
    int width;
    size_t offset;
} column;

#define COLUMN(head, name, format, width, member) {head, name, format, width, offsetof(xlm_pair_measure, member)}
static const column scored_columns[] = {
    COLUMN("Pearson", "pearson", "%.4f", 9, pearson), COLUMN("Spearman", "spearman", "%.4f", 9, spearman),
    COLUMN("harmonic", "harmonic_mean", "%.4f", 9, harmonic), COLUMN("p", "spearman_p", "%.3g", 10, p), {.head = NULL}};
static const column dictionary_columns[] = {COLUMN("cosine", "mean_cosine", "%.4f", 9, cosine),
                                            COLUMN("shuffled", "shuffled_cosine", "%.4f", 9, shuffled), {.head = NULL}};

/* A table of files of pairs. kind: their kind in the csv. */
static void show_pairs(work *w, const char *title, const char *kind, char **files, const xlm_pair_list *pairs,
                       const column *columns)
{
    const int width = widest(files);
    printf("%-*s %9s %9s", width, title, "pairs", "covered");
    for (const column *c = columns; c->head != NULL; c++)
        printf(" %*s", c->width, c->head);
    putchar('\n');
    for (guint i = 0; i < count(files); i++) {
        const xlm_pair_measure m = xlm_pair_list_measure(&pairs[i], &w->in.sides);
        g_autofree char *name = g_path_get_basename(files[i]);
        check_covered(files[i], "pairs", m.covered);
        print_name(name, width);
        print_count(m.pairs, m.covered);
        for (const column *c = columns; c->head != NULL; c++) {
            const double value = *(const double *)(const void *)((const char *)&m + c->offset);
            print_number(c->format, c->width, value);
            append_row(w, kind, files[i], "", m.pairs, m.covered, c->name, value);
        }
        putchar('\n');
    }
}

static void show_analogies(work *w, guint file, const xlm_analogy_score *scores)
{
    const xlm_analogies *a = w->analogies[file];
    const guint sections = a->sections->len;
    g_autofree char *name = g_path_get_basename(given.analogies[file]);
    check_covered(given.analogies[file], "questions", scores[sections].covered);
    int width = MAX(24, xlm_terminal_columns(name, strlen(name)));
    for (guint i = 0; i < sections; i++)
        width = MAX(width, 2 + xlm_terminal_columns(a->sections->pdata[i], strlen(a->sections->pdata[i])));
    printf("%-*s %9s %9s %9s %9s\n", width, "analogies", "questions", "covered", "accuracy", "cosine");
    for (guint i = 0; i <= sections; i++) {
        const xlm_analogy_score *s = &scores[i];
        const char *section = i < sections ? a->sections->pdata[i] : name;
        const double accuracy = s->covered > 0 ? (double)s->right / (double)s->covered : NAN;
        if (i < sections)
            printf("  ");
        print_name(section, width - 2 * (i < sections));
        print_count(s->questions, s->covered);
        print_number("%.2f%%", 9, 100 * accuracy);
        print_number("%.4f", 9, s->cosine);
        putchar('\n');
        append_row(w, "analogies", given.analogies[file], i < sections ? section : "all", s->questions, s->covered, "accuracy",
                   accuracy);
        append_row(w, "analogies", given.analogies[file], i < sections ? section : "all", s->questions, s->covered, "mean_cosine",
                   s->cosine);
    }
}

/* An empty line between tables. */
static void separate(bool *first)
{
    if (!*first)
        putchar('\n');
    *first = false;
}

static void measure(const xlm_comm *comm, work *w, GError **error)
{
    const bool speaks = comm->rank == 0;
    const double begin = xlm_clock();
    bool first = true;
    if (speaks && given.pairs != NULL) {
        separate(&first);
        show_pairs(w, "similarity", "similarity", given.pairs, w->scored, scored_columns);
    }
    if (speaks && given.dictionaries != NULL) {
        separate(&first);
        show_pairs(w, "cosines of pairs", "dictionary", given.dictionaries, w->dictionaries, dictionary_columns);
    }
    for (guint i = 0; i < count(given.analogies); i++) {
        g_autofree xlm_analogy_score *scores = g_new(xlm_analogy_score, w->analogies[i]->sections->len + 1);
        xlm_analogies_measure(comm, w->analogies[i], &w->in.sides, w->in.rows, scores);
        if (speaks) {
            separate(&first);
            show_analogies(w, i, scores);
        }
    }
    xlm_log_info("%.1f s", xlm_clock() - begin);
    xlm_program_end_table(comm, given.csv, g_steal_pointer(&w->csv), error);
}

static void run(const xlm_comm *comm, char *const *arguments, GError **error)
{
    work w;
    GError *failure = NULL;
    open_work(&w);
    read_all(arguments, &w, &failure);
    if (xlm_comm_agree_on(comm, failure, error))
        measure(comm, &w, error);
    close_work(&w);
}

const xlm_command xlm_embed_similarity = {
    .name = "similarity",
    .arguments = "similarity CHECKPOINT|VECTORS [VECTORS]",
    .purpose = "Measure word similarity, cosines of translations, and analogies",
    .notes =
        "similarity: measures the word embeddings of a checkpoint, or vectors written by xlm_embed export, fastText, word2vec\n"
        "or MUSE (text or HDF5), of one language or, from two files, of two languages in one space. A word of several subwords\n"
        "is their mean, a phrase in a file the mean of its words; one with an unknown part is not covered, and counts only in\n"
        "the coverage. --pairs: Pearson and Spearman correlation of human scores with the cosines, their harmonic mean, by\n"
        "which SemEval-2017 ranks, and Spearman's two-tailed p. --dictionary: the mean cosine of all pairs and, to compare\n"
        "with, of any of their first words with any of their second. --analogies \"a b c d\": how often d is nearest to b - a +\n"
        "c (of unit vectors) among all words but a, b and c, by section, and the mean cosine of b - a + c and d. A word\n"
        "LANG:word of an analogy belongs to that one of two --languages. Ranks share the products.\n\n",
    .examples =
        "  xlm_embed similarity run1/latest --languages en --pairs EN_WS-353-ALL.txt --pairs EN_SIMLEX-999.txt\n"
        "  xlm_embed similarity run1/latest --languages en,de --pairs en-de.test.data.txt --keys en-de.test.gold.txt\n"
        "  mpiexec -n 4 xlm_embed similarity en.vec de.vec --dictionary en-de.5000-6500.txt --analogies questions-words.txt\n",
    .options = options,
    .takes = {"a checkpoint or a file of vectors, or two such files for two languages", 1, 2},
    .check = check,
    .run = run,
};
