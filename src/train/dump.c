/* xlm-mpi: one step with all its numbers, to be checked in another framework. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/dump.h"

#include "checkpoint/objective_arrays.h"
#include "model/model_attributes.h"
#include "objective/readers.h"
#include "options/options.h"

xlm_store *xlm_dump_create(const char *path, const xlm_model_config *model, uint64_t seed, int64_t step, GError **error)
{
    xlm_store *store = xlm_store_create(NULL, path, error);
    if (store == NULL)
        return NULL;
    if (xlm_store_set_format(store, "xlm-mpi step dump", XLM_DUMP_VERSION, NULL, error) &&
        xlm_store_set_int(store, "/", "seed", (int64_t)seed, error) && xlm_store_set_int(store, "/", "step", step, error) &&
        xlm_model_attributes_write(store, model, error))
        return store;
    xlm_store_discard(store);
    return NULL;
}

bool xlm_dump_write_resource(xlm_store *store, int number, const xlm_resource *resource, GError **error)
{
    g_autofree char *dataset = g_strdup_printf("/%s/%d", resource->reader->folder, number);
    return resource->reader->write(store, dataset, resource->contents, error) &&
           xlm_store_set_text(store, dataset, "path", resource->path, error);
}

bool xlm_dump_write_states(xlm_store *store, int n, const xlm_saved_state *state, GError **error)
{
    bool good = true;
    for (int i = 0; i < n && good; i++)
        good = xlm_state_write(store, &state[i], error);
    return good;
}

bool xlm_dump_write_average(xlm_store *store, const char *objective, const xlm_parameters *parameters, const float *whole,
                            GError **error)
{
    g_autofree char *group = xlm_average_group(objective);
    bool good = true;
    for (int i = 0; i < xlm_parameters_count(parameters) && good; i++)
        if (xlm_average_has(objective, xlm_parameters_get(parameters, i)))
            good = xlm_parameter_array_write(store, group, parameters, i, whole, error);
    return good;
}

static bool write_table(xlm_store *store, const char *folder, const char *name, const int32_t *values, int32_t rows, int32_t cols,
                        GError **error)
{
    g_autofree char *path = g_strdup_printf("%s/%s", folder, name);
    const uint64_t dims[2] = {(uint64_t)rows, (uint64_t)cols};
    return xlm_store_dataset(store, path, XLM_I32, cols == 1 ? 1 : 2, dims, XLM_STORE_CHECKED, error) &&
           xlm_store_write(store, path, 0, (uint64_t)rows, values, error);
}

static bool write_annotations(xlm_store *store, const char *folder, const xlm_batch *b, GError **error)
{
    bool good = true;
    for (const xlm_annotation *a = b->annotations; a != NULL && good; a = a->next)
        good = write_table(store, folder, a->name, a->values, a->length, a->width, error);
    return good;
}

/* Numbers of the sequences within the step, a part of the keys of their rows. */
static bool write_instances(xlm_store *store, const char *folder, const xlm_batch *b, GError **error)
{
    const xlm_text *t = &b->corrupted;
    g_autofree int32_t *instances = g_new(int32_t, MAX(t->sequences, 1));
    for (int32_t s = 0; s < t->sequences; s++)
        instances[s] = (int32_t)t->keys[t->offsets[s]].instance;
    return xlm_store_write_array(store, folder, "instances", XLM_I32, (uint64_t)t->sequences, instances, error);
}

static bool write_numbers(xlm_store *store, const char *folder, const char *name, int32_t n, const int32_t *values, GError **error)
{
    return xlm_store_write_array(store, folder, name, XLM_I32, (uint64_t)n, values, error);
}

static bool write_text(xlm_store *store, const char *folder, const xlm_text *t, GError **error)
{
    return write_numbers(store, folder, "ids", t->tokens, t->ids, error) &&
           write_numbers(store, folder, "positions", t->tokens, t->positions, error) &&
           write_numbers(store, folder, "languages", t->tokens, t->languages, error) &&
           write_numbers(store, folder, "types", t->tokens, t->types, error) &&
           write_numbers(store, folder, "offsets", t->sequences + 1, t->offsets, error);
}

