/* xlm-mpi: what the passes of a run cost, before it begins. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/cost.h"

#include "gemm/gemm.h"
#include "stream/batch_sizes.h"
#include "tensor/parameters.h"
#include "train/dump_step.h"
#include "train/evaluate.h"
#include "train/hooks.h"
#include "train/micro_batches.h"

/* Passes on shapes. */
typedef struct estimate {
    const xlm_run_size *size;
    int64_t micro_batches;
    int64_t *most;            /* [streams] instances of one micro-batch */
    double tokens, predicted; /* how far those of a batch are from the mean, as a share of those of the largest batch */
    int64_t step;     /* that objectives are given */
    xlm_tape *tape;
    xlm_arena *arena; /* batches, and what labels keep */
    xlm_sums sums;    /* of passes, which mean nothing */
    void *saved;      /* the states of objectives from before */
    double flops;     /* of a step */
} estimate;

static estimate open_estimate(const xlm_run_size *size, int64_t micro_batches, bool recompute)
{
    estimate e = {.size = size, .micro_batches = micro_batches,
                  .most = xlm_micro_batches_most_of_job(micro_batches, size->job, size->streams),
                  .tape = xlm_tape_new_of_shapes(size->parameters),
                  .arena = xlm_arena_new(), .sums = xlm_host_sums_new(size->host),
                  .saved = g_malloc(MAX(xlm_host_states_bytes(size->host), 1))};
    for (int k = 0; k < size->job->objectives; k++) {
        const int64_t first = xlm_loss_weight_first_step(&size->job->objective[k].weight, size->job->train.steps);
        if (first < size->job->train.steps)
            e.step = MAX(e.step, first);
    }
    xlm_host_copy_states(size->host, e.saved, false);
    xlm_host_estimate(size->host, true);
    xlm_tape_recompute(e.tape, recompute);
    xlm_tape_multiply_by(e.tape, size->arithmetic.packs, size->arithmetic.precision);
    return e;
}

static void close_estimate(estimate *e)
{
    xlm_host_copy_states(e->size->host, e->saved, true);
    g_free(e->saved);
    xlm_tape_free(e->tape);
    xlm_arena_free(e->arena);
    g_free(e->most);
    xlm_sums_free(&e->sums);
    xlm_host_estimate(e->size->host, false);
}

/* A batch of the stream, counted by the objectives. */
static bool plan_input(estimate *e, const xlm_stream *stream, const xlm_planned_size *planned, xlm_pass_input *input,
                       GError **error)
{
    xlm_batch *batch = XLM_TAKE(e->arena, xlm_batch, 1);
    if (!xlm_plan_batch(stream, e->size->vocabulary, planned, e->arena, batch, error))
        return false;
    input->batch = batch;
    xlm_host_count(e->size->host, input, e->arena);
    return true;
}

/* Of one of so many batches. */
static xlm_planned_size plan(const estimate *e, const xlm_stream *stream, int64_t instances, double batches)
{
    const double deviations = xlm_plan_deviations(batches);
    return xlm_plan_size(stream, instances, e->tokens * deviations, e->predicted * deviations);
}

/* Labels with one average, or with none. */
static void label(estimate *e, xlm_pass_input *input, int average, bool training)
{
    xlm_tape_begin(e->tape, NULL, training, 0, 0);
    xlm_host_label(e->size->host, e->tape, input, average, average >= 0 ? XLM_NO_NUMBERS : NULL);
}

/* ---- steps ---- */

/* The largest micro-batches of a step, one a stream and one for the objectives without stream; of a step dump, whole batches. */
static int64_t instances_of(const estimate *e, int s)
{
    return e->size->step_dump ? e->size->job->stream[s].config.batch : e->most[s];
}

