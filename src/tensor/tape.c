/* xlm-mpi: the tape: variables, the list of operators, the backward pass. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/tape.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "tensor/kernels.h"
#include "tensor/parameters.h"

/* Elements that a thread takes at a time. */
enum { BLOCK = 1 << 12 };

/* Memory that is used by turns within a pass: gradients, and what operators borrow. The header stands right before it. */
typedef struct buffer {
    uint64_t size;
    int32_t holders;     /* variables whose gradient this is; 0 when free */
    struct buffer *next; /* in the list of free ones */
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
    xlm_arena *arena;    /* what lasts for the pass, and memory used by turns */
    xlm_arena *inside;   /* results inside of the segment at hand, when segments are recomputed */
    xlm_arena *taking;   /* the one of the two that is taken from */
    bool recompute;
    xlm_parameters *parameters;
    xlm_real *gradients;
    bool *empty;         /* [parameters] nothing has come to its gradient since xlm_tape_clear */
    int unsettled;       /* parameters before this number may be empty, those from it on are not */
    xlm_rng_key key;
    xlm_tape_mode mode;
    GArray *operations;  /* of operation */
    GPtrArray *leaves;   /* xlm_var of parameter i, or NULL when it was not asked for yet */
    xlm_tape_constants_mode constants;
    GPtrArray *kept;     /* GBytes: constants of a pass, in the order of the calls; NULL: none */
    guint repeated;      /* of those, in this pass */
    buffer *free;
    xlm_tape_complete *complete;
    void *watcher;
    xlm_profile *profile;
    bool remembers;      /* the operator recorded last stands in operations */
    double bytes;        /* of the operator recorded last */
};

/* What grad points to when a gradient is wanted and nothing has been added yet. Read-only, so that a write is caught. */
static const xlm_real nothing_yet[1];
static xlm_real *const NOTHING = (xlm_real *)nothing_yet;

static variable *inner(xlm_var *x) { return (variable *)x; }

static uint64_t bytes_of(const xlm_var *x) { return sizeof(xlm_real) * (uint64_t)x->rows * (uint64_t)x->cols; }

void xlm_tape_fail(const char *operator_name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_error("xlm_%s: %s", operator_name, text);
}

/* ---- life of a tape ---- */

xlm_tape *xlm_tape_new(xlm_parameters *parameters)
{
    xlm_tape *tape = g_new0(xlm_tape, 1);
    tape->arena = tape->taking = xlm_arena_new();
    tape->inside = xlm_arena_new();
    tape->parameters = parameters;
    tape->operations = g_array_new(FALSE, FALSE, sizeof(operation));
    tape->leaves = g_ptr_array_new();
    return tape;
}

void xlm_tape_free(xlm_tape *tape)
{
    if (tape == NULL)
        return;
    xlm_arena_free(tape->arena);
    xlm_arena_free(tape->inside);
    g_array_free(tape->operations, TRUE);
    g_ptr_array_free(tape->leaves, TRUE);
    xlm_tape_constants(tape, XLM_CONSTANTS_FREE);
    g_free(tape->empty);
    g_free(tape);
}

static void forget_leaves(xlm_tape *tape)
{
    g_ptr_array_set_size(tape->leaves, 0);
    g_ptr_array_set_size(tape->leaves, xlm_parameters_count(tape->parameters));
}

void xlm_tape_begin(xlm_tape *tape, xlm_real *gradients, bool training, uint64_t seed, uint64_t step)
{
    xlm_arena_reset(tape->arena);
    tape->free = NULL;
    tape->gradients = gradients;
    tape->mode = (xlm_tape_mode){.gradient = true, .training = training};
    tape->key = xlm_rng_make_key(seed, XLM_RNG_DROPOUT, step);
    tape->complete = NULL;
    tape->repeated = 0;
    g_array_set_size(tape->operations, 0);
    forget_leaves(tape);
}

xlm_tape_mode xlm_tape_get_mode(const xlm_tape *tape) { return tape->mode; }

