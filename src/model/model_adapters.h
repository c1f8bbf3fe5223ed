/* xlm-mpi: a model file with other adapters. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   merge     W + (α / r) B A takes the place of W, so that a model without adapters computes the same up to rounding
 *   exchange  an adapter of another file takes the place of one of the model's
 *   change    xlm_adapted_open -> values of new adapters -> xlm_adapted_write
 *
 * The parameters are in memory as a whole. Nothing here is collective. */
#ifndef XLM_MODEL_MODEL_ADAPTERS_H
#define XLM_MODEL_MODEL_ADAPTERS_H

#include "model/model_file.h"

/* A model, and the same with other adapters. */
typedef struct xlm_adapted {
    char *path;
    xlm_loaded_model *from;
    xlm_parameters *parameters; /* with the values that `from` has for the same names and shapes; others are 0 */
    xlm_model *model;
    const char *translations; /* as in xlm_loaded_model; borrowed. NULL after opening: new adapters may have learned others */
    const char *pair_form;    /* likewise; after opening that of the model */
} xlm_adapted;

/* path: a model file. adapters: those of the new model, in place of its own. EX_NOINPUT, EX_DATAERR. xlm_adapted_close, also
 * after an error. */
bool xlm_adapted_open(xlm_adapted *adapted, const char *path, const xlm_adapters *adapters, GError **error);
/* The values of a parameter of the new model, or NULL. */
float *xlm_adapted_values(const xlm_adapted *adapted, const char *name);
/* Also what the model has for a task. EX_CANTCREAT, EX_IOERR. */
bool xlm_adapted_write(const xlm_adapted *adapted, const char *output, GError **error);
void xlm_adapted_close(xlm_adapted *adapted);

/* Write the model with all of its adapters merged. EX_DATAERR: it has none, or one that is no LoRA. */
bool xlm_model_merge_adapters(const char *path, const char *output, GError **error);

/* Adapter `new` of the model in the file `path` takes the place of `old`. */
typedef struct xlm_model_exchange {
    const char *old, *path, *new;
} xlm_model_exchange;
/* Write the model with the other adapter, which has its own name and place in the order of the one that it replaces. EX_USAGE:
 * one of them is not there, or the model has another adapter of its name; EX_DATAERR: it is of a model that computes something
 * else. A warning if it is of one with other values. */
bool xlm_model_exchange_adapter(const char *path, const xlm_model_exchange *exchange, const char *output, GError **error);

#endif
