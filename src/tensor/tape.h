/* xlm-mpi: what authors of operators use of the tape. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An operator is one file: a state struct for the backward pass, forward, backward, the public function.
 *
 *     struct state { xlm_tape *tape; xlm_var *x, *y; ... };
 *     static void backward(void *pointer)
 *     {
 *         struct state *s = pointer;
 *         const xlm_grad dx = xlm_grad_open(s->x);   // .at NULL: not wanted; .add: add to what is there, else assign
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
 * operator that made the variable has run backward; then it serves another variable. It is not cleared beforehand: the
 * first operator assigns, the others add (xlm_grad_open says which); so it is with parameters' (xlm_tape_clear). An operator
 * whose dx_i needs nothing but dy_i may work in dy's own memory (xlm_grad_open_in_place), and one whose dx is dy hands it on
 * without a copy (xlm_grad_pass).
 *
 * Threads. Loops over rows are plain `omp parallel for schedule(static)`, with `if (elements > XLM_PARALLEL)`. What one
 * thread writes must not depend on which thread it is: a sum over rows is made chunk by chunk of XLM_CHUNK rows, each
 * into its own line of a [xlm_chunks(rows) x cols] array, and xlm_sum_chunks adds the lines in their order. */
#ifndef XLM_TENSOR_TAPE_H
#define XLM_TENSOR_TAPE_H

#include <xlm/tape.h>

#include <glib.h>

#include "base/rng.h"
#include "tensor/variable.h"

#define XLM_TAPE_TAKE(tape, type, n) ((type *)xlm_tape_take((tape), sizeof(type) * (uint64_t)(n)))

/* Memory as of xlm_tape_take for what kernels alone read and write. A tape of shapes (tensor/parameters.h) counts it: there is no
 * memory at that address, and none in variables, in their gradients and in what is borrowed. */
void *xlm_tape_take_numbers(xlm_tape *tape, uint64_t bytes);
#define XLM_TAPE_NUMBERS(tape, type, n) ((type *)xlm_tape_take_numbers((tape), sizeof(type) * (uint64_t)(n)))
/* False for a variable of a tape of shapes: an operator then takes and borrows all that it would, in the same order, and leaves
 * its kernels out, forwards and backwards. Products that it does not leave to tensor/products.h it counts (xlm_gemm_count). */
bool xlm_var_has_numbers(const xlm_var *x);

/* As xlm_operator, but backward asks for its inputs' gradients with the functions below, and nothing is cleared for it.
 * name: for messages ("linear"); a constant. y->keys are those of the first input with as many rows that has some; the
 * caller may set others. When y->grad is NULL backward will not be called. */
xlm_var *xlm_tape_record(xlm_tape *tape, const char *name, int64_t rows, int64_t cols, int n, xlm_var *const *inputs,
                         xlm_backward *backward, void *state);

/* Which variables of an operator may be there in bfloat16 alone (tensor/variable.h): its inputs; and whether its result is. */
typedef struct xlm_tape_rounded {
    bool inputs, result;
} xlm_tape_rounded;
/* As xlm_tape_record, where neither is so. */
xlm_var *xlm_tape_record_rounded(xlm_tape *tape, const char *name, int64_t rows, int64_t cols, int n, xlm_var *const *inputs,
                                 xlm_backward *backward, void *state, xlm_tape_rounded rounded);

/* For the profile: bytes that the operator recorded last moves in its forward pass, instead of the floats of all of its inputs
 * and its result, or of what is there in bfloat16 alone. For its backward pass twice as many are assumed: operands again,
 * gradients of the result and of the inputs. */
void xlm_tape_moves(xlm_tape *tape, double bytes);

/* End the program: the caller of an operator made a mistake. */
void xlm_tape_fail(const char *operator_name, const char *format, ...) G_GNUC_PRINTF(2, 3) G_GNUC_NORETURN;

/* ---- gradients, inside backward functions ---- */

typedef struct xlm_grad {
    xlm_real *at; /* [rows x cols]; NULL: no gradient is wanted */
    bool add;     /* false: nothing is there yet, every element must be assigned */
} xlm_grad;

xlm_grad xlm_grad_open(xlm_var *x);
/* The same for x and y of one shape, when element i of dx depends on dy at i alone: at may be y->grad itself, and then add
 * is false. y->grad must not be read again after it was overwritten. */
xlm_grad xlm_grad_open_in_place(xlm_var *x, xlm_var *y);
/* Always to be added to: cleared when nothing was there. NULL when not wanted. */
xlm_real *xlm_grad_add(xlm_var *x);
/* dx += dy; x and y of one shape. Most often without touching memory. */
void xlm_grad_pass(xlm_var *x, xlm_var *y);

/* ---- how operators are recorded ---- */

