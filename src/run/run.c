/* xlm-mpi: the loop of a training run: steps, evaluations, checkpoints, signals. SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/run.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "base/log.h"
#include "base/signals.h"
#include "checkpoint/checkpoint_mean.h"
#include "checkpoint/rank_files.h"
#include "files/files.h"
#include "gemm/hardware.h"
#include "job/job_record.h"
#include "model/checkpoint_names.h"
#include "run/check_gradients.h"
#include "run/rank_kernels.h"
#include "run/report.h"
#include "run/scoring.h"
#include "run/stopping.h"
#include "run/threads.h"
#include "store/store.h"
#include "train/cost.h"
#include "train/dump_step.h"
#include "train/engine.h"
#include "train/gemm_trial.h"
#include "train/micro_batches.h"

/* What a run consists of; private to this file. */
typedef struct run {
    const xlm_comm *comm;
    const xlm_job *job;
    const xlm_training_data *data;
    const xlm_run_options *options;
    xlm_engine *engine;
    xlm_hardware hardware;
    xlm_memory_estimate estimate;
    xlm_run_progress progress;
    xlm_start_record start; /* where the first parameters came from */
    GArray *saved_states;   /* xlm_saved_state: of the objectives, the best score, and the members */
    xlm_best_score *members; /* [validation->average] of the mean of checkpoints so far; NULL: there will be none */
    xlm_stopping *stopping; /* who may interrupt the run, and the lock of its directory; NULL: nothing is trained */
    xlm_scoring scoring;
} run;

/* Runs that do something else with the next step leave the output directory alone. */
static bool trains(const xlm_run_options *options) { return options->dump_step == NULL && !options->check_gradients; }

static int64_t max_members(const run *r) { return r->options->validation != NULL ? r->options->validation->average : 0; }

static xlm_run_state state_of(run *r)
{
    xlm_run_state state = xlm_engine_state(r->engine);
    state.step = r->progress.step;
    state.seed = (uint64_t)r->job->train.seed;
    state.corpus_digest = r->data->digest;
    state.text_digest = r->data->text_digest;
    state.job = r->job;
    state.job_text = r->job->text;
    state.vocabulary = r->data->vocabulary;
    state.task = r->data->task;
    state.best = (int64_t)r->progress.best.step;
    state.members = r->members;
    state.max_members = max_members(r);
    state.members_best = max_members(r) > 0 && r->options->validation->average_best;
    state.start = &r->start;
    state.saved_states = (int)r->saved_states->len;
    state.saved_state = (xlm_saved_state *)r->saved_states->data;
    return state;
}

static void collect_saved_states(run *r)
{
    int n;
    const xlm_saved_state *state = xlm_host_states(xlm_engine_host(r->engine), &n);
    r->saved_states = g_array_new(FALSE, FALSE, sizeof(xlm_saved_state));
    g_array_append_vals(r->saved_states, state, (guint)n);
    if (r->options->validation == NULL)
        return;
    G_STATIC_ASSERT(sizeof r->progress.best == 2 * sizeof(double));
    const xlm_saved_state best = {.path = r->options->validation->state, .type = XLM_STATE_F64, .values = &r->progress.best,
                                  .n = 2, .optional = r->options->validation->losses};
    const xlm_saved_state of = {.path = r->options->validation->of, .type = XLM_STATE_I64, .values = &r->progress.best_of, .n = 1,
                                .optional = true};
    const xlm_saved_state from = {.path = r->options->validation->from, .type = XLM_STATE_I64, .values = &r->progress.from_best,
                                  .n = 1, .optional = true};
    g_array_append_val(r->saved_states, best);
    g_array_append_val(r->saved_states, of);
    g_array_append_val(r->saved_states, from);
    if (max_members(r) == 0)
        return;
    r->members = g_new0(xlm_best_score, max_members(r));
    const xlm_saved_state averaged = {.path = XLM_CHECKPOINT_AVERAGED, .type = XLM_STATE_F64, .values = r->members,
                                      .n = 2 * max_members(r)};
    g_array_append_val(r->saved_states, averaged);
}

/* The end of a message. */
#define LOWER_RATE "lower learning_rate or raise warmup"
#define GO_ON_FROM_EARLIER "go on from an earlier checkpoint with --resume FILE, and " LOWER_RATE

static double gib(uint64_t bytes) { return (double)bytes / (1 << 30); }

