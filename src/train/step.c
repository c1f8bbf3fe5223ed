/* xlm-mpi: one update of the parameters. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "base/bfloat16.h"
#include "base/signals.h"
#include "train/engine_internal.h"
#include "train/hooks.h"

/* The step that is being made. */
typedef struct step {
    xlm_engine *engine;
    int64_t number;         /* updates made before */
    int64_t sample;         /* the one micro-batch that every rank computes; -1: each its own */
    xlm_snapshot *snapshot; /* NULL: none */
} step;

/* How many micro-batches of this rank, at place p in the tree: p, p + R, ... */
static int64_t own_micro_batches(const step *s)
{
    const xlm_engine *e = s->engine;
    return s->sample >= 0 ? 1 : e->micro_batches / e->comm->ranks;
}

/* The micro-batch that is number j of this rank. */
static int64_t micro_batch_of(const step *s, int64_t j)
{
    return s->sample >= 0 ? s->sample : s->engine->comm->place + j * s->engine->comm->ranks;
}

static void add(const float *a, const float *b, float *sum, int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        sum[i] = a[i] + b[i];
}

/* As ranks do that exchange bfloat16 (comm/shards.h), so that sums are the same on any number of them. */
static void add_rounded(const float *a, const float *b, float *sum, int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        sum[i] = xlm_bfloat16_round(a[i]) + xlm_bfloat16_round(b[i]);
}

/* buffer[0] += buffer[1] + (... + buffer[n-1]), the innermost first, of elements [from, end). */
static void add_up(float *const *buffer, int n, int64_t from, int64_t end, bool half)
{
    void (*const sum)(const float *, const float *, float *, int64_t) = half ? add_rounded : add;
    enum { BLOCK = 1 << 11 };
#pragma omp parallel for schedule(static) if (end - from > XLM_PARALLEL)
    for (int64_t at = from; at < end; at += BLOCK) {
        float partial[BLOCK];
        const int64_t size = MIN(BLOCK, end - at);
        const float *inner = buffer[n - 1] + at;
        for (int b = n - 2; b > 0; b--, inner = partial)
            sum(buffer[b] + at, inner, partial, size);
        sum(buffer[0] + at, inner, buffer[0] + at, size);
    }
}

/* Inputs of one micro-batch: one a stream, and one for the objectives without stream. */
static int inputs_of(const xlm_engine *e) { return e->streams.n + 1; }

/* Divide the step, unless it has as many instances of each stream as the one that was divided last. */
static void divide(const step *made)
{
    xlm_engine *e = made->engine;
    bool same = true;
    for (int s = 0; s < e->streams.n; s++)
        same = same && xlm_stream_batch(e->streams.training[s], made->number) ==
                           xlm_stream_batch(e->streams.training[s], e->divided_step);
    if (same)
        return;
    xlm_micro_batches_free(e->divided);
    e->divided = xlm_micro_batches_of_step(e->micro_batches, e->comm->ranks, &e->streams, made->number);
    e->divided_step = made->number;
}

static bool read_micro_batch(const step *made, int64_t micro_batch, xlm_pass_input *input, GError **error)
{
    xlm_engine *e = made->engine;
    for (int s = 0; s < e->streams.n; s++) {
        const xlm_micro_batch_slice slice = xlm_micro_batch_of_batch(e->divided, s, micro_batch);
        input[s] = (xlm_pass_input){.stream = s, .parts = 1, .step = made->number, .only = -1};
        if (slice.n == 0)
            continue;
        xlm_batch *read = XLM_TAKE(e->arena, xlm_batch, 1);
        if (!xlm_stream_read(e->streams.training[s], made->number, slice.first, slice.n, e->arena, read, error))
            return false;
        input[s].batch = read;
        xlm_host_count(e->host, &input[s], e->arena);
    }
    input[e->streams.n] = (xlm_pass_input){.stream = -1, .part = micro_batch, .parts = e->micro_batches, .step = made->number,
                                           .only = -1};
    xlm_host_count(e->host, &input[e->streams.n], e->arena);
    return true;
}

/* A stream's slice may be empty when the batch has fewer instances than micro-batches, or none in this step. */
static bool has_work(const xlm_pass_input *input) { return input->terms != NULL; }

/* What all ranks must know before the first pass: terms of each objective, tokens, and whether a rank must stop or failed. */
enum { TOKENS, STOP, FAILED, EXTRAS };

