/* xlm-mpi: fine-tuning, a training run on labelled examples. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/tune.h"

#include <string.h>

#include "base/log.h"
#include "stream/example_passes.h"
#include "tasks/predict.h"

/* All that a run needs, between reading the job and training. */
typedef struct tuning {
    const xlm_tune_job *job;
    const xlm_task *task;
    xlm_loss self;            /* the task, for its functions that need no model */
    xlm_loaded_model *loaded; /* of the checkpoint, without parameters */
    xlm_tokenizer *tokenizer;
    int language;             /* id; -1: none in particular */
    xlm_task_source *training_sources, *development_sources;
    void *development;        /* text */
    xlm_examples *training_examples, *development_examples;
    char **labels;
    double *predictions; /* of the development examples */
} tuning;

bool xlm_task_language(const xlm_vocabulary *vocabulary, const char *name, bool needed, const char *how, int exit_code,
                       int *language, GError **error)
{
    *language = name != NULL ? xlm_vocabulary_find_language(vocabulary, name) : -1;
    if (*language >= 0 || (name == NULL && !needed))
        return true;
    char *known = g_strjoinv(", ", (char **)xlm_vocabulary_language_names(vocabulary));
    if (name != NULL)
        xlm_error_set(error, exit_code, "the model has no language \"%s\"; it has %s", name, known);
    else
        xlm_error_set(error, exit_code, "the model has language embeddings; say %s (one of %s)", how, known);
    g_free(known);
    return false;
}

/* ---- text ---- */

static int64_t all_predictions(const xlm_examples *examples)
{
    return xlm_examples_predictions(examples, xlm_examples_count(examples));
}

/* Files in the language of [tune]. */
static xlm_task_source *make_sources(const tuning *t, char *const *paths)
{
    xlm_task_source *sources = g_new(xlm_task_source, g_strv_length((char **)paths));
    for (int64_t i = 0; paths[i] != NULL; i++)
        sources[i] = (xlm_task_source){t->language, t->job->config.language, paths[i]};
    return sources;
}

/* Examples of files; the first are the training files, which have the labels. *text: NULL, or what was read. */
static xlm_examples *make_examples(tuning *t, const xlm_task_source *sources, int64_t n, const char *what, void **text,
                                   GError **error)
{
    void *read = t->task->read(&t->self, sources, n, error);
    if (read == NULL)
        return NULL;
    const xlm_task_encoder encoder = {.tokenizer = t->tokenizer, .length = t->job->config.length,
                                      .training = t->labels == NULL, .seed = (uint64_t)t->job->config.train.seed};
    xlm_task_state *state = t->self.state;
    xlm_examples *examples = xlm_examples_new(xlm_vocabulary_specials(t->loaded->vocabulary));
    GString *description = g_string_new(NULL);
    bool good = true;
    if (t->labels == NULL) {
        t->labels = t->task->labels != NULL ? t->task->labels(&t->self, read, error) : g_new0(char *, 1);
        good = t->labels != NULL;
        state->labels = t->labels;
        state->classes = good ? g_strv_length(t->labels) : 0;
    }
    good = good && t->task->encode(&t->self, read, &encoder, examples, description, error);
    if (good)
        xlm_log_info("%s: %s", what, description->str);
    g_string_free(description, TRUE);
    if (!good)
        g_clear_pointer(&examples, xlm_examples_free);
    if (good && text != NULL)
        *text = read;
    else
        t->task->read_free(read);
    return examples;
}

static bool open_model(tuning *t, GError **error)
{
    const xlm_tune_config *c = &t->job->config;
    if ((t->loaded = xlm_model_file_read_header(c->model, error)) == NULL)
        return false;
    const xlm_model_config *model = &t->loaded->config;
    if (c->length > model->positions)
        return xlm_error_set(error, EX_CONFIG,
                             "[tune]: length = %" G_GINT64_FORMAT ", but the model of %s has %" G_GINT64_FORMAT " positions",
                             c->length, c->model, model->positions);
    return xlm_task_language(t->loaded->vocabulary, c->language, model->language_embeddings, "language = NAME in [tune]",
                             EX_CONFIG, &t->language, error) &&
           (t->tokenizer = xlm_tokenizer_new(t->loaded->vocabulary, error)) != NULL;
}

static bool open_text(tuning *t, GError **error)
{
    const xlm_tune_config *c = &t->job->config;
    t->training_sources = make_sources(t, c->training);
    t->development_sources = make_sources(t, c->development);
    t->training_examples = make_examples(t, t->training_sources, g_strv_length(c->training), "train", NULL, error);
    if (t->training_examples == NULL)
        return false;
    t->development_examples = make_examples(t, t->development_sources, g_strv_length(c->development), "dev",
                                            &t->development, error);
    if (t->development_examples == NULL)
        return false;
    if (t->task->labels != NULL) {
        char *labels = g_strjoinv(", ", t->labels);
        xlm_log_info("%u labels: %s", g_strv_length(t->labels), labels);
        g_free(labels);
    }
    t->predictions = g_new(double, all_predictions(t->development_examples) * t->task->width(&t->self));
    return true;
}

