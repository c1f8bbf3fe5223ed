/* xlm-mpi: how long the steps to come will take. SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/time_left.h"

#include <glib.h>

#include "base/log.h"
#include "options/piecewise.h"

static int64_t last_point(const xlm_piecewise *numbers)
{
    return numbers != NULL && !xlm_piecewise_is_constant(numbers) ? numbers->point[numbers->points - 1].step : 0;
}

/* No objective begins or ends after this step. */
static int64_t last_change(const xlm_job *job)
{
    int64_t last = 0;
    for (int k = 0; k < job->objectives; k++) {
        const xlm_job_objective *o = &job->objective[k];
        last = MAX(last, MAX(o->weight.begin, last_point(o->weight.numbers)));
        if (o->stream >= 0)
            last = MAX(last, last_point(job->stream[o->stream].config.batches));
    }
    return last;
}

int64_t xlm_next_change(const xlm_job *job, int64_t step)
{
    const int64_t end = MIN(last_change(job) + 1, job->train.steps);
    for (int64_t next = step + 1; next < end; next++)
        for (int k = 0; k < job->objectives; k++)
            if (xlm_job_computes(job, k, next) != xlm_job_computes(job, k, next - 1))
                return next;
    return job->train.steps;
}

void xlm_time_left_count(xlm_time_left *left, const xlm_job *job, int64_t step, double seconds)
{
    if (left->steps == 0 || step >= left->until)
        *left = (xlm_time_left){.until = xlm_next_change(job, step)};
    left->steps++;
    left->seconds += seconds;
}

char *xlm_time_left_text(const xlm_time_left *left, int64_t step, int64_t steps)
{
    char text[16];
    if (step == left->until && step < steps)
        return g_strdup("? left");
    xlm_log_duration(left->seconds / (double)left->steps * (double)(left->until - step), text);
    return left->until == steps ? g_strdup_printf("%s left", text)
                                : g_strdup_printf("%s left to step %" G_GINT64_FORMAT, text, left->until);
}
