/* xlm-mpi: xlm_eval, scores of a fine-tuned model. SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/rng.h"
#include "checkpoint/objective_arrays.h"
#include "corpus/corpus.h"
#include "files/files.h"
#include "files/path.h"
#include "gemm/hardware.h"
#include "job/rank_inputs.h"
#include "model/model_file.h"
#include "objective/host.h"
#include "options/options.h"
#include "program/program.h"
#include "run/rank_kernels.h"
#include "tasks/predict.h"
#include "tasks/results.h"
#include "tasks/sources.h"
#include "tasks/tune_job.h"
#include "text/fields.h"

static const xlm_program program = {
    .name = "xlm_eval",
    .arguments = "CHECKPOINT",
    .precision = true,
    .progress = true,
    .purpose = "Score a model of xlm_tune on labelled files, in the language of its training and, zero-shot, in others",
    .notes =
        "Files are read as by xlm_tune. A tag that does not occur in the training files counts as wrong in all measures; the\n"
        "number of words with such tags is shown as unseen_tags, with a warning.\n\n"
        "--test LANG:FILE gives the language of a file, and may be repeated: each language is scored separately, in a table of\n"
        "languages and measures with their means. The gap is how far the mean of the other languages is below the language of\n"
        "training (the first of them that is tested). Write ./a:b for a file that is named a:b.\n\n"
        "With --predictions, files may have items without gold, text that is only to be predicted: a tag that is `_`, empty or\n"
        "missing (a word on each line), a label that is empty or missing (a sentence on each line), a question without answers.\n"
        "Scores are of the items that have gold, and there are none of a file in which no item has.\n\n"
        "Files without LANG: are scored together, in the language of --language; without it, in that of [tune] language or, if\n"
        "there was none, that of training. The log and the tables show which was used; there is a warning if the name of a\n"
        "file (es_gsd-ud-test.conllu) names another language of the model.\n\n"
        "For tags it shows accuracy; F1 of each tag, their micro and macro average (the latter over tags that occur in the\n"
        "files or were predicted); and for BIO tags (O, B-PER, I-PER) F1 of whole spans, counted as by conlleval, while O does\n"
        "not count for the averages. For answers to questions it shows F1 and exact match by the rules of SQuAD or MLQA. The\n"
        "result does not depend on the number of ranks.\n\n"
        "Examples:\n"
        "  xlm_eval pos/best --test en_ewt-ud-test.conllu.gz\n"
        "  mpiexec -n 4 xlm_eval pos/best --test de:de_gsd-ud-test.conllu.gz --predictions de.tsv --csv de.csv\n"
        "  xlm_eval pos/best --test en:en.conllu --test de:de.conllu --test es:es.conllu --csv all.csv --chart all.svg\n"
        "  xlm_eval pos/best --test de:words.txt --predictions tagged.tsv\n"
        "  xlm_eval squad/best --test de:xquad.de.json --predictions de.json --output n_best=best.json --set rules=squad\n\n",
    .files =
        "  CHECKPOINT  a checkpoint of xlm_tune, for example OUTPUT/best\n",
};

static struct {
    char **test, **outputs, **overrides;
    char *language, *predictions, *csv, *chart;
    gint64 threads;
} given;

static const GOptionEntry options[] = {
    {"test", 't', XLM_READS, G_OPTION_ARG_FILENAME_ARRAY, &given.test,
     "file, labelled or, with --predictions, not, in a language of the model; may be repeated; files without a language are "
     "scored together", "[LANG:]FILE"},
    {"language", 'l', 0, G_OPTION_ARG_STRING, &given.language,
     "language of files without LANG:, by its name in the model (default: that of [tune] language, else of training)", "LANG"},
    {"predictions", 'p', XLM_WRITES, G_OPTION_ARG_FILENAME, &given.predictions,
     "write predictions to this file (tags: token<tab>gold<tab>predicted; answers: JSON, by id); for several languages to "
     "OUT.LANG.tsv; labels are not needed", "OUT.tsv"},
    {"output", 'o', XLM_WRITES, G_OPTION_ARG_FILENAME_ARRAY, &given.outputs,
     "write another output of the task (answering: n_best, null_odds) to this file; may be repeated", "NAME=FILE"},
    {"csv", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &given.csv, "also write the tables to this file", "FILE.csv"},
    {"chart", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &given.chart, "draw the measures of each language as bars", "FILE.svg"},
    {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &given.overrides,
     "override an option of the task, for example column=xpos (see xlm_tune --help-job)", "KEY=VALUE"},
    {"threads", 0, 0, G_OPTION_ARG_INT64, &given.threads, XLM_THREADS_HELP, "N"},
    {.long_name = NULL}};

static const xlm_program_group option_groups[XLM_PROGRAM_GROUPS] = {{"Options", options}};

/* Text of one language, and its results. */
typedef struct tested {
    xlm_task_set set;
    void *text;
    xlm_task_items items;
    xlm_examples *examples;
    double *predictions;
    xlm_task_scores *scores; /* of rank 0; NULL if no item has gold */
} tested;

