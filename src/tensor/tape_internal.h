/* xlm-mpi: inside the tape. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For tape.c (variables, the list of operators), tape_segment.c, backward.c (gradients, the backward pass), products.c and
 * variable_values.c alone. */
#ifndef XLM_TENSOR_TAPE_INTERNAL_H
#define XLM_TENSOR_TAPE_INTERNAL_H

#include "base/arena.h"
#include "gemm/packed.h"
#include "tensor/parameters.h"
#include "tensor/tape.h"

/* Memory that is reused within a pass: gradients, and what operators borrow. The header is right before it. */
typedef struct buffer {
    uint64_t size;
    int32_t holders;     /* variables whose gradient this is; 0 when free */
    struct buffer *next; /* in the list of free ones */
    void *bytes;
} buffer;

enum { HEADER = 64 };
_Static_assert(sizeof(buffer) <= HEADER, "the header of a buffer keeps its alignment");

/* Every xlm_var handed out is the first member of one of these. */
typedef struct variable {
    xlm_var var;
    xlm_tape *tape;
    const xlm_arena *arena; /* that it lives in */
    bool leaf;    /* a parameter, or several of one stack: grad is the caller's */
    int first, n; /* of a leaf: which parameters */
    bool passing; /* its value may be overwritten by the only operator that takes it */
    int32_t uses; /* as an operator's input */
    int64_t end;  /* of a parameter in the flat array; else 0 */
} variable;

typedef struct operation {
    const char *name;
    double bytes; /* that its forward pass moves */
    int64_t end;  /* in the flat array, of the parameters that this and earlier operators add gradients to */
    xlm_backward *backward;
    void *state;
    xlm_var *y;
    int inputs;
    xlm_var **input; /* NULL for operators that open their inputs' gradients themselves */
} operation;

struct xlm_tape {
    xlm_arena *arena;    /* what lasts for the pass, and the buffers */
    xlm_arena *inside;   /* results inside of the segment at hand, when segments are recomputed */
    xlm_arena *taking;   /* the one of the two that is taken from */
    bool recompute;
    xlm_parameters *parameters;
    xlm_real *gradients;
    bool *empty;         /* [parameters] nothing was added to its gradient since xlm_tape_clear */
    int maybe_empty;     /* parameters before this number may be empty, those from it on are not */
    xlm_rng_key key;
    xlm_tape_mode mode;
    GArray *operations;  /* of operation */
    GPtrArray *leaves;   /* xlm_var of parameter i, or NULL when it was not asked for yet */
    xlm_tape_constants_mode constants;
    GPtrArray *kept;     /* GBytes: constants of a pass, in the order of the calls; NULL: none */
    guint repeated;      /* of those, in this pass */
    buffer *free;
    GHashTable *buffers; /* of a tape of shapes: buffer by its address; else NULL */
    GHashTable *lent;    /* of a tape of shapes: gradients that the function of a plugin has asked for, by variable */
    xlm_tape_complete *complete;
    void *complete_data; /* complete's first argument */
    xlm_profile *profile;
    bool recorded;       /* the operator called last is in operations: a gradient is wanted */
    double bytes;        /* of the operator called last */
    bool packs;          /* products with parameters are made by oneDNN */
    xlm_precision precision;
    bool holds;          /* parameters stay as they are from pass to pass */
    uint64_t parameter_state; /* a number that changes when they may have changed */
    GHashTable *packed;  /* parameters (products.c); NULL: none yet */
    xlm_packed *packed_rows; /* of activations, for one product at a time */
};

/* What grad points to when a gradient is wanted and nothing has been added yet. Read-only, so that a write is caught. */
extern const xlm_real tape_no_gradient[1];
#define NOTHING ((xlm_real *)tape_no_gradient)

static inline variable *inner(xlm_var *x) { return (variable *)x; }
static inline uint64_t bytes_of(const xlm_var *x) { return sizeof(xlm_real) * (uint64_t)x->rows * (uint64_t)x->cols; }

/* What is borrowed, by its address. */
static inline buffer *header_of(const xlm_tape *tape, const void *bytes)
{
    return tape->buffers != NULL ? g_hash_table_lookup(tape->buffers, bytes) : (buffer *)((uintptr_t)bytes - HEADER);
}

/* It computes nothing (xlm_tape_new_of_shapes). */
static inline bool of_shapes(const xlm_tape *tape) { return tape->buffers != NULL; }

/* Give the memory of x's gradient back. */
void tape_drop_gradient(xlm_var *x);
/* The backward pass of the operations from number `first` on, the last first. */
void tape_run_backward(xlm_tape *tape, guint first);
/* Of the last operation: see operation.end; 0: there is none. */
int64_t tape_end_of_last(const xlm_tape *tape);

#endif
