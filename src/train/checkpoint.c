/* xlm-mpi: checkpoints, one HDF5 file each, written by all ranks together. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/checkpoint.h"

#include <stdarg.h>
#include <string.h>

#include "base/log.h"
#include "tensor/gemm.h"

#include "train/checkpoint_files.h"
#include "train/model_attributes.h"

static const char FORMAT[] = "xlm-mpi checkpoint";
enum { VERSION = 1 };

/* The flat arrays of a run and where they stand in the file. */
enum { VALUES, FIRST_MOMENT, SECOND_MOMENT, ARRAYS };
static const char *const prefixes[ARRAYS] = {"/model", "/optimiser/first_moment", "/optimiser/second_moment"};

static float *moment_of(const xlm_run_state *state, int array)
{
    return array == FIRST_MOMENT ? state->first_moment : state->second_moment;
}

/* An array as a whole: of the moments, which ranks have pieces of, in the scratch memory. Collective. */
static const float *whole_array(const xlm_run_state *state, int array)
{
    if (array == VALUES)
        return xlm_parameters_values(state->parameters);
    xlm_shards_gather(state->shards, moment_of(state, array), state->scratch);
    return state->scratch;
}

/* ---- writing ---- */

static bool write_kept(xlm_store *store, const xlm_comm *comm, const xlm_kept_state *kept, GError **error)
{
    const uint64_t n = (uint64_t)kept->n;
    return xlm_store_dataset(store, kept->path, XLM_F64, 1, &n, XLM_STORE_CHECKED, error) &&
           xlm_store_write(store, kept->path, 0, comm->rank == 0 ? n : 0, kept->numbers, error);
}

static bool write_provenance(xlm_store *store, const xlm_comm *comm, const xlm_run_state *s, GError **error)
{
    char *digest = g_strdup_printf("%016" G_GINT64_MODIFIER "x", s->corpus_digest);
    const bool good = xlm_store_set_text(store, "/", "format", FORMAT, error) &&
                      xlm_store_set_int(store, "/", "format_version", VERSION, error) &&
                      xlm_store_set_text(store, "/", "program_version", PACKAGE_VERSION, error) &&
                      xlm_store_set_text(store, "/", "mpi_version", xlm_comm_library(), error) &&
                      xlm_store_set_text(store, "/", "hdf5_version", xlm_store_library(), error) &&
                      xlm_store_set_text(store, "/", "blis_version", xlm_gemm_library(), error) &&
                      xlm_store_set_int(store, "/", "step", s->step, error) &&
                      xlm_store_set_text(store, "/", "corpus_digest", digest, error) &&
                      xlm_store_set_int(store, "/", "ranks", comm->ranks, error) &&
                      xlm_store_set_int(store, "/", "parameters", xlm_parameters_elements(s->parameters), error) &&
                      xlm_store_set_text(store, "/generator", "algorithm", "Philox4x32-10", error) &&
                      xlm_store_set_int(store, "/generator", "seed", (int64_t)s->seed, error) &&
                      xlm_store_set_int(store, "/generator", "step", s->step, error) &&
                      xlm_store_set_text(store, "/job", "text", s->job_text, error) &&
                      xlm_store_set_text(store, "/optimiser", "algorithm", s->optimiser, error);
    g_free(digest);
    return good;
}

static bool write_task(xlm_store *store, const xlm_checkpoint_task *task, GError **error)
{
    const uint64_t n = task != NULL ? g_strv_length(task->labels) : 0;
    return task == NULL || (xlm_store_set_text(store, "/task", "name", task->name, error) &&
                            xlm_store_set_text(store, "/task", "language", task->language, error) &&
                            xlm_store_set_int(store, "/task", "length", task->length, error) &&
                            xlm_store_set_text(store, "/task", "options", task->options, error) &&
                            xlm_store_write_strings(store, "/task/labels", n, (const char *const *)task->labels, error));
}

