/* xlm-mpi: the engine of a training run: opening what it needs. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/engine_internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/pages.h"
#include "job/rates.h"
#include "job/translation_pairs.h"
#include "objective/readers.h"
#include "stream/batch_sizes.h"
#include "stream/selection.h"

static void warn_of_idle(const xlm_job_objective *o, int64_t steps)
{
    if (o->weight.begin >= steps)
        xlm_log_warn("[objective %s]: begin = %" G_GINT64_FORMAT ", and the run has %" G_GINT64_FORMAT
                     " steps, so it never takes part", o->name, o->weight.begin, steps);
    else
        xlm_log_warn("[objective %s]: its weight is 0 in every step of the run, so it never takes part", o->name);
}

static bool open_objectives(xlm_engine *e, const xlm_training_data *data, GError **error)
{
    const xlm_job *job = e->job;
    const xlm_vocabulary *vocabulary = data->vocabulary;
    g_autofree xlm_loss_stream *stream = g_new0(xlm_loss_stream, MAX(job->streams, 1));
    g_autofree xlm_objective_spec *objective = g_new0(xlm_objective_spec, MAX(job->objectives, 1));
    for (int s = 0; s < job->streams; s++) {
        stream[s] = (xlm_loss_stream){
            .name = job->stream[s].name, .components = xlm_stream_component_names(e->streams.training[s]),
            .batch = job->stream[s].config.batch,
            .parallel = xlm_stream_has_pairs(e->streams.training[s]),
            .noise = xlm_stream_has_noise(e->streams.training[s]),
            .drawn_sides = xlm_stream_config_flag(&job->stream[s].config, "shuffle_sides"),
            .several_pairs = xlm_stream_packs_pairs(e->streams.training[s]),
            .joined = xlm_stream_config_flag(&job->stream[s].config, "join_sentences") &&
                      !xlm_stream_has_pairs(e->streams.training[s]),
            .fragment = xlm_stream_config_choice(&job->stream[s].config, "mask_unit") == XLM_SELECT_FRAGMENT,
            .mask = xlm_stream_predicted_share(e->streams.training[s]),
            .switching = xlm_stream_config_real(&job->stream[s].config, "switching"),
            .dictionary = xlm_stream_dictionary(e->streams.training[s]),
            .annotations = xlm_stream_annotations(e->streams.training[s]),
            .alignments = g_strv_contains(xlm_stream_annotations(e->streams.training[s]), "links"),
        };
    }
    for (int k = 0; k < job->objectives; k++) {
        const xlm_job_objective *o = &job->objective[k];
        if (xlm_loss_weight_first_step(&o->weight, job->train.steps) == job->train.steps)
            warn_of_idle(o, job->train.steps);
        objective[k] = (xlm_objective_spec){.name = o->name, .cls = o->cls, .state = o->use.state, .stream = o->stream,
                                            .weight = o->weight};
    }
    const xlm_resource_origin origin = {.vocabulary = vocabulary, .digest = data->digest};
    e->resources = xlm_resources_new(xlm_resource_readers, &origin);
    const xlm_host_setup setup = {
        .model = e->model,
        .about = {
            .model = &e->used,
            .words = xlm_vocabulary_words(vocabulary),
            .counts = xlm_vocabulary_counts(vocabulary),
            .specials = xlm_vocabulary_specials(vocabulary),
            .languages = xlm_vocabulary_language_names(vocabulary),
            .seed = (uint64_t)job->train.seed,
            .steps = job->train.steps,
            .warmup = job->train.optimiser.warmup,
        },
        .resources = e->resources,
        .streams = job->streams, .stream = stream,
        .objectives = job->objectives, .objective = objective,
    };
    e->host = xlm_host_open(&setup, e->parameters, error);
    return e->host != NULL;
}

/* Does an objective read what noise and masking make of a stream? One of the user's own may read all of a batch whatever it
 * views. */
