/* xlm-mpi: the tape: variables, the list of operators, segments. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "tensor/tape_internal.h"

const xlm_real tape_no_gradient[1];

void xlm_tape_fail(const char *operator_name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_error("xlm_%s: %s", operator_name, text);
}

void xlm_tape_check_shapes(const char *operator_name, const xlm_var *a, const xlm_var *b)
{
    if (a->rows != b->rows || a->cols != b->cols)
        xlm_tape_fail(operator_name, "%" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
                      " are not of one shape", a->rows, a->cols, b->rows, b->cols);
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

xlm_tape *xlm_tape_new_of_shapes(xlm_parameters *parameters)
{
    xlm_tape *tape = xlm_tape_new(parameters);
    tape->buffers = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
    tape->lent = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
    return tape;
}

xlm_tape *xlm_tape_new_of_shapes_like(const xlm_tape *tape)
{
    xlm_tape *shapes = xlm_tape_new_of_shapes(tape->parameters);
    shapes->packs = tape->packs;
    shapes->precision = tape->precision;
    return shapes;
}

bool xlm_tape_is_of_shapes(const xlm_tape *tape) { return of_shapes(tape); }

void xlm_tape_free(xlm_tape *tape)
{
    if (tape == NULL)
        return;
    g_clear_pointer(&tape->packed, g_hash_table_destroy);
    xlm_packed_free(tape->packed_rows);
    xlm_arena_free(tape->arena);
    xlm_arena_free(tape->inside);
    g_array_free(tape->operations, TRUE);
    g_ptr_array_free(tape->leaves, TRUE);
    xlm_tape_constants(tape, XLM_CONSTANTS_FREE);
    g_free(tape->empty);
    g_clear_pointer(&tape->buffers, g_hash_table_destroy);
    g_clear_pointer(&tape->lent, g_hash_table_destroy);
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
    tape->pass++;
    tape->free = NULL;
    if (of_shapes(tape)) {
        g_hash_table_remove_all(tape->buffers);
        g_hash_table_remove_all(tape->lent);
    }
    tape->gradients = gradients;
    tape->mode = (xlm_tape_mode){.gradient = true, .training = training};
    tape->key = xlm_rng_make_key(seed, XLM_RNG_DROPOUT, step);
    tape->complete = NULL;
    tape->repeated = 0;
    if (!tape->holds)
        tape->parameter_state++;
    g_array_set_size(tape->operations, 0);
    forget_leaves(tape);
}

xlm_tape_mode xlm_tape_get_mode(const xlm_tape *tape) { return tape->mode; }

void xlm_tape_set_mode(xlm_tape *tape, xlm_tape_mode mode)
{
    if (mode.values != tape->mode.values || mode.gradient != tape->mode.gradient)
        forget_leaves(tape);
    if (mode.values != tape->mode.values && mode.values != NULL) /* the array may have other values than the last time */
        tape->parameter_state++;
    tape->mode = mode;
}

void xlm_tape_reserve(xlm_tape *tape, uint64_t bytes) { xlm_arena_reserve(tape->arena, bytes); }
void xlm_tape_recompute(xlm_tape *tape, bool recompute) { tape->recompute = recompute; }
bool xlm_tape_training(const xlm_tape *tape) { return tape->mode.training; }
void xlm_tape_profile(xlm_tape *tape, xlm_profile *profile) { tape->profile = profile; }
void *xlm_tape_take(xlm_tape *tape, uint64_t bytes) { return xlm_arena_take(tape->taking, bytes); }

void *xlm_tape_take_numbers(xlm_tape *tape, uint64_t bytes)
{
    return of_shapes(tape) ? xlm_arena_count(tape->taking, bytes) : xlm_arena_take(tape->taking, bytes);
}

uint64_t xlm_tape_peak_bytes(const xlm_tape *tape) { return xlm_arena_peak(tape->arena) + xlm_arena_peak(tape->inside); }

xlm_site xlm_tape_site(xlm_tape *tape)
{
    xlm_site site = {.key = tape->key, .site = tape->mode.site++};
    if (tape->mode.draws != 0) {
        const xlm_rng_block other = xlm_rng_draw(tape->key, tape->mode.draws, 0, 0, 0);
        site.key = (xlm_rng_key){{other.v[0], other.v[1]}};
    }
    return site;
}

xlm_keep xlm_keep_rate(double p)
{
    if (!(p >= 0 && p < 1))
        xlm_tape_fail("dropout", "p = %g is not in [0, 1)", p);
    const uint32_t threshold = MIN((uint32_t)lrint(p * 65536), 65535u);
    return (xlm_keep){.threshold = threshold, .scale = (xlm_real)(65536.0 / (65536.0 - threshold))};
}

