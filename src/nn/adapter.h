/* xlm-mpi: adapters of models. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   adapter.c     names of adapters, of their parameters and of the linear layers that they can be beside
 *   adapters.c    the table of kinds, and what a model does with all of its adapters
 *   lora.c        LoRA, beside linear layers
 *   bottleneck.c  bottleneck adapters, after feed-forward sublayers; invertible adapters, around a model
 *
 * A kind of adapter is a file with an xlm_adapter_class and a line in the table of adapters.c. Its settings are members of
 * xlm_adapter (xlm/model.h). Job files, files of models, checks and comparisons take them from its table of options. The
 * parameters of adapter NAME are named adapters/NAME/PART/..., where PART is the part of the model that they are at. */
#ifndef XLM_NN_ADAPTER_H
#define XLM_NN_ADAPTER_H

#include <xlm/model.h>
#include <xlm/options.h>

#include "base/error.h"
#include "nn/block.h"
#include "nn/layer.h"
#include "tensor/parameters.h"
#include "tensor/products.h"

enum { XLM_ADAPTER_TARGETS = 6, XLM_ADAPTER_PARAMETER = 256 };

/* ---- places, each an optional part of a class ---- */

/* Beside the linear layers within a layer of a stack that the adapter's targets name. What several adapters add is added up. */
typedef struct xlm_adapter_beside {
    const char *parameter; /* one of those that it has beside each */
    void (*declare)(const xlm_adapter *a, xlm_parameters *parameters, const char *linear, int64_t out, int64_t in);
    /* What it adds to the layer's result, n x out; x: n x in, what the layer reads. */
    xlm_var *(*apply)(const xlm_adapter *a, xlm_tape *tape, const char *linear, xlm_var *x);
    /* Add it to the layer's weight, out x in, so that the layer alone computes the same. all: the values of the adapter. NULL:
     * it is not linear. */
    void (*merge)(const xlm_adapter *a, const xlm_parameters *all, const char *linear, int64_t out, int64_t in,
                  xlm_real *weight);
} xlm_adapter_beside;

/* After the feed-forward sublayer of each layer. Each adapter takes what the one before it made. */
typedef struct xlm_adapter_after {
    const char *parameter; /* one of those that it has after each */
    void (*declare)(const xlm_adapter *a, const xlm_model_config *config, xlm_parameters *parameters, const char *block);
    /* What it makes of f, the result of the sublayer, which reads x. All n x d. */
    xlm_var *(*apply)(const xlm_adapter *a, const xlm_model *model, xlm_tape *tape, const xlm_sublayer *block, xlm_var *x,
                      xlm_var *f);
} xlm_adapter_after;

/* Around the stacks: it changes what the embeddings of tokens give, and what the head computes is changed back before the product
 * with the word embeddings, which are tied to those. Several are applied in their order, and taken back in the opposite one. */
typedef struct xlm_adapter_around {
    void (*declare)(const xlm_adapter *a, const xlm_model_config *config, xlm_parameters *parameters, xlm_stack stack);
    /* x: n x e, as is the result. back: x from what it made of x. */
    xlm_var *(*apply)(const xlm_adapter *a, const xlm_model *model, xlm_tape *tape, xlm_stack stack, xlm_var *x, bool back);
} xlm_adapter_around;

/* ---- kinds ---- */

typedef struct xlm_adapter_class {
    const char *name;           /* in job files and files of models */
    const char *help;           /* what it computes, for `kind` of --help-job */
    /* Its settings, into an xlm_adapter: keys of job files, and attributes of files of models. Adapters compute the same only if
     * all of these are the same. */
    const xlm_option *settings;
    bool has_relu;              /* differences of the loss are no measure of its gradients near 0 */
    /* Settings that are 0 because they were not given become those of `like`, an adapter of this name, or if it is NULL those
     * for a model of hidden size d. NULL: there are none. */
    void (*complete)(xlm_adapter *a, const xlm_adapter *like, int64_t d);
    /* Can the model have it? Its settings are complete and in their ranges. EX_CONFIG. NULL: every model can. */
    bool (*fits)(const xlm_adapter *a, const xlm_model_config *config, GError **error);
    const xlm_adapter_beside *beside; /* NULL: nothing is there */
    const xlm_adapter_after *after;
    const xlm_adapter_around *around;
} xlm_adapter_class;

/* By XLM_ADAPTER_...; NULL-terminated. */
extern const xlm_adapter_class *const xlm_adapter_classes[];