static bool agree_on_step(const xlm_engine *e, const xlm_pass_input *inputs, int64_t n, xlm_step_report *report, GError **error)
{
    const int means = xlm_host_means(e->host);
    g_autofree int64_t *sum = g_new0(int64_t, means + EXTRAS);
    sum[means + STOP] = xlm_signals_noted() != 0;
    sum[means + FAILED] = *error != NULL;
    for (int64_t i = 0; i < n && *error == NULL; i++) {
        if (!has_work(&inputs[i]))
            continue;
        for (int k = 0; k < means; k++)
            sum[k] += inputs[i].terms[k];
        sum[means + TOKENS] += inputs[i].batch != NULL ? inputs[i].batch->corrupted.tokens : 0;
    }
    xlm_comm_sum_int64(e->comm, sum, means + EXTRAS);
    memcpy(report->terms, sum, sizeof *sum * (size_t)means);
    report->tokens = sum[means + TOKENS];
    report->stop = sum[means + STOP] != 0;
    const bool good = sum[means + FAILED] == 0;
    return good || xlm_comm_agree(e->comm, error);
}

/* What the backward-pass callback of a micro-batch works on. */
struct accumulation {
    xlm_engine *engine;
    float **buffer; /* [n] that become one: the micro-batch's own is the last */
    int n;
    bool last;      /* of this rank's micro-batches */
    int64_t done;   /* elements from here on are accumulated */
};

/* Backward-pass callback: accumulates finished gradients, those of elements [from, size); on the rank's last micro-batch, starts
 * their reduce-scatter. */
static void accumulate(void *data, int64_t from)
{
    struct accumulation *a = data;
    xlm_engine *e = a->engine;
    from = MAX(from, e->shards.first);
    if (from < a->done) {
        xlm_profile_enter(e->profile, XLM_PART_CLEAR, false, 0);
        xlm_tape_clear_untouched(e->tape, from);
        const double arrays = a->n > 1 ? a->n + 1.0 : 0; /* read and written */
        xlm_profile_enter(e->profile, XLM_PART_ADD, false, sizeof(float) * arrays * (double)(a->done - from));
        if (a->n > 1)
            add_up(a->buffer, a->n, from, a->done, e->job->train.exchange == XLM_BFLOAT16);
        a->done = from;
    }
    xlm_profile_enter(e->profile, XLM_PART_REDUCE_SCATTER, false, 0);
    if (a->last) {
        engine_gathered(e);
        xlm_reduce_scatter_ready(e->reduce_scatter, a->done);
    }
}

/* The last of this micro-batch's inputs that an objective learns from; -1: none. */
static int last_input(const xlm_engine *e, const xlm_pass_input *input)
{
    for (int s = inputs_of(e) - 1; s >= 0; s--)
        if (has_work(&input[s]) && xlm_host_has_terms(e->host, &input[s]))
            return s;
    return -1;
}