static bool plan_step(estimate *e, xlm_pass_input *input, GError **error)
{
    const int streams = e->size->streams->n;
    const double steps = (double)e->size->job->train.steps;
    for (int s = 0; s < streams; s++) {
        const xlm_stream *stream = e->size->streams->training[s];
        const xlm_planned_size planned = plan(e, stream, instances_of(e, s), steps * (double)e->micro_batches);
        input[s] = (xlm_pass_input){.stream = s, .parts = 1, .step = e->step, .only = -1};
        if (!plan_input(e, stream, &planned, &input[s], error))
            return false;
    }
    input[streams] = (xlm_pass_input){.stream = -1, .parts = e->size->step_dump ? 1 : e->micro_batches, .step = e->step, .only = -1};
    xlm_host_count(e->size->host, &input[streams], e->arena);
    return true;
}

static void learn(estimate *e, const xlm_pass_input *input)
{
    xlm_var **hidden = NULL;
    const bool dumps = e->size->step_dump;
    const xlm_host_outputs outputs = {.hidden = dumps && input->batch != NULL ? &hidden : NULL};
    xlm_tape_begin(e->tape, XLM_NO_NUMBERS, !dumps, 0, 0);
    xlm_host_run(e->size->host, e->tape, input, input->terms, &e->sums, &outputs);
    if (hidden != NULL)
        xlm_dump_logits(e->size->host, e->tape, input->batch, hidden);
}

/* How many such passes a step of the run has on average. */
static double passes_of(const estimate *e, const xlm_pass_input *input)
{
    if (input->stream < 0)
        return (double)e->micro_batches;
    const xlm_stream_config *config = &e->size->job->stream[input->stream].config;
    const int64_t steps = e->size->job->train.steps;
    const double batch = config->batches == NULL ? (double)config->batch
                                                 : (double)xlm_batch_sizes_before(config->batches, steps) / (double)steps;
    return batch / (double)instances_of(e, input->stream);
}

static bool run_step(estimate *e, GError **error)
{
    const xlm_host *host = e->size->host;
    const int inputs = e->size->streams->n + 1;
    g_autofree xlm_pass_input *input = g_new0(xlm_pass_input, inputs);
    xlm_arena_reset(e->arena);
    e->flops = 0;
    const bool good = plan_step(e, input, error);
    for (int i = 0; i < inputs && good; i++) {
        const double before = xlm_gemm_flops();
        for (int average = -1; average < xlm_host_averages(host); average++)
            if (xlm_host_has_labels(host, average))
                label(e, &input[i], average, !e->size->step_dump);
        if (xlm_host_has_terms(host, &input[i]) || e->size->step_dump)
            learn(e, &input[i]);
        e->flops += (xlm_gemm_flops() - before) * passes_of(e, &input[i]);
    }
    return good;
}

/* ---- objectives that publish: their passes may grow with what they have received ---- */

/* What a step delivers: rows of zeros, [objectives], NULL for those that do not publish. [out] first: the first step of a run that
 * delivers any; the number of its steps where none does. */
static GByteArray **rows_of_step(const estimate *e, int64_t *first)
{
    const xlm_job *job = e->size->job;
    GByteArray **rows = g_new0(GByteArray *, MAX(job->objectives, 1));
    *first = job->train.steps;
    for (int k = 0; k < job->objectives; k++)
        if (xlm_host_publishes(e->size->host, k)) {
            rows[k] = xlm_host_published_zeros(e->size->host, k, job->stream[job->objective[k].stream].config.batch);
            *first = MIN(*first, xlm_loss_weight_first_step(&job->objective[k].weight, job->train.steps));
        }
    return rows;
}

static uint64_t bytes_of(const estimate *e) { return xlm_tape_peak_bytes(e->tape) + xlm_arena_peak(e->arena); }

/* As many steps as the job has may be delivered: some hundred at once, since a queue may be used only when it is full, then growing
 * numbers until a pass grows no more. */
static bool run_steps(estimate *e, GError **error)
{
    enum { AT_ONCE = 512 };
    const int64_t steps = e->size->job->train.steps;
    int64_t step;
    bool good = run_step(e, error), grows = true;
    GByteArray **rows = rows_of_step(e, &step);
    for (int64_t n = AT_ONCE; good && grows && step < steps; n *= 2) {
        const uint64_t before = bytes_of(e);
        for (const int64_t end = MIN(n, steps - step) + step; step < end; step++)
            xlm_host_finish_step(e->size->host, step, rows);
        good = run_step(e, error);
        grows = bytes_of(e) > before;
    }
    xlm_free_published(e->size->host, rows);
    return good;
}

