/* xlm-mpi: the inner layer of a transformer in one. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * With z = x W₁ᵀ + b₁, a = GELU z, y = a W₂ᵀ the backward pass is
 *     dz = (dy W₂) ∘ GELU' z,  dx = dz W₁,  dW₁ = dzᵀ x,  dW₂ = dyᵀ a,  db₁ = column sums of dz.
 * Blocks of rows go through both products one after the other, so that z and dz exist for a block a thread at a time and are
 * still in its cache when they are read; a and GELU' z are kept, as bfloat16. dy and dz are rounded once for both their products. */
#include "tensor/feed_forward.h"

#include <omp.h>
#include <string.h>

#include "tensor/kernels.h"
#include "tensor/products.h"

enum {
    MOST_ROWS = XLM_PACKED_MOST_ROWS, /* of a block */
    CHUNK = XLM_PACKED_ROWS           /* rows summed without interruption, however many a block has */
};

static int64_t chunks_of(int64_t rows) { return (rows + CHUNK - 1) / CHUNK; }

typedef void activation_kernel(int64_t n, const xlm_real *x, const xlm_real *bias, uint16_t *y, uint16_t *slope);

struct state {
    xlm_tape *tape;
    xlm_var *x, *inner, *bias, *outer, *y;
    uint16_t *active, *slope; /* [n x F] a, GELU' z */
};

/* What a thread works in: [MOST_ROWS x width] each. */
struct part {
    xlm_real *z;
    uint16_t *rounded;
};

static uint64_t part_bytes(int64_t width) { return (sizeof(xlm_real) + sizeof(uint16_t)) * (uint64_t)(MOST_ROWS * width); }
uint64_t xlm_feed_forward_scratch_bytes(int64_t width) { return part_bytes(width) * (uint64_t)omp_get_max_threads(); }

static struct part own_part(void *scratch, int64_t width)
{
    xlm_real *z = (xlm_real *)(void *)((char *)scratch + part_bytes(width) * (uint64_t)omp_get_thread_num());
    return (struct part){.z = z, .rounded = (uint16_t *)(void *)(z + MOST_ROWS * width)};
}

/* Of z and dz; and where dx is not wanted, of it. */
static int64_t width_of(const struct state *s) { return MAX(s->inner->rows, s->x->cols); }

static void forward(const struct state *s, activation_kernel *activate, uint16_t *active, uint16_t *slope)
{
    const int64_t n = s->x->rows, f = s->inner->rows, out = s->outer->rows;
    const xlm_packed *inner = xlm_product_parameter(s->tape, s->inner, true);
    const xlm_packed *outer = xlm_product_parameter(s->tape, s->outer, true);
    const xlm_packed_blocks blocks = xlm_packed_divide(inner, n);
    void *scratch = xlm_tape_borrow(s->tape, xlm_feed_forward_scratch_bytes(width_of(s)));
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < blocks.count; k++) {
        const int64_t first = xlm_packed_block_start(&blocks, k), rows = xlm_packed_block_start(&blocks, k + 1) - first;
        xlm_real *z = own_part(scratch, width_of(s)).z;
        uint16_t *a = active + first * f;
        xlm_packed_multiply(inner, rows, false, xlm_factor_of(s->x, first), NULL, false, z);
        for (int64_t i = 0; i < rows; i++)
            activate(f, z + i * f, s->bias->value, a + i * f, slope != NULL ? slope + (first + i) * f : NULL);
        xlm_packed_multiply(outer, rows, false, xlm_rounded(a), NULL, false, s->y->value + first * out);
    }
    xlm_tape_return(s->tape, scratch);
}

/* The backward pass up to the gradients of the weights. */
struct gradients {
    xlm_grad dx;
    int64_t depth;      /* n rounded up */
    uint16_t *dy, *dz;  /* [d' x depth], [F x depth] transposed and rounded */
    xlm_real *sums;     /* [chunks x F] */
};

