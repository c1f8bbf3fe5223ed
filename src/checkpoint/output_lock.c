/* xlm-mpi: one run at a time in an output directory. SPDX-License-Identifier: GPL-3.0-or-later */
#include "checkpoint/output_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/process.h"
#include "base/signals.h"
#include "files/files.h"

static const char GROUP[] = "lock";
/* Seconds between two refreshes of the lock's modification time; from which age on a lock is stale; that replacing a stale lock
 * takes at the very most. */
static const int64_t REFRESH = 30, STALE_AFTER = 300, LONGEST_REPLACEMENT = 30;

struct xlm_output_lock {
    char *path, *temporary, *guard;
    GMutex mutex; /* another thread refreshes the lock */
    ino_t file;   /* of the lock, while it is ours */
    double refreshed;
    bool lost;
};

/* ---- who holds a lock ---- */

typedef struct holder {
    char *text;
    char *program, *host, *boot, *namespace, *job, *cluster, *restarts, *since;
    pid_t process, writer;
    uint64_t started, writer_started;
} holder;

static void clear_holder(holder *h)
{
    char *const texts[] = {h->text, h->program, h->host, h->boot, h->namespace, h->job, h->cluster, h->restarts, h->since};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
    *h = (holder){0};
}

static char *first_line(const char *path)
{
    char *text = NULL;
    return xlm_files_load(path, &text, NULL, NULL) ? g_strchomp(text) : g_strdup("");
}

static char *variable(const char *name)
{
    const char *value = g_getenv(name);
    return g_strdup(value != NULL ? value : "");
}

static char *process_namespace(void)
{
    char *link = g_file_read_link("/proc/self/ns/pid", NULL);
    return link != NULL ? link : g_strdup("");
}

static uint64_t started(pid_t process)
{
    xlm_process found;
    return process > 0 && xlm_process_look_up(process, &found) ? found.started : 0;
}

/* process: 0 when nothing but the writer is there. */
static holder this_run(pid_t process, pid_t writer)
{
    GDateTime *now = g_date_time_new_now_local();
    const holder h = {
        .program = g_strdup(g_get_prgname()), .host = g_strdup(g_get_host_name()),
        .boot = first_line("/proc/sys/kernel/random/boot_id"), .namespace = process_namespace(),
        .job = variable("SLURM_JOB_ID"), .cluster = variable("SLURM_CLUSTER_NAME"), .restarts = variable("SLURM_RESTART_COUNT"),
        .since = g_date_time_format(now, "%F %T"), .process = process, .started = started(process),
        .writer = writer, .writer_started = started(writer),
    };
    g_date_time_unref(now);
    return h;
}

static char *describe_in_file(const holder *h)
{
    GKeyFile *file = g_key_file_new();
    g_key_file_set_string(file, GROUP, "program", h->program);
    g_key_file_set_string(file, GROUP, "host", h->host);
    g_key_file_set_int64(file, GROUP, "process", h->process);
    g_key_file_set_string(file, GROUP, "since", h->since);
    g_key_file_set_uint64(file, GROUP, "started", h->started);
    g_key_file_set_string(file, GROUP, "boot", h->boot);
    g_key_file_set_string(file, GROUP, "namespace", h->namespace);
    g_key_file_set_string(file, GROUP, "slurm_job", h->job);
    g_key_file_set_string(file, GROUP, "slurm_cluster", h->cluster);
    g_key_file_set_string(file, GROUP, "slurm_restarts", h->restarts);
    g_key_file_set_int64(file, GROUP, "writer", h->writer);
    g_key_file_set_uint64(file, GROUP, "writer_started", h->writer_started);
    char *text = g_key_file_to_data(file, NULL, NULL);
    g_key_file_unref(file);
    return text;
}

static char *get_text(GKeyFile *file, const char *key)
{
    char *value = g_key_file_get_string(file, GROUP, key, NULL);
    return value != NULL ? value : g_strdup("");
}

