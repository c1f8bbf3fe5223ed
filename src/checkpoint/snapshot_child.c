/* xlm-mpi: the process that outlives a killed rank. SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* environ */
#include "checkpoint/snapshot_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base/log.h"
#include "base/process.h"
#include "checkpoint/checkpoint_check.h"

enum { TERMINAL = 3 };           /* the file descriptor it has in the child */
enum { POLL = 50 };              /* milliseconds */
enum { REFRESH = 20 };           /* seconds between two refreshes of the lock */
/* Seconds until a rank that has not even begun its part is given up: network file systems show new files late. */
enum { PATIENCE_ONE_NODE = 3, PATIENCE_NETWORK = 60 };
enum { PATIENCE_GROWING = 180 }; /* until a part that does not grow is given up */

/* ---- before the fork ---- */

/* What Open MPI's launcher and Slurm have put into a rank's environment would keep the program from starting on its own; the
 * user's own choices (OMPI_MCA_btl, ...) stay. */
static bool is_of_launcher(const char *variable)
{
    static const char *const all_of[] = {"PMIX_", "PMI_", "PRTE_", "SLURM_", "OMPI_COMM_", "OMPI_APP_", "OMPI_NUM_",
                                         "OMPI_FIRST_",
                                         "OMPI_UNIVERSE_", "OMPI_FILE_", "OMPI_COMMAND", "OMPI_MCA_ess", "OMPI_MCA_pmix",
                                         "OMPI_MCA_orte_", "OMPI_MCA_initial_wdir", "OMPI_MCA_mpi_oversubscribe",
                                         "OMPI_MCA_shmem_", XLM_SNAPSHOT_TERMINAL};
    if (g_str_has_prefix(variable, "OMPI_MCA_orte_tmpdir_base"))
        return false;
    for (size_t i = 0; i < G_N_ELEMENTS(all_of); i++)
        if (g_str_has_prefix(variable, all_of[i]))
            return true;
    return false;
}

static char **make_environment(int terminal)
{
    g_autoptr(GStrvBuilder) passed = g_strv_builder_new();
    g_autofree char *variable = g_strdup_printf("%s=%d", XLM_SNAPSHOT_TERMINAL, TERMINAL);
    for (char **at = environ; *at != NULL; at++)
        if (!is_of_launcher(*at))
            g_strv_builder_add(passed, *at);
    if (terminal >= 0)
        g_strv_builder_add(passed, variable);
    return g_strv_builder_end(passed);
}

/* The command line of this program, with --finish before what it was given, which may be behind "--". */
static char **make_arguments(void)
{
    g_autofree char *line = NULL;
    gsize size = 0;
    g_autoptr(GStrvBuilder) all = g_strv_builder_new();
    g_file_get_contents("/proc/self/cmdline", &line, &size, NULL);
    for (gsize at = 0; at < size; at += strlen(line + at) + 1) {
        g_strv_builder_add(all, line + at);
        if (at == 0)
            g_strv_builder_add(all, "--finish");
    }
    return g_strv_builder_end(all);
}

void xlm_snapshot_child_plan(xlm_snapshot_child *child, const xlm_snapshot_setup *setup, const char *states)
{
    const xlm_run_state *state = setup->state;
    const xlm_comm *comm = state->shards->comm;
    *child = (xlm_snapshot_child){
        .values = xlm_parameters_values(state->parameters) + state->shards->first, .masters = state->masters,
        .moments = {state->first_moment, state->second_moment},
        .average = state->average,
        .states = states, .one_node = comm->local_ranks == comm->ranks, .terminal = setup->terminal, .parent = getpid(),
        .directory = g_strdup(setup->directory), .log = g_build_filename(setup->directory, "stopped.log", NULL),
        .lock = g_strdup(xlm_output_lock_path(setup->lock)), .program = g_file_read_link("/proc/self/exe", NULL),
        .arguments = make_arguments(), .environment = make_environment(setup->terminal), .name = g_strdup(g_get_prgname()),
        .command = setup->command,
    };
}

void xlm_snapshot_child_unplan(xlm_snapshot_child *child)
{
    g_free(child->directory);
    g_free(child->log);
    g_free(child->lock);
    g_free(child->part);
    g_free(child->writing);
    g_free(child->program);
    g_strfreev(child->arguments);
    g_strfreev(child->environment);
    g_free(child->name);
}

void xlm_snapshot_child_prepare(xlm_snapshot_child *child, const xlm_rank_file_header *header)
{
    g_free(child->part);
    g_free(child->writing);
    child->header = *header;
    child->part = xlm_rank_file_path(child->directory, header->step, (int)header->rank);
    child->writing = g_strconcat(child->part, XLM_RANK_FILE_WRITING, NULL);
}

void xlm_snapshot_child_clean(const xlm_snapshot_child *child)
{
    g_unlink(child->writing);
    g_unlink(child->part);
}

/* ---- the child: a process of its own ---- */

static void leave_parent(const xlm_snapshot_child *c)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGUSR1, SIGXCPU, SIGCONT, SIGHUP};
    setsid();
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        signal(numbers[i], SIG_DFL);
    /* A launcher waits for the ends of its pipes, other ranks for those of connections. */
    int first = TERMINAL;
    if (c->terminal >= 0 && (c->terminal == TERMINAL ? fcntl(TERMINAL, F_SETFD, 0) : dup2(c->terminal, TERMINAL)) >= 0)
        first++;
    xlm_process_close_files(first);
    for (int file = 0; file < TERMINAL; file++)
        close(file);
    for (int file = 0; file < TERMINAL; file++)
        (void)!open("/dev/null", O_RDWR);
}

/* ---- the child: its part ---- */

struct output {
    int file;
    uLong sum;
    bool good;
};

