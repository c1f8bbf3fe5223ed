/* xlm-mpi: fine-tuning, a training run on labelled examples. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/tune.h"

#include <string.h>

#include "base/log.h"
#include "base/names.h"
#include "base/rng.h"
#include "job/adapters.h"
#include "job/rank_inputs.h"
#include "job/rates.h"
#include "job/warm_start_model.h"
#include "stream/example_passes.h"
#include "tasks/predict.h"
#include "tasks/sources.h"
#include "tensor/parameters.h"

/* Development text in one language, and the predictions for it. */
typedef struct development {
    const xlm_task_source *source; /* the first of its files */
    void *text;
    xlm_examples *examples;
    double *predictions; /* [predicted rows of all examples x width of the task] */
    xlm_measure loss;    /* of the latest evaluation */
} development;

/* All that a run needs, between reading the job and training. */
typedef struct tuning {
    const xlm_tune_job *job;
    const xlm_task *task;
    xlm_loss self;            /* the task, for its functions that need no model */
    xlm_loaded_model *loaded; /* the checkpoint, without parameters */
    xlm_adapters adapters;    /* the job's, and those of the checkpoint */
    xlm_tokenizer *tokenizer;
    xlm_task_source *training_sources, *development_sources;
    char **languages;         /* of the training files; names are borrowed from the vocabulary. NULL: none in particular */
    xlm_examples *training_examples;
    uint64_t text_digest;     /* of the training files */
    GArray *development;      /* development, one for each language */
    char **labels;
} tuning;

/* ---- files ---- */

static xlm_task_list list_of(const tuning *t, const char *what)
{
    return (xlm_task_list){.vocabulary = t->loaded->vocabulary, .language = t->job->config.language,
                           .needed = xlm_loaded_model_reads_language(t->loaded), .what = what,
                           .how = "language = NAME in [tune]", .exit_code = EX_CONFIG};
}

/* The names of the languages of sources, each once, in their order, then NULL; g_free. NULL: no source has a language. */
static char **languages_of(const xlm_task_source *sources, int64_t n)
{
    GPtrArray *names = g_ptr_array_new();
    for (int64_t i = 0; i < n; i++)
        if (sources[i].name != NULL && !g_ptr_array_find_with_equal_func(names, sources[i].name, g_str_equal, NULL))
            g_ptr_array_add(names, (char *)sources[i].name);
    const bool any = names->len > 0;
    g_ptr_array_add(names, NULL);
    char **all = (char **)g_ptr_array_free(names, FALSE);
    if (!any)
        g_clear_pointer(&all, g_free);
    return all;
}

/* A run that goes on from a checkpoint needs the model that it began with no more. */
static bool read_model(tuning *t, const xlm_run_options *options, GError **error)
{
    const xlm_tune_config *c = &t->job->config;
    GError *why = NULL;
    t->loaded = xlm_model_file_read_header(c->model, &why);
    if (t->loaded == NULL && options->resume != XLM_RESUME_NEVER && xlm_error_exit_code(why) == EX_NOINPUT)
        t->loaded = options->resume == XLM_RESUME_FILE ? xlm_model_file_read_header(options->resume_file, NULL)
                                                       : xlm_warm_start_newest(c->train.output);
    if (t->loaded != NULL)
        g_clear_error(&why);
    else
        g_propagate_error(error, why);
    return t->loaded != NULL;
}