void xlm_tape_set_mode(xlm_tape *tape, xlm_tape_mode mode)
{
    if (mode.values != tape->mode.values || mode.gradient != tape->mode.gradient)
        forget_leaves(tape);
    tape->mode = mode;
}

void xlm_tape_reserve(xlm_tape *tape, uint64_t bytes) { xlm_arena_reserve(tape->arena, bytes); }
void xlm_tape_recompute(xlm_tape *tape, bool recompute) { tape->recompute = recompute; }
bool xlm_tape_training(const xlm_tape *tape) { return tape->mode.training; }
void xlm_tape_profile(xlm_tape *tape, xlm_profile *profile) { tape->profile = profile; }
void *xlm_tape_take(xlm_tape *tape, uint64_t bytes) { return xlm_arena_take(tape->taking, bytes); }

uint64_t xlm_tape_peak_bytes(const xlm_tape *tape) { return xlm_arena_peak(tape->arena) + xlm_arena_peak(tape->inside); }

xlm_site xlm_tape_site(xlm_tape *tape) { return (xlm_site){.key = tape->key, .site = tape->mode.site++}; }

xlm_keep xlm_keep_rate(double p)
{
    if (!(p >= 0 && p < 1))
        xlm_tape_fail("dropout", "p = %g is not in [0, 1)", p);
    const uint32_t threshold = MIN((uint32_t)lrint(p * 65536), 65535u);
    return (xlm_keep){.threshold = threshold, .scale = (xlm_real)(65536.0 / (65536.0 - threshold))};
}

/* ---- memory used by turns ---- */

static buffer *header_of(const void *bytes) { return (buffer *)((uintptr_t)bytes - HEADER); }

void *xlm_tape_borrow(xlm_tape *tape, uint64_t bytes)
{
    /* The smallest free one that is not more than twice too large. Few sizes occur in a pass, so the list is short. */
    buffer **best = NULL;
    for (buffer **at = &tape->free; *at != NULL; at = &(*at)->next)
        if ((*at)->size >= bytes && (*at)->size / 2 <= bytes && (best == NULL || (*at)->size < (*best)->size))
            best = at;
    buffer *taken;
    if (best != NULL) {
        taken = *best;
        *best = taken->next;
    } else {
        taken = xlm_arena_take(tape->arena, HEADER + bytes);
        taken->size = bytes;
    }
    taken->holders = 1;
    return (char *)taken + HEADER;
}

void xlm_tape_return(xlm_tape *tape, void *borrowed)
{
    buffer *b = header_of(borrowed);
    if (--b->holders > 0)
        return;
    b->next = tape->free;
    tape->free = b;
}

/* ---- variables ---- */

static xlm_var *new_variable(xlm_tape *tape, xlm_arena *arena, int64_t rows, int64_t cols)
{
    variable *v = XLM_TAKE(arena, variable, 1);
    *v = (variable){.var = {.rows = rows, .cols = cols}, .tape = tape, .arena = arena};
    return &v->var;
}

/* Parameters are met again after the segment that asked for them first. */
static xlm_var *new_leaf(xlm_tape *tape, int first, int n, int64_t rows, int64_t cols)
{
    xlm_var *x = new_variable(tape, tape->arena, rows, cols);
    const int64_t start = xlm_parameters_get(tape->parameters, first)->start;
    inner(x)->leaf = true;
    inner(x)->first = first;
    inner(x)->n = n;
    inner(x)->end = start + rows * cols;
    x->value = (tape->mode.values != NULL ? tape->mode.values : xlm_parameters_values(tape->parameters)) + start;
    if (tape->gradients != NULL && tape->mode.gradient)
        x->grad = tape->gradients + start;
    return x;
}

