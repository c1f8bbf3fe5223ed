/* xlm-mpi: communication between ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#include "comm/comm.h"

#include <hdf5.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/launcher.h"
#include "base/log.h"
#include "base/signals.h"

/* MPI counts are int; larger messages go in parts of this many bytes. */
static const size_t LARGEST_MESSAGE = (size_t)1 << 30;

static void stop_all(MPI_Comm *mpi, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(*code, text, &length);
    fprintf(stderr, "%s: a rank was lost or MPI failed: %s; stopping all ranks\n", g_get_prgname(), text);
    MPI_Abort(*mpi, EX_UNAVAILABLE);
}

/* An HDF5 that starts after MPI closes whatever is open when MPI ends, or at exit(): once more also a file whose closing has
 * failed for lack of room, which is freed by then (HDF5 1.10). Files are closed where they are written; nothing is left to do. */
static void keep_hdf5_from_closing(void)
{
    H5dont_atexit();
    H5open();
}

/* Is the program a rank alone, without any launcher? Those of PMI, PMIx, Slurm and Cray leave these traces. When in doubt, no. */
static bool is_alone(void)
{
    static const char *const traces[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE", "PMIX_RANK", "PMI_RANK", "PMI_FD", "PMI_SIZE",
                                         "SLURM_PROCID", "ALPS_APP_PE", "FLUX_TASK_RANK"};
    bool launched = false;
    for (size_t i = 0; i < G_N_ELEMENTS(traces); i++)
        launched |= g_getenv(traces[i]) != NULL;
    return !launched;
}

/* Are all ranks of this program on this node, as Open MPI's launcher says? */
static bool are_on_one_node(void)
{
    const char *ranks = g_getenv("OMPI_COMM_WORLD_SIZE"), *here = g_getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    return ranks != NULL && g_strcmp0(ranks, here) == 0;
}

/* Settings of Open MPI 4 that shorten the start of ranks on one node, and keep MPI-IO from making files beside ours, unless the
 * user has chosen. Open MPI 5 reads those of transports and of MPI-IO, to the same end; other libraries read none. */
static void leave_out_what_one_node_does_not_need(void)
{
    const bool alone = is_alone();
    /* A rank alone starts a daemon, which takes longer than the rank, for processes to be spawned and joined; there are none.
     * Without it such ranks have all the same number, by which they would name memory files and directories; so they make
     * none. */
    const char *transports = g_getenv("OMPI_MCA_btl");
    if (alone && (transports == NULL || g_str_equal(transports, "self"))) {
        g_setenv("OMPI_MCA_ess_singleton_isolated", "1", FALSE);
        g_setenv("OMPI_MCA_orte_create_session_dirs", "0", FALSE);
        g_setenv("OMPI_MCA_btl", "self", FALSE);
        g_setenv("OMPI_MCA_pml", "ob1", FALSE);
    }
    /* The drivers of Omni-Path and libfabric (MTLs) are asked for their hardware at each start, which takes 0.2 s on a machine
     * that has none. Ranks on one node speak through shared memory (by ob1 or UCX) and need none of them. */
    if ((alone || are_on_one_node()) && g_getenv("OMPI_MCA_pml") == NULL)
        g_setenv("OMPI_MCA_mtl", "^ofi,psm,psm2", FALSE);
    /* Shared pointers into files, which we do not use, need shared memory alone on one node. The others make files beside each that
     * is opened by MPI-IO, which a signal would leave there: one tries whether it can be locked, one takes four where the directory
     * of the shared memory has gone, as it has when mpiexec has lost a rank. */
    if (are_on_one_node())
        g_setenv("OMPI_MCA_sharedfp", "^lockedfile,individual", FALSE);
}

int *xlm_comm_number_nodes(const xlm_comm *comm, int first, int *nodes)
{
    int *node_of = g_new(int, comm->ranks);
    MPI_Allgather(&first, 1, MPI_INT, node_of, 1, MPI_INT, comm->mpi);
    *nodes = 0;
    /* The first rank of a node comes before its others, and has its number by then. */
    for (int r = 0; r < comm->ranks; r++)
        node_of[r] = node_of[r] == r ? (*nodes)++ : node_of[node_of[r]];
    return node_of;
}

/* The ranks of a node get places that are N apart, for N nodes: in the tree (comm/shards.h) a node adds up first, and its sum is
 * sent once. That takes powers of two, and nodes alike; else rank and place are the same. XLM_NODE_RANKS says which ranks follow
 * one another on a node instead of MPI. */