static bool open_model(tuning *t, const xlm_run_options *options, GError **error)
{
    const xlm_tune_config *c = &t->job->config;
    if (!read_model(t, options, error))
        return false;
    const xlm_model_config *model = &t->loaded->config;
    if (c->length > model->positions)
        return xlm_error_set(error, EX_CONFIG,
                             "[tune]: length = %" G_GINT64_FORMAT ", but the model of %s has %" G_GINT64_FORMAT " positions",
                             c->length, c->model, model->positions);
    int language;
    int64_t frozen;
    if (!xlm_rates_read_freeze(c->train.optimiser.freeze, xlm_layers_of(model, XLM_STACK_ENCODER), &frozen, error)) {
        g_prefix_error(error, "[tune]: ");
        return false;
    }
    if (!xlm_job_adapters_join(&model->adapters, &t->adapters, error)) /* says which section */
        return false;
    if (c->keep_head && model->head == XLM_HEAD_NONE)
        return xlm_error_set(error, EX_CONFIG, "[tune]: keep_head = true, but the model of %s has no head for words", c->model);
    return xlm_task_language(t->loaded->vocabulary, c->language, false, NULL, EX_CONFIG, &language, error) &&
           (t->tokenizer = xlm_tokenizer_new(t->loaded->vocabulary, error)) != NULL;
}

/* ---- text ---- */

static bool take_labels(tuning *t, const void *text, GError **error)
{
    xlm_task_state *state = t->self.state;
    t->labels = t->task->labels != NULL ? t->task->labels(&t->self, text, error) : g_new0(char *, 1);
    if (t->labels == NULL)
        return false;
    state->labels = t->labels;
    state->classes = g_strv_length(t->labels);
    return true;
}

/* Make the examples of a text. training: it is the training text, from which the labels are taken; what: for the log. */
static xlm_examples *make_examples(tuning *t, void *text, bool training, const char *what, GError **error)
{
    const xlm_task_encoder encoder = {.tokenizer = t->tokenizer, .length = t->job->config.length, .training = training,
                                      .seed = (uint64_t)t->job->config.train.seed};
    xlm_examples *examples = xlm_examples_new(xlm_vocabulary_specials(t->loaded->vocabulary));
    g_autoptr(GString) description = g_string_new(NULL);
    const bool good = (!training || take_labels(t, text, error)) &&
                      t->task->encode(&t->self, text, &encoder, examples, description, error);
    if (good) {
        xlm_log_info("%s: %s", what, description->str);
        xlm_tokenizer_warn_unknown(t->tokenizer, what);
    } else {
        g_clear_pointer(&examples, xlm_examples_free);
    }
    return examples;
}

static bool open_training(tuning *t, GError **error)
{
    const xlm_tune_config *c = &t->job->config;
    const xlm_task_list list = list_of(t, "[tune] train");
    int64_t n;
    if ((t->training_sources = xlm_task_sources_read(&list, c->training, &n, error)) == NULL)
        return false;
    t->languages = languages_of(t->training_sources, n);
    void *text = t->task->read(&t->self, t->training_sources, n, error);
    if (text == NULL)
        return false;
    t->training_examples = make_examples(t, text, true, "train", error);
    t->task->read_free(text);
    if (t->training_examples == NULL || !xlm_task_sources_digest(t->training_sources, n, &t->text_digest, error))
        return false;
    if (c->batch % xlm_examples_together(t->training_examples) != 0)
        return xlm_error_set(error, EX_CONFIG, "[tune]: batch = %" G_GINT64_FORMAT ", but examples that are made of one pair "
                             "are in one step, so batch must be a multiple of %" G_GINT64_FORMAT, c->batch,
                             xlm_examples_together(t->training_examples));
    if (t->task->labels != NULL) {
        g_autofree char *labels = xlm_names_some(t->labels);
        xlm_log_info("%u labels: %s", g_strv_length(t->labels), labels);
    }
    return true;
}

/* The numbers that are predicted for the development text of one language. */
static int64_t predictions_of(const tuning *t, const xlm_examples *examples)
{
    return xlm_examples_predictions(examples, xlm_examples_count(examples)) * t->task->width(&t->self);
}

/* Open the development files of one language. named: there are several languages. */
static bool open_development_set(tuning *t, const xlm_task_set *set, bool named, GError **error)
{
    g_autofree char *what = named ? g_strconcat("dev ", xlm_task_source_language(set->sources), NULL) : g_strdup("dev");
    development d = {.source = set->sources, .text = t->task->read(&t->self, set->sources, set->n, error)};
    if (d.text != NULL && (d.examples = make_examples(t, d.text, false, what, error)) != NULL)
        d.predictions = g_new(double, predictions_of(t, d.examples));
    g_array_append_val(t->development, d);
    return d.examples != NULL;
}

