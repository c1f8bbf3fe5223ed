/* xlm-mpi: a training run: opening what it needs. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/trainer.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/pages.h"
#include "objective/readers.h"
#include "train/hooks.h"

int64_t xlm_job_micro_batches(const xlm_job *job, int ranks)
{
    int64_t g = job->train.micro_batches;
    while (g < ranks)
        g *= 2;
    return g;
}

static void open_held_out(xlm_trainer *t, int s)
{
    const xlm_job_stream *stream = &t->job->stream[s];
    GError *why = NULL;
    if (!t->data->input.source->source.held_out)
        return; /* examples are validated otherwise (train/run.h) */
    t->held_out[s] = xlm_stream_open(t->data->input, XLM_HELD_OUT, stream->name, s, &stream->config,
                                     (uint64_t)t->job->train.seed, &why);
    if (t->held_out[s] == NULL)
        xlm_log_warn("stream %s is not evaluated: %s", stream->name, why->message);
    g_clear_error(&why);
}

static bool open_streams(xlm_trainer *t, GError **error)
{
    const int n = t->job->streams;
    t->stream = g_new0(xlm_stream *, MAX(n, 1));
    t->held_out = g_new0(xlm_stream *, MAX(n, 1));
    for (int s = 0; s < n; s++) {
        const xlm_job_stream *stream = &t->job->stream[s];
        t->stream[s] = xlm_stream_open(t->data->input, XLM_TRAIN, stream->name, s, &stream->config, (uint64_t)t->job->train.seed,
                                       error);
        if (t->stream[s] == NULL)
            return false;
        if (xlm_stream_positions(t->stream[s]) > t->config.positions)
            return xlm_error_set(error, EX_CONFIG, "[stream %s]: length = %" G_GINT64_FORMAT
                                 ", but the model has positions = %" G_GINT64_FORMAT, stream->name,
                                 xlm_stream_positions(t->stream[s]), t->config.positions);
        char *description = xlm_stream_describe(t->stream[s]);
        xlm_log_info("stream %s: %s", stream->name, description);
        g_free(description);
        open_held_out(t, s);
    }
    return true;
}

static bool open_objectives(xlm_trainer *t, GError **error)
{
    const xlm_job *job = t->job;
    const xlm_vocabulary *vocabulary = t->data->vocabulary;
    xlm_loss_stream *stream = g_new0(xlm_loss_stream, MAX(job->streams, 1));
    xlm_objective_spec *objective = g_new0(xlm_objective_spec, MAX(job->objectives, 1));
    for (int s = 0; s < job->streams; s++) {
        stream[s] = (xlm_loss_stream){
            .name = job->stream[s].name, .parallel = xlm_stream_has_pairs(t->stream[s]),
            .mask = xlm_stream_predicted_share(t->stream[s]),
            .switching = xlm_stream_config_real(&job->stream[s].config, "switching"),
            .dictionary = xlm_stream_dictionary(t->stream[s]),
        };
    }
    for (int k = 0; k < job->objectives; k++) {
        const xlm_job_objective *o = &job->objective[k];
        objective[k] = (xlm_objective_spec){.name = o->name, .cls = o->cls, .state = o->state, .stream = o->stream,
                                            .weight = o->weight, .begin = o->begin};
    }
    const xlm_resource_origin origin = {.vocabulary = vocabulary, .digest = t->data->digest};
    t->resources = xlm_resources_new(xlm_resource_readers, &origin);
    const xlm_host_setup setup = {
        .model = t->model,
        .about = {
            .model = &t->config,
            .words = xlm_vocabulary_words(vocabulary),
            .counts = xlm_vocabulary_counts(vocabulary),
            .specials = xlm_vocabulary_specials(vocabulary),
            .languages = xlm_vocabulary_language_names(vocabulary),
            .seed = (uint64_t)job->train.seed,
            .steps = job->train.steps,
        },
        .resources = t->resources,
        .streams = job->streams, .stream = stream,
        .objectives = job->objectives, .objective = objective,
    };
    t->host = xlm_host_open(&setup, t->parameters, error);
    g_free(stream);
    g_free(objective);
    if (t->host == NULL)
        return false;
    int states;
    const xlm_saved_state *state = xlm_host_states(t->host, &states);
    g_array_append_vals(t->kept, state, (guint)states);
    return true;
}

static bool open_rank(xlm_trainer *t, GError **error)
{
    const xlm_vocabulary *vocabulary = t->data->vocabulary;
    t->config = t->job->model;
    t->config.vocabulary = xlm_vocabulary_size(vocabulary);
    t->config.languages = xlm_vocabulary_languages(vocabulary);
    if (!xlm_model_check(&t->config, error)) {
        g_prefix_error(error, "[model]: ");
        return false;
    }
    t->parameters = xlm_parameters_new();
    t->model = xlm_model_new(&t->config, t->parameters);
    return open_streams(t, error) && open_objectives(t, error);
}