static void find_places(xlm_comm *comm)
{
    const char *given = g_getenv("XLM_NODE_RANKS");
    int on_node = given != NULL ? MAX(atoi(given), 0) : 0, local = comm->local_rank, first = comm->rank;
    MPI_Bcast(&on_node, 1, MPI_INT, 0, comm->mpi);
    if (on_node > 0) {
        local = comm->rank % on_node;
        first = comm->rank - local;
    } else {
        on_node = comm->local_ranks;
        MPI_Bcast(&first, 1, MPI_INT, 0, comm->node);
    }
    int size[2] = {on_node, -on_node};
    MPI_Allreduce(MPI_IN_PLACE, size, 2, MPI_INT, MPI_MAX, comm->mpi);
    comm->place = comm->rank;
    comm->places = NULL;
    const bool alike = size[0] == -size[1] && xlm_comm_folds(on_node) && xlm_comm_folds(comm->ranks);
    if (!alike || on_node == 1 || on_node >= comm->ranks)
        return;
    int nodes;
    g_autofree int *node_of = xlm_comm_number_nodes(comm, first, &nodes);
    comm->place = local * nodes + node_of[comm->rank];
    comm->places = g_new(int, 2 * comm->ranks);
    MPI_Allgather(&comm->place, 1, MPI_INT, comm->places, 1, MPI_INT, comm->mpi);
    for (int r = 0; r < comm->ranks; r++)
        comm->places[comm->ranks + comm->places[r]] = r;
}

void xlm_comm_open(xlm_comm *comm, const char *program, int *argc, char ***argv)
{
    int provided;
    keep_hdf5_from_closing();
    leave_out_what_one_node_does_not_need();
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    g_set_prgname(program);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(stop_all, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);

    comm->mpi = MPI_COMM_WORLD;
    MPI_Comm_rank(comm->mpi, &comm->rank);
    MPI_Comm_size(comm->mpi, &comm->ranks);
    MPI_Comm_split_type(comm->mpi, MPI_COMM_TYPE_SHARED, comm->rank, MPI_INFO_NULL, &comm->node);
    MPI_Comm_set_errhandler(comm->node, handler);
    MPI_Errhandler_free(&handler);
    MPI_Comm_rank(comm->node, &comm->local_rank);
    MPI_Comm_size(comm->node, &comm->local_ranks);
    find_places(comm);
    xlm_log_open(program, comm->rank == 0);
}

/* Open MPI 4 takes libraries apart in MPI_Finalize under a thread of its PMIx that may still run code of theirs: one program of
 * some thousands is killed there by a segmentation fault (openpmix issue 2508, Open MPI issue 10117). By then all work is
 * done, every file is closed and every message printed, so the program ends with the code that it has. */
static volatile sig_atomic_t exit_code;

static void leave(int number)
{
    (void)number;
    _exit(exit_code);
}

static void outlive_finalize(int code)
{
    struct sigaction action = {.sa_handler = leave};
    exit_code = code;
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

int xlm_comm_close(xlm_comm *comm, GError *error) { return xlm_comm_close_with(comm, xlm_error_exit(error)); }

int xlm_comm_close_with(xlm_comm *comm, int code)
{
    /* The message must be out before a launcher that sees a non-zero exit ends the other ranks. */
    fflush(NULL);
    MPI_Barrier(comm->mpi);
    MPI_Comm_free(&comm->node);
    g_free(comm->places);
    outlive_finalize(code);
    MPI_Finalize();
    if (xlm_signals_noted() != 0 && comm->local_rank == 0)
        xlm_launcher_secure_exit_code();
    return code;
}

const char *xlm_comm_library(void)
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(text, &length);
    text[strcspn(text, "\n")] = '\0';
    return text;
}

xlm_comm xlm_comm_alone(void)
{
    return (xlm_comm){.mpi = MPI_COMM_SELF, .node = MPI_COMM_SELF, .rank = 0, .ranks = 1, .local_rank = 0, .local_ranks = 1};
}

bool xlm_comm_agree(const xlm_comm *comm, GError **error)
{
    int first = *error != NULL ? comm->rank : INT_MAX;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm->mpi);
    if (first == INT_MAX)
        return true;

    int code = comm->rank == first ? xlm_error_exit_code(*error) : 0;
    void *message = comm->rank == first ? (*error)->message : NULL;
    size_t size = comm->rank == first ? strlen(message) + 1 : 0;
    xlm_comm_broadcast(comm, first, &code, sizeof code);
    xlm_comm_broadcast_bytes(comm, first, &message, &size);
    if (comm->rank != first) {
        g_clear_error(error);
        xlm_error_set(error, code, "%s", (const char *)message);
        g_free(message);
    }
    return false;
}