static bool write_all(xlm_store *store, const xlm_comm *comm, const xlm_run_state *s, GError **error)
{
    if (!write_provenance(store, comm, s, error) || !xlm_model_attributes_write(store, s->model, error))
        return false;
    for (int a = 0; a < ARRAYS; a++)
        if (!xlm_parameter_arrays_write(store, comm, prefixes[a], s->parameters, whole_array(s, a), error))
            return false;
    for (int k = 0; k < s->kept; k++)
        if (!write_kept(store, comm, &s->keep[k], error))
            return false;
    return write_task(store, s->task, error) && xlm_vocabulary_save(s->vocabulary, store, "/vocabulary", comm->rank, error);
}

bool xlm_checkpoint_write(const xlm_comm *comm, const char *directory, const xlm_run_state *state, int64_t keep, GError **error)
{
    char *path = xlm_checkpoint_path(directory, state->step);
    xlm_store *store = xlm_store_create(comm, path, error);
    bool good = store != NULL;
    if (good && !write_all(store, comm, state, error)) {
        xlm_store_discard(store);
        good = false;
    }
    good = good && xlm_store_commit(store, error) &&
           xlm_checkpoint_point_latest(comm, directory, state->step, state->best, keep, error);
    g_free(path);
    return good;
}

/* ---- reading, by one process ---- */

/* What is wrong with a file: it is damaged, or it is whole but of another job. */
typedef enum { GOOD, DAMAGED, UNFIT } verdict;

/* Format, version, step. */
static bool check_format(const xlm_store *store, int64_t *step, GError **error)
{
    char *format = xlm_store_get_text(store, "/", "format", error);
    int64_t version = 0;
    bool good = format != NULL;
    if (good && strcmp(format, FORMAT) != 0)
        good = xlm_error_set(error, EX_DATAERR, "%s: is \"%s\", not a checkpoint", xlm_store_path(store), format);
    g_free(format);
    good = good && xlm_store_get_int(store, "/", "format_version", &version, error);
    if (good && version != VERSION)
        good = xlm_error_set(error, EX_DATAERR, "%s: has format version %" G_GINT64_FORMAT ", this program reads %d",
                             xlm_store_path(store), version, VERSION);
    return good && xlm_store_get_int(store, "/", "step", step, error);
}

static bool unfit(const xlm_store *store, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);
static bool unfit(const xlm_store *store, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    xlm_error_set(error, EX_DATAERR, "%s: does not fit the job: %s; take the job it is of, another output directory, or "
                  "--resume never", xlm_store_path(store), what);
    g_free(what);
    return false;
}

/* The array of a parameter is there and has its shape. */
static bool check_shape(const xlm_store *store, const char *path, const xlm_parameter *p, GError **error)
{
    uint64_t dims[3] = {0};
    if (!xlm_store_has(store, path))
        return unfit(store, error, "it has no %s", path);
    const int n = xlm_store_shape(store, path, dims, error);
    if (n < 0)
        return false;
    const uint64_t rows = n == 2 ? dims[0] : 1, cols = n == 2 ? dims[1] : dims[0];
    if (n > 2 || rows != (uint64_t)p->rows || cols != (uint64_t)p->cols)
        return unfit(store, error, "%s is %" G_GUINT64_FORMAT " x %" G_GUINT64_FORMAT " there, %" G_GINT64_FORMAT
                     " x %" G_GINT64_FORMAT " here", path, rows, cols, p->rows, p->cols);
    return true;
}

/* The classes are the same ones in the same order. */
static bool check_task(const xlm_store *store, const xlm_checkpoint_task *task, GError **error)
{
    if (task == NULL)
        return true;
    if (!xlm_store_has(store, "/task/labels"))
        return unfit(store, error, "it is not fine-tuned, it has no /task/labels");
    uint64_t n;
    char **labels = xlm_store_read_strings(store, "/task/labels", &n, error);
    bool good = labels != NULL;
    if (good && !g_strv_equal((const char *const *)labels, (const char *const *)task->labels)) {
        char *there = g_strjoinv(", ", labels), *here = g_strjoinv(", ", task->labels);
        good = unfit(store, error, "its labels are %s; here %s", there, here);
        g_free(there);
        g_free(here);
    }
    g_strfreev(labels);
    return good;
}

