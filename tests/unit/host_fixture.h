/* xlm-mpi: objectives in a host, as the trainer has them, in double precision. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     struct hosted_job job = {.batch = &batch, .stream = {.name = "text"}};
 *     add_objective(&job, "mlm", &xlm_loss_mlm, NULL);
 *     open_job(&job);
 *     check_gradients_of(&job);
 *     close_job(&job); */
#ifndef XLM_TESTS_HOST_FIXTURE_H
#define XLM_TESTS_HOST_FIXTURE_H

#include "batch_fixture.h"
#include "gradient.h"

#include "nn/model.h"
#include "objective/differences.h"
#include "objective/host.h"
#include "objective/views.h"
#include "options/options.h"

enum { MAX_OBJECTIVES = 4 };

struct hosted_job {
    const xlm_batch *batch;    /* of the stream; NULL: the objectives read none */
    xlm_loss_stream stream;    /* name NULL: there is none */
    bool languages;            /* the model has language embeddings */
    int model_languages;       /* aa, bb, cc; 0: 2 of them */
    int decoder_layers;
    bool untold;               /* without language embeddings, the decoder has no token of the language either */
    bool own_embeddings;       /* the decoder has its own, and its own head */
    int positions;             /* of the model; 0: 7 */
    bool no_biases;            /* of linear layers and norms */
    xlm_activation activation; /* 0: GELU */
    const xlm_resource_reader *const *readers;
    int objectives;
    xlm_objective_spec objective[MAX_OBJECTIVES];

    xlm_model_config config;
    xlm_parameters *parameters;
    xlm_model *model;
    xlm_resources *resources;
    xlm_host *host;
    xlm_tape *tape;
    xlm_arena *arena;
    char message[300];         /* why it was refused */
};

/* options: "key=value", ..., NULL, or NULL for none. */
static inline void add_objective(struct hosted_job *job, const char *name, const xlm_loss_class *cls, const char *const *options)
{
    GError *error = NULL;
    void *state = g_malloc0(MAX(cls->state_size, 1));
    if (cls->options != NULL)
        for (const xlm_option *o = cls->options; o->name != NULL; o++)
            if (o->default_value != NULL)
                assert_true(xlm_option_set(o, o->default_value, state, &error));
    for (; options != NULL && *options != NULL; options++) {
        char **pair = g_strsplit(*options, "=", 2);
        for (const xlm_option *o = cls->options; o->name != NULL; o++)
            if (strcmp(o->name, pair[0]) == 0)
                assert_true(xlm_option_set(o, pair[1], state, &error));
        g_strfreev(pair);
    }
    job->objective[job->objectives++] = (xlm_objective_spec){.name = name, .cls = cls, .state = state,
                                                             .stream = job->stream.name != NULL ? 0 : -1};
}

static const char *const job_languages[] = {"aa", "bb", "cc"};

/* Two layers of 6 numbers; false, with job->message, when an objective refuses. */
static inline bool open_job(struct hosted_job *job)
{
    static const xlm_resource_reader *const none[] = {NULL};
    xlm_model_config *c = &job->config;
    assert_true(xlm_options_defaults(xlm_model_options, c, NULL));
    c->layers = 2, c->hidden_size = 6, c->attention_heads = 2, c->feed_forward_size = 7, c->vocabulary = V,
    c->languages = job->model_languages > 0 ? job->model_languages : 2, c->language_embeddings = job->languages,
    c->vocabulary_chunk = 3, c->decoder_layers = job->decoder_layers,
    c->positions = job->positions > 0 ? job->positions : 7, c->share_embeddings = !job->own_embeddings,
    c->language_tokens = !job->languages && !job->untold && job->decoder_layers > 0,
    c->norm_biases = c->linear_biases = !job->no_biases, c->activation = job->activation,
    c->dropout = c->attention_dropout = 0;
    assert_true(xlm_model_check(c, NULL));
    job->parameters = xlm_parameters_new();
    job->model = xlm_model_new(c, job->parameters);
    job->resources = xlm_resources_new(job->readers != NULL ? job->readers : none, &(xlm_resource_origin){0});
    const xlm_host_setup setup = {
        .model = job->model,
        /* Not &job->config: a job may be copied when the function that opens it returns. */
        .about = {.model = xlm_model_get_config(job->model), .specials = &xlm_own_special_tokens,
                  .languages = job_languages, .seed = GRADIENT_SEED},
        .resources = job->resources,
        .streams = job->stream.name != NULL, .stream = &job->stream, .objectives = job->objectives, .objective = job->objective,
    };
    GError *error = NULL;
    job->host = xlm_host_open(&setup, job->parameters, &error);
    if (job->host == NULL) {
        g_strlcpy(job->message, error->message, sizeof job->message);
        g_clear_error(&error);
        return false;
    }
    xlm_parameters_seal(job->parameters);
    for (int64_t i = 0; i < xlm_parameters_size(job->parameters); i++)
        xlm_parameters_values(job->parameters)[i] = 0.7 * gradient_number(7, i);
    job->tape = xlm_tape_new(job->parameters);
    job->arena = xlm_arena_new();
    return true;
}

