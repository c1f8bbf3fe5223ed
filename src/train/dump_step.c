/* xlm-mpi: the next step with all its numbers in a file, without dropout. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/log.h"
#include "train/dump_step.h"
#include "train/dump.h"
#include "train/hooks.h"

/* What is dumped. */
typedef struct dumped_step {
    const xlm_job *job;
    const xlm_workspace *workspace;
    int64_t step;     /* updates made before */
    const char *path; /* of the file */
} dumped_step;

/* Not of a stream whose batch is 0 in this step. */
static bool is_read(const xlm_pass_input *input) { return input->batch != NULL || input->stream < 0; }

/* The whole batch of every stream that the step reads, and the objectives without stream in one part. */
static bool read_inputs(const dumped_step *d, xlm_pass_input *input, GError **error)
{
    const xlm_workspace *w = d->workspace;
    const int streams = w->streams->n;
    for (int s = 0; s < streams; s++) {
        const int64_t n = xlm_stream_batch(w->streams->training[s], d->step);
        input[s] = (xlm_pass_input){.stream = s, .parts = 1, .step = d->step, .only = -1};
        if (n == 0)
            continue;
        xlm_batch *batch = XLM_TAKE(w->arena, xlm_batch, 1);
        if (!xlm_stream_read(w->streams->training[s], d->step, 0, n, w->arena, batch, error))
            return false;
        input[s].batch = batch;
    }
    input[streams] = (xlm_pass_input){.stream = -1, .parts = 1, .step = d->step, .only = -1};
    for (int s = 0; s <= streams; s++)
        if (is_read(&input[s]))
            xlm_host_count(w->host, &input[s], w->arena);
    return true;
}

const xlm_var *xlm_dump_logits(const xlm_host *host, xlm_tape *tape, const xlm_batch *batch, xlm_var **hidden)
{
    const xlm_model *model = xlm_host_model(host);
    const xlm_model_config *config = xlm_model_get_config(model);
    const int32_t n = MIN(batch->predicted, XLM_DUMP_LOGITS);
    if (n == 0 || config->head == XLM_HEAD_NONE)
        return NULL;
    return xlm_lm_logits(model, tape, XLM_STACK_ENCODER, xlm_rows(tape, hidden[config->layers], batch->predicted_rows, n));
}

static bool dump_passes(const dumped_step *d, xlm_store *store, const xlm_pass_input *input, const int64_t *terms, xlm_sums *sums,
                        GError **error)
{
    const xlm_workspace *w = d->workspace;
    float *gradient = w->gradient;
    memset(gradient, 0, sizeof(float) * (size_t)xlm_parameters_size(w->parameters));
    for (int s = 0; s <= w->streams->n; s++) {
        if (!is_read(&input[s]))
            continue;
        xlm_var **hidden = NULL;
        const bool text = input[s].batch != NULL;
        xlm_tape_begin(w->tape, gradient, false, (uint64_t)d->job->train.seed, (uint64_t)d->step);
        xlm_host_run(w->host, w->tape, &input[s], terms, sums, &(xlm_host_outputs){.hidden = text ? &hidden : NULL});
        const xlm_dump_stream stream = {
            .name = s < w->streams->n ? d->job->stream[s].name : NULL,
            .batch = input[s].batch,
            .hidden = hidden,
            .logits = text ? xlm_dump_logits(w->host, w->tape, input[s].batch, hidden) : NULL,
            .dictionary = s < w->streams->n ? xlm_stream_dictionary(w->streams->training[s]) : NULL,
        };
        if (text && !xlm_dump_write_stream(store, w->model->layers, &stream, error))
            return false;
        for (int k = 0; k < d->job->objectives; k++)
            if (input[s].made[k] != NULL && !xlm_dump_write_made(store, d->job->objective[k].name, input[s].made[k], error))
                return false;
    }
    return true;
}

/* For each kind of file separately, numbered from 0. */
static bool dump_resources(const xlm_resources *resources, xlm_store *store, GError **error)
{
    g_autofree xlm_resource *list = NULL;
    const int n = xlm_resources_list(resources, &list);
    bool good = true;
    for (int i = 0, number = 0; i < n && good; i++, number++) {
        if (i > 0 && list[i].reader != list[i - 1].reader)
            number = 0;
        good = xlm_dump_write_resource(store, number, &list[i], error);
    }
    return good;
}

