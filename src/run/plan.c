/* xlm-mpi: what a job will need and how long it will take. SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "run/rank_kernels.h"
#include "run/threads.h"
#include "train/cost.h"
#include "train/engine.h"
#include "train/micro_batches.h"

/* Share of a network's rate that is numbers: the rest is frames, acknowledgements, and waiting for messages to be sent on.
 * Measured over TCP on 8 hosts (tests/bench/network.sh). */
static const double PAYLOAD = 0.9;
/* Steps that are measured, after one that touches all memory for the first time. */
enum { ROUNDS = 3 };

/* Seconds, of one rank in one step with one micro-batch; the mean over ranks. */
typedef struct rates {
    double pass, flops; /* of a micro-batch */
    double read, agree, clear, norm, update, communication;
} rates;
enum { RATES = sizeof(rates) / sizeof(double) };

static double seconds_of(const xlm_profile_row *row, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(row[i].name, name) == 0)
            return row[i].seconds / ROUNDS;
    return 0;
}

static rates rates_of(const xlm_comm *comm, xlm_profile *profile)
{
    int n;
    rates r = {0};
    double seconds = 0, *each = (double *)&r;
    const xlm_profile_row *row = xlm_profile_rows(profile, &n);
    for (int i = 0; i < n; i++) {
        seconds += row[i].seconds / ROUNDS;
        r.flops += row[i].flops / ROUNDS;
    }
    r.read = seconds_of(row, n, XLM_PART_READ);
    r.agree = seconds_of(row, n, XLM_PART_AGREE);
    r.clear = seconds_of(row, n, XLM_PART_CLEAR);
    r.norm = seconds_of(row, n, XLM_PART_NORM);
    r.update = seconds_of(row, n, XLM_PART_UPDATE);
    r.communication = seconds_of(row, n, XLM_PART_REDUCE_SCATTER) + seconds_of(row, n, XLM_PART_WAIT) +
                      seconds_of(row, n, XLM_PART_ALL_GATHER);
    r.pass = seconds - r.read - r.agree - r.clear - r.norm - r.update - r.communication - seconds_of(row, n, XLM_PART_ADD);
    xlm_comm_sum_double(comm, each, RATES);
    for (int i = 0; i < RATES; i++)
        each[i] /= comm->ranks;
    return r;
}

/* Tokens of a micro-batch, when each instance has as many as those of its stream have on average; one more for what objectives
 * without stream do. */
static double work_of(const xlm_run_size *size, const xlm_micro_batches *divided, int64_t micro_batch)
{
    double work = 1;
    for (int s = 0; s < size->streams->n; s++)
        work += (double)(xlm_micro_batch_of_batch(divided, s, micro_batch).n *
                         xlm_stream_expect(size->streams->training[s], 1, 0).tokens);
    return work;
}

/* The same for the rank with the most work, for which all others wait: instances are not divided. With one rank: a whole step. */
static double work_of_busiest(const xlm_run_size *size, int64_t micro_batches, int ranks)
{
    g_autoptr(xlm_micro_batches) divided = xlm_micro_batches_of_step(micro_batches, ranks, size->streams, 0);
    double max_work = 0;
    for (int r = 0; r < ranks; r++) {
        double work = 0;
        for (int64_t g = r; g < micro_batches; g += ranks)
            work += work_of(size, divided, g);
        max_work = MAX(max_work, work);
    }
    return max_work;
}

/* [out] work: of it. */
static int64_t largest_micro_batch(const xlm_run_size *size, int64_t micro_batches, int ranks, double *work)
{
    g_autoptr(xlm_micro_batches) divided = xlm_micro_batches_of_step(micro_batches, ranks, size->streams, 0);
    int64_t largest = 0;
    for (int64_t g = 1; g < micro_batches; g++)
        if (work_of(size, divided, g) > work_of(size, divided, largest))
            largest = g;
    *work = work_of(size, divided, largest);
    return largest;
}

/* How many objectives take part in the steps to be measured from this one on, added up. */
static int64_t count_parts(const xlm_job *job, int64_t step)
{
    int64_t n = 0;
    for (int k = 0; k < job->objectives; k++)
        for (int i = 0; i <= ROUNDS; i++)
            n += xlm_loss_weight_takes_part(&job->objective[k].weight, step + i);
    return n;
}

/* A step from which on as many objectives take part as in any: most of a job is like it, where no weight falls to 0. */
static int64_t busiest_step(const xlm_job *job)
{
    int64_t best = 0;
    for (int k = 0; k < job->objectives; k++) {
        const int64_t first = xlm_loss_weight_first_step(&job->objective[k].weight, job->train.steps);
        if (first < job->train.steps && count_parts(job, first) > count_parts(job, best))
            best = first;
    }
    return best;
}

/* What predictions start from. */
typedef struct measurements {
    const xlm_comm *comm;
    xlm_run_size size;
    double sampled, whole; /* work of the micro-batch that was measured, and of a whole step */
    int threads;
    double gemm_gflops;
    rates rates;
    double tokens; /* of a micro-batch, the mean over ranks */
} measurements;