xlm_var *xlm_param(xlm_tape *tape, const char *name)
{
    const int index = xlm_parameters_find(tape->parameters, name);
    if (index < 0)
        xlm_tape_fail("param", "there is no parameter \"%s\"", name);
    xlm_var **leaf = (xlm_var **)&g_ptr_array_index(tape->leaves, index);
    if (*leaf == NULL) {
        const xlm_parameter *p = xlm_parameters_get(tape->parameters, index);
        *leaf = new_leaf(tape, index, 1, p->rows, p->cols);
    }
    return *leaf;
}

xlm_var *xlm_param_stack(xlm_tape *tape, const char *first, int n)
{
    const int index = xlm_parameters_find(tape->parameters, first);
    if (index < 0)
        xlm_tape_fail("param_stack", "there is no parameter \"%s\"", first);
    const xlm_parameter *p = xlm_parameters_get(tape->parameters, index);
    for (int i = 0; i < n; i++) {
        const bool there = index + i < xlm_parameters_count(tape->parameters);
        const xlm_parameter *q = there ? xlm_parameters_get(tape->parameters, index + i) : NULL;
        if (q == NULL || q->rows != p->rows || q->cols != p->cols || q->start != p->start + i * p->rows * p->cols)
            xlm_tape_fail("param_stack", "\"%s\" and the %d parameters after it were not declared as a stack", first, n - 1);
    }
    return p->rows == 1 ? new_leaf(tape, index, n, 1, n * p->cols) : new_leaf(tape, index, n, n * p->rows, p->cols);
}

void xlm_tape_constants(xlm_tape *tape, xlm_tape_constants_mode mode)
{
    if (mode != XLM_CONSTANTS_REPEAT)
        g_clear_pointer(&tape->kept, g_ptr_array_unref);
    if (mode == XLM_CONSTANTS_KEEP)
        tape->kept = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    tape->constants = mode;
}

/* The values of the same call in the pass whose constants were kept. */
static const xlm_real *repeated(xlm_tape *tape, uint64_t bytes)
{
    GBytes *kept = tape->repeated < tape->kept->len ? tape->kept->pdata[tape->repeated++] : NULL;
    if (kept == NULL || g_bytes_get_size(kept) != bytes)
        xlm_tape_fail("constant", "constant %u of a pass is not what it was in the pass before", tape->repeated);
    return g_bytes_get_data(kept, NULL);
}

xlm_var *xlm_constant(xlm_tape *tape, int64_t rows, int64_t cols, const xlm_real *values)
{
    xlm_var *x = new_variable(tape, tape->taking, rows, cols);
    const uint64_t bytes = bytes_of(x);
    x->value = XLM_TAPE_TAKE(tape, xlm_real, rows * cols);
    if (tape->constants == XLM_CONSTANTS_KEEP)
        g_ptr_array_add(tape->kept, g_bytes_new(values, bytes));
    if (bytes > 0)
        memcpy(x->value, tape->constants == XLM_CONSTANTS_REPEAT ? repeated(tape, bytes) : values, bytes);
    return x;
}

xlm_var *xlm_tape_hold(xlm_tape *tape, xlm_var *x)
{
    return tape->constants == XLM_CONSTANTS_FREE ? x : xlm_detach(tape, x);
}

static int64_t end_of_last(const xlm_tape *tape)
{
    const guint n = tape->operations->len;
    return n > 0 ? g_array_index(tape->operations, operation, n - 1).end : 0;
}

