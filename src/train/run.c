/* xlm-mpi: the loop of a training run: steps, evaluations, checkpoints, signals. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/run.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "base/log.h"
#include "base/signals.h"
#include "train/check_gradients.h"
#include "train/checkpoint_files.h"
#include "train/evaluate.h"
#include "train/job_record.h"
#include "train/rank_files.h"
#include "train/report.h"
#include "train/threads.h"
#include "train/stopping.h"
#include "train/warm_start.h"

/* Other things that are done with the next step leave the output directory alone. */
static bool trains(const xlm_run_options *options) { return options->dump_step == NULL && !options->check_gradients; }

static double gib(uint64_t bytes) { return (double)bytes / (1 << 30); }

static void print_plan(const xlm_trainer *t, const xlm_memory_estimate *e)
{
    const xlm_model_config *c = &t->config;
    char parameters[16];
    xlm_log_info("model: %" G_GINT64_FORMAT " layers x %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " heads, %" G_GINT64_FORMAT
                 " subwords, %" G_GINT64_FORMAT " parameters (%s)", c->layers, c->hidden_size, c->attention_heads, c->vocabulary,
                 xlm_parameters_elements(t->parameters),
                 xlm_log_count((double)xlm_parameters_elements(t->parameters), parameters));
    xlm_log_info("memory: %.2f GiB a rank (parameters %.2f, optimiser %.2f, gradients %.2f, a pass %.2f, %.2f %s recompute); "
                 "this node: %.2f of %.1f GiB free", gib(e->total), gib(e->parameters), gib(e->moments), gib(e->gradients),
                 gib(e->pass), gib(e->other_pass), t->job->train.recompute ? "without" : "with", gib(e->node_needed),
                 gib(e->node_available));
}

static void print_hardware(const xlm_trainer *t)
{
    const xlm_hardware *h = &t->hardware;
    xlm_log_info("ranks: %d (%d on this node) x %d threads; %" G_GINT64_FORMAT " micro-batches a step", t->comm->ranks,
                 t->comm->local_ranks, h->threads, t->micro_batches);
    xlm_log_info("BLIS: %s kernels (%s), %.0f GFLOP/s a rank measured", h->blis, h->choice, h->gemm_gflops);
}

/* Threads, kernels, and what GEMM gives on all ranks side by side. Collective. */
static void open_hardware(xlm_trainer *t)
{
    xlm_hardware_open(&t->hardware, (int)t->job->train.threads, t->comm->local_ranks);
    xlm_threads_settle(t->comm, &t->hardware);
    xlm_comm_barrier(t->comm);
    xlm_hardware_measure(&t->hardware);
    print_hardware(t);
}

/* How long the job takes at the least: products at the rate of GEMM and nothing else. */
static void print_time(const xlm_trainer *t)
{
    const double flops = xlm_trainer_step_flops(t), rate = t->hardware.gemm_gflops * t->comm->ranks;
    char each[16], time[16];
    xlm_log_info("time: %" G_GINT64_FORMAT " steps of %sFLOP each take %s at the %.0f GFLOP/s that GEMM gives on %d ranks x %d threads "
                 "here, and longer by all that is no product", t->job->train.steps, xlm_log_count(flops, each),
                 xlm_log_time(1e-9 * flops * (double)t->job->train.steps / MAX(rate, 1e-9), time), rate, t->comm->ranks,
                 t->hardware.threads);
}

/* The best checkpoint so far may be in another directory, or gone. */
static bool find_best(xlm_trainer *t, GError **error)
{
    bool there;
    if (!xlm_checkpoint_point_best(t->comm, t->job->train.output, (int64_t)t->best[1], &there, error))
        return false;
    if (!there && t->best[1] > 0)
        xlm_log_warn("%s: the best checkpoint, of step %.0f, is not here any more; the best of those to come is looked for",
                     t->job->train.output, t->best[1]);
    if (!there)
        memset(t->best, 0, sizeof t->best);
    return true;
}

