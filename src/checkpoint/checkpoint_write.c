/* xlm-mpi: writing checkpoints, all ranks together. SPDX-License-Identifier: GPL-3.0-or-later */
#include "checkpoint/checkpoint.h"

#include "checkpoint/checkpoint_check.h"
#include "checkpoint/objective_arrays.h"
#include "model/checkpoint_names.h"
#include "model/model_attributes.h"
#include "model/model_pair_form.h"

/* Of the pairs of the job, or else of those that the model which it began with had read. */
static bool write_pair_form(xlm_store *store, const xlm_run_state *s, GError **error)
{
    return xlm_model_pair_form_write(store, s->pair_form == NULL && s->start != NULL ? s->start->pair_form : s->pair_form, error);
}

static bool write_provenance(xlm_store *store, const xlm_comm *comm, const xlm_run_state *s, GError **error)
{
    return xlm_model_file_write_origin(store, comm, XLM_CHECKPOINT_FORMAT, s->parameters, error) &&
           xlm_store_set_int(store, "/", "step", s->step, error) &&
           xlm_store_set_digest(store, "/", "corpus_digest", s->corpus_digest, error) &&
           (s->text_digest == 0 || xlm_store_set_digest(store, "/", "text_digest", s->text_digest, error)) &&
           xlm_store_set_text(store, "/generator", "algorithm", "Philox4x32-10", error) &&
           xlm_store_set_int(store, "/generator", "seed", (int64_t)s->seed, error) &&
           xlm_store_set_int(store, "/generator", "step", s->step, error) &&
           xlm_store_set_text(store, "/job", "text", s->job_text, error) &&
           xlm_model_file_write_translations(store, s->translations, error) && write_pair_form(store, s, error) &&
           xlm_store_set_text(store, "/optimiser", "algorithm", s->optimiser, error) &&
           (s->start == NULL || xlm_start_record_write(s->start, store, error));
}

/* An array of moments or averages, which are sharded over the ranks. */
static bool write_array(xlm_store *store, const xlm_run_state *s, int array, GError **error)
{
    xlm_shards_all_gather_from(s->shards, checkpoint_own(s, array), s->scratch);
    g_autofree char *group = checkpoint_group(s, array);
    bool good = true;
    for (int i = 0; i < xlm_parameters_count(s->parameters) && good; i++)
        if (checkpoint_has(s, array, xlm_parameters_get(s->parameters, i)))
            good = xlm_parameter_array_write(store, group, s->parameters, i, s->scratch, error);
    return good;
}

/* Frozen parameters have no moments and averages in the file. */
static bool write_frozen(xlm_store *store, const xlm_run_state *s, GError **error)
{
    int64_t frozen = 0;
    for (int i = 0; i < xlm_parameters_count(s->parameters); i++)
        frozen += xlm_parameters_get(s->parameters, i)->rate <= 0;
    return frozen == 0 || xlm_store_set_int(store, "/optimiser", CHECKPOINT_FROZEN, frozen, error);
}

static bool write_all(xlm_store *store, const xlm_comm *comm, const xlm_run_state *s, GError **error)
{
    if (!write_provenance(store, comm, s, error) || !write_frozen(store, s, error) ||
        !xlm_model_file_write_content(store, comm, s->model, s->parameters, s->vocabulary, s->task, error))
        return false;
    for (int a = CHECKPOINT_FIRST_MOMENT; a < xlm_checkpoint_arrays(s); a++)
        if (!write_array(store, s, a, error))
            return false;
    for (int k = 0; k < s->saved_states; k++)
        if (!xlm_state_write(store, &s->saved_state[k], error))
            return false;
    return true;
}

/* Bytes of the numbers in the file. */
static uint64_t size_of(const xlm_run_state *s)
{
    uint64_t size = (uint64_t)(xlm_checkpoint_arrays(s) * xlm_parameters_size(s->parameters)) * sizeof(float);
    for (int k = 0; k < s->saved_states; k++)
        size += (uint64_t)xlm_state_bytes(&s->saved_state[k]);
    return size;
}

static bool write_file(const xlm_comm *comm, const char *path, const xlm_run_state *state, GError **error)
{
    xlm_store *store = xlm_store_create_sized(comm, path, size_of(state), error);
    return xlm_store_end(store, store != NULL && write_all(store, comm, state, error), error);
}

bool xlm_checkpoint_write(const xlm_comm *comm, const char *directory, const xlm_run_state *state, int64_t keep, GError **error)
{
    g_autofree char *path = xlm_checkpoint_path(directory, state->step);
    return write_file(comm, path, state, error) && xlm_checkpoint_point_latest(comm, directory, state, keep, error);
}

bool xlm_checkpoint_write_mean(const xlm_comm *comm, const char *directory, const xlm_run_state *state, GError **error)
{
    g_autofree char *path = g_build_filename(directory, XLM_CHECKPOINT_MEAN, NULL);
    return write_file(comm, path, state, error);
}
