/* xlm-mpi: the streams of a job, opened on its data. SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/job_streams.h"

#include "base/log.h"

/* Is an error what a stage of a plugin says, in a section of its own or brought by an objective? */
static bool is_of_plugin(const GError *error)
{
    return g_str_has_prefix(error->message, "[stage ") || g_str_has_prefix(error->message, "[objective ");
}

/* *held_out: NULL where there is no text or no alignment for it (EX_CONFIG), which all ranks find alike. A file that cannot be read
 * and what a plugin refuses are errors: they may differ from rank to rank. */
static bool open_held_out(const xlm_job *job, const xlm_training_data *data, int s, xlm_stream **held_out, GError **error)
{
    const xlm_job_stream *stream = &job->stream[s];
    g_autoptr(GError) why = NULL;
    if (!data->input.source->source.held_out)
        return true; /* examples are validated otherwise (run/validation.h) */
    *held_out = xlm_stream_open(data->input, XLM_HELD_OUT, stream->name, s, &stream->config, (uint64_t)job->train.seed, &why);
    if (*held_out != NULL)
        return true;
    if (xlm_error_exit_code(why) != EX_CONFIG || is_of_plugin(why)) {
        g_propagate_error(error, g_steal_pointer(&why));
        return false;
    }
    xlm_log_warn("stream %s is not evaluated: %s", stream->name, why->message);
    return true;
}

bool xlm_job_streams_open(xlm_job_streams *streams, const xlm_job *job, const xlm_training_data *data, int64_t positions,
                          GError **error)
{
    *streams = (xlm_job_streams){
        .n = job->streams,
        .training = g_new0(xlm_stream *, MAX(job->streams, 1)),
        .held_out = g_new0(xlm_stream *, MAX(job->streams, 1)),
    };
    for (int s = 0; s < job->streams; s++) {
        const xlm_job_stream *stream = &job->stream[s];
        streams->training[s] = xlm_stream_open(data->input, XLM_TRAIN, stream->name, s, &stream->config,
                                               (uint64_t)job->train.seed, error);
        if (streams->training[s] == NULL)
            return false;
        if (xlm_stream_positions(streams->training[s]) > positions)
            return xlm_error_set(error, EX_CONFIG, "[stream %s]: length = %" G_GINT64_FORMAT
                                 ", but the model has positions = %" G_GINT64_FORMAT, stream->name,
                                 xlm_stream_positions(streams->training[s]), positions);
        g_autofree char *description = xlm_stream_describe(streams->training[s]);
        xlm_log_info("stream %s: %s", stream->name, description);
        if (!open_held_out(job, data, s, &streams->held_out[s], error))
            return false;
    }
    return true;
}

void xlm_job_streams_close(xlm_job_streams *streams)
{
    for (int s = 0; s < streams->n; s++) {
        xlm_stream_close(streams->training[s]);
        xlm_stream_close(streams->held_out[s]);
    }
    g_free(streams->training);
    g_free(streams->held_out);
    *streams = (xlm_job_streams){0};
}
