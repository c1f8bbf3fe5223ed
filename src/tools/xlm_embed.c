/* xlm-mpi: xlm_embed, measures of a model's embeddings. SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "lexicon/dictionary.h"
#include "tasks/measure_alignment.h"
#include "tensor/hardware.h"
#include "text/fields.h"
#include "tools/program.h"
#include "train/checkpoint.h"

static const xlm_program program = {
    .name = "xlm_embed",
    .arguments = "alignment CHECKPOINT DICT.h5 CORPUS.h5",
    .purpose = "Measure a model's word embeddings",
    .notes =
        "alignment: for each subword of the dictionary's first language that has a translation, its translations' place among\n"
        "all subwords of the second language's training text, by cosine of the word embeddings (plus the language's, when the\n"
        "model has them). Told are the shares that come first, among the first 5 and 10, and the mean reciprocal rank; of\n"
        "all, of those with a translation in the dictionary, of those that xlm_dict --share left out, and by frequency in\n"
        "the text.\n"
        "\n"
        "Examples:\n"
        "  xlm_dict corpus.h5 --source en --target de --dictd /usr/share/dictd/freedict-eng-deu --share 0.25 -o en-de.h5\n"
        "  mpiexec -n 2 xlm_embed alignment run1/latest en-de.h5 corpus.h5 --csv alignment.csv\n"
        "\n",
};

static struct {
    gboolean reverse;
    gint64 threads;
    char *csv;
} said;

static const GOptionEntry options[] = {
    {"reverse", 0, 0, G_OPTION_ARG_NONE, &said.reverse, "from the dictionary's second language to its first", NULL},
    {"csv", 0, 0, G_OPTION_ARG_FILENAME, &said.csv, "write the table to a file too", "FILE"},
    {"threads", 0, 0, G_OPTION_ARG_INT64, &said.threads,
     "threads of each rank (default: the node's cores divided among its ranks)", "N"},
    G_OPTION_ENTRY_NULL};

static const xlm_program_group option_groups[] = {{"Options", options}, {NULL, NULL}};

typedef struct work {
    xlm_loaded_model *loaded;
    xlm_corpus *corpus;
    xlm_dictionary *in, *left_out;
} work;

static bool read_options(int *argc, char ***argv, GError **error)
{
    if (!xlm_program_parse(&program, option_groups, argc, argv, error))
        return false;
    if (*argc < 2)
        return xlm_error_set(error, EX_USAGE, "say what to measure: alignment; see xlm_embed --help");
    if (strcmp((*argv)[1], "alignment") != 0)
        return xlm_error_set(error, EX_USAGE, "%s: there is no such measure; there is alignment", (*argv)[1]);
    if (*argc != 5)
        return xlm_error_set(error, EX_USAGE, "alignment takes a checkpoint, a dictionary and a corpus; see xlm_embed --help");
    if (said.threads < 0)
        return xlm_error_set(error, EX_USAGE, "--threads=%" G_GINT64_FORMAT ": at least 1", said.threads);
    return true;
}

/* paths: of the checkpoint, the dictionary and the corpus. */
static bool open_work(work *w, char *const *paths, GError **error)
{
    w->loaded = xlm_checkpoint_load_model(paths[0], error);
    w->corpus = w->loaded != NULL ? xlm_corpus_open(paths[2], error) : NULL;
    if (w->corpus == NULL)
        return false;
    const xlm_vocabulary *vocabulary = xlm_corpus_vocabulary(w->corpus);
    if (xlm_vocabulary_digest(vocabulary) != xlm_vocabulary_digest(w->loaded->vocabulary) ||
        !g_strv_equal(xlm_vocabulary_language_names(vocabulary), xlm_vocabulary_language_names(w->loaded->vocabulary)))
        return xlm_error_set(error, EX_DATAERR, "%s: was trained with other subwords or languages than %s has", paths[0],
                             paths[2]);
    w->in = xlm_dictionary_read(paths[1], XLM_DICTIONARY_PAIRS, vocabulary, xlm_corpus_digest(w->corpus), error);
    if (w->in != NULL)
        w->left_out = xlm_dictionary_read(paths[1], XLM_DICTIONARY_LEFT_OUT, vocabulary, xlm_corpus_digest(w->corpus), error);
    return w->left_out != NULL;
}

static void close_work(work *w)
{
    xlm_dictionary_free(w->in);
    xlm_dictionary_free(w->left_out);
    xlm_corpus_close(w->corpus);
    xlm_checkpoint_free_model(w->loaded);
}

static void print(const xlm_alignment_group *groups)
{
    printf("%-15s %9s %9s %9s %9s %9s\n", "subwords", "number", "top 1", "top 5", "top 10", "MRR");
    for (int g = 0; g < XLM_ALIGNMENT_GROUPS; g++) {
        const xlm_alignment_score *s = &groups[g].score;
        if (s->tokens > 0)
            printf("%-15s %9" G_GINT64_FORMAT " %8.2f%% %8.2f%% %8.2f%% %9.4f\n", groups[g].name, s->tokens, 100 * s->top1,
                   100 * s->top5, 100 * s->top10, s->reciprocal);
        else
            printf("%-15s %9d %9s %9s %9s %9s\n", groups[g].name, 0, "-", "-", "-", "-");
    }
}

static bool write_csv(const xlm_alignment_group *groups, GError **error)
{
    GString *text = g_string_new("subwords,number,top1,top5,top10,mrr\n");
    for (int g = 0; g < XLM_ALIGNMENT_GROUPS; g++) {
        const xlm_alignment_score *s = &groups[g].score;
        if (s->tokens > 0)
            g_string_append_printf(text, "%s,%" G_GINT64_FORMAT ",%.6f,%.6f,%.6f,%.6f\n", groups[g].name, s->tokens, s->top1,
                                   s->top5, s->top10, s->reciprocal);
    }
    return xlm_fields_write(said.csv, text, error);
}

static bool measure(const xlm_comm *comm, const work *w, GError **error)
{
    xlm_hardware hardware;
    xlm_hardware_open(&hardware, (int)said.threads, comm->local_ranks);
    const xlm_alignment_input input = {
        .model = &w->loaded->config, .parameters = w->loaded->parameters, .corpus = w->corpus, .in = w->in,
        .left_out = w->left_out, .reverse = said.reverse,
    };
    xlm_alignment_group groups[XLM_ALIGNMENT_GROUPS];
    int64_t candidates;
    const double start = xlm_clock();
    if (!xlm_alignment_measure(comm, &input, groups, &candidates, error))
        return false;
    const char *const *names = xlm_vocabulary_language_names(xlm_corpus_vocabulary(w->corpus));
    xlm_log_info("alignment of %s among %" G_GINT64_FORMAT " subwords of %s at step %" G_GINT64_FORMAT ": %.1f s",
                 names[w->in->language[said.reverse]], candidates, names[w->in->language[!said.reverse]], w->loaded->step,
                 xlm_clock() - start);
    if (comm->rank == 0) {
        print(groups);
        if (xlm_program_flush(error) && said.csv != NULL)
            write_csv(groups, error);
    }
    return xlm_comm_agree(comm, error);
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    work w = {0};
    const bool good = read_options(&argc, &argv, &error);
    xlm_comm comm;
    xlm_comm_open(&comm, program.name, &argc, &argv);
    if (good)
        open_work(&w, argv + 2, &error);
    if (xlm_comm_agree(&comm, &error))
        measure(&comm, &w, &error);
    close_work(&w);
    g_free(said.csv);
    return xlm_comm_close(&comm, error);
}
