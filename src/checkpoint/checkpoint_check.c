/* xlm-mpi: is a checkpoint whole, and is it of this job? SPDX-License-Identifier: GPL-3.0-or-later */
#include "checkpoint/checkpoint_check.h"

#include <math.h>
#include <string.h>

#include "base/names.h"
#include "base/pages.h"
#include "checkpoint/objective_arrays.h"
#include "job/job_changes.h"
#include "model/model_attributes.h"

int xlm_checkpoint_arrays(const xlm_run_state *state) { return CHECKPOINT_AVERAGES + state->averages; }

float *checkpoint_own(const xlm_run_state *state, int array)
{
    if (array >= CHECKPOINT_AVERAGES)
        return state->average[array - CHECKPOINT_AVERAGES].own;
    return array == CHECKPOINT_FIRST_MOMENT ? state->first_moment : state->second_moment;
}

char *checkpoint_group(const xlm_run_state *state, int array)
{
    static const char *const groups[CHECKPOINT_AVERAGES] = {"/model", "/optimiser/first_moment", "/optimiser/second_moment"};
    if (array < CHECKPOINT_AVERAGES)
        return g_strdup(groups[array]);
    return xlm_average_group(state->average[array - CHECKPOINT_AVERAGES].objective);
}

bool checkpoint_has(const xlm_run_state *state, int array, const xlm_parameter *p)
{
    if (array != CHECKPOINT_VALUES && p->rate <= 0)
        return false;
    return array < CHECKPOINT_AVERAGES || xlm_average_has(state->average[array - CHECKPOINT_AVERAGES].objective, p);
}

float *checkpoint_whole(const xlm_run_state *state, int array)
{
    return array == CHECKPOINT_VALUES ? xlm_parameters_values(state->parameters) : state->scratch;
}

void checkpoint_share_array(const xlm_comm *comm, const xlm_run_state *state, int array, int64_t from)
{
    if (array != CHECKPOINT_VALUES)
        from = state->shards->first;
    const size_t bytes = sizeof(float) * (size_t)(xlm_parameters_size(state->parameters) - from);
    xlm_comm_broadcast(comm, 0, checkpoint_whole(state, array) + from, bytes);
    if (array != CHECKPOINT_VALUES)
        xlm_shards_take(state->shards, state->scratch, checkpoint_own(state, array));
}

void checkpoint_share_states(const xlm_comm *comm, const xlm_run_state *state)
{
    for (int k = 0; k < state->saved_states; k++)
        xlm_comm_broadcast(comm, 0, state->saved_state[k].values, xlm_state_bytes(&state->saved_state[k]));
}

/* The file is complete but does not fit; the caller adds the name of the file. */
#define UNFIT(error, ...) (xlm_error_set(error, EX_DATAERR, __VA_ARGS__), XLM_FILE_UNFIT)

/* The classes are the same ones in the same order. */
static xlm_file_condition check_task(const xlm_store *store, const xlm_model_task *task, GError **error)
{
    if (task == NULL)
        return XLM_FILE_GOOD;
    if (!xlm_store_has(store, "/task/labels"))
        return UNFIT(error, "it is not fine-tuned, it has no /task/labels");
    g_auto(GStrv) labels = xlm_store_read_strings(store, "/task/labels", INT32_MAX, NULL, error);
    if (labels == NULL)
        return XLM_FILE_DAMAGED;
    xlm_file_condition condition = XLM_FILE_GOOD;
    if (!g_strv_equal((const char *const *)labels, (const char *const *)task->labels)) {
        g_autofree char *there = xlm_names_some(labels), *here = xlm_names_some(task->labels);
        condition = UNFIT(error, "its labels are %s; here %s", there, here);
    }
    return condition;
}

/* The same text, if the file says which; older ones do not. */
static xlm_file_condition check_text(const xlm_store *store, const xlm_run_state *s, GError **error)
{
    uint64_t digest;
    const bool said = s->text_digest != 0 && xlm_store_get_digest(store, "/", "text_digest", &digest, NULL);
    if (!said || digest == s->text_digest)
        return XLM_FILE_GOOD;
    return s->task != NULL ? UNFIT(error, "it was trained on other text, or on the same files in another order")
                           : UNFIT(error, "its corpus has other text, or the same files in another order");
}