/* A lock that is empty or cut short, for lack of room, has empty texts. Errors are GLib's, of reading. */
static bool read_holder(const char *path, holder *h, GError **error)
{
    *h = (holder){0};
    if (!xlm_files_load(path, &h->text, NULL, error))
        return false;
    GKeyFile *file = g_key_file_new();
    g_key_file_load_from_data(file, h->text, (gsize)-1, G_KEY_FILE_NONE, NULL);
    h->program = get_text(file, "program");
    h->host = get_text(file, "host");
    h->boot = get_text(file, "boot");
    h->namespace = get_text(file, "namespace");
    h->job = get_text(file, "slurm_job");
    h->cluster = get_text(file, "slurm_cluster");
    h->restarts = get_text(file, "slurm_restarts");
    h->since = get_text(file, "since");
    h->process = (pid_t)g_key_file_get_int64(file, GROUP, "process", NULL);
    h->started = g_key_file_get_uint64(file, GROUP, "started", NULL);
    h->writer = (pid_t)g_key_file_get_int64(file, GROUP, "writer", NULL);
    h->writer_started = g_key_file_get_uint64(file, GROUP, "writer_started", NULL);
    g_key_file_unref(file);
    return true;
}

/* Whether Slurm knows that the job is over; false where there is no Slurm. */
static bool slurm_has_ended(const holder *h, const holder *us)
{
    if (*h->job == '\0' || strcmp(h->cluster, us->cluster) != 0)
        return false;
    if (strcmp(h->job, us->job) == 0)
        return strcmp(h->restarts, us->restarts) != 0; /* this job, before it was queued again */
    g_autofree char *squeue = g_find_program_in_path("squeue"), *output = NULL, *errors = NULL;
    char *command[] = {squeue, (char *)"-h", (char *)"-o", (char *)"%T", (char *)"-j", h->job, NULL};
    int status = 0;
    const bool asked = squeue != NULL && g_spawn_sync(NULL, command, NULL, G_SPAWN_DEFAULT, NULL, NULL, &output, &errors, &status,
                                                      NULL);
    return asked && (status == 0 ? *g_strstrip(output) == '\0' : strstr(errors, "Invalid job id") != NULL);
}

typedef enum { HELD, STALE, FINISHING } lock_state;

/* age: seconds since the lock was refreshed. */
static lock_state state_of(const holder *h, int64_t age)
{
    holder us = this_run(getpid(), 0);
    const bool here = strcmp(h->host, us.host) == 0 && strcmp(h->boot, us.boot) == 0 && strcmp(h->namespace, us.namespace) == 0;
    lock_state state = age > STALE_AFTER || slurm_has_ended(h, &us) ? STALE : HELD;
    if (here && (h->process > 0 || h->writer > 0)) {
        /* On this host the table of processes is surer than the age of the lock. */
        const bool there = started(h->process) == h->started && h->started != 0;
        const bool writes = started(h->writer) == h->writer_started && h->writer_started != 0;
        state = there ? HELD : writes && h->writer != us.process ? FINISHING : STALE;
    }
    clear_holder(&us);
    return state;
}

/* ---- files ---- */

static int64_t modified(const char *path)
{
    struct stat is;
    return stat(path, &is) == 0 ? (int64_t)is.st_mtime : 0;
}

static ino_t file_of(const char *path)
{
    struct stat is;
    return stat(path, &is) == 0 ? is.st_ino : 0;
}

static bool write_text(const char *path, int flags, const char *text)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
    const ssize_t size = (ssize_t)strlen(text);
    const bool good = file >= 0 && write(file, text, (size_t)size) == size;
    return (file < 0 || close(file) == 0) && good;
}

static bool write_temporary(const xlm_output_lock *lock, pid_t process, pid_t writer)
{
    holder us = this_run(process, writer);
    g_autofree char *text = describe_in_file(&us);
    g_unlink(lock->temporary);
    const bool good = write_text(lock->temporary, O_EXCL, text);
    clear_holder(&us);
    return good;
}

