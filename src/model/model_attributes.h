/* xlm-mpi: a model's configuration and flat arrays of parameters in HDF5 files. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_MODEL_MODEL_ATTRIBUTES_H
#define XLM_MODEL_MODEL_ATTRIBUTES_H

#include "nn/model.h"
#include "store/store.h"

/* Write the attributes of the group /model: vocabulary, languages, and every key of section [model], but those of newer versions
 * only if they differ from their default. Collective over the ranks of the store. */
bool xlm_model_attributes_write(xlm_store *store, const xlm_model_config *config, GError **error);
/* Read them, and call xlm_model_check. A key that older files do not have gets its default. Not collective. EX_DATAERR: another
 * key is missing, or a key is unknown, has the wrong type or is out of range. */
bool xlm_model_attributes_read(const xlm_store *store, xlm_model_config *config, GError **error);

/* Is it a key of [model] that changes neither the parameters nor the function that the model computes, such as a dropout rate, or
 * a key that only affects memory or the maximum length? */
bool xlm_model_key_is_free(const char *key, const xlm_model_config *config);
/* Returns false if a run that continues would compute another function of its parameters, because a key of [model] that is not
 * free differs. EX_DATAERR with the key and its values `then` and `now`, which is that of `whose` model: "the job's". Both must
 * have passed xlm_model_check. */
bool xlm_model_same_function(const xlm_model_config *then, const xlm_model_config *now, const char *whose, GError **error);

/* Path of a parameter's array: prefix/name. With the prefix "/model", names "objectives/..." are at the top instead. g_free. */
char *xlm_parameter_path(const char *prefix, const xlm_parameter *parameter);

/* Write flat[size] as one dataset for each parameter under prefix, f32 [rows x cols], or [cols] if rows = 1, with checksums.
 * Every rank of the store has the same flat[]. */
bool xlm_parameter_arrays_write(xlm_store *store, const char *prefix, const xlm_parameters *parameters, const float *flat,
                                GError **error);

/* The same for only parameter number `index`. */
bool xlm_parameter_array_write(xlm_store *store, const char *prefix, const xlm_parameters *parameters, int index,
                               const float *flat, GError **error);

#endif
