/* xlm-mpi: xlm_embed dictionary, cosines and retrieval of translation pairs. SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>

#include "base/log.h"
#include "commands/commands.h"
#include "program/word_inputs.h"
#include "retrieval/dictionary_pairs.h"

static struct {
    gint64 neighbours;
    gboolean words_alone;
    char *csv;
} given = {.neighbours = 10};

static const GOptionEntry options[] = {
    {"neighbours", 'k', 0, G_OPTION_ARG_INT64, &given.neighbours,
     "number of nearest subwords that CSLS averages over (default 10)", "K"},
    {"words-alone", 0, 0, G_OPTION_ARG_NONE, &given.words_alone,
     "do not add the language embeddings, if the model has them, to those of the words", NULL},
    {"csv", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &given.csv, "also write the table to a file", "FILE.csv"},
    {.long_name = NULL}};

static bool check(GError **error) { return xlm_program_is_in("neighbours", given.neighbours, 1, XLM_MAX_NEIGHBOURS, error); }

/* path: of the checkpoint, the dictionary, and perhaps a corpus. */
static bool open_inputs(xlm_word_inputs *w, char *const *path, GError **error)
{
    return xlm_word_inputs_open(w, (const char *const *)path, error) &&
           (w->in->pairs + w->left_out->pairs > 0 || xlm_error_set(error, EX_DATAERR, "%s: has no pairs", path[1]));
}

static const char *name_of(const xlm_word_inputs *w, int side)
{
    return xlm_vocabulary_language_names(w->loaded->vocabulary)[w->in->language[side]];
}

static void print(const xlm_word_inputs *w, const xlm_dictionary_pairs *r)
{
    printf("%-13s %8s %8s %8s %-7s %8s %10s %8s %8s\n", "subwords", "pairs", "cosine", "shuffled", "", "number", "candidates",
           "cosine", "CSLS");
    for (int g = 0; g < XLM_PAIRS_GROUPS; g++) {
        const xlm_dictionary_pairs_score *s = &r->group[g];
        for (int d = 0; d < 2 && s->pairs > 0; d++) {
            g_autofree char *direction = g_strconcat(name_of(w, d), "-", name_of(w, !d), NULL);
            printf("%-13s %8" G_GINT64_FORMAT " %8.4f %8.4f %-7s %8" G_GINT64_FORMAT " %10" G_GINT64_FORMAT,
                   xlm_dictionary_pairs_names[g], s->pairs, s->cosine, s->shuffled, direction, s->words[d], r->candidates[d]);
            if (s->words[d] > 0)
                printf(" %7.2f%% %7.2f%%\n", 100 * s->by_cosine[d], 100 * s->by_csls[d]);
            else
                printf(" %8s %8s\n", "-", "-");
        }
    }
}

static GString *make_csv(const xlm_word_inputs *w, const xlm_dictionary_pairs *r)
{
    GString *text = g_string_new("subwords,source,target,pairs,mean_cosine,shuffled_cosine,words,candidates,cosine,csls\n");
    for (int g = 0; g < XLM_PAIRS_GROUPS; g++) {
        const xlm_dictionary_pairs_score *s = &r->group[g];
        for (int d = 0; d < 2 && s->pairs > 0; d++) {
            g_string_append_printf(text, "%s,%s,%s,%" G_GINT64_FORMAT ",%.6f,%.6f,%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT,
                                   xlm_dictionary_pairs_names[g], name_of(w, d), name_of(w, !d), s->pairs, s->cosine, s->shuffled,
                                   s->words[d], r->candidates[d]);
            if (s->words[d] > 0)
                g_string_append_printf(text, ",%.6f,%.6f\n", s->by_cosine[d], s->by_csls[d]);
            else
                g_string_append(text, ",,\n");
        }
    }
    return text;
}

static bool measure(const xlm_comm *comm, const xlm_word_inputs *w, GError **error)
{
    const xlm_dictionary_pairs_input input = {
        .model = &w->loaded->config, .parameters = w->loaded->parameters, .in = w->in, .left_out = w->left_out,
        .corpus = w->corpus, .words_alone = given.words_alone, .neighbours = (int)given.neighbours,
    };
    const double begin = xlm_clock();
    xlm_dictionary_pairs result;
    if (!xlm_dictionary_pairs_measure(comm, &input, &result, error))
        return false;
    xlm_log_info("%" G_GINT64_FORMAT " pairs of %s and %s at step %" G_GINT64_FORMAT ": %.1f s",
                 result.group[XLM_PAIRS_ALL].pairs, name_of(w, 0), name_of(w, 1), w->loaded->step, xlm_clock() - begin);
    if (comm->rank == 0)
        print(w, &result);
    return xlm_program_end_table(comm, given.csv, make_csv(w, &result), error);
}

static void run(const xlm_comm *comm, char *const *arguments, GError **error)
{
    xlm_word_inputs w = {0};
    GError *failure = NULL;
    open_inputs(&w, arguments, &failure);
    if (xlm_comm_agree_on(comm, failure, error))
        measure(comm, &w, error);
    xlm_word_inputs_close(&w);
}

const xlm_command xlm_embed_dictionary = {
    .name = "dictionary",
    .arguments = "dictionary CHECKPOINT DICT.h5 [CORPUS.h5]",
    .purpose = "Measure cosines of a dictionary's pairs, and how often translations are nearest, in both directions",
    .notes =
        "dictionary: shows the mean cosine of the word embeddings of all pairs (plus the language embeddings if the model has "
        "them, unless --words-alone), and for each language the share of its subwords whose nearest candidate in the other "
        "language is a translation: by cosine, and by CSLS (Conneau et al. 2018), which subtracts from the cosine how close both "
        "subwords are to their neighbours. Candidates are the dictionary's subwords of the language, or with a corpus also all "
        "subwords of the language's training text, as in alignment. The column shuffled is the mean cosine of the pairs of its row "
        "when they are shuffled, to compare with. A subword of both languages is not a candidate for itself, unless the dictionary "
        "pairs it with itself.\n\n",
    .examples = "  mpiexec -n 2 xlm_embed dictionary run1/latest en-de.h5 corpus.h5 --csv dictionary.csv\n",
    .options = options,
    .takes = {"a checkpoint, a dictionary and, unless the candidates are those of the dictionary, a corpus", 2, 3},
    .check = check,
    .run = run,
};
