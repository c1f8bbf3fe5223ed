/* xlm-mpi: HDF5 files written by several ranks together. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   store_test               the tests, on any number of ranks
 *   store_test write FILE    write a file of some datasets and attributes; for tests/fault/store.sh, with
 *                            XLM_TEST_FAIL_WRITE=RANK:CALL: that system call of that rank that writes to it fails, or with
 *                            RANK:NAME:CALL that one of fsync, ftruncate and rename, or of fsync of its directory (directory);
 *                            if it does not come to that, the number of such calls is printed
 *                            XLM_TEST_LOWER_LIMIT=RANK:ARRAY: that rank lowers its limit on file sizes before that array
 *   store_test check FILE    0 when it is what `write` writes */
#define _GNU_SOURCE /* RTLD_NEXT, setrlimit */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "check.h"

#include "files/new_file.h"
#include "store/store.h"

/* ---- a system call that fails on demand ---- */

/* This process's rank as its launcher says it, Open MPI's or MPICH's: some calls come before MPI is asked. NULL: started alone.
 * */
static const char *launched_as(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    return rank != NULL ? rank : getenv("PMI_RANK");
}

static int calls; /* of those that may have to fail */

/* Is this call, of those of that name that concern the file, the one that is to fail? */
static bool must_fail(const char *name, const char *path)
{
    const char *demand = getenv("XLM_TEST_FAIL_WRITE"), *rank = launched_as();
    int fail_rank, fail_call;
    char fail_name[16] = "write";
    if (demand == NULL || rank == NULL ||
        (sscanf(demand, "%d:%d", &fail_rank, &fail_call) != 2 &&
         sscanf(demand, "%d:%15[a-z]:%d", &fail_rank, fail_name, &fail_call) != 3) ||
        atoi(rank) != fail_rank || strcmp(name, fail_name) != 0)
        return false;
    /* Only the file itself: Open MPI keeps others beside it. */
    const char *suffix = strstr(path, ".h5" XLM_UNFINISHED);
    if (strcmp(name, "directory") != 0 && (suffix == NULL || strlen(suffix) != strlen(".h5" XLM_UNFINISHED "XXXXXX")))
        return false;
    return ++calls == fail_call;
}

static bool must_fail_at(const char *name, int descriptor)
{
    char link[64], path[4096] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    return readlink(link, path, sizeof path - 1) > 0 && must_fail(name, path);
}

static bool is_directory(int descriptor)
{
    struct stat status;
    return fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode);
}

