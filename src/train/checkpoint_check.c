/* xlm-mpi: is a checkpoint whole, and is it of this job? SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/checkpoint_check.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "train/model_attributes.h"

int checkpoint_arrays(const xlm_run_state *state) { return CHECKPOINT_AVERAGES + state->averages; }

float *checkpoint_own(const xlm_run_state *state, int array)
{
    if (array >= CHECKPOINT_AVERAGES)
        return state->average[array - CHECKPOINT_AVERAGES].own;
    return array == CHECKPOINT_FIRST_MOMENT ? state->first_moment : state->second_moment;
}

char *checkpoint_group(const xlm_run_state *state, int array)
{
    static const char *const groups[CHECKPOINT_AVERAGES] = {CHECKPOINT_MODEL, "/optimiser/first_moment", "/optimiser/second_moment"};
    if (array < CHECKPOINT_AVERAGES)
        return g_strdup(groups[array]);
    return g_strdup_printf("/objectives/%s/average", state->average[array - CHECKPOINT_AVERAGES].objective);
}

bool checkpoint_has(const xlm_run_state *state, int array, const xlm_parameter *p)
{
    if (array < CHECKPOINT_AVERAGES || !g_str_has_prefix(p->name, "objectives/"))
        return true;
    const char *name = state->average[array - CHECKPOINT_AVERAGES].objective, *rest = p->name + strlen("objectives/");
    return g_str_has_prefix(rest, name) && rest[strlen(name)] == '/';
}

/* A step that the draws of streams can be numbered by, as many as an option `steps` allows. */
static const int64_t MOST_STEPS = 1000000000000;

checkpoint_condition checkpoint_check_format(const xlm_store *store, int64_t *step, GError **error)
{
    char *format = xlm_store_get_text(store, "/", "format", error);
    int64_t version = 0;
    checkpoint_condition condition = format != NULL ? CHECKPOINT_GOOD : CHECKPOINT_DAMAGED;
    if (format != NULL && strcmp(format, CHECKPOINT_FORMAT) != 0) {
        xlm_error_set(error, EX_DATAERR, "%s: is \"%s\", not a checkpoint", xlm_store_path(store), format);
        condition = CHECKPOINT_UNFIT;
    }
    g_free(format);
    if (condition == CHECKPOINT_GOOD && !xlm_store_get_int(store, "/", "format_version", &version, error))
        return CHECKPOINT_DAMAGED;
    if (condition == CHECKPOINT_GOOD && version != CHECKPOINT_VERSION) {
        xlm_error_set(error, EX_DATAERR, "%s: has format version %" G_GINT64_FORMAT ", this program reads %d",
                      xlm_store_path(store), version, CHECKPOINT_VERSION);
        condition = CHECKPOINT_UNFIT;
    }
    if (condition != CHECKPOINT_GOOD)
        return condition;
    if (!xlm_store_get_int(store, "/", "step", step, error))
        return CHECKPOINT_DAMAGED;
    if (*step >= 0 && *step <= MOST_STEPS)
        return CHECKPOINT_GOOD;
    xlm_error_set(error, EX_DATAERR, "%s: step = %" G_GINT64_FORMAT ": must be from 0 to %" G_GINT64_FORMAT "; the file is damaged",
                  xlm_store_path(store), *step, MOST_STEPS);
    return CHECKPOINT_DAMAGED;
}

