/* xlm-mpi: xlm_embed alignment, how close translations are. SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>

#include "base/log.h"
#include "commands/commands.h"
#include "program/word_inputs.h"
#include "retrieval/model_alignment.h"

static struct {
    gboolean reverse;
    char *csv;
} given;

static const GOptionEntry options[] = {
    {"reverse", 0, 0, G_OPTION_ARG_NONE, &given.reverse,
     "look up translations from the dictionary's second language to its first", NULL},
    {"csv", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &given.csv, "also write the table to a file", "FILE.csv"},
    {.long_name = NULL}};

static void print(const xlm_alignment_group *groups)
{
    printf("%-15s %9s %9s %9s %9s %9s %9s\n", "subwords", "number", "top 1", "top 5", "top 10", "MRR", "shared");
    for (int g = 0; g < XLM_ALIGNMENT_GROUPS; g++) {
        const xlm_alignment_score *s = &groups[g].score;
        if (s->tokens > 0)
            printf("%-15s %9" G_GINT64_FORMAT " %8.2f%% %8.2f%% %8.2f%% %9.4f %8.2f%%\n", groups[g].name, s->tokens,
                   100 * s->top1, 100 * s->top5, 100 * s->top10, s->reciprocal, 100 * groups[g].self);
        else
            printf("%-15s %9d %9s %9s %9s %9s %9s\n", groups[g].name, 0, "-", "-", "-", "-", "-");
    }
}

static GString *make_csv(const xlm_alignment_group *groups, const char *source, const char *target)
{
    GString *text = g_string_new("subwords,number,top1,top5,top10,mrr,shared,source,target\n");
    for (int g = 0; g < XLM_ALIGNMENT_GROUPS; g++) {
        const xlm_alignment_score *s = &groups[g].score;
        if (s->tokens > 0)
            g_string_append_printf(text, "%s,%" G_GINT64_FORMAT ",%.6f,%.6f,%.6f,%.6f,%.6f,%s,%s\n", groups[g].name, s->tokens,
                                   s->top1, s->top5, s->top10, s->reciprocal, groups[g].self, source, target);
    }
    return text;
}

static bool measure(const xlm_comm *comm, const xlm_word_inputs *w, GError **error)
{
    const xlm_alignment_input input = {
        .model = &w->loaded->config, .parameters = w->loaded->parameters, .corpus = w->corpus, .in = w->in,
        .left_out = w->left_out, .reverse = given.reverse,
    };
    xlm_alignment_group groups[XLM_ALIGNMENT_GROUPS];
    int64_t candidates;
    const double start = xlm_clock();
    if (!xlm_alignment_measure(comm, &input, groups, &candidates, error))
        return false;
    const char *const *names = xlm_vocabulary_language_names(xlm_corpus_vocabulary(w->corpus));
    const char *source = names[w->in->language[given.reverse]], *target = names[w->in->language[!given.reverse]];
    xlm_log_info("alignment of %s among %" G_GINT64_FORMAT " subwords of %s at step %" G_GINT64_FORMAT ": %.1f s", source,
                 candidates, target, w->loaded->step, xlm_clock() - start);
    if (comm->rank == 0)
        print(groups);
    return xlm_program_end_table(comm, given.csv, make_csv(groups, source, target), error);
}

static void run(const xlm_comm *comm, char *const *arguments, GError **error)
{
    xlm_word_inputs w = {0};
    xlm_word_inputs_open(&w, (const char *const *)arguments, error);
    if (xlm_comm_agree(comm, error))
        measure(comm, &w, error);
    xlm_word_inputs_close(&w);
}

const xlm_command xlm_embed_alignment = {
    .name = "alignment",
    .arguments = "alignment CHECKPOINT DICT.h5 CORPUS.h5",
    .purpose = "Measure how close translations are in a model's word embeddings",
    .notes =
        "alignment: ranks, for each subword of the dictionary's first language that has a translation, all subwords of the "
        "second language's training text by cosine of the word embeddings (plus the language embeddings if the model has them). "
        "It shows how often a translation ranks first or among the first 5 and 10, and the mean reciprocal rank: for all "
        "subwords, for those with a translation in the dictionary, for those that xlm_dict --share left out, and by frequency in "
        "the text. A subword that both languages have is not a candidate for itself, unless the dictionary pairs it with itself; "
        "the last column, shared, is the share of such subwords.\n\n",
    .examples =
        "  xlm_dict corpus.h5 --source en --target de --dictd /usr/share/dictd/freedict-eng-deu --share 0.25 -o en-de.h5\n"
        "  mpiexec -n 2 xlm_embed alignment run1/latest en-de.h5 corpus.h5 --csv alignment.csv\n",
    .options = options,
    .takes = {"a checkpoint, a dictionary and a corpus", 3, 3},
    .run = run,
};