/* ---- names (adapter.c) ---- */

/* Names of the linear layers that adapters can be beside, by their bits in `targets`: the choices of an XLM_OPTION_SET. */
extern const char xlm_adapter_target_names[];
/* Bits as names with commas between, "query,value"; g_free. */
char *xlm_adapter_targets_print(uint32_t targets);
/* The target with bit 1 << i, within a layer of a stack: "attention/query". */
const char *xlm_adapter_target_linear(int i);
/* The target that a linear layer is, by its name or that of its weight; 0: none. */
uint32_t xlm_adapter_target_of(const char *linear);

/* Is it of letters, digits, _ and -, and not too long? */
bool xlm_adapter_is_name(const char *name);
/* The adapter of this name; NULL: none. */
const xlm_adapter *xlm_adapters_find(const xlm_adapters *adapters, const char *name);
/* The adapter that a parameter belongs to, by its name; NULL: to none. */
const xlm_adapter *xlm_adapters_of_parameter(const xlm_adapters *adapters, const char *parameter);
/* The name of a parameter of an adapter at a part of a model, such as a linear layer. what: "lora_a", "down/weight". */
const char *xlm_adapter_parameter(const xlm_adapter *adapter, const char *part, const char *what,
                                  char name[XLM_ADAPTER_PARAMETER]);

/* ---- what adapters are (adapters.c) ---- */

/* Are names (letters, digits, _ and -) and settings as they should be, and names different? EX_CONFIG. */
bool xlm_adapters_check(const xlm_adapters *adapters, GError **error);
/* Can the model have its adapters? EX_CONFIG. */
bool xlm_adapters_fit(const xlm_model_config *config, GError **error);
/* Complete settings that are 0 because they were not given: from another adapter of this name; for a model of hidden size d. */
void xlm_adapter_complete(xlm_adapter *adapter, const xlm_adapter *like);
void xlm_adapters_fill_in_sizes(xlm_adapters *adapters, int64_t d);
/* Do two adapters of one name compute the same with the same parameters? why: "rank = 4 there, 8 here"; g_free. NULL: yes. */
char *xlm_adapter_difference(const xlm_adapter *there, const xlm_adapter *here);
/* The name of a kind with ReLU that one of them is of; NULL: there is none. */
const char *xlm_adapters_with_relu(const xlm_adapters *adapters);

/* ---- what a model does with them (adapters.c) ---- */

/* Declare what adapters have beside a linear layer. */
void xlm_adapters_declare_beside(const xlm_model_config *config, xlm_parameters *parameters, const char *linear, uint32_t target,
                                 int64_t out, int64_t in);
/* Is an adapter beside one of these linear layers? */
bool xlm_adapters_are_beside(const xlm_model_config *config, uint32_t targets);
/* A linear layer whose result is in columns of a variable. */
typedef struct xlm_adapted_linear {
    const char *name;
    uint32_t target;
    int64_t column;
} xlm_adapted_linear;
/* y with what the adapters beside n linear layers add to it, which read x; then rotated (rotation; NULL: not). y: the result of
 * xlm_linear without rotation. */
xlm_var *xlm_adapters_apply_beside(const xlm_model *model, xlm_tape *tape, int n, const xlm_adapted_linear *linear, xlm_var *x,
                                   xlm_var *y, const xlm_rotation *rotation);

/* Is an adapter after feed-forward sublayers? */
bool xlm_adapters_are_after(const xlm_model_config *config);
/* Declare what they have after one. block: "encoder/layer.3/feed_forward". */
void xlm_adapters_declare_after(const xlm_model_config *config, xlm_parameters *parameters, const char *block);
/* What they make of f, the result of that sublayer, which reads x. Both n x d, as is the result. */
xlm_var *xlm_adapters_apply_after(const xlm_model *model, xlm_tape *tape, const xlm_sublayer *block, xlm_var *x, xlm_var *f);

/* Declare what they have around a stack. */
void xlm_adapters_declare_around(const xlm_model_config *config, xlm_parameters *parameters, xlm_stack stack);
/* x: n x e. back: x from what they made of x. */
xlm_var *xlm_adapters_apply_around(const xlm_model *model, xlm_tape *tape, xlm_stack stack, xlm_var *x, bool back);

/* Has the layer parameters of adapters that have gradients in this pass? */
bool xlm_adapters_learn(const xlm_model *model, const xlm_tape *tape, xlm_layer layer);

#endif
