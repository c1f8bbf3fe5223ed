/* xlm-mpi: layers of a model by (stack, number), and their names. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Learning rates, freezing and files of other programs identify layers in this way; no other code parses names of layers. */
#ifndef XLM_NN_LAYER_H
#define XLM_NN_LAYER_H

#include <xlm/model.h>

/* A layer with its own weights. */
typedef struct xlm_layer {
    xlm_stack stack;
    int64_t number; /* from 0; 0 if all layers share their weights */
} xlm_layer;

/* Number of layers of a stack with their own weights: L or D, or 1 if all layers share theirs; 0 if it is not a stack. */
int64_t xlm_layers_of(const xlm_model_config *config, xlm_stack stack);
/* Number of such layers of both stacks above a layer: 0 for the top layer and for XLM_STACK_NONE, all for the embeddings. */
int64_t xlm_layers_above(const xlm_model_config *config, xlm_layer layer);

/* The layer of a parameter, by its name. [out] rest: the part of the name after the layer ("attention/query/weight"), or the
 * whole name if it belongs to no layer. NULL: not wanted. */
xlm_layer xlm_layer_of(const char *parameter, const char **rest);

/* The name of a block of the layer, "encoder/layer.3/attention"; layer.shared if all layers have the same weights. [out] name:
 * [size]. */
void xlm_layer_name(const xlm_model_config *config, xlm_layer layer, const char *block, char *name, size_t size);
/* The name of the stack: "encoder", "decoder", or "" if it is none. */
const char *xlm_stack_name(xlm_stack stack);

#endif
