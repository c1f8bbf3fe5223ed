/* xlm-mpi: one update of the parameters. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "base/signals.h"
#include "tensor/tape.h"
#include "train/hooks.h"
#include "train/trainer.h"

/* Micro-batches of this rank: rank, rank + R, ... */
static int64_t own_micro_batches(const xlm_trainer *t)
{
    const int64_t own = t->micro_batches > t->comm->rank ? (t->micro_batches - t->comm->rank + t->comm->ranks - 1) / t->comm->ranks : 0;
    return t->sample ? MIN(own, 1) : own;
}

/* The micro-batch that is number j of this rank. */
static int64_t micro_batch_of(const xlm_trainer *t, int64_t j) { return t->sample ? t->sampled : t->comm->rank + j * t->comm->ranks; }

int64_t xlm_micro_batch_reversed(int64_t i, int64_t k)
{
    if ((k & (k - 1)) != 0)
        return i;
    int64_t j = 0;
    for (int64_t bit = 1; bit < k; bit <<= 1, i >>= 1)
        j = j << 1 | (i & 1);
    return j;
}

xlm_micro_batch_slice xlm_micro_batch_of_batch(int64_t batch, int64_t micro_batches, int64_t micro_batch)
{
    const int64_t slice = xlm_micro_batch_reversed(micro_batch, micro_batches), first = batch * slice / micro_batches;
    return (xlm_micro_batch_slice){.first = first, .n = batch * (slice + 1) / micro_batches - first};
}

static void add(const float *a, const float *b, float *sum, int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        sum[i] = a[i] + b[i];
}

/* buffer[0] += buffer[1] + (... + buffer[n-1]), the innermost first, of elements [from, end). */
static void add_up(float *const *buffer, int n, int64_t from, int64_t end)
{
    enum { PIECE = 1 << 11 };
#pragma omp parallel for schedule(static) if (end - from > XLM_PARALLEL)
    for (int64_t at = from; at < end; at += PIECE) {
        float partial[PIECE];
        const int64_t size = MIN(PIECE, end - at);
        const float *inner = buffer[n - 1] + at;
        for (int b = n - 2; b > 0; b--, inner = partial)
            add(buffer[b] + at, inner, partial, size);
        add(buffer[0] + at, inner, buffer[0] + at, size);
    }
}

/* Inputs of one micro-batch: one a stream, and one for the objectives without stream. */
static int inputs_of(const xlm_trainer *t) { return t->job->streams + 1; }

static bool read_micro_batch(xlm_trainer *t, int64_t micro_batch, xlm_pass_input *input, GError **error)
{
    for (int s = 0; s < t->job->streams; s++) {
        const xlm_micro_batch_slice slice = xlm_micro_batch_of_batch(t->job->stream[s].config.batch, t->micro_batches, micro_batch);
        input[s] = (xlm_pass_input){.stream = s, .parts = 1, .step = t->step, .only = -1};
        if (slice.n == 0)
            continue;
        xlm_batch *read = XLM_TAKE(t->arena, xlm_batch, 1);
        if (!xlm_stream_read(t->stream[s], t->step, slice.first, slice.n, t->arena, read, error))
            return false;
        input[s].batch = read;
        xlm_host_count(t->host, &input[s], t->arena);
    }
    input[t->job->streams] = (xlm_pass_input){.stream = -1, .part = micro_batch, .parts = t->micro_batches, .step = t->step,
                                              .only = -1};
    xlm_host_count(t->host, &input[t->job->streams], t->arena);
    return true;
}

/* A stream's slice may be empty when the batch has fewer instances than micro-batches. */
static bool has_work(const xlm_pass_input *input) { return input->terms != NULL; }

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
            sum[k] += inputs[i].terms[k];
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

/* What the callback of a micro-batch's last backward pass works on: it adds finished gradients to those of the micro-batches before
 * and, on the rank's last micro-batch, starts their reduction. */
struct adding {
    xlm_trainer *trainer;
    float **buffer; /* [n] that become one: the micro-batch's own is the last */
    int n;
    bool last;
    int64_t completed; /* elements from here on are added */
};

static void complete(void *data, int64_t from)
{
    struct adding *a = data;
    xlm_trainer *t = a->trainer;
    if (from < a->completed) {
        xlm_profile_enter(t->profile, XLM_PART_CLEAR, false, 0);
        xlm_tape_settle(t->tape, from);
        xlm_profile_enter(t->profile, XLM_PART_ADD, false,
                          sizeof(float) * (a->n > 1 ? a->n + 1.0 : 0) * (double)(a->completed - from));
        if (a->n > 1)
            add_up(a->buffer, a->n, from, a->completed);
        a->completed = from;
    }
    xlm_profile_enter(t->profile, XLM_PART_REDUCE_SCATTER, false, 0);
    if (a->last)
        xlm_reduce_scatter_ready(t->reduce_scatter, a->completed);
}