/* What is written for each language, and the file. */
typedef struct output {
    xlm_task_print *print;
    const char *file;
} output;

typedef struct work {
    xlm_loaded_model *loaded;
    const xlm_task *task;
    xlm_loss self;
    xlm_host *host; /* of the task */
    xlm_tokenizer *tokenizer;
    xlm_task_source *sources;
    uint64_t digest; /* of what all ranks must have read */
    GArray *tests;   /* tested */
    GArray *outputs; /* output */
} work;

static tested *test_at(const work *w, guint i) { return &g_array_index(w->tests, tested, i); }

static bool read_options(int *argc, char ***argv, GError **error)
{
    if (!xlm_program_parse(&program, option_groups, argc, argv, error) ||
        xlm_program_argument(&program, *argc, *argv, "checkpoint", error) == NULL)
        return false;
    if (given.test == NULL)
        return xlm_error_set(error, EX_USAGE, "no file to score; give --test FILE");
    return xlm_program_check_threads(given.threads, error);
}

/* Adds the output in "NAME=FILE". EX_USAGE if the task has no such output; the message lists those that exist. */
static bool add_output(work *w, const char *item, GError **error)
{
    const xlm_task *task = w->task;
    const char *sign = strchr(item, '=');
    g_autoptr(GString) known = g_string_new(NULL);
    for (const xlm_task_output *o = task->outputs; o != NULL && o->name != NULL; o++) {
        if (sign != NULL && sign[1] != '\0' && strncmp(o->name, item, (size_t)(sign - item)) == 0 &&
            o->name[sign - item] == '\0') {
            const output added = {o->print, sign + 1};
            g_array_append_val(w->outputs, added);
            return true;
        }
        g_string_append_printf(known, "%s %s=FILE (%s)", known->len > 0 ? "," : "", o->name, o->help);
    }
    return xlm_error_set(error, EX_USAGE, "--output %s: the task %s has%s", item, task->loss.name,
                         known->len > 0 ? known->str : " no output except --predictions");
}

/* The task of a checkpoint, its labels and options. */
static bool open_task(work *w, const char *path, GError **error)
{
    const xlm_model_task *task = w->loaded->task;
    if (task == NULL)
        return xlm_error_set(error, EX_DATAERR, "%s: is not fine-tuned; run xlm_tune on it first", path);
    if ((w->task = xlm_task_find(task->name, error)) == NULL) {
        g_prefix_error(error, "%s: ", path);
        (*error)->code = EX_DATAERR; /* the file says so, not a job */
        return false;
    }
    if (w->task->labels != NULL && !xlm_model_task_check_labels(task, path, error))
        return false;
    if (given.predictions != NULL) {
        const output predictions = {w->task->print, given.predictions};
        g_array_append_val(w->outputs, predictions);
    }
    for (char **item = given.outputs; item != NULL && *item != NULL; item++)
        if (!add_output(w, *item, error))
            return false;
    void *state = xlm_task_state_read(w->task, path, task->options, given.overrides, error);
    if (state == NULL)
        return false;
    ((xlm_task_state *)state)->labels = task->labels;
    ((xlm_task_state *)state)->sentences = task->sentences;
    ((xlm_task_state *)state)->unlabelled = w->outputs->len > 0;
    ((xlm_task_state *)state)->classes = g_strv_length(task->labels);
    w->self = (xlm_loss){.cls = &w->task->loss, .name = w->task->loss.name, .state = state};
    return true;
}

/* The language of the model that a part of the file's name names ("es" in es_gsd-ud-test.conllu.gz); -1: none or several. */
static int language_of_file(const work *w, const char *path)
{
    g_autofree char *base = g_path_get_basename(path);
    g_auto(GStrv) parts = g_strsplit_set(base, "_-.", -1);
    int found = -1;
    bool one = true;
    for (char **part = parts; *part != NULL; part++) {
        const int language = xlm_vocabulary_find_language(w->loaded->vocabulary, *part);
        one = one && (language < 0 || found < 0 || found == language);
        found = language >= 0 ? language : found;
    }
    return one ? found : -1;
}