static void close_tuning(tuning *t)
{
    g_free(t->predictions);
    if (t->development != NULL)
        t->task->read_free(t->development);
    xlm_examples_free(t->training_examples);
    xlm_examples_free(t->development_examples);
    g_free(t->training_sources);
    g_free(t->development_sources);
    g_strfreev(t->labels);
    xlm_tokenizer_free(t->tokenizer);
    xlm_model_file_free(t->loaded);
}

/* ---- the job of the run ---- */

/* Its texts and states belong to the tuning's job: only the arrays and names made here are freed. */
static xlm_job make_job(const tuning *t, xlm_job_stream *stream, xlm_job_objective *objective)
{
    const xlm_tune_config *c = &t->job->config;
    const int64_t n = xlm_examples_count(t->training_examples), epoch = (n + c->batch - 1) / c->batch;
    *stream = (xlm_job_stream){.name = (char *)"train"};
    stream->config.batch = c->batch;
    stream->config.length = xlm_examples_longest(t->training_examples);
    *objective = (xlm_job_objective){.name = (char *)t->task->loss.name, .plugin = (char *)t->task->loss.name,
                                     .stream_name = stream->name, .weight = 1, .cls = &t->task->loss,
                                     .state = t->self.state};
    xlm_job job = {.text = t->job->text, .complete = xlm_tune_job_complete, .model = t->loaded->config, .train = c->train,
                   .streams = 1, .objectives = 1, .stream = stream, .objective = objective};
    job.model.head = XLM_HEAD_NONE;
    if (c->dropout >= 0)
        job.model.dropout = job.model.attention_dropout = c->dropout;
    job.train.start = c->model;
    job.train.steps = epoch * c->epochs;
    job.train.optimiser.warmup = (int64_t)((double)job.train.steps * c->warmup + 0.5);
    job.train.evaluate_every = job.train.checkpoint_every = c->evaluate_every > 0 ? c->evaluate_every : epoch;
    return job;
}

static bool measure(void *data, const xlm_workspace *workspace, int64_t step, GArray *measures, GError **error)
{
    const tuning *t = data;
    const xlm_predictor predictor = {.comm = workspace->comm, .host = workspace->host, .tape = workspace->tape, .task = t->task,
                                     .self = &t->self, .step = step};
    xlm_measure loss;
    if (!xlm_predict(&predictor, t->development_examples, t->predictions, &loss, error))
        return false;
    xlm_task_scores *scores = xlm_task_scores_new();
    t->task->score(&t->self, t->development, t->predictions, scores);
    g_array_append_vals(measures, scores->measures->data, scores->measures->len);
    g_array_append_val(measures, loss);
    xlm_task_scores_free(scores);
    return true;
}

static bool train(tuning *t, const xlm_comm *comm, const xlm_run_options *options, bool *interrupted, GError **error)
{
    const xlm_tune_config *c = &t->job->config;
    const xlm_model_task task = {
        .name = (char *)t->task->loss.name, .language = c->language != NULL ? c->language : (char *)"", .length = c->length,
        .options = t->job->task_options, .labels = t->labels,
    };
    const xlm_example_run_size largest = xlm_examples_largest_run(t->development_examples);
    const xlm_training_data data = {
        .vocabulary = t->loaded->vocabulary, .digest = xlm_corpus_digest_of(t->loaded->vocabulary),
        .input = xlm_stream_labelled(t->training_examples), .task = &task,
        .validation = {.tokens = largest.tokens, .sequences = largest.examples, .predicted = largest.predicted,
                       .length = xlm_examples_longest(t->development_examples), .forward = true},
    };
    const xlm_validation validation = {.measure = measure, .data = t, .split = "dev", .language = task.language};
    xlm_job_stream stream;
    xlm_job_objective objective;
    const xlm_job job = make_job(t, &stream, &objective);
    xlm_run_options all = *options;
    all.validation = &validation;
    return xlm_run(comm, &job, &data, &all, interrupted, error);
}

bool xlm_tune(const xlm_comm *comm, xlm_tune_job *job, const xlm_run_options *options, bool *interrupted, GError **error)
{
    const xlm_loss_class *cls = &job->task->loss;
    tuning t = {.job = job, .task = job->task, .self = {.cls = cls, .name = cls->name, .state = job->state}};
    GError *failure = NULL;
    if (open_model(&t, &failure))
        open_text(&t, &failure);
    const bool good = xlm_comm_agree_on(comm, failure, error) && train(&t, comm, options, interrupted, error);
    close_tuning(&t);
    return good;
}
