/* xlm-mpi: reading checkpoints into a run, all ranks together. SPDX-License-Identifier: GPL-3.0-or-later */
#include "checkpoint/checkpoint.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "checkpoint/checkpoint_check.h"
#include "model/checkpoint_names.h"

/* Rank 0 reads a good file array by array, and each rank takes its part. */
static bool take_arrays(const xlm_comm *comm, const xlm_store *store, xlm_run_state *s, GError **error)
{
    const int64_t first = s->shards->first;
    const size_t bytes = sizeof(float) * (size_t)(xlm_parameters_size(s->parameters) - first);
    for (int a = 0; a < xlm_checkpoint_arrays(s); a++) {
        GError *failure = NULL;
        /* The gaps between parameters are zeros, and no file has them. Frozen parameters, the first ones, have values alone. */
        if (a != CHECKPOINT_VALUES)
            memset(s->scratch + first, 0, bytes);
        if (store != NULL)
            checkpoint_read_whole(store, s, a, checkpoint_whole(s, a), &failure);
        if (!xlm_comm_agree_on(comm, failure, error))
            return false;
        checkpoint_share_array(comm, s, a, 0);
    }
    return true;
}

static bool take_rest(const xlm_comm *comm, const xlm_store *store, xlm_run_state *s, GError **error)
{
    GError *failure = NULL;
    if (store != NULL)
        xlm_model_file_check_format(store, true, &s->step, &failure);
    if (store != NULL && s->start != NULL && failure == NULL)
        xlm_start_record_read(s->start, store, &failure);
    for (int k = 0; store != NULL && k < s->saved_states && failure == NULL; k++)
        checkpoint_read_state(store, &s->saved_state[k], s->saved_state[k].values, &failure);
    if (!xlm_comm_agree_on(comm, failure, error))
        return false;
    checkpoint_share_states(comm, s);
    if (s->start != NULL)
        xlm_start_record_share(s->start, comm);
    xlm_comm_broadcast(comm, 0, &s->step, sizeof s->step);
    return true;
}

static bool take_file(const xlm_comm *comm, const char *path, xlm_run_state *state, GError **error)
{
    GError *failure = NULL;
    g_autoptr(xlm_store) store = comm->rank == 0 ? xlm_store_open(path, &failure) : NULL;
    return xlm_comm_agree_on(comm, failure, error) && take_arrays(comm, store, state, error) &&
           take_rest(comm, store, state, error);
}

bool xlm_checkpoint_read(const xlm_comm *comm, const char *path, xlm_run_state *state, GError **error)
{
    GError *failure = NULL;
    if (comm->rank == 0 && checkpoint_check_file(path, state, &failure) == XLM_FILE_UNFIT)
        xlm_error_append(failure, "; use the job that it belongs to, or another checkpoint");
    if (xlm_comm_agree_on(comm, failure, error))
        return take_file(comm, path, state, error);
    return false;
}

/* Is the file damaged, or gone? Others that cannot be read may be good: the disk fails, or a right to read is lacking. */
static bool is_lost(const char *path, const GError *why)
{
    return xlm_error_exit_code(why) == EX_DATAERR || (access(path, F_OK) != 0 && errno == ENOENT);
}

/* The newest good one of a directory, by rank 0. */
static char *find_newest(const char *directory, const xlm_run_state *state, GError **error)
{
    g_autoptr(GArray) steps = xlm_checkpoint_steps(directory, error);
    for (guint i = steps != NULL ? steps->len : 0; i-- > 0;) {
        g_autofree char *path = xlm_checkpoint_path(directory, g_array_index(steps, int64_t, i));
        g_autoptr(GError) why = NULL;
        const xlm_file_condition condition = checkpoint_check_file(path, state, &why);
        if (condition == XLM_FILE_GOOD)
            return g_steal_pointer(&path);
        if (condition == XLM_FILE_UNFIT) {
            xlm_error_append(why, "; use the job that it belongs to, another output directory, or --resume never");
            g_propagate_error(error, g_steal_pointer(&why));
            return NULL;
        }
        if (condition == XLM_FILE_NEWER) {
            g_propagate_error(error, g_steal_pointer(&why));
            return NULL;
        }
        if (!is_lost(path, why)) {
            xlm_error_append(why, "; start again when it can be read, or move it away to go on from the checkpoint before it");
            g_propagate_error(error, g_steal_pointer(&why));
            return NULL;
        }
        xlm_log_warn("%s; trying the checkpoint before it", why->message);
        if (i == 0)
            xlm_error_set(error, EX_DATAERR, "%s: none of its %u checkpoints is good (%s); use --resume never to start anew",
                          directory, steps->len, why->message);
    }
    return NULL;
}

bool xlm_checkpoint_resume(const xlm_comm *comm, const char *directory, xlm_run_state *state, char **found, GError **error)
{
    GError *failure = NULL;
    *found = comm->rank == 0 ? find_newest(directory, state, &failure) : NULL;
    if (!xlm_comm_agree_on(comm, failure, error))
        return false;
    xlm_comm_broadcast_text(comm, found);
    return *found == NULL || take_file(comm, *found, state, error);
}