/* The file is whole, but not what is wanted; the caller says in which file. */
static checkpoint_condition unfit(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static checkpoint_condition unfit(GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    xlm_error_set(error, EX_DATAERR, "%s", what);
    g_free(what);
    return CHECKPOINT_UNFIT;
}

checkpoint_condition checkpoint_check_shape(const xlm_store *store, const char *path, const xlm_parameter *p, GError **error)
{
    uint64_t dims[3] = {0};
    if (!xlm_store_has(store, path))
        return unfit(error, "it has no %s", path);
    const int n = xlm_store_shape(store, path, dims, error);
    if (n < 0)
        return CHECKPOINT_DAMAGED;
    const uint64_t rows = n == 2 ? dims[0] : 1, cols = n == 2 ? dims[1] : dims[0];
    if (n > 2 || rows != (uint64_t)p->rows || cols != (uint64_t)p->cols)
        return unfit(error, "%s is %" G_GUINT64_FORMAT " x %" G_GUINT64_FORMAT " there, %" G_GINT64_FORMAT
                     " x %" G_GINT64_FORMAT " here", path, rows, cols, p->rows, p->cols);
    return CHECKPOINT_GOOD;
}

/* The classes are the same ones in the same order. */
static checkpoint_condition check_task(const xlm_store *store, const xlm_checkpoint_task *task, GError **error)
{
    if (task == NULL)
        return CHECKPOINT_GOOD;
    if (!xlm_store_has(store, "/task/labels"))
        return unfit(error, "it is not fine-tuned, it has no /task/labels");
    uint64_t n;
    char **labels = xlm_store_read_strings(store, "/task/labels", &n, error);
    if (labels == NULL)
        return CHECKPOINT_DAMAGED;
    checkpoint_condition condition = CHECKPOINT_GOOD;
    if (!g_strv_equal((const char *const *)labels, (const char *const *)task->labels)) {
        char *there = g_strjoinv(", ", labels), *here = g_strjoinv(", ", task->labels);
        condition = unfit(error, "its labels are %s; here %s", there, here);
        g_free(there);
        g_free(here);
    }
    g_strfreev(labels);
    return condition;
}

/* The same subwords, languages and seed. */
static checkpoint_condition check_origin(const xlm_store *store, const xlm_run_state *s, GError **error)
{
    int64_t seed = 0;
    char *digest = xlm_store_get_text(store, "/", "corpus_digest", error);
    checkpoint_condition condition = CHECKPOINT_GOOD;
    if (digest == NULL || !xlm_store_get_int(store, "/generator", "seed", &seed, error))
        condition = CHECKPOINT_DAMAGED;
    else if (g_ascii_strtoull(digest, NULL, 16) != s->corpus_digest)
        condition = unfit(error, "its corpus has other subwords or languages (digest %s, here %016" G_GINT64_MODIFIER "x)",
                        digest, s->corpus_digest);
    else if ((uint64_t)seed != s->seed)
        condition = unfit(error, "its seed is %" G_GINT64_FORMAT ", the job's %" G_GUINT64_FORMAT, seed, s->seed);
    g_free(digest);
    return condition;
}

static checkpoint_condition check_kept(const xlm_store *store, const xlm_saved_state *kept, GError **error)
{
    uint64_t dims[3] = {0};
    if (!xlm_store_has(store, kept->path))
        return unfit(error, "it has no %s", kept->path);
    const int dimensions = xlm_store_shape(store, kept->path, dims, error);
    if (dimensions < 0)
        return CHECKPOINT_DAMAGED;
    if (dimensions != 1 || dims[0] != (uint64_t)kept->n)
        return unfit(error, "%s has %" G_GUINT64_FORMAT " numbers there, %" G_GINT64_FORMAT " here", kept->path, dims[0],
                     kept->n);
    return CHECKPOINT_GOOD;
}

static checkpoint_condition check_fit(const xlm_store *store, const xlm_run_state *s, GError **error)
{
    checkpoint_condition condition = check_origin(store, s, error);
    if (condition == CHECKPOINT_GOOD)
        condition = check_task(store, s->task, error);
    for (int a = 0; a < checkpoint_arrays(s); a++) {
        char *group = checkpoint_group(s, a);
        for (int i = 0; i < xlm_parameters_count(s->parameters) && condition == CHECKPOINT_GOOD; i++) {
            const xlm_parameter *p = xlm_parameters_get(s->parameters, i);
            char *path = xlm_parameter_path(group, p);
            if (checkpoint_has(s, a, p))
                condition = checkpoint_check_shape(store, path, p, error);
            g_free(path);
        }
        g_free(group);
    }
    for (int k = 0; k < s->kept && condition == CHECKPOINT_GOOD; k++)
        condition = check_kept(store, &s->keep[k], error);
    return condition;
}

/* What training never leaves: a file of a run that came to infinity, or a damaged one. */
static bool check_numbers(const xlm_store *store, const char *path, int64_t n, const float *values, bool positive, GError **error)
{
    int64_t i = 0;
    while (i < n && isfinite(values[i]) && !(positive && values[i] < 0))
        i++;
    return i == n || xlm_error_set(error, EX_DATAERR, "%s: %s: element %" G_GINT64_FORMAT " is %g, where %s belongs; the run had gone "
                                   "astray, or the file is damaged", xlm_store_path(store), path, i, (double)values[i],
                                   positive ? "a mean of squares" : "a finite number");
}

static bool read_array(const xlm_store *store, const char *group, bool positive, const xlm_parameter *p, float *values, GError **error)
{
    char *path = xlm_parameter_path(group, p);
    const bool good = xlm_store_read(store, path, XLM_F32, 0, (uint64_t)(p->rows == 1 ? p->cols : p->rows), values, error) &&
                      check_numbers(store, path, p->rows * p->cols, values, positive, error);
    g_free(path);
    return good;
}

bool checkpoint_read_values(const xlm_store *store, const xlm_parameter *p, float *values, GError **error)
{
    return read_array(store, CHECKPOINT_MODEL, false, p, values, error);
}

bool checkpoint_read_whole(const xlm_store *store, const xlm_run_state *s, int array, float *whole, GError **error)
{
    char *group = checkpoint_group(s, array);
    bool good = true;
    for (int i = 0; i < xlm_parameters_count(s->parameters) && good; i++) {
        const xlm_parameter *p = xlm_parameters_get(s->parameters, i);
        if (checkpoint_has(s, array, p))
            good = read_array(store, group, array == CHECKPOINT_SECOND_MOMENT, p, whole + p->start, error);
    }
    g_free(group);
    return good;
}

/* The highest score, and the step that had it. */
static bool check_best(const xlm_store *store, const double best[2], int64_t step, GError **error)
{
    return (isfinite(best[0]) && best[1] >= 0 && best[1] <= (double)step && best[1] == floor(best[1])) ||
           xlm_error_set(error, EX_DATAERR, "%s: " XLM_CHECKPOINT_BEST ": a score of %g at step %g in a checkpoint of step %"
                         G_GINT64_FORMAT "; the file is damaged", xlm_store_path(store), best[0], best[1], step);
}

bool checkpoint_read_state(const xlm_store *store, const xlm_saved_state *kept, void *values, GError **error)
{
    return xlm_store_read(store, kept->path, checkpoint_state_type(kept), 0, (uint64_t)kept->n, values, error);
}

xlm_type checkpoint_state_type(const xlm_saved_state *kept)
{
    static const xlm_type types[] = {[XLM_STATE_F32] = XLM_F32, [XLM_STATE_F64] = XLM_F64, [XLM_STATE_I64] = XLM_I64};
    return types[kept->type];
}

static bool check_kept_numbers(const xlm_store *store, const xlm_saved_state *kept, int64_t step, GError **error)
{
    void *numbers = g_malloc(MAX(xlm_state_bytes(kept), 1));
    const bool good = checkpoint_read_state(store, kept, numbers, error) &&
                      (strcmp(kept->path, XLM_CHECKPOINT_BEST) != 0 || check_best(store, numbers, step, error));
    g_free(numbers);
    return good;
}

/* Read everything, into the scratch memory, to meet damage before anything of the run is overwritten. */
static bool check_sums(const xlm_store *store, const xlm_run_state *s, int64_t step, GError **error)
{
    bool good = true;
    for (int a = 0; a < checkpoint_arrays(s) && good; a++)
        good = checkpoint_read_whole(store, s, a, s->scratch, error);
    for (int k = 0; k < s->kept && good; k++)
        good = check_kept_numbers(store, &s->keep[k], step, error);
    return good;
}

static checkpoint_condition check_store(const xlm_store *store, const xlm_run_state *s, GError **error)
{
    int64_t step = 0;
    GError *why = NULL;
    checkpoint_condition condition = checkpoint_check_format(store, &step, error);
    if (condition != CHECKPOINT_GOOD)
        return condition;
    condition = check_fit(store, s, &why);
    if (condition == CHECKPOINT_UNFIT) {
        xlm_error_set(error, EX_DATAERR, "%s: does not fit the job: %s", xlm_store_path(store), why->message);
        g_error_free(why);
    } else if (condition == CHECKPOINT_DAMAGED) {
        g_propagate_error(error, why);
    }
    return condition != CHECKPOINT_GOOD || check_sums(store, s, step, error) ? condition : CHECKPOINT_DAMAGED;
}

checkpoint_condition checkpoint_check_file(const char *path, const xlm_run_state *s, GError **error)
{
    xlm_store *store = xlm_store_open(path, error);
    const checkpoint_condition condition = store != NULL ? check_store(store, s, error) : CHECKPOINT_DAMAGED;
    xlm_store_close(store);
    return condition;
}