/* By rank 0; 0: the output directory has no checkpoint. */
static int64_t newest_checkpoint(const xlm_trainer *t)
{
    if (t->comm->rank != 0)
        return 0;
    GArray *steps = xlm_checkpoint_steps(t->job->train.output);
    const int64_t newest = steps->len > 0 ? g_array_index(steps, int64_t, steps->len - 1) : 0;
    g_array_unref(steps);
    return newest;
}

/* A fine-tuned model's head is of its own labels. */
static bool start_warm(xlm_trainer *t, GError **error)
{
    return xlm_warm_start(t->comm, t->job, t->data->vocabulary, t->data->task == NULL, t->parameters, &t->start, error);
}

/* Where the first parameters came from, as the newest checkpoint says. *known: it does. */
static void recall_start(xlm_trainer *t, bool *known)
{
    const int64_t step = newest_checkpoint(t);
    char *path = xlm_checkpoint_path(t->job->train.output, step);
    xlm_store *store = step > 0 ? xlm_store_open(path, NULL) : NULL;
    int64_t found = store != NULL && xlm_start_record_read(&t->start, store, NULL);
    xlm_store_close(store);
    g_free(path);
    xlm_comm_max_int64(t->comm, &found, 1);
    *known = found != 0;
    if (*known)
        xlm_start_record_share(&t->start, t->comm);
}

/* The state of a run whose ranks were killed, when it is newer than its newest checkpoint. */
static bool take_parts(xlm_trainer *t, xlm_run_state *state, bool *found, GError **error)
{
    const int64_t newest = newest_checkpoint(t);
    const char *output = t->job->train.output;
    bool known = true;
    if (!xlm_rank_files_take(t->comm, output, newest, state, &t->validated, found, error))
        return false;
    if (*found && t->job->train.start != NULL)
        recall_start(t, &known);
    /* Stopped before its first checkpoint: only the start itself says it, and sets parameters. */
    return known || (start_warm(t, error) && xlm_rank_files_take(t->comm, output, newest, state, &t->validated, found, error));
}

/* Parameters, moments and step from the checkpoint that the options ask for. *resumed: there was one, or what becomes one
 * (t->saved is not t->step). */
static bool resume(xlm_trainer *t, const xlm_run_options *options, bool *resumed, GError **error)
{
    xlm_run_state state = xlm_trainer_state(t);
    char *found = NULL;
    int moved = 0;
    bool good = true, unsaved = false;
    *resumed = false;
    switch (options->resume) {
    case XLM_RESUME_NEVER:
        break;
    case XLM_RESUME_FILE:
        good = xlm_checkpoint_read(t->comm, options->resume_file, &state, error);
        found = good ? g_strdup(options->resume_file) : NULL;
        break;
    default:
        good = (!trains(options) || take_parts(t, &state, &unsaved, error)) &&
               (unsaved || xlm_checkpoint_resume(t->comm, t->job->train.output, &state, &found, error));
    }
    if (good && options->resume != XLM_RESUME_AUTO && trains(options) && t->comm->rank == 0 &&
        xlm_rank_files_remove(t->job->train.output) > 0)
        xlm_log_warn("%s: what a stopped run left there was no checkpoint yet, and is removed", t->job->train.output);
    /* Later ones are damaged, or of a course that is given up: the next resumption must not find them. */
    if (good && trains(options))
        good = xlm_checkpoint_set_aside(t->comm, t->job->train.output, found != NULL || unsaved ? state.step : -1, &moved, error);
    if (good && moved > 0)
        xlm_log_info("%s: %d checkpoints moved aside into previous-*", t->job->train.output, moved);
    if (good && options->validation != NULL && trains(options))
        good = find_best(t, error);
    if (good && found != NULL) {
        t->step = t->saved = state.step;
        *resumed = true;
        xlm_log_info("resumed from %s at step %" G_GINT64_FORMAT, found, t->step);
        if (t->comm->rank == 0)
            xlm_job_record_log_changes(found, t->job);
    }
    if (good && unsaved) {
        t->step = state.step;
        *resumed = true;
        xlm_log_info("resumed from what a stopped run left in %s at step %" G_GINT64_FORMAT, t->job->train.output, t->step);
        if (t->comm->rank == 0)
            xlm_job_record_log_changes_in(t->job->train.output, t->job);
    }
    if (good && found == NULL && !unsaved && t->job->train.start != NULL)
        good = start_warm(t, error);
    if (good && !*resumed)
        xlm_averages_begin(t->averages);
    g_free(found);
    return good;
}

