/* xlm-mpi: the functions of the tape that operators use. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An operator is one file: a struct of state for the backward pass, a forward and a backward function, the public function.
 *
 *     struct state { xlm_tape *tape; xlm_var *x, *y; ... };
 *     static void backward(void *pointer)
 *     {
 *         struct state *s = pointer;
 *         const xlm_grad dx = xlm_grad_open(s->x);   // .at NULL: not wanted; .add: add to it, otherwise assign
 *         if (xlm_var_has_numbers(s->y))
 *             ...
 *     }
 *     xlm_var *xlm_thing(xlm_tape *tape, xlm_var *x)
 *     {
 *         struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
 *         xlm_var *y = xlm_tape_record(tape, "thing", rows, cols, 1, &x, backward, s);
 *         *s = (struct state){tape, x, y};
 *         if (xlm_var_has_numbers(y))
 *             ... fill in y->value ...
 *         return y;
 *     }
 *
 * Gradients. The memory of a variable's gradient exists from the first operator that adds to it in the backward pass until the
 * operator that made the variable has run backward; then another variable uses it. It is not cleared first: the first operator
 * assigns, the others add, as xlm_grad_open says. The same is true of gradients of parameters after xlm_tape_clear. An operator
 * whose dx_i depends only on dy_i may compute dx in the memory of dy (xlm_grad_open_in_place), and one whose dx is dy passes it
 * on without a copy (xlm_grad_pass).
 *
 * Threads. Loops over rows are plain `omp parallel for schedule(static)`, with `if (elements > XLM_PARALLEL)`. Results must not
 * depend on the number of threads: a sum over rows is computed in chunks of XLM_CHUNK rows, each into its own row of a
 * [xlm_chunks(rows) x cols] array, and xlm_sum_chunks adds these rows in their order. */
#ifndef XLM_TENSOR_TAPE_H
#define XLM_TENSOR_TAPE_H

#include <xlm/tape.h>

#include <glib.h>

#include "base/rng.h"
#include "tensor/variable.h"

#define XLM_TAPE_TAKE(tape, type, n) ((type *)xlm_tape_take((tape), sizeof(type) * (uint64_t)(n)))

/* Like xlm_tape_take, for memory that only kernels read and write. A tape of shapes (tensor/parameters.h) only counts it: there
 * is no memory at the address that is returned. The same is true of variables, their gradients and borrowed memory. */
void *xlm_tape_take_numbers(xlm_tape *tape, uint64_t bytes);
#define XLM_TAPE_NUMBERS(tape, type, n) ((type *)xlm_tape_take_numbers((tape), sizeof(type) * (uint64_t)(n)))
/* False for a variable of a tape of shapes. An operator must then take and borrow the same memory as otherwise, in the same
 * order, but call no kernels, in the forward and in the backward pass. It must count the products (xlm_gemm_count) that it does
 * not compute with tensor/products.h, which counts its own. */
bool xlm_var_has_numbers(const xlm_var *x);

/* Like xlm_operator, but `backward` must open the gradients of its inputs itself, with the functions below. name: a constant
 * string for messages and the profile ("linear"). y->keys are those of the first input that has as many rows and has keys; the
 * caller may set others. If y->grad is NULL, `backward` will not be called. */
xlm_var *xlm_tape_record(xlm_tape *tape, const char *name, int64_t rows, int64_t cols, int n, xlm_var *const *inputs,
                         xlm_backward *backward, void *state);

/* Variables of an operator that exist only in bfloat16 (tensor/variable.h): inputs may be, the result is. */
typedef struct xlm_tape_rounded {
    bool inputs, result;
} xlm_tape_rounded;
/* Like xlm_tape_record, for which both are false. */
xlm_var *xlm_tape_record_rounded(xlm_tape *tape, const char *name, int64_t rows, int64_t cols, int n, xlm_var *const *inputs,
                                 xlm_backward *backward, void *state, xlm_tape_rounded rounded);

/* For the profile: set the number of bytes that the operator recorded last moves in its forward pass. The default is the size of
 * all of its inputs and its result. For its backward pass twice as many are assumed: the operands again, and the gradients of the
 * result and of the inputs. */
void xlm_tape_moves(xlm_tape *tape, double bytes);

/* End the program with a message, because the caller of an operator made a mistake. */
void xlm_tape_fail(const char *operator_name, const char *format, ...) G_GNUC_PRINTF(2, 3) G_GNUC_NORETURN;
/* The same unless both have the same shape. */
void xlm_tape_check_shapes(const char *operator_name, const xlm_var *a, const xlm_var *b);

/* ---- gradients, inside backward functions ---- */

typedef struct xlm_grad {
    xlm_real *at; /* [rows x cols]; NULL: no gradient is wanted */
    bool add;     /* true: add to it; false: it has no values yet, and every element must be assigned */
} xlm_grad;

/* The gradient of x, an input of the operator. */
xlm_grad xlm_grad_open(xlm_var *x);
/* The same if x and y have the same shape and element i of dx depends only on element i of dy: `at` may be y->grad itself, and
 * `add` is then false. An element of y->grad must not be read after it has been overwritten. */