/* The same subwords, languages and seed. */
static xlm_file_condition check_origin(const xlm_store *store, const xlm_run_state *s, GError **error)
{
    int64_t seed = 0;
    uint64_t digest;
    if (!xlm_store_get_digest(store, "/", "corpus_digest", &digest, error) ||
        !xlm_store_get_int(store, "/generator", "seed", &seed, error))
        return XLM_FILE_DAMAGED;
    if (digest != s->corpus_digest)
        return UNFIT(error, "its corpus has other subwords or languages (digest %016" G_GINT64_MODIFIER "x, here %016"
                     G_GINT64_MODIFIER "x)", digest, s->corpus_digest);
    if ((uint64_t)seed != s->seed)
        return UNFIT(error, "its seed is %" G_GINT64_FORMAT ", the job's %" G_GUINT64_FORMAT, seed, s->seed);
    return XLM_FILE_GOOD;
}

/* Checks that the model computes the same: parameters also fit other models, for example with another number of heads. */
static xlm_file_condition check_model(const xlm_store *store, const xlm_run_state *s, GError **error)
{
    xlm_model_config config;
    if (!xlm_model_attributes_read(store, &config, error))
        return XLM_FILE_DAMAGED;
    return xlm_model_same_function(&config, s->model, "the job's", error) ? XLM_FILE_GOOD : XLM_FILE_UNFIT;
}

/* What an objective declares may have changed since; the type of other states is always the same. */
static const char *kind_of(xlm_type type) { return type == XLM_F32 || type == XLM_F64 ? "real numbers" : "integers"; }

static xlm_file_condition check_saved_state(const xlm_store *store, const xlm_saved_state *saved, GError **error)
{
    xlm_array array = {xlm_state_store_type(saved), XLM_ANY, 0};
    if (!xlm_store_has(store, saved->path))
        return saved->optional ? XLM_FILE_GOOD : UNFIT(error, "it has no %s", saved->path);
    xlm_type there;
    if (!xlm_store_type(store, saved->path, &there, error))
        return XLM_FILE_DAMAGED;
    if (g_str_has_prefix(saved->path, "/objectives/") && strcmp(kind_of(there), kind_of(array.type)) != 0)
        return UNFIT(error, "%s has %s there, %s here", saved->path, kind_of(there), kind_of(array.type));
    if (!xlm_store_shape(store, saved->path, &array, error))
        return XLM_FILE_DAMAGED;
    if (array.rows != (uint64_t)saved->n)
        return UNFIT(error, "%s has %" G_GUINT64_FORMAT " numbers there, %" G_GINT64_FORMAT " here", saved->path, array.rows,
                     saved->n);
    return XLM_FILE_GOOD;
}

/* The members of the mean of checkpoints so far are those that the same rule chose, which the text of the job has. */
static xlm_file_condition check_members_of(const xlm_store *store, const xlm_run_state *s, GError **error)
{
    g_autofree char *there = s->max_members > 0 ? xlm_store_get_text(store, "/job", "text", NULL) : NULL;
    const char *const text[] = {there, s->job_text};
    g_autoptr(GPtrArray) differences = there != NULL ? xlm_job_differences(text, 2) : NULL;
    for (guint i = 0; differences != NULL && i < differences->len; i++) {
        const xlm_job_difference *d = differences->pdata[i];
        if (g_strcmp0(d->key, "average_of") == 0)
            return UNFIT(error, "its average_of is %s, the job's %s", d->value[0], d->value[1]);
    }
    return XLM_FILE_GOOD;
}

/* Is `path` a parameter or a state of the run or, if it ends in a slash, a group with one? */
static bool run_has(const xlm_run_state *s, const char *path)
{
    const bool group = g_str_has_suffix(path, "/");
    bool has = false;
    for (int i = 0; i < xlm_parameters_count(s->parameters) && !has; i++) {
        const char *name = xlm_parameters_get(s->parameters, i)->name;
        has = group ? g_str_has_prefix(name, path + 1) : strcmp(name, path + 1) == 0;
    }
    for (int k = 0; k < s->saved_states && !has; k++)
        has = group ? g_str_has_prefix(s->saved_state[k].path, path) : strcmp(s->saved_state[k].path, path) == 0;
    return has;
}

/* The first array or group below an objective's group that the run would not read, other than `average`; NULL: none, g_free. */
static char *find_left_over(const xlm_store *store, const xlm_run_state *s, const char *group, const char *average)
{
    g_auto(GStrv) names = xlm_store_has(store, group) ? xlm_store_list(store, group, NULL) : NULL;
    char *found = NULL;
    for (char **name = names; name != NULL && *name != NULL && found == NULL; name++) {
        g_autofree char *path = g_strconcat(group, "/", *name, NULL), *below = g_strconcat(path, "/", NULL);
        if (run_has(s, below))
            found = find_left_over(store, s, path, average);
        else if (!run_has(s, path) && strcmp(path, average) != 0)
            found = g_steal_pointer(&path);
    }
    return found;
}

