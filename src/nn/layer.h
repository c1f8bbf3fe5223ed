/* xlm-mpi: layers of a model by (stack, number), and their names. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rates of learning, freezing and files of other programs ask for a layer in this way; nothing else reads it out of a name. */
#ifndef XLM_NN_LAYER_H
#define XLM_NN_LAYER_H

#include <xlm/model.h>

/* A layer that has weights of its own. */
typedef struct xlm_layer {
    xlm_stack stack;
    int64_t number; /* from 0; 0 where all layers share their weights */
} xlm_layer;

/* How many layers of a stack have weights of their own: L or D, or 1 when all share theirs; 0 of what is no stack. */
int64_t xlm_layers_of(const xlm_model_config *config, xlm_stack stack);
/* How many of these, of both stacks, are above it: 0 of the topmost and of XLM_STACK_NONE, all above the embeddings. */
int64_t xlm_layers_above(const xlm_model_config *config, xlm_layer layer);

/* The layer that a parameter is of, by its name. [out] rest: of the name, what is after the layer's ("attention/query/weight");
 * the whole name where it is of no layer. NULL: not wanted. */
xlm_layer xlm_layer_of(const char *parameter, const char **rest);

/* "encoder/layer.3/attention", the name of a block of the layer; layer.shared where all have the same weights.
 * [out] name: [size]. */
void xlm_layer_name(const xlm_model_config *config, xlm_layer layer, const char *block, char *name, size_t size);
/* The name of the stack: "encoder", "decoder", or "" of what is none. */
const char *xlm_stack_name(xlm_stack stack);

#endif
