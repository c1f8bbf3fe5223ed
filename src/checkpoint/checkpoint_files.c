/* xlm-mpi: the directory of a run's checkpoints. SPDX-License-Identifier: GPL-3.0-or-later */
#include "checkpoint/checkpoint.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "checkpoint/run_files.h"
#include "files/files.h"
#include "files/new_file.h"
#include "job/job_record.h"
#include "model/checkpoint_names.h"
#include "store/store.h"

/* A link cannot be replaced in place, but a new one can take its name. */
static bool set_link(const char *directory, const char *name, int64_t step, GError **error)
{
    g_autofree char *target = xlm_checkpoint_name(step), *link = g_build_filename(directory, name, NULL),
                    *fresh = g_strconcat(link, ".new", NULL);
    g_unlink(fresh);
    int number = symlink(target, fresh) == 0 && g_rename(fresh, link) == 0 ? 0 : errno;
    if (number == 0)
        number = xlm_new_file_sync_name(link); /* before old checkpoints are removed, one of which it pointed at */
    return number == 0 ||
           xlm_error_set(error, EX_IOERR, "%s: cannot be made to point at %s: %s", link, target, g_strerror(number));
}

/* The step of the checkpoint that `best` or `latest` points at; -1: there is no such link. */
static int64_t linked_step(const char *directory, const char *name)
{
    g_autofree char *link = g_build_filename(directory, name, NULL), *target = g_file_read_link(link, NULL);
    return target != NULL ? xlm_checkpoint_step_of(target) : -1;
}

/* Is it kept however old it is? `best` has been pointed at the best one; while there is none yet, what it points at stays. */
static bool is_kept(const xlm_run_state *state, int64_t linked, int64_t step)
{
    bool is = step == linked;
    for (int64_t i = 0; i < state->max_members; i++)
        is |= step == (int64_t)state->members[i].step;
    return is;
}

/* How many of the steps, which ascend, are not after `last`. */
static guint count_up_to(const GArray *steps, int64_t last)
{
    guint n = 0;
    while (n < steps->len && g_array_index(steps, int64_t, n) <= last)
        n++;
    return n;
}

static void remove_old(const char *directory, const xlm_run_state *state, int64_t keep)
{
    g_autoptr(GError) why = NULL;
    g_autoptr(GArray) steps = xlm_checkpoint_steps(directory, &why);
    if (steps == NULL) {
        xlm_log_warn("%s; old checkpoints stay", why->message);
        return;
    }
    const int64_t linked = linked_step(directory, "best");
    const guint up_to = count_up_to(steps, state->step);
    for (guint i = 0; i + keep < up_to; i++) {
        if (is_kept(state, linked, g_array_index(steps, int64_t, i)))
            continue;
        g_autofree char *path = xlm_checkpoint_path(directory, g_array_index(steps, int64_t, i));
        if (g_unlink(path) != 0)
            xlm_log_warn("%s: an old checkpoint cannot be removed: %s", path, g_strerror(errno));
    }
}

bool xlm_checkpoint_point_latest(const xlm_comm *comm, const char *directory, const xlm_run_state *state, int64_t keep,
                                 GError **error)
{
    GError *failure = NULL;
    if (comm->rank == 0 && set_link(directory, "latest", state->step, &failure) &&
        (state->best == 0 || set_link(directory, "best", state->best, &failure)))
        remove_old(directory, state, keep);
    return xlm_comm_agree_on(comm, failure, error);
}

bool xlm_checkpoint_point_best(const xlm_comm *comm, const char *directory, int64_t best, bool *there, GError **error)
{
    GError *failure = NULL;
    if (comm->rank == 0) {
        g_autofree char *path = xlm_checkpoint_path(directory, best), *link = g_build_filename(directory, "best", NULL);
        *there = best > 0 && g_file_test(path, G_FILE_TEST_EXISTS);
        if (*there)
            set_link(directory, "best", best, &failure);
        else if (best > 0 || !g_file_test(link, G_FILE_TEST_EXISTS))
            g_unlink(link);
    }
    if (!xlm_comm_agree_on(comm, failure, error))
        return false;
    xlm_comm_broadcast(comm, 0, there, sizeof *there);
    return true;
}

/* ---- setting aside ---- */

/* directory/previous-<n>, the first that does not exist, made. */
static char *make_previous(const char *directory, GError **error)
{
    for (int n = 1;; n++) {
        g_autofree char *path = g_strdup_printf("%s/previous-%d", directory, n);
        if (g_mkdir(path, 0777) == 0)
            return g_steal_pointer(&path);
        if (errno != EEXIST) {
            xlm_error_set(error, EX_CANTCREAT, "%s: cannot be made: %s", path, g_strerror(errno));
            return NULL;
        }
    }
}

