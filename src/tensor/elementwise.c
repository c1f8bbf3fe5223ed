/* xlm-mpi: sum, difference and product of two matrices; ReLU, tanh, scaling and mean of one.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "kernels/kernels.h"
#include "tensor/tape.h"

/* Elements that a thread takes at a time; a mean adds up the sums of such blocks in their order. */
enum { BLOCK = 1 << 12 };

/* y (+)= factor x */
static void scale(int64_t n, xlm_real factor, const xlm_real *x, xlm_real *y, bool add)
{
    const xlm_kernels *kernel = xlm_kernels_get();
#pragma omp parallel for schedule(static) if (n > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i += BLOCK)
        kernel->scale(MIN(BLOCK, n - i), factor, x + i, y + i, add);
}

/* ---- y = a + b ---- */

struct add_state {
    xlm_var *a, *b, *y;
};

static void add_backward(void *pointer)
{
    const struct add_state *s = pointer;
    xlm_grad_pass(s->a, s->y);
    xlm_grad_pass(s->b, s->y);
}

xlm_var *xlm_add(xlm_tape *tape, xlm_var *a, xlm_var *b)
{
    xlm_tape_check_shapes("add", a, b);
    struct add_state *s = XLM_TAPE_TAKE(tape, struct add_state, 1);
    xlm_var *const inputs[] = {a, b};
    xlm_var *y = xlm_tape_record(tape, "add", a->rows, a->cols, 2, inputs, add_backward, s);
    *s = (struct add_state){.a = a, .b = b, .y = y};
    if (!xlm_var_has_numbers(y))
        return y;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = a->rows * a->cols;
#pragma omp parallel for schedule(static) if (n > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i += BLOCK)
        kernel->add(MIN(BLOCK, n - i), a->value + i, b->value + i, y->value + i);
    return y;
}

/* ---- y = a − b ---- */

struct subtract_state {
    xlm_var *a, *b, *y;
};

/* dy is read for db first, because a may then take over its memory. */
static void subtract_backward(void *pointer)
{
    const struct subtract_state *s = pointer;
    const xlm_grad db = xlm_grad_open(s->b);
    if (db.at != NULL && xlm_var_has_numbers(s->y))
        scale(s->b->rows * s->b->cols, -1, s->y->grad, db.at, db.add);
    xlm_grad_pass(s->a, s->y);
}

xlm_var *xlm_subtract(xlm_tape *tape, xlm_var *a, xlm_var *b)
{
    xlm_tape_check_shapes("subtract", a, b);
    struct subtract_state *s = XLM_TAPE_TAKE(tape, struct subtract_state, 1);
    xlm_var *const inputs[] = {a, b};
    xlm_var *y = xlm_tape_record(tape, "subtract", a->rows, a->cols, 2, inputs, subtract_backward, s);
    *s = (struct subtract_state){.a = a, .b = b, .y = y};
    if (!xlm_var_has_numbers(y))
        return y;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = a->rows * a->cols;
#pragma omp parallel for schedule(static) if (n > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i += BLOCK) {
        kernel->scale(MIN(BLOCK, n - i), -1, b->value + i, y->value + i, false);
        kernel->add(MIN(BLOCK, n - i), a->value + i, y->value + i, y->value + i);
    }
    return y;
}

/* ---- y = a ⊙ b ---- */

struct multiply_state {
    xlm_var *a, *b, *y;
};

static void multiply(int64_t n, const xlm_real *a, const xlm_real *b, xlm_real *y, bool add)
{
    const xlm_kernels *kernel = xlm_kernels_get();
#pragma omp parallel for schedule(static) if (n > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i += BLOCK)
        kernel->multiply(MIN(BLOCK, n - i), a + i, b + i, y + i, add);
}

static void multiply_backward(void *pointer)
{
    const struct multiply_state *s = pointer;
    const int64_t n = s->y->rows * s->y->cols;
    const xlm_grad da = xlm_grad_open(s->a);
    if (da.at != NULL && xlm_var_has_numbers(s->y))
        multiply(n, s->y->grad, s->b->value, da.at, da.add);
    const xlm_grad db = xlm_grad_open(s->b);
    if (db.at != NULL && xlm_var_has_numbers(s->y))
        multiply(n, s->y->grad, s->a->value, db.at, db.add);
}

xlm_var *xlm_multiply(xlm_tape *tape, xlm_var *a, xlm_var *b)
{
    xlm_tape_check_shapes("multiply", a, b);
    struct multiply_state *s = XLM_TAPE_TAKE(tape, struct multiply_state, 1);
    xlm_var *const inputs[] = {a, b};
    xlm_var *y = xlm_tape_record(tape, "multiply", a->rows, a->cols, 2, inputs, multiply_backward, s);
    *s = (struct multiply_state){.a = a, .b = b, .y = y};
    if (xlm_var_has_numbers(y))
        multiply(a->rows * a->cols, a->value, b->value, y->value, false);
    return y;
}

/* ---- y = f(x) of each element, whose derivative is known from y: ReLU, tanh ---- */

struct map_state {
    xlm_var *x, *y;
};

static xlm_var *record_map(xlm_tape *tape, const char *name, xlm_var *x, void (*backward)(void *))
{
    struct map_state *s = XLM_TAPE_TAKE(tape, struct map_state, 1);
    xlm_var *y = xlm_tape_record(tape, name, x->rows, x->cols, 1, &x, backward, s);
    *s = (struct map_state){.x = x, .y = y};
    return y;
}