/* The last of this micro-batch's inputs that an objective learns from; -1: none. */
static int last_input(xlm_trainer *t, const xlm_pass_input *input)
{
    for (int s = inputs_of(t) - 1; s >= 0; s--)
        if (has_work(&input[s]) && xlm_host_has_terms(t->host, &input[s]))
            return s;
    return -1;
}

static void run_micro_batch(xlm_trainer *t, const xlm_pass_input *input, const int64_t *totals, double *sums, struct adding *adding)
{
    float *gradient = adding->buffer[adding->n - 1];
    const int watched = adding->last || adding->n > 1 ? last_input(t, input) : -1;
    for (int s = 0; s < inputs_of(t); s++) {
        if (!has_work(&input[s]))
            continue;
        xlm_tape_begin(t->tape, gradient, true, (uint64_t)t->job->train.seed, (uint64_t)t->step);
        if (s == watched)
            xlm_tape_watch(t->tape, complete, adding);
        xlm_host_run(t->host, t->tape, &input[s], totals, sums, NULL);
    }
    complete(adding, 0);
}

/* How many buffers become one with the last of `depth` when a rank's micro-batch number i of `own` is in it: like the carry of a
 * binary counter, and all when it is the last. */
static int buffers_to_add(int64_t i, int64_t own, int depth)
{
    int n = 1;
    for (int64_t carry = i; (carry & 1) != 0; carry >>= 1)
        n++;
    return i == own - 1 ? depth : n;
}

/* All micro-batches of this rank, and of all others: the sums end in the owners' parts of buffer[0]. sums: [micro_batches x
 * xlm_host_numbers], own micro-batches' rows filled in. */
static void run_micro_batches(xlm_trainer *t, const xlm_pass_input *inputs, const int64_t *totals, double *sums)
{
    const int64_t own = own_micro_batches(t), size = xlm_parameters_size(t->parameters);
    int depth = 0;
    xlm_reduce_scatter_begin(t->reduce_scatter, t->buffer[0]);
    for (int64_t i = 0; i < own; i++) {
        /* Added up like a binary counter, numbers in this order make the pairs (j, j + own/2), then (j, j + own/4), ... */
        const int64_t j = xlm_micro_batch_reversed(i, own), micro_batch = micro_batch_of(t, j);
        if (t->job->train.reproducible || i == 0)
            xlm_tape_clear(t->tape, t->buffer[depth++]);
        const int n = t->job->train.reproducible ? buffers_to_add(i, own, depth) : 1;
        depth -= n - 1;
        struct adding adding = {.trainer = t, .buffer = t->buffer + depth - 1, .n = n, .last = i == own - 1, .completed = size};
        run_micro_batch(t, inputs + j * inputs_of(t), totals, sums + micro_batch * xlm_host_numbers(t->host), &adding);
    }
    if (own == 0) {
        xlm_tape_clear(t->tape, t->buffer[0]);
        xlm_tape_settle(t->tape, 0);
    }
    xlm_profile_enter(t->profile, XLM_PART_WAIT, false, 0);
    xlm_reduce_scatter_end(t->reduce_scatter);
}

xlm_step_report xlm_step_report_new(const xlm_trainer *trainer)
{
    return (xlm_step_report){
        .objective_loss = g_new0(double, trainer->job->objectives),
        .terms = g_new0(int64_t, trainer->job->objectives),
        .metric = g_new0(xlm_metric_sum, xlm_host_metrics(trainer->host)),
    };
}

void xlm_step_report_clear(xlm_step_report *report)
{
    g_free(report->objective_loss);
    g_free(report->terms);
    g_free(report->metric);
    *report = (xlm_step_report){0};
}

/* Global means and metrics, from the sums of each micro-batch in the order of the micro-batches; and whether a rank was asked to stop
 * since the step began: a run ends with the step in which it was asked to. sums: [micro_batches x xlm_host_numbers + 2]. */