static bool open_development(tuning *t, GError **error)
{
    const xlm_tune_config *c = &t->job->config;
    const xlm_task_list list = list_of(t, "[tune] dev");
    int64_t n;
    if ((t->development_sources = xlm_task_sources_read(&list, c->development, &n, error)) == NULL)
        return false;
    g_autoptr(GArray) sets = xlm_task_sets(&list, c->development, t->development_sources, n, error);
    bool good = sets != NULL;
    for (guint i = 0; good && i < sets->len; i++)
        good = open_development_set(t, &g_array_index(sets, xlm_task_set, i), sets->len > 1, error);
    return good;
}

static void close_development(tuning *t)
{
    for (guint i = 0; i < t->development->len; i++) {
        development *d = &g_array_index(t->development, development, i);
        if (d->text != NULL)
            t->task->read_free(d->text);
        xlm_examples_free(d->examples);
        g_free(d->predictions);
    }
    g_array_unref(t->development);
}

static void close_tuning(tuning *t)
{
    close_development(t);
    xlm_examples_free(t->training_examples);
    g_free(t->training_sources);
    g_free(t->development_sources);
    g_free(t->languages);
    g_strfreev(t->labels);
    xlm_tokenizer_free(t->tokenizer);
    xlm_model_file_free(t->loaded);
}

/* ---- the job of the run ---- */

/* Make the job that runs. All that it points to is borrowed, so nothing of it is freed. */
static xlm_job make_job(const tuning *t, xlm_job_stream *stream, xlm_job_objective *objective)
{
    const xlm_tune_config *c = &t->job->config;
    const int64_t n = xlm_examples_count(t->training_examples), epoch = (n + c->batch - 1) / c->batch;
    *stream = (xlm_job_stream){.name = (char *)"train"};
    stream->config.batch = c->batch;
    stream->config.length = xlm_examples_longest(t->training_examples);
    *objective = (xlm_job_objective){.name = (char *)t->task->loss.name, .plugin = (char *)t->task->loss.name,
                                     .stream_name = stream->name, .cls = &t->task->loss,
                                     .use.state = t->self.state};
    xlm_job job = {.text = t->job->text, .complete = xlm_tune_job_complete, .model = t->loaded->config, .train = c->train,
                   .streams = 1, .objectives = 1, .stream = stream, .objective = objective};
    job.model.adapters = t->adapters;
    job.model.decoder_layers = 0; /* tasks use only the encoder */
    job.model.share_embeddings = true;
    job.model.language_tokens = false;
    if (c->keep_head)
        job.train.head_frozen = true;
    else
        job.model.head = XLM_HEAD_NONE;
    if (c->dropout >= 0)
        job.model.dropout = job.model.attention_dropout = c->dropout;
    ((xlm_task_state *)t->self.state)->head_dropout =
        c->head_dropout >= 0 ? c->head_dropout : t->task->plain_head ? 0 : job.model.dropout;
    job.train.start = c->model;
    job.train.steps = epoch * c->epochs;
    const double steps = (double)job.train.steps;
    job.train.optimiser.warmup = (int64_t)((c->warmup > 1 ? MIN(c->warmup, steps) : steps * c->warmup) + 0.5);
    job.train.evaluate_every = job.train.checkpoint_every = c->evaluate_every > 0 ? c->evaluate_every : epoch;
    return job;
}

/* ---- development ---- */

static void add_measure(GArray *measures, const xlm_measure *m, const char *language)
{
    const xlm_language_measure measure = {*m, language};
    g_array_append_val(measures, measure);
}