static void print_memory(const run *r)
{
    const xlm_memory_estimate *e = &r->estimate;
    const xlm_model_config *c = xlm_engine_model(r->engine);
    const int64_t elements = xlm_parameters_elements(xlm_engine_parameters(r->engine));
    char parameters[16];
    g_autofree char *decoder = c->decoder_layers > 0
                                   ? g_strdup_printf(" and %" G_GINT64_FORMAT " of the decoder", c->decoder_layers)
                                   : g_strdup("");
    xlm_log_info("model: %" G_GINT64_FORMAT " layers%s x %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " heads, %" G_GINT64_FORMAT
                 " subwords, %" G_GINT64_FORMAT " parameters (%s)", c->layers, decoder, c->hidden_size, c->attention_heads,
                 c->vocabulary, elements, xlm_log_count((double)elements, parameters));
    g_autofree char *packed = e->packed > 0 ? g_strdup_printf(", packed %.2f", gib(e->packed)) : g_strdup("");
    g_autofree char *available = e->node_available < UINT64_MAX ? g_strdup_printf(" of %.1f GiB free", gib(e->node_available))
                                                                : g_strdup(" GiB");
    xlm_log_info("memory: %.2f GiB a rank (parameters %.2f%s, optimiser %.2f, gradients %.2f, a pass %.2f, %.2f %s recompute); "
                 "this node: %.2f%s", gib(e->total), gib(e->parameters), packed, gib(e->moments), gib(e->gradients), gib(e->pass),
                 gib(e->other_pass), r->job->train.recompute ? "without" : "with", gib(e->node_needed), available);
}

static void print_hardware(const run *r)
{
    const xlm_hardware *h = &r->hardware;
    xlm_log_info("ranks: %d (%d on this node) x %d threads; %" G_GINT64_FORMAT " micro-batches a step", r->comm->ranks,
                 r->comm->local_ranks, h->threads, xlm_micro_batches_on(r->job->train.micro_batches, r->comm->ranks));
    const xlm_arithmetic arithmetic = xlm_engine_arithmetic(r->engine);
    if (arithmetic.packs)
        xlm_log_info("products: %s, %.0f GFLOP/s a rank measured; others by BLIS: %s kernels (%s)",
                     xlm_arithmetic_name(arithmetic), h->gemm_gflops, h->blis, h->choice);
    else
        xlm_log_info("BLIS: %s kernels (%s), %.0f GFLOP/s a rank measured", h->blis, h->choice, h->gemm_gflops);
}

/* The rates of both libraries on a processor that no one has measured, on rank 0; the others wait. */
static void try_libraries(const run *r)
{
    if (!xlm_engine_arithmetic(r->engine).unmeasured || r->comm->rank != 0)
        return;
    const xlm_run_size size = xlm_engine_size(r->engine);
    xlm_gemm_trial trial = xlm_gemm_trial_of(&size, xlm_micro_batches_on(r->job->train.micro_batches, r->comm->ranks));
    xlm_gemm_trial_run(&trial);
    const xlm_processor processor = xlm_processor_identify();
    g_autofree char *text = xlm_gemm_trial_text(&trial, &processor);
    xlm_log_info("%s", text);
}

/* Threads, kernels, and the rate of GEMM with all ranks at work. [out] flops: operations of a step's products. Collective. */
static bool open_hardware(run *r, double *flops, GError **error)
{
    const xlm_run_size size = xlm_engine_size(r->engine);
    if (!xlm_step_flops(&size, flops, error))
        return false;
    const xlm_arithmetic arithmetic = xlm_engine_arithmetic(r->engine);
    xlm_hardware_start();
    xlm_rank_kernels_compare(r->comm, &r->hardware, arithmetic.packs, arithmetic.precision);
    xlm_threads_settle(r->comm, &r->hardware);
    try_libraries(r);
    xlm_comm_barrier(r->comm);
    const double steps = trains(r->options) ? (double)r->job->train.steps : 1;
    xlm_hardware_measure(&r->hardware, arithmetic.packs, arithmetic.precision, *flops * steps / r->comm->ranks);
    print_hardware(r);
    return true;
}