static bool measure(const xlm_comm *comm, const xlm_job *job, xlm_engine *engine, int64_t micro_batch, measurements *m,
                    GError **error)
{
    const int64_t first = busiest_step(job);
    xlm_step_report report = xlm_step_report_new(engine);
    int64_t tokens = 0;
    bool good = true;
    for (int i = 0; i <= ROUNDS && good; i++) {
        good = xlm_engine_sample_step(engine, first + i, micro_batch, &report, error);
        tokens += i > 0 ? report.tokens : 0;
        if (i == 0)
            xlm_profile_reset(xlm_engine_profile(engine));
    }
    xlm_step_report_clear(&report);
    if (good) {
        m->rates = rates_of(comm, xlm_engine_profile(engine));
        m->tokens = (double)tokens / ROUNDS / comm->ranks;
    }
    return good;
}

/* Elements whose gradients are complete at the very end of a backward pass, and that the forward pass begins with. */
static int64_t embedding_elements(const xlm_parameters *parameters)
{
    int64_t n = 0;
    for (int i = 0; i < xlm_parameters_count(parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(parameters, i);
        if (g_str_has_prefix(p->name, "embeddings/") && p->rate != 0)
            n += p->rows * p->cols;
    }
    return n;
}

typedef struct prediction {
    double seconds, wire, waiting; /* of a step; bytes into and out of a node; seconds of communication that is not hidden */
} prediction;


/* How many times a node sends each element: its ranks add up before, where they all fit into the tree (comm/shards.h). */
static double streams_of_node(int ranks, int local) { return xlm_comm_folds(ranks) && xlm_comm_folds(local) ? 1 : local; }

static prediction predict(const measurements *m, int ranks, double rate)
{
    const rates *r = &m->rates;
    const double network = PAYLOAD * rate;
    const xlm_train_config *c = &m->size.job->train;
    const double size = (double)MAX(xlm_parameters_size(m->size.parameters) - xlm_parameters_learning(m->size.parameters), 1);
    const double local = MIN(m->comm->local_ranks, ranks);
    const int64_t micro_batches = xlm_micro_batches_on(c->micro_batches, ranks);
    const double own = (double)(micro_batches / ranks);
    /* In units of the micro-batch that was measured. */
    const double share = work_of_busiest(&m->size, micro_batches, ranks) / m->sampled;
    const double pass = r->pass * share / own;
    /* Gradients, and then parameters. */
    const double elements = ranks > local ? size * (1 - local / ranks) : 0, streams = streams_of_node(ranks, (int)local);
    const double bytes[2] = {(double)xlm_packed_bytes((xlm_precision)c->exchange, 1, 1),
                             (double)xlm_packed_bytes((xlm_precision)c->exchange_parameters, 1, 1)};
    const double gradients = elements * (c->reproducible ? streams : local) * bytes[0];
    const double parameters = elements * streams * bytes[1];
    prediction p = {.wire = gradients + parameters};
    if (ranks > local) {
        const double embeddings = (double)embedding_elements(m->size.parameters) / size;
        const double reduce = gradients / network, gather = parameters / network;
        p.waiting = MAX(gather * embeddings, gather - pass / 3) + MAX(reduce * embeddings, reduce - pass * 2 / 3);
    } else if (m->comm->ranks > 1) {
        p.waiting = r->communication * (1 - 1.0 / ranks) / (1 - 1.0 / m->comm->ranks);
    }
    /* An update moves eight arrays of an owner's elements. Every second one of a rank's micro-batches is added to those before
     * it: it, what it is added to and the sum are moved, one array more for each level of the tree above. */
    const double array = r->update * m->comm->ranks / 8, moved = c->reproducible && own > 1 ? 2 * own - 1 : 0;
    p.seconds = share * (r->pass + r->read) + moved * array + r->clear +
                (r->norm + r->update) * m->comm->ranks / ranks + r->agree + p.waiting;
    return p;
}

/* memory: [options->n] bytes of a rank. */
static void print(const measurements *m, const xlm_plan_options *options, const uint64_t *memory)
{
    char parameters[16];
    const rates *r = &m->rates;
    const int64_t elements = xlm_parameters_elements(m->size.parameters), steps = m->size.job->train.steps;
    const double parts = m->whole / m->sampled, tokens = m->tokens * parts, flops = r->flops * parts;
    printf("parameters        %s (%" G_GINT64_FORMAT ")\n", xlm_log_count((double)elements, parameters), elements);
    printf("a step            %.0f tokens, %.1f GFLOP in products; %" G_GINT64_FORMAT " steps\n", tokens, 1e-9 * flops, steps);
    printf("measured          %d ranks x %d threads on this node: %.1f GFLOP/s a rank in passes, %.0f in GEMM alone\n",
           m->comm->ranks, m->threads, 1e-9 * r->flops / r->pass, m->gemm_gflops);
    printf("products          %s; gradients are sent in %s, parameters in %s\n", xlm_arithmetic_name(m->size.arithmetic),
           xlm_precision_names[m->size.job->train.exchange], xlm_precision_names[m->size.job->train.exchange_parameters]);
    printf("network           %.4g Gbit/s into and out of a node of %d ranks\n\n", 8e-9 * options->network, m->comm->local_ranks);
    const double alone = predict(m, m->comm->ranks, options->network).seconds * m->comm->ranks;
    printf("%6s %10s %10s %12s %8s %12s %10s %10s\n", "ranks", "GiB/rank", "s/step", "tokens/s", "linear", "MB/node", "waiting",
           "time");
    for (int i = 0; i < options->n; i++) {
        const int ranks = options->ranks[i];
        const prediction p = predict(m, ranks, options->network);
        char time[16];
        printf("%6d %10.2f %10.3f %12.0f %7.1f%% %12.1f %9.1f%% %10s\n", ranks,
               (double)memory[i] / (1 << 30), p.seconds, tokens / p.seconds, 100 * alone / (p.seconds * ranks), 1e-6 * p.wire,
               100 * p.waiting / p.seconds, xlm_log_time(p.seconds * (double)steps, time));
    }
}

/* Bytes of memory of a rank, for each number of ranks: g_free. NULL on errors, on all ranks or on none. Collective: each rank
 * sees how much memory is left at a moment of its own. */
static uint64_t *memory_of(const xlm_comm *comm, const xlm_run_size *size, const xlm_plan_options *options, GError **error)
{
    g_autofree uint64_t *memory = g_new(uint64_t, MAX(options->n, 1));
    GError *failure = NULL;
    for (int i = 0; i < options->n && failure == NULL; i++) {
        xlm_memory_estimate estimate = {0};
        if (xlm_arithmetic_check_ranks(&size->job->train, options->ranks[i], &failure))
            xlm_memory_of_rank(size, options->ranks[i], &estimate, &failure);
        memory[i] = estimate.total;
    }
    return xlm_comm_agree_on(comm, failure, error) ? g_steal_pointer(&memory) : NULL;
}

/* The same job, but that each stream has its largest batch in every step. stream: [streams], for the result. */
static xlm_job with_largest_batches(const xlm_job *job, xlm_job_stream *stream)
{
    xlm_job largest = *job;
    for (int s = 0; s < job->streams; s++) {
        stream[s] = job->stream[s];
        stream[s].config.batches = NULL;
    }
    largest.stream = stream;
    return largest;
}

bool xlm_plan(const xlm_comm *comm, const xlm_job *given, const xlm_training_data *data, const xlm_plan_options *options,
              GError **error)
{
    g_autofree xlm_job_stream *streams = g_new(xlm_job_stream, MAX(given->streams, 1));
    const xlm_job of_largest = with_largest_batches(given, streams), *job = &of_largest;
    xlm_engine *engine = xlm_engine_open(comm, job, data, error);
    if (engine == NULL)
        return false;
    const int64_t micro_batches = xlm_micro_batches_on(job->train.micro_batches, comm->ranks);
    const xlm_run_size size = xlm_engine_size(engine);
    xlm_run_size needed = size; /* which is more where a stream has fewer instances (train/micro_batches.h) */
    needed.job = given;
    measurements m = {.comm = comm, .size = size, .whole = work_of_busiest(&size, micro_batches, 1)};
    const int64_t largest = largest_micro_batch(&size, micro_batches, comm->ranks, &m.sampled);
    xlm_memory_estimate estimate;
    double flops = 0;
    xlm_hardware hardware = {0};
    const xlm_arithmetic arithmetic = xlm_engine_arithmetic(engine);
    xlm_hardware_prepare(&hardware, (int)job->train.threads, comm->local_ranks);
    bool good = xlm_memory_check(comm, &needed, &estimate, error);
    g_autofree uint64_t *memory = good ? memory_of(comm, &needed, options, error) : NULL;
    good = memory != NULL && xlm_step_flops(&size, &flops, error);
    const double operations = flops * (double)job->train.steps / comm->ranks;
    if (good) {
        xlm_hardware_start();
        xlm_rank_kernels_compare(comm, &hardware, arithmetic.packs, arithmetic.precision);
        xlm_threads_settle(comm, &hardware);
        xlm_comm_barrier(comm);
        xlm_hardware_measure(&hardware, arithmetic.packs, arithmetic.precision, operations);
        xlm_engine_allocate(engine, estimate.pass, true);
        xlm_engine_keep_masters(engine);
        good = measure(comm, job, engine, largest, &m, error);
    }
    if (good) {
        /* Once more, in case other processes were running the first time. */
        const double before = hardware.gemm_gflops;
        xlm_comm_barrier(comm);
        xlm_hardware_measure(&hardware, arithmetic.packs, arithmetic.precision, operations);
        m.threads = hardware.threads;
        m.gemm_gflops = MAX(before, hardware.gemm_gflops);
    }
    if (good && comm->rank == 0)
        print(&m, options, memory);
    xlm_engine_close(engine);
    return good;
}
