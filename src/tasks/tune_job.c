/* xlm-mpi: a fine-tuning job, read from a job file. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/tune_job.h"

#include <string.h>

#include "checkpoint/checkpoint_mean.h"
#include "job/adapters.h"
#include "job/rates.h"
#include "options/options.h"

static const xlm_jobfile_kind kinds[] = {{"tune", false, xlm_training_former_keys}, {"task", true, NULL}, {"adapter", true, NULL},
                                         {NULL, false, NULL}};

#define TUNE(member) offsetof(xlm_tune_config, member)
#define TRAIN(member) TUNE(train.member)
#define OPTIMISER(member) TRAIN(optimiser.member)

static const xlm_option tune_options[] = {
    {"model", XLM_OPTION_TEXT, NULL, 0, 0, NULL, "checkpoint of xlm_train whose encoder, vocabulary and languages are used",
     TUNE(model)},
    {"train", XLM_OPTION_LIST, NULL, 0, 0, NULL,
     "files with labels to learn from, plain or compressed, each FILE or LANG:FILE (en:a.tsv,de:b.tsv); all languages together",
     TUNE(training)},
    {"dev", XLM_OPTION_LIST, NULL, 0, 0, NULL,
     "files with labels by which the best checkpoint is chosen; in several languages, by the mean of their first measures",
     TUNE(development)},
    {"language", XLM_OPTION_TEXT, "", 0, 0, NULL,
     "language of files without LANG:, as the model calls it; models with language embeddings or tokens need to know it", TUNE(language)},
    {"epochs", XLM_OPTION_INT, "10", 1, 1e6, NULL,
     "number of passes over the training files; the steps of a pass are rounded up where batch does not divide the examples",
     TUNE(epochs)},
    {"batch", XLM_OPTION_INT, "32", 1, 1 << 20, NULL, "number of examples in a step, over all ranks", TUNE(batch)},
    {"length", XLM_OPTION_INT, "128", 4, 65536, NULL,
     "maximum number of tokens of an example, including special tokens; longer ones are cut", TUNE(length)},
    {"dropout", XLM_OPTION_REAL, "-1", -1, 0.99, NULL,
     "dropout rate of embeddings, sublayers and attention weights; -1: the model's rates", TUNE(dropout)},
    {"head_dropout", XLM_OPTION_REAL, "-1", -1, 0.99, NULL,
     "dropout rate of the encoder's states before the head of the task; -1: that of the sublayers, but 0 for answering",
     TUNE(head_dropout)},
    {"keep_head", XLM_OPTION_FLAG, "false", 0, 0, NULL,
     "leave the head for words in the checkpoints as it is, so that xlm_train can start from them and xlm_fill read them; false: "
     "leave it out", TUNE(keep_head)},
    XLM_TRAINING_OPTIONS(TRAIN),
    XLM_OPTIMISER_OPTIONS(OPTIMISER, "2e-5"),
    {"warmup", XLM_OPTION_REAL, "0.1", 0, 1e12, NULL,
     "share of the steps in which the learning rate rises, linearly; above 1, their number", TUNE(warmup)},
    {"evaluate_every", XLM_OPTION_INT, "0", 0, 1e12, NULL,
     "steps between two evaluations on the dev files, with a checkpoint each; 0: an epoch",
     TUNE(evaluate_every)},
    {"keep", XLM_OPTION_INT, "1", 1, 1e6, NULL, "number of newest checkpoints that are kept, besides the best one", TRAIN(keep)},
    {"patience", XLM_OPTION_INT, "0", 0, 1e6, NULL,
     "early stopping: number of evaluations in a row without a better score after which the run ends; 0: it continues to its "
     "last step", TUNE(patience)},
    {"average", XLM_OPTION_INT, "0", 0, XLM_CHECKPOINT_MEAN_MAX, NULL,
     "number of evaluated checkpoints whose parameters are averaged at the end, in OUTPUT/average.h5; they are kept too; 0: none",
     TUNE(average)},
    {"average_of", XLM_OPTION_CHOICE, "last", 0, 0, "last|best",
     "which checkpoints are averaged: the last ones, or those with the highest scores on the dev files", TUNE(average_of)},
    XLM_OPTION_END,
};

static bool read_task(xlm_tune_job *job, const xlm_jobfile *file, GError **error)
{
    g_auto(GStrv) names = xlm_jobfile_names(file, "task");
    if (g_strv_length(names) != 1)
        return xlm_error_set(error, EX_CONFIG, "%s: there must be one section [task NAME], as [task %s]; there are %u",
                             xlm_jobfile_path(file), xlm_tasks()[0]->loss.name, g_strv_length(names));
    g_autofree char *section = g_strdup_printf("task %s", names[0]);
    if ((job->task = xlm_task_find(names[0], error)) == NULL) {
        g_autofree char *place = xlm_jobfile_place(file, section, NULL);
        g_prefix_error(error, "%s: ", place);
        return false;
    }
    g_autofree void *state = g_malloc0(job->task->loss.state_size);
    if (!xlm_options_parse(job->task->loss.options, file, section, state, error))
        return false;
    job->state = g_steal_pointer(&state);
    GString *text = g_string_new(NULL);
    xlm_options_print(job->task->loss.options, job->state, text);
    job->task_options = g_string_free(text, FALSE);
    return true;
}

static bool check(const xlm_tune_job *job, const xlm_jobfile *file, GError **error)
{
    const xlm_tune_config *c = &job->config;
    if ((c->train.micro_batches & (c->train.micro_batches - 1)) != 0)
        return xlm_jobfile_refuse(file, "tune", "micro_batches", error, "micro_batches is not a power of two");
    if (c->dropout < 0 && c->dropout != -1)
        return xlm_jobfile_refuse(file, "tune", "dropout", error, "dropout is -1, for the model's, or 0 to 0.99");
    if (c->head_dropout < 0 && c->head_dropout != -1)
        return xlm_jobfile_refuse(file, "tune", "head_dropout", error, "head_dropout is -1, for that of the sublayers, or 0 to "
                                  "0.99");
    if (c->average == 1)
        return xlm_jobfile_refuse(file, "tune", "average", error, "average = 1 is the mean of one checkpoint, which is that "
                                  "checkpoint; take 2 or more, or 0");
    /* The number of layers is not known before the model is read. */
    return xlm_rates_check_freeze(file, "tune", c->train.optimiser.freeze, xlm_job_adapters_learn(&job->adapters), XLM_MAX_LAYERS,
                                  error);
}