#define FAILING(type, name, parameters, arguments, fails)                                                              \
    type name parameters;                                                                                             \
    type name parameters                                                                                              \
    {                                                                                                                 \
        static type(*real) parameters;                                                                                \
        if (real == NULL)                                                                                             \
            real = (type(*) parameters)dlsym(RTLD_NEXT, #name);                                                       \
        if (fails) {                                                                                                  \
            errno = EIO;                                                                                              \
            return -1;                                                                                                \
        }                                                                                                             \
        return real arguments;                                                                                        \
    }
#define FAILING_WRITE(name, parameters, arguments) FAILING(ssize_t, name, parameters, arguments, must_fail_at("write", fd))
FAILING_WRITE(write, (int fd, const void *data, size_t n), (fd, data, n))
FAILING_WRITE(pwrite, (int fd, const void *data, size_t n, off_t at), (fd, data, n, at))
FAILING_WRITE(pwrite64, (int fd, const void *data, size_t n, off64_t at), (fd, data, n, at))
FAILING_WRITE(writev, (int fd, const struct iovec *parts, int n), (fd, parts, n))
FAILING_WRITE(pwritev, (int fd, const struct iovec *parts, int n, off_t at), (fd, parts, n, at))
FAILING_WRITE(pwritev64, (int fd, const struct iovec *parts, int n, off64_t at), (fd, parts, n, at))
FAILING(int, fsync, (int fd), (fd), must_fail_at(is_directory(fd) ? "directory" : "fsync", fd))
FAILING(int, ftruncate, (int fd, off_t size), (fd, size), must_fail_at("ftruncate", fd))
FAILING(int, ftruncate64, (int fd, off64_t size), (fd, size), must_fail_at("ftruncate", fd))
FAILING(int, rename, (const char *from, const char *to), (from, to), must_fail("rename", from))

/* ---- a file with something of everything ---- */

struct array {
    const char *name;
    xlm_type type;
    int dimensions;
    uint64_t dims[2];
    int flags;
};
static const struct array arrays[] = {
    {"/model/encoder/layer.0/attention/query/weight", XLM_F32, 2, {300, 256}, XLM_STORE_CHECKED},
    {"/model/encoder/layer.0/attention/query/bias", XLM_F32, 1, {256, 0}, XLM_STORE_CHECKED},
    {"/tokens", XLM_U16, 1, {400001, 0}, XLM_STORE_CHECKED},
    {"/long rows", XLM_I32, 2, {3, 40000}, XLM_STORE_CHECKED},
    {"/chunks", XLM_F64, 2, {17, 35}, XLM_STORE_CHUNKED},
    {"/plain", XLM_I64, 2, {1000, 3}, 0},
    {"/one", XLM_U8, 1, {1, 0}, XLM_STORE_CHECKED},
    {"/large", XLM_U64, 1, {5, 0}, 0},
    {"/empty", XLM_U32, 1, {0, 0}, XLM_STORE_CHECKED},
    {"/empty rows", XLM_U32, 2, {0, 4}, XLM_STORE_CHECKED},
    {"/grown", XLM_U32, 2, {50000, 2}, XLM_STORE_CHECKED | XLM_STORE_GROWING},
};

static xlm_array as_read(const struct array *a) { return (xlm_array){a->type, a->dims[0], a->dims[1]}; }

static uint64_t row_size(const struct array *a)
{
    uint64_t size = xlm_type_size(a->type);
    for (int i = 1; i < a->dimensions; i++)
        size *= a->dims[i];
    return size;
}

/* Bytes that depend on the array and their place alone; floats are kept finite by the small high bytes. */
static void *make_rows(const struct array *a, uint64_t first, uint64_t rows)
{
    uint64_t size = row_size(a);
    uint8_t *bytes = g_malloc(rows * size + 1);
    const uint32_t before = (uint32_t)(first * size);
#pragma omp simd
    for (uint64_t i = 0; i < rows * size; i++)
        bytes[i] = (uint8_t)(((before + (uint32_t)i + 1) * 2654435761u + (uint32_t)a->type) >> 9) & 0x3f;
    return bytes;
}

/* Rows of rank r when they are dealt with these weights: 0 even, 1 all to the last rank, 2 uneven with ranks that have none;
 * WHOLE: every rank has all rows, of arrays that do not grow. */
enum { WHOLE = 3 };
static void deal(const xlm_comm *comm, int weights, uint64_t rows, uint64_t *first, uint64_t *mine)
{
    uint64_t total = 0, before = 0, own = 0;
    for (int r = 0; r < comm->ranks; r++) {
        uint64_t weight = weights == 0 ? 1 : weights == 1 ? r == comm->ranks - 1 : (uint64_t)(r % 3 == 1 ? 0 : r + 1);
        before += r < comm->rank ? weight : 0;
        own = r == comm->rank ? weight : own;
        total += weight;
    }
    *first = rows * before / total;
    *mine = rows * (before + own) / total - *first;
}

static bool write_array(const xlm_comm *comm, xlm_store *store, const struct array *a, int weights, GError **error)
{
    uint64_t dims[2];
    memcpy(dims, a->dims, sizeof dims);
    int steps = a->flags & XLM_STORE_GROWING ? 4 : 1;
    if (steps > 1)
        dims[0] = 0;
    bool good = xlm_store_dataset(store, a->name, a->type, a->dimensions, dims, a->flags, error);
    for (int s = 0; good && s < steps; s++) {
        uint64_t from = a->dims[0] * s / steps, to = a->dims[0] * (s + 1) / steps, first, mine;
        good = steps == 1 || xlm_store_extend(store, a->name, to, error);
        const bool whole = weights == WHOLE && steps == 1;
        deal(comm, weights, to - from, &first, &mine);
        void *rows = whole ? make_rows(a, 0, to) : make_rows(a, from + first, mine);
        good = good && (whole ? xlm_store_write_whole(store, a->name, rows, error)
                              : xlm_store_write(store, a->name, from + first, mine, rows, error));
        g_free(rows);
    }
    return good;
}

static const char *const words[] = {"the", "", "Straße", "猫", "unaufhörlich"};

static char *long_text(void)
{
    char *text = g_strnfill(200000, 'j');
    memcpy(text, "[model]\n", 8);
    return text;
}

/* On demand, that rank's files may not have more than 4 KiB from array `next` on: found out when room is asked for next,
 * in a file that has more already. */
static void lower_limit(int next)
{
    const char *demand = getenv("XLM_TEST_LOWER_LIMIT"), *rank = launched_as();
    int low_rank, at;
    if (demand != NULL && rank != NULL && sscanf(demand, "%d:%d", &low_rank, &at) == 2 && atoi(rank) == low_rank && at == next)
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 4096});
}

