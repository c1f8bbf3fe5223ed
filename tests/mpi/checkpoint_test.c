/* xlm-mpi: checkpoints of several ranks: written, read, pruned, damaged, refused. SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>
#include <hdf5.h>

#include "run_fixture.h"

#include "checkpoint/checkpoint_mean.h"

#include "files/new_file.h"
#include "run/warm_start.h"

static bool same_numbers(const run *a, const run *b)
{
    const size_t size = sizeof(float) * (size_t)xlm_parameters_size(a->state.parameters);
    bool same = a->state.step == b->state.step &&
                memcmp(xlm_parameters_values(a->state.parameters), xlm_parameters_values(b->state.parameters), size) == 0 &&
                memcmp(a->state.first_moment, b->state.first_moment, size) == 0 &&
                memcmp(a->state.second_moment, b->state.second_moment, size) == 0;
    for (int k = 0; k < a->state.saved_states; k++)
        same = same && memcmp(a->saved[k].values, b->saved[k].values, sizeof(double) * (size_t)a->saved[k].n) == 0;
    return same;
}

/* The run is what it was at `step`. */
static bool is_at(const xlm_comm *comm, const run *r, int64_t step)
{
    run *expected = make_run_of(comm, r->config.hidden_size, r->state.saved_states == 2, r->config.decoder_layers == 0);
    fill(expected, step);
    const bool same = same_numbers(r, expected);
    free_run(expected);
    return same;
}

/* Where it does not matter what a checkpoint holds. */
static void write_small_step(const xlm_comm *comm, const char *directory, int64_t step, int64_t keep)
{
    write_run(comm, make_small_run(comm), directory, step, keep);
}

/* ---- directories ---- */

static gint by_name(gconstpointer a, gconstpointer b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* "a b c": the names in a directory, in order; the targets of links after "->". */
static char *list(const char *directory)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    GDir *folder = g_dir_open(directory, 0, NULL);
    for (const char *name; folder != NULL && (name = g_dir_read_name(folder)) != NULL;) {
        char *path = g_build_filename(directory, name, NULL), *target = g_file_read_link(path, NULL);
        g_ptr_array_add(names, target != NULL ? g_strconcat(name, "->", target, NULL) : g_strdup(name));
        g_free(target);
        g_free(path);
    }
    if (folder != NULL)
        g_dir_close(folder);
    g_ptr_array_sort(names, by_name);
    g_ptr_array_add(names, NULL);
    char *text = g_strjoinv(" ", (char **)names->pdata);
    g_ptr_array_free(names, TRUE);
    return text;
}

/* Looked at by rank 0, when all have done what they do. */
static void check_list(const xlm_comm *comm, int line, const char *directory, const char *expected)
{
    xlm_comm_barrier(comm);
    if (comm->rank == 0) {
        char *names = list(directory);
        if (strcmp(names, expected) != 0) {
            fprintf(stderr, "%s:%d: there are: %s\n", __FILE__, line, names);
            failures++;
        }
        g_free(names);
    }
    xlm_comm_barrier(comm);
}
#define CHECK_LIST(directory, expected) check_list(comm, __LINE__, directory, expected)

/* ---- damage, by rank 0 between barriers ---- */

static void cut(const xlm_comm *comm, const char *directory, int64_t step)
{
    xlm_comm_barrier(comm);
    if (comm->rank == 0) {
        char *path = xlm_checkpoint_path(directory, step);
        struct stat status;
        CHECK(stat(path, &status) == 0 && truncate(path, status.st_size - 1000) == 0);
        g_free(path);
    }
    xlm_comm_barrier(comm);
}

/* Flip a bit in the middle of the numbers that array `a` has at that step. */
static void flip(const xlm_comm *comm, const char *directory, int64_t step, uint32_t a)
{
    xlm_comm_barrier(comm);
    if (comm->rank == 0) {
        run *r = make_small_run(comm);
        const xlm_parameters *p = r->state.parameters;
        const xlm_parameter *one = xlm_parameters_get(p, xlm_parameters_find(p, "encoder/layer.0/attention/output/weight"));
        float pattern[8];
        for (uint32_t i = 0; i < 8; i++)
            pattern[i] = number(step, a, (uint32_t)(one->start + 40 + i));
        char *path = xlm_checkpoint_path(directory, step), *bytes = NULL;
        gsize size = 0, at = 0;
        CHECK(g_file_get_contents(path, &bytes, &size, NULL));
        while (at + sizeof pattern <= size && memcmp(bytes + at, pattern, sizeof pattern) != 0)
            at++;
        CHECK(at + sizeof pattern <= size);
        bytes[at + 5] ^= 1;
        CHECK(g_file_set_contents(path, bytes, (gssize)size, NULL));
        g_free(bytes);
        g_free(path);
        free_run(r);
    }
    xlm_comm_barrier(comm);
}