static bool write_checkpoint(xlm_trainer *t, GError **error)
{
    const double start = xlm_clock();
    const xlm_run_state state = xlm_trainer_state(t);
    if (!xlm_checkpoint_write(t->comm, t->job->train.output, &state, t->job->train.keep, error))
        return false;
    t->saved = t->step;
    xlm_log_info("checkpoint %s/checkpoint-%08" G_GINT64_FORMAT ".h5 written in %.1f s", t->job->train.output, t->step,
                 xlm_clock() - start);
    return true;
}

/* *best: the model is better than at any step before. */
static bool validate(xlm_trainer *t, xlm_report *report, const xlm_validation *validation, bool *best, GError **error)
{
    GArray *measures = g_array_new(FALSE, FALSE, sizeof(xlm_measure));
    xlm_report_pause(report);
    const bool good = validation->measure(validation->data, t, measures, error);
    xlm_report_resume(report);
    if (good) {
        const double score = g_array_index(measures, xlm_measure, 0).value;
        *best = t->best[1] == 0 || score > t->best[0];
        if (*best) {
            t->best[0] = score;
            t->best[1] = (double)t->step;
        }
        t->validated = t->step;
        xlm_snapshot_validated(xlm_stopping_snapshot(t->stopping), t->validated);
        xlm_report_measures(report, validation, measures, *best);
    }
    g_array_unref(measures);
    return good;
}

static bool evaluate(xlm_trainer *t, xlm_report *report, GError **error)
{
    xlm_evaluation *rows;
    int n;
    xlm_report_pause(report);
    if (!xlm_evaluate(t, t->job->train.evaluate_instances, &rows, &n, error))
        return false;
    xlm_report_resume(report);
    xlm_report_evaluation(report, rows, n);
    g_free(rows);
    return true;
}

/* A rank was asked to stop. Collective. */
static bool asked_to_stop(const xlm_comm *comm)
{
    int64_t asked = xlm_signals_noted() != 0;
    xlm_comm_max_int64(comm, &asked, 1);
    return asked != 0;
}

/* An objective that never has a term is an error of the job that nothing else would show. */
static void warn_of_nothing(const xlm_trainer *t, const xlm_step_report *step, bool *warned)
{
    int64_t terms = 0;
    for (int k = 0; k < t->job->objectives; k++)
        terms += step->terms[k];
    if (terms == 0 && !*warned)
        xlm_log_warn("step %" G_GINT64_FORMAT ": no objective had anything to learn from; look at mask and begin", t->step);
    *warned |= terms == 0;
}

static bool due(int64_t step, int64_t every) { return every > 0 && step % every == 0; }

/* The first step of a run touches memory for the first time: it does not count. */
static void profile_from_second(xlm_trainer *t, int64_t first)
{
    if (t->step == first)
        xlm_profile_reset(t->profile);
}

static bool save(xlm_trainer *t, xlm_report *report, GError **error)
{
    xlm_report_pause(report);
    xlm_report_flush(report);
    const bool good = xlm_stopping_may_write(t->stopping, error) && write_checkpoint(t, error);
    xlm_report_resume(report);
    return good;
}