/* By rank 0: creates the file, with the state of objectives before the step. NULL on errors. */
static xlm_store *create(const dumped_step *d, GError **error)
{
    const xlm_workspace *w = d->workspace;
    int n;
    const xlm_saved_state *states = xlm_host_states(w->host, &n);
    xlm_store *store = xlm_dump_create(d->path, w->model, (uint64_t)d->job->train.seed, d->step, error);
    if (store != NULL && dump_resources(w->resources, store, error) && xlm_dump_write_states(store, n, states, error))
        return store;
    xlm_store_discard(store);
    return NULL;
}

/* Collective: averages are gathered from all ranks, and written by rank 0, whose store it is. */
static bool dump_averages(const dumped_step *d, xlm_store *store, GError **error)
{
    const xlm_workspace *w = d->workspace;
    GError *failure = NULL;
    for (int a = 0; a < w->averages->n; a++) {
        const float *whole = xlm_averages_gather(w->averages, a, w->gradient);
        if (store != NULL && failure == NULL)
            xlm_dump_write_average(store, w->averages->average[a].objective, w->parameters, whole, &failure);
    }
    return xlm_comm_agree_on(w->comm, failure, error);
}

/* By rank 0. input: [streams + 1] counted, with labels. Takes the store, which is committed, or discarded on errors. */
static bool dump(const dumped_step *d, xlm_store *store, const xlm_pass_input *input, GError **error)
{
    const xlm_workspace *w = d->workspace;
    const int objectives = d->job->objectives;
    g_autofree xlm_dump_objective *rows = g_new0(xlm_dump_objective, objectives);
    const int means = xlm_host_means(w->host);
    g_autofree int64_t *terms = g_new0(int64_t, MAX(means, 1));
    xlm_sums sums = xlm_host_sums_new(w->host);
    double loss = 0;

    for (int s = 0; s <= w->streams->n; s++)
        for (int k = 0; k < means && is_read(&input[s]); k++)
            terms[k] += input[s].terms[k];
    bool good = dump_passes(d, store, input, terms, &sums, error);
    if (!good)
        xlm_store_discard(store);
    for (int k = 0; k < objectives; k++) {
        const xlm_job_objective *o = &d->job->objective[k];
        rows[k] = (xlm_dump_objective){o->name, o->plugin, o->stream_name, xlm_loss_weight_at(&o->weight, d->step),
                                       xlm_host_has_terms_of(w->host, k, terms) ? xlm_host_mean_loss(w->host, k, &sums, terms) : 0,
                                       terms[k], o->cls->options, o->use.state};
        loss += rows[k].weight * rows[k].loss;
    }
    good = good && xlm_dump_finish(store, objectives, rows, loss, w->parameters, w->gradient, error);
    if (good)
        xlm_log_info("step %" G_GINT64_FORMAT " written to %s: loss %.6f", d->step, d->path, loss);
    xlm_sums_free(&sums);
    return good;
}

bool xlm_dump_step(const xlm_job *job, const xlm_workspace *workspace, int64_t step, const char *path, GError **error)
{
    const xlm_workspace *w = workspace;
    const dumped_step d = {.job = job, .workspace = w, .step = step, .path = path};
    /* Labels are made by rank 0, averages gathered by all. */
    const int64_t inputs = w->comm->rank == 0 ? w->streams->n + 1 : 0;
    g_autofree xlm_pass_input *input = g_new0(xlm_pass_input, MAX(inputs, 1));
    xlm_store *store = NULL;
    GError *failure = NULL;
    xlm_arena_reset(w->arena);
    if (inputs > 0 && read_inputs(&d, input, &failure))
        store = create(&d, &failure);
    bool good = xlm_comm_agree_on(w->comm, failure, error) && dump_averages(&d, store, error);
    if (good) {
        failure = NULL;
        xlm_make_labels(w, false, (uint64_t)job->train.seed, step, input, inputs);
        if (store != NULL)
            dump(&d, g_steal_pointer(&store), input, &failure);
        good = xlm_comm_agree_on(w->comm, failure, error);
    }
    xlm_store_discard(store);
    return good;
}
