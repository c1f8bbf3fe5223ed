/* xlm-mpi: the end of a transformer's sublayer: bias, dropout, residual connection, layer normalisation (Vaswani et al. 2017).
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "tensor/dropout.h"
#include "tensor/products.h"

struct state {
    xlm_tape *tape;
    xlm_var *x, *z, *bias, *gamma, *beta, *y;
    xlm_keep_mask mask;
    xlm_real *sum;   /* [n x d] x + dropout(z + bias) */
    xlm_real *stats; /* [n x 2] mean, 1 / sqrt(variance + ε) of its rows */
};

/* The backward pass. dy may be the memory of dx or of dz: each row of dy is read before that row of these is written. */
struct gradients {
    const xlm_real *dy;
    xlm_grad dx, dz;
    int64_t width;    /* of a chunk's sums: d each for the gradients of γ, β and, if there is one, the bias */
    xlm_real *sums;   /* [chunks x width] */
    xlm_real *spare;  /* [chunks x d] the gradient of the sum for one row, if it cannot be written to dx */
};

static void chunk_backward(const struct state *s, const struct gradients *g, int64_t k)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = s->x->rows, d = s->x->cols;
    xlm_real *dgamma = g->sums + k * g->width, *dbeta = dgamma + d, *dbias = s->bias != NULL ? dbeta + d : NULL;
    memset(dgamma, 0, sizeof(xlm_real) * (size_t)g->width);
    for (int64_t i = k * XLM_CHUNK; i < MIN(n, (k + 1) * XLM_CHUNK); i++) {
        xlm_real *dx = g->dx.at != NULL ? g->dx.at + i * d : NULL, *dz = g->dz.at != NULL ? g->dz.at + i * d : NULL;
        xlm_real *ds = dx != NULL && !g->dx.add ? dx : g->spare + k * d;
        kernel->layer_norm_back(d, s->sum + i * d, s->gamma->value, s->stats + 2 * i, g->dy + i * d, ds, false, dgamma, dbeta);
        if (dx != NULL && dx != ds)
            kernel->add(d, dx, ds, dx);
        kernel->residual_back(d, ds, xlm_keep_mask_row(&s->mask, i), s->mask.rate.scale, dz, g->dz.add, dbias);
    }
}

/* Adds the sums of all chunks to the gradients of γ, β and the bias. */
static void add_sums(const struct state *s, const struct gradients *g)
{
    const int64_t d = s->x->cols;
    xlm_var *const owner[] = {s->gamma, s->beta, s->bias};
    xlm_real *total = XLM_TAPE_BORROW(s->tape, xlm_real, g->width);
    const bool numbers = xlm_var_has_numbers(s->y);
    if (numbers) {
        memset(total, 0, sizeof(xlm_real) * (size_t)g->width);
        xlm_sum_chunks(xlm_chunks(s->x->rows), g->width, g->sums, total);
    }
    for (int64_t k = 0; k < g->width / d; k++) {
        xlm_real *gradient = owner[k] != NULL ? xlm_grad_add(owner[k]) : NULL;
        if (gradient != NULL && numbers)
            xlm_kernels_get()->add(d, gradient, total + k * d, gradient);
    }
    xlm_tape_return(s->tape, total);
}

/* With ds the gradient at the input of the layer normalisation: dx += ds, dz += ds with dropout's mask. Without dropout both are
 * ds, and if x has no other gradient yet, x and z share the memory of it. */
static void backward(void *pointer)
{
    const struct state *s = pointer;
    const int64_t n = s->x->rows, d = s->x->cols, chunks = xlm_chunks(n);
    struct gradients g = {.dy = s->y->grad, .width = (s->bias != NULL ? 3 : 2) * d};
    g.sums = XLM_TAPE_BORROW(s->tape, xlm_real, chunks * (g.width + d));
    g.spare = g.sums + chunks * g.width;
    g.dx = xlm_grad_open_in_place(s->x, s->y);
    const bool shared = s->mask.bits == NULL && g.dx.at != NULL && !g.dx.add && s->z != s->x;
    if (s->z == s->x)
        g.dz = (xlm_grad){.at = g.dx.at, .add = true};
    else if (!shared)
        g.dz = xlm_grad_open_in_place(s->z, s->y);
    const int64_t made = xlm_var_has_numbers(s->y) ? chunks : 0;
#pragma omp parallel for schedule(static) if (n * d > XLM_PARALLEL)
    for (int64_t k = 0; k < made; k++)
        chunk_backward(s, &g, k);
    if (shared)
        xlm_grad_pass(s->z, s->x);
    add_sums(s, &g);
    xlm_tape_return(s->tape, g.sums);
}

static void check_shapes(const xlm_var *x, const xlm_var *z, const xlm_var *bias, const xlm_var *gamma, const xlm_var *beta)
{
    xlm_tape_check_shapes("residual_norm", x, z);
    const xlm_var *const row[] = {gamma, beta, bias};
    for (int k = 0; k < 3; k++)
        if (row[k] != NULL && (row[k]->rows != 1 || row[k]->cols != x->cols))
            xlm_tape_fail("residual_norm", "gamma, beta and the bias must be 1 x %" G_GINT64_FORMAT, x->cols);
}

xlm_var *xlm_residual_norm(xlm_tape *tape, xlm_var *x, xlm_var *z, xlm_var *bias, double p, xlm_var *gamma, xlm_var *beta,
                           double epsilon)
{
    check_shapes(x, z, bias, gamma, beta);
    const int64_t n = x->rows, d = x->cols;
    const xlm_keep_mask mask = xlm_keep_mask_new(tape, n, d, p);
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    xlm_var *inputs[5] = {x, z, gamma};
    int n_inputs = 3;
    if (beta != NULL)
        inputs[n_inputs++] = beta;
    if (bias != NULL)
        inputs[n_inputs++] = bias;
    xlm_var *y = xlm_tape_record(tape, "residual_norm", n, d, n_inputs, inputs, backward, s);
    const xlm_real *from = z->value;
    *s = (struct state){.tape = tape, .x = x, .z = z, .bias = bias, .gamma = gamma, .beta = beta, .y = y, .mask = mask,
                        .sum = xlm_tape_take_over(z), .stats = XLM_TAPE_NUMBERS(tape, xlm_real, 2 * n)};
    const xlm_kernels *kernel = xlm_kernels_get();
    uint16_t *rounded = xlm_products_take_rounded(tape, y);
    if (!xlm_var_has_numbers(y))
        return y;
#pragma omp parallel for schedule(static) if (n * d > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++) {
        kernel->residual(d, x->value + i * d, from + i * d, bias != NULL ? bias->value : NULL,
                         xlm_keep_mask_draw(&mask, kernel, z, i), mask.rate.scale, s->sum + i * d);
        kernel->layer_norm(d, s->sum + i * d, gamma->value, beta != NULL ? beta->value : NULL, (xlm_real)epsilon,
                           y->value + i * d, s->stats + 2 * i);
        if (rounded != NULL)
            kernel->to_bfloat16(d, y->value + i * d, rounded + i * d);
    }
    return y;
}