static inline void close_job(struct hosted_job *job)
{
    xlm_host_close(job->host);
    xlm_resources_free(job->resources);
    xlm_arena_free(job->arena);
    xlm_tape_free(job->tape);
    xlm_model_free(job->model);
    xlm_parameters_free(job->parameters);
    for (int k = 0; k < job->objectives; k++)
        g_free(job->objective[k].state);
}

/* The job is refused, with these words in the message; closes it. */
static inline void refuse_job(struct hosted_job *job, const char *message)
{
    assert_false(open_job(job));
    if (strstr(job->message, message) == NULL)
        fail_msg("no '%s' in: %s", message, job->message);
    close_job(job);
}

static inline xlm_pass_input job_input(struct hosted_job *job, int64_t part, int64_t parts)
{
    xlm_pass_input input = {.stream = job->stream.name != NULL ? 0 : -1, .batch = job->batch, .part = part, .parts = parts,
                            .step = GRADIENT_STEP, .only = -1};
    xlm_host_count(job->host, &input, job->arena);
    return input;
}

/* Labels that need no average. */
static inline void label_job(struct hosted_job *job, xlm_pass_input *input)
{
    xlm_tape_begin(job->tape, NULL, true, GRADIENT_SEED, GRADIENT_STEP);
    xlm_host_label(job->host, job->tape, input, -1, NULL);
}

/* Labels of the input, with averages that are `factor` times the parameters. */
static inline void label_job_averaged(struct hosted_job *job, xlm_pass_input *input, double factor)
{
    const int64_t n = xlm_parameters_size(job->parameters);
    double *averaged = g_new(double, n);
    for (int64_t i = 0; i < n; i++)
        averaged[i] = factor * xlm_parameters_values(job->parameters)[i];
    for (int average = -1; average < xlm_host_averages(job->host); average++)
        if (xlm_host_has_labels(job->host, average)) {
            xlm_tape_begin(job->tape, NULL, true, GRADIENT_SEED, GRADIENT_STEP);
            xlm_host_label(job->host, job->tape, input, average, average < 0 ? NULL : averaged);
        }
    g_free(averaged);
}

/* The hooks of the objectives after an update: what they have published since xlm_host_begin_step is handed out. */
static inline void finish_job_step(struct hosted_job *job, int64_t step)
{
    GByteArray *published[MAX_OBJECTIVES] = {NULL};
    for (int k = 0; k < job->objectives; k++) {
        size_t bytes;
        const void *own = xlm_host_published(job->host, k, &bytes);
        published[k] = g_byte_array_new();
        g_byte_array_append(published[k], own, (guint)bytes);
    }
    xlm_host_finish_step(job->host, step, published);
    for (int k = 0; k < job->objectives; k++)
        g_byte_array_unref(published[k]);
}

static inline xlm_differences differences_of(struct hosted_job *job, const xlm_pass_input *input)
{
    return (xlm_differences){job->host, job->parameters, job->tape, input, GRADIENT_SEED};
}

/* Σ_k mean of objective k; its gradient too when that is not NULL. */
static inline double run_job(struct hosted_job *job, const xlm_pass_input *input, double *gradient, const xlm_host_outputs *outputs)
{
    const xlm_differences d = differences_of(job, input);
    return xlm_differences_pass(&d, gradient, outputs);
}

/* The gradient of every parameter, those of the objectives included, against differences of fourth order. */
static inline void check_gradients_of(struct hosted_job *job, const xlm_pass_input *input)
{
    const xlm_differences d = differences_of(job, input);
    GError *error = NULL;
    if (!xlm_differences_check(&d, NULL, NULL, &error))
        fail_msg("%s", error->message);
}

/* The terms of a metric of the first objective in a pass, and their sum. */
static inline void check_metric(struct hosted_job *job, const xlm_pass_input *input, const char *name, double sum, double count)
{
    xlm_sums sums = xlm_host_sums_new(job->host);
    const GPtrArray *names = xlm_host_metric_names(job->host, 0);
    guint at = 0;
    while (at < names->len && strcmp(names->pdata[at], name) != 0)
        at++;
    assert_true(at < names->len);
    xlm_tape_begin(job->tape, NULL, true, GRADIENT_SEED, GRADIENT_STEP);
    xlm_host_run(job->host, job->tape, input, NULL, &sums, NULL);
    const xlm_metric_sum metric = xlm_host_metric_sums(job->host, &sums, 0)[at];
    if (metric.sum != sum || metric.count != count)
        fail_msg("%s: %g of %g, not %g of %g", name, metric.sum, metric.count, sum, count);
    xlm_sums_free(&sums);
}

#endif