/* xlm_tape_begin sets the parameters' own values, gradients, its own `training`, and 0 for both numbers. */
typedef struct xlm_tape_mode {
    xlm_real *values; /* the flat array that parameters are read from; NULL: the parameters' own */
    bool gradient;    /* false: results of parameters are constants */
    bool training;    /* dropout is on */
    uint32_t site;    /* number of the next call that draws */
    uint32_t draws;   /* number of the key that is drawn with; 0: the one of xlm_tape_begin */
    bool rows_alone;  /* a product of a row with a parameter has the same bits however many rows there are */
} xlm_tape_mode;
xlm_tape_mode xlm_tape_get_mode(const xlm_tape *tape);
/* For all operators from now on; variables of parameters must be asked for again. The backward pass is the same in any mode. */
void xlm_tape_set_mode(xlm_tape *tape, xlm_tape_mode mode);
/* The pass has gradients, but this parameter, which is frozen, has none. */
bool xlm_tape_is_frozen(const xlm_tape *tape, const char *parameter);
/* x, a variable without gradient, as if xlm_constant had made it: where constants are repeated (xlm_tape_constants), the values
 * of the pass before; without a copy otherwise. */
xlm_var *xlm_tape_hold(xlm_tape *tape, xlm_var *x);

/* ---- memory for the duration of a pass, taken over ---- */

/* For the operator that made y: its backward pass reads y's gradient alone, so that y's value may go once it was used. */
void xlm_tape_passing(xlm_var *y);
/* For an operator just recorded that has z among its inputs and keeps something of z's shape: memory for that. z's own,
 * when its value is passing and this is the first operator that takes z; it may be overwritten then as it is read, z->value
 * is NULL, and an operator that takes z later ends the program. Else memory that is new. */
xlm_real *xlm_tape_take_over(xlm_var *z);

/* ---- memory for the duration of a function ---- */

/* Like xlm_tape_take, but may be given back before the pass ends. Not from inside parallel regions. */
void *xlm_tape_borrow(xlm_tape *tape, uint64_t bytes);
void xlm_tape_return(xlm_tape *tape, void *borrowed);

#define XLM_TAPE_BORROW(tape, type, n) ((type *)xlm_tape_borrow((tape), sizeof(type) * (uint64_t)(n)))

/* ---- segments: memory for time (Chen, Xu, Zhang, Guestrin 2016) ---- */

/* A part of a network with one input and one result of as many rows. It must do the same at each call. */
typedef xlm_var *xlm_segment(xlm_tape *tape, xlm_var *x, const void *data);

/* y = run(tape, x, data), with x's keys. When the tape recomputes (xlm_tape_recompute), nothing else that run makes is
 * kept: it is run again in the backward pass, with the same draws, and to the same bits; y has floats alone then. data must live
 * as long as the pass. A segment inside of a segment is a part of that. */
xlm_var *xlm_tape_segment(xlm_tape *tape, xlm_var *x, xlm_segment *run, const void *data);

/* work(tape, data), without gradient: the memory of all that it takes and records is given back when it returns, so that many
 * calls in one pass need no more memory than one. It must leave its results in memory that was taken before. */
typedef void xlm_work(xlm_tape *tape, void *data);
void xlm_tape_work_inside(xlm_tape *tape, xlm_work *work, void *data);

/* ---- random draws ---- */

/* Where an operator draws: call once per operator call that draws, in forward, and keep it for the backward pass. */
typedef struct xlm_site {
    xlm_rng_key key;
    uint32_t site; /* c1 of the counter: number of the call on this tape since xlm_tape_begin, repetitions not counted */
} xlm_site;
xlm_site xlm_tape_site(xlm_tape *tape);

/* A decision to keep an element is made on 16 random bits: u >= threshold, and what is kept is multiplied by scale. */
typedef struct xlm_keep {
    uint32_t threshold; /* round(65536 p); 0: keep all */
    xlm_real scale;     /* 65536 / (65536 - threshold) */
} xlm_keep;
xlm_keep xlm_keep_rate(double p);

/* Key of row i of x: its own, or (0, i). */
static inline xlm_row_key xlm_row_key_of(const xlm_var *x, int64_t i)
{
    return x->keys != NULL ? x->keys[i] : (xlm_row_key){.instance = 0, .position = (uint32_t)i};
}

/* ---- sums over rows ---- */

enum {
    XLM_PARALLEL = 1 << 14, /* elements from which on threads are worth waking */
    XLM_CHUNK = 64          /* rows summed by one thread without interruption */
};

static inline int64_t xlm_chunks(int64_t rows) { return (rows + XLM_CHUNK - 1) / XLM_CHUNK; }

/* out[c] += Σ_k partial[k][c], k ascending. partial: [chunks x cols], out: [cols]. */
void xlm_sum_chunks(int64_t chunks, int64_t cols, const xlm_real *partial, xlm_real *out);

#endif