static xlm_var *record(xlm_tape *tape, const char *name, int64_t rows, int64_t cols, int n, xlm_var *const *inputs,
                       bool open_inputs, xlm_backward *backward, void *state)
{
    double bytes = (double)sizeof(xlm_real) * (double)(rows * cols);
    for (int i = 0; i < n; i++) {
        if (inputs[i]->value == NULL)
            xlm_tape_fail(name, "the value of input %d was given up to the operator that took it before", i);
        inner(inputs[i])->uses++;
        bytes += (double)bytes_of(inputs[i]);
    }
    xlm_profile_enter(tape->profile, name, false, bytes);
    xlm_var *y = new_variable(tape, tape->taking, rows, cols);
    y->value = XLM_TAPE_TAKE(tape, xlm_real, rows * cols);
    for (int i = 0; i < n; i++) {
        if (inputs[i]->grad != NULL)
            y->grad = NOTHING;
        if (y->keys == NULL && inputs[i]->rows == rows)
            y->keys = inputs[i]->keys;
    }
    tape->bytes = bytes;
    tape->remembers = y->grad != NULL;
    if (y->grad == NULL)
        return y;
    int64_t end = end_of_last(tape);
    for (int i = 0; i < n; i++)
        end = MAX(end, inner(inputs[i])->end);
    operation o = {.end = end, .name = name, .bytes = bytes, .backward = backward, .state = state, .y = y};
    if (open_inputs) {
        o.inputs = n;
        o.input = XLM_TAPE_TAKE(tape, xlm_var *, n);
        memcpy(o.input, inputs, sizeof(xlm_var *) * (size_t)n);
    }
    g_array_append_val(tape->operations, o);
    return y;
}

xlm_var *xlm_tape_record(xlm_tape *tape, const char *name, int64_t rows, int64_t cols, int n, xlm_var *const *inputs,
                         xlm_backward *backward, void *state)
{
    for (int i = 0; i < n; i++)
        if (inner(inputs[i])->tape != tape)
            xlm_tape_fail(name, "input %d is from another tape", i);
    return record(tape, name, rows, cols, n, inputs, false, backward, state);
}

void xlm_tape_moves(xlm_tape *tape, double bytes)
{
    xlm_profile_add_bytes(tape->profile, bytes - tape->bytes);
    tape->bytes = bytes;
    if (tape->remembers)
        g_array_index(tape->operations, operation, tape->operations->len - 1).bytes = bytes;
}

xlm_var *xlm_operator(xlm_tape *tape, int64_t rows, int64_t cols, int n, xlm_var *const *inputs,
                      xlm_backward *backward, void *state)
{
    return record(tape, "plugin's operator", rows, cols, n, inputs, true, backward, state);
}

/* ---- values taken over ---- */

void xlm_tape_passing(xlm_var *y) { inner(y)->passing = true; }

/* A segment that is run again reads what was made outside of it again. */
xlm_real *xlm_tape_take_over(xlm_var *z)
{
    xlm_tape *tape = inner(z)->tape;
    if (!inner(z)->passing || inner(z)->uses > 1 || inner(z)->arena != tape->taking)
        return XLM_TAPE_TAKE(tape, xlm_real, z->rows * z->cols);
    xlm_real *value = z->value;
    z->value = NULL;
    return value;
}

/* ---- gradients ---- */

static void drop_gradient(xlm_var *x)
{
    xlm_tape_return(inner(x)->tape, x->grad);
    x->grad = NOTHING;
}

/* Zeros in gradients[from, end). */
static void clear(xlm_tape *tape, int64_t from, int64_t end)
{
    enum { LONG = 1 << 16 };
#pragma omp parallel for schedule(static) if (end - from > XLM_PARALLEL)
    for (int64_t at = from; at < end; at += LONG)
        memset(tape->gradients + at, 0, sizeof(xlm_real) * (size_t)MIN(LONG, end - at));
}

static void clear_parameter(xlm_tape *tape, int i)
{
    const xlm_parameter *p = xlm_parameters_get(tape->parameters, i);
    clear(tape, p->start, p->start + p->rows * p->cols);
    tape->empty[i] = false;
}

/* Somebody is about to give a leaf's gradient all its elements. Whether there is something to add to: a stack of which a part has
 * something is cleared elsewhere. */
static bool has_gradient(xlm_tape *tape, const variable *leaf)
{
    int empty = 0;
    for (int i = leaf->first; i < leaf->first + leaf->n && i < tape->unsettled; i++)
        empty += tape->empty[i];
    for (int i = leaf->first; empty > 0 && i < leaf->first + leaf->n; i++) {
        if (tape->empty[i] && empty < leaf->n)
            clear_parameter(tape, i);
        tape->empty[i] = false;
    }
    return empty < leaf->n;
}