/* The minimum time that the job takes, whose steps have so many operations: products at the rate of GEMM and nothing else. */
static void print_time(const run *r, double flops)
{
    const double rate = r->hardware.gemm_gflops * r->comm->ranks;
    char each[16], time[16];
    xlm_log_info("time: %" G_GINT64_FORMAT " steps of %sFLOP each take %s at the %.0f GFLOP/s that GEMM gives on %d ranks x %d "
                 "threads here, and longer by all that is not a product", r->job->train.steps, xlm_log_count(flops, each),
                 xlm_log_time(1e-9 * flops * (double)r->job->train.steps / MAX(rate, 1e-9), time), rate, r->comm->ranks,
                 r->hardware.threads);
}

/* Of parameters that are not finite: checkpoints before stay. */
static bool check_parameters(const run *r, GError **error)
{
    if (xlm_engine_check_finite(r->engine, error))
        return true;
    g_prefix_error(error, "step %" G_GINT64_FORMAT ": after the update, the ", r->progress.step);
    xlm_error_append(*error, r->progress.saved > 0 ? "; no checkpoint is written of it; " GO_ON_FROM_EARLIER
                                                   : "; no checkpoint is written of it; " LOWER_RATE);
    return false;
}

static bool write_checkpoint(run *r, GError **error)
{
    const double start = xlm_clock();
    xlm_engine_show_masters(r->engine);
    const xlm_run_state state = state_of(r);
    const bool good = check_parameters(r, error) &&
                      xlm_checkpoint_write(r->comm, r->job->train.output, &state, r->job->train.keep, error);
    xlm_engine_keep_masters(r->engine);
    if (!good)
        return false;
    r->progress.saved = r->progress.step;
    g_autofree char *path = xlm_checkpoint_path(r->job->train.output, r->progress.step);
    xlm_log_info("checkpoint %s written in %.1f s", path, xlm_clock() - start);
    return true;
}

/* A rank was asked to stop. Collective. */
static bool asked_to_stop(const xlm_comm *comm)
{
    int64_t asked = xlm_signals_noted() != 0;
    xlm_comm_max_int64(comm, &asked, 1);
    return asked != 0;
}

/* An objective that never has a term is an error in the job that nothing else would show. */
static void warn_of_nothing(const run *r, const xlm_step_report *step, bool *warned)
{
    bool any = false;
    for (int k = 0; k < r->job->objectives; k++)
        any = any || xlm_host_has_terms_of(xlm_engine_host(r->engine), k, step->terms);
    if (!any && !*warned)
        xlm_log_warn("step %" G_GINT64_FORMAT ": no objective had anything to learn from; look at mask, batch and begin",
                     r->progress.step);
    *warned |= !any;
}

static bool due(int64_t step, int64_t every) { return every > 0 && step % every == 0; }

static bool save(run *r, GError **error)
{
    xlm_report_pause(r->scoring.report);
    xlm_report_flush(r->scoring.report);
    const bool good = xlm_stopping_may_write(r->stopping, error) && write_checkpoint(r, error);
    xlm_report_resume(r->scoring.report);
    return good;
}

static bool evaluation_is_due(const run *r)
{
    const xlm_train_config *c = &r->job->train;
    return r->progress.step == c->steps || due(r->progress.step, c->evaluate_every);
}

/* What is due after an update, and the checkpoint. */
static bool finish_step(run *r, bool interrupted, GError **error)
{
    const xlm_train_config *c = &r->job->train;
    const int64_t step = r->progress.step;
    const bool last = step == c->steps;
    bool best = false;
    bool good = !evaluation_is_due(r) || xlm_scoring_evaluate(&r->scoring, interrupted, &best, error);
    if (good && (last || best || interrupted || xlm_scoring_is_out_of_patience(&r->scoring) || due(step, c->checkpoint_every)))
        good = save(r, error);
    return good;
}

/* The run was resumed from a file, and its output directory has no checkpoint of that step. */
static bool lacks_checkpoint(const run *r)
{
    return r->options->resume == XLM_RESUME_FILE && r->progress.saved != r->progress.step;
}

static bool is_finished(const run *r)
{
    return r->progress.step >= r->job->train.steps || xlm_scoring_is_out_of_patience(&r->scoring);
}

/* The mean of checkpoints is due, and not there, or that of a shorter run: the run may have been killed before it was written. */
static bool lacks_mean(const run *r)
{
    int64_t lacks = 0;
    if (r->comm->rank == 0 && max_members(r) > 0) {
        g_autofree char *path = g_build_filename(r->job->train.output, XLM_CHECKPOINT_MEAN, NULL);
        g_autoptr(xlm_store) mean = xlm_store_open(path, NULL);
        int64_t step;
        lacks = mean == NULL || !xlm_store_get_int(mean, "/", "step", &step, NULL) || step != r->progress.step;
    }
    xlm_comm_max_int64(r->comm, &lacks, 1);
    return lacks != 0;
}

