/* xlm-mpi: inside the tape. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Only for tape.c (variables, the list of operators), tape_segment.c, backward.c (gradients, the backward pass), products.c and
 * variable_values.c. */
#ifndef XLM_TENSOR_TAPE_INTERNAL_H
#define XLM_TENSOR_TAPE_INTERNAL_H

#include "base/arena.h"
#include "gemm/packed.h"
#include "tensor/parameters.h"
#include "tensor/tape.h"

/* Memory that is reused within a pass: gradients, and what operators borrow. This header is right before it, except on a tape of
 * shapes. */
typedef struct buffer {
    uint64_t size;
    int32_t holders;     /* number of variables whose gradient this is, or 1 if it is borrowed; 0: free */
    struct buffer *next; /* in the list of free buffers */
    void *bytes;
} buffer;

enum { HEADER = 64 };
_Static_assert(sizeof(buffer) <= HEADER, "the header of a buffer keeps its alignment");

/* Every xlm_var is the first member of one of these. */
typedef struct variable {
    xlm_var var;
    xlm_tape *tape;
    uint64_t pass;          /* in which it was made */
    const xlm_arena *arena; /* that it is in */
    bool leaf;    /* a parameter, or several of one stack: grad is memory of the caller of xlm_tape_begin */
    int first, n; /* of a leaf: index of the first parameter, their number */
    bool passing; /* the first operator that reads it may overwrite its value (xlm_tape_passing) */
    bool filled;  /* by the caller of xlm_operator, with xlm_var_write */
    int32_t uses; /* number of operators that it is an input of */
    int64_t end;  /* of a leaf: where it ends in the flat array; else 0 */
} variable;

typedef struct operation {
    const char *name;
    double bytes; /* that its forward pass moves */
    int64_t end;  /* where the last parameter that this or an earlier operator adds gradients to ends in the flat array */
    xlm_backward *backward;
    void *state;
    xlm_var *y;
    int inputs;
    xlm_var **input; /* [inputs] those whose gradients are opened before `backward`; none if it opens them itself */
} operation;

struct xlm_tape {
    xlm_arena *arena;    /* what lasts until the pass ends, and buffers */
    xlm_arena *inside;   /* results inside the present segment, if they are not kept */
    xlm_arena *taking;   /* the one of the two that xlm_tape_take takes from now */
    uint64_t pass;       /* number of calls of xlm_tape_begin */
    bool recompute;
    xlm_parameters *parameters;
    xlm_real *gradients;
    bool *empty;         /* [parameters] nothing was added to its gradient since xlm_tape_clear */
    int maybe_empty;     /* parameters before this number may be empty; those from it on are not */
    xlm_rng_key key;
    xlm_tape_mode mode;
    GArray *operations;  /* of operation */
    GPtrArray *leaves;   /* xlm_var of parameter i, or NULL if it has not been asked for yet */
    xlm_tape_constants_mode constants;
    GPtrArray *kept;     /* GBytes: constants of a pass, in the order of the calls; NULL: none */
    guint repeated;      /* number of those that this pass has repeated so far */
    buffer *free;
    GHashTable *buffers; /* of a tape of shapes: buffer by its address; else NULL */
    GHashTable *lent;    /* of a tape of shapes: gradients that the function of a plugin has asked for, by variable */
    xlm_tape_complete *complete;
    void *complete_data; /* complete's first argument */
    xlm_tape_need *need;
    void *need_data; /* need's first argument */
    xlm_profile *profile;
    bool recorded;       /* the operator called last is the last of operations, because a gradient is wanted */
    double bytes;        /* that the operator called last moves */
    bool packs;          /* products with parameters are computed by oneDNN */
    xlm_precision precision;
    bool holds;          /* parameters do not change from pass to pass (xlm_tape_hold_parameters) */
    uint64_t parameter_state; /* changes whenever they may have changed */
    uint64_t frozen_state;    /* changes whenever they are packed in another way */
    GHashTable *packed;  /* packed parameters (products.c); NULL: none yet */
    xlm_packed *packed_rows; /* packed activations, for one product at a time; NULL: none yet */
};

/* What `grad` points to if a gradient is wanted and nothing has been added yet. Read-only, so that a write ends the program. */
extern const xlm_real tape_no_gradient[1];
#define NOTHING ((xlm_real *)tape_no_gradient)

static inline variable *inner(xlm_var *x) { return (variable *)x; }
static inline uint64_t bytes_of(const xlm_var *x) { return sizeof(xlm_real) * (uint64_t)x->rows * (uint64_t)x->cols; }

/* The header of a buffer, by the address of its memory. */
static inline buffer *header_of(const xlm_tape *tape, const void *bytes)
{
    return tape->buffers != NULL ? g_hash_table_lookup(tape->buffers, bytes) : (buffer *)((uintptr_t)bytes - HEADER);
}

/* Does the tape compute nothing (xlm_tape_new_of_shapes)? */
static inline bool of_shapes(const xlm_tape *tape) { return tape->buffers != NULL; }

/* Give the memory of x's gradient back. */
void tape_drop_gradient(xlm_var *x);
/* Run the operations from number `first` on backward, the last one first. */
void tape_run_backward(xlm_tape *tape, guint first);
/* operation.end of the last operation; 0: there is none. */
int64_t tape_end_of_last(const xlm_tape *tape);

#endif