/* An objective whose options ask for fewer layers than it had would go on without what it has learned. Objectives that the job
 * leaves out altogether may have anything. */
static xlm_file_condition check_objectives(const xlm_store *store, const xlm_run_state *s, GError **error)
{
    for (int k = 0; s->job != NULL && k < s->job->objectives; k++) {
        const char *name = s->job->objective[k].name;
        g_autofree char *group = g_strconcat("/objectives/", name, NULL), *average = xlm_average_group(name),
                        *left = find_left_over(store, s, group, average);
        if (left != NULL)
            return UNFIT(error, "it has %s, and the job has no such parameter", left);
    }
    return XLM_FILE_GOOD;
}

/* Was the parameter frozen when the file was written, so that it has no moment or average there? */
static bool was_frozen(const xlm_store *store, int array, const char *path)
{
    if (array == CHECKPOINT_VALUES || xlm_store_has(store, path))
        return false;
    g_auto(GStrv) keys = xlm_store_list_attributes(store, "/optimiser", NULL);
    return keys != NULL && g_strv_contains((const char *const *)keys, CHECKPOINT_FROZEN);
}

static xlm_file_condition check_fit(const xlm_store *store, const xlm_run_state *s, GError **error)
{
    xlm_file_condition condition = check_origin(store, s, error);
    if (condition == XLM_FILE_GOOD)
        condition = check_task(store, s->task, error);
    if (condition == XLM_FILE_GOOD)
        condition = check_text(store, s, error); /* after the labels, which say more about text that has others */
    if (condition == XLM_FILE_GOOD)
        condition = check_model(store, s, error);
    for (int a = 0; a < xlm_checkpoint_arrays(s); a++) {
        g_autofree char *group = checkpoint_group(s, a);
        for (int i = 0; i < xlm_parameters_count(s->parameters) && condition == XLM_FILE_GOOD; i++) {
            const xlm_parameter *p = xlm_parameters_get(s->parameters, i);
            g_autofree char *path = xlm_parameter_path(group, p);
            if (checkpoint_has(s, a, p) && !was_frozen(store, a, path))
                condition = xlm_model_file_check_shape(store, path, p, error);
        }
    }
    for (int k = 0; k < s->saved_states && condition == XLM_FILE_GOOD; k++)
        condition = check_saved_state(store, &s->saved_state[k], error);
    if (condition == XLM_FILE_GOOD)
        condition = check_members_of(store, s, error);
    return condition == XLM_FILE_GOOD ? check_objectives(store, s, error) : condition;
}

bool checkpoint_read_whole(const xlm_store *store, const xlm_run_state *s, int array, float *whole, GError **error)
{
    g_autofree char *group = checkpoint_group(s, array);
    bool good = true;
    for (int i = 0; i < xlm_parameters_count(s->parameters) && good; i++) {
        const xlm_parameter *p = xlm_parameters_get(s->parameters, i);
        const int64_t n = p->rows * p->cols;
        if (!checkpoint_has(s, array, p))
            continue;
        g_autofree char *path = xlm_parameter_path(group, p);
        const bool frozen = was_frozen(store, array, path);
        if (frozen && array < CHECKPOINT_AVERAGES)
            memset(whole + p->start, 0, sizeof *whole * (size_t)n);
        else
            good = xlm_model_file_read_array(store, frozen ? "/model" : group, p, array == CHECKPOINT_SECOND_MOMENT,
                                             whole + p->start, error);
        /* No step touches gradients of frozen parameters, for which the scratch memory is otherwise (train/engine.c). */
        if (p->start < s->shards->first && whole == s->scratch)
            xlm_pages_release(whole, sizeof *whole * (size_t)(p->start + n));
    }
    return good;
}

static bool is_best(const xlm_saved_state *saved)
{
    return strcmp(saved->path, XLM_CHECKPOINT_BEST) == 0 || strcmp(saved->path, XLM_CHECKPOINT_BEST_HELD_OUT) == 0;
}