/* Measure the mean of checkpoints and write it. From here on the parameters are those of no step: no snapshot may be taken. */
static bool write_mean(run *r, GError **error)
{
    int64_t n;
    xlm_snapshot_hold(xlm_stopping_snapshot(r->stopping));
    if (!xlm_checkpoint_mean(r->comm, r->job->train.output, r->members, max_members(r),
                             xlm_engine_parameters(r->engine), &n, error))
        return false;
    if (n == 0) {
        xlm_log_warn("%s: none of the checkpoints to be averaged is here any more", r->job->train.output);
        return true;
    }
    g_autoptr(GArray) measures = g_array_new(FALSE, FALSE, sizeof(xlm_language_measure));
    const xlm_run_state state = state_of(r);
    const bool good = xlm_scoring_measure(&r->scoring, measures, error) && xlm_stopping_may_write(r->stopping, error) &&
                      xlm_checkpoint_write_mean(r->comm, r->job->train.output, &state, error);
    if (good) {
        xlm_report_mean(r->scoring.report, r->options->validation, measures, n);
        xlm_log_info("mean of %" G_GINT64_FORMAT " checkpoints written to %s/" XLM_CHECKPOINT_MEAN, n, r->job->train.output);
    }
    return good;
}

/* Write the checkpoint of the state that a stopped run left, and do what was still due after its last step. What it left is on the
 * disk until then, and no snapshot of the same step may take its place, which might not become complete. */
static bool save_rank_files(run *r, GError **error)
{
    if (!finish_step(r, r->progress.step < r->job->train.steps, error))
        return false;
    if (r->comm->rank == 0)
        xlm_rank_files_remove(r->job->train.output);
    return true;
}

static void protect(run *r)
{
    const xlm_run_state state = state_of(r);
    xlm_stopping_protect(r->stopping, &state, r->progress.validated, xlm_run_resuming_command(r->options));
}

/* A step was refused because it is not finite: say what to go on from. The checkpoint of the step's start has the parameters that
 * gave this. */
static void advise(const run *r, GError *error)
{
    const int64_t step = r->progress.step;
    if (step == 0)
        return;
    g_autofree char *path = xlm_checkpoint_path(r->job->train.output, step);
    g_autofree char *again = g_strconcat("; ", path, " gives it again; " GO_ON_FROM_EARLIER, NULL);
    xlm_error_append(error, r->progress.saved == step  ? again
                            : r->progress.saved > 0 ? "; checkpoints written so far are good; " LOWER_RATE
                                                    : "; " LOWER_RATE);
}

static bool train(run *r, bool *interrupted, GError **error)
{
    xlm_run_progress *progress = &r->progress;
    xlm_profile *profile = xlm_engine_profile(r->engine);
    xlm_step_report step = xlm_step_report_new(r->engine);
    bool warned = false;
    const int64_t first = progress->step + 1;
    bool good = progress->step == progress->saved || save_rank_files(r, error);
    if (good)
        protect(r);
    *interrupted = asked_to_stop(r->comm) || r->options->finish;
    good = good && (*interrupted || xlm_scoring_begin(&r->scoring, error));
    while (good && !is_finished(r) && !*interrupted) {
        good = xlm_engine_step(r->engine, progress->step, xlm_stopping_snapshot(r->stopping), &step, error);
        if (!good && step.infinite)
            advise(r, *error);
        if (good && !step.updated) {
            /* Asked to stop since the last update, as during an evaluation. */
            *interrupted = true;
            good = progress->step < first || progress->step == progress->saved || save(r, error);
        }
        if (!good || !step.updated)
            break;
        progress->step++;
        xlm_report_step(r->scoring.report, &step);
        if (progress->step == first)
            xlm_profile_reset(profile); /* the first step touches memory for the first time: it does not count */
        warn_of_nothing(r, &step, &warned);
        *interrupted = step.stop && progress->step < r->job->train.steps;
        good = finish_step(r, *interrupted, error);
    }
    if (good && !*interrupted && xlm_scoring_is_out_of_patience(&r->scoring)) {
        g_autofree char *name = xlm_scoring_name(r->options->validation);
        xlm_log_info("stopped early: no better score on %s in %" G_GINT64_FORMAT " measurements (patience)", name,
                     xlm_scoring_since_best(&r->scoring));
    }
    if (profile != NULL) {
        const xlm_shards_report reduce_scatter = xlm_engine_reduce_scatter_report(r->engine);
        const xlm_shards_report all_gather = xlm_engine_all_gather_report(r->engine);
        xlm_report_profile(profile, xlm_arithmetic_name(xlm_engine_arithmetic(r->engine)), &reduce_scatter,
                           &all_gather, progress->step - first);
    }
    xlm_step_report_clear(&step);
    return good;
}