/* What rank 0 writes to standard error while `resume` runs. */
static bool resume(const xlm_comm *comm, const char *directory, run *r, char **found, char **logged, GError **error)
{
    char *path = g_build_filename(g_get_tmp_dir(), "xlm-logged-XXXXXX", NULL);
    fflush(stderr);
    const int keep = dup(STDERR_FILENO), into = g_mkstemp(path);
    dup2(into, STDERR_FILENO);
    const bool good = xlm_checkpoint_resume(comm, directory, &r->state, found, error);
    fflush(stderr);
    dup2(keep, STDERR_FILENO);
    close(keep);
    close(into);
    g_file_get_contents(path, logged, NULL, NULL);
    g_unlink(path);
    g_free(path);
    return good;
}

/* ---- tests ---- */

/* The first `ranks` ranks as a communicator of their own; false on the others. */
static bool first_ranks(const xlm_comm *comm, int ranks, xlm_comm *part)
{
    const bool inside = comm->rank < ranks;
    *part = (xlm_comm){.rank = comm->rank, .ranks = ranks, .local_rank = comm->rank, .local_ranks = ranks};
    MPI_Comm_split(comm->mpi, inside ? 0 : MPI_UNDEFINED, comm->rank, &part->mpi);
    return inside;
}

/* All of these ranks have the file open; of so small a checkpoint one rank would, as in the other tests. */
static void any_number_of_ranks_writes_and_reads(const xlm_comm *comm)
{
    g_setenv("XLM_STORE_WRITERS", "4", TRUE);
    for (int writers = 1; writers <= comm->ranks; writers *= 2) {
        char *directory = make_directory(comm);
        xlm_comm part;
        if (first_ranks(comm, writers, &part)) {
            write_step(&part, directory, 42, 1);
            MPI_Comm_free(&part.mpi);
        }
        CHECK_LIST(directory, "checkpoint-00000042.h5 latest->checkpoint-00000042.h5");
        for (int readers = 1; readers <= comm->ranks; readers *= 2) {
            if (first_ranks(comm, readers, &part)) {
                char *path = xlm_checkpoint_path(directory, 42);
                run *r = make_run(comm, 16, true);
                GOOD(xlm_checkpoint_read(&part, path, &r->state, &error));
                CHECK(is_at(comm, r, 42));
                MPI_Comm_free(&part.mpi);
                free_run(r);
                g_free(path);
            }
        }
        remove_directory(comm, directory);
    }
    g_unsetenv("XLM_STORE_WRITERS");
}