static bool is_from_best(const xlm_saved_state *saved)
{
    return strcmp(saved->path, XLM_CHECKPOINT_FROM_BEST) == 0 || strcmp(saved->path, XLM_CHECKPOINT_FROM_BEST_HELD_OUT) == 0;
}

/* No step has more than one evaluation. */
static bool check_from_best(const xlm_store *store, const char *path, int64_t from_best, int64_t step, GError **error)
{
    return (from_best >= 0 && from_best <= step) ||
           xlm_error_set(error, EX_DATAERR, "%s: %s: %" G_GINT64_FORMAT " evaluations in a checkpoint of step %" G_GINT64_FORMAT
                         "; the file is damaged", xlm_store_path(store), path, from_best, step);
}

/* The best score, and the step that had it. */
static bool check_best(const xlm_store *store, const char *path, const double best[2], int64_t step, GError **error)
{
    return (isfinite(best[0]) && best[1] >= 0 && best[1] <= (double)step && best[1] == floor(best[1])) ||
           xlm_error_set(error, EX_DATAERR, "%s: %s: a score of %g at step %g in a checkpoint of step %" G_GINT64_FORMAT
                         "; the file is damaged", xlm_store_path(store), path, best[0], best[1], step);
}

/* Scores and steps of checkpoints, in the order of the steps. */
static bool check_members(const xlm_store *store, const double *member, int64_t n, int64_t step, GError **error)
{
    bool good = true;
    double before = 0;
    bool free_place = false;
    for (int64_t i = 0; i + 1 < n && good; i += 2) {
        const double at = member[i + 1];
        free_place = free_place || at == 0;
        good = isfinite(member[i]) && at == floor(at) && at <= (double)step && (free_place ? at == 0 : at > before);
        before = at;
    }
    return good || xlm_error_set(error, EX_DATAERR, "%s: " XLM_CHECKPOINT_AVERAGED ": has no ascending steps up to %"
                                 G_GINT64_FORMAT "; the file is damaged", xlm_store_path(store), step);
}

bool checkpoint_read_state(const xlm_store *store, const xlm_saved_state *saved, void *values, GError **error)
{
    if (saved->optional && !xlm_store_has(store, saved->path)) {
        memset(values, 0, xlm_state_bytes(saved));
        return true;
    }
    return xlm_state_read(store, saved, values, error);
}

static bool check_saved_numbers(const xlm_store *store, const xlm_saved_state *saved, int64_t step, GError **error)
{
    g_autofree void *numbers = g_malloc(MAX(xlm_state_bytes(saved), 1));
    return checkpoint_read_state(store, saved, numbers, error) &&
           (!is_best(saved) || check_best(store, saved->path, numbers, step, error)) &&
           (!is_from_best(saved) || check_from_best(store, saved->path, *(int64_t *)numbers, step, error)) &&
           (strcmp(saved->path, XLM_CHECKPOINT_AVERAGED) != 0 ||
            check_members(store, numbers, saved->n, step, error));
}

/* Reads everything into the scratch memory, to find damage before anything of the run is overwritten. */
static bool check_sums(const xlm_store *store, const xlm_run_state *s, int64_t step, GError **error)
{
    bool good = true;
    for (int a = 0; a < xlm_checkpoint_arrays(s) && good; a++)
        good = checkpoint_read_whole(store, s, a, s->scratch, error);
    for (int k = 0; k < s->saved_states && good; k++)
        good = check_saved_numbers(store, &s->saved_state[k], step, error);
    return good;
}

static xlm_file_condition check_store(const xlm_store *store, const xlm_run_state *s, GError **error)
{
    int64_t step = 0;
    GError *why = NULL;
    xlm_file_condition condition = xlm_model_file_check_format(store, true, &step, error);
    if (condition != XLM_FILE_GOOD)
        return condition;
    condition = check_fit(store, s, &why);
    if (condition == XLM_FILE_UNFIT) {
        xlm_error_set(error, EX_DATAERR, "%s: does not fit the job: %s", xlm_store_path(store), why->message);
        g_error_free(why);
    } else if (condition == XLM_FILE_DAMAGED) {
        g_propagate_error(error, why);
    }
    return condition != XLM_FILE_GOOD || check_sums(store, s, step, error) ? condition : XLM_FILE_DAMAGED;
}

xlm_file_condition checkpoint_check_file(const char *path, const xlm_run_state *s, GError **error)
{
    g_autoptr(xlm_store) store = xlm_store_open(path, error);
    return store != NULL ? check_store(store, s, error) : XLM_FILE_DAMAGED;
}