/* Give the temporary file the lock's name if there is none. errno as of link(). */
static bool put_in_place(const xlm_output_lock *lock)
{
    struct stat is;
    if (link(lock->temporary, lock->path) == 0)
        return true;
    const int why = errno;
    /* A network file system may lose the answer to link(), but not the number of links. */
    if (stat(lock->temporary, &is) == 0 && is.st_nlink == 2)
        return true;
    errno = why;
    if (why != EPERM && why != EOPNOTSUPP && why != ENOSYS && why != EMLINK)
        return false;
    /* A file system without links. */
    g_autofree char *text = first_line(lock->temporary);
    return write_text(lock->path, O_EXCL, text);
}

/* If several runs find the same stale lock, one of them replaces it: the one that creates the guard file, and finds the lock
 * unchanged. An error where the file system forbids it, as in a directory whose files only their owners may replace. */
static bool replace(const xlm_output_lock *lock, const char *found, bool *ours, GError **error)
{
    if (!write_text(lock->guard, O_EXCL, "")) {
        if (modified(lock->temporary) - modified(lock->guard) > LONGEST_REPLACEMENT)
            g_unlink(lock->guard); /* left by a run that was killed while it replaced the lock */
        g_usleep(50000);
        return true;
    }
    g_autofree char *now = NULL;
    const bool same = xlm_files_load(lock->path, &now, NULL, NULL) && strcmp(now, found) == 0;
    *ours = same && g_rename(lock->temporary, lock->path) == 0;
    const bool good = !same || *ours ||
                      xlm_error_set(error, EX_CANTCREAT, "%s: is of a run that is gone, but cannot be replaced: %s; remove it, "
                                    "or take another output directory", lock->path, g_strerror(errno));
    g_unlink(lock->guard);
    return good;
}

/* ---- taking ---- */

static char *name_holder(const holder *h)
{
    g_autofree char *job = *h->job != '\0' ? g_strdup_printf(", Slurm job %s", h->job) : g_strdup("");
    return *h->host == '\0' ? g_strdup("a program that did not say its name")
                            : g_strdup_printf("%s, process %ld on host %s since %s%s", h->program,
                                              (long)(h->process > 0 ? h->process : h->writer), h->host,
                                              h->since, job);
}

static bool refuse(const xlm_output_lock *lock, const char *directory, const holder *h, int64_t age, GError **error)
{
    g_autofree char *name = name_holder(h);
    xlm_error_set(error, EX_CANTCREAT, "%s: another run writes there: %s, last active %" G_GINT64_FORMAT " s ago; wait for "
                  "it, stop it, or take another output directory (if it is certainly gone, remove %s)", directory, name,
                  MAX(age, 0), lock->path);
    return false;
}

/* Whether taking the lock is tried again: when it was released between being found and being read. One that is there and cannot
 * be read is an error. */
static bool try_again(const xlm_output_lock *lock, GError *why, GError **error)
{
    struct stat is;
    const bool gone = lstat(lock->path, &is) != 0 ||
                      (!S_ISLNK(is.st_mode) && (g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_NOENT) ||
                                                g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_FAILED))); /* ESTALE */
    if (!gone)
        xlm_error_set(error, EX_CANTCREAT, "%s: cannot be read (%s), and may be another run's; take another output directory, or "
                      "remove it if no run writes there", lock->path, why->message);
    g_error_free(why);
    return gone;
}

/* What to do about a lock that is there. *ours: it was stale and is ours now; else the caller tries again, unless there is an
 * error. */
static bool handle_existing(const xlm_output_lock *lock, const char *directory, bool *ours, bool *waits, GError **error)
{
    holder h;
    GError *why = NULL;
    if (!read_holder(lock->path, &h, &why))
        return try_again(lock, why, error);
    const int64_t age = modified(lock->temporary) - modified(lock->path);
    const lock_state state = state_of(&h, age);
    g_autofree char *name = name_holder(&h);
    bool good = true;
    if (state == HELD) {
        good = refuse(lock, directory, &h, age, error);
    } else if (state == STALE) {
        good = replace(lock, h.text, ours, error);
        if (*ours && h.writer != getpid())
            xlm_log_info("%s: taken over from a run that is gone: %s", directory, name);
    } else {
        if (!*waits)
            xlm_log_info("%s: waiting for process %ld, which still writes the checkpoint of a run that was stopped (%s)",
                         directory, (long)h.writer, name);
        *waits = true;
        g_usleep(200000);
        good = xlm_signals_noted() == 0 ||
               xlm_error_set(error, EX_TEMPFAIL, "%s: stopped by a signal while another process writes a checkpoint there",
                             directory);
    }
    clear_holder(&h);
    return good;
}