static bool corruption_is_read(const xlm_engine *e, int stream)
{
    bool read = false;
    for (int k = 0; k < e->job->objectives; k++) {
        const xlm_job_objective *o = &e->job->objective[k];
        read |= o->stream == stream && (o->use.loaded.of_user || xlm_host_views_corruption(e->host, k));
    }
    return read;
}

/* Does an objective of the stream make labels? What a label reads of the batch besides its views cannot be known of one that is a
 * user's, and installed ones have names as ours have. */
static bool has_labels(const xlm_engine *e, int stream)
{
    bool makes = false;
    for (int k = 0; k < e->job->objectives; k++)
        makes |= e->job->objective[k].stream == stream && e->job->objective[k].cls->label != NULL;
    return makes;
}

/* Keys that change only the corrupted text, on a stream of which only the original text is read. Not refused, so that jobs can be
 * compared that differ in an objective alone. */
static void warn_of_corruption(const xlm_engine *e)
{
    for (int s = 0; s < e->job->streams; s++) {
        g_autofree char *value = NULL;
        const char *key = corruption_is_read(e, s) ? NULL : xlm_stream_config_corruption(&e->job->stream[s].config, &value);
        if (key != NULL)
            xlm_log_warn("[stream %s]: %s = %s %s no effect, because its objectives read the text without masks and noise",
                         e->job->stream[s].name, key, value, has_labels(e, s) ? "may have" : "has");
    }
}

static void warn_of_unread(const xlm_engine *e)
{
    const int64_t steps = e->job->train.steps;
    for (int s = 0; s < e->streams.n; s++) {
        const xlm_piecewise *batches = e->job->stream[s].config.batches;
        if (batches != NULL && xlm_batch_sizes_before(batches, steps) == 0)
            xlm_log_warn("[stream %s]: batch is 0 in each of the run's %" G_GINT64_FORMAT " steps, so the stream is never read",
                         e->job->stream[s].name, steps);
    }
}

static bool open_rank(xlm_engine *e, const xlm_training_data *data, GError **error)
{
    e->config = e->job->model;
    e->config.vocabulary = xlm_vocabulary_size(data->vocabulary);
    e->config.languages = xlm_vocabulary_languages(data->vocabulary);
    if (!xlm_model_check(&e->config, error)) {
        g_prefix_error(error, "[model]: ");
        return false;
    }
    e->used = e->config;
    if (e->job->train.head_frozen)
        e->used.head = XLM_HEAD_NONE;
    e->parameters = xlm_parameters_new();
    e->model = xlm_model_new(&e->config, e->parameters);
    if (!xlm_job_streams_open(&e->streams, e->job, data, e->config.positions, error) || !open_objectives(e, data, error))
        return false;
    e->divided = xlm_micro_batches_of_step(e->micro_batches, e->comm->ranks, &e->streams, e->divided_step);
    warn_of_unread(e);
    warn_of_corruption(e);
    e->translations = xlm_job_translations(e->job, &e->streams);
    if (e->config.decoder_layers > 0 && !xlm_host_uses_decoder(e->host))
        xlm_log_warn("[model]: decoder_layers = %" G_GINT64_FORMAT ", and no objective of the job uses the decoder",
                     e->config.decoder_layers);
    if (!xlm_rates_set(&e->job->train.optimiser, &e->config, e->job->train.head_frozen, e->parameters, error))
        return false;
    xlm_parameters_put_frozen_first(e->parameters);
    return true;
}

xlm_engine *xlm_engine_open(const xlm_comm *comm, const xlm_job *job, const xlm_training_data *data, GError **error)
{
    xlm_engine *e = g_new0(xlm_engine, 1);
    e->comm = comm;
    e->job = job;
    e->data = data;
    e->micro_batches = xlm_micro_batches_on(job->train.micro_batches, comm->ranks);
    if (e->micro_batches != job->train.micro_batches)
        xlm_log_info("micro_batches: %" G_GINT64_FORMAT " instead of %" G_GINT64_FORMAT ", so that each of %d ranks has as many: "
                     "losses agree with runs on other numbers of ranks to rounding, not to the bit, and less where an objective "
                     "compares the instances of a micro-batch with one another", e->micro_batches, job->train.micro_batches,
                     comm->ranks);
    GError *failure = NULL;
    open_rank(e, data, &failure);
    if (xlm_comm_agree_on(comm, failure, error) && xlm_arithmetic_choose(comm, &job->train, &e->arithmetic, error))
        return e;
    xlm_engine_close(e);
    return NULL;
}

