/* xlm-mpi: what the files of this floor know of a model. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_NN_MODEL_INTERNAL_H
#define XLM_NN_MODEL_INTERNAL_H

#include <xlm/model.h>

/* Names of a layer's parameters, made once: prefixes of a weight and a bias each, but for those of stacks. */
typedef struct xlm_layer_names {
    char *attention, *query_weight, *query_bias, *key_weight, *key_bias, *attention_output, *attention_norm;
    char *intermediate, *output, *output_norm;
} xlm_layer_names;

struct xlm_model {
    xlm_model_config config;
    int64_t sets;           /* of layer weights: L, or 1 when they are shared */
    xlm_layer_names *names; /* [sets] */
    xlm_real *sinusoids;    /* [(positions + offset) x e], or NULL */
};

/* y = x Wᵀ + b with the parameters prefix/weight and prefix/bias. */
xlm_var *xlm_model_linear(xlm_tape *tape, const char *prefix, xlm_var *x);
/* GELU(x Wᵀ + b), in the form of the configuration, with the parameters prefix/weight and prefix/bias. */
xlm_var *xlm_model_gelu(const xlm_model *model, xlm_tape *tape, const char *prefix, xlm_var *x);
/* LayerNorm with the parameters prefix/weight and prefix/bias. */
xlm_var *xlm_model_layer_norm(const xlm_model *model, xlm_tape *tape, const char *prefix, xlm_var *x);

#endif
