/* xlm-mpi: what a job will need and how long it will take. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "train/threads.h"

/* Steps that are measured, after one that touches all memory for the first time. */
enum { ROUNDS = 3 };

/* Seconds, of one rank in one step with one micro-batch; the mean over ranks. */
typedef struct rates {
    double pass, flops, tokens; /* of a micro-batch */
    double read, agree, clear, norm, update, communication;
    double seconds; /* of the steps that were measured, in all */
} rates;

static double seconds_of(const xlm_profile_row *row, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(row[i].name, name) == 0)
            return row[i].seconds / ROUNDS;
    return 0;
}

static rates rates_of(const xlm_trainer *t, int64_t tokens)
{
    int n;
    rates r = {.tokens = (double)tokens / ROUNDS / t->comm->ranks};
    const xlm_profile_row *row = xlm_profile_rows(t->profile, &n);
    for (int i = 0; i < n; i++) {
        r.seconds += row[i].seconds / ROUNDS;
        r.flops += row[i].flops / ROUNDS;
    }
    r.read = seconds_of(row, n, XLM_PART_READ);
    r.agree = seconds_of(row, n, XLM_PART_AGREE);
    r.clear = seconds_of(row, n, XLM_PART_CLEAR);
    r.norm = seconds_of(row, n, XLM_PART_NORM);
    r.update = seconds_of(row, n, XLM_PART_UPDATE);
    r.communication = seconds_of(row, n, XLM_PART_REDUCE_SCATTER) + seconds_of(row, n, XLM_PART_WAIT) +
                      seconds_of(row, n, XLM_PART_ALL_GATHER);
    r.pass = r.seconds - r.read - r.agree - r.clear - r.norm - r.update - r.communication - seconds_of(row, n, XLM_PART_ADD);
    double all[] = {r.pass, r.flops, r.read, r.agree, r.clear, r.norm, r.update, r.communication};
    xlm_comm_sum_double(t->comm, all, G_N_ELEMENTS(all));
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        all[i] /= t->comm->ranks;
    r.pass = all[0], r.flops = all[1], r.read = all[2], r.agree = all[3], r.clear = all[4], r.norm = all[5], r.update = all[6],
    r.communication = all[7];
    return r;
}

/* Tokens of a micro-batch, when all instances are full; one more for what objectives without stream do. */
static double work_of(const xlm_trainer *t, int64_t micro_batches, int64_t micro_batch)
{
    double work = 1;
    for (int s = 0; s < t->job->streams; s++)
        work += (double)(xlm_micro_batch_of_batch(t->job->stream[s].config.batch, micro_batches, micro_batch).n *
                         xlm_stream_longest(t->stream[s]));
    return work;
}

/* Of a whole step. */
static double work_of_all(const xlm_trainer *t)
{
    double work = 0;
    for (int64_t g = 0; g < t->micro_batches; g++)
        work += work_of(t, t->micro_batches, g);
    return work;
}

/* Of the rank that has most, for which all wait: instances are not cut. */
static double work_of_busiest(const xlm_trainer *t, int64_t micro_batches, int ranks)
{
    double most = 0;
    for (int r = 0; r < ranks; r++) {
        double work = 0;
        for (int64_t g = r; g < micro_batches; g += ranks)
            work += work_of(t, micro_batches, g);
        most = MAX(most, work);
    }
    return most;
}

static int64_t largest_micro_batch(const xlm_trainer *t)
{
    int64_t largest = 0;
    for (int64_t g = 1; g < t->micro_batches; g++)
        if (work_of(t, t->micro_batches, g) > work_of(t, t->micro_batches, largest))
            largest = g;
    return largest;
}

static bool measure(xlm_trainer *t, rates *r, GError **error)
{
    xlm_step_report report = xlm_step_report_new(t);
    int64_t tokens = 0;
    bool good = true;
    t->sample = true;
    t->sampled = largest_micro_batch(t);
    for (int i = 0; i <= ROUNDS && good; i++) {
        good = xlm_trainer_step(t, &report, error);
        tokens += i > 0 ? report.tokens : 0;
        if (i == 0)
            xlm_profile_reset(t->profile);
    }
    xlm_step_report_clear(&report);
    if (good)
        *r = rates_of(t, tokens);
    return good;
}

