/* xlm-mpi: is a checkpoint whole, and is it of this job? SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/checkpoint_check.h"

#include <stdarg.h>
#include <string.h>

#include "train/model_attributes.h"

const char *const checkpoint_groups[CHECKPOINT_ARRAYS] = {"/model", "/optimiser/first_moment", "/optimiser/second_moment"};

float *checkpoint_moment(const xlm_run_state *state, int array)
{
    return array == CHECKPOINT_FIRST_MOMENT ? state->first_moment : state->second_moment;
}

bool checkpoint_check_format(const xlm_store *store, int64_t *step, GError **error)
{
    char *format = xlm_store_get_text(store, "/", "format", error);
    int64_t version = 0;
    bool good = format != NULL;
    if (good && strcmp(format, CHECKPOINT_FORMAT) != 0)
        good = xlm_error_set(error, EX_DATAERR, "%s: is \"%s\", not a checkpoint", xlm_store_path(store), format);
    g_free(format);
    good = good && xlm_store_get_int(store, "/", "format_version", &version, error);
    if (good && version != CHECKPOINT_VERSION)
        good = xlm_error_set(error, EX_DATAERR, "%s: has format version %" G_GINT64_FORMAT ", this program reads %d",
                             xlm_store_path(store), version, CHECKPOINT_VERSION);
    return good && xlm_store_get_int(store, "/", "step", step, error);
}

static checkpoint_verdict unfit(const xlm_store *store, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);
static checkpoint_verdict unfit(const xlm_store *store, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    xlm_error_set(error, EX_DATAERR, "%s: does not fit the job: %s", xlm_store_path(store), what);
    g_free(what);
    return CHECKPOINT_UNFIT;
}

checkpoint_verdict checkpoint_check_shape(const xlm_store *store, const char *path, const xlm_parameter *p, GError **error)
{
    uint64_t dims[3] = {0};
    if (!xlm_store_has(store, path))
        return unfit(store, error, "it has no %s", path);
    const int n = xlm_store_shape(store, path, dims, error);
    if (n < 0)
        return CHECKPOINT_DAMAGED;
    const uint64_t rows = n == 2 ? dims[0] : 1, cols = n == 2 ? dims[1] : dims[0];
    if (n > 2 || rows != (uint64_t)p->rows || cols != (uint64_t)p->cols)
        return unfit(store, error, "%s is %" G_GUINT64_FORMAT " x %" G_GUINT64_FORMAT " there, %" G_GINT64_FORMAT
                     " x %" G_GINT64_FORMAT " here", path, rows, cols, p->rows, p->cols);
    return CHECKPOINT_GOOD;
}

/* The classes are the same ones in the same order. */
static checkpoint_verdict check_task(const xlm_store *store, const xlm_checkpoint_task *task, GError **error)
{
    if (task == NULL)
        return CHECKPOINT_GOOD;
    if (!xlm_store_has(store, "/task/labels"))
        return unfit(store, error, "it is not fine-tuned, it has no /task/labels");
    uint64_t n;
    char **labels = xlm_store_read_strings(store, "/task/labels", &n, error);
    if (labels == NULL)
        return CHECKPOINT_DAMAGED;
    checkpoint_verdict verdict = CHECKPOINT_GOOD;
    if (!g_strv_equal((const char *const *)labels, (const char *const *)task->labels)) {
        char *there = g_strjoinv(", ", labels), *here = g_strjoinv(", ", task->labels);
        verdict = unfit(store, error, "its labels are %s; here %s", there, here);
        g_free(there);
        g_free(here);
    }
    g_strfreev(labels);
    return verdict;
}

/* The same subwords, languages and seed. */
static checkpoint_verdict check_origin(const xlm_store *store, const xlm_run_state *s, GError **error)
{
    int64_t seed = 0;
    char *digest = xlm_store_get_text(store, "/", "corpus_digest", error);
    checkpoint_verdict verdict = CHECKPOINT_GOOD;
    if (digest == NULL || !xlm_store_get_int(store, "/generator", "seed", &seed, error))
        verdict = CHECKPOINT_DAMAGED;
    else if (g_ascii_strtoull(digest, NULL, 16) != s->corpus_digest)
        verdict = unfit(store, error, "its corpus has other subwords or languages (digest %s, here %016" G_GINT64_MODIFIER "x)",
                        digest, s->corpus_digest);
    else if ((uint64_t)seed != s->seed)
        verdict = unfit(store, error, "its seed is %" G_GINT64_FORMAT ", the job's %" G_GUINT64_FORMAT, seed, s->seed);
    g_free(digest);
    return verdict;
}

