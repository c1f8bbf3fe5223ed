/* xlm-mpi: one update of the parameters. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "base/signals.h"
#include "train/pass.h"

/* Granules of this rank: rank, rank + R, ... */
static int64_t own_granules(const xlm_trainer *t)
{
    const int64_t own = t->granules > t->comm->rank ? (t->granules - t->comm->rank + t->comm->ranks - 1) / t->comm->ranks : 0;
    return t->sample ? MIN(own, 1) : own;
}

/* The granule that is number j of this rank. */
static int64_t granule_of(const xlm_trainer *t, int64_t j) { return t->sample ? t->sampled : t->comm->rank + j * t->comm->ranks; }

int64_t xlm_granule_reversed(int64_t i, int64_t k)
{
    if ((k & (k - 1)) != 0)
        return i;
    int64_t j = 0;
    for (int64_t bit = 1; bit < k; bit <<= 1, i >>= 1)
        j = j << 1 | (i & 1);
    return j;
}

xlm_granule_slice xlm_granule_of_batch(int64_t batch, int64_t granules, int64_t granule)
{
    const int64_t slice = xlm_granule_reversed(granule, granules), first = batch * slice / granules;
    return (xlm_granule_slice){.first = first, .n = batch * (slice + 1) / granules - first};
}

static void add_into(float *restrict sum, const float *restrict x, int64_t n)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        sum[i] += x[i];
}

static void clear(float *x, int64_t n)
{
    enum { PIECE = 1 << 16 };
#pragma omp parallel for schedule(static)
    for (int64_t at = 0; at < n; at += PIECE)
        memset(x + at, 0, sizeof(float) * (size_t)MIN(PIECE, n - at));
}

/* Inputs of one granule: one a stream, and one for the objectives without stream. */
static int inputs_of(const xlm_trainer *t) { return t->job->streams + 1; }

static bool read_granule(xlm_trainer *t, int64_t granule, xlm_pass_input *input, GError **error)
{
    for (int s = 0; s < t->job->streams; s++) {
        const xlm_granule_slice slice = xlm_granule_of_batch(t->job->stream[s].config.batch, t->granules, granule);
        input[s] = (xlm_pass_input){.stream = s, .parts = 1, .only = -1};
        if (slice.n == 0)
            continue;
        xlm_batch *read = XLM_TAKE(t->arena, xlm_batch, 1);
        if (!xlm_stream_read(t->stream[s], t->step, slice.first, slice.n, t->arena, read, error))
            return false;
        input[s].batch = read;
    }
    input[t->job->streams] = (xlm_pass_input){.stream = -1, .part = granule, .parts = t->granules, .only = -1};
    return true;
}

/* A stream's slice may be empty when the batch has fewer instances than granules. */
static bool has_work(const xlm_pass_input *input) { return input->stream < 0 || input->batch != NULL; }

/* What all ranks must know before the first pass: terms of each objective, tokens, and whether a rank must stop or failed. */
enum { TOKENS, STOP, FAILED, EXTRAS };

static bool agree_on_step(xlm_trainer *t, const xlm_pass_input *inputs, int64_t n, xlm_step_report *report, GError **error)
{
    const int objectives = t->job->objectives;
    int64_t *sum = g_new0(int64_t, objectives + EXTRAS);
    sum[objectives + STOP] = xlm_signals_noted() != 0;
    sum[objectives + FAILED] = *error != NULL;
    for (int64_t i = 0; i < n && *error == NULL; i++) {
        if (!has_work(&inputs[i]))
            continue;
        for (int k = 0; k < objectives; k++)
            sum[k] += xlm_pass_count(t, &inputs[i], k);
        sum[objectives + TOKENS] += inputs[i].batch != NULL ? inputs[i].batch->tokens : 0;
    }
    xlm_comm_sum_int64(t->comm, sum, objectives + EXTRAS);
    memcpy(report->terms, sum, sizeof *sum * (size_t)objectives);
    report->tokens = sum[objectives + TOKENS];
    report->stop = sum[objectives + STOP] != 0;
    const bool good = sum[objectives + FAILED] == 0;
    g_free(sum);
    return good || xlm_comm_agree(t->comm, error);
}

/* The last sweep of a step on this rank: what it completes is added to the granules before it and goes to the other ranks. */
struct last_sweep {
    xlm_trainer *trainer;
    int depth;         /* buffers that are added up: the last granule's is the highest */
    int64_t completed; /* elements from here on are dealt with */
};

static void complete(void *data, int64_t from)
{
    struct last_sweep *last = data;
    xlm_trainer *t = last->trainer;
    xlm_profile_enter(t->profile, XLM_PART_EXCHANGE, false, 0);
    if (from < last->completed) {
        for (int b = last->depth - 1; b > 0; b--)
            add_into(t->buffer[b - 1] + from, t->buffer[b] + from, last->completed - from);
        last->completed = from;
    }
    xlm_exchange_ready(t->exchange, last->completed);
}

/* The last of this granule's inputs that an objective learns from; -1: none. */
static int last_input(xlm_trainer *t, const xlm_pass_input *input)
{
    for (int s = inputs_of(t) - 1; s >= 0; s--)
        for (int k = 0; has_work(&input[s]) && k < t->job->objectives; k++)
            if (xlm_pass_count(t, &input[s], k) > 0)
                return s;
    return -1;
}