/* For files without LANG:, logs which language is used, and warns if a name suggests another. */
static void report_language(const work *w, const xlm_task_set *set)
{
    const char *name = xlm_task_source_language(set->sources);
    if (given.language != NULL) {
        xlm_log_info("language: %s", name);
        return;
    }
    const int language = set->sources->language;
    char *const *trained = w->loaded->task->languages;
    if (language >= 0)
        xlm_log_info("language: %s, that of %s; --language sets another", name,
                     trained != NULL && g_strv_contains((const char *const *)trained, name) ? "training" : "[tune] language");
    else
        xlm_log_info("language: none in particular%s; --language sets one", trained == NULL ? ", as in training" : "");
    for (int64_t i = 0; i < set->n; i++) {
        const int other = language_of_file(w, set->sources[i].path);
        if (other >= 0 && other != language) {
            const char *hint = xlm_vocabulary_language_names(w->loaded->vocabulary)[other];
            xlm_log_warn("%s: its name suggests %s, but it is scored as text of %s; if that is wrong, give --language %s",
                         set->sources[i].path, hint, language >= 0 ? name : "no particular language", hint);
        }
    }
}

/* Count the items that have gold; it is an error if none has and nothing is written but scores. what: for the log. */
static void count_gold(const work *w, tested *p, const char *what)
{
    p->items = w->task->items(p->text);
    if (p->items.gold == 0)
        xlm_log_info("%s: no label among %" G_GINT64_FORMAT " %s; they are predicted, and not scored", what, p->items.all,
                     p->items.what);
    else if (p->items.gold < p->items.all)
        xlm_log_warn("%s: scores are of the %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " %s that have a label; the others are "
                     "only predicted", what, p->items.gold, p->items.all, p->items.what);
}

static bool open_part(const work *w, tested *p, GError **error)
{
    const bool several = w->tests->len > 1;
    g_autofree char *what = several ? g_strconcat("test ", xlm_task_source_language(p->set.sources), NULL) : g_strdup("test");
    const xlm_task_encoder encoder = {.tokenizer = w->tokenizer, .length = w->loaded->task->length};
    if ((p->text = w->task->read(&w->self, p->set.sources, p->set.n, error)) == NULL)
        return false;
    count_gold(w, p, what);
    p->examples = xlm_examples_new(xlm_vocabulary_specials(w->loaded->vocabulary));
    g_autoptr(GString) description = g_string_new(NULL);
    if (!w->task->encode(&w->self, p->text, &encoder, p->examples, description, error))
        return false;
    if (p->set.unnamed)
        report_language(w, &p->set);
    xlm_log_info("%s: %s", what, description->str);
    xlm_tokenizer_warn_unknown(w->tokenizer, what);
    p->predictions = g_new(double, xlm_examples_predictions(p->examples, xlm_examples_count(p->examples)) *
                                       w->task->width(&w->self));
    return true;
}

/* Is --language, if it is given, that of any file? */
static bool check_language(const GArray *sets, GError **error)
{
    bool used = given.language == NULL;
    for (guint i = 0; i < sets->len && !used; i++)
        used = g_array_index(sets, xlm_task_set, i).unnamed;
    return used || xlm_error_set(error, EX_USAGE, "--language=%s is for files without LANG:, and every --test has one; leave it "
                                 "out", given.language);
}

/* All texts are read before anything is computed. */
static bool open_text(work *w, GError **error)
{
    const xlm_vocabulary *vocabulary = w->loaded->vocabulary;
    const xlm_model_task *task = w->loaded->task;
    const char *language = given.language != NULL ? given.language : *task->language != '\0' ? task->language : NULL;
    const xlm_task_list list = {.vocabulary = vocabulary, .language = language, .needed = xlm_loaded_model_reads_language(w->loaded),
                                .what = "--test", .how = "--language NAME", .exit_code = EX_USAGE};
    int64_t n;
    int id;
    if (!xlm_task_language(vocabulary, language, false, NULL, EX_USAGE, &id, error) ||
        (w->tokenizer = xlm_tokenizer_new(vocabulary, error)) == NULL ||
        (w->sources = xlm_task_sources_read(&list, given.test, &n, error)) == NULL)
        return false;
    g_autoptr(GArray) sets = xlm_task_sets(&list, given.test, w->sources, n, error);
    if (sets == NULL || !check_language(sets, error))
        return false;
    g_array_set_size(w->tests, sets->len);
    bool good = xlm_task_sources_digest(w->sources, n, &w->digest, error);
    for (guint i = 0; i < sets->len && good; i++) {
        test_at(w, i)->set = g_array_index(sets, xlm_task_set, i);
        good = open_part(w, test_at(w, i), error);
    }
    return good;
}