static checkpoint_verdict check_kept(const xlm_store *store, const xlm_kept_state *kept, GError **error)
{
    uint64_t dims[3] = {0};
    if (!xlm_store_has(store, kept->path))
        return unfit(store, error, "it has no %s", kept->path);
    const int dimensions = xlm_store_shape(store, kept->path, dims, error);
    if (dimensions < 0)
        return CHECKPOINT_DAMAGED;
    if (dimensions != 1 || dims[0] != (uint64_t)kept->n)
        return unfit(store, error, "%s has %" G_GUINT64_FORMAT " numbers there, %" G_GINT64_FORMAT " here", kept->path, dims[0],
                     kept->n);
    return CHECKPOINT_GOOD;
}

static checkpoint_verdict check_fit(const xlm_store *store, const xlm_run_state *s, GError **error)
{
    checkpoint_verdict verdict = check_origin(store, s, error);
    if (verdict == CHECKPOINT_GOOD)
        verdict = check_task(store, s->task, error);
    for (int a = 0; a < CHECKPOINT_ARRAYS; a++)
        for (int i = 0; i < xlm_parameters_count(s->parameters) && verdict == CHECKPOINT_GOOD; i++) {
            char *path = xlm_parameter_path(checkpoint_groups[a], xlm_parameters_get(s->parameters, i));
            verdict = checkpoint_check_shape(store, path, xlm_parameters_get(s->parameters, i), error);
            g_free(path);
        }
    for (int k = 0; k < s->kept && verdict == CHECKPOINT_GOOD; k++)
        verdict = check_kept(store, &s->keep[k], error);
    return verdict;
}

bool checkpoint_read_array(const xlm_store *store, const char *prefix, const xlm_parameter *p, float *values, GError **error)
{
    char *path = xlm_parameter_path(prefix, p);
    const bool good = xlm_store_read(store, path, XLM_F32, 0, (uint64_t)(p->rows == 1 ? p->cols : p->rows), values, error);
    g_free(path);
    return good;
}

bool checkpoint_read_whole(const xlm_store *store, const xlm_run_state *s, int array, float *whole, GError **error)
{
    for (int i = 0; i < xlm_parameters_count(s->parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(s->parameters, i);
        if (!checkpoint_read_array(store, checkpoint_groups[array], p, whole + p->start, error))
            return false;
    }
    return true;
}

/* Read everything, into the scratch memory, to meet damage before anything of the run is overwritten. */
static bool check_sums(const xlm_store *store, const xlm_run_state *s, GError **error)
{
    bool good = true;
    for (int a = 0; a < CHECKPOINT_ARRAYS && good; a++)
        good = checkpoint_read_whole(store, s, a, s->scratch, error);
    for (int k = 0; k < s->kept && good; k++) {
        double *numbers = g_new(double, MAX(s->keep[k].n, 1));
        good = xlm_store_read(store, s->keep[k].path, XLM_F64, 0, (uint64_t)s->keep[k].n, numbers, error);
        g_free(numbers);
    }
    return good;
}

checkpoint_verdict checkpoint_check_file(const char *path, const xlm_run_state *s, GError **error)
{
    xlm_store *store = xlm_store_open(path, error);
    if (store == NULL)
        return CHECKPOINT_DAMAGED;
    int64_t step = 0;
    checkpoint_verdict verdict = checkpoint_check_format(store, &step, error) ? check_fit(store, s, error) : CHECKPOINT_DAMAGED;
    if (verdict == CHECKPOINT_GOOD && !check_sums(store, s, error))
        verdict = CHECKPOINT_DAMAGED;
    xlm_store_close(store);
    return verdict;
}