static bool take(xlm_output_lock *lock, const char *directory, bool finishes, GError **error)
{
    bool ours = false, waits = false, good = true;
    while (good && !ours) {
        if (!write_temporary(lock, finishes ? 0 : getpid(), finishes ? getpid() : 0))
            good = xlm_error_set(error, EX_CANTCREAT, "%s: cannot be made: %s", lock->path, g_strerror(errno));
        else if (put_in_place(lock))
            ours = true;
        else if (errno == EEXIST)
            good = handle_existing(lock, directory, &ours, &waits, error);
        else
            good = xlm_error_set(error, EX_CANTCREAT, "%s: cannot be made: %s", lock->path, g_strerror(errno));
    }
    g_unlink(lock->temporary);
    lock->file = file_of(lock->path);
    lock->refreshed = xlm_clock();
    return good;
}

static void free_lock(xlm_output_lock *lock)
{
    g_mutex_clear(&lock->mutex);
    g_free(lock->path);
    g_free(lock->temporary);
    g_free(lock->guard);
    g_free(lock);
}

xlm_output_lock *xlm_output_lock_take(const xlm_comm *comm, const char *directory, bool finishes, GError **error)
{
    xlm_output_lock *lock = g_new0(xlm_output_lock, 1);
    GError *failure = NULL;
    g_mutex_init(&lock->mutex);
    if (comm->rank == 0) {
        lock->path = g_build_filename(directory, "lock", NULL);
        lock->temporary = g_strdup_printf("%s.%s.%ld", lock->path, g_get_host_name(), (long)getpid());
        lock->guard = g_strconcat(lock->path, ".changing", NULL);
        take(lock, directory, finishes, &failure);
    }
    if (xlm_comm_agree_on(comm, failure, error))
        return lock;
    free_lock(lock);
    return NULL;
}

void xlm_output_lock_release(xlm_output_lock *lock)
{
    if (lock == NULL)
        return;
    if (lock->path != NULL && file_of(lock->path) == lock->file)
        g_unlink(lock->path);
    free_lock(lock);
}

static bool check_lost(xlm_output_lock *lock)
{
    const ino_t file = lock->path != NULL ? file_of(lock->path) : 0;
    return lock->lost |= file != 0 && file != lock->file; /* a lock that was removed by hand is not lost */
}

void xlm_output_lock_refresh(xlm_output_lock *lock)
{
    if (lock->path == NULL || xlm_clock() - lock->refreshed < (double)REFRESH)
        return;
    g_mutex_lock(&lock->mutex);
    lock->refreshed = xlm_clock();
    if (!check_lost(lock))
        utimensat(AT_FDCWD, lock->path, NULL, 0);
    g_mutex_unlock(&lock->mutex);
}

bool xlm_output_lock_is_lost(xlm_output_lock *lock)
{
    g_mutex_lock(&lock->mutex);
    const bool lost = check_lost(lock);
    g_mutex_unlock(&lock->mutex);
    return lost;
}

void xlm_output_lock_name_writer(xlm_output_lock *lock, pid_t writer)
{
    if (lock->path == NULL)
        return;
    g_mutex_lock(&lock->mutex);
    if (!check_lost(lock) && write_temporary(lock, getpid(), writer)) {
        const ino_t file = file_of(lock->temporary);
        if (g_rename(lock->temporary, lock->path) == 0)
            lock->file = file;
    }
    g_mutex_unlock(&lock->mutex);
}

const char *xlm_output_lock_path(const xlm_output_lock *lock) { return lock->path; }