/* ---- memory that is borrowed ---- */

static buffer *new_buffer(xlm_tape *tape, uint64_t bytes)
{
    if (!of_shapes(tape)) {
        buffer *b = xlm_arena_take(tape->arena, HEADER + bytes);
        b->bytes = (char *)b + HEADER;
        return b;
    }
    buffer *b = g_new(buffer, 1);
    b->bytes = (char *)xlm_arena_count(tape->arena, HEADER + bytes) + HEADER;
    g_hash_table_insert(tape->buffers, b->bytes, b);
    return b;
}

void *xlm_tape_borrow(xlm_tape *tape, uint64_t bytes)
{
    /* The smallest free buffer that is large enough, but at most about twice as large. A pass has few sizes, so the list is
     * short. */
    buffer **best = NULL;
    for (buffer **at = &tape->free; *at != NULL; at = &(*at)->next)
        if ((*at)->size >= bytes && (*at)->size / 2 <= bytes && (best == NULL || (*at)->size < (*best)->size))
            best = at;
    buffer *taken;
    if (best != NULL) {
        taken = *best;
        *best = taken->next;
    } else {
        taken = new_buffer(tape, bytes);
        taken->size = bytes;
    }
    taken->holders = 1;
    return taken->bytes;
}

void xlm_tape_return(xlm_tape *tape, void *borrowed)
{
    buffer *b = header_of(tape, borrowed);
    if (--b->holders > 0)
        return;
    b->next = tape->free;
    tape->free = b;
}

/* ---- variables ---- */

static xlm_var *new_variable(xlm_tape *tape, xlm_arena *arena, int64_t rows, int64_t cols)
{
    variable *v = XLM_TAKE(arena, variable, 1);
    *v = (variable){.var = {.rows = rows, .cols = cols}, .tape = tape, .pass = tape->pass, .arena = arena};
    return &v->var;
}

bool xlm_var_has_numbers(const xlm_var *x) { return !of_shapes(((const variable *)x)->tape); }

/* The variable is in the tape's own arena even inside a segment, because parameters may be asked for again after it. */
static xlm_var *new_leaf(xlm_tape *tape, int first, int n, int64_t rows, int64_t cols)
{
    xlm_var *x = new_variable(tape, tape->arena, rows, cols);
    const xlm_parameter *parameter = xlm_parameters_get(tape->parameters, first);
    const int64_t start = parameter->start;
    inner(x)->leaf = true;
    inner(x)->first = first;
    inner(x)->n = n;
    inner(x)->end = start + rows * cols;
    if (of_shapes(tape))
        x->value = XLM_NO_NUMBERS;
    else
        x->value = (tape->mode.values != NULL ? tape->mode.values : xlm_parameters_values(tape->parameters)) + start;
    if (tape->need != NULL && tape->mode.values == NULL)
        tape->need(tape->need_data, start, inner(x)->end);
    if (tape->gradients != NULL && tape->mode.gradient && parameter->rate != 0)
        x->grad = tape->gradients + start;
    return x;
}

void xlm_tape_on_need(xlm_tape *tape, xlm_tape_need *need, void *data)
{
    tape->need = need;
    tape->need_data = data;
}

bool xlm_tape_is_frozen(const xlm_tape *tape, const char *parameter)
{
    const int index = xlm_parameters_find(tape->parameters, parameter);
    return tape->gradients != NULL && index >= 0 && xlm_parameters_get(tape->parameters, index)->rate == 0;
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

/* The values of the constant that was made by the same call in the pass whose constants were kept. */
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
    x->value = XLM_TAPE_NUMBERS(tape, xlm_real, rows * cols);
    if (of_shapes(tape))
        return x;
    if (tape->constants == XLM_CONSTANTS_KEEP)
        g_ptr_array_add(tape->kept, g_bytes_new(values, bytes));
    const xlm_real *from = tape->constants == XLM_CONSTANTS_REPEAT ? repeated(tape, bytes) : values;
    if (bytes > 0)
        memcpy(x->value, from, bytes);
    return x;
}

xlm_var *xlm_constant_in_place(xlm_tape *tape, int64_t rows, int64_t cols, const xlm_real *values)
{
    if (tape->constants != XLM_CONSTANTS_FREE)
        return xlm_constant(tape, rows, cols, values);
    xlm_var *x = new_variable(tape, tape->taking, rows, cols);
    x->value = (xlm_real *)values; /* only read: it is not an operator's result, whose memory others may take over */
    return x;
}

int64_t tape_end_of_last(const xlm_tape *tape)
{
    const guint n = tape->operations->len;
    return n > 0 ? g_array_index(tape->operations, operation, n - 1).end : 0;
}