/* Add the model: its vocabulary, its step and a sample of each of its arrays, the first numbers. */
static void add_model(work *w)
{
    enum { SAMPLE = 1024 };
    const xlm_parameters *p = w->loaded->parameters;
    const uint64_t numbers[] = {xlm_corpus_digest_of(w->loaded->vocabulary), (uint64_t)w->loaded->step};
    w->digest = xlm_digest(numbers, sizeof numbers, w->digest);
    for (int i = 0; i < xlm_parameters_count(p); i++) {
        const xlm_parameter *one = xlm_parameters_get(p, i);
        const int64_t n = MIN(one->rows * one->cols, SAMPLE);
        w->digest = xlm_digest(xlm_parameters_values(p) + one->start, sizeof(xlm_real) * (uint64_t)n, w->digest);
    }
}

static bool open_work(work *w, const char *path, GError **error)
{
    if ((w->loaded = xlm_model_file_read_header(path, error)) == NULL || !open_task(w, path, error) || !open_text(w, error))
        return false;
    const xlm_loss_stream stream = {.name = "test"};
    const xlm_objective_spec objective = {.name = w->self.name, .cls = w->self.cls, .state = w->self.state};
    const xlm_host_setup setup = {.model = w->loaded->model, .about = {.model = &w->loaded->config,
                                            .specials = xlm_vocabulary_specials(w->loaded->vocabulary)},
                                  .streams = 1, .stream = &stream, .objectives = 1, .objective = &objective};
    w->host = xlm_host_open(&setup, w->loaded->parameters, error);
    if (w->host == NULL || !xlm_model_file_read_values(path, w->loaded, error))
        return false;
    int states;
    const xlm_saved_state *state = xlm_host_states(w->host, &states);
    add_model(w);
    return xlm_states_read(path, states, state, error);
}

static void close_work(work *w)
{
    xlm_host_close(w->host);
    for (guint i = 0; i < w->tests->len; i++) {
        tested *p = test_at(w, i);
        if (p->text != NULL)
            w->task->read_free(p->text);
        xlm_examples_free(p->examples);
        g_free(p->predictions);
        xlm_task_scores_free(p->scores);
    }
    g_array_unref(w->tests);
    g_array_unref(w->outputs);
    g_free(w->sources);
    xlm_tokenizer_free(w->tokenizer);
    if (w->self.state != NULL)
        xlm_options_free(w->task->loss.options, w->self.state);
    g_free(w->self.state);
    xlm_model_file_free(w->loaded);
}

/* ---- results ---- */

/* The first language of training among results: xlm_task_result; -1. */
static int64_t find_reference(const work *w, const GArray *results)
{
    for (char **name = w->loaded->task->languages; name != NULL && *name != NULL; name++)
        for (guint i = 0; i < results->len; i++)
            if (g_strcmp0(g_array_index(results, xlm_task_result, i).language, *name) == 0)
                return i;
    return -1;
}

/* OUT.tsv, or OUT.LANG.tsv if there are several languages. g_free. */
static char *path_of(const work *w, const tested *p, const char *path)
{
    if (w->tests->len == 1)
        return g_strdup(path);
    const char *name = strrchr(path, '/'), *base = name != NULL ? name + 1 : path;
    const char *dot = strrchr(base, '.'), *end = dot != NULL && dot > base ? dot : base + strlen(base);
    return g_strdup_printf("%.*s.%s%s", (int)(end - path), path, xlm_task_source_language(p->set.sources), end);
}

static bool write_outputs(const work *w, GError **error)
{
    bool good = true;
    for (guint k = 0; k < w->outputs->len; k++)
        for (guint i = 0; i < w->tests->len && good; i++) {
            const output *o = &g_array_index(w->outputs, output, k);
            const tested *p = test_at(w, i);
            GString *text = g_string_new(NULL);
            g_autofree char *path = path_of(w, p, o->file);
            o->print(&w->self, p->text, p->predictions, text);
            good = xlm_fields_write(path, text, error);
        }
    return good;
}