/* last: NULL unless it is this rank's last granule. */
static void run_granule(xlm_trainer *t, const xlm_pass_input *input, const int64_t *totals, float *gradient, double *sums,
                        struct last_sweep *last)
{
    xlm_profile_enter(t->profile, XLM_PART_CLEAR, false, sizeof(float) * (double)xlm_parameters_size(t->parameters));
    clear(gradient, xlm_parameters_size(t->parameters));
    const int watched = last != NULL ? last_input(t, input) : -1;
    for (int s = 0; s < inputs_of(t); s++) {
        if (!has_work(&input[s]))
            continue;
        xlm_tape_begin(t->tape, gradient, true, t->setup.seed, (uint64_t)t->step);
        if (s == watched)
            xlm_tape_watch(t->tape, complete, last);
        xlm_pass_run(t, &input[s], totals, true, sums, NULL, NULL);
    }
}

/* All granules of this rank, and of all others: the sums end in the owners' pieces of buffer[0]. sums: [granules x objectives], own
 * granules' rows filled in. */
static void run_granules(xlm_trainer *t, const xlm_pass_input *inputs, const int64_t *totals, double *sums)
{
    const int64_t own = own_granules(t), size = xlm_parameters_size(t->parameters);
    int depth = 0;
    xlm_exchange_begin(t->exchange, t->buffer[0]);
    struct last_sweep last = {.trainer = t, .completed = size};
    for (int64_t i = 0; i < own; i++) {
        /* Added up like a binary counter, numbers in this order make the pairs (j, j + own/2), then (j, j + own/4), ... */
        const int64_t j = xlm_granule_reversed(i, own), granule = granule_of(t, j);
        const bool is_last = i == own - 1;
        last.depth = ++depth;
        run_granule(t, inputs + j * inputs_of(t), totals, t->buffer[depth - 1], sums + granule * t->job->objectives,
                    is_last ? &last : NULL);
        xlm_profile_enter(t->profile, XLM_PART_ADD, false, 0);
        for (int64_t carry = i; !is_last && (carry & 1) != 0; carry >>= 1, depth--)
            add_into(t->buffer[depth - 2], t->buffer[depth - 1], size);
    }
    if (own == 0)
        clear(t->buffer[0], size);
    complete(&last, 0);
    xlm_profile_enter(t->profile, XLM_PART_WAIT, false, 0);
    xlm_exchange_end(t->exchange);
}

/* Global means, from the sums of each granule in the order of the granules. */
static void report_losses(const xlm_trainer *t, double *sums, xlm_step_report *report)
{
    const int objectives = t->job->objectives;
    xlm_comm_sum_double(t->comm, sums, (int)t->granules * objectives);
    report->loss = 0;
    for (int k = 0; k < objectives; k++) {
        double total = 0;
        for (int64_t g = 0; g < t->granules; g++)
            total += sums[g * objectives + k];
        report->objective_loss[k] = report->terms[k] > 0 ? total / (double)report->terms[k] : NAN;
        if (report->terms[k] > 0)
            report->loss += t->job->objective[k].weight * report->objective_loss[k];
    }
}

static bool update(xlm_trainer *t, xlm_step_report *report, GError **error)
{
    float *gradient = t->buffer[0];
    xlm_profile_enter(t->profile, XLM_PART_NORM, false, sizeof(float) * (double)t->shards.own);
    report->gradient_norm = xlm_gradient_norm(&t->shards, gradient);
    report->learning_rate = xlm_learning_rate(&t->job->train.optimiser, t->step, t->job->train.steps);
    if (!isfinite(report->loss) || !isfinite(report->gradient_norm))
        return xlm_error_set(error, EX_SOFTWARE, "step %" G_GINT64_FORMAT ": the %s is not finite (loss %g, gradient norm %g); "
                             "stopped before the update, checkpoints written so far are good; lower learning_rate or raise warmup",
                             t->step + 1, isfinite(report->loss) ? "gradient" : "loss", report->loss, report->gradient_norm);
    const double clip = t->job->train.optimiser.clip;
    const double factor = clip > 0 && report->gradient_norm > clip ? clip / report->gradient_norm : 1;
    xlm_profile_enter(t->profile, XLM_PART_UPDATE, false, 8 * sizeof(float) * (double)t->shards.own);
    xlm_optimiser_update(t->optimiser, gradient, factor, t->step, report->learning_rate);
    xlm_profile_enter(t->profile, XLM_PART_SHARE, false, 0);
    xlm_shards_share(&t->shards, xlm_parameters_values(t->parameters));
    t->step++;
    return true;
}

bool xlm_trainer_step(xlm_trainer *t, xlm_step_report *report, GError **error)
{
    const int64_t own = own_granules(t);
    GError *failure = NULL;
    xlm_pass_input *inputs = g_new0(xlm_pass_input, MAX(own, 1) * inputs_of(t));
    xlm_arena_reset(t->arena);
    xlm_tape_profile(t->tape, t->profile); /* of steps alone, not of evaluations */
    xlm_profile_enter(t->profile, XLM_PART_READ, false, 0);
    for (int64_t j = 0; j < own && failure == NULL; j++)
        read_granule(t, granule_of(t, j), inputs + j * inputs_of(t), &failure);

    xlm_profile_enter(t->profile, XLM_PART_AGREE, false, 0);
    bool good = agree_on_step(t, inputs, own * inputs_of(t), report, &failure);
    if (good) {
        double *sums = g_new0(double, t->granules *t->job->objectives);
        run_granules(t, inputs, report->terms, sums);
        report_losses(t, sums, report);
        good = update(t, report, &failure);
        g_free(sums);
    }
    xlm_profile_leave(t->profile);
    xlm_tape_profile(t->tape, NULL);
    g_free(inputs);
    if (!good)
        g_propagate_error(error, failure);
    return good;
}