/* Scores of a run that was given no option are those of every later version, whatever options that has. g_free. */
static char *print_score_options(const xlm_tune_job *job)
{
    GString *out = g_string_new(NULL);
    for (const xlm_option *o = tune_options; o->name != NULL; o++)
        if (strcmp(o->name, "length") == 0)
            xlm_option_print_changed(o, &job->config, out);
    for (const xlm_option *o = job->task->loss.options; o != NULL && o->name != NULL; o++)
        xlm_option_print_changed(o, job->state, out);
    return g_string_free(out, FALSE);
}

/* The job as a job file with every section and every key. g_free. */
static char *print_job(const xlm_tune_job *job)
{
    GString *out = g_string_new("[tune]\n");
    xlm_options_print(tune_options, &job->config, out);
    xlm_job_adapters_print(&job->adapters, out);
    g_string_append_printf(out, "\n[task %s]\n%s", job->task->loss.name, job->task_options);
    return g_string_free(out, FALSE);
}

/* Takes ownership of the file, which may be NULL: then an error has been set. */
static xlm_tune_job *read_job(xlm_jobfile *file, GError **error)
{
    if (file == NULL)
        return NULL;
    xlm_tune_job *job = g_new0(xlm_tune_job, 1);
    /* Keys that [tune] does not have are as xlm_train has them by default. */
    const bool good = xlm_options_defaults(xlm_train_options, &job->config.train, error) &&
                      xlm_options_parse(tune_options, file, "tune", &job->config, error) &&
                      xlm_job_adapters_read(file, &job->adapters, error) && read_task(job, file, error) &&
                      check(job, file, error);
    xlm_jobfile_free(file);
    if (good) {
        job->text = print_job(job);
        job->score_options = print_score_options(job);
        return job;
    }
    xlm_tune_job_free(job);
    return NULL;
}