void xlm_tape_clear(xlm_tape *tape, xlm_real *gradients)
{
    tape->gradients = gradients;
    tape->unsettled = xlm_parameters_count(tape->parameters);
    tape->empty = g_renew(bool, tape->empty, tape->unsettled);
    for (int i = 0; i < tape->unsettled; i++)
        tape->empty[i] = true;
}

void xlm_tape_settle(xlm_tape *tape, int64_t from)
{
    while (tape->unsettled > 0) {
        const int i = tape->unsettled - 1, n = xlm_parameters_count(tape->parameters);
        const xlm_parameter *p = xlm_parameters_get(tape->parameters, i);
        if (p->start < from)
            return;
        if (tape->empty[i])
            clear_parameter(tape, i);
        const int64_t gap = p->start + p->rows * p->cols;
        clear(tape, gap, i + 1 < n ? xlm_parameters_get(tape->parameters, i + 1)->start : xlm_parameters_size(tape->parameters));
        tape->unsettled = i;
    }
}

xlm_grad xlm_grad_open(xlm_var *x)
{
    if (x->grad == NULL || inner(x)->leaf)
        return (xlm_grad){.at = x->grad, .add = x->grad == NULL || has_gradient(inner(x)->tape, inner(x))};
    if (x->grad == NOTHING) {
        x->grad = xlm_tape_borrow(inner(x)->tape, bytes_of(x));
        return (xlm_grad){.at = x->grad, .add = false};
    }
    if (header_of(x->grad)->holders > 1) {
        xlm_real *own = xlm_tape_borrow(inner(x)->tape, bytes_of(x));
        memcpy(own, x->grad, bytes_of(x));
        drop_gradient(x);
        x->grad = own;
    }
    return (xlm_grad){.at = x->grad, .add = true};
}

xlm_grad xlm_grad_open_in_place(xlm_var *x, xlm_var *y)
{
    if (x->grad != NOTHING || header_of(y->grad)->holders > 1)
        return xlm_grad_open(x);
    x->grad = y->grad;
    header_of(y->grad)->holders++;
    return (xlm_grad){.at = x->grad, .add = false};
}

xlm_real *xlm_grad_add(xlm_var *x)
{
    const xlm_grad g = xlm_grad_open(x);
    if (g.at == NULL || g.add)
        return g.at;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = x->rows * x->cols;
#pragma omp parallel for schedule(static) if (n > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i += BLOCK)
        kernel->fill(MIN(BLOCK, n - i), 0, g.at + i, false);
    return g.at;
}

void xlm_grad_pass(xlm_var *x, xlm_var *y)
{
    if (x->grad == NOTHING) {
        x->grad = y->grad;
        header_of(y->grad)->holders++;
        return;
    }
    const xlm_grad g = xlm_grad_open(x);
    if (g.at == NULL)
        return;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = x->rows * x->cols;
    const xlm_real *dy = y->grad;
#pragma omp parallel for schedule(static) if (n > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i += BLOCK)
        kernel->scale(MIN(BLOCK, n - i), 1, dy + i, g.at + i, g.add);
}