static bool check_fit(const xlm_store *store, const xlm_run_state *s, GError **error)
{
    int64_t seed = 0;
    char *digest = xlm_store_get_text(store, "/", "corpus_digest", error);
    bool good = digest != NULL && xlm_store_get_int(store, "/generator", "seed", &seed, error);
    if (good && g_ascii_strtoull(digest, NULL, 16) != s->corpus_digest)
        good = unfit(store, error, "its corpus has other subwords or languages (digest %s, here %016" G_GINT64_MODIFIER "x)",
                     digest, s->corpus_digest);
    if (good && (uint64_t)seed != s->seed)
        good = unfit(store, error, "its seed is %" G_GINT64_FORMAT ", the job's %" G_GUINT64_FORMAT, seed, s->seed);
    g_free(digest);
    good = good && check_task(store, s->task, error);
    for (int a = 0; a < ARRAYS; a++)
        for (int i = 0; i < xlm_parameters_count(s->parameters) && good; i++) {
            char *path = xlm_parameter_path(prefixes[a], xlm_parameters_get(s->parameters, i));
            good = check_shape(store, path, xlm_parameters_get(s->parameters, i), error);
            g_free(path);
        }
    for (int k = 0; k < s->kept && good; k++) {
        uint64_t dims[3] = {0};
        const int dimensions = xlm_store_has(store, s->keep[k].path) ? xlm_store_shape(store, s->keep[k].path, dims, error) : 0;
        if (dimensions == 0)
            good = unfit(store, error, "it has no %s", s->keep[k].path);
        else if (dimensions < 0)
            good = false;
        else if (dimensions != 1 || dims[0] != (uint64_t)s->keep[k].n)
            good = unfit(store, error, "%s has %" G_GUINT64_FORMAT " numbers there, %" G_GINT64_FORMAT " here", s->keep[k].path,
                         dims[0], s->keep[k].n);
    }
    return good;
}

static bool read_array(const xlm_store *store, const char *prefix, const xlm_parameter *p, float *values, GError **error)
{
    char *path = xlm_parameter_path(prefix, p);
    const bool good = xlm_store_read(store, path, XLM_F32, 0, (uint64_t)(p->rows == 1 ? p->cols : p->rows), values, error);
    g_free(path);
    return good;
}