void engine_gathered(const xlm_engine *engine)
{
    if (engine->all_gather != NULL)
        xlm_all_gather_end(engine->all_gather);
}

/* Before an operator of the tape reads parameters. */
static void need_parameters(void *data, int64_t from, int64_t end)
{
    const xlm_engine *e = data;
    if (!xlm_all_gather_is_under_way(e->all_gather))
        return;
    xlm_profile_enter(e->profile, XLM_PART_ALL_GATHER, false, 0);
    xlm_all_gather_need(e->all_gather, from, end);
}

void xlm_engine_allocate(xlm_engine *engine, uint64_t pass, bool profile)
{
    xlm_engine *e = engine;
    const xlm_train_config *c = &e->job->train;
    xlm_parameters_seal(e->parameters);
    xlm_parameters_initialise(e->parameters, (uint64_t)c->seed);
    e->shards = xlm_shards_from(e->comm, xlm_parameters_learning(e->parameters), xlm_parameters_size(e->parameters));
    e->reduce_scatter = xlm_reduce_scatter_new(&e->shards, c->reproducible, c->exchange == XLM_BFLOAT16);
    e->all_gather = xlm_all_gather_new(&e->shards, c->exchange_parameters == XLM_BFLOAT16);
    e->optimiser = xlm_optimiser_new(&c->optimiser, e->parameters, &e->shards);
    e->averages = xlm_averages_new(e->host, e->parameters, &e->shards);
    e->tape = xlm_tape_new(e->parameters);
    xlm_tape_on_need(e->tape, need_parameters, e);
    xlm_tape_recompute(e->tape, c->recompute);
    xlm_tape_multiply_by(e->tape, e->arithmetic.packs, e->arithmetic.precision);
    xlm_tape_reserve(e->tape, pass + pass / 8); /* chance may choose more rows to predict, an objective keep more */
    e->arena = xlm_arena_new();
    e->buffers = xlm_gradient_buffers(c->reproducible, e->micro_batches, e->comm->ranks);
    e->buffer = g_new(float *, e->buffers);
    /* Nothing touches the gradients of frozen parameters, which come first, so that these have addresses and take no memory. */
    const size_t bytes = sizeof(float) * (size_t)xlm_parameters_size(e->parameters);
    for (int b = 0; b < e->buffers; b++) {
        e->buffer[b] = xlm_pages_take(bytes, "gradients");
        xlm_pages_keep_from_children(e->buffer[b], bytes, true);
    }
    e->profile = profile ? xlm_profile_new() : NULL;
}

void xlm_engine_close(xlm_engine *engine)
{
    xlm_engine *e = engine;
    if (e == NULL)
        return;
    engine_gathered(e);
    xlm_host_close(e->host);
    xlm_resources_free(e->resources);
    for (int b = 0; b < e->buffers; b++) {
        xlm_pages_keep_from_children(e->buffer[b], sizeof(float) * (size_t)xlm_parameters_size(e->parameters), false);
        free(e->buffer[b]);
    }
    g_free(e->buffer);
    xlm_arena_free(e->arena);
    xlm_tape_free(e->tape);
    xlm_profile_free(e->profile);
    xlm_optimiser_free(e->optimiser);
    xlm_reduce_scatter_free(e->reduce_scatter);
    xlm_all_gather_free(e->all_gather);
    xlm_averages_free(e->averages);
    xlm_model_free(e->model);
    xlm_parameters_free(e->parameters);
    xlm_job_streams_close(&e->streams);
    xlm_micro_batches_free(e->divided);
    g_free(e->translations);
    g_free(e);
}

