/* xlm-mpi: a run's state saved while its ranks are being killed. SPDX-License-Identifier: GPL-3.0-or-later */
#include "checkpoint/snapshot.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/process.h"
#include "base/terminal.h"
#include "checkpoint/checkpoint_check.h"
#include "checkpoint/rank_files.h"
#include "checkpoint/snapshot_internal.h"

struct xlm_snapshot {
    xlm_snapshot_setup setup;
    GMutex mutex;
    xlm_rank_file_header header; /* of the state as it is: step, validated */
    char *states;           /* [header.states] rank 0: the saved states at the end of the step; live ones may change in a pass */
    bool held, wanted;
    bool warned;
    pid_t child;        /* 0: none */
    int64_t child_step;
    double taken;       /* on xlm_clock() */
    xlm_snapshot_child plan;
};

static void copy_states(xlm_snapshot *s)
{
    const xlm_run_state *state = s->setup.state;
    char *to = s->states;
    for (int k = 0; k < state->saved_states && to != NULL; k++) {
        memcpy(to, state->saved_state[k].values, xlm_state_bytes(&state->saved_state[k]));
        to += xlm_state_bytes(&state->saved_state[k]);
    }
}

xlm_snapshot *xlm_snapshot_open(const xlm_snapshot_setup *setup, int64_t validated)
{
    xlm_snapshot *s = g_new0(xlm_snapshot, 1);
    const xlm_run_state *state = setup->state;
    const xlm_shards *shards = state->shards;
    const int64_t states = shards->comm->rank == 0 ? xlm_rank_files_states(state) : 0;
    g_mutex_init(&s->mutex);
    s->setup = *setup;
    s->states = states > 0 ? g_malloc((gsize)states) : NULL;
    s->header = (xlm_rank_file_header){
        .format = XLM_RANK_FILE_FORMAT, .byte_order = XLM_RANK_FILE_ORDER, .run = setup->run,
        .fingerprint = xlm_rank_files_fingerprint(state),
        .step = state->step, .validated = validated, .ranks = shards->comm->ranks, .rank = shards->comm->rank,
        .size = shards->size - shards->first,
        .share = shards->bucket, .arrays = xlm_checkpoint_arrays(state), .states = states,
    };
    xlm_rank_file_note_start(&s->header, state->start);
    copy_states(s);
    xlm_snapshot_child_plan(&s->plan, setup, s->states);
    return s;
}

void xlm_snapshot_close(xlm_snapshot *snapshot)
{
    if (snapshot == NULL)
        return;
    xlm_snapshot_discard(snapshot);
    xlm_snapshot_child_unplan(&snapshot->plan);
    g_mutex_clear(&snapshot->mutex);
    g_free(snapshot->states);
    g_free(snapshot);
}

/* ---- with the mutex ---- */

static void discard(xlm_snapshot *s)
{
    s->wanted = false;
    if (s->child == 0)
        return;
    kill(s->child, SIGKILL);
    while (waitpid(s->child, NULL, 0) < 0 && errno == EINTR)
        ;
    xlm_snapshot_child_clean(&s->plan);
    xlm_output_lock_name_writer(s->setup.lock, 0);
    s->child = 0;
}

static void take(xlm_snapshot *s)
{
    if (s->child != 0)
        return;
    s->wanted = false;
    xlm_snapshot_child_prepare(&s->plan, &s->header);
    const pid_t child = xlm_process_fork();
    if (child == 0)
        xlm_snapshot_child_run(&s->plan);
    if (child < 0) {
        if (!s->warned)
            xlm_log_warn("rank %d cannot fork (%s): if it is killed before the step is finished, what was done since the newest "
                         "checkpoint is lost", s->setup.state->shards->comm->rank, g_strerror(errno));
        s->warned = true;
        return;
    }
    s->child = child;
    s->child_step = s->header.step;
    s->taken = xlm_clock();
    xlm_output_lock_name_writer(s->setup.lock, child);
}

/* ---- calls ---- */

bool xlm_snapshot_hold(xlm_snapshot *snapshot)
{
    if (snapshot == NULL)
        return false;
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&snapshot->mutex);
    snapshot->held = true;
    return snapshot->child != 0 && snapshot->child_step == snapshot->header.step;
}

void xlm_snapshot_join(xlm_snapshot *snapshot)
{
    if (snapshot == NULL)
        return;
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&snapshot->mutex);
    if (snapshot->child != 0 && snapshot->child_step != snapshot->header.step)
        discard(snapshot); /* the others have none of that step any more */
    take(snapshot);
}

void xlm_snapshot_release(xlm_snapshot *snapshot, int64_t step)
{
    if (snapshot == NULL)
        return;
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&snapshot->mutex);
    snapshot->held = false;
    snapshot->header.step = step;
    copy_states(snapshot);
    if (snapshot->wanted)
        take(snapshot);
}

void xlm_snapshot_validated(xlm_snapshot *snapshot, int64_t step)
{
    if (snapshot == NULL)
        return;
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&snapshot->mutex);
    snapshot->header.validated = step;
    copy_states(snapshot);
}

void xlm_snapshot_take(xlm_snapshot *snapshot)
{
    if (snapshot == NULL)
        return;
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&snapshot->mutex);
    if (snapshot->held)
        snapshot->wanted = true;
    else
        take(snapshot);
}

void xlm_snapshot_discard(xlm_snapshot *snapshot)
{
    if (snapshot == NULL)
        return;
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&snapshot->mutex);
    discard(snapshot);
}

double xlm_snapshot_age(xlm_snapshot *snapshot)
{
    if (snapshot == NULL)
        return -1;
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&snapshot->mutex);
    return snapshot->child != 0 ? xlm_clock() - snapshot->taken : -1;
}

void xlm_snapshot_print_on_terminal(const char *line)
{
    const char *terminal = g_getenv(XLM_SNAPSHOT_TERMINAL);
    g_autofree char *shown = xlm_terminal_escape(line);
    if (terminal != NULL)
        dprintf((int)g_ascii_strtoll(terminal, NULL, 10), "%s: %s\n", g_get_prgname(), shown);
}