xlm_trainer *xlm_trainer_open(const xlm_comm *comm, const xlm_job *job, const xlm_training_data *data, GError **error)
{
    xlm_trainer *t = g_new0(xlm_trainer, 1);
    t->comm = comm;
    t->job = job;
    t->data = data;
    t->micro_batches = xlm_job_micro_batches(job, comm->ranks);
    t->kept = g_array_new(FALSE, FALSE, sizeof(xlm_saved_state));
    if (t->micro_batches != job->train.micro_batches)
        xlm_log_info("micro_batches: %" G_GINT64_FORMAT " instead of %" G_GINT64_FORMAT ", one for each rank: losses agree with runs "
                     "on fewer ranks to rounding, not to the bit", t->micro_batches, job->train.micro_batches);
    else if ((comm->ranks & (comm->ranks - 1)) != 0 && job->train.reproducible)
        xlm_log_info("ranks: %d is not a power of two: losses agree with runs on other numbers of ranks to rounding, not to the "
                     "bit", comm->ranks);
    GError *failure = NULL;
    open_rank(t, &failure);
    if (xlm_comm_agree_on(comm, failure, error))
        return t;
    xlm_trainer_close(t);
    return NULL;
}

int xlm_trainer_gradient_buffers(const xlm_train_config *config, int64_t micro_batches, int ranks)
{
    if (!config->reproducible)
        return 1;
    const int64_t own = (micro_batches + ranks - 1) / ranks;
    int buffers = 1;
    for (int64_t k = own; k > 1; k /= 2)
        buffers++;
    return buffers;
}

void xlm_trainer_keep_best(xlm_trainer *trainer)
{
    const xlm_saved_state best = {XLM_CHECKPOINT_BEST, XLM_STATE_F64, trainer->best, G_N_ELEMENTS(trainer->best)};
    g_array_append_val(trainer->kept, best);
}

void xlm_trainer_allocate(xlm_trainer *trainer)
{
    xlm_trainer *t = trainer;
    xlm_parameters_seal(t->parameters);
    xlm_parameters_initialise(t->parameters, (uint64_t)t->job->train.seed);
    t->shards = xlm_shards_of(t->comm, xlm_parameters_size(t->parameters));
    t->reduce_scatter = xlm_reduce_scatter_new(&t->shards, t->job->train.reproducible);
    t->optimiser = xlm_optimiser_new(&t->job->train.optimiser, t->parameters, &t->shards);
    t->averages = xlm_averages_new(t->host, t->parameters, &t->shards);
    t->tape = xlm_tape_new(t->parameters);
    xlm_tape_recompute(t->tape, t->job->train.recompute);
    const uint64_t pass = xlm_trainer_memory(t, t->comm->ranks).pass;
    xlm_tape_reserve(t->tape, pass + pass / 8); /* an objective may take more than was estimated */
    t->arena = xlm_arena_new();
    t->buffers = xlm_trainer_gradient_buffers(&t->job->train, t->micro_batches, t->comm->ranks);
    t->buffer = g_new(float *, t->buffers);
    const size_t bytes = sizeof(float) * (size_t)xlm_parameters_size(t->parameters);
    for (int b = 0; b < t->buffers; b++) {
        t->buffer[b] = xlm_pages_take(bytes, "gradients");
        xlm_pages_keep_from_children(t->buffer[b], bytes, true);
    }
}

void xlm_trainer_label(xlm_trainer *trainer, xlm_pass_input *input, int64_t n, bool training)
{
    xlm_make_labels(&(xlm_label_setup){.host = trainer->host, .tape = trainer->tape, .averages = trainer->averages,
                                       .scratch = trainer->buffer[0], .training = training,
                                       .seed = (uint64_t)trainer->job->train.seed, .step = (uint64_t)trainer->step},
                    input, n);
}

void xlm_trainer_profile(xlm_trainer *trainer) { trainer->profile = xlm_profile_new(); }

void xlm_trainer_close(xlm_trainer *trainer)
{
    xlm_trainer *t = trainer;
    if (t == NULL)
        return;
    xlm_host_close(t->host);
    xlm_resources_free(t->resources);
    for (int b = 0; b < t->buffers; b++) {
        xlm_pages_keep_from_children(t->buffer[b], sizeof(float) * (size_t)xlm_parameters_size(t->parameters), false);
        free(t->buffer[b]);
    }
    g_free(t->buffer);
    xlm_arena_free(t->arena);
    xlm_tape_free(t->tape);
    xlm_profile_free(t->profile);
    xlm_optimiser_free(t->optimiser);
    xlm_reduce_scatter_free(t->reduce_scatter);
    xlm_averages_free(t->averages);
    xlm_model_free(t->model);
    xlm_parameters_free(t->parameters);
    for (int s = 0; t->stream != NULL && s < t->job->streams; s++) {
        xlm_stream_close(t->stream[s]);
        xlm_stream_close(t->held_out[s]);
    }
    g_array_unref(t->kept);
    g_free(t->stream);
    g_free(t->held_out);
    xlm_start_record_clear(&t->start);
    g_free(t);
}

xlm_run_state xlm_trainer_state(xlm_trainer *trainer)
{
    return (xlm_run_state){
        .model = &trainer->config,
        .parameters = trainer->parameters,
        .shards = &trainer->shards,
        .scratch = trainer->buffer[0],
        .first_moment = trainer->optimiser->first_moment,
        .second_moment = trainer->optimiser->second_moment,
        .optimiser = trainer->optimiser->name,
        .step = trainer->step,
        .seed = (uint64_t)trainer->job->train.seed,
        .corpus_digest = trainer->data->digest,
        .job_text = trainer->job->text,
        .vocabulary = trainer->data->vocabulary,
        .task = trainer->data->task,
        .best = (int64_t)trainer->best[1],
        .start = &trainer->start,
        .kept = (int)trainer->kept->len,
        .keep = (xlm_saved_state *)trainer->kept->data,
        .averages = trainer->averages->n,
        .average = trainer->averages->average,
    };
}