/* A small file, so its writers are as many as XLM_STORE_WRITERS says, or one where nothing says it. */
static bool write_all(const xlm_comm *comm, const xlm_comm *ranks, const char *path, int weights, GError **error)
{
    xlm_store *store = xlm_store_create_sized(ranks, path, 1 << 20, error);
    bool good = store != NULL;
    for (size_t i = 0; good && i < G_N_ELEMENTS(arrays); i++) {
        lower_limit((int)i);
        good = write_array(comm, store, &arrays[i], weights, error);
    }
    char *text = long_text();
    good = good && xlm_store_write_strings(store, "/vocabulary/words", G_N_ELEMENTS(words), words, error) &&
           xlm_store_set_text(store, "/job", "text", text, error) &&
           xlm_store_set_int(store, "/tokens", "languages", 2, error) &&
           xlm_store_set_real(store, "/", "rate", 0.1, error);
    g_free(text);
    if (good)
        return xlm_store_commit(store, error);
    xlm_store_discard(store);
    return false;
}

static void check_all(const xlm_comm *comm, const char *path)
{
    xlm_store *store;
    GOOD((store = xlm_store_open(path, &error)) != NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++) {
        const struct array *a = &arrays[i];
        const uint64_t size = a->dims[0] * row_size(a);
        char *rows = make_rows(a, 0, a->dims[0]), *back = g_malloc0(size + 1);
        GOOD(xlm_store_read(store, a->name, as_read(a), 0, a->dims[0], back, &error));
        CHECK(memcmp(rows, back, size) == 0);
        g_free(rows);
        g_free(back);
    }
    uint64_t n = 0;
    char **strings, *text, *expected = long_text();
    GOOD((strings = xlm_store_read_strings(store, "/vocabulary/words", G_N_ELEMENTS(words), &n, &error)) != NULL);
    CHECK(n == G_N_ELEMENTS(words));
    for (uint64_t i = 0; i < n; i++)
        CHECK(strcmp(strings[i], words[i]) == 0);
    GOOD((text = xlm_store_get_text(store, "/job", "text", &error)) != NULL);
    CHECK(strcmp(text, expected) == 0);
    int64_t languages = 0;
    double rate = 0;
    GOOD(xlm_store_get_int(store, "/tokens", "languages", &languages, &error));
    GOOD(xlm_store_get_real(store, "/", "rate", &rate, &error));
    CHECK(languages == 2 && rate == 0.1);
    g_strfreev(strings);
    g_free(text);
    g_free(expected);
    xlm_store_close(store);
}

/* ---- tests ---- */

static void files_do_not_depend_on_ranks(const xlm_comm *comm, const char *directory)
{
    char *path = g_build_filename(directory, "together.h5", NULL), *alone = g_build_filename(directory, "alone.h5", NULL);
    for (int weights = 0; weights <= WHOLE; weights++) {
        GOOD(write_all(comm, comm, path, weights, &error));
        check_all(comm, path); /* by every rank at once */
        xlm_comm_barrier(comm);
    }
    if (comm->rank == 0) {
        const xlm_comm one = {.ranks = 1, .local_ranks = 1};
        GOOD(write_all(&one, NULL, alone, 0, &error));
        check_all(comm, alone);
    }
    xlm_comm_barrier(comm);
    if (comm->rank == 0) {
        CHECK(g_unlink(path) == 0);
        CHECK(g_unlink(alone) == 0);
    }
    g_free(path);
    g_free(alone);
}

