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
/* Seconds: between two refreshes of the lock's modification time; the age from which a lock is stale; the longest that replacing
 * a stale lock takes. */
static const int64_t REFRESH = 30, STALE_AFTER = 300, LONGEST_REPLACEMENT = 30;

struct xlm_output_lock {
    char *path, *temporary, *guard;
    GMutex mutex; /* another thread refreshes the lock */
    ino_t file;   /* of the lock, while it is ours */
    double refreshed;
    bool lost;
};

/* ---- who holds a lock: a run, as keys of a file ---- */

static char *first_line(const char *path)
{
    char *text = NULL;
    return xlm_files_load(path, &text, NULL, NULL) ? g_strchomp(text) : g_strdup("");
}

static uint64_t started(pid_t process)
{
    xlm_process found;
    return process > 0 && xlm_process_look_up(process, &found) ? found.started : 0;
}

static void set_text(GKeyFile *holder, const char *key, const char *text)
{
    g_key_file_set_string(holder, GROUP, key, text != NULL ? text : "");
}

/* process: 0 when nothing but the writer is there. */
static GKeyFile *this_run(pid_t process, pid_t writer)
{
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_autofree char *since = g_date_time_format(now, "%F %T"), *boot = first_line("/proc/sys/kernel/random/boot_id"),
                    *namespace = g_file_read_link("/proc/self/ns/pid", NULL);
    GKeyFile *us = g_key_file_new();
    set_text(us, "program", g_get_prgname());
    set_text(us, "host", g_get_host_name());
    g_key_file_set_int64(us, GROUP, "process", process);
    set_text(us, "since", since);
    g_key_file_set_uint64(us, GROUP, "started", started(process));
    set_text(us, "boot", boot);
    set_text(us, "namespace", namespace);
    set_text(us, "slurm_job", g_getenv("SLURM_JOB_ID"));
    set_text(us, "slurm_cluster", g_getenv("SLURM_CLUSTER_NAME"));
    set_text(us, "slurm_restarts", g_getenv("SLURM_RESTART_COUNT"));
    g_key_file_set_int64(us, GROUP, "writer", writer);
    g_key_file_set_uint64(us, GROUP, "writer_started", started(writer));
    return us;
}

/* The texts of a lock that is empty or cut short, for lack of room, are empty. g_free. */
static char *get_text(GKeyFile *holder, const char *key)
{
    char *value = g_key_file_get_string(holder, GROUP, key, NULL);
    return value != NULL ? value : g_strdup("");
}

static bool same(GKeyFile *holder, GKeyFile *us, const char *key)
{
    g_autofree char *theirs = get_text(holder, key), *ours = get_text(us, key);
    return strcmp(theirs, ours) == 0;
}

static pid_t process_of(GKeyFile *holder, const char *key) { return (pid_t)g_key_file_get_int64(holder, GROUP, key, NULL); }

/* Is the process there, and no other that has its number now? */
static bool is_alive(GKeyFile *holder, const char *process, const char *since)
{
    const uint64_t then = g_key_file_get_uint64(holder, GROUP, since, NULL);
    return then != 0 && started(process_of(holder, process)) == then;
}

/* Whether Slurm knows that the job is over; false where there is no Slurm. */
static bool slurm_has_ended(GKeyFile *holder, GKeyFile *us)
{
    g_autofree char *job = get_text(holder, "slurm_job");
    if (*job == '\0' || !same(holder, us, "slurm_cluster"))
        return false;
    if (same(holder, us, "slurm_job"))
        return !same(holder, us, "slurm_restarts"); /* this job, before it was queued again */
    g_autofree char *squeue = g_find_program_in_path("squeue"), *output = NULL, *errors = NULL;
    char *command[] = {squeue, (char *)"-h", (char *)"-o", (char *)"%T", (char *)"-j", job, NULL};
    int status = 0;
    const bool asked = squeue != NULL && g_spawn_sync(NULL, command, NULL, G_SPAWN_DEFAULT, NULL, NULL, &output, &errors, &status,
                                                      NULL);
    return asked && (status == 0 ? *g_strstrip(output) == '\0' : strstr(errors, "Invalid job id") != NULL);
}

typedef enum { HELD, STALE, FINISHING } lock_state;

/* age: seconds since the lock was refreshed. */
static lock_state state_of(GKeyFile *holder, int64_t age)
{
    g_autoptr(GKeyFile) us = this_run(getpid(), 0);
    const bool here = same(holder, us, "host") && same(holder, us, "boot") && same(holder, us, "namespace");
    const pid_t writer = process_of(holder, "writer");
    if (!here || (process_of(holder, "process") <= 0 && writer <= 0))
        return age > STALE_AFTER || slurm_has_ended(holder, us) ? STALE : HELD;
    /* On this host the table of processes is surer than the age of the lock. */
    if (is_alive(holder, "process", "started"))
        return HELD;
    return is_alive(holder, "writer", "writer_started") && writer != getpid() ? FINISHING : STALE;
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
    g_autoptr(GKeyFile) us = this_run(process, writer);
    g_autofree char *text = g_key_file_to_data(us, NULL, NULL);
    g_unlink(lock->temporary);
    return write_text(lock->temporary, O_EXCL, text);
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

static char *name_holder(GKeyFile *holder)
{
    g_autofree char *program = get_text(holder, "program"), *host = get_text(holder, "host"), *since = get_text(holder, "since"),
                    *job = get_text(holder, "slurm_job");
    const pid_t process = process_of(holder, "process");
    return *host == '\0' ? g_strdup("a program that did not say its name")
                         : g_strdup_printf("%s, process %ld on host %s since %s%s%s", program,
                                           (long)(process > 0 ? process : process_of(holder, "writer")), host, since,
                                           *job != '\0' ? ", Slurm job " : "", job);
}

/* Whether taking the lock is tried again: when it was released between being found and being read. One that is there and cannot
 * be read is an error. */
static bool try_again(const xlm_output_lock *lock, const GError *why, GError **error)
{
    struct stat is;
    const bool gone = lstat(lock->path, &is) != 0 ||
                      (!S_ISLNK(is.st_mode) && (g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_NOENT) ||
                                                g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_FAILED))); /* ESTALE */
    if (!gone)
        xlm_error_set(error, EX_CANTCREAT, "%s: cannot be read (%s), and may be another run's; take another output directory, or "
                      "remove it if no run writes there", lock->path, why->message);
    return gone;
}