/* Checkpoints are readable without this program: names, shapes, provenance. */
static void the_layout_is_as_documented(const xlm_comm *comm)
{
    char *directory = make_directory(comm), *path = xlm_checkpoint_path(directory, 5);
    write_step(comm, directory, 5, 1);
    if (comm->rank == 0) {
        xlm_store *store;
        GOOD((store = xlm_store_open(path, &error)) != NULL);
        static const struct { const char *path; uint64_t rows, cols; } arrays[] = {
            {"/model/encoder/layer.0/attention/query/weight", 16, 16},
            {"/model/encoder/layer.0/feed_forward/intermediate/weight", 64, 16},
            {"/model/encoder/layer.0/attention/layer_norm/bias", 16, 0},
            {"/model/embeddings/language/weight", 2, 16},
            {"/optimiser/first_moment/encoder/layer.0/attention/query/weight", 16, 16},
            {"/optimiser/second_moment/embeddings/word/weight", SUBWORDS + XLM_SPECIALS, 16},
            {"/objectives/align/projection", 3, 7},
            {"/optimiser/first_moment/objectives/align/projection", 3, 7},
            {"/objectives/contrast/queue", QUEUE, 0},
        };
        for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++) {
            xlm_array array = {XLM_F32, XLM_ANY, XLM_ANY};
            GOOD(xlm_store_shape(store, arrays[i].path, &array, &error));
            CHECK(array.rows == arrays[i].rows && array.columns == arrays[i].cols);
        }
        int64_t value = 0;
        double real = 0;
        char *text, **strings;
        uint64_t n;
        GOOD((strings = xlm_store_read_strings(store, "/vocabulary/words", XLM_ANY, &n, &error)) != NULL);
        CHECK(n == SUBWORDS + XLM_SPECIALS);
        g_strfreev(strings);
        GOOD((strings = xlm_store_read_strings(store, "/languages", XLM_ANY, &n, &error)) != NULL);
        CHECK(n == 2);
        g_strfreev(strings);
        GOOD(xlm_store_get_int(store, "/", "step", &value, &error));
        CHECK(value == 5);
        GOOD(xlm_store_get_int(store, "/", "ranks", &value, &error));
        CHECK(value == comm->ranks);
        GOOD(xlm_store_get_int(store, "/generator", "seed", &value, &error));
        CHECK(value == 7);
        GOOD(xlm_store_get_real(store, "/model", "dropout", &real, &error));
        CHECK(real == 0.25);
        GOOD((text = xlm_store_get_text(store, "/job", "text", &error)) != NULL);
        CHECK(strcmp(text, "[model]\nlayers = 1\n") == 0);
        g_free(text);
        GOOD((text = xlm_store_get_text(store, "/", "corpus_digest", &error)) != NULL);
        CHECK(strcmp(text, "fedcba9876543210") == 0);
        g_free(text);
        xlm_store_close(store);
    }
    g_free(path);
    remove_directory(comm, directory);
}

/* Every parameter of `some` is in `all`, to the bit. */
static bool same_values(const xlm_parameters *some, const xlm_parameters *all)
{
    bool same = true;
    for (int i = 0; i < xlm_parameters_count(some); i++) {
        const xlm_parameter *p = xlm_parameters_get(some, i), *q = xlm_parameters_get(all, xlm_parameters_find(all, p->name));
        same = same && memcmp(xlm_parameters_values(some) + p->start, xlm_parameters_values(all) + q->start,
                              sizeof(float) * (size_t)(p->rows * p->cols)) == 0;
    }
    return same;
}

static void tools_load_the_model(const xlm_comm *comm)
{
    char *directory = make_directory(comm), *path = xlm_checkpoint_path(directory, 6);
    write_step(comm, directory, 6, 1);
    if (comm->rank == 0) {
        xlm_loaded_model *loaded;
        GOOD((loaded = xlm_model_file_read(path, &error)) != NULL);
        CHECK(loaded->step == 6 && loaded->config.layers == 1 && loaded->config.hidden_size == 16 &&
              loaded->config.feed_forward_size == 64 && loaded->config.dropout == 0.25);
        CHECK(xlm_vocabulary_size(loaded->vocabulary) == SUBWORDS + XLM_SPECIALS);
        run *r = make_run(comm, 16, true);
        fill(r, 6);
        CHECK(same_values(loaded->parameters, r->state.parameters));
        free_run(r);
        xlm_model_file_free(loaded);
    }
    cut(comm, directory, 6);
    if (comm->rank == 0)
        BAD(xlm_model_file_read(path, &error) != NULL, EX_DATAERR, path, "");
    g_free(path);
    remove_directory(comm, directory);
}

static bool write_model(const xlm_comm *comm, const char *path, const run *r, GError **error)
{
    xlm_store *store = xlm_store_create(comm, path, error);
    const xlm_parameters *parameters = r->state.parameters;
    const bool good = store != NULL && xlm_model_file_write_origin(store, comm, XLM_MODEL_FILE_FORMAT, parameters, error) &&
                      xlm_model_file_write_content(store, comm, &r->config, parameters, r->vocabulary, NULL, error);
    return xlm_store_end(store, good, error);
}

