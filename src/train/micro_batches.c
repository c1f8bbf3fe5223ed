/* xlm-mpi: how the batches of a step are cut into micro-batches. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/micro_batches.h"

#include <glib.h>
#include <math.h>

#include "comm/comm.h"
#include "options/piecewise.h"

int64_t xlm_micro_batches_on(int64_t wanted, int ranks)
{
    return (wanted + ranks - 1) / ranks * ranks;
}

int64_t xlm_micro_batch_reversed(int64_t i, int64_t k)
{
    if (!xlm_comm_folds(k))
        return i;
    int64_t j = 0;
    for (int64_t bit = 1; bit < k; bit <<= 1, i >>= 1)
        j = j << 1 | (i & 1);
    return j;
}

struct xlm_micro_batches {
    int64_t n;
    int ranks, streams;
    int64_t *end; /* [streams x (n + 1)] instances before each slice, and in all */
};

/* The stream whose next instance comes first on the line, when next[streams] of each are there: instance i of B is at (2 i + 1) /
 * 2 B of it. */
static int next_stream(int streams, const int64_t *batch, const int64_t *next)
{
    int first = -1;
    for (int s = 0; s < streams; s++)
        if (next[s] < batch[s] && (first < 0 || (2 * next[s] + 1) * batch[first] < (2 * next[first] + 1) * batch[s]))
            first = s;
    return first;
}

xlm_micro_batches *xlm_micro_batches_new(int64_t micro_batches, int ranks, int streams, const int64_t *batch,
                                         const int64_t *tokens)
{
    xlm_micro_batches *m = g_new0(xlm_micro_batches, 1);
    g_autofree int64_t *next = g_new0(int64_t, MAX(streams, 1));
    double all = 0, at = 0; /* whole numbers, exact up to 2^53 */
    *m = (xlm_micro_batches){.n = micro_batches, .ranks = ranks, .streams = streams,
                             .end = g_new0(int64_t, streams * (micro_batches + 1) + 1)};
    for (int s = 0; s < streams; s++)
        all += (double)batch[s] * (double)tokens[s];
    for (int64_t slice = 0; slice < micro_batches; slice++) {
        for (int s; (s = next_stream(streams, batch, next)) >= 0;) {
            const double middle = at + (double)tokens[s] / 2;
            if (middle * (double)micro_batches >= all * (double)(slice + 1))
                break;
            at += (double)tokens[s];
            next[s]++;
        }
        for (int s = 0; s < streams; s++)
            m->end[s * (micro_batches + 1) + slice + 1] = next[s];
    }
    return m;
}

/* batch: [streams] instances of a step. */
static xlm_micro_batches *divide(int64_t micro_batches, int ranks, const xlm_job_streams *streams, const int64_t *batch)
{
    g_autofree int64_t *tokens = g_new0(int64_t, MAX(streams->n, 1));
    for (int s = 0; s < streams->n; s++)
        tokens[s] = MAX(xlm_stream_expect(streams->training[s], 1, 0).tokens, 1);
    return xlm_micro_batches_new(micro_batches, ranks, streams->n, batch, tokens);
}

xlm_micro_batches *xlm_micro_batches_of_step(int64_t micro_batches, int ranks, const xlm_job_streams *streams, int64_t step)
{
    g_autofree int64_t *batch = g_new0(int64_t, MAX(streams->n, 1));
    for (int s = 0; s < streams->n; s++)
        batch[s] = xlm_stream_batch(streams->training[s], step);
    return divide(micro_batches, ranks, streams, batch);
}

void xlm_micro_batches_free(xlm_micro_batches *micro_batches)
{
    if (micro_batches == NULL)
        return;
    g_free(micro_batches->end);
    g_free(micro_batches);
}

static xlm_micro_batch_slice slice_of(const xlm_micro_batches *m, int stream, int64_t slice)
{
    const int64_t *end = m->end + stream * (m->n + 1) + slice;
    return (xlm_micro_batch_slice){.first = end[0], .n = end[1] - end[0]};
}

xlm_micro_batch_slice xlm_micro_batch_of_batch(const xlm_micro_batches *micro_batches, int stream, int64_t micro_batch)
{
    const int64_t n = micro_batches->n, ranks = micro_batches->ranks;
    /* Where sums do not depend on the number of ranks, slices must not either. */
    return slice_of(micro_batches, stream, xlm_comm_folds(n) ? xlm_micro_batch_reversed(micro_batch, n)
                                                              : micro_batch % ranks * (n / ranks) + micro_batch / ranks);
}

int64_t xlm_micro_batches_most(const xlm_micro_batches *micro_batches, int stream)
{
    int64_t most = 0;
    for (int64_t slice = 0; slice < micro_batches->n; slice++)
        most = MAX(most, slice_of(micro_batches, stream, slice).n);
    return most;
}

/* ---- all steps of a job ---- */

typedef struct most_instances {
    int64_t micro_batches;
    const xlm_job *job;
    const xlm_job_streams *streams;
    int64_t *most; /* [streams] so far */
} most_instances;

/* step: -1: each stream has its largest batch. */
static void count_most(const most_instances *m, int64_t step)
{
    g_autofree int64_t *batch = g_new0(int64_t, MAX(m->streams->n, 1));
    for (int s = 0; s < m->streams->n; s++) {
        const xlm_stream_config *config = &m->job->stream[s].config;
        batch[s] = step < 0 ? config->batch : xlm_stream_config_batch(config, step);
    }
    g_autoptr(xlm_micro_batches) divided = divide(m->micro_batches, 1, m->streams, batch);
    for (int s = 0; s < m->streams->n; s++)
        m->most[s] = MAX(m->most[s], xlm_micro_batches_most(divided, s));
}

/* The points of a list, and steps between two of them: one for each change by one instance, but no more than `steps`. */
static void count_most_of(const most_instances *m, const xlm_piecewise *batches, int64_t steps)
{
    for (int64_t i = 0; i < batches->points; i++) {
        const xlm_piecewise_point *p = &batches->point[i];
        const bool last = i + 1 == batches->points;
        const int64_t n = last ? 1 : CLAMP((int64_t)fabs(p[1].value - p->value), 1, MIN(steps, p[1].step - p->step));
        for (int64_t j = 0; j < n; j++) {
            const int64_t step = p->step + (last ? 0 : (int64_t)((double)(p[1].step - p->step) * (double)j / (double)n));
            if (step < m->job->train.steps)
                count_most(m, step);
        }
    }
}

int64_t *xlm_micro_batches_most_of_job(int64_t micro_batches, const xlm_job *job, const xlm_job_streams *streams)
{
    enum { INSTANCES = 1 << 22 }; /* are soon divided; where there are more in a few steps, one more or less matters little */
    const most_instances m = {.micro_batches = micro_batches, .job = job, .streams = streams,
                              .most = g_new0(int64_t, MAX(streams->n, 1))};
    int64_t all = 1;
    for (int s = 0; s < streams->n; s++)
        all += job->stream[s].config.batch;
    count_most(&m, -1);
    for (int s = 0; s < streams->n; s++) {
        const xlm_piecewise *batches = job->stream[s].config.batches;
        if (batches != NULL && !xlm_piecewise_is_constant(batches))
            count_most_of(&m, batches, MAX(INSTANCES / all, 1));
    }
    return m.most;
}

int xlm_gradient_buffers(bool reproducible, int64_t micro_batches, int ranks)
{
    if (!reproducible)
        return 1;
    int buffers = 1;
    for (int64_t k = micro_batches / ranks; k > 1; k /= 2)
        buffers++;
    return buffers;
}