/* What to do about a lock that is there. *ours: it was stale and is ours now; else the caller tries again, unless there is an
 * error. */
static bool handle_existing(const xlm_output_lock *lock, const char *directory, bool *ours, bool *waits, GError **error)
{
    g_autofree char *text = NULL;
    g_autoptr(GError) why = NULL;
    if (!xlm_files_load(lock->path, &text, NULL, &why))
        return try_again(lock, why, error);
    g_autoptr(GKeyFile) holder = g_key_file_new();
    g_key_file_load_from_data(holder, text, (gsize)-1, G_KEY_FILE_NONE, NULL);
    const int64_t age = modified(lock->temporary) - modified(lock->path);
    const lock_state state = state_of(holder, age);
    const pid_t writer = process_of(holder, "writer");
    g_autofree char *name = name_holder(holder);
    if (state == HELD)
        return xlm_error_set(error, EX_CANTCREAT, "%s: another run writes there: %s, last active %" G_GINT64_FORMAT " s ago; "
                             "wait for it, stop it, or take another output directory (if it is certainly gone, remove %s)", directory,
                             name, MAX(age, 0), lock->path);
    if (state == STALE) {
        const bool good = replace(lock, text, ours, error);
        if (*ours && writer != getpid())
            xlm_log_info("%s: taken over from a run that is gone: %s", directory, name);
        return good;
    }
    if (!*waits)
        xlm_log_info("%s: waiting for process %ld, which still writes the checkpoint of a run that was stopped (%s)",
                     directory, (long)writer, name);
    *waits = true;
    g_usleep(200000);
    return xlm_signals_noted() == 0 ||
           xlm_error_set(error, EX_TEMPFAIL, "%s: stopped by a signal while another process writes a checkpoint there",
                         directory);
}

/* Whether a file of the output directory is one that write_temporary made: lock.HOST.PROCESS, of that host's run. One that is
 * empty was cut short. */
static bool is_temporary(const char *name, const char *text, GKeyFile *holder)
{
    g_autofree char *host = get_text(holder, "host"), *start = g_strdup_printf("lock.%s.", host);
    const char *process = strrchr(name, '.') + 1; /* of a name that begins with "lock." */
    return *process != '\0' && strspn(process, "0123456789") == strlen(process) &&
           (*text == '\0' || (*host != '\0' && g_str_has_prefix(name, start)));
}

/* A run that is killed before it has removed its temporary file leaves it, and no other run uses that name. It is removed where a
 * lock of the same text and age would be stale. */
static void remove_temporaries_of_others(const xlm_output_lock *lock, const char *directory)
{
    g_autoptr(GDir) listing = g_dir_open(directory, 0, NULL);
    for (const char *name = listing != NULL ? g_dir_read_name(listing) : NULL; name != NULL; name = g_dir_read_name(listing)) {
        g_autofree char *path = g_build_filename(directory, name, NULL), *text = NULL;
        if (!g_str_has_prefix(name, "lock.") || strcmp(path, lock->temporary) == 0 || !xlm_files_load(path, &text, NULL, NULL))
            continue;
        g_autoptr(GKeyFile) holder = g_key_file_new();
        g_key_file_load_from_data(holder, text, (gsize)-1, G_KEY_FILE_NONE, NULL);
        if (is_temporary(name, text, holder) && state_of(holder, modified(lock->temporary) - modified(path)) == STALE)
            g_unlink(path);
    }
}

static bool take(xlm_output_lock *lock, const char *directory, bool finishes, GError **error)
{
    bool ours = false, waits = false, good = true;
    while (good && !ours) {
        const bool written = write_temporary(lock, finishes ? 0 : getpid(), finishes ? getpid() : 0);
        ours = written && put_in_place(lock);
        if (written && !ours && errno == EEXIST)
            good = handle_existing(lock, directory, &ours, &waits, error);
        else if (!ours)
            good = xlm_error_set(error, EX_CANTCREAT, "%s: cannot be made: %s", lock->path, g_strerror(errno));
    }
    if (ours)
        remove_temporaries_of_others(lock, directory);
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
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&lock->mutex);
    lock->refreshed = xlm_clock();
    if (!check_lost(lock))
        utimensat(AT_FDCWD, lock->path, NULL, 0);
}

bool xlm_output_lock_is_lost(xlm_output_lock *lock)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&lock->mutex);
    return check_lost(lock);
}

void xlm_output_lock_name_writer(xlm_output_lock *lock, pid_t writer)
{
    if (lock->path == NULL)
        return;
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&lock->mutex);
    if (!check_lost(lock) && write_temporary(lock, getpid(), writer)) {
        const ino_t file = file_of(lock->temporary);
        if (g_rename(lock->temporary, lock->path) == 0)
            lock->file = file;
    }
}

const char *xlm_output_lock_path(const xlm_output_lock *lock) { return lock->path; }