/* A model without a run: written by all ranks, read by tools, begun from, and no checkpoint to go on from. */
static void a_model_needs_no_run(const xlm_comm *comm)
{
    char *directory = make_directory(comm), *path = g_build_filename(directory, "model.h5", NULL);
    run *r = make_run(comm, 16, false);
    fill(r, 3);
    GOOD(write_model(comm, path, r, &error));
    const xlm_parameters *written = r->state.parameters;
    if (comm->rank == 0) {
        xlm_loaded_model *loaded;
        GOOD((loaded = xlm_model_file_read(path, &error)) != NULL);
        CHECK(loaded->step == 0 && loaded->task == NULL && loaded->config.hidden_size == 16 && loaded->config.dropout == 0.25);
        CHECK(xlm_vocabulary_digest(loaded->vocabulary) == xlm_vocabulary_digest(r->vocabulary));
        CHECK(same_values(loaded->parameters, written));
        xlm_model_file_free(loaded);
        xlm_store *store;
        GOOD((store = xlm_store_open(path, &error)) != NULL);
        CHECK(!xlm_store_has(store, "/optimiser") && !xlm_store_has(store, "/job") && !xlm_store_has(store, "/generator"));
        CHECK(xlm_store_has(store, "/objectives/align/projection"));
        xlm_store_close(store);
    }

    xlm_parameters *begun = xlm_parameters_new();
    xlm_model *model = xlm_model_new(&r->config, begun);
    xlm_parameters_seal(begun);
    xlm_job job = {.train = {.start = path, .corpus = (char *)"corpus.h5"}};
    xlm_start_record record = {0};
    GOOD(xlm_warm_start(comm, &job, r->vocabulary, true, begun, &record, &error));
    CHECK(same_values(begun, written) && record.step == 0);
    xlm_start_record_clear(&record);
    xlm_model_free(model);
    xlm_parameters_free(begun);

    run *other = make_run(comm, 16, false);
    fill(other, 4);
    BAD(xlm_checkpoint_read(comm, path, &other->state, &error), EX_DATAERR, path, "is \"xlm-mpi model\", not a checkpoint");
    CHECK(is_at(comm, other, 4));
    free_run(other);

    /* Damage is seen wherever it is; nothing is left of a file that cannot be written. */
    xlm_comm_barrier(comm);
    if (comm->rank == 0) {
        gchar *bytes;
        gsize size;
        GOOD(g_file_get_contents(path, &bytes, &size, &error));
        for (int k = 1; k < 8; k++) {
            bytes[size * (gsize)k / 8] ^= 4;
            GOOD(g_file_set_contents(path, bytes, (gssize)size, &error));
            GError *why = NULL;
            xlm_loaded_model *loaded = xlm_model_file_read(path, &why);
            CHECK(loaded != NULL ? same_values(loaded->parameters, written) : why->code == EX_DATAERR);
            g_clear_error(&why);
            xlm_model_file_free(loaded);
            bytes[size * (gsize)k / 8] ^= 4;
        }
        GOOD(g_file_set_contents(path, bytes, (gssize)(size / 2), &error));
        BAD(xlm_model_file_read(path, &error) != NULL, EX_DATAERR, path, "");
        g_free(bytes);
    }
    char *nowhere = g_build_filename(directory, "no", "model.h5", NULL);
    BAD(write_model(comm, nowhere, r, &error), EX_CANTCREAT, nowhere, "");
    CHECK_LIST(directory, "model.h5");
    g_free(nowhere);
    free_run(r);
    g_free(path);
    remove_directory(comm, directory);
}

static void the_newest_are_kept(const xlm_comm *comm)
{
    char *directory = make_directory(comm);
    for (int64_t step = 10; step <= 60; step += 10)
        write_small_step(comm, directory, step, 3);
    CHECK_LIST(directory, "checkpoint-00000040.h5 checkpoint-00000050.h5 checkpoint-00000060.h5 latest->checkpoint-00000060.h5");
    /* Going back does not take those of later steps away. */
    write_small_step(comm, directory, 45, 1);
    CHECK_LIST(directory, "checkpoint-00000045.h5 checkpoint-00000050.h5 checkpoint-00000060.h5 latest->checkpoint-00000045.h5");
    /* Other files are none of our business. */
    char *other = g_build_filename(directory, "checkpoint-1.h5", NULL);
    if (comm->rank == 0)
        CHECK(g_file_set_contents(other, "mine", -1, NULL));
    xlm_comm_barrier(comm);
    write_small_step(comm, directory, 70, 1);
    CHECK_LIST(directory, "checkpoint-00000070.h5 checkpoint-1.h5 latest->checkpoint-00000070.h5");
    g_free(other);
    remove_directory(comm, directory);
}

