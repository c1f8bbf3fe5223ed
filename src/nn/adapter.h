/* xlm-mpi: adapters of models. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   adapter.c     what adapters are; LoRA, beside linear layers
 *   bottleneck.c  bottleneck adapters, after feed-forward sublayers; invertible adapters, around a model
 *
 * LoRA adapter NAME beside the linear layer "encoder/layer.3/attention/query" has the parameters
 *     adapters/NAME/encoder/layer.3/attention/query/lora_a   r x in, from U(−1/√in, 1/√in)
 *     adapters/NAME/encoder/layer.3/attention/query/lora_b   out x r, zero, so that the model computes the same at first
 * What several LoRA adapters add is added up. A bottleneck adapter has in each layer
 *     adapters/NAME/encoder/layer.3/feed_forward/{down,up}/{weight,bias}    D: m x d, d: m; U: d x m, u: d
 * and, if it is invertible, two of them of half the width (below):
 *     adapters/NAME/embeddings/invertible/{f,g}/{down,up}/{weight,bias}
 * with weights from N(0, 0.02²) and biases of zero. */
#ifndef XLM_NN_ADAPTER_H
#define XLM_NN_ADAPTER_H

#include <xlm/model.h>

#include "base/error.h"
#include "nn/block.h"
#include "nn/layer.h"
#include "tensor/parameters.h"
#include "tensor/products.h"

enum { XLM_ADAPTER_TARGETS = 6, XLM_ADAPTER_PARAMETER = 256 };

/* The target with bit 1 << i: its name in job files and files of models, and the linear layer within a layer of a stack. */
typedef struct xlm_adapter_target {
    const char *name, *linear; /* "attention_output", "attention/output" */
} xlm_adapter_target;
extern const xlm_adapter_target xlm_adapter_targets[XLM_ADAPTER_TARGETS];
/* "lora", "bottleneck": by XLM_ADAPTER_...; NULL-terminated. */
extern const char *const xlm_adapter_kinds[];

/* Names with commas between, "query,value", as bits and back. 0 with EX_CONFIG: a name is not known, or there is none. print:
 * g_free. */
uint32_t xlm_adapter_targets_read(char *const *names, GError **error);
char *xlm_adapter_targets_print(uint32_t targets);
/* Is it of letters, digits, _ and -, and not too long? */
bool xlm_adapter_is_name(const char *name);
/* Are names (letters, digits, _ and -), numbers and targets as they should be, and names different? EX_CONFIG. */
bool xlm_adapters_check(const xlm_adapters *adapters, GError **error);
/* The adapter of this name; NULL: none. */
const xlm_adapter *xlm_adapters_find(const xlm_adapters *adapters, const char *name);
/* The adapter that a parameter belongs to, by its name; NULL: to none. */
const xlm_adapter *xlm_adapters_of_parameter(const xlm_adapters *adapters, const char *parameter);
/* The target that a linear layer is, by its name or that of its weight; 0: none. */
uint32_t xlm_adapter_target_of(const char *linear);
/* Do two adapters of one name compute the same with the same parameters? why: "rank = 4 there, 8 here"; g_free. NULL: yes. */
char *xlm_adapter_difference(const xlm_adapter *there, const xlm_adapter *here);

/* Complete sizes that are 0 for a model of hidden size d. */
void xlm_adapters_fill_in_sizes(xlm_adapters *adapters, int64_t d);

/* The name of a parameter of an adapter beside a linear layer, or of another part of a model. what: "lora_a", "lora_b"; of
 * bottleneck adapters "down/weight" and others. */
const char *xlm_adapter_parameter(const xlm_adapter *adapter, const char *linear, const char *what,
                                  char name[XLM_ADAPTER_PARAMETER]);
/* ---- LoRA ---- */

/* Declare what adapters have beside a linear layer. */
void xlm_adapters_declare(const xlm_model_config *config, xlm_parameters *parameters, const char *linear, uint32_t target,
                          int64_t out, int64_t in);
/* Is an adapter beside one of these linear layers? */
bool xlm_adapters_are_at(const xlm_model_config *config, uint32_t targets);

/* A linear layer whose result is in columns of a variable. */
typedef struct xlm_adapted_linear {
    const char *name;
    uint32_t target;
    int64_t column;
} xlm_adapted_linear;
/* y with what the adapters beside n linear layers add to it, which read x; then rotated (rotation; NULL: not). y: the result of
 * xlm_linear without rotation. */
xlm_var *xlm_adapters_apply(const xlm_model *model, xlm_tape *tape, int n, const xlm_adapted_linear *linear, xlm_var *x,
                            xlm_var *y, const xlm_rotation *rotation);
/* ---- bottleneck adapters ---- */

bool xlm_bottlenecks_are_there(const xlm_model_config *config);
/* Declare what they have after a feed-forward sublayer, block: "encoder/layer.3/feed_forward". */
void xlm_bottlenecks_declare(const xlm_model_config *config, xlm_parameters *parameters, const char *block);
/* What they make of f, the result of that sublayer, which reads x. Both n x d, as is the result. */
xlm_var *xlm_bottlenecks_apply(const xlm_model *model, xlm_tape *tape, const xlm_sublayer *block, xlm_var *x, xlm_var *f);

/* An invertible adapter (Pfeiffer et al. 2020, MAD-X; Dinh et al. 2015, NICE) changes what the embeddings of tokens give, and
 * what the head computes is changed back before the product with the word embeddings, which are tied to those. A row
 * x = (x₁, x₂) of width e, in halves, the first of e/2 rounded down, becomes y = (y₁, y₂):
 *     y₁ = x₁ + F(x₂), y₂ = x₂ + G(y₁),   F(v) = max(D v + d, 0) Uᵀ + u, G in the same way, D: a quarter of e wide
 * Several are applied in their order, and taken back in the opposite one. */
/* Declare what they have for the embeddings of a stack. */
void xlm_invertible_declare(const xlm_model_config *config, xlm_parameters *parameters, xlm_stack stack);
/* x: n x e. back: x from y. */
xlm_var *xlm_invertible_apply(const xlm_model *model, xlm_tape *tape, xlm_stack stack, xlm_var *x, bool back);

/* Has the layer parameters of adapters that have gradients in this pass? */
bool xlm_adapters_learn(const xlm_model *model, const xlm_tape *tape, xlm_layer layer);

#endif