/* How an operator is recorded. */
struct recording {
    bool opens_inputs; /* the gradients of the inputs are opened and cleared before `backward` is called */
    xlm_tape_rounded rounded;
};

/* Bytes of x, as floats or, if it exists only in bfloat16, in that. */
static uint64_t bytes_there(const xlm_var *x)
{
    return (x->value != NULL ? sizeof *x->value : sizeof *x->rounded) * (uint64_t)x->rows * (uint64_t)x->cols;
}

static xlm_var *record(xlm_tape *tape, const char *name, int64_t rows, int64_t cols, int n, xlm_var *const *inputs,
                       struct recording options, xlm_backward *backward, void *state)
{
    double bytes = (double)(options.rounded.result ? sizeof(uint16_t) : sizeof(xlm_real)) * (double)(rows * cols);
    for (int i = 0; i < n; i++) {
        if (inner(inputs[i])->tape != tape || inner(inputs[i])->pass != tape->pass)
            xlm_tape_fail(name, "input %d is from another tape, or from an earlier pass, whose variables are no longer valid", i);
        if (inputs[i]->value == NULL && inputs[i]->rounded == NULL)
            xlm_tape_fail(name, "the memory of input %d has been taken over by an earlier operator", i);
        if (inputs[i]->value == NULL && !options.rounded.inputs)
            xlm_tape_fail(name, "input %d exists only in bfloat16", i);
        inner(inputs[i])->uses++;
        bytes += (double)bytes_there(inputs[i]);
    }
    xlm_profile_enter(tape->profile, name, false, bytes);
    xlm_var *y = new_variable(tape, tape->taking, rows, cols);
    if (options.rounded.result)
        y->rounded = XLM_TAPE_NUMBERS(tape, uint16_t, rows * cols);
    else
        y->value = XLM_TAPE_NUMBERS(tape, xlm_real, rows * cols);
    for (int i = 0; i < n; i++) {
        if (inputs[i]->grad != NULL)
            y->grad = NOTHING;
        if (y->keys == NULL && inputs[i]->rows == rows)
            y->keys = inputs[i]->keys;
    }
    tape->bytes = bytes;
    tape->recorded = y->grad != NULL;
    if (y->grad == NULL)
        return y;
    int64_t end = tape_end_of_last(tape);
    for (int i = 0; i < n; i++)
        end = MAX(end, inner(inputs[i])->end);
    operation o = {.end = end, .name = name, .bytes = bytes, .backward = backward, .state = state, .y = y};
    if (options.opens_inputs) {
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
    return xlm_tape_record_rounded(tape, name, rows, cols, n, inputs, backward, state, (xlm_tape_rounded){false, false});
}

xlm_var *xlm_tape_record_rounded(xlm_tape *tape, const char *name, int64_t rows, int64_t cols, int n, xlm_var *const *inputs,
                                 xlm_backward *backward, void *state, xlm_tape_rounded rounded)
{
    return record(tape, name, rows, cols, n, inputs, (struct recording){.rounded = rounded}, backward, state);
}

void xlm_tape_moves(xlm_tape *tape, double bytes)
{
    xlm_profile_add_bytes(tape->profile, bytes - tape->bytes);
    tape->bytes = bytes;
    if (tape->recorded)
        g_array_index(tape->operations, operation, tape->operations->len - 1).bytes = bytes;
}

xlm_var *xlm_operator(xlm_tape *tape, int64_t rows, int64_t cols, int n, xlm_var *const *inputs,
                      xlm_backward *backward, void *state)
{
    xlm_var *y = record(tape, "plugin's operator", rows, cols, n, inputs, (struct recording){.opens_inputs = true}, backward, state);
    inner(y)->filled = true;
    return y;
}

/* ---- values taken over ---- */

void xlm_tape_passing(xlm_var *y) { inner(y)->passing = true; }

/* A segment that is run again also reads what was made outside it again, so only memory of the present arena is taken over. */
xlm_real *xlm_tape_take_over(xlm_var *z)
{
    xlm_tape *tape = inner(z)->tape;
    if (!inner(z)->passing || inner(z)->uses > 1 || inner(z)->arena != tape->taking)
        return XLM_TAPE_NUMBERS(tape, xlm_real, z->rows * z->cols);
    xlm_real *value = z->value;
    z->value = NULL;
    return value;
}

void xlm_sum_chunks(int64_t chunks, int64_t cols, const xlm_real *partial, xlm_real *out)
{
    enum { COLUMNS = 64 };
    const xlm_kernels *kernel = xlm_kernels_get();
#pragma omp parallel for schedule(static) if (chunks * cols > XLM_PARALLEL)
    for (int64_t c = 0; c < cols; c += COLUMNS)
        kernel->column_sums(chunks, MIN(COLUMNS, cols - c), partial + c, cols, out + c);
}