static void print_peak(run *r)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    int64_t max[2] = {(int64_t)usage.ru_maxrss * 1024, (int64_t)xlm_tape_peak_bytes(xlm_engine_workspace(r->engine).tape)};
    xlm_comm_max_int64(r->comm, max, 2);
    xlm_log_info("peak memory: %.2f GiB in the largest rank; a pass %.3f MiB, estimated %.3f", gib((uint64_t)max[0]),
                 (double)max[1] / (1 << 20), (double)r->estimate.pass / (1 << 20));
}

const char *xlm_run_resuming_command(const xlm_run_options *options)
{
    const bool same = options->resume_file == NULL || strcmp(options->resume_file, "auto") == 0;
    return same ? "the same command" : "the same command without --resume";
}

static void print_best(const run *r)
{
    const xlm_best_score *best = &r->progress.best;
    if (r->options->validation == NULL || best->step == 0)
        return;
    g_autofree char *name = xlm_scoring_name(r->options->validation);
    xlm_log_info("best on %s: %.4f at step %.0f, %s/best", name, best->score, best->step, r->job->train.output);
}

/* Was the run killed before the score that is due was noted? With --finish, what the ranks left stays for the next start then: one
 * process would take for the score as many times as long as there were ranks. */
static bool score_is_due(const run *r)
{
    return r->options->validation != NULL && r->progress.step != r->progress.saved && evaluation_is_due(r) &&
           r->progress.validated != r->progress.step;
}

/* With --finish: in the log, and to the terminal of the user who stopped the run. */
static void print_finished(const run *r)
{
    const char *output = r->job->train.output;
    const int64_t step = r->progress.step;
    const char *command = xlm_run_resuming_command(r->options);
    g_autofree char *path = xlm_checkpoint_path(output, step);
    g_autofree char *line =
        score_is_due(r) ? g_strdup_printf("%s: the score of step %" G_GINT64_FORMAT " is due; the next start of %s makes it, and "
                                          "the checkpoint", output, step, command)
        : step > 0      ? g_strdup_printf("%s is there; %s resumes from it", path, command)
                        : g_strconcat(output, ": nothing is left to finish", NULL);
    xlm_log_info("%s", line);
    if (r->comm->rank == 0)
        xlm_snapshot_print_on_terminal(line);
}

/* From the step at which the run was resumed to its last step. continues: it goes on from the course in its output directory. */
static bool run_steps(run *r, bool continues, bool *interrupted, GError **error)
{
    const xlm_run_options *options = r->options;
    const xlm_report_setup setup = {
        .comm = r->comm, .job = r->job, .host = xlm_engine_host(r->engine), .vocabulary = r->data->vocabulary,
        .progress = &r->progress, .gemm_gflops = r->hardware.gemm_gflops,
    };
    r->scoring.report = xlm_report_open(&setup, continues, error);
    if (r->scoring.report == NULL)
        return false;
    /* Before the first step, so that every later start finds something to continue, with the parameters that are frozen. */
    if (lacks_checkpoint(r) && !save(r, error)) {
        xlm_report_close(r->scoring.report);
        return false;
    }
    if (!options->finish)
        xlm_log_info("to stop: Ctrl-C once, or SIGTERM or SIGUSR1; a checkpoint is written, from which %s continues",
                     xlm_run_resuming_command(options));
    const int64_t first = r->progress.step;
    bool good = train(r, interrupted, error);
    if (good && !*interrupted && max_members(r) > 0 && (r->progress.step > first || lacks_mean(r)))
        good = write_mean(r, error);
    if (good) {
        print_best(r);
        print_peak(r);
        if (options->finish) {
            print_finished(r);
            *interrupted = false;
        }
        if (*interrupted)
            xlm_log_info("stopped by a signal at step %" G_GINT64_FORMAT "; %s resumes from there", r->progress.step,
                         xlm_run_resuming_command(options));
        xlm_report_summary(r->scoring.report);
    }
    xlm_report_close(r->scoring.report);
    return good;
}

