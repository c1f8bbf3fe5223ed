/* xlm-mpi: layers of a model by (stack, number), and their names. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Learning rates, freezing and files of other programs identify layers in this way; no other code parses names of layers. */
#ifndef XLM_NN_LAYER_H
#define XLM_NN_LAYER_H

#include <xlm/model.h>

/* The number of the decoder's own embeddings (share_embeddings = false), which are below its layer 0. */
enum { XLM_OWN_EMBEDDINGS = -1 };

/* A layer with its own weights. */
typedef struct xlm_layer {
    xlm_stack stack;
    int64_t number; /* from 0; 0 if all layers share their weights; XLM_OWN_EMBEDDINGS */
} xlm_layer;

/* Number of layers of a stack with their own weights: L or D, or 1 if all layers share theirs; 0 if it is not a stack. */
int64_t xlm_layers_of(const xlm_model_config *config, xlm_stack stack);
/* Number of such layers of both stacks above a layer, where the decoder is above the encoder: 0 for the top layer and for
 * XLM_STACK_NONE, all for the embeddings, those of the decoder for its own embeddings. */
int64_t xlm_layers_above(const xlm_model_config *config, xlm_layer layer);

/* The layer of a parameter, by its name; of a parameter of an adapter, the layer that it is beside. [out] rest: the part of the
 * name after the layer ("attention/query/weight"), or the whole name if it belongs to no layer. NULL: not wanted. */
xlm_layer xlm_layer_of(const char *parameter, const char **rest);

/* Is the parameter one of the norm after the last layer of a stack (final_norm)? It is of no layer. */
bool xlm_layer_is_final_norm(const char *parameter, xlm_stack stack);

/* The name of a block of the layer, "encoder/layer.3/attention"; layer.shared if all layers have the same weights. [out] name:
 * [size]. */
void xlm_layer_name(const xlm_model_config *config, xlm_layer layer, const char *block, char *name, size_t size);
/* The name of a part that both stacks read, "embeddings/word" or "lm_head", for a stack: "decoder/embeddings/word" for a decoder
 * that has its own (share_embeddings = false). [out] name: [XLM_PART_NAME], returned. */
enum { XLM_PART_NAME = 64 };
const char *xlm_part_name(const xlm_model_config *config, xlm_stack stack, const char *part, char name[XLM_PART_NAME]);
/* The name of a parameter without the prefix of the decoder's own embeddings and head: "embeddings/word/weight" for
 * "decoder/embeddings/word/weight". Other names are returned unchanged. A pointer into `parameter`. */
const char *xlm_part_of(const char *parameter);
/* Has the parameter, of an encoder or a decoder, a row for each language? */
bool xlm_part_is_of_languages(const char *parameter);

/* The name of the stack: "encoder", "decoder", or "" if it is none. */
const char *xlm_stack_name(xlm_stack stack);

#endif
