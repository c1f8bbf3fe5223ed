/* xlm-mpi: what happens when collective writing fails on one rank. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * store_reserve() detects a full disk before anything is written, and makes it an ordinary error on all ranks. What remains are
 * failures in the middle of a collective write: input/output errors, lost servers, quotas that cannot be queried. With Open MPI
 * 4.1 and HDF5 1.10 they appear in four ways, each of which is handled by another function:
 *   - ROMIO returns an error on some ranks, and the others wait for these for ever: stop_all(), the MPI file's error handler;
 *   - OMPIO returns success with a short count on some ranks, so that HDF5 fails there and others wait: store_give_up();
 *   - HDF5 has the failure while it flushes or closes the file, continues, and waits itself: store_watch();
 *   - OMPIO does not report the failure at all: store_verify(). */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/terminal.h"
#include "store/store_file.h"

/* Files that are being written by several ranks. */
static GSList *written_together;

/* Several ranks may have the failure. The lowest of them prints the message and ends the job while the others still wait. */
static void end_job(const xlm_store *store, const char *message)
{
    g_usleep((gulong)MIN(store->comm.rank, 10) * 200000);
    char *shown = xlm_terminal_escape(message);
    fprintf(stderr, "%s: %s; stopping all ranks\n", g_get_prgname(), shown);
    fflush(stderr);
    g_unlink(store->temporary);
    MPI_Abort(store->comm.mpi, EX_IOERR);
    _exit(EX_IOERR);
}

bool store_give_up(const xlm_store *store, const char *object, const char *what, GError **error)
{
    GError *mine = NULL;
    store_error(store, object, EX_IOERR, what, &mine);
    if (store->mpi_io)
        end_job(store, mine->message);
    g_propagate_error(error, mine);
    return false;
}

bool store_settle(xlm_store *store, GError *mine, GError **error)
{
    /* A copy, where others have not got it yet: whoever asks may not mind this answer, as store_reserve() when it asks for more than
     * is needed. */
    if (mine == NULL && store->mistake != NULL)
        mine = store->together ? g_error_copy(store->mistake) : g_steal_pointer(&store->mistake);
    if (store->together)
        return xlm_comm_agree_on(&store->comm, mine, error);
    if (mine != NULL)
        g_propagate_error(error, mine);
    return mine == NULL;
}

bool store_settle_hdf5(xlm_store *store, GError *mine, GError **error)
{
    if (!store->together)
        return store_settle(store, mine, error);
    if (mine != NULL && store->mistake == NULL)
        store->mistake = g_steal_pointer(&mine);
    g_clear_error(&mine);
    return true;
}

bool store_works(const xlm_store *store) { return store->writes && (store->mpi_io || store->mistake == NULL); }

/* ---- failures that MPI-IO reports ---- */

static void stop_all(MPI_File *file, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(*code, text, &length);
    for (GSList *at = written_together; at != NULL; at = at->next) {
        const xlm_store *store = at->data;
        if (store->mpi_file == *file)
            end_job(store, g_strdup_printf("%s: cannot be written: %s", store->path, text));
    }
}

bool store_catch_failures(xlm_store *store)
{
    void *handle;
    MPI_Errhandler handler;
    if (H5Fget_vfd_handle(store->file, H5P_DEFAULT, &handle) < 0)
        return false;
    store->mpi_file = *(MPI_File *)handle;
    written_together = g_slist_prepend(written_together, store);
    bool good = MPI_File_create_errhandler(stop_all, &handler) == MPI_SUCCESS &&
                MPI_File_set_errhandler(store->mpi_file, handler) == MPI_SUCCESS;
    MPI_Errhandler_free(&handler);
    return good;
}

void store_forget_failures(xlm_store *store) { written_together = g_slist_remove(written_together, store); }

/* ---- failures that leave ranks waiting ---- */

/* Data have been given to the file system by then, so only a few megabytes are left to be written. */
static const int64_t PATIENCE = 600; /* seconds */
/* A file for which there is no room is closed to be removed. If that hangs too, the lack of room is reported after this time. */
static const int64_t PATIENCE_REFUSED = 20; /* seconds */

struct store_watchdog {
    const xlm_store *store;
    GThread *thread;
    GMutex mutex;
    GCond changed;
    bool done;
    int64_t seconds;
};

static void *wait_for_end(void *data)
{
    struct store_watchdog *w = data;
    int64_t end = g_get_monotonic_time() + w->seconds * G_TIME_SPAN_SECOND;
    g_mutex_lock(&w->mutex);
    bool in_time = true;
    while (!w->done && in_time)
        in_time = g_cond_wait_until(&w->changed, &w->mutex, end);
    bool done = w->done;
    g_mutex_unlock(&w->mutex);
    if (!done && w->store->refusal != NULL)
        end_job(w->store, w->store->refusal->message);
    if (!done)
        end_job(w->store, g_strdup_printf("%s: ranks have waited for one another for %d s while writing; look for a full or "
                                          "failing disk (XLM_STORE_TIMEOUT sets the seconds)",
                                          w->store->path, (int)w->seconds));
    return NULL;
}

void store_watch(xlm_store *store, bool on)
{
    struct store_watchdog *w = store->watchdog;
    if (on && store->mpi_io && store->writes) {
        const char *seconds = g_getenv("XLM_STORE_TIMEOUT");
        store->watchdog = w = g_new0(struct store_watchdog, 1);
        w->store = store;
        w->seconds = store->refusal != NULL                  ? PATIENCE_REFUSED
                     : seconds != NULL && atoi(seconds) > 0 ? atoi(seconds)
                                                             : PATIENCE;
        if (store->comm.rank > 0)
            w->seconds += 5; /* so that rank 0 prints the message */
        g_mutex_init(&w->mutex);
        g_cond_init(&w->changed);
        w->thread = g_thread_new("store", wait_for_end, w);
    } else if (w != NULL) {
        g_mutex_lock(&w->mutex);
        w->done = true;
        g_cond_signal(&w->changed);
        g_mutex_unlock(&w->mutex);
        g_thread_join(w->thread);
        g_mutex_clear(&w->mutex);
        g_cond_clear(&w->changed);
        g_free(w);
        store->watchdog = NULL;
    }
}