/* What is due after an update, and the checkpoint. */
static bool finish_step(xlm_trainer *t, xlm_report *report, const xlm_run_options *options, bool interrupted, GError **error)
{
    const xlm_train_config *c = &t->job->train;
    const bool last = t->step == c->steps;
    bool good = true, best = false;
    /* Held-out losses change nothing that follows, and can be left out when there is haste. */
    if ((last || due(t->step, c->evaluate_every)) && options->validation != NULL)
        good = t->validated == t->step || validate(t, report, options->validation, &best, error);
    else if ((last || due(t->step, c->evaluate_every)) && !interrupted)
        good = evaluate(t, report, error);
    if (good && (last || best || interrupted || due(t->step, c->checkpoint_every)))
        good = save(t, report, error);
    return good;
}

/* The checkpoint of what a stopped run left, with what was still due after its last step. */
static bool save_left(xlm_trainer *t, xlm_report *report, const xlm_run_options *options, GError **error)
{
    if (!finish_step(t, report, options, t->step < t->job->train.steps, error))
        return false;
    if (t->comm->rank == 0)
        xlm_rank_files_remove(t->job->train.output);
    return true;
}

static bool train(xlm_trainer *t, xlm_report *report, const xlm_run_options *options, bool *interrupted, GError **error)
{
    const xlm_train_config *c = &t->job->train;
    xlm_step_report step = xlm_step_report_new(t);
    bool warned = false;
    const int64_t first = t->step + 1;
    bool good = t->step == t->saved || save_left(t, report, options, error);
    *interrupted = asked_to_stop(t->comm) || options->finish;
    good = good && (*interrupted || t->step > 0 || options->validation != NULL || evaluate(t, report, error));
    while (good && t->step < c->steps && !*interrupted) {
        good = xlm_trainer_step(t, &step, error);
        if (good && !step.updated) {
            /* Asked to stop since the last update, as during an evaluation. */
            *interrupted = true;
            good = t->step < first || t->step == t->saved || save(t, report, error);
        }
        if (!good || !step.updated)
            break;
        xlm_report_step(report, &step);
        profile_from_second(t, first);
        warn_of_nothing(t, &step, &warned);
        *interrupted = step.stop && t->step < c->steps;
        good = finish_step(t, report, options, *interrupted, error);
    }
    if (t->profile != NULL)
        xlm_report_profile(t, t->step - first);
    xlm_step_report_clear(&step);
    return good;
}

static void print_peak(const xlm_trainer *t)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    int64_t most[2] = {(int64_t)usage.ru_maxrss * 1024, (int64_t)xlm_tape_peak_bytes(t->tape)};
    xlm_comm_max_int64(t->comm, most, 2);
    xlm_log_info("peak memory: %.2f GiB in the largest rank; a pass %.3f MiB, estimated %.3f", gib((uint64_t)most[0]),
                 (double)most[1] / (1 << 20), (double)xlm_trainer_memory(t, t->comm->ranks).pass / (1 << 20));
}

static void print_best(const xlm_trainer *t, const xlm_run_options *options)
{
    if (options->validation != NULL && t->best[1] > 0)
        xlm_log_info("best on %s: %.4f at step %.0f, %s/best", options->validation->split, t->best[0], t->best[1],
                     t->job->train.output);
}

static void say_finished(const xlm_trainer *t)
{
    char *line = t->step > 0 ? g_strdup_printf("%s/checkpoint-%08" G_GINT64_FORMAT ".h5 is there; the same command goes on from it",
                                               t->job->train.output, t->step)
                             : g_strdup_printf("%s: nothing is left to finish", t->job->train.output);
    xlm_log_info("%s", line);
    if (t->comm->rank == 0)
        xlm_snapshot_tell_user(line);
    g_free(line);
}