/* Every rank's share is larger than what goes to HDF5 at once (64 MiB in all but one): rounds, of a rank alone too. */
static void large_arrays_are_written_in_rounds(const xlm_comm *comm, const char *directory)
{
    char *path = g_build_filename(directory, "large.h5", NULL);
    const struct array a = {"/large", XLM_U32, 2, {70001, 300}, XLM_STORE_CHECKED};
    xlm_store *store;
    GOOD((store = xlm_store_create(comm, path, &error)) != NULL);
    GOOD(write_array(comm, store, &a, comm->ranks > 1 ? 1 : WHOLE, &error));
    GOOD(xlm_store_commit(store, &error));
    if (comm->rank == 0) {
        char *rows = make_rows(&a, 0, a.dims[0]), *back = g_malloc(a.dims[0] * row_size(&a));
        GOOD((store = xlm_store_open(path, &error)) != NULL);
        GOOD(xlm_store_read(store, a.name, as_read(&a), 0, a.dims[0], back, &error));
        CHECK(memcmp(rows, back, a.dims[0] * row_size(&a)) == 0);
        xlm_store_close(store);
        g_free(rows);
        g_free(back);
        CHECK(g_unlink(path) == 0);
    }
    g_free(path);
}

static void directories_that_cannot_be_written(const xlm_comm *comm, const char *directory)
{
    char *missing = g_build_filename(directory, "no", "file.h5", NULL);
    BAD(xlm_store_create(comm, missing, &error) != NULL, EX_CANTCREAT, missing, "No such file or directory");
    g_free(missing);
    if (geteuid() != 0) {
        char *path = g_build_filename(directory, "file.h5", NULL);
        xlm_comm_barrier(comm);
        if (comm->rank == 0)
            CHECK(g_chmod(directory, 0555) == 0);
        xlm_comm_barrier(comm);
        BAD(xlm_store_create(comm, path, &error) != NULL, EX_CANTCREAT, path, "Permission denied");
        xlm_comm_barrier(comm);
        if (comm->rank == 0)
            CHECK(g_chmod(directory, 0755) == 0);
        xlm_comm_barrier(comm);
        g_free(path);
    }
}

/* One rank with a limit is enough for an error on all: the last, when it writes itself. */
static void a_limit_on_sizes_is_an_error(const xlm_comm *comm, const char *directory)
{
    char *path = g_build_filename(directory, "limited.h5", NULL);
    const uint64_t n = 1 << 20, zero = 0;
    struct rlimit old, limit;
    CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
    limit = old;
    limit.rlim_cur = 1 << 20;
    if (comm->rank == (comm->ranks <= 4 ? comm->ranks - 1 : 0))
        CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    for (int way = 0; way < 3; way++) {
        xlm_store *store;
        GOOD((store = xlm_store_create(comm, path, &error)) != NULL);
        GOOD(write_array(comm, store, &arrays[1], 0, &error));
        if (way == 0) {
            BAD(xlm_store_dataset(store, "/much", XLM_U32, 1, &n, XLM_STORE_CHECKED, &error), EX_IOERR, path, "File too large");
        } else if (way == 1) {
            GOOD(xlm_store_dataset(store, "/much", XLM_U32, 1, &zero, XLM_STORE_CHECKED | XLM_STORE_GROWING, &error));
            GOOD(xlm_store_extend(store, "/much", 1000, &error));
            BAD(xlm_store_extend(store, "/much", n, &error), EX_IOERR, path, "ulimit -f");
        } else {
            char *text = g_strnfill(2 << 20, 'x');
            BAD(xlm_store_set_text(store, "/", "much", text, &error), EX_IOERR, path, "File too large");
            g_free(text);
        }
        xlm_store_discard(store);
    }
    CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
    g_free(path);
}

