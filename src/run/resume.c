/* xlm-mpi: what a run starts from: a checkpoint, what stopped ranks left, or another run's model.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/resume.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "checkpoint/rank_files.h"
#include "files/path.h"
#include "job/job_record.h"
#include "model/checkpoint_names.h"
#include "model/model_pair_form.h"
#include "run/warm_start.h"

bool xlm_resume_check(const xlm_resume_setup *setup, const xlm_vocabulary *vocabulary, GError **error)
{
    const xlm_job *job = setup->job;
    GError *failure = NULL;
    if (setup->comm->rank == 0 && job->train.start != NULL && setup->resume != XLM_RESUME_FILE) {
        g_autoptr(GArray) steps = xlm_checkpoint_steps(job->train.output, &failure);
        if (steps != NULL && (setup->resume == XLM_RESUME_NEVER || steps->len == 0))
            xlm_warm_start_check(job, vocabulary, &failure);
    }
    return xlm_comm_agree_on(setup->comm, failure, error);
}

static void forget_best(xlm_run_progress *progress)
{
    progress->best = (xlm_best_score){0};
    progress->from_best = 0;
}

/* The best checkpoint so far may be in another directory, or may have been removed. unwritten: the step that the run goes on from
 * without a checkpoint of it here, which it writes before anything else; or -1. The best one may be that. */
static bool find_best(const xlm_resume_setup *setup, int64_t unwritten, xlm_run_progress *progress, GError **error)
{
    const char *output = setup->job->train.output;
    const xlm_best_score *best = &progress->best;
    bool there;
    if ((int64_t)best->step == unwritten)
        return true;
    if (!xlm_checkpoint_point_best(setup->comm, output, (int64_t)best->step, &there, error))
        return false;
    if (!there && best->step > 0)
        xlm_log_warn("%s: the best checkpoint, of step %.0f, is gone; the best of those to come is looked for",
                     output, best->step);
    if (!there)
        forget_best(progress);
    return true;
}

/* Scores of another measure, or with other settings, cannot be compared. */
static void forget_other_scores(const xlm_resume_setup *setup, const xlm_run_state *state, xlm_run_progress *progress)
{
    const bool known = progress->best_of != 0;
    const bool same = known ? progress->best_of == setup->best_of : setup->older;
    progress->best_of = setup->best_of;
    if (same || progress->best.step == 0)
        return;
    xlm_log_warn("%s: the best checkpoint so far, of step %.0f, was chosen by another measure or with other settings; the best "
                 "of those to come takes its place", setup->job->train.output, progress->best.step);
    forget_best(progress);
    if (setup->members != NULL)
        memset(setup->members, 0, sizeof *setup->members * (size_t)state->max_members);
}

/* The step of the newest checkpoint, on all ranks; 0 if the output directory has none. */
static bool newest_checkpoint(const xlm_resume_setup *setup, int64_t *step, GError **error)
{
    GError *failure = NULL;
    g_autoptr(GArray) steps = setup->comm->rank == 0 ? xlm_checkpoint_steps(setup->job->train.output, &failure) : NULL;
    *step = steps != NULL && steps->len > 0 ? g_array_index(steps, int64_t, steps->len - 1) : 0;
    if (!xlm_comm_agree_on(setup->comm, failure, error))
        return false;
    xlm_comm_broadcast(setup->comm, 0, step, sizeof *step);
    return true;
}

/* The head of a fine-tuned model has labels of its own. */
static bool start_warm(const xlm_resume_setup *setup, xlm_run_state *state, GError **error)
{
    return xlm_warm_start(setup->comm, setup->job, state->vocabulary, state->task == NULL, state->parameters, state->start,
                          error);
}

/* Where the first parameters came from, as recorded in the checkpoint of this step; no record if it cannot be read. */
static void read_start(const xlm_resume_setup *setup, int64_t step, xlm_start_record *start)
{
    g_autofree char *path = xlm_checkpoint_path(setup->job->train.output, step);
    g_autoptr(xlm_store) store = setup->comm->rank == 0 ? xlm_store_open(path, NULL) : NULL;
    if (store == NULL || !xlm_start_record_read(start, store, NULL))
        xlm_start_record_clear(start);
    xlm_start_record_share(start, setup->comm);
}