/* Elements whose gradients are complete at the very end of a backward pass. */
static int64_t embedding_elements(const xlm_parameters *parameters)
{
    int64_t n = 0;
    for (int i = 0; i < xlm_parameters_count(parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(parameters, i);
        if (g_str_has_prefix(p->name, "embeddings/"))
            n += p->rows * p->cols;
    }
    return n;
}

typedef struct prediction {
    double seconds, wire, waiting; /* of a step; bytes into and out of a node; seconds of communication that is not hidden */
} prediction;

static prediction predict(const xlm_trainer *t, const rates *r, int ranks, double network)
{
    const double size = (double)xlm_parameters_size(t->parameters), local = MIN(t->comm->local_ranks, ranks);
    const int64_t micro_batches = xlm_job_micro_batches(t->job, ranks);
    const double own = (double)((micro_batches + ranks - 1) / ranks); /* of the rank that has most */
    /* In micro-batches as were measured. */
    const double share = work_of_busiest(t, micro_batches, ranks) / work_of(t, t->micro_batches, t->sampled);
    const double pass = r->pass * share / own;
    prediction p = {.wire = ranks > local ? 2 * sizeof(float) * size * local * (1 - local / ranks) : 0};
    if (ranks > local) {
        const double once = p.wire / 2 / network, late = once * (double)embedding_elements(t->parameters) / size;
        p.waiting = once + MAX(late, once - pass * 2 / 3);
    } else if (t->comm->ranks > 1) {
        p.waiting = r->communication * (1 - 1.0 / ranks) / (1 - 1.0 / t->comm->ranks);
    }
    /* An update moves eight arrays of an owner's elements. Of a rank's micro-batches every second one is added to those before it: it,
     * what it is added to and the sum are moved, one array more for each level of the tree above. */
    const double array = r->update * t->comm->ranks / 8, moved = t->job->train.reproducible && own > 1 ? 2 * own - 1 : 0;
    p.seconds = share * (r->pass + r->read) + moved * array + r->clear +
                (r->norm + r->update) * t->comm->ranks / ranks + r->agree + p.waiting;
    return p;
}

static void print(const xlm_trainer *t, const rates *r, const xlm_plan_options *options)
{
    char parameters[16];
    const double parts = work_of_all(t) / work_of(t, t->micro_batches, t->sampled), tokens = r->tokens * parts,
                 flops = r->flops * parts;
    printf("parameters        %s (%" G_GINT64_FORMAT ")\n",
           xlm_log_count((double)xlm_parameters_elements(t->parameters), parameters), xlm_parameters_elements(t->parameters));
    printf("a step            %.0f tokens, %.1f GFLOP in products; %" G_GINT64_FORMAT " steps\n", tokens, 1e-9 * flops,
           t->job->train.steps);
    printf("measured          %d ranks x %d threads on this node: %.1f GFLOP/s a rank in passes, %.0f in GEMM alone\n",
           t->comm->ranks, t->hardware.threads, 1e-9 * r->flops / r->pass, t->hardware.gemm_gflops);
    printf("network           %.4g Gbit/s into and out of a node of %d ranks\n\n", 8e-9 * options->network, t->comm->local_ranks);
    printf("%6s %10s %10s %12s %12s %10s %10s\n", "ranks", "GiB/rank", "s/step", "tokens/s", "MB/node", "waiting", "time");
    for (int i = 0; i < options->n; i++) {
        const int ranks = options->ranks[i];
        const prediction p = predict(t, r, ranks, options->network);
        char time[16];
        printf("%6d %10.2f %10.3f %12.0f %12.1f %9.1f%% %10s\n", ranks, (double)xlm_trainer_memory(t, ranks).total / (1 << 30),
               p.seconds, tokens / p.seconds, 1e-6 * p.wire, 100 * p.waiting / p.seconds,
               xlm_log_time(p.seconds * (double)t->job->train.steps, time));
    }
}

bool xlm_plan(const xlm_comm *comm, const xlm_job *job, const xlm_training_data *data, const xlm_plan_options *options,
              GError **error)
{
    xlm_trainer *t = xlm_trainer_open(comm, job, data, error);
    if (t == NULL)
        return false;
    xlm_memory_estimate estimate;
    rates r;
    bool good = xlm_trainer_estimate(t, &estimate, error);
    if (good) {
        xlm_hardware_open(&t->hardware, (int)job->train.threads, comm->local_ranks);
        xlm_threads_settle(comm, &t->hardware);
        xlm_comm_barrier(comm);
        xlm_hardware_measure(&t->hardware);
        xlm_trainer_allocate(t);
        xlm_trainer_profile(t);
        good = measure(t, &r, error);
    }
    if (good) {
        /* Once more, should others have been at work the first time. */
        const double before = t->hardware.gemm_gflops;
        xlm_comm_barrier(comm);
        xlm_hardware_measure(&t->hardware);
        t->hardware.gemm_gflops = MAX(before, t->hardware.gemm_gflops);
    }
    if (good && comm->rank == 0)
        print(t, &r, options);
    xlm_trainer_close(t);
    return good;
}
