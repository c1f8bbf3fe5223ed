/* xlm-mpi: the named parameters of a model, in one flat array. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All parameters are in one flat array of `size` reals, in the order of their declaration. Each parameter, or each stack of them,
 * starts at a multiple of 16 reals; the gaps are always zero. Gradients and moments of the optimiser are arrays of the same
 * layout, so that ranks exchange and update one array. */
#ifndef XLM_TENSOR_PARAMETERS_H
#define XLM_TENSOR_PARAMETERS_H

#include <xlm/tape.h>

#include "base/arena.h"
#include "gemm/packed.h"
#include "tensor/profile.h"

typedef enum {
    XLM_INIT_ZERO,
    XLM_INIT_ONE,
    XLM_INIT_NORMAL, /* N(0, 0.02²) */
    XLM_INIT_UNIFORM /* U(−1/√cols, 1/√cols), as PyTorch draws linear layers (He et al. 2015, with a = √5) */
} xlm_init;

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

/* Declare a parameter; only before xlm_parameters_seal. name: copied. Returns its index. A name that is declared twice ends the
 * program. */
int xlm_parameters_add(xlm_parameters *p, const char *name, int64_t rows, int64_t cols, xlm_init init, bool decay);
/* Declare n parameters of the same shape without gaps between them, so that xlm_param_stack can treat them as one matrix. Returns
 * the index of the first. */
int xlm_parameters_add_stack(xlm_parameters *p, int n, const char *const *names, int64_t rows, int64_t cols,
                             xlm_init init, bool decay);
/* Set the rate of a parameter, which is 1 by default; those of a stack must be frozen together. Call it before the first pass,
 * from which on frozen values must stay as they are. */
void xlm_parameters_set_rate(xlm_parameters *p, int index, double rate);
/* Before sealing: put the frozen parameters in front of all others, otherwise in the order of their declaration. */
void xlm_parameters_put_frozen_first(xlm_parameters *p);
/* Where the others begin: what is before is frozen. 0 until xlm_parameters_put_frozen_first has been called. */
int64_t xlm_parameters_learning(const xlm_parameters *p);
/* Allocate the values (zeros). */
void xlm_parameters_seal(xlm_parameters *p);
/* Set the initial values. Each value depends only on the seed, the name of the parameter and the number of the element. */
void xlm_parameters_initialise(xlm_parameters *p, uint64_t seed);

/* Elements [first, first + n) of the initial values of a parameter, to values[n]; also before sealing. */
void xlm_parameter_draw(const xlm_parameter *parameter, uint64_t seed, int64_t first, int64_t n, xlm_real *values);

int xlm_parameters_count(const xlm_parameters *p);
const xlm_parameter *xlm_parameters_get(const xlm_parameters *p, int index);
int xlm_parameters_find(const xlm_parameters *p, const char *name); /* index; -1 if there is none */
int64_t xlm_parameters_size(const xlm_parameters *p);     /* reals in the flat array, gaps included; also before sealing */
int64_t xlm_parameters_elements(const xlm_parameters *p); /* without the gaps */
xlm_real *xlm_parameters_values(const xlm_parameters *p);

/* n parameters declared with xlm_parameters_add_stack, the first of which is `first`, as one (n·rows) x cols variable;
 * for 1-row parameters (biases) as 1 x (n·cols). */
xlm_var *xlm_param_stack(xlm_tape *tape, const char *first, int n);

/* ---- the trainer's side of the tape ---- */

/* parameters: borrowed as long as the tape lives. */
xlm_tape *xlm_tape_new(xlm_parameters *parameters);
/* A tape that runs the same operators on shapes alone: memory for numbers is counted (xlm_tape_peak_bytes) but not allocated,
 * kernels are not called, and parameters need not be sealed. The cost of products is counted as if they were computed
 * (xlm_gemm_flops, xlm_profile). Functions of plugins get meaningless numbers: variables are read as pseudo-random numbers in
 * [-1, 1), scores as 0, gradients as 0. */
