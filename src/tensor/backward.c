/* xlm-mpi: the backward pass of a tape. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "kernels/kernels.h"
#include "tensor/tape_internal.h"

/* Elements that a thread takes at a time. */
enum { BLOCK = 1 << 12 };

/* ---- gradients ---- */

void tape_drop_gradient(xlm_var *x)
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

/* Does a leaf's gradient have values to add to? If not, the caller must assign all elements. If only some parameters of a stack
 * have values, the others are cleared. */
static bool has_gradient(xlm_tape *tape, const variable *leaf)
{
    int empty = 0;
    for (int i = leaf->first; i < leaf->first + leaf->n && i < tape->maybe_empty; i++)
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
    tape->maybe_empty = xlm_parameters_count(tape->parameters);
    tape->empty = g_renew(bool, tape->empty, tape->maybe_empty);
    for (int i = 0; i < tape->maybe_empty; i++)
        tape->empty[i] = true;
}

/* Where parameter i ends in the flat array; for i = -1, where the first begins. */
static int64_t end_of(const xlm_parameters *parameters, int i)
{
    if (i < 0)
        return 0;
    const xlm_parameter *p = xlm_parameters_get(parameters, i);
    return p->start + p->rows * p->cols;
}

/* The gap before a parameter is cleared together with it, so `from` may also be the beginning of a gap. */
void xlm_tape_clear_untouched(xlm_tape *tape, int64_t from)
{
    const int n = xlm_parameters_count(tape->parameters);
    from = MAX(from, xlm_parameters_learning(tape->parameters));
    if (tape->maybe_empty == n)
        clear(tape, end_of(tape->parameters, n - 1), xlm_parameters_size(tape->parameters));
    while (tape->maybe_empty > 0) {
        const int i = tape->maybe_empty - 1;
        const xlm_parameter *p = xlm_parameters_get(tape->parameters, i);
        if (p->start < from)
            return;
        if (tape->empty[i])
            clear_parameter(tape, i);
        clear(tape, end_of(tape->parameters, i - 1), p->start);
        tape->maybe_empty = i;
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
    if (header_of(inner(x)->tape, x->grad)->holders > 1) {
        xlm_real *own = xlm_tape_borrow(inner(x)->tape, bytes_of(x));
        if (xlm_var_has_numbers(x))
            memcpy(own, x->grad, bytes_of(x));
        tape_drop_gradient(x);
        x->grad = own;
    }
    return (xlm_grad){.at = x->grad, .add = true};
}

xlm_grad xlm_grad_open_in_place(xlm_var *x, xlm_var *y)
{
    if (x->grad != NOTHING || header_of(inner(y)->tape, y->grad)->holders > 1)
        return xlm_grad_open(x);
    x->grad = y->grad;
    header_of(inner(y)->tape, y->grad)->holders++;
    return (xlm_grad){.at = x->grad, .add = false};
}

xlm_real *xlm_grad_add(xlm_var *x)
{
    const xlm_grad g = xlm_grad_open(x);
    if (g.at == NULL || g.add || !xlm_var_has_numbers(x))
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
        header_of(inner(y)->tape, y->grad)->holders++;
        return;
    }
    const xlm_grad g = xlm_grad_open(x);
    if (g.at == NULL || !xlm_var_has_numbers(x))
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
    if (grad != NULL && !of_shapes(tape))
        *grad += (xlm_real)factor;
}

static void run_one(const operation *o)
{
    const xlm_tape *tape = inner(o->y)->tape;
    for (int k = 0; k < o->inputs; k++)
        xlm_grad_add(o->input[k]);
    o->backward(o->state);
    if (of_shapes(tape))
        g_hash_table_remove_all(tape->lent);
    if (o->y->grad != NOTHING)
        tape_drop_gradient(o->y);
}

void xlm_tape_on_completion(xlm_tape *tape, xlm_tape_complete *complete, void *data)
{
    tape->complete = complete;
    tape->complete_data = data;
}

void tape_run_backward(xlm_tape *tape, guint first)
{
    for (guint i = tape->operations->len; i-- > first;) {
        /* A copy: a segment's backward function records operations. */
        const operation o = g_array_index(tape->operations, operation, i);
        xlm_profile_enter(tape->profile, o.name, true, 2 * o.bytes);
        /* If there is no gradient, no loss depends on the result. */
        if (o.y->grad != NOTHING)
            run_one(&o);
        if (tape->complete != NULL)
            tape->complete(tape->complete_data, i > 0 ? g_array_index(tape->operations, operation, i - 1).end : 0);
    }
}

void xlm_tape_backward(xlm_tape *tape)
{
    tape_run_backward(tape, 0);
    xlm_profile_leave(tape->profile);
}