static void run_micro_batch(const step *made, const xlm_pass_input *input, const int64_t *totals, xlm_sums *sums,
                            struct accumulation *accumulation)
{
    xlm_engine *e = made->engine;
    float *gradient = accumulation->buffer[accumulation->n - 1];
    const int last = accumulation->last || accumulation->n > 1 ? last_input(e, input) : -1;
    for (int s = 0; s < inputs_of(e); s++) {
        if (!has_work(&input[s]))
            continue;
        xlm_tape_begin(e->tape, gradient, true, (uint64_t)e->job->train.seed, (uint64_t)made->number);
        if (s == last)
            xlm_tape_on_completion(e->tape, accumulate, accumulation);
        xlm_host_run(e->host, e->tape, &input[s], totals, sums, NULL);
    }
    accumulate(accumulation, 0);
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

/* All micro-batches of this rank, and the reduce-scatter with all others: the sums end in the owners' buckets of buffer[0]. sums:
 * [micro_batches], of which those of own micro-batches are added to. */
static void run_micro_batches(const step *made, const xlm_pass_input *inputs, const int64_t *totals, xlm_sums *sums)
{
    xlm_engine *e = made->engine;
    const bool reproducible = e->job->train.reproducible;
    const int64_t own = own_micro_batches(made), size = xlm_parameters_size(e->parameters);
    int depth = 0;
    xlm_tape_hold_parameters(e->tape, true);
    xlm_reduce_scatter_begin(e->reduce_scatter, e->buffer[0]);
    for (int64_t i = 0; i < own; i++) {
        /* Added up like a binary counter, numbers in this order make the pairs (j, j + own/2), then (j, j + own/4), ... */
        const int64_t j = xlm_micro_batch_reversed(i, own), micro_batch = micro_batch_of(made, j);
        if (reproducible || i == 0)
            xlm_tape_clear(e->tape, e->buffer[depth++]);
        const int n = reproducible ? buffers_to_add(i, own, depth) : 1;
        depth -= n - 1;
        struct accumulation accumulation = {.engine = e, .buffer = e->buffer + depth - 1, .n = n, .last = i == own - 1,
                                            .done = size};
        run_micro_batch(made, inputs + j * inputs_of(e), totals, sums + micro_batch, &accumulation);
    }
    xlm_tape_hold_parameters(e->tape, false);
    xlm_profile_enter(e->profile, XLM_PART_WAIT, false, 0);
    engine_gathered(e);
    xlm_reduce_scatter_end(e->reduce_scatter);
}

xlm_step_report xlm_step_report_new(const xlm_engine *engine)
{
    xlm_step_report report = {0};
    report.objective_loss = g_new0(double, engine->job->objectives);
    report.terms = g_new0(int64_t, xlm_host_means(engine->host));
    report.metric = g_new0(xlm_metric_sum, xlm_host_metrics(engine->host));
    return report;
}

void xlm_step_report_clear(xlm_step_report *report)
{
    g_free(report->objective_loss);
    g_free(report->terms);
    g_free(report->metric);
    *report = (xlm_step_report){0};
}

/* Global means and metrics, from the sums of each micro-batch in the order of the micro-batches; and whether a rank was asked to
 * stop since the step began: a run ends with the step in which it was asked to. sums: [micro_batches]; the first becomes the
 * total. */
static void report_losses(const step *made, xlm_sums *sums, xlm_step_report *report)
{
    const xlm_engine *e = made->engine;
    const int objectives = e->job->objectives, metrics = xlm_host_metrics(e->host);
    enum { STOPPING, HOLDING, FLAGS };
    bool flags[FLAGS] = {[STOPPING] = xlm_signals_noted() != 0, [HOLDING] = xlm_snapshot_hold(made->snapshot)};
    xlm_exchange_sums(e->comm, sums, e->micro_batches, flags, FLAGS);
    report->stop = flags[STOPPING];
    /* No rank updates before the sums are there, so a snapshot can still be of the step before. */
    if (flags[HOLDING])
        xlm_snapshot_join(made->snapshot);
    for (int64_t g = 1; g < e->micro_batches; g++)
        xlm_sums_add(&sums[0], &sums[g]);
    if (metrics > 0)
        memcpy(report->metric, sums[0].metric, sizeof *report->metric * (size_t)metrics);
    report->loss = 0;
    for (int k = 0; k < objectives; k++) {
        report->objective_loss[k] = xlm_host_mean_loss(e->host, k, &sums[0], report->terms);
        if (xlm_host_has_terms_of(e->host, k, report->terms))
            report->loss += xlm_loss_weight_at(&e->job->objective[k].weight, made->number) * report->objective_loss[k];
    }
}

/* Of a gradient that is not clipped: from 1.8e19 on, the square of an element is infinite as a float, and the optimiser's second
 * moment would stay so for ever. */
static const double LARGEST_NORM = 1e18;

/* The loss or the gradient is not finite, or the gradient is larger than that. Before the first update no learning rate can be the
 * cause. The run adds which checkpoint to go on from. */
static bool refuse_infinite(const step *made, xlm_step_report *report, GError **error)
{
    const xlm_engine *e = made->engine;
    g_autoptr(GString) losses = g_string_new(NULL);
    const char *what = !isfinite(report->loss)            ? "loss is not finite"
                       : isfinite(report->gradient_norm) ? "gradient is too large, set clip"
                                                         : "gradient is not finite";
    for (int k = 0; k < e->job->objectives; k++) {
        const double loss = report->objective_loss[k];
        if (xlm_host_has_terms_of(e->host, k, report->terms) && !isfinite(loss))
            g_string_append_printf(losses, "objective %s: its loss is %s; ", e->job->objective[k].name,
                                   isnan(loss) ? "nan" : loss > 0 ? "inf" : "-inf");
    }
    report->infinite = true;
    return xlm_error_set(error, EX_SOFTWARE, "step %" G_GINT64_FORMAT ": the %s (%sloss %g, gradient norm %g); "
                         "stopped before the update%s", made->number + 1, what, losses->str, report->loss, report->gradient_norm,
                         made->number > 0 ? "" : ", which would have been the first");
}

/* What an objective has declared is updated only in steps that learn from it: without a gradient too, a parameter would move by its
 * weight decay and its moments. Steps that learn from it and happen to have no term for it are not meant: a gradient of 0 is one
 * as any other. */
static void hold_parameters(const step *made)
{
    const xlm_engine *e = made->engine;
    for (int p = 0; p < xlm_parameters_count(e->parameters); p++) {
        const int k = xlm_host_objective_of(e->host, xlm_parameters_get(e->parameters, p)->name);
        xlm_optimiser_hold(e->optimiser, p, k >= 0 && !xlm_job_learns(e->job, k, made->number));
    }
}

/* published: what objectives have published on all ranks. */
static bool update(const step *made, GByteArray *const *published, xlm_step_report *report, GError **error)
{
    xlm_engine *e = made->engine;
    const xlm_optimiser_config *c = &e->job->train.optimiser;
    float *gradient = e->buffer[0];
    xlm_profile_enter(e->profile, XLM_PART_NORM, false, sizeof(float) * (double)e->shards.own);
    report->gradient_norm = xlm_gradient_norm(&e->shards, gradient);
    report->learning_rate = xlm_learning_rate(c, made->number, e->job->train.steps);
    const double factor = c->clip > 0 && report->gradient_norm > c->clip ? c->clip / report->gradient_norm : 1;
    if (!isfinite(report->loss) || !(factor * report->gradient_norm <= LARGEST_NORM))
        return refuse_infinite(made, report, error);
    xlm_profile_enter(e->profile, XLM_PART_UPDATE, false, 7 * sizeof(float) * (double)e->shards.own);
    hold_parameters(made);
    xlm_optimiser_update(e->optimiser, gradient, factor, made->number, report->learning_rate);
    xlm_averages_update(e->averages);
    xlm_host_finish_step(e->host, made->number, published);
    xlm_snapshot_release(made->snapshot, made->number + 1);
    xlm_profile_enter(e->profile, XLM_PART_ALL_GATHER, false, 0);
    xlm_all_gather_begin(e->all_gather, xlm_parameters_values(e->parameters));
    return true;
}

/* Do ranks run passes before they agree on the step? */
static bool makes_labels(const xlm_engine *e)
{
    bool any = false;
    for (int average = -1; average < xlm_host_averages(e->host); average++)
        any |= xlm_host_has_labels(e->host, average);
    return any;
}

static bool make(const step *made, xlm_step_report *report, GError **error)
{
    xlm_engine *e = made->engine;
    const int64_t own = own_micro_batches(made);
    GError *failure = NULL;
    g_autofree xlm_pass_input *inputs = g_new0(xlm_pass_input, MAX(own, 1) * inputs_of(e));
    xlm_arena_reset(e->arena);
    xlm_tape_profile(e->tape, e->profile); /* of steps alone, not of evaluations */
    xlm_profile_enter(e->profile, XLM_PART_READ, false, 0);
    divide(made);
    for (int64_t j = 0; j < own && failure == NULL; j++)
        read_micro_batch(made, micro_batch_of(made, j), inputs + j * inputs_of(e), &failure);

    /* Averages are gathered by all ranks or by none. */
    bool good = xlm_host_averages(e->host) == 0 || xlm_comm_agree(e->comm, &failure);
    xlm_host_begin_step(e->host);
    if (makes_labels(e))
        engine_gathered(e);
    if (good && failure == NULL && makes_labels(e)) {
        const xlm_workspace workspace = xlm_engine_workspace(e);
        xlm_make_labels(&workspace, true, (uint64_t)e->job->train.seed, made->number, inputs, own * inputs_of(e));
    }
    xlm_profile_enter(e->profile, XLM_PART_AGREE, false, 0);
    good = good && agree_on_step(e, inputs, own * inputs_of(e), report, &failure);
    report->updated = good && !report->stop;
    if (report->updated) {
        g_autofree xlm_sums *sums = g_new(xlm_sums, e->micro_batches);
        for (int64_t g = 0; g < e->micro_batches; g++)
            sums[g] = xlm_host_sums_new(e->host);
        run_micro_batches(made, inputs, report->terms, sums);
        report_losses(made, sums, report);
        for (int64_t g = 0; g < e->micro_batches; g++)
            xlm_sums_free(&sums[g]);
        GByteArray **published = xlm_gather_published(e->comm, e->host, made->sample >= 0);
        good = update(made, published, report, &failure);
        xlm_free_published(e->host, published);
        if (!good)
            xlm_snapshot_release(made->snapshot, made->number);
    }
    xlm_profile_leave(e->profile);
    xlm_tape_profile(e->tape, NULL);
    if (!good)
        g_propagate_error(error, failure);
    return good;
}

bool xlm_engine_step(xlm_engine *engine, int64_t number, xlm_snapshot *snapshot, xlm_step_report *report, GError **error)
{
    const step made = {.engine = engine, .number = number, .sample = -1, .snapshot = snapshot};
    return make(&made, report, error);
}

bool xlm_engine_sample_step(xlm_engine *engine, int64_t number, int64_t micro_batch, xlm_step_report *report, GError **error)
{
    const step made = {.engine = engine, .number = number, .sample = micro_batch};
    return make(&made, report, error);
}