static bool run_allocated(run *r, const xlm_resume_setup *setup, bool *interrupted, GError **error)
{
    const xlm_run_options *options = r->options;
    xlm_run_progress *progress = &r->progress;
    xlm_run_state state = state_of(r);
    bool resumed, continues;
    if (!xlm_resume(setup, &state, progress, &resumed, &continues, error))
        return false;
    xlm_engine_keep_masters(r->engine);
    if (!resumed)
        xlm_engine_begin_averages(r->engine);
    const xlm_workspace workspace = xlm_engine_workspace(r->engine);
    if (options->dump_step != NULL) {
        if (!xlm_dump_step(r->job, &workspace, progress->step, options->dump_step, error))
            return false;
        print_peak(r);
        return true;
    }
    if (options->check_gradients)
        return xlm_check_gradients(r->job, &workspace, progress->step, options->check_only, error);
    if (options->finish && (progress->step == progress->saved || score_is_due(r))) {
        print_finished(r);
        return true;
    }
    if (progress->step == progress->saved && is_finished(r) && !lacks_mean(r)) {
        xlm_log_info("nothing to do: step %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " is reached%s", progress->step,
                     r->job->train.steps, xlm_scoring_is_out_of_patience(&r->scoring) ? ", and the patience is over" : "");
        print_best(r);
        return true;
    }
    return xlm_job_record_write(r->comm, r->job->train.output, r->job->text, error) && run_steps(r, continues, interrupted, error);
}

/* Make the output directory, and lock it for this run alone. */
static bool open_output(run *r, GError **error)
{
    GError *failure = NULL;
    const char *output = r->job->train.output;
    if (r->comm->rank == 0 && g_mkdir_with_parents(output, 0777) != 0)
        xlm_error_set(&failure, EX_CANTCREAT, "%s: cannot be made: %s", output, g_strerror(errno));
    xlm_files_own(output);
    if (xlm_comm_agree_on(r->comm, failure, error))
        r->scoring.stopping = r->stopping = xlm_stopping_open(r->comm, output, r->options->finish, error);
    return r->stopping != NULL;
}

bool xlm_run(const xlm_comm *comm, const xlm_job *job, const xlm_training_data *data, const xlm_run_options *options,
             bool *interrupted, GError **error)
{
    *interrupted = false;
    if (!options->dry_run && trains(options))
        xlm_signals_watch();
    run r = {.comm = comm, .job = job, .data = data, .options = options, .engine = xlm_engine_open(comm, job, data, error)};
    if (r.engine == NULL)
        return false;
    collect_saved_states(&r);
    const xlm_validation *validation = options->validation;
    r.scoring = (xlm_scoring){.comm = comm, .job = job, .vocabulary = data->vocabulary, .validation = validation,
                              .engine = r.engine, .progress = &r.progress, .members = r.members};
    const xlm_resume_setup resume = {.comm = comm, .job = job, .resume = options->resume, .file = options->resume_file,
                                     .trains = trains(options), .validates = validation != NULL,
                                     .best_of = xlm_scoring_digest(validation),
                                     .older = validation != NULL && validation->older,
                                     .members = max_members(&r) > 0 && validation->average_best ? r.members : NULL};
    xlm_run_size size = xlm_engine_size(r.engine);
    size.step_dump = options->dump_step != NULL;
    xlm_hardware_prepare(&r.hardware, (int)job->train.threads, comm->local_ranks);
    /* What the job names is checked before objectives are run to estimate memory. */
    bool good = xlm_scoring_check(&r.scoring, error) && xlm_resume_check(&resume, data->vocabulary, error) &&
                xlm_memory_check(comm, &size, &r.estimate, error);
    if (good)
        print_memory(&r);
    double flops; /* of a step */
    if (good && options->dry_run) {
        good = open_hardware(&r, &flops, error);
        if (good)
            print_time(&r, flops);
    } else if (good && (good = (!trains(options) || open_output(&r, error)) && open_hardware(&r, &flops, error))) {
        xlm_engine_allocate(r.engine, r.estimate.pass, options->profile);
        good = run_allocated(&r, &resume, interrupted, error);
    }
    xlm_stopping_close(r.stopping);
    xlm_engine_close(r.engine);
    xlm_start_record_clear(&r.start);
    g_array_unref(r.saved_states);
    g_free(r.members);
    return good;
}