void xlm_tape_seed(xlm_tape *tape, xlm_var *loss, double factor)
{
    if (loss->rows != 1 || loss->cols != 1)
        xlm_tape_fail("tape_seed", "a loss is 1 x 1, not %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT, loss->rows, loss->cols);
    if (inner(loss)->tape != tape)
        xlm_tape_fail("tape_seed", "the loss is from another tape");
    xlm_real *grad = xlm_grad_add(loss);
    if (grad != NULL)
        *grad += (xlm_real)factor;
}

static void go_back(const operation *o)
{
    for (int k = 0; k < o->inputs; k++)
        xlm_grad_add(o->input[k]);
    o->backward(o->state);
    if (o->y->grad != NOTHING)
        drop_gradient(o->y);
}

void xlm_tape_watch(xlm_tape *tape, xlm_tape_complete *complete, void *data)
{
    tape->complete = complete;
    tape->watcher = data;
}

/* Back through the operations from number `first` on. */
static void run_backward(xlm_tape *tape, guint first)
{
    for (guint i = tape->operations->len; i-- > first;) {
        /* A copy: a segment's backward function records operations. */
        const operation o = g_array_index(tape->operations, operation, i);
        xlm_profile_enter(tape->profile, o.name, true, 2 * o.bytes);
        /* Otherwise nothing that a root depends on made use of it. */
        if (o.y->grad != NOTHING)
            go_back(&o);
        if (tape->complete != NULL)
            tape->complete(tape->watcher, i > 0 ? g_array_index(tape->operations, operation, i - 1).end : 0);
    }
}

void xlm_tape_backward(xlm_tape *tape)
{
    run_backward(tape, 0);
    xlm_profile_leave(tape->profile);
}

/* ---- segments ---- */

struct segment {
    xlm_tape *tape;
    xlm_segment *run;
    const void *data;
    xlm_var *x, *y;
    xlm_tape_mode mode; /* when it began */
};

static xlm_var *run_inside(const struct segment *s)
{
    s->tape->taking = s->tape->inside;
    xlm_tape_set_mode(s->tape, s->mode);
    return s->run(s->tape, s->x, s->data);
}

static void give_back(xlm_tape *tape)
{
    xlm_arena_reset(tape->inside);
    tape->taking = tape->arena;
}

/* The gradient is handed on, not shared, so that the last operation inside can work in it. */
static void segment_backward(void *pointer)
{
    const struct segment *s = pointer;
    xlm_tape *tape = s->tape;
    const guint first = tape->operations->len;
    const xlm_tape_mode mode = tape->mode;
    xlm_grad_pass(run_inside(s), s->y);
    drop_gradient(s->y);
    run_backward(tape, first);
    g_array_set_size(tape->operations, first);
    xlm_tape_set_mode(tape, mode);
    give_back(tape);
}

xlm_var *xlm_tape_segment(xlm_tape *tape, xlm_var *x, xlm_segment *run, const void *data)
{
    /* What is not needed for a gradient need not be kept either. */
    if ((!tape->recompute && tape->mode.gradient) || tape->taking == tape->inside)
        return run(tape, x, data);
    struct segment *s = XLM_TAPE_TAKE(tape, struct segment, 1);
    *s = (struct segment){.tape = tape, .run = run, .data = data, .x = x, .mode = tape->mode};
    const guint first = tape->operations->len;
    xlm_var *result = run_inside(s);
    if (result->rows != x->rows)
        xlm_tape_fail("tape_segment", "%" G_GINT64_FORMAT " rows became %" G_GINT64_FORMAT, x->rows, result->rows);
    const int64_t end = end_of_last(tape);
    g_array_set_size(tape->operations, first);
    tape->taking = tape->arena;
    s->y = record(tape, "segment", result->rows, result->cols, 1, &result, false, segment_backward, s);
    if (tape->remembers) /* the parameters inside */
        g_array_index(tape->operations, operation, first).end = end;
    s->y->keys = x->keys;
    memcpy(s->y->value, result->value, bytes_of(result));
    give_back(tape);
    return s->y;
}

void xlm_sum_chunks(int64_t chunks, int64_t cols, const xlm_real *partial, xlm_real *out)
{
    enum { COLUMNS = 64 };
    const xlm_kernels *kernel = xlm_kernels_get();
#pragma omp parallel for schedule(static) if (chunks * cols > XLM_PARALLEL)
    for (int64_t c = 0; c < cols; c += COLUMNS)
        kernel->column_sums(chunks, MIN(COLUMNS, cols - c), partial + c, cols, out + c);
}