static bool move(const char *directory, const char *name, const char *into, GError **error)
{
    g_autofree char *from = g_build_filename(directory, name, NULL), *to = g_build_filename(into, name, NULL);
    return g_rename(from, to) == 0 || errno == ENOENT ||
           xlm_error_set(error, EX_IOERR, "%s: cannot be moved to %s: %s", from, to, g_strerror(errno));
}

/* `latest` points at the newest checkpoint of those that stay, or is gone. It may be older where a run was killed before it could
 * set the link. */
static bool update_latest(const char *directory, const GArray *steps, int64_t after, GError **error)
{
    const guint stay = count_up_to(steps, after);
    const int64_t newest = stay > 0 ? g_array_index(steps, int64_t, stay - 1) : -1;
    if (newest == linked_step(directory, "latest"))
        return true;
    if (newest >= 0)
        return set_link(directory, "latest", newest, error);
    g_autofree char *latest = g_build_filename(directory, "latest", NULL);
    g_unlink(latest);
    return true;
}

/* Is it the name of a file of a run that was not complete? Other programs may write other files here at the same time. */
static bool is_unfinished(const char *entry)
{
    const char *mark = strstr(entry, XLM_UNFINISHED);
    g_autofree char *name = mark != NULL ? g_strndup(entry, (gsize)(mark - entry)) : NULL;
    return name != NULL && xlm_run_files_has(name);
}

/* Left by a run that was killed while writing. */
static void remove_unfinished(const char *directory)
{
    g_autoptr(GDir) folder = g_dir_open(directory, 0, NULL);
    const char *entry;
    while (folder != NULL && (entry = g_dir_read_name(folder)) != NULL) {
        if (!is_unfinished(entry))
            continue;
        g_autofree char *path = g_build_filename(directory, entry, NULL);
        if (g_unlink(path) == 0)
            xlm_log_info("%s: removed; a run was killed while it wrote this", path);
    }
}

/* Does metrics.csv have more than its first line, which is its head? */
static bool has_rows(const char *directory)
{
    g_autofree char *path = g_build_filename(directory, "metrics.csv", NULL), *text = NULL;
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return false;
    if (!xlm_files_load(path, &text, NULL, NULL))
        return true;
    const char *head = strchr(text, '\n');
    return head != NULL && head[1] != '\0';
}

/* The step that the mean of checkpoints was made at; -1: there is none that can be read. */
static int64_t mean_step(const char *directory)
{
    g_autofree char *path = g_build_filename(directory, XLM_CHECKPOINT_MEAN, NULL);
    g_autoptr(xlm_store) mean = g_file_test(path, G_FILE_TEST_EXISTS) ? xlm_store_open(path, NULL) : NULL;
    int64_t step;
    return mean != NULL && xlm_store_get_int(mean, "/", "step", &step, NULL) ? step : -1;
}

static int set_aside(const char *directory, int64_t after, GError **error)
{
    g_autoptr(GArray) steps = xlm_checkpoint_steps(directory, error);
    if (steps == NULL)
        return 0;
    const char *record = xlm_job_record_name(directory);
    g_autofree char *into = NULL;
    int moved = 0;
    bool good = true;
    for (guint i = 0; i < steps->len && good; i++) {
        const int64_t step = g_array_index(steps, int64_t, i);
        if (step <= after)
            continue;
        g_autofree char *name = xlm_checkpoint_name(step);
        good = (into != NULL || (into = make_previous(directory, error)) != NULL) && move(directory, name, into, error);
        moved += good;
    }
    const bool rows = good && moved == 0 && after < 0 && has_rows(directory);
    /* A mean of later checkpoints is of the course that is abandoned. The new one may come to the same step. */
    const bool mean = good && after >= 0 && (after > 0 || moved > 0) && mean_step(directory) > after;
    if ((rows || mean) && into == NULL)
        good = (into = make_previous(directory, error)) != NULL;
    if (good && (moved > 0 || rows) && after < 0)
        good = move(directory, "latest", into, error) && move(directory, "best", into, error) &&
               move(directory, XLM_CHECKPOINT_MEAN, into, error) &&
               move(directory, "metrics.csv", into, error) && (record == NULL || move(directory, record, into, error));
    if (good && mean && (good = move(directory, XLM_CHECKPOINT_MEAN, into, error)))
        xlm_log_info("%s: " XLM_CHECKPOINT_MEAN " of later checkpoints moved aside into %s", directory, into);
    if (good && rows)
        xlm_log_info("%s: metrics.csv of an earlier run moved aside into %s", directory, into);
    if (good && after >= 0)
        update_latest(directory, steps, after, error);
    return moved;
}

bool xlm_checkpoint_set_aside(const xlm_comm *comm, const char *directory, int64_t after, int *moved, GError **error)
{
    GError *failure = NULL;
    *moved = 0;
    if (comm->rank == 0) {
        remove_unfinished(directory);
        *moved = set_aside(directory, after, &failure);
    }
    if (!xlm_comm_agree_on(comm, failure, error))
        return false;
    xlm_comm_broadcast(comm, 0, moved, sizeof *moved);
    return true;
}