static bool run_allocated(xlm_trainer *t, const xlm_run_options *options, bool *interrupted, GError **error)
{
    bool resumed;
    if (!resume(t, options, &resumed, error))
        return false;
    if (options->dump_step != NULL)
        return xlm_trainer_dump_step(t, options->dump_step, error);
    if (options->check_gradients)
        return xlm_trainer_check_gradients(t, error);
    if (t->step == t->saved && options->finish) {
        say_finished(t);
        return true;
    }
    if (t->step == t->saved && t->step >= t->job->train.steps) {
        xlm_log_info("nothing to do: step %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " is reached", t->step, t->job->train.steps);
        print_best(t, options);
        return true;
    }
    if (!xlm_job_record_write(t->comm, t->job->train.output, t->job->text, error))
        return false;
    xlm_report *report = xlm_report_open(t, resumed, error);
    if (report == NULL)
        return false;
    const xlm_run_state state = xlm_trainer_state(t);
    xlm_stopping_protect(t->stopping, &state, t->validated);
    if (!options->finish)
        xlm_log_info("to stop: Ctrl-C once, or SIGTERM or SIGUSR1; a checkpoint is written, from which the same command goes on");
    const bool good = train(t, report, options, interrupted, error);
    if (good) {
        print_best(t, options);
        print_peak(t);
        if (options->finish) {
            say_finished(t);
            *interrupted = false;
        }
        if (*interrupted)
            xlm_log_info("stopped by a signal at step %" G_GINT64_FORMAT "; the same command goes on from there", t->step);
        xlm_report_summary(report);
    }
    xlm_report_close(report);
    return good;
}

/* The output directory is there, and this run's alone. */
static bool open_output(xlm_trainer *t, bool finishes, GError **error)
{
    GError *failure = NULL;
    const xlm_comm *comm = t->comm;
    const xlm_job *job = t->job;
    if (comm->rank == 0 && g_mkdir_with_parents(job->train.output, 0777) != 0)
        xlm_error_set(&failure, EX_CANTCREAT, "%s: cannot be made: %s", job->train.output, g_strerror(errno));
    if (xlm_comm_agree_on(comm, failure, error))
        return (t->stopping = xlm_stopping_open(comm, job->train.output, finishes, error)) != NULL;
    return false;
}

/* Before anything is allocated: could a run that resumes nothing start from the model that it names? */
static bool check_start(const xlm_trainer *t, const xlm_run_options *options, GError **error)
{
    const xlm_job *job = t->job;
    GError *failure = NULL;
    if (t->comm->rank == 0 && job->train.start != NULL && options->resume != XLM_RESUME_FILE) {
        GArray *steps = xlm_checkpoint_steps(job->train.output);
        if (options->resume == XLM_RESUME_NEVER || steps->len == 0)
            xlm_warm_start_check(job, t->data->vocabulary, &failure);
        g_array_unref(steps);
    }
    return xlm_comm_agree_on(t->comm, failure, error);
}

bool xlm_run(const xlm_comm *comm, const xlm_job *job, const xlm_training_data *data, const xlm_run_options *options,
             bool *interrupted, GError **error)
{
    *interrupted = false;
    if (!options->dry_run && trains(options))
        xlm_signals_watch();
    xlm_trainer *t = xlm_trainer_open(comm, job, data, error);
    if (t == NULL)
        return false;
    if (options->validation != NULL)
        xlm_trainer_keep_best(t);
    xlm_memory_estimate estimate;
    bool good = xlm_trainer_estimate(t, &estimate, error);
    if (good)
        print_plan(t, &estimate);
    good = good && check_start(t, options, error);
    if (good && options->dry_run) {
        open_hardware(t);
        print_time(t);
    } else if (good && (good = !trains(options) || open_output(t, options->finish, error))) {
        open_hardware(t);
        xlm_trainer_allocate(t);
        if (options->profile)
            xlm_trainer_profile(t);
        good = run_allocated(t, options, interrupted, error);
    }
    xlm_stopping_close(t->stopping);
    xlm_trainer_close(t);
    return good;
}