/* Is the model that the job starts from the one that the run with these parts began with? Its frozen parameters are in no part. */
static bool check_start(const xlm_resume_setup *setup, const xlm_rank_file_header *first, const xlm_start_record *start,
                        GError **error)
{
    xlm_rank_file_header now = *first;
    xlm_rank_file_note_start(&now, start);
    if (now.start_step == first->start_step && memcmp(now.start_sha256, first->start_sha256, sizeof now.start_sha256) == 0)
        return true;
    const char *output = setup->job->train.output, *path = setup->job->train.start;
    if (first->start_sha256[0] == '\0')
        return xlm_error_set(error, EX_DATAERR, "%s: a stopped run left the parts of step %" G_GINT64_FORMAT " there, and began "
                             "with no model; start it without %s, take another output directory, or --resume never", output,
                             first->step, path);
    return xlm_error_set(error, EX_DATAERR, "%s: a stopped run left the parts of step %" G_GINT64_FORMAT " there without what is "
                         "frozen, which is in the model that it began with, of step %" G_GINT64_FORMAT " and SHA-256 %.64s; %s%s; "
                         "give it that file again, take another output directory, or --resume never", output, first->step,
                         first->start_step, first->start_sha256, path != NULL ? path : "the job",
                         path != NULL ? " is another one" : " names none");
}

/* The form in which the model that the run began with had read pairs; none if its file is gone. */
static void read_pair_form(const xlm_resume_setup *setup, const char *path, xlm_start_record *start)
{
    g_autoptr(xlm_store) store = setup->comm->rank == 0 ? xlm_store_open(path, NULL) : NULL;
    if (store != NULL)
        xlm_model_pair_form_read(store, &start->pair_form, NULL);
    xlm_start_record_share(start, setup->comm);
}

/* Stopped before the first checkpoint: what is in no part, frozen parameters and the record of the start, is that of the start. */
static bool read_beginning(const xlm_resume_setup *setup, xlm_run_state *state, xlm_rank_file_header *first, GError **error)
{
    const char *path = setup->job->train.start;
    if (state->shards->first == 0) {
        xlm_start_record_clear(state->start);
        if (path != NULL && first->start_sha256[0] != '\0') {
            *state->start = (xlm_start_record){g_strdup(path), g_strndup(first->start_sha256, sizeof first->start_sha256),
                                               first->start_step, NULL};
            read_pair_form(setup, path, state->start);
        }
        return true;
    }
    if (path == NULL)
        return check_start(setup, first, NULL, error); /* drawn again */
    return start_warm(setup, state, error) && check_start(setup, first, state->start, error) &&
           xlm_rank_files_take(setup->comm, setup->job->train.output, 0, state, first, error);
}

/* The state of a run whose ranks were killed, when it is newer than its newest checkpoint. */
static bool read_rank_files(const xlm_resume_setup *setup, xlm_run_state *state, int64_t *validated, bool *found, GError **error)
{
    xlm_rank_file_header first;
    int64_t newest;
    const char *output = setup->job->train.output;
    if (!newest_checkpoint(setup, &newest, error) ||
        !xlm_rank_files_take(setup->comm, output, newest, state, &first, error))
        return false;
    *found = first.ranks > 0;
    *validated = first.validated;
    if (!*found)
        return true;
    if (newest == 0)
        return read_beginning(setup, state, &first, error);
    if (state->shards->first == 0) {
        read_start(setup, newest, state->start);
        return true;
    }
    g_autofree char *path = NULL;
    return xlm_checkpoint_resume(setup->comm, output, state, &path, error) &&
           xlm_rank_files_take(setup->comm, output, newest, state, &first, error);
}

/* *found: the checkpoint's path, g_free; *unsaved: rank files instead. Neither: nothing to resume from. */
static bool read_state(const xlm_resume_setup *setup, xlm_run_state *state, int64_t *validated, char **found, bool *unsaved,
                       GError **error)
{
    switch (setup->resume) {
    case XLM_RESUME_NEVER:
        return true;
    case XLM_RESUME_FILE:
        if (!xlm_checkpoint_read(setup->comm, setup->file, state, error))
            return false;
        *found = g_strdup(setup->file);
        return true;
    default:
        return (!setup->trains || read_rank_files(setup, state, validated, unsaved, error)) &&
               (*unsaved || xlm_checkpoint_resume(setup->comm, setup->job->train.output, state, found, error));
    }
}

