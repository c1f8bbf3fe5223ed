/* xlm-mpi: the mean of models. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_MODEL_MODEL_MEAN_H
#define XLM_MODEL_MODEL_MEAN_H

#include "model/model_file.h"

/* Set the parameters to the mean of those in open files (xlm_store *), of which there is at least one: the sum in double
 * precision in the order of the files, divided by their number. One parameter at a time, so that little memory is needed beside
 * them. Errors of reading; then the parameters are undefined. Not collective. */
bool xlm_model_mean_of(const GPtrArray *stores, xlm_parameters *parameters, GError **error);

/* Write the model of the file `path` with the mean of its parameters and those of the other files (NULL-terminated), in this
 * order. EX_DATAERR: another model or vocabulary than that of `path`; a model that was fine-tuned, whose head is no part of the
 * mean. Not collective. */
bool xlm_model_mean(const char *path, char *const *others, const char *output, GError **error);

#endif