/* The measures of one language: those of the task, and the loss. GArray of xlm_measure; g_array_unref. */
static GArray *measure_set(const tuning *t, const development *d)
{
    xlm_task_scores *scores = xlm_task_scores_new();
    t->task->score(&t->self, d->text, d->predictions, scores);
    g_array_append_val(scores->measures, d->loss);
    GArray *measures = g_array_ref(scores->measures);
    xlm_task_scores_free(scores);
    return measures;
}

/* Let the task set its state by the predictions for all languages. */
static void decide(const tuning *t)
{
    const guint n = t->development->len;
    g_autofree void **texts = g_new(void *, n);
    g_autofree const double **predictions = g_new(const double *, n);
    for (guint i = 0; i < n; i++) {
        texts[i] = g_array_index(t->development, development, i).text;
        predictions[i] = g_array_index(t->development, development, i).predictions;
    }
    xlm_loss self = t->self;
    t->task->decide(&self, n, texts, predictions);
}

static bool measure(void *data, const xlm_workspace *workspace, int64_t step, GArray *measures, GError **error)
{
    const tuning *t = data;
    const xlm_predictor predictor = {.comm = workspace->comm, .host = workspace->host, .tape = workspace->tape, .task = t->task,
                                     .self = &t->self, .step = step};
    const guint languages = t->development->len;
    bool good = true;
    xlm_tape_hold_parameters(workspace->tape, true);
    for (guint i = 0; i < languages && good; i++) {
        development *d = &g_array_index(t->development, development, i);
        good = xlm_predict(&predictor, d->examples, d->predictions, &d->loss, error);
    }
    xlm_tape_hold_parameters(workspace->tape, false);
    if (!good)
        return false;
    if (t->task->decide != NULL)
        decide(t);
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    for (guint i = 0; i < languages; i++)
        g_ptr_array_add(all, measure_set(t, &g_array_index(t->development, development, i)));
    g_autoptr(GArray) means = xlm_task_means(all);
    for (guint k = 0; k < means->len; k++)
        add_measure(measures, &g_array_index(means, xlm_measure, k), NULL);
    for (guint i = 0; languages > 1 && i < languages; i++) {
        const GArray *of_one = all->pdata[i];
        for (guint k = 0; k < of_one->len; k++)
            add_measure(measures, &g_array_index(of_one, xlm_measure, k),
                        xlm_task_source_language(g_array_index(t->development, development, i).source));
    }
    return true;
}

/* The largest size of a pass over development text, of all languages, and the predictions for all of it. */
static xlm_planned_validation largest_passes(const tuning *t)
{
    xlm_planned_size largest = {0};
    uint64_t results = 0;
    for (guint i = 0; i < t->development->len; i++) {
        const xlm_examples *examples = g_array_index(t->development, development, i).examples;
        const xlm_example_run_size run = xlm_examples_largest_run(examples);
        largest.tokens = MAX(largest.tokens, run.tokens);
        largest.sequences = MAX(largest.sequences, run.examples);
        largest.predicted = MAX(largest.predicted, run.predicted);
        largest.length = MAX(largest.length, xlm_examples_longest(examples));
        results += sizeof(double) * (uint64_t)predictions_of(t, examples);
    }
    return (xlm_planned_validation){.size = largest, .visit = xlm_predict_planned, .data = t->task, .results = results};
}

/* The language of files that are given without one to programs that use the model. */
static const char *default_language(const tuning *t)
{
    if (t->job->config.language != NULL)
        return t->job->config.language;
    return t->languages != NULL && t->languages[1] == NULL ? t->languages[0] : "";
}

/* What dev scores depend on. Files are known by their language and name alone: a job may copy them to another directory each time.
 * g_free. */
static char *score_settings(const tuning *t)
{
    const xlm_tune_config *c = &t->job->config;
    GString *settings = g_string_new(NULL);
    for (int64_t i = 0; c->development[i] != NULL; i++) {
        const xlm_task_source *source = &t->development_sources[i];
        g_autofree char *name = g_path_get_basename(source->path);
        g_string_append_printf(settings, "%s:%s\n", xlm_task_source_language(source), name);
    }
    g_string_append(settings, t->job->score_options);
    return g_string_free(settings, FALSE);
}