static void put(struct output *o, const void *data, int64_t size)
{
    enum { MAX_WRITE = 1 << 22 };
    const unsigned char *at = data;
    while (o->good && size > 0) {
        const ssize_t written = write(o->file, at, (size_t)(size < MAX_WRITE ? size : MAX_WRITE));
        if (written < 0 && errno == EINTR)
            continue;
        o->good = written > 0;
        if (!o->good)
            break;
        o->sum = crc32(o->sum, at, (uInt)written);
        at += written;
        size -= written;
    }
}

/* own: the array has this rank's shares alone, one after the other. */
static void put_array(struct output *o, const xlm_rank_file_header *h, const float *array, bool own)
{
    const float *at = own ? array : array + h->rank * h->share;
    for (int64_t start = h->rank * h->share; start < h->size; start += h->ranks * h->share) {
        const int64_t left = h->size - start;
        put(o, at, (int64_t)sizeof(float) * (left < h->share ? left : h->share));
        at += own ? h->share : h->ranks * h->share;
    }
}

static bool write_part(const xlm_snapshot_child *c)
{
    struct output o = {.file = open(c->writing, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK, 0666), .good = true};
    if (o.file < 0)
        return false;
    put(&o, &c->header, sizeof c->header);
    put_array(&o, &c->header, c->masters != NULL ? c->masters : c->values, c->masters != NULL);
    put_array(&o, &c->header, c->moments[0], true);
    put_array(&o, &c->header, c->moments[1], true);
    for (int64_t a = 0; a < c->header.arrays - CHECKPOINT_AVERAGES; a++)
        put_array(&o, &c->header, c->average[a].own, true);
    put(&o, c->states, c->header.states);
    const uint32_t sum = (uint32_t)o.sum;
    put(&o, &sum, sizeof sum);
    o.good = fsync(o.file) == 0 && o.good;
    o.good = close(o.file) == 0 && o.good && rename(c->writing, c->part) == 0;
    if (!o.good)
        unlink(c->writing);
    return o.good;
}

/* ---- the child of rank 0 ---- */

static void rest(const xlm_snapshot_child *c, double *refreshed)
{
    const struct timespec a_while = {.tv_nsec = POLL * 1000000L};
    nanosleep(&a_while, NULL);
    if (xlm_clock() - *refreshed > REFRESH) {
        *refreshed = xlm_clock();
        utimensat(AT_FDCWD, c->lock, NULL, 0);
    }
}

/* snprintf() of numbers and names takes no lock and no memory. */
static void name_part(const xlm_snapshot_child *c, int64_t rank, const char *ending, char path[4096])
{
    snprintf(path, 4096, "%s/stopped-%08" PRId64 ".%" PRId64 ".part%s", c->directory, c->header.step, rank, ending);
}

/* The first rank whose part does not come, or -1 when all are there. */
static int64_t wait_for_parts(const xlm_snapshot_child *c)
{
    char path[4096];
    double begun = xlm_clock(), refreshed = begun;
    off_t size = -1;
    for (int64_t rank = 1; rank < c->header.ranks;) {
        struct stat is;
        name_part(c, rank, "", path);
        if (stat(path, &is) == 0) {
            rank++;
            begun = xlm_clock();
            size = -1;
            continue;
        }
        name_part(c, rank, XLM_RANK_FILE_WRITING, path);
        if (stat(path, &is) == 0 && is.st_size > size) {
            size = is.st_size;
            begun = xlm_clock();
        }
        const int patience = size >= 0 ? PATIENCE_GROWING : c->one_node ? PATIENCE_ONE_NODE : PATIENCE_NETWORK;
        if (xlm_clock() - begun > patience)
            return rank;
        rest(c, &refreshed);
    }
    return -1;
}

static int open_log(const xlm_snapshot_child *c) { return open(c->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NONBLOCK, 0666); }

static noreturn void give_up(const xlm_snapshot_child *c, int64_t missing)
{
    char path[4096], line[512];
    const int length = snprintf(line, sizeof line, "%s: no checkpoint of step %" PRId64 " could be made, rank %" PRId64
                                " was lost or could not write its part; %s resumes from the newest checkpoint\n",
                                c->name, c->header.step, missing, c->command);
    const int log = open_log(c);
    (void)!write(log, line, (size_t)length);
    if (c->terminal >= 0)
        (void)!write(TERMINAL, line, (size_t)length);
    for (int64_t rank = 0; rank < c->header.ranks; rank++) {
        name_part(c, rank, "", path);
        unlink(path);
        name_part(c, rank, XLM_RANK_FILE_WRITING, path);
        unlink(path);
    }
    unlink(c->lock);
    _exit(EX_TEMPFAIL);
}

static noreturn void finish_run(const xlm_snapshot_child *c)
{
    char failed[256];
    const int length = snprintf(failed, sizeof failed, "the program that makes the checkpoint cannot be started; the next start of "
                                "%s makes it\n", c->command);
    const int log = open_log(c);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (log >= 0) {
        dup2(log, 1);
        dup2(log, 2);
        close(log);
    }
    execve(c->program, c->arguments, c->environment);
    (void)!write(2, failed, (size_t)length);
    unlink(c->lock);
    _exit(EX_OSERR);
}

noreturn void xlm_snapshot_child_run(const xlm_snapshot_child *child)
{
    leave_parent(child);
    const bool good = write_part(child);
    if (child->header.rank != 0)
        _exit(good ? EX_OK : EX_IOERR);
    /* A rank that lives on ends its child, so an orphan's parent was killed. */
    double refreshed = xlm_clock();
    while (getppid() == child->parent)
        rest(child, &refreshed);
    const int64_t missing = good ? wait_for_parts(child) : 0;
    if (missing >= 0)
        give_up(child, missing);
    finish_run(child);
}
