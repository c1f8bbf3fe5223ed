/* xlm-mpi: the named parameters of a model, in one flat array. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All parameters are in one flat array of `size` reals, in the order of their declaration; each block of them starts at a
 * multiple of 16 reals (the gaps are always zero). A gradient or a moment of the optimiser is an array of the same layout, so
 * that exchange and update run over one array. */
#ifndef XLM_TENSOR_PARAMETERS_H
#define XLM_TENSOR_PARAMETERS_H

#include <xlm/tape.h>

#include "base/arena.h"
#include "gemm/packed.h"
#include "tensor/profile.h"

typedef enum { XLM_INIT_ZERO, XLM_INIT_ONE, XLM_INIT_NORMAL /* N(0, 0.02²) */ } xlm_init;

typedef struct xlm_parameter {
    char *name; /* "encoder/layer.0/attention/query/weight" */
    int64_t rows, cols;
    int64_t start;  /* of its values in the flat array */
    xlm_init init;
    bool decay;     /* weight decay applies: not on biases and LayerNorm */
    double rate;    /* factor of the learning rate; 0: frozen, it has no gradient and is never updated */
} xlm_parameter;

typedef struct xlm_parameters xlm_parameters;

xlm_parameters *xlm_parameters_new(void);
void xlm_parameters_free(xlm_parameters *p);

/* Declare a parameter; all before xlm_parameters_seal. Returns its index. A name declared twice ends the program. */
int xlm_parameters_add(xlm_parameters *p, const char *name, int64_t rows, int64_t cols, xlm_init init, bool decay);
/* Declare n parameters of the same shape without gaps between them, so that xlm_param_stack can treat them as one matrix. */
int xlm_parameters_add_stack(xlm_parameters *p, int n, const char *const *names, int64_t rows, int64_t cols,
                             xlm_init init, bool decay);
/* Set the rate of a parameter, which is 1 by default; those of a stack must be frozen together. Call it before the first pass. */
void xlm_parameters_set_rate(xlm_parameters *p, int index, double rate);
/* Allocate the values (zeros). */
void xlm_parameters_seal(xlm_parameters *p);
/* Initial values from the seed; each parameter's draws depend on its name and element alone. */
void xlm_parameters_initialise(xlm_parameters *p, uint64_t seed);

/* Elements [first, first + n) of the initial values of a parameter; need not be sealed. */
void xlm_parameter_draw(const xlm_parameter *parameter, uint64_t seed, int64_t first, int64_t n, xlm_real *values);

int xlm_parameters_count(const xlm_parameters *p);
const xlm_parameter *xlm_parameters_get(const xlm_parameters *p, int index);
int xlm_parameters_find(const xlm_parameters *p, const char *name); /* -1 when there is none */
int64_t xlm_parameters_size(const xlm_parameters *p);     /* reals in the flat array, gaps included; also before sealing */
int64_t xlm_parameters_elements(const xlm_parameters *p); /* without the gaps */
xlm_real *xlm_parameters_values(const xlm_parameters *p);

/* n parameters declared with xlm_parameters_add_stack, the first of which is `first`, as one (n·rows) x cols variable;
 * for 1-row parameters (biases) as 1 x (n·cols). */
xlm_var *xlm_param_stack(xlm_tape *tape, const char *first, int n);

/* ---- the trainer's side of the tape ---- */

xlm_tape *xlm_tape_new(xlm_parameters *parameters);
/* A tape that runs the same operators on shapes alone: memory for numbers is counted (xlm_tape_peak_bytes) but not allocated,
 * kernels are not called, and parameters need not be sealed. The cost of products is counted as if they were computed
 * (xlm_gemm_flops, xlm_profile). Functions of plugins get meaningless numbers: variables are read as pseudo-random numbers in
 * [-1, 1), scores as 0, gradients as 0. */