/* Ranks agree at the end, or, with grows, when they ask for room for another array: the error is not lost then. */
static void a_mistake_is_an_error_of_all(const xlm_comm *comm, const char *directory, bool grows)
{
    char *path = g_build_filename(directory, "mistakes.h5", NULL);
    const uint64_t n = 4 * (uint64_t)comm->ranks, large = 1 << 20;
    xlm_store *store;
    GOOD((store = xlm_store_create(comm, path, &error)) != NULL);
    GOOD(xlm_store_dataset(store, "/a", XLM_U8, 1, &n, 0, &error));
    BAD(xlm_store_dataset(store, "/a", XLM_U8, 1, &n, 0, &error), EX_SOFTWARE, "/a", "twice");
    BAD(xlm_store_write(store, "/b", 0, 0, "", &error), EX_SOFTWARE, "/b", path);
    /* One row too many, on the last rank alone. */
    const uint64_t first = 4 * (uint64_t)comm->rank + (comm->rank == comm->ranks - 1 ? 2 : 0);
    char *rows = g_strdup_printf("rows %d to %d", 4 * comm->ranks - 2, 4 * comm->ranks + 1);
    BAD(xlm_store_end(store, xlm_store_write(store, "/a", first, 3, "abc", &error) &&
                                 (!grows || xlm_store_dataset(store, "/large", XLM_U8, 1, &large, 0, &error)), &error),
        EX_SOFTWARE, "/a", rows);
    g_free(rows);
    xlm_store_discard(NULL);
    g_free(path);
}

static void run_tests(const xlm_comm *comm)
{
    char *made = comm->rank == 0 ? g_dir_make_tmp("xlm-store-XXXXXX", NULL) : NULL;
    void *directory = made;
    size_t size = made != NULL ? strlen(made) + 1 : 0;
    xlm_comm_broadcast_bytes(comm, 0, &directory, &size);
    /* All ranks write, some of them, one alone. */
    for (int writers = 4; writers > 0; writers /= 2) {
        char *number = g_strdup_printf("%d", writers);
        g_setenv("XLM_STORE_WRITERS", number, TRUE);
        files_do_not_depend_on_ranks(comm, directory);
        a_mistake_is_an_error_of_all(comm, directory, false);
        a_mistake_is_an_error_of_all(comm, directory, true);
        g_free(number);
    }
    g_unsetenv("XLM_STORE_WRITERS");
    files_do_not_depend_on_ranks(comm, directory);
    if (comm->rank == 0) /* as with a launcher that gives a variable to the ranks of its own node alone */
        g_setenv("XLM_STORE_WRITERS", "4", TRUE);
    files_do_not_depend_on_ranks(comm, directory);
    g_setenv("XLM_STORE_WRITERS", "4", TRUE);
    large_arrays_are_written_in_rounds(comm, directory);
    directories_that_cannot_be_written(comm, directory);
    a_limit_on_sizes_is_an_error(comm, directory);
    g_unsetenv("XLM_STORE_WRITERS");
    xlm_comm_barrier(comm);
    if (comm->rank == 0)
        CHECK(g_rmdir(directory) == 0); /* nothing is left in it */
    g_free(directory);
}

static void write_demanded(xlm_comm *comm, const char *path, GError **failure)
{
    if (write_all(comm, comm, path, 0, failure) && calls > 0)
        printf("calls: %d\n", calls);
}

int main(int argc, char **argv)
{
    xlm_comm world, *comm = &world;
    xlm_comm_open(comm, "store_test", &argc, &argv);
    GError *failure = NULL;
    if (argc == 3 && strcmp(argv[1], "write") == 0)
        write_demanded(comm, argv[2], &failure);
    else if (argc == 3 && strcmp(argv[1], "check") == 0)
        check_all(comm, argv[2]);
    else
        run_tests(comm);
    int64_t all = failures;
    xlm_comm_sum_int64(comm, &all, 1);
    int code = xlm_comm_close(comm, failure);
    return all == 0 ? code : EXIT_FAILURE;
}
