/* xlm-mpi: the next step laid open in a file, dropout off. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/log.h"
#include "train/dump.h"
#include "train/trainer.h"

/* The whole batch of every stream, and the objectives without stream in one part. */
static bool read_inputs(xlm_trainer *t, xlm_pass_input *input, GError **error)
{
    const int streams = t->job->streams;
    for (int s = 0; s < streams; s++) {
        xlm_batch *batch = XLM_TAKE(t->arena, xlm_batch, 1);
        if (!xlm_stream_read(t->stream[s], t->step, 0, t->job->stream[s].config.batch, t->arena, batch, error))
            return false;
        input[s] = (xlm_pass_input){.stream = s, .batch = batch, .parts = 1, .step = t->step, .only = -1};
    }
    input[streams] = (xlm_pass_input){.stream = -1, .parts = 1, .step = t->step, .only = -1};
    for (int s = 0; s <= streams; s++)
        xlm_host_count(t->host, &input[s], t->arena);
    return true;
}

static bool dump_passes(xlm_trainer *t, xlm_store *store, const xlm_pass_input *input, const int64_t *terms, double *sums,
                        GError **error)
{
    float *gradient = t->buffer[0];
    memset(gradient, 0, sizeof(float) * (size_t)xlm_parameters_size(t->parameters));
    for (int s = 0; s <= t->job->streams; s++) {
        xlm_var **hidden = NULL;
        const bool text = input[s].batch != NULL;
        xlm_tape_begin(t->tape, gradient, false, (uint64_t)t->job->train.seed, (uint64_t)t->step);
        xlm_host_run(t->host, t->tape, &input[s], terms, sums, &(xlm_host_wishes){.hidden = text ? &hidden : NULL});
        const xlm_dump_stream stream = {
            .name = s < t->job->streams ? t->job->stream[s].name : NULL,
            .batch = input[s].batch,
            .hidden = hidden,
            .dictionary = s < t->job->streams ? xlm_stream_dictionary(t->stream[s]) : NULL,
        };
        if (text && !xlm_dump_write_stream(store, t->config.layers, &stream, error))
            return false;
    }
    return true;
}

/* Of each kind of file by itself, numbered from 0. */
static bool dump_resources(const xlm_trainer *t, xlm_store *store, GError **error)
{
    xlm_resource *list;
    const int n = xlm_resources_list(t->resources, &list);
    bool good = true;
    for (int i = 0, number = 0; i < n && good; i++, number++) {
        if (i > 0 && list[i].reader != list[i - 1].reader)
            number = 0;
        good = xlm_dump_write_resource(store, number, &list[i], error);
    }
    g_free(list);
    return good;
}

/* input: [streams + 1] counted, with labels. */
static bool dump(xlm_trainer *t, const char *path, const xlm_pass_input *input, GError **error)
{
    const int objectives = t->job->objectives;
    xlm_dump_objective *rows = g_new0(xlm_dump_objective, objectives);
    int64_t *terms = g_new0(int64_t, objectives);
    double *sums = g_new0(double, xlm_host_numbers(t->host)), loss = 0;

    for (int s = 0; s <= t->job->streams; s++)
        for (int k = 0; k < objectives; k++)
            terms[k] += input[s].terms[k];
    xlm_store *store = xlm_dump_create(path, &t->config, t->step, error);
    bool good = store != NULL;
    if (good && !(dump_resources(t, store, error) && dump_passes(t, store, input, terms, sums, error))) {
        xlm_store_discard(store);
        good = false;
    }
    for (int k = 0; k < objectives; k++) {
        const xlm_job_objective *o = &t->job->objective[k];
        rows[k] = (xlm_dump_objective){o->name, o->plugin, o->stream_name, o->weight,
                                       terms[k] > 0 ? sums[k] / (double)terms[k] : 0, terms[k],
                                       o->cls->options, o->state};
        loss += rows[k].weight * rows[k].loss;
    }
    good = good && xlm_dump_finish(store, objectives, rows, loss, t->parameters, t->buffer[0], error);
    if (good)
        xlm_log_info("step %" G_GINT64_FORMAT " written to %s: loss %.6f", t->step, path, loss);
    g_free(rows);
    g_free(terms);
    g_free(sums);
    return good;
}

bool xlm_trainer_dump_step(xlm_trainer *trainer, const char *path, GError **error)
{
    xlm_trainer *t = trainer;
    const int64_t inputs = t->comm->rank == 0 ? t->job->streams + 1 : 0; /* labels are made by rank 0, averages gathered by all */
    xlm_pass_input *input = g_new0(xlm_pass_input, MAX(inputs, 1));
    GError *failure = NULL;
    xlm_arena_reset(t->arena);
    if (inputs > 0)
        read_inputs(t, input, &failure);
    bool good = xlm_comm_agree_on(t->comm, failure, error);
    if (good) {
        failure = NULL;
        xlm_trainer_label(t, input, inputs, false);
        if (inputs > 0)
            dump(t, path, input, &failure);
        good = xlm_comm_agree_on(t->comm, failure, error);
    }
    g_free(input);
    return good;
}