const xlm_model_config *xlm_engine_model(const xlm_engine *engine) { return &engine->config; }
const xlm_host *xlm_engine_host(const xlm_engine *engine) { return engine->host; }
xlm_profile *xlm_engine_profile(xlm_engine *engine) { return engine->profile; }

xlm_parameters *xlm_engine_parameters(xlm_engine *engine)
{
    engine_gathered(engine);
    return engine->parameters;
}

xlm_shards_report xlm_engine_all_gather_report(const xlm_engine *engine) { return xlm_all_gather_get_report(engine->all_gather); }

xlm_shards_report xlm_engine_reduce_scatter_report(const xlm_engine *engine)
{
    return xlm_reduce_scatter_get_report(engine->reduce_scatter);
}

xlm_run_size xlm_engine_size(const xlm_engine *engine)
{
    return (xlm_run_size){
        .job = engine->job,
        .streams = &engine->streams,
        .host = engine->host,
        .parameters = engine->parameters,
        .vocabulary = engine->data->vocabulary,
        .validation = engine->data->validation,
        .arithmetic = engine->arithmetic,
    };
}

xlm_arithmetic xlm_engine_arithmetic(const xlm_engine *engine) { return engine->arithmetic; }

void xlm_engine_keep_masters(xlm_engine *engine)
{
    if (engine->job->train.exchange_parameters == XLM_BFLOAT16)
        xlm_optimiser_keep_masters(engine->optimiser);
}

void xlm_engine_show_masters(xlm_engine *engine)
{
    engine_gathered(engine);
    xlm_optimiser_show_masters(engine->optimiser);
}

/* Is every element of a parameter that this rank owns finite? */
static bool is_finite(const xlm_engine *engine, const xlm_parameter *parameter)
{
    const xlm_shards *shards = &engine->shards;
    const xlm_real *values = xlm_parameters_values(engine->parameters);
    const int64_t end = parameter->start + parameter->rows * parameter->cols;
    bool finite = true;
    for (int64_t i = MAX(parameter->start, shards->first), next; i < end && finite; i = next) {
        next = MIN(end, i + shards->bucket - (i - shards->first) % shards->bucket);
        for (int64_t k = i; k < next && xlm_shards_owner(shards, i) == shards->comm->rank; k++)
            finite &= isfinite(values[k]) != 0;
    }
    return finite;
}

bool xlm_engine_check_finite(const xlm_engine *engine, GError **error)
{
    GError *failure = NULL;
    for (int p = 0; p < xlm_parameters_count(engine->parameters) && failure == NULL; p++)
        if (!is_finite(engine, xlm_parameters_get(engine->parameters, p)))
            xlm_error_set(&failure, EX_SOFTWARE, "parameter %s is not finite", xlm_parameters_get(engine->parameters, p)->name);
    return xlm_comm_agree_on(engine->comm, failure, error);
}

void xlm_engine_begin_averages(xlm_engine *engine) { xlm_averages_begin(engine->averages); }

xlm_workspace xlm_engine_workspace(xlm_engine *engine)
{
    engine_gathered(engine);
    return (xlm_workspace){
        .comm = engine->comm,
        .model = &engine->config,
        .streams = &engine->streams,
        .resources = engine->resources,
        .parameters = engine->parameters,
        .host = engine->host,
        .averages = engine->averages,
        .tape = engine->tape,
        .arena = engine->arena,
        .gradient = engine->buffer[0],
    };
}

xlm_run_state xlm_engine_state(xlm_engine *engine)
{
    engine_gathered(engine);
    return (xlm_run_state){
        .model = &engine->config,
        .parameters = engine->parameters,
        .shards = &engine->shards,
        .scratch = engine->buffer[0],
        .first_moment = engine->optimiser->first_moment,
        .second_moment = engine->optimiser->second_moment,
        .masters = engine->optimiser->masters,
        .optimiser = engine->optimiser->name,
        .translations = engine->translations,
        .pair_form = xlm_host_pair_form(engine->host),
        .averages = engine->averages->n,
        .average = engine->averages->average,
    };
}