bool xlm_comm_agree_on(const xlm_comm *comm, GError *failure, GError **error)
{
    if (xlm_comm_agree(comm, &failure))
        return true;
    g_propagate_error(error, failure);
    return false;
}

void xlm_comm_broadcast(const xlm_comm *comm, int root, void *bytes, size_t size)
{
    for (size_t done = 0; done < size; done += LARGEST_MESSAGE)
        MPI_Bcast((char *)bytes + done, (int)MIN(LARGEST_MESSAGE, size - done), MPI_BYTE, root, comm->mpi);
}

void xlm_comm_broadcast_bytes(const xlm_comm *comm, int root, void **bytes, size_t *size)
{
    uint64_t n = *size;
    xlm_comm_broadcast(comm, root, &n, sizeof n);
    *size = n;
    if (comm->rank != root)
        *bytes = g_malloc(n);
    xlm_comm_broadcast(comm, root, *bytes, n);
}

void xlm_comm_bytes_to_first(const xlm_comm *comm, int from, void **bytes, size_t *size)
{
    if (from == 0 || (comm->rank != 0 && comm->rank != from))
        return;
    const bool receives = comm->rank == 0;
    uint64_t n = *size;
    MPI_Status status; /* unused; with MPICH compilers warn of MPI_STATUS_IGNORE */
    if (receives) {
        MPI_Recv(&n, 1, MPI_UINT64_T, from, 0, comm->mpi, &status);
        *bytes = g_malloc(n + 1);
        *size = n;
    } else {
        MPI_Send(&n, 1, MPI_UINT64_T, 0, 0, comm->mpi);
    }
    for (size_t done = 0; done < n; done += LARGEST_MESSAGE) {
        char *part = (char *)*bytes + done;
        const int length = (int)MIN(LARGEST_MESSAGE, n - done);
        if (receives)
            MPI_Recv(part, length, MPI_BYTE, from, 0, comm->mpi, &status);
        else
            MPI_Send(part, length, MPI_BYTE, 0, 0, comm->mpi);
    }
}

void xlm_comm_broadcast_text(const xlm_comm *comm, char **text)
{
    void *bytes = *text;
    size_t size = *text != NULL ? strlen(*text) + 1 : 0;
    xlm_comm_broadcast_bytes(comm, 0, &bytes, &size);
    if (comm->rank == 0)
        return;
    g_free(*text);
    *text = bytes; /* NULL if there are no bytes */
}

static void gather_at_once(const xlm_comm *comm, const void *bytes, size_t size, char *all, const uint64_t *sizes)
{
    g_autofree int *counts = g_new(int, comm->ranks), *places = g_new(int, comm->ranks);
    uint64_t at = 0;
    for (int r = 0; r < comm->ranks; at += sizes[r++]) {
        counts[r] = (int)sizes[r];
        places[r] = (int)at;
    }
    MPI_Allgatherv(bytes, (int)size, MPI_BYTE, all, counts, places, MPI_BYTE, comm->mpi);
}

/* Of any sizes, which may exceed the counts and places in int of MPI_Allgatherv: one rank after another. */
static void gather_by_broadcasts(const xlm_comm *comm, const void *bytes, size_t size, char *all, const uint64_t *sizes)
{
    for (int r = 0; r < comm->ranks; all += sizes[r++]) {
        if (r == comm->rank && size > 0)
            memcpy(all, bytes, size);
        xlm_comm_broadcast(comm, r, all, sizes[r]);
    }
}

void xlm_comm_gather_all(const xlm_comm *comm, const void *bytes, size_t size, void **all, size_t *sizes)
{
    g_autofree uint64_t *every = g_new(uint64_t, comm->ranks);
    const uint64_t mine = size;
    MPI_Allgather(&mine, 1, MPI_UINT64_T, every, 1, MPI_UINT64_T, comm->mpi);
    size_t total = 0;
    for (int r = 0; r < comm->ranks; r++) {
        total += every[r];
        if (sizes != NULL)
            sizes[r] = every[r];
    }
    *all = g_malloc(total + 1);
    if (total <= INT_MAX)
        gather_at_once(comm, bytes, size, *all, every);
    else
        gather_by_broadcasts(comm, bytes, size, *all, every);
}

static int64_t sum_before(const int64_t *numbers, int end)
{
    int64_t sum = 0;
    for (int i = 0; i < end; i++)
        sum += numbers[i];
    return sum;
}