xlm_tape *xlm_tape_new_of_shapes(xlm_parameters *parameters);
/* One with the parameters of a tape, and their products made as there. */
xlm_tape *xlm_tape_new_of_shapes_like(const xlm_tape *tape);
/* It is such a tape, whose operators compute nothing. */
bool xlm_tape_has_shapes_alone(const xlm_tape *tape);
bool xlm_tape_is_of_shapes(const xlm_tape *tape);
/* For a tape of shapes, in place of an array of the parameters' layout: gradients, averages. */
#define XLM_NO_NUMBERS ((xlm_real *)XLM_NOWHERE)
void xlm_tape_free(xlm_tape *tape);
/* Start a pass; everything from the last pass is gone. gradients: flat array that parameter gradients are added to, or
 * NULL: no gradients at all. training: dropout is on. seed, step: of the draws. */
void xlm_tape_begin(xlm_tape *tape, xlm_real *gradients, bool training, uint64_t seed, uint64_t step);
/* Before a pass: take gradients[size] as zeros, whatever is there. In this pass and those after it, until
 * xlm_tape_clear_untouched, the first gradient of a parameter is assigned, not added: cheaper than to clear the array. */
void xlm_tape_clear(xlm_tape *tape, xlm_real *gradients);
/* From xlm_tape_clear's gradients[from] on, zeros where no gradient was assigned. `from` is not a place inside of a parameter. */
void xlm_tape_clear_untouched(xlm_tape *tape, int64_t from);
/* Add `factor` to the gradient of a 1 x 1 variable: one root of the backward pass. */
void xlm_tape_seed(xlm_tape *tape, xlm_var *loss, double factor);
/* In the backward pass, call complete(data, from) after each operator: gradients[from, size) of the parameters will not be
 * added to any more in it. `from` falls to 0 by the end. */
typedef void xlm_tape_complete(void *data, int64_t from);
void xlm_tape_on_completion(xlm_tape *tape, xlm_tape_complete *complete, void *data);
/* The backward pass: operators in reverse order. */
void xlm_tape_backward(xlm_tape *tape);
/* Between passes: how products with parameters are made. packs: by oneDNN, which takes memory for a second and a third copy of
 * the parameters of linear layers, in that precision, and for which xlm_packed_lacks must be NULL; else by BLIS, in floats. At
 * first by BLIS. Gradients, sums and all that is not a product with a parameter are floats in any case. */
void xlm_tape_multiply_by(xlm_tape *tape, bool packs, xlm_precision precision);
/* Between passes: from now on parameters, and averages that passes read in their place, stay as they are, until this is called
 * again; else what was packed of them is thrown away at each xlm_tape_begin. */
void xlm_tape_hold_parameters(xlm_tape *tape, bool hold);
/* Count the time of operators from now on in this profile (NULL: no more), which is the caller's. */
void xlm_tape_profile(xlm_tape *tape, xlm_profile *profile);
/* Between passes: activation checkpointing. Segments (tensor/tape.h) keep their results only and are recomputed in the backward
 * pass. Off at first. */
void xlm_tape_recompute(xlm_tape *tape, bool recompute);
/* For comparing passes over changed parameters with one that computed a gradient: what xlm_constant makes has none, so it must
 * not change. KEEP: in the pass that comes, keep all constants, in the order of the calls. REPEAT: in the passes after it,
 * constants are those, whatever values are given; other shapes in another order end the program. FREE, at first: neither. */
typedef enum { XLM_CONSTANTS_FREE, XLM_CONSTANTS_KEEP, XLM_CONSTANTS_REPEAT } xlm_tape_constants_mode;
void xlm_tape_constants(xlm_tape *tape, xlm_tape_constants_mode mode);
/* Before the first pass: room for passes of that many bytes, which the tape finds by itself else, at the cost of touching all its
 * memory for the first time twice. */
void xlm_tape_reserve(xlm_tape *tape, uint64_t bytes);
/* The most that a pass has taken, what was recomputed included. */
uint64_t xlm_tape_peak_bytes(const xlm_tape *tape);

#endif