/* ---- other passes ---- */

/* On held-out text, of each objective by itself. */
static bool evaluate(estimate *e, int s, GError **error)
{
    xlm_host *host = e->size->host;
    const xlm_stream *stream = e->size->streams->held_out[s];
    const int64_t instances = xlm_evaluation_block(e->size->job, s);
    const int64_t all = MIN(e->size->job->train.evaluate_instances, xlm_stream_instances(stream));
    const xlm_planned_size planned = plan(e, stream, instances, (double)all / (double)instances);
    for (int k = 0; k < e->size->job->objectives; k++) {
        if (e->size->job->objective[k].stream != s)
            continue;
        xlm_pass_input input = {.stream = s, .parts = 1, .step = e->step, .held_out = true, .only = k};
        xlm_arena_reset(e->arena);
        if (!plan_input(e, stream, &planned, &input, error))
            return false;
        if (e->size->job->objective[k].cls->label != NULL)
            label(e, &input, xlm_host_average_of(host, k), false);
        if (!xlm_host_has_terms_of(host, k, input.terms))
            continue;
        xlm_tape_begin(e->tape, NULL, false, 0, 0);
        xlm_host_run(host, e->tape, &input, NULL, &e->sums,
                     &(xlm_host_outputs){.scores = XLM_TAKE(e->arena, xlm_score, input.batch->predicted)});
    }
    return true;
}

/* On examples, between steps. */
static bool validate(estimate *e, GError **error)
{
    const xlm_planned_validation *validation = &e->size->validation;
    xlm_pass_input input = {.parts = 1, .step = e->step, .only = -1};
    xlm_arena_reset(e->arena);
    if (!plan_input(e, e->size->streams->training[0], &validation->size, &input, error))
        return false;
    xlm_tape_begin(e->tape, NULL, false, 0, 0);
    xlm_host_run(e->size->host, e->tape, &input, NULL, &e->sums,
                 &(xlm_host_outputs){.visit = validation->visit, .data = (void *)validation->data});
    return true;
}

/* ---- for all ---- */

bool xlm_run_cost_of(const xlm_run_size *size, int64_t micro_batches, bool recompute, xlm_run_cost *cost, GError **error)
{
    estimate e = open_estimate(size, micro_batches, recompute);
    /* A batch with fewer predicted rows may take more: buffers serve one another when their sizes are alike. */
    static const double shares[][2] = {{1, 1}, {0.85, 0.85}, {1, 0}};
    bool good = true;
    *cost = (xlm_run_cost){0};
    for (size_t i = 0; i < G_N_ELEMENTS(shares) && good; i++) {
        e.tokens = shares[i][0], e.predicted = shares[i][1];
        good = (i == 0 ? run_steps : run_step)(&e, error);
        cost->kept = MAX(cost->kept, xlm_arena_peak(e.arena));
        for (int s = 0; s < size->streams->n && good && !size->step_dump; s++)
            good = size->streams->held_out[s] == NULL || evaluate(&e, s, error);
    }
    if (good && size->validation.size.tokens > 0)
        good = validate(&e, error);
    cost->pass = xlm_tape_peak_bytes(e.tape);
    if (good && size->validation.bytes != NULL)
        cost->pass = MAX(cost->pass, size->validation.bytes(size->validation.data, xlm_host_model(size->host), e.tape));
    close_estimate(&e);
    return good;
}

bool xlm_step_flops(const xlm_run_size *size, double *flops, GError **error)
{
    estimate e = open_estimate(size, size->job->train.micro_batches, size->job->train.recompute);
    const bool good = run_steps(&e, error);
    *flops = e.flops;
    close_estimate(&e);
    return good;
}