static void backward_rows(const struct state *s, const struct gradients *g, void *scratch)
{
    const int64_t n = s->x->rows, d = s->x->cols, f = s->inner->rows, out = s->outer->rows;
    const xlm_packed *inner = xlm_product_parameter(s->tape, s->inner, false);
    const xlm_packed *outer = xlm_product_parameter(s->tape, s->outer, false);
    const xlm_packed_blocks blocks = xlm_packed_divide(inner, n);
    const xlm_kernels *kernel = xlm_kernels_get();
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < blocks.count; k++) {
        const int64_t first = xlm_packed_block_start(&blocks, k), rows = xlm_packed_block_start(&blocks, k + 1) - first;
        const struct part own = own_part(scratch, width_of(s));
        xlm_real *dz = own.z, *sums = g->sums + first / CHUNK * f;
        xlm_packed_multiply_and_transpose(outer, rows, xlm_floats(s->y->grad + first * out), false, dz, g->dy + first, g->depth,
                                          NULL);
        memset(sums, 0, sizeof *sums * (size_t)(chunks_of(rows) * f));
        for (int64_t i = 0; i < rows; i++)
            kernel->slope_back_bfloat16(f, s->slope + (first + i) * f, dz + i * f, own.rounded + i * f, sums + i / CHUNK * f);
        xlm_real *dx = g->dx.at != NULL ? g->dx.at + first * d : dz;
        xlm_packed_multiply_and_transpose(inner, rows, xlm_rounded(own.rounded), g->dx.add, dx, g->dz + first, g->depth, NULL);
    }
}

static void backward(void *pointer)
{
    const struct state *s = pointer;
    const int64_t n = s->x->rows, f = s->inner->rows, chunks = chunks_of(n), depth = xlm_packed_depth(n);
    void *scratch = xlm_tape_borrow(s->tape, xlm_feed_forward_scratch_bytes(width_of(s)));
    struct gradients g = {
        .dx = xlm_grad_open(s->x),
        .depth = depth,
        .dy = XLM_TAPE_BORROW(s->tape, uint16_t, s->outer->rows * depth),
        .dz = XLM_TAPE_BORROW(s->tape, uint16_t, f * depth),
        .sums = XLM_TAPE_BORROW(s->tape, xlm_real, chunks * f),
    };
    backward_rows(s, &g, scratch);
    xlm_tape_return(s->tape, scratch);
    const xlm_grad dw2 = xlm_grad_open(s->outer), dw1 = xlm_grad_open(s->inner);
    if (dw2.at != NULL)
        xlm_product_of_rounded(s->tape, n, g.dy, xlm_rounded(s->active), s->outer, dw2);
    if (dw1.at != NULL)
        xlm_product_of_rounded(s->tape, n, g.dz, xlm_factor_of(s->x, 0), s->inner, dw1);
    xlm_real *db = xlm_grad_add(s->bias);
    if (db != NULL)
        xlm_sum_chunks(chunks, f, g.sums, db);
    xlm_tape_return(s->tape, g.sums);
    xlm_tape_return(s->tape, g.dz);
    xlm_tape_return(s->tape, g.dy);
}

bool xlm_feed_forward_rounds(const xlm_tape *tape, const xlm_var *weight) { return xlm_product_rounds(tape, weight); }

xlm_var *xlm_feed_forward(xlm_tape *tape, xlm_var *x, xlm_var *inner, xlm_var *bias, xlm_var *outer, bool tanh)
{
    const int64_t n = x->rows, f = inner->rows;
    if (inner->cols != x->cols || bias->rows != 1 || bias->cols != f || outer->cols != f)
        xlm_tape_fail("feed_forward", "x has %" G_GINT64_FORMAT " columns, the weights %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
                      ", for %" G_GINT64_FORMAT " inner ones", x->cols, inner->cols, outer->cols, f);
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    xlm_var *const inputs[] = {x, inner, bias, outer};
    xlm_var *y = xlm_tape_record(tape, "feed_forward", n, outer->rows, 4, inputs, backward, s);
    y->keys = x->keys;
    xlm_tape_passing(y);
    *s = (struct state){.tape = tape, .x = x, .inner = inner, .bias = bias, .outer = outer, .y = y};
    const xlm_kernels *kernel = xlm_kernels_get();
    activation_kernel *activate = tanh ? kernel->gelu_tanh_bfloat16 : kernel->gelu_bfloat16;
    if (y->grad != NULL) {
        s->active = XLM_TAPE_TAKE(tape, uint16_t, n * f);
        s->slope = XLM_TAPE_TAKE(tape, uint16_t, n * f);
        forward(s, activate, s->active, s->slope);
    } else {
        uint16_t *active = XLM_TAPE_BORROW(tape, uint16_t, n * f);
        forward(s, activate, active, NULL);
        xlm_tape_return(tape, active);
    }
    return y;
}