static void damage_is_named_and_passed_over(const xlm_comm *comm)
{
    char *directory = make_directory(comm), *found = NULL, *logged = NULL;
    run *r = make_small_run(comm);
    fill(r, 1);
    GOOD(resume(comm, directory, r, &found, &logged, &error));
    CHECK(found == NULL && is_at(comm, r, 1));
    g_free(logged);
    for (int64_t step = 10; step <= 40; step += 10)
        write_small_step(comm, directory, step, 9);

    static const char *const newest[] = {"checkpoint-00000040.h5", "checkpoint-00000030.h5", "checkpoint-00000020.h5",
                                         "checkpoint-00000010.h5"};
    for (int bad = 0; bad < 4; bad++) {
        GOOD(resume(comm, directory, r, &found, &logged, &error));
        CHECK(g_str_has_suffix(found, newest[bad]) && is_at(comm, r, 40 - 10 * bad));
        for (int k = 0; k < bad && comm->rank == 0; k++)
            CHECK(strstr(logged, newest[k]) != NULL && strstr(logged, "trying the checkpoint before it") != NULL);
        CHECK(bad > 0 || logged[0] == '\0');
        g_free(found);
        g_free(logged);
        if (bad == 0)
            cut(comm, directory, 40);
        else
            flip(comm, directory, 40 - 10 * bad, (uint32_t)(bad - 1)); /* a value, then a first and a second moment */
    }
    fill(r, 2);
    BAD(resume(comm, directory, r, &found, &logged, &error), EX_DATAERR, directory, "none of its 4 checkpoints");
    CHECK(found == NULL && is_at(comm, r, 2));
    g_free(logged);
    /* Asked for by name there is no other to take. */
    for (int64_t step = 10; step <= 40; step += 10) {
        char *path = xlm_checkpoint_path(directory, step);
        BAD(xlm_checkpoint_read(comm, path, &r->state, &error), EX_DATAERR, path, "");
        CHECK(is_at(comm, r, 2));
        g_free(path);
    }
    char *missing = xlm_checkpoint_path(directory, 99);
    BAD(xlm_checkpoint_read(comm, missing, &r->state, &error), EX_NOINPUT, missing, "");
    g_free(missing);
    free_run(r);
    remove_directory(comm, directory);
}

/* The index of a text in bytes; -1: it does not occur. */
static gssize find_text(const char *bytes, gsize size, const char *text)
{
    const gsize n = strlen(text);
    for (gsize at = 0; at + n <= size; at++)
        if (memcmp(bytes + at, text, n) == 0)
            return (gssize)at;
    return -1;
}

/* A bit of the header that is turned over is damage: the checkpoint before is taken. It must not be read as another seed, another
 * corpus or a parameter that is missing, which would end the run. Each bit is turned on one of the numbers of ranks 1 to 4 that the
 * test runs on. */
static void a_damaged_header_is_passed_over(const xlm_comm *comm)
{
    static const char *const places[] = {"fedcba9876543210", "corpus_digest", "xlm-mpi checkpoint", "format_version", "step",
                                         "seed", "generator", "job", "header_digest", "attention", "first_moment", "layers = 1",
                                         "hidden_size", "contrast", "languages", "vocabulary"};
    enum { FLIPS = 3 * G_N_ELEMENTS(places) };
    char *directory = make_directory(comm), *path = xlm_checkpoint_path(directory, 20), *bytes = NULL;
    gsize size = 0;
    int damaged = 0, tried = 0;
    write_small_step(comm, directory, 10, 9);
    write_small_step(comm, directory, 20, 9);
    run *r = make_small_run(comm);
    if (comm->rank == 0)
        CHECK(g_file_get_contents(path, &bytes, &size, NULL));
    for (uint32_t flip = (uint32_t)(comm->ranks - 1) % 4; flip < FLIPS; flip += 4, tried++) {
        char *found = NULL, *logged = NULL;
        if (comm->rank == 0) {
            /* In the text itself, then within 64 bytes before and after it. */
            const char *place = places[flip / 3];
            const uint32_t *draw = xlm_rng_draw(xlm_rng_make_key(5, XLM_RNG_SAMPLE, flip), 0, 0, 0, 0).v;
            const gssize at = find_text(bytes, size, place);
            CHECK(at >= 0);
            const gssize near = flip % 3 == 0 ? (gssize)(draw[0] % strlen(place)) : (gssize)(draw[0] % 129) - 64;
            char *other = g_memdup2(bytes, size);
            other[CLAMP(at + near, 0, (gssize)size - 1)] ^= (char)(1 << draw[1] % 8);
            CHECK(g_file_set_contents(path, other, (gssize)size, NULL));
            g_free(other);
        }
        xlm_comm_barrier(comm);
        fill(r, 1);
        GOOD(resume(comm, directory, r, &found, &logged, &error));
        const bool passed_over = g_str_has_suffix(found, "checkpoint-00000010.h5");
        CHECK(passed_over ? is_at(comm, r, 10) : is_at(comm, r, 20));
        CHECK(passed_over || flip % 3 != 0);
        CHECK(comm->rank != 0 || !passed_over || (strstr(logged, path) != NULL && strstr(logged, "damaged") != NULL));
        damaged += passed_over;
        g_free(found);
        g_free(logged);
        xlm_comm_barrier(comm);
    }
    CHECK(damaged > tried / 2);
    g_free(bytes);
    g_free(path);
    free_run(r);
    remove_directory(comm, directory);
}