static void report_losses(const xlm_trainer *t, double *sums, xlm_step_report *report)
{
    const int objectives = t->job->objectives, numbers = xlm_host_numbers(t->host), n = (int)t->micro_batches * numbers;
    sums[n + 1] = xlm_snapshot_hold(xlm_stopping_snapshot(t->stopping));
    sums[n] = xlm_signals_noted() != 0;
    xlm_comm_sum_double(t->comm, sums, n + 2);
    report->stop = sums[n] != 0;
    /* No rank updates before this sum is there, so a snapshot can still be of the step before. */
    if (sums[n + 1] != 0)
        xlm_snapshot_join(xlm_stopping_snapshot(t->stopping));
    for (int64_t g = 1; g < t->micro_batches; g++)
        for (int i = 0; i < numbers; i++)
            sums[i] += sums[g * numbers + i];
    if (xlm_host_metrics(t->host) > 0)
        memcpy(report->metric, xlm_host_metric_sums(t->host, sums, 0), sizeof *report->metric * (size_t)xlm_host_metrics(t->host));
    report->loss = 0;
    for (int k = 0; k < objectives; k++) {
        report->objective_loss[k] = report->terms[k] > 0 ? sums[k] / (double)report->terms[k] : NAN;
        if (report->terms[k] > 0)
            report->loss += t->job->objective[k].weight * report->objective_loss[k];
    }
}

/* published: what objectives have published on all ranks. */
static bool update(xlm_trainer *t, GByteArray *const *published, xlm_step_report *report, GError **error)
{
    float *gradient = t->buffer[0];
    xlm_profile_enter(t->profile, XLM_PART_NORM, false, sizeof(float) * (double)t->shards.own);
    report->gradient_norm = xlm_gradient_norm(&t->shards, gradient);
    report->learning_rate = xlm_learning_rate(&t->job->train.optimiser, t->step, t->job->train.steps);
    if (!isfinite(report->loss) || !isfinite(report->gradient_norm))
        return xlm_error_set(error, EX_SOFTWARE, "step %" G_GINT64_FORMAT ": the %s is not finite (loss %g, gradient norm %g); "
                             "stopped before the update, checkpoints written so far are good; lower learning_rate or raise "
                             "warmup",
                             t->step + 1, isfinite(report->loss) ? "gradient" : "loss", report->loss, report->gradient_norm);
    const double clip = t->job->train.optimiser.clip;
    const double factor = clip > 0 && report->gradient_norm > clip ? clip / report->gradient_norm : 1;
    xlm_profile_enter(t->profile, XLM_PART_UPDATE, false, 8 * sizeof(float) * (double)t->shards.own);
    xlm_optimiser_update(t->optimiser, gradient, factor, t->step, report->learning_rate);
    xlm_averages_update(t->averages);
    xlm_host_finish_step(t->host, t->step, published);
    xlm_snapshot_release(xlm_stopping_snapshot(t->stopping), t->step + 1);
    xlm_profile_enter(t->profile, XLM_PART_ALL_GATHER, false, 0);
    xlm_shards_all_gather(&t->shards, xlm_parameters_values(t->parameters));
    t->step++;
    return true;
}

bool xlm_trainer_step(xlm_trainer *t, xlm_step_report *report, GError **error)
{
    const int64_t own = own_micro_batches(t);
    GError *failure = NULL;
    xlm_pass_input *inputs = g_new0(xlm_pass_input, MAX(own, 1) * inputs_of(t));
    xlm_arena_reset(t->arena);
    xlm_tape_profile(t->tape, t->profile); /* of steps alone, not of evaluations */
    xlm_profile_enter(t->profile, XLM_PART_READ, false, 0);
    for (int64_t j = 0; j < own && failure == NULL; j++)
        read_micro_batch(t, micro_batch_of(t, j), inputs + j * inputs_of(t), &failure);

    /* Averages are gathered by all ranks or by none. */
    bool good = xlm_host_averages(t->host) == 0 || xlm_comm_agree(t->comm, &failure);
    xlm_host_begin_step(t->host);
    if (good && failure == NULL)
        xlm_trainer_label(t, inputs, own * inputs_of(t), true);
    xlm_profile_enter(t->profile, XLM_PART_AGREE, false, 0);
    good = good && agree_on_step(t, inputs, own * inputs_of(t), report, &failure);
    report->updated = good && !report->stop;
    if (report->updated) {
        double *sums = g_new0(double, t->micro_batches * xlm_host_numbers(t->host) + 2);
        run_micro_batches(t, inputs, report->terms, sums);
        report_losses(t, sums, report);
        GByteArray **published = xlm_gather_published(t->comm, t->host);
        good = update(t, published, report, &failure);
        xlm_free_published(t->host, published);
        if (!good)
            xlm_snapshot_release(xlm_stopping_snapshot(t->stopping), t->step);
        g_free(sums);
    }
    xlm_profile_leave(t->profile);
    xlm_tape_profile(t->tape, NULL);
    g_free(inputs);
    if (!good)
        g_propagate_error(error, failure);
    return good;
}