xlm_tune_job *xlm_tune_job_load(const char *path, char *const *overrides, GError **error)
{
    return read_job(xlm_jobfile_load(path, kinds, overrides, error), error);
}

char *xlm_tune_job_complete(const xlm_job *job, const char *text)
{
    (void)job;
    xlm_tune_job *other = read_job(xlm_jobfile_parse("job", text, strlen(text), kinds, NULL, NULL), NULL);
    char *complete = other != NULL ? g_steal_pointer(&other->text) : NULL;
    xlm_tune_job_free(other);
    return complete;
}

void xlm_tune_job_free(xlm_tune_job *job)
{
    if (job == NULL)
        return;
    if (job->state != NULL)
        xlm_options_free(job->task->loss.options, job->state);
    g_free(job->state);
    g_free(job->task_options);
    g_free(job->score_options);
    xlm_options_free(tune_options, &job->config);
    g_free(job->text);
    g_free(job);
}

static void help_task(GString *text, const xlm_task *task)
{
    g_string_append_printf(text, "[task %s]\n  %s\n\n", task->loss.name, task->loss.summary);
    xlm_options_help(task->loss.options, text);
}

bool xlm_tune_job_print_help(const char *task, FILE *out, GError **error)
{
    const xlm_task *only = task != NULL ? xlm_task_find(task, error) : NULL;
    if (task != NULL && only == NULL)
        return false;
    g_autoptr(GString) text = g_string_new(NULL);
    if (only != NULL) {
        help_task(text, only);
    } else {
        g_string_append(text, "[tune]\n  the run: model, files, optimiser, reports\n\n");
        xlm_options_help(tune_options, text);
        g_string_append(text,
                        "\n[adapter NAME]\n  small matrices that learn, with the head of the task, while the model stays "
                        "as it is; up to eight of them\n\n");
        xlm_job_adapters_help(text);
        for (const xlm_task *const *each = xlm_tasks(); *each != NULL; each++) {
            g_string_append_c(text, '\n');
            help_task(text, *each);
        }
    }
    fputs(text->str, out);
    return true;
}

void *xlm_task_state_read(const xlm_task *task, const char *source, const char *options, char *const *overrides, GError **error)
{
    static const xlm_jobfile_kind kind[] = {{"task", false, NULL}, {NULL, false, NULL}};
    g_autoptr(GPtrArray) set = g_ptr_array_new_with_free_func(g_free);
    for (; overrides != NULL && *overrides != NULL; overrides++)
        g_ptr_array_add(set, g_strconcat("task.", *overrides, NULL));
    g_ptr_array_add(set, NULL);
    g_autofree char *text = g_strconcat("[task]\n", options, NULL);
    GError *why = NULL;
    xlm_jobfile *file = xlm_jobfile_parse(source, text, strlen(text), kind, (char *const *)set->pdata, &why);
    void *state = file != NULL ? g_malloc0(task->loss.state_size) : NULL;
    if (file != NULL && !xlm_options_parse(task->loss.options, file, "task", state, &why))
        g_clear_pointer(&state, g_free);
    if (state == NULL) {
        if (xlm_error_exit_code(why) != EX_USAGE)
            why->code = EX_DATAERR; /* the options are from a file of data, not from a job file */
        g_propagate_error(error, why);
    }
    xlm_jobfile_free(file);
    return state;
}