/* Is the file one of the directory's own, of this step? That is the directory's checkpoint of the step, which may be a link into an
 * archive, and every file that is in the directory itself; not one elsewhere that a link of another name in it leads to. A
 * directory may have several names, as where it is mounted twice. */
static bool is_own(const char *directory, int64_t step, const char *file)
{
    g_autofree char *own = xlm_checkpoint_path(directory, step);
    char *whole = realpath(file, NULL);
    g_autofree char *place = whole != NULL ? g_path_get_dirname(whole) : NULL;
    free(whole);
    return xlm_path_same_file(own, file) || (place != NULL && xlm_path_same_file(directory, place));
}

/* Does the run go on from the course that the output directory has? The same on all ranks. step: the one resumed from, or -1. A
 * checkpoint from elsewhere is of another course than all that are here. */
static bool continues_output(const xlm_resume_setup *setup, int64_t step)
{
    bool continues = step >= 0;
    if (continues && setup->comm->rank == 0 && setup->resume == XLM_RESUME_FILE)
        continues = is_own(setup->job->train.output, step, setup->file);
    xlm_comm_broadcast(setup->comm, 0, &continues, sizeof continues);
    return continues;
}

/* Has the output directory a checkpoint of this step? The same on all ranks. */
static bool has_checkpoint(const xlm_resume_setup *setup, int64_t step)
{
    g_autofree char *path = xlm_checkpoint_path(setup->job->train.output, step);
    bool has = setup->comm->rank == 0 && g_file_test(path, G_FILE_TEST_EXISTS);
    xlm_comm_broadcast(setup->comm, 0, &has, sizeof has);
    return has;
}

/* Leave nothing in the output directory that the next resumption must not find: rank files that this run does not resume from,
 * and checkpoints that are damaged or belong to a course that is abandoned. step: from which the course goes on; -1: none does. */
static bool clear_output(const xlm_resume_setup *setup, int64_t step, GError **error)
{
    const char *output = setup->job->train.output;
    int moved = 0;
    if (setup->resume != XLM_RESUME_AUTO && setup->comm->rank == 0 && xlm_rank_files_remove(output) > 0)
        xlm_log_warn("%s: what a stopped run left there was no checkpoint yet, and is removed", output);
    /* A run that was killed before its first checkpoint is begun again by the same command: nothing of it is set aside. */
    const bool again = setup->resume == XLM_RESUME_AUTO && step < 0;
    if (!xlm_checkpoint_set_aside(setup->comm, output, again ? 0 : step, &moved, error))
        return false;
    if (moved > 0)
        xlm_log_info("%s: %d checkpoints moved aside into previous-*", output, moved);
    return true;
}

bool xlm_resume(const xlm_resume_setup *setup, xlm_run_state *state, xlm_run_progress *progress, bool *resumed, bool *continues,
                GError **error)
{
    const xlm_job *job = setup->job;
    g_autofree char *found = NULL;
    bool unsaved = false;
    bool good = read_state(setup, state, &progress->validated, &found, &unsaved, error);
    *resumed = good && (found != NULL || unsaved);
    *continues = good && setup->trains && continues_output(setup, *resumed ? state->step : -1);
    if (good)
        forget_other_scores(setup, state, progress);
    if (good && setup->trains)
        good = clear_output(setup, *continues ? state->step : -1, error);
    const bool unwritten = unsaved || (good && found != NULL && !has_checkpoint(setup, state->step));
    if (good && setup->trains && setup->validates)
        good = find_best(setup, unwritten ? state->step : -1, progress, error);
    if (good && *resumed)
        progress->step = state->step;
    if (good && found != NULL) {
        progress->saved = unwritten ? 0 : state->step;
        xlm_log_info("resumed from %s at step %" G_GINT64_FORMAT, found, state->step);
        if (setup->comm->rank == 0)
            xlm_job_record_log_changes(found, job);
    }
    if (good && unsaved) {
        xlm_log_info("resumed from what a stopped run left in %s at step %" G_GINT64_FORMAT, job->train.output, state->step);
        if (setup->comm->rank == 0)
            xlm_job_record_log_changes_in(job->train.output, job);
    }
    if (good && *resumed && job->train.start != NULL && setup->comm->rank == 0)
        xlm_warm_start_compare(job, state->start);
    if (good && !*resumed && job->train.start != NULL)
        good = start_warm(setup, state, error);
    return good;
}