/* Another program has taken an array out of the file, and HDF5 has written its own checksums anew: only the digest of the header
 * can tell. Were it not compared, the run would end, because its checkpoint seems to be another job's. */
static void a_changed_header_is_passed_over(const xlm_comm *comm)
{
    char *directory = make_directory(comm), *path = xlm_checkpoint_path(directory, 20), *found = NULL, *logged = NULL;
    write_small_step(comm, directory, 10, 9);
    write_small_step(comm, directory, 20, 9);
    if (comm->rank == 0) {
        const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        CHECK(H5Ldelete(file, "/objectives/contrast/queue", H5P_DEFAULT) >= 0 && H5Fclose(file) >= 0);
    }
    xlm_comm_barrier(comm);
    run *r = make_small_run(comm);
    GOOD(resume(comm, directory, r, &found, &logged, &error));
    CHECK(g_str_has_suffix(found, "checkpoint-00000010.h5") && is_at(comm, r, 10));
    CHECK(comm->rank != 0 || (strstr(logged, path) != NULL && strstr(logged, "header is not as it was written") != NULL));
    g_free(found);
    g_free(logged);
    g_free(path);
    free_run(r);
    remove_directory(comm, directory);
}

/* A whole checkpoint of another job is not passed over for an older one: that would lose work without a word. */
static void what_does_not_fit_is_refused(const xlm_comm *comm)
{
    char *directory = make_directory(comm), *path = xlm_checkpoint_path(directory, 20), *found = NULL;
    write_small_step(comm, directory, 10, 9);
    write_small_step(comm, directory, 20, 9);
    for (int way = 0; way < 6; way++) {
        static const char *const what[][2] = {
            {"its seed is 7", "the job's 8"},
            {"digest fedcba9876543210", "here 0000000000000001"},
            {"its model has hidden_size = 16", "the job's 24"},
            {"/objectives/contrast/queue has 300 numbers there", "299 here"},
            {"it has no /objectives/other", "does not fit the job"},
            {"/objectives/contrast/queue has real numbers there", "integers here"},
        };
        run *r = make_run_of(comm, way == 2 ? 24 : 16, true, true);
        if (way == 0)
            r->state.seed = 8;
        else if (way == 1)
            r->state.corpus_digest = 1;
        else if (way == 3)
            r->saved[0].n--;
        else if (way == 4)
            r->saved[1].path = "/objectives/other";
        else if (way == 5)
            r->saved[0].type = XLM_STATE_I64;
        fill(r, 3);
        run *before = make_run_of(comm, way == 2 ? 24 : 16, true, true);
        before->saved[0].n = r->saved[0].n;
        fill(before, 3);
        BAD(xlm_checkpoint_read(comm, path, &r->state, &error), EX_DATAERR, what[way][0], what[way][1]);
        BAD(xlm_checkpoint_resume(comm, directory, &r->state, &found, &error), EX_DATAERR, path, what[way][0]);
        CHECK(found == NULL && same_numbers(r, before));
        free_run(before);
        free_run(r);
    }
    /* Another kind of file under the name of a checkpoint. */
    if (comm->rank == 0) {
        xlm_store *store;
        g_remove(path); /* a file of another kind is not replaced */
        GOOD((store = xlm_store_create(NULL, path, &error)) != NULL);
        GOOD(xlm_store_set_text(store, "/", "format", "xlm-mpi corpus", &error));
        GOOD(xlm_store_commit(store, &error));
    }
    xlm_comm_barrier(comm);
    run *r = make_small_run(comm);
    BAD(xlm_checkpoint_read(comm, path, &r->state, &error), EX_DATAERR, path, "not a checkpoint");
    free_run(r);
    g_free(path);
    remove_directory(comm, directory);
}