static bool write_batch(xlm_store *store, const char *folder, const xlm_batch *b, GError **error)
{
    const xlm_text *t = &b->corrupted;
    g_autofree char *original = g_strconcat(folder, "/original_text", NULL);
    return write_text(store, folder, t, error) && write_numbers(store, folder, "original", t->tokens, t->unmasked, error) &&
           write_numbers(store, folder, "masked_positions", b->predicted, b->predicted_rows, error) &&
           write_numbers(store, folder, "targets", b->predicted, b->targets, error) &&
           write_numbers(store, folder, "text_languages", t->tokens, t->unswitched, error) &&
           write_instances(store, folder, b, error) && write_annotations(store, folder, b, error) &&
           (xlm_batch_has_rows_of(b, &b->original) || write_text(store, original, &b->original, error));
}

static bool write_variable(xlm_store *store, const char *path, const xlm_var *v, GError **error)
{
    const uint64_t dims[2] = {(uint64_t)xlm_var_rows(v), (uint64_t)xlm_var_cols(v)};
    g_autofree float *values = g_new(float, MAX(dims[0] * dims[1], 1));
    xlm_var_read(v, 0, (int64_t)dims[0], values);
    return xlm_store_dataset(store, path, XLM_F32, 2, dims, XLM_STORE_CHECKED, error) &&
           xlm_store_write(store, path, 0, dims[0], values, error);
}

bool xlm_dump_write_made(xlm_store *store, const char *objective, const xlm_text *text, GError **error)
{
    g_autofree char *folder = g_strdup_printf("/objectives/%s/made_text", objective);
    return write_text(store, folder, text, error);
}

bool xlm_dump_write_stream(xlm_store *store, int64_t layers, const xlm_dump_stream *stream, GError **error)
{
    g_autofree char *folder = g_strdup_printf("/streams/%s/batch", stream->name);
    bool good = write_batch(store, folder, stream->batch, error);
    if (good && stream->dictionary != NULL) {
        g_autofree char *path = g_strdup_printf("/streams/%s/dictionary", stream->name);
        good = xlm_dictionary_write_pairs(store, path, stream->dictionary, error);
    }
    for (int64_t l = 0; l <= layers && good; l++) {
        g_autofree char *path = g_strdup_printf("/streams/%s/hidden/%" G_GINT64_FORMAT, stream->name, l);
        good = write_variable(store, path, stream->hidden[l], error);
    }
    if (good && stream->logits != NULL) {
        g_autofree char *path = g_strdup_printf("/streams/%s/logits", stream->name);
        good = write_variable(store, path, stream->logits, error);
    }
    return good;
}

/* Some objectives have no array: their numbers are attributes of the dataset that holds the loss. */
static bool write_objective(xlm_store *store, const xlm_dump_objective *o, GError **error)
{
    g_autofree char *path = g_strdup_printf("/objectives/%s/loss", o->name);
    g_autoptr(GString) options = g_string_new(NULL);
    if (o->options != NULL)
        xlm_options_print(o->options, o->state, options);
    const uint64_t one = 1;
    return xlm_store_dataset(store, path, XLM_F64, 1, &one, XLM_STORE_CHECKED, error) &&
           xlm_store_write(store, path, 0, 1, &o->loss, error) &&
           xlm_store_set_text(store, path, "plugin", o->plugin, error) &&
           xlm_store_set_text(store, path, "stream", o->stream != NULL ? o->stream : "", error) &&
           xlm_store_set_real(store, path, "weight", o->weight, error) &&
           xlm_store_set_int(store, path, "terms", o->terms, error) &&
           xlm_store_set_text(store, path, "options", options->str, error);
}

bool xlm_dump_finish(xlm_store *store, int objectives, const xlm_dump_objective *objective, double loss,
                     const xlm_parameters *parameters, const float *gradients, GError **error)
{
    bool good = xlm_store_set_real(store, "/", "loss", loss, error);
    for (int k = 0; k < objectives && good; k++)
        good = write_objective(store, &objective[k], error);
    good = good && xlm_parameter_arrays_write(store, "/parameters", parameters, xlm_parameters_values(parameters), error) &&
           xlm_parameter_arrays_write(store, "/gradients", parameters, gradients, error);
    return xlm_store_end(store, good, error);
}