static bool train(tuning *t, const xlm_comm *comm, const xlm_run_options *options, bool *interrupted, GError **error)
{
    const xlm_tune_config *c = &t->job->config;
    const xlm_task_source *dev = g_array_index(t->development, development, 0).source;
    const xlm_model_task task = {
        .name = (char *)t->task->loss.name, .language = (char *)default_language(t), .languages = t->languages,
        .length = c->length, .options = t->job->task_options, .labels = t->labels,
        .sentences = ((const xlm_task_state *)t->self.state)->sentences,
    };
    const xlm_training_data data = {
        .vocabulary = t->loaded->vocabulary, .digest = xlm_corpus_digest_of(t->loaded->vocabulary),
        .text_digest = t->text_digest, .input = xlm_stream_labelled(t->training_examples), .task = &task,
        .validation = largest_passes(t),
    };
    g_autofree char *settings = score_settings(t);
    const xlm_validation validation = {
        .measure = measure, .data = t, .split = "dev", .state = XLM_CHECKPOINT_BEST, .of = XLM_CHECKPOINT_BEST_OF,
        .from = XLM_CHECKPOINT_FROM_BEST, .settings = settings, .older = true,
        .language = t->development->len > 1 ? XLM_MEAN_LANGUAGE : dev->name != NULL ? dev->name : "",
        .patience = c->patience, .average = c->average, .average_best = c->average_of == XLM_AVERAGE_BEST,
    };
    xlm_job_stream stream;
    xlm_job_objective objective;
    const xlm_job job = make_job(t, &stream, &objective);
    /* Said before memory is checked, for a run that does not fit here too: jobs/grid reads it. */
    xlm_log_info("steps: %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " an epoch", job.train.steps, job.train.steps / c->epochs);
    xlm_run_options all = *options;
    all.validation = &validation;
    return xlm_run(comm, &job, &data, &all, interrupted, error);
}

/* A digest of what all ranks must have read: the vocabulary of the model, the training text, the labels, and the numbers of
 * examples. */
static uint64_t digest_of(const tuning *t)
{
    uint64_t digest = xlm_corpus_digest_of(t->loaded->vocabulary);
    const int64_t sizes[] = {xlm_parameters_elements(t->loaded->parameters), xlm_examples_count(t->training_examples),
                             xlm_examples_longest(t->training_examples)};
    digest = xlm_digest(sizes, sizeof sizes, digest);
    digest = xlm_digest(&t->text_digest, sizeof t->text_digest, digest);
    for (char **label = t->labels; label != NULL && *label != NULL; label++)
        digest = xlm_digest(*label, strlen(*label) + 1, digest);
    for (guint i = 0; i < t->development->len; i++) {
        const int64_t predictions = predictions_of(t, g_array_index(t->development, development, i).examples);
        digest = xlm_digest(&predictions, sizeof predictions, digest);
    }
    return digest;
}

bool xlm_tune(const xlm_comm *comm, xlm_tune_job *job, const xlm_run_options *options, bool *interrupted, GError **error)
{
    const xlm_loss_class *cls = &job->task->loss;
    tuning t = {.job = job, .task = job->task, .self = {.cls = cls, .name = cls->name, .state = job->state},
                .adapters = job->adapters};
    t.development = g_array_new(FALSE, TRUE, sizeof(development));
    GError *failure = NULL;
    if (open_model(&t, options, &failure) && open_training(&t, &failure))
        open_development(&t, &failure);
    const bool good = xlm_comm_agree_on(comm, failure, error) &&
                      xlm_rank_inputs_check(comm, job->text, "model, train and dev of [tune]", digest_of(&t), error) &&
                      train(&t, comm, options, interrupted, error);
    close_tuning(&t);
    return good;
}