xlm_tape *xlm_tape_new_of_shapes(xlm_parameters *parameters);
/* The same for the parameters of another tape, with products computed as there (xlm_tape_multiply_by). */
xlm_tape *xlm_tape_new_of_shapes_like(const xlm_tape *tape);
/* Is it such a tape, whose operators compute nothing? */
bool xlm_tape_is_of_shapes(const xlm_tape *tape);
/* To be given to a tape of shapes in place of an array in the layout of the parameters: gradients, averages. */
#define XLM_NO_NUMBERS ((xlm_real *)XLM_NOWHERE)
void xlm_tape_free(xlm_tape *tape);
/* Start a pass. All variables and memory of the last pass become invalid. gradients: flat array that the gradients of parameters
 * are added to; NULL: no gradients are computed. training: dropout is on. seed, step: of the draws. */
void xlm_tape_begin(xlm_tape *tape, xlm_real *gradients, bool training, uint64_t seed, uint64_t step);
/* Before a pass: treat gradients[size] as zeros, whatever they contain. In the passes from now on, until
 * xlm_tape_clear_untouched, the first gradient of a parameter is assigned instead of added, which is cheaper than clearing the
 * array. */
void xlm_tape_clear(xlm_tape *tape, xlm_real *gradients);
/* Write zeros to those gradients from gradients[from] on, of xlm_tape_clear, that were not assigned; not to those of frozen
 * parameters in front of the others (xlm_parameters_learning). `from` must not be inside a parameter. */
void xlm_tape_clear_untouched(xlm_tape *tape, int64_t from);
/* Add `factor` to the gradient of a 1 x 1 variable, which becomes a root of the backward pass. */
void xlm_tape_seed(xlm_tape *tape, xlm_var *loss, double factor);
/* In the backward pass of this pass, call complete(data, from) after each operator: nothing more will be added to gradients[from,
 * size). `from` never rises, and is 0 at the end. */
typedef void xlm_tape_complete(void *data, int64_t from);
void xlm_tape_on_completion(xlm_tape *tape, xlm_tape_complete *complete, void *data);
/* From now on call need(data, from, end) before an operator is given the values of parameters [from, end), which must be there
 * when it returns, and may not have been before; NULL: they are always there. */
typedef void xlm_tape_need(void *data, int64_t from, int64_t end);
void xlm_tape_on_need(xlm_tape *tape, xlm_tape_need *need, void *data);
/* The backward pass: operators in reverse order. */
void xlm_tape_backward(xlm_tape *tape);
/* Between passes: set how products with parameters are computed. packs: by oneDNN in this precision, which needs memory for a
 * second and a third copy of the parameters of linear layers, and xlm_packed_lacks must be NULL; else by BLIS in floats, which is
 * the default. Gradients, sums and everything that is not a product with a parameter are floats in any case. */
void xlm_tape_multiply_by(xlm_tape *tape, bool packs, xlm_precision precision);
/* Between passes. hold: parameters, and averages that passes read in their place, do not change until this is called again, so
 * that their packed copies stay valid; else parameters that are not frozen are packed again after each xlm_tape_begin. */
void xlm_tape_hold_parameters(xlm_tape *tape, bool hold);
/* From now on add the time of operators to this profile, which is borrowed; NULL: to none. */
void xlm_tape_profile(xlm_tape *tape, xlm_profile *profile);
/* Between passes: switch activation checkpointing on or off. With it, only the results of segments (tensor/tape.h) are kept, and
 * the segments are recomputed in the backward pass. Off by default. */
void xlm_tape_recompute(xlm_tape *tape, bool recompute);
/* For gradient checks, which compare passes over changed parameters with a pass that computed a gradient: the results of
 * xlm_constant have no gradient, so they must not change. KEEP: the next pass keeps all constants, in the order of the calls.
 * REPEAT: in passes after it, constants have the kept values, whatever values are given; a shape that differs from the kept one
 * ends the program. FREE, the default: neither. */
typedef enum { XLM_CONSTANTS_FREE, XLM_CONSTANTS_KEEP, XLM_CONSTANTS_REPEAT } xlm_tape_constants_mode;
void xlm_tape_constants(xlm_tape *tape, xlm_tape_constants_mode mode);
/* Before the first pass: allocate memory for passes of that many bytes. Without this, the tape grows by itself, but then it
 * touches new memory twice. */
void xlm_tape_reserve(xlm_tape *tape, uint64_t bytes);
/* The maximum number of bytes that a pass has taken so far, including what was recomputed. */
uint64_t xlm_tape_peak_bytes(const xlm_tape *tape);

#endif