/* Can all outputs be written? Called by rank 0 before any work is done. */
static bool check_places(const work *w, GError **error)
{
    g_autoptr(GPtrArray) places = g_ptr_array_new_with_free_func(g_free);
    const char *const named[] = {given.csv, given.chart};
    for (size_t i = 0; i < G_N_ELEMENTS(named); i++)
        if (named[i] != NULL)
            g_ptr_array_add(places, g_strdup(named[i]));
    for (guint k = 0; k < w->outputs->len; k++)
        for (guint i = 0; i < w->tests->len; i++)
            g_ptr_array_add(places, path_of(w, test_at(w, i), g_array_index(w->outputs, output, k).file));
    bool good = true;
    for (guint i = 0; i < places->len && good; i++)
        good = xlm_files_check_output(places->pdata[i], false, error);
    return good && xlm_path_check_outputs((const char *const *)places->pdata, places->len, NULL, 0, error);
}

/* Is there something to score, if a file of scores is asked for? */
static bool check_scores(const work *w, GError **error)
{
    bool any = given.csv == NULL && given.chart == NULL;
    for (guint i = 0; i < w->tests->len && !any; i++)
        any = test_at(w, i)->items.gold > 0;
    return any || xlm_error_set(error, EX_USAGE, "--%s is a file of scores, and no item of the --test files has a label; leave "
                                "it out", given.csv != NULL ? "csv" : "chart");
}

/* By rank 0. */
static bool write_results(const work *w, const char *checkpoint, GError **error)
{
    g_autofree char *title = g_strdup_printf("%s: %s", w->task->loss.name, checkpoint);
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(xlm_task_result));
    for (guint i = 0; i < w->tests->len; i++) {
        const tested *p = test_at(w, i);
        const xlm_task_result result = {xlm_task_source_language(p->set.sources), p->scores};
        if (p->scores != NULL)
            g_array_append_val(all, result);
    }
    if (all->len == 0)
        return write_outputs(w, error);
    const xlm_task_results results = {(const xlm_task_result *)(const void *)all->data, all->len, find_reference(w, all)};
    xlm_task_results_print(&results, stdout);
    return xlm_program_flush(error) &&
           (given.csv == NULL || xlm_fields_write(given.csv, xlm_task_results_csv(&results), error)) &&
           (given.chart == NULL ||
            xlm_fields_write(given.chart, xlm_task_results_chart(&results, title), error)) &&
           write_outputs(w, error);
}

static bool evaluate(const xlm_comm *comm, work *w, const char *checkpoint, GError **error)
{
    xlm_hardware hardware;
    xlm_hardware_open(&hardware, (int)given.threads, comm->local_ranks);
    xlm_rank_kernels_compare(comm, &hardware, xlm_program_precision() != XLM_FLOAT32, xlm_program_precision());
    xlm_tape *tape = xlm_model_file_tape(w->loaded);
    const xlm_predictor predictor = {.comm = comm, .host = w->host, .tape = tape, .task = w->task, .self = &w->self,
                                     .step = w->loaded->step};
    bool good = true;
    for (guint i = 0; i < w->tests->len && good; i++) {
        tested *p = test_at(w, i);
        xlm_measure loss;
        good = xlm_predict(&predictor, p->examples, p->predictions, &loss, error);
        if (!good || comm->rank != 0 || p->items.gold == 0)
            continue;
        p->scores = xlm_task_scores_new();
        w->task->score(&w->self, p->text, p->predictions, p->scores);
        if (p->items.gold == p->items.all)
            g_array_append_val(p->scores->measures, loss);
    }
    if (good) {
        if (comm->rank == 0)
            write_results(w, checkpoint, error);
        good = xlm_comm_agree(comm, error);
    }
    xlm_tape_free(tape);
    return good;
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    work w = {.tests = g_array_new(FALSE, TRUE, sizeof(tested)), .outputs = g_array_new(FALSE, FALSE, sizeof(output))};
    read_options(&argc, &argv, &error);
    xlm_comm comm;
    if (xlm_program_open(program.name, &comm, &argc, &argv, &error) && open_work(&w, argv[1], &error) &&
        check_scores(&w, &error) && comm.rank == 0)
        check_places(&w, &error);
    if (xlm_comm_agree(&comm, &error) && xlm_rank_inputs_check(&comm, "", "CHECKPOINT and --test", w.digest, &error))
        evaluate(&comm, &w, argv[1], &error);
    close_work(&w);
    xlm_program_free_options(option_groups);
    return xlm_comm_close(&comm, error);
}