/* A file of a newer version belongs to the job, and no other job or directory is of use. */
static void newer_files_are_named(const xlm_comm *comm)
{
    char *directory = make_directory(comm), *path = xlm_checkpoint_path(directory, 3), *found = NULL;
    run *r = make_small_run(comm);
    if (comm->rank == 0) {
        xlm_store *store;
        GOOD((store = xlm_store_create(NULL, path, &error)) != NULL);
        GOOD(xlm_store_set_format(store, XLM_CHECKPOINT_FORMAT, XLM_MODEL_FILE_VERSION + 1, NULL, &error));
        GOOD(xlm_store_commit(store, &error));
    }
    xlm_comm_barrier(comm);
    for (int resumes = 0; resumes <= 1; resumes++) {
        GError *error = NULL;
        const bool good = resumes ? xlm_checkpoint_resume(comm, directory, &r->state, &found, &error)
                                  : xlm_checkpoint_read(comm, path, &r->state, &error);
        CHECK(!good && found == NULL && xlm_error_exit_code(error) == EX_DATAERR &&
              strstr(error->message, "has format version 2, which is of a newer version of xlm-mpi") != NULL &&
              g_str_has_suffix(error->message, "use the version that wrote the file, or a later one"));
        g_clear_error(&error);
    }
    free_run(r);
    g_free(path);
    remove_directory(comm, directory);
}

/* The mean is exact where a double holds the sum; members stay however old they are, and one that is gone is left out. */
static void members_are_averaged(const xlm_comm *comm)
{
    static const float values[] = {1, 2, 4.5f, -3};
    char *directory = make_directory(comm), *mean = g_build_filename(directory, XLM_CHECKPOINT_MEAN, NULL);
    xlm_best_score members[3] = {{0.5, 10}, {0.25, 20}, {0.75, 40}};
    run *r = make_small_run(comm);
    float *x = xlm_parameters_values(r->state.parameters);
    const xlm_parameter *last = xlm_parameters_get(r->state.parameters, xlm_parameters_count(r->state.parameters) - 1);
    const int64_t at[] = {0, 5, last->start + 20}; /* the model's, and the objective's */
    r->state.members = members;
    for (int i = 0; i < 4; i++) {
        fill(r, 10 * (i + 1));
        for (int k = 0; k < 3; k++)
            x[at[k]] = values[i] * (float)(k + 1);
        r->state.max_members = MIN(i, 2); /* the first and the second so far */
        GOOD(xlm_checkpoint_write(comm, directory, &r->state, 1, &error));
    }
    CHECK_LIST(directory, "checkpoint-00000010.h5 checkpoint-00000020.h5 checkpoint-00000040.h5 latest->checkpoint-00000040.h5");
    int64_t n = 0;
    GOOD(xlm_checkpoint_mean(comm, directory, members, 3, r->state.parameters, &n, &error));
    CHECK(n == 3 && x[0] == 0 && x[5] == 0 && x[at[2]] == 0); /* 1 + 2 - 3 */
    members[2].step = 30;
    GOOD(xlm_checkpoint_mean(comm, directory, members, 3, r->state.parameters, &n, &error));
    CHECK(n == 2 && x[0] == 1.5f && x[5] == 3 && x[at[2]] == 4.5f);
    /* A file as others are. */
    r->state.step = 40;
    GOOD(xlm_checkpoint_write_mean(comm, directory, &r->state, &error));
    run *again = make_small_run(comm);
    GOOD(xlm_checkpoint_read(comm, mean, &again->state, &error));
    CHECK(again->state.step == 40 && xlm_parameters_values(again->state.parameters)[5] == 3);
    free_run(again);
    CHECK_LIST(directory, "average.h5 checkpoint-00000010.h5 checkpoint-00000020.h5 checkpoint-00000040.h5 "
                          "latest->checkpoint-00000040.h5");
    int moved;
    GOOD(xlm_checkpoint_set_aside(comm, directory, -1, &moved, &error));
    CHECK_LIST(directory, "previous-1");
    members[0].step = members[1].step = 99;
    x[0] = 7;
    GOOD(xlm_checkpoint_mean(comm, directory, members, 3, r->state.parameters, &n, &error));
    CHECK(n == 0 && x[0] == 7);
    free_run(r);
    g_free(mean);
    remove_directory(comm, directory);
}

