/* xlm-mpi: a model, and its linear layers and norms, shared by the files of src/nn. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_NN_MODEL_PARTS_H
#define XLM_NN_MODEL_PARTS_H

#include <xlm/model.h>

#include "tensor/parameters.h"

struct xlm_model {
    xlm_model_config config;
    xlm_real *sinusoids; /* [(positions + offset) x e], or NULL */
    xlm_real *turns[2];  /* [positions x w] cosines and sines of rotary positions (xlm_rotation): global, local; or NULL */
};

/* The number of first rows of a sequence of the memory, of so many rows, that a decoder does not see (encode_bos). */
static inline int32_t xlm_unseen_memory(const xlm_model_config *config, int32_t rows) { return !config->encode_bos && rows > 1; }

/* Declare the parameter prefix/name. */
void xlm_model_add(xlm_parameters *p, const char *prefix, const char *name, int64_t rows, int64_t cols, xlm_init init,
                   bool decay);
/* Declare those of a linear layer: prefix/weight, out x in, and prefix/bias, 1 x out, unless the model has no such biases. */
void xlm_model_add_linear(const xlm_model_config *config, xlm_parameters *p, const char *prefix, int64_t out, int64_t in);
/* Declare those of a LayerNorm: prefix/weight and prefix/bias, 1 x width, the latter unless norms have none. */
void xlm_model_add_layer_norm(const xlm_model_config *config, xlm_parameters *p, const char *prefix, int64_t width);

/* name [size] = prefix/part, cut to its size. A pass makes hundreds of names, for which printf takes an eighth of the time of a
 * small model. */
void xlm_model_name(char *name, size_t size, const char *prefix, const char *part);

/* The parameter prefix/name. */
xlm_var *xlm_model_parameter(xlm_tape *tape, const char *prefix, const char *name);
/* The bias prefix/name of a linear layer; NULL if linear layers have none. */
xlm_var *xlm_model_bias(const xlm_model *model, xlm_tape *tape, const char *prefix, const char *name);
/* y = x Wᵀ + b with the parameters prefix/weight and prefix/bias. */
xlm_var *xlm_model_linear(const xlm_model *model, xlm_tape *tape, const char *prefix, xlm_var *x);
/* a(x Wᵀ + b) with the activation of the configuration and the parameters prefix/weight and prefix/bias. */
xlm_var *xlm_model_activate(const xlm_model *model, xlm_tape *tape, const char *prefix, xlm_var *x);
/* LayerNorm with the parameters prefix/weight and prefix/bias. */
xlm_var *xlm_model_layer_norm(const xlm_model *model, xlm_tape *tape, const char *prefix, xlm_var *x);

#endif