void *xlm_comm_exchange(const xlm_comm *comm, const void *send, const int64_t *numbers, size_t size, int64_t *received)
{
    MPI_Alltoall(numbers, 1, MPI_INT64_T, received, 1, MPI_INT64_T, comm->mpi);
    size_t total = 0;
    for (int r = 0; r < comm->ranks; r++)
        total += size * (size_t)received[r];
    char *all = g_malloc(total + 1), *in = all;
    const char *out = send;
    MPI_Datatype record;
    MPI_Type_contiguous((int)size, MPI_BYTE, &record);
    MPI_Type_commit(&record);
    g_autofree MPI_Request *requests = g_new(MPI_Request, 2 * comm->ranks);
    MPI_Status *statuses = g_new(MPI_Status, 2 * comm->ranks); /* unused; with MPICH compilers warn of MPI_STATUSES_IGNORE */
    int n = 0;
    for (int r = 0; r < comm->ranks; in += size * (size_t)received[r++])
        if (received[r] > 0 && r != comm->rank)
            MPI_Irecv(in, (int)received[r], record, r, 0, comm->mpi, &requests[n++]);
        else if (received[r] > 0)
            memcpy(in, out + size * (size_t)sum_before(numbers, r), size * (size_t)received[r]);
    size_t at = 0; /* `send` may be NULL if there is nothing to send */
    for (int r = 0; r < comm->ranks; at += size * (size_t)numbers[r++])
        if (numbers[r] > 0 && r != comm->rank)
            MPI_Isend(out + at, (int)numbers[r], record, r, 0, comm->mpi, &requests[n++]);
    MPI_Waitall(n, requests, statuses);
    g_free(statuses);
    MPI_Type_free(&record);
    return all;
}

/* In parts, for MPI counts in int. Of one rank alone, which may be without MPI, nothing changes. */
static void reduce(const xlm_comm *comm, void *values, int64_t n, MPI_Datatype type, MPI_Op operation)
{
    enum { MAX_VALUES = 1 << 24, SIZE = 8 };
    if (comm->ranks == 1)
        return;
    for (int64_t done = 0; done < n; done += MAX_VALUES)
        MPI_Allreduce(MPI_IN_PLACE, (char *)values + done * SIZE, (int)MIN(MAX_VALUES, n - done), type, operation, comm->mpi);
}

void xlm_comm_sum_int64(const xlm_comm *comm, int64_t *values, int64_t n) { reduce(comm, values, n, MPI_INT64_T, MPI_SUM); }

void xlm_comm_max_int64(const xlm_comm *comm, int64_t *values, int64_t n) { reduce(comm, values, n, MPI_INT64_T, MPI_MAX); }

/* Each rank adds a slice of the values, and all get the sums: two numbers are received for each value, on any number of ranks. */
void xlm_comm_sum_double(const xlm_comm *comm, double *values, int64_t n)
{
    enum { MAX_VALUES = 1 << 20 }; /* so many are in memory twice more */
    const int64_t ranks = comm->ranks, max_slice = (MIN(n, MAX_VALUES) + ranks - 1) / ranks;
    g_autofree double *all = g_new0(double, max_slice *ranks), *slices = g_new(double, max_slice *ranks);
    for (int64_t done = 0; done < n; done += MAX_VALUES) {
        const int64_t now = MIN(MAX_VALUES, n - done), slice = (now + ranks - 1) / ranks;
        memcpy(all, values + done, sizeof *all * (size_t)now); /* what follows, up to ranks x slice, is added but not read */
        MPI_Alltoall(all, (int)slice, MPI_DOUBLE, slices, (int)slice, MPI_DOUBLE, comm->mpi);
        for (int64_t i = 0; i < slice; i++) {
            double sum = 0;
            for (int64_t r = 0; r < ranks; r++)
                sum += slices[r * slice + i];
            slices[i] = sum;
        }
        MPI_Allgather(slices, (int)slice, MPI_DOUBLE, all, (int)slice, MPI_DOUBLE, comm->mpi);
        memcpy(values + done, all, sizeof *all * (size_t)now);
    }
}

void xlm_comm_merge_double(const xlm_comm *comm, double *values, int64_t n)
{
    reduce(comm, values, n, MPI_DOUBLE, MPI_SUM);
}

int64_t xlm_comm_sum_below(const xlm_comm *comm, int64_t value)
{
    int64_t below = 0;
    MPI_Exscan(&value, &below, 1, MPI_INT64_T, MPI_SUM, comm->mpi);
    return comm->rank == 0 ? 0 : below;
}

int64_t xlm_comm_sum_node(const xlm_comm *comm, int64_t value)
{
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_SUM, comm->node);
    return value;
}

void xlm_comm_or_node(const xlm_comm *comm, uint64_t *bits, int n)
{
    MPI_Allreduce(MPI_IN_PLACE, bits, n, MPI_UINT64_T, MPI_BOR, comm->node);
}

void xlm_comm_barrier(const xlm_comm *comm) { MPI_Barrier(comm->mpi); }