/* dx = or += dy f'(x) of n elements, from y. Each such function has a loop of its own, because clang does not vectorise a loop over
 * calls that are known only where a parallel loop has been made part of its caller. */
typedef void pass_elements(int64_t n, const xlm_real *y, const xlm_real *dy, xlm_real *dx, bool add);

static void map_backward(const struct map_state *s, pass_elements *pass)
{
    const xlm_real *y = s->y->value, *dy = s->y->grad;
    const int64_t n = s->y->rows * s->y->cols;
    const xlm_grad dx = xlm_grad_open_in_place(s->x, s->y);
    if (!xlm_var_has_numbers(s->y))
        return;
#pragma omp parallel for schedule(static) if (n > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i += BLOCK)
        pass(MIN(BLOCK, n - i), y + i, dy + i, dx.at + i, dx.add);
}

/* The gradient passes where the result is above 0, or not a number. */
static void pass_relu(int64_t n, const xlm_real *y, const xlm_real *dy, xlm_real *dx, bool add)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const xlm_real passed = y[i] <= 0 ? 0 : dy[i];
        dx[i] = add ? dx[i] + passed : passed;
    }
}

static void relu_backward(void *state) { map_backward(state, pass_relu); }

xlm_var *xlm_relu(xlm_tape *tape, xlm_var *x)
{
    xlm_var *y = record_map(tape, "relu", x, relu_backward);
    const int64_t n = xlm_var_has_numbers(y) ? x->rows * x->cols : 0;
#pragma omp parallel for simd schedule(static) if (parallel : n > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++)
        y->value[i] = x->value[i] <= 0 ? 0 : x->value[i]; /* what is not a number stays so */
    return y;
}

static void pass_tanh(int64_t n, const xlm_real *y, const xlm_real *dy, xlm_real *dx, bool add)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const xlm_real passed = dy[i] * (1 - y[i] * y[i]);
        dx[i] = add ? dx[i] + passed : passed;
    }
}

static void tanh_backward(void *state) { map_backward(state, pass_tanh); }

/* No simd here: the vector functions of the C library round otherwise on each processor. */
xlm_var *xlm_tanh(xlm_tape *tape, xlm_var *x)
{
    xlm_var *y = record_map(tape, "tanh", x, tanh_backward);
    const int64_t n = xlm_var_has_numbers(y) ? x->rows * x->cols : 0;
#pragma omp parallel for schedule(static) if (n > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++)
        y->value[i] = (xlm_real)tanh((double)x->value[i]);
    return y;
}

/* ---- y = factor x ---- */

struct scale_state {
    xlm_var *x, *y;
    xlm_real factor;
};

static void scale_backward(void *pointer)
{
    const struct scale_state *s = pointer;
    const xlm_real *dy = s->y->grad;
    const xlm_grad dx = xlm_grad_open_in_place(s->x, s->y);
    if (xlm_var_has_numbers(s->y))
        scale(s->x->rows * s->x->cols, s->factor, dy, dx.at, dx.add);
}

xlm_var *xlm_scale(xlm_tape *tape, xlm_var *x, double factor)
{
    struct scale_state *s = XLM_TAPE_TAKE(tape, struct scale_state, 1);
    xlm_var *y = xlm_tape_record(tape, "scale", x->rows, x->cols, 1, &x, scale_backward, s);
    *s = (struct scale_state){.x = x, .y = y, .factor = (xlm_real)factor};
    if (xlm_var_has_numbers(y))
        scale(x->rows * x->cols, s->factor, x->value, y->value, false);
    return y;
}

/* ---- y = Σ x / n ---- */

struct mean_state {
    xlm_var *x, *y;
};

static void mean_backward(void *pointer)
{
    const struct mean_state *s = pointer;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = s->x->rows * s->x->cols;
    const xlm_grad dx = xlm_grad_open(s->x);
    if (!xlm_var_has_numbers(s->y))
        return;
    const xlm_real share = *s->y->grad / (xlm_real)n;
#pragma omp parallel for schedule(static) if (n > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i += BLOCK)
        kernel->fill(MIN(BLOCK, n - i), share, dx.at + i, dx.add);
}

xlm_var *xlm_mean(xlm_tape *tape, xlm_var *x)
{
    const int64_t n = x->rows * x->cols, blocks = (n + BLOCK - 1) / BLOCK;
    if (n == 0)
        xlm_tape_fail("mean", "a matrix without elements has no mean");
    struct mean_state *s = XLM_TAPE_TAKE(tape, struct mean_state, 1);
    xlm_var *y = xlm_tape_record(tape, "mean", 1, 1, 1, &x, mean_backward, s);
    *s = (struct mean_state){.x = x, .y = y};
    const xlm_kernels *kernel = xlm_kernels_get();
    xlm_real *partial = XLM_TAPE_BORROW(tape, xlm_real, blocks);
    const int64_t made = xlm_var_has_numbers(y) ? blocks : 0;
#pragma omp parallel for schedule(static) if (n > XLM_PARALLEL)
    for (int64_t p = 0; p < made; p++)
        partial[p] = kernel->sum(MIN(BLOCK, n - p * BLOCK), x->value + p * BLOCK);
    double sum = 0;
    for (int64_t p = 0; p < made; p++)
        sum += partial[p];
    xlm_tape_return(tape, partial);
    if (made > 0)
        *y->value = (xlm_real)(sum / (double)n);
    return y;
}