xlm_grad xlm_grad_open_in_place(xlm_var *x, xlm_var *y);
/* The same, but always to be added to: cleared first if it has no values yet. NULL: no gradient is wanted. */
xlm_real *xlm_grad_add(xlm_var *x);
/* dx += dy for x and y of the same shape, usually without moving memory. */
void xlm_grad_pass(xlm_var *x, xlm_var *y);

/* ---- how operators are recorded ---- */

/* At the beginning of a pass, `values` is NULL, `gradient` true, `training` that of xlm_tape_begin, and the rest 0. */
typedef struct xlm_tape_mode {
    xlm_real *values; /* the flat array that parameters are read from; NULL: the values of the parameters themselves */
    bool gradient;    /* false: parameters have no gradient, so what is computed from them is constant */
    bool training;    /* dropout is on */
    uint32_t site;    /* number of the next call that draws */
    uint32_t draws;   /* number of the key for draws; 0: the key of xlm_tape_begin */
    bool rows_alone;  /* a product of a row with a parameter has the same bits however many rows there are */
} xlm_tape_mode;
xlm_tape_mode xlm_tape_get_mode(const xlm_tape *tape);
/* Applies to all operators from now on; variables of parameters must be asked for again. The backward pass does not depend on the
 * mode in which it runs. */
void xlm_tape_set_mode(xlm_tape *tape, xlm_tape_mode mode);
/* Does the pass have gradients, but not for this parameter, because it is frozen? */
bool xlm_tape_is_frozen(const xlm_tape *tape, const char *parameter);
/* x, which has no gradient, as if xlm_constant had made it: a copy with the kept values if constants are repeated
 * (xlm_tape_constants), otherwise x itself. */
xlm_var *xlm_tape_hold(xlm_tape *tape, xlm_var *x);

/* ---- memory of a value that is taken over by a later operator ---- */

/* For the operator that made y: its backward pass does not read the value of y, so the next operator may overwrite that. */
void xlm_tape_passing(xlm_var *y);
/* For an operator that has just been recorded with z as an input, and keeps an array of the shape of z: memory for this array. If
 * z is passing, is in the arena that is taken from now, and no other operator has read it, this is the memory of z->value;
 * z->value is then NULL, each element may be overwritten after it has been read, and a later operator that reads z ends the
 * program. Otherwise it is new memory. */
xlm_real *xlm_tape_take_over(xlm_var *z);

/* ---- memory for the duration of a function ---- */

/* Like xlm_tape_take, but to be given back before the pass ends. Not from inside parallel regions. */
void *xlm_tape_borrow(xlm_tape *tape, uint64_t bytes);
void xlm_tape_return(xlm_tape *tape, void *borrowed);

#define XLM_TAPE_BORROW(tape, type, n) ((type *)xlm_tape_borrow((tape), sizeof(type) * (uint64_t)(n)))

/* ---- segments: less memory for more time (Chen, Xu, Zhang, Guestrin 2016) ---- */

/* A part of a network with one input and one result of as many rows. It must compute the same at each call. */
typedef xlm_var *xlm_segment(xlm_tape *tape, xlm_var *x, const void *data);

/* y = run(tape, x, data), with the keys of x. If the tape recomputes (xlm_tape_recompute), or without gradient, nothing else that
 * `run` makes is kept, and y exists only in floats; for the backward pass `run` is called again, with the same draws and results.
 * data must be valid until the pass ends. A segment inside another one is a part of it. */
xlm_var *xlm_tape_segment(xlm_tape *tape, xlm_var *x, xlm_segment *run, const void *data);

/* Call work(tape, data) without gradient. All memory that it takes is given back when it returns, so that many calls in one pass
 * need no more memory than one. It must leave its results in memory that was taken before. Not inside a segment. */
typedef void xlm_work(xlm_tape *tape, void *data);
void xlm_tape_work_inside(xlm_tape *tape, xlm_work *work, void *data);

/* ---- random draws ---- */

/* The place in a network where an operator draws. To be taken once per call of an operator that draws, in the forward pass, and
 * kept for the backward pass. */
typedef struct xlm_site {
    xlm_rng_key key;
    uint32_t site; /* second word of the counter: number of the call in this encoding; the same when a segment is run again */
} xlm_site;
xlm_site xlm_tape_site(xlm_tape *tape);

/* An element is kept if 16 random bits u are >= threshold, and then multiplied by scale. */
typedef struct xlm_keep {
    uint32_t threshold; /* round(65536 p); 0: keep all */
    xlm_real scale;     /* 65536 / (65536 - threshold) */
} xlm_keep;
xlm_keep xlm_keep_rate(double p);

/* Key of row i of x; if x has no keys, (0, i). */
static inline xlm_row_key xlm_row_key_of(const xlm_var *x, int64_t i)
{
    return x->keys != NULL ? x->keys[i] : (xlm_row_key){.instance = 0, .position = (uint32_t)i};
}

/* ---- sums over rows ---- */

enum {
    XLM_PARALLEL = 1 << 14, /* with more elements, several threads are faster than one */
    XLM_CHUNK = 64          /* rows of a partial sum, which one thread computes */
};

static inline int64_t xlm_chunks(int64_t rows) { return (rows + XLM_CHUNK - 1) / XLM_CHUNK; }

/* out[c] += Σ_k partial[k][c], k ascending. partial: [chunks x cols], out: [cols]. */
void xlm_sum_chunks(int64_t chunks, int64_t cols, const xlm_real *partial, xlm_real *out);

#endif