static bool read_whole(const xlm_store *store, const xlm_run_state *s, int array, float *whole, GError **error)
{
    for (int i = 0; i < xlm_parameters_count(s->parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(s->parameters, i);
        if (!read_array(store, prefixes[array], p, whole + p->start, error))
            return false;
    }
    return true;
}

/* Read everything, into the scratch memory, to meet damage before anything of the run is overwritten. */
static bool check_sums(const xlm_store *store, const xlm_run_state *s, GError **error)
{
    bool good = true;
    for (int a = 0; a < ARRAYS && good; a++)
        good = read_whole(store, s, a, s->scratch, error);
    for (int k = 0; k < s->kept && good; k++) {
        double *numbers = g_new(double, MAX(s->keep[k].n, 1));
        good = xlm_store_read(store, s->keep[k].path, XLM_F64, 0, (uint64_t)s->keep[k].n, numbers, error);
        g_free(numbers);
    }
    return good;
}

static verdict check_file(const char *path, const xlm_run_state *s, GError **error)
{
    xlm_store *store = xlm_store_open(path, error);
    if (store == NULL)
        return DAMAGED;
    int64_t step = 0;
    GError *why = NULL;
    verdict v = check_format(store, &step, error) ? GOOD : DAMAGED;
    if (v == GOOD && !check_fit(store, s, &why)) {
        v = strstr(why->message, "does not fit the job") != NULL ? UNFIT : DAMAGED;
        g_propagate_error(error, why);
    }
    if (v == GOOD && !check_sums(store, s, error))
        v = DAMAGED;
    xlm_store_close(store);
    return v;
}

/* ---- reading, by all ---- */

/* Rank 0 reads array after array of a file that was found good, and all take what is theirs. */
static bool take_arrays(const xlm_comm *comm, const xlm_store *store, xlm_run_state *s, GError **error)
{
    const size_t bytes = sizeof(float) * (size_t)xlm_parameters_size(s->parameters);
    for (int a = 0; a < ARRAYS; a++) {
        GError *failure = NULL;
        /* The gaps between parameters are zeros, and no file has them. */
        memset(s->scratch, 0, bytes);
        if (store != NULL)
            read_whole(store, s, a, s->scratch, &failure);
        if (!xlm_comm_agree(comm, &failure)) {
            g_propagate_error(error, failure);
            return false;
        }
        xlm_comm_broadcast(comm, 0, s->scratch, bytes);
        if (a == VALUES)
            memcpy(xlm_parameters_values(s->parameters), s->scratch, bytes);
        else
            xlm_shards_take(s->shards, s->scratch, moment_of(s, a));
    }
    return true;
}

static bool take_rest(const xlm_comm *comm, const xlm_store *store, xlm_run_state *s, GError **error)
{
    GError *failure = NULL;
    if (store != NULL)
        check_format(store, &s->step, &failure);
    for (int k = 0; store != NULL && k < s->kept && failure == NULL; k++)
        xlm_store_read(store, s->keep[k].path, XLM_F64, 0, (uint64_t)s->keep[k].n, s->keep[k].numbers, &failure);
    if (!xlm_comm_agree(comm, &failure)) {
        g_propagate_error(error, failure);
        return false;
    }
    for (int k = 0; k < s->kept; k++)
        xlm_comm_broadcast(comm, 0, s->keep[k].numbers, sizeof(double) * (size_t)s->keep[k].n);
    xlm_comm_broadcast(comm, 0, &s->step, sizeof s->step);
    return true;
}

static bool take_file(const xlm_comm *comm, const char *path, xlm_run_state *state, GError **error)
{
    GError *failure = NULL;
    xlm_store *store = comm->rank == 0 ? xlm_store_open(path, &failure) : NULL;
    const bool good = xlm_comm_agree(comm, &failure) && take_arrays(comm, store, state, &failure) &&
                      take_rest(comm, store, state, &failure);
    xlm_store_close(store);
    if (!good)
        g_propagate_error(error, failure);
    return good;
}

bool xlm_checkpoint_read(const xlm_comm *comm, const char *path, xlm_run_state *state, GError **error)
{
    GError *failure = NULL;
    if (comm->rank == 0)
        check_file(path, state, &failure);
    if (xlm_comm_agree(comm, &failure))
        return take_file(comm, path, state, error);
    g_propagate_error(error, failure);
    return false;
}

/* The newest good one of a directory, by rank 0. */
static char *find_newest(const char *directory, const xlm_run_state *state, GError **error)
{
    GArray *steps = xlm_checkpoint_steps(directory);
    char *found = NULL;
    for (guint i = steps->len; i-- > 0 && found == NULL;) {
        char *path = xlm_checkpoint_path(directory, g_array_index(steps, int64_t, i));
        GError *why = NULL;
        const verdict v = check_file(path, state, &why);
        if (v == GOOD) {
            found = path;
            break;
        }
        if (v == UNFIT) {
            g_propagate_error(error, why);
            g_free(path);
            break;
        }
        xlm_log_warn("%s; trying the checkpoint before it", why->message);
        if (i == 0)
            xlm_error_set(error, EX_DATAERR, "%s: none of its %u checkpoints is good (%s); --resume never starts anew",
                          directory, steps->len, why->message);
        g_error_free(why);
        g_free(path);
    }
    g_array_unref(steps);
    return found;
}

bool xlm_checkpoint_resume(const xlm_comm *comm, const char *directory, xlm_run_state *state, char **found, GError **error)
{
    GError *failure = NULL;
    *found = comm->rank == 0 ? find_newest(directory, state, &failure) : NULL;
    if (!xlm_comm_agree(comm, &failure)) {
        g_propagate_error(error, failure);
        return false;
    }
    void *path = *found;
    size_t size = *found != NULL ? strlen(*found) + 1 : 0;
    xlm_comm_broadcast_bytes(comm, 0, &path, &size);
    if (size == 0) {
        if (comm->rank != 0)
            g_free(path);
        *found = NULL;
        return true;
    }
    *found = path;
    return take_file(comm, path, state, error);
}

/* ---- for tools ---- */

/* /task, when there is one. */
static bool load_task(xlm_loaded_model *m, const xlm_store *store, GError **error)
{
    if (!xlm_store_has(store, "/task"))
        return true;
    xlm_checkpoint_task *task = m->task = g_new0(xlm_checkpoint_task, 1);
    uint64_t n;
    return (task->name = xlm_store_get_text(store, "/task", "name", error)) != NULL &&
           (task->language = xlm_store_get_text(store, "/task", "language", error)) != NULL &&
           xlm_store_get_int(store, "/task", "length", &task->length, error) &&
           (task->options = xlm_store_get_text(store, "/task", "options", error)) != NULL &&
           (task->labels = xlm_store_read_strings(store, "/task/labels", &n, error)) != NULL;
}

static bool load_header(xlm_loaded_model *m, const xlm_store *store, GError **error)
{
    if (!check_format(store, &m->step, error) || !xlm_model_attributes_read(store, &m->config, error) ||
        (m->vocabulary = xlm_vocabulary_load(store, "/vocabulary", error)) == NULL || !xlm_model_check(&m->config, error) ||
        !load_task(m, store, error))
        return false;
    m->parameters = xlm_parameters_new();
    m->model = xlm_model_new(&m->config, m->parameters);
    return true;
}

/* Those of objectives, which may not be in the file, too when `all`. */
static bool load_values(const xlm_store *store, xlm_parameters *parameters, bool all, GError **error)
{
    for (int i = 0; i < xlm_parameters_count(parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(parameters, i);
        if (!all && g_str_has_prefix(p->name, "objectives/"))
            continue;
        char *path = xlm_parameter_path("/model", p);
        const bool good = check_shape(store, path, p, error) &&
                          read_array(store, "/model", p, xlm_parameters_values(parameters) + p->start, error);
        g_free(path);
        if (!good)
            return false;
    }
    return true;
}

xlm_loaded_model *xlm_checkpoint_load_header(const char *path, GError **error)
{
    xlm_store *store = xlm_store_open(path, error);
    if (store == NULL)
        return NULL;
    xlm_loaded_model *loaded = g_new0(xlm_loaded_model, 1);
    const bool good = load_header(loaded, store, error);
    xlm_store_close(store);
    if (good)
        return loaded;
    xlm_checkpoint_free_model(loaded);
    return NULL;
}

bool xlm_checkpoint_load_values(const char *path, xlm_loaded_model *loaded, GError **error)
{
    xlm_store *store = xlm_store_open(path, error);
    if (store == NULL)
        return false;
    xlm_parameters_seal(loaded->parameters);
    const bool good = load_values(store, loaded->parameters, true, error);
    xlm_store_close(store);
    return good;
}

xlm_loaded_model *xlm_checkpoint_load_model(const char *path, GError **error)
{
    xlm_loaded_model *loaded = xlm_checkpoint_load_header(path, error);
    if (loaded == NULL || xlm_checkpoint_load_values(path, loaded, error))
        return loaded;
    xlm_checkpoint_free_model(loaded);
    return NULL;
}

bool xlm_checkpoint_start(const xlm_comm *comm, const char *path, xlm_parameters *parameters, GError **error)
{
    GError *failure = NULL;
    xlm_store *store = comm->rank == 0 ? xlm_store_open(path, &failure) : NULL;
    if (store != NULL)
        load_values(store, parameters, false, &failure);
    xlm_store_close(store);
    if (!xlm_comm_agree(comm, &failure)) {
        g_propagate_error(error, failure);
        return false;
    }
    xlm_comm_broadcast(comm, 0, xlm_parameters_values(parameters), sizeof(float) * (size_t)xlm_parameters_size(parameters));
    return true;
}

void xlm_checkpoint_free_model(xlm_loaded_model *loaded)
{
    if (loaded == NULL)
        return;
    xlm_model_free(loaded->model);
    xlm_parameters_free(loaded->parameters);
    xlm_vocabulary_free(loaded->vocabulary);
    if (loaded->task != NULL) {
        g_free(loaded->task->name);
        g_free(loaded->task->language);
        g_free(loaded->task->options);
        g_strfreev(loaded->task->labels);
    }
    g_free(loaded->task);
    g_free(loaded);
}