static void earlier_runs_are_set_aside(const xlm_comm *comm)
{
    char *directory = make_directory(comm), *metrics = g_build_filename(directory, "metrics.csv", NULL);
    char *first = g_build_filename(directory, "previous-1", NULL), *second = g_build_filename(directory, "previous-2", NULL);
    int moved = -1;
    GOOD(xlm_checkpoint_set_aside(comm, directory, -1, &moved, &error));
    CHECK(moved == 0);
    CHECK_LIST(directory, "");
    for (int64_t step = 10; step <= 40; step += 10)
        write_small_step(comm, directory, step, 9);
    if (comm->rank == 0) {
        CHECK(g_file_set_contents(metrics, "step,loss\n", -1, NULL));
        char *killed = g_build_filename(directory, "checkpoint-00000050.h5" XLM_UNFINISHED "a1B2c3", NULL);
        CHECK(g_file_set_contents(killed, "half", -1, NULL));
        g_free(killed);
    }
    xlm_comm_barrier(comm);
    GOOD(xlm_checkpoint_set_aside(comm, directory, 20, &moved, &error));
    CHECK(moved == 2);
    CHECK_LIST(first, "checkpoint-00000030.h5 checkpoint-00000040.h5");
    CHECK_LIST(directory, "checkpoint-00000010.h5 checkpoint-00000020.h5 latest->checkpoint-00000020.h5 metrics.csv previous-1");
    GOOD(xlm_checkpoint_set_aside(comm, directory, 20, &moved, &error));
    CHECK(moved == 0);
    GOOD(xlm_checkpoint_set_aside(comm, directory, -1, &moved, &error));
    CHECK(moved == 2);
    CHECK_LIST(directory, "previous-1 previous-2");
    CHECK_LIST(second, "checkpoint-00000010.h5 checkpoint-00000020.h5 latest->checkpoint-00000020.h5 metrics.csv");
    g_free(metrics);
    g_free(first);
    g_free(second);
    remove_directory(comm, directory);
}

/* As on a full disk: an error on all ranks, and what was there stays. */
static void a_failed_write_leaves_the_old_ones(const xlm_comm *comm)
{
    char *directory = make_directory(comm), *path = xlm_checkpoint_path(directory, 20), *found = NULL;
    write_step(comm, directory, 10, 1);
    run *r = make_run(comm, 16, true);
    fill(r, 20);
    struct rlimit old, limit;
    CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
    for (rlim_t size = 2000; size < 250000; size *= 3) {
        limit = old;
        limit.rlim_cur = size;
        if (comm->rank == 0)
            CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
        BAD(xlm_checkpoint_write(comm, directory, &r->state, 1, &error), EX_IOERR, path, "File too large");
        CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
        CHECK_LIST(directory, "checkpoint-00000010.h5 latest->checkpoint-00000010.h5");
    }
    GOOD(xlm_checkpoint_resume(comm, directory, &r->state, &found, &error));
    CHECK(is_at(comm, r, 10));
    g_free(found);
    char *missing = g_build_filename(directory, "no", NULL);
    BAD(xlm_checkpoint_write(comm, missing, &r->state, 1, &error), EX_CANTCREAT, missing, "");
    g_free(missing);
    free_run(r);
    g_free(path);
    remove_directory(comm, directory);
}

int main(int argc, char **argv)
{
    xlm_comm world, *comm = &world;
    xlm_comm_open(comm, "checkpoint_test", &argc, &argv);
    any_number_of_ranks_writes_and_reads(comm);
    the_layout_is_as_documented(comm);
    tools_load_the_model(comm);
    a_model_needs_no_run(comm);
    the_newest_are_kept(comm);
    damage_is_named_and_passed_over(comm);
    a_damaged_header_is_passed_over(comm);
    a_changed_header_is_passed_over(comm);
    what_does_not_fit_is_refused(comm);
    newer_files_are_named(comm);
    members_are_averaged(comm);
    earlier_runs_are_set_aside(comm);
    a_failed_write_leaves_the_old_ones(comm);
    int64_t all = failures;
    xlm_comm_sum_int64(comm, &all, 1);
    const int code = xlm_comm_close(comm, NULL);
    return all == 0 ? code : EXIT_FAILURE;
}
