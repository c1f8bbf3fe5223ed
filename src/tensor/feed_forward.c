/* xlm-mpi: the feed-forward layer of a transformer as one operator. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * With z = x W₁ᵀ + b₁, a = GELU z, y = a W₂ᵀ the backward pass is
 *     dz = (dy W₂) ∘ GELU' z,  dx = dz W₁,  dW₁ = dzᵀ x,  dW₂ = dyᵀ a,  db₁ = column sums of dz.
 * The same holds for other activations. With a gate, z = (u, v), a = GELU(u) ∘ v and
 *     dz = ((dy W₂) ∘ GELU'(u) ∘ v, (dy W₂) ∘ GELU(u)).
 * Each block of rows goes through both products one after the other, so that z and dz are still in a cache when they are read. a
 * and GELU' z are kept for the backward pass. In bfloat16 these two are rounded, each thread has z and dz of only one block at a
 * time, and dy and dz are rounded once for their two products; in float32 z is in the memory where a will be, except with a gate,
 * and dz exists as a whole. */
#include "tensor/feed_forward.h"

#include <omp.h>
#include <string.h>

#include "gemm/gemm.h"
#include "kernels/kernels.h"
#include "tensor/products.h"

enum {
    MAX_ROWS = XLM_PACKED_MAX_ROWS, /* of a block */
    CHUNK = XLM_PACKED_ROWS         /* rows of a partial sum, however many rows a block has */
};

static int64_t chunks_of(int64_t rows) { return (rows + CHUNK - 1) / CHUNK; }

struct state {
    xlm_tape *tape;
    xlm_var *x, *inner, *bias, *outer, *y;
    const xlm_activation_kernels *kernel;
    bool rounds, gated;
    void *active, *slope; /* [n x F] a; [n x width of z] its derivatives by z; in bfloat16 where `rounds` */
};

/* The place of number `index` of an array that is kept. */
static void *kept_at(const struct state *s, void *kept, int64_t index)
{
    return (char *)kept + (s->rounds ? sizeof(uint16_t) : sizeof(xlm_real)) * (size_t)index;
}

static void *active_row(const struct state *s, void *active, int64_t row) { return kept_at(s, active, row * s->outer->cols); }
static void *slope_row(const struct state *s, void *slope, int64_t row) { return kept_at(s, slope, row * s->inner->rows); }

static xlm_factor factor_of(const struct state *s, const void *kept) { return s->rounds ? xlm_rounded(kept) : xlm_floats(kept); }

/* Scratch memory of a thread if products are computed in bfloat16, or with a gate: [MAX_ROWS x width] each. */
struct part {
    xlm_real *z;
    uint16_t *rounded;
};

static uint64_t part_bytes(int64_t width) { return (sizeof(xlm_real) + sizeof(uint16_t)) * (uint64_t)(MAX_ROWS * width); }

/* The width of a thread's memory: that of z and dz, and of dx, which is computed there if it is not wanted. */
static int64_t width_of(const struct state *s) { return MAX(s->inner->rows, s->x->cols); }

/* Do threads need scratch memory? */
static bool has_parts(const struct state *s) { return s->rounds || s->gated; }

/* The scratch memory of all threads, or NULL. */
static void *borrow_parts(const struct state *s)
{
    return has_parts(s) ? xlm_tape_borrow(s->tape, part_bytes(width_of(s)) * (uint64_t)omp_get_max_threads()) : NULL;
}

static void return_parts(const struct state *s, void *parts)
{
    if (parts != NULL)
        xlm_tape_return(s->tape, parts);
}

static struct part own_part(void *parts, int64_t width)
{
    xlm_real *z = (xlm_real *)(void *)((char *)parts + part_bytes(width) * (uint64_t)omp_get_thread_num());
    return (struct part){.z = z, .rounded = (uint16_t *)(void *)(z + MAX_ROWS * width)};
}

/* On a tape of shapes, counts the memory that is borrowed for the blocks and their two products, and returns true. */
static bool are_counted(const struct state *s)
{
    if (xlm_var_has_numbers(s->y))
        return false;
    return_parts(s, borrow_parts(s));
    xlm_gemm_count(2 * (double)s->x->rows * ((double)s->inner->rows * (double)s->inner->cols +
                                             (double)s->outer->rows * (double)s->outer->cols));
    return true;
}

/* Computes a and its derivatives from rows of z. */
static void activate(const struct state *s, int64_t rows, const xlm_real *z, void *active, void *slope)
{
    const xlm_activation_kernels *kernel = s->kernel;
    const int64_t f = s->outer->cols;
    const xlm_real *bias = s->bias != NULL ? s->bias->value : NULL;
    for (int64_t i = 0; i < rows; i++, z += s->inner->rows) {
        void *a = active_row(s, active, i), *g = slope != NULL ? slope_row(s, slope, i) : NULL;
        if (!s->gated && s->rounds)
            kernel->forward_bfloat16(f, z, bias, a, g);
        else if (!s->gated)
            kernel->forward(f, z, bias, a, g);
        else if (s->rounds)
            kernel->gate_bfloat16(f, z, bias, a, g, g != NULL ? kept_at(s, g, f) : NULL);
        else
            kernel->gate(f, z, bias, a, g, g != NULL ? kept_at(s, g, f) : NULL);
    }
}

static void forward(const struct state *s, void *active, void *slope)
{
    if (are_counted(s))
        return;
    const int64_t n = s->x->rows, out = s->outer->rows;
    const xlm_packed *inner = xlm_product_parameter(s->tape, s->inner, true);
    const xlm_packed *outer = xlm_product_parameter(s->tape, s->outer, true);
    const xlm_packed_blocks blocks = xlm_packed_divide(inner, n);
    void *parts = borrow_parts(s);
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < blocks.count; k++) {
        const int64_t first = xlm_packed_block_start(&blocks, k), rows = xlm_packed_block_start(&blocks, k + 1) - first;
        void *a = active_row(s, active, first);
        xlm_real *z = has_parts(s) ? own_part(parts, width_of(s)).z : a;
        xlm_packed_multiply(inner, rows, false, xlm_factor_of(s->x, first), NULL, false, z);
        activate(s, rows, z, a, slope != NULL ? slope_row(s, slope, first) : NULL);
        xlm_packed_multiply(outer, rows, false, factor_of(s, a), NULL, false, s->y->value + first * out);
    }
    return_parts(s, parts);
}

/* The backward pass up to the gradients of the weights. */
struct gradients {
    const xlm_packed *inner, *outer;
    xlm_grad dx;
    xlm_real *sums;          /* [chunks x width of z] column sums of dz */
    xlm_real *dz;            /* [n x width of z] in float32, else NULL */
    int64_t depth;           /* n rounded up */
    uint16_t *dy_transposed; /* [d' x depth] in bfloat16, else NULL */
    uint16_t *dz_transposed; /* [width of z x depth] the same */
};

static void backward_block(const struct state *s, const struct gradients *g, int64_t first, int64_t rows, void *parts)
{
    const int64_t d = s->x->cols, f = s->inner->rows, width = s->outer->cols; /* of z, and of a: the same, or half of it */
    const xlm_real *dy = s->y->grad + first * s->outer->rows;
    const xlm_kernels *kernel = xlm_kernels_get();
    xlm_real *sums = g->sums + first / CHUNK * f;
    memset(sums, 0, sizeof *sums * (size_t)(chunks_of(rows) * f));
    if (!s->rounds) {
        xlm_real *dz = g->dz + first * f, *da = s->gated ? own_part(parts, width_of(s)).z : dz;
        xlm_packed_multiply(g->outer, rows, false, xlm_floats(dy), NULL, false, da);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t c = 0; c < f; c += width)
                kernel->slope_back(width, (const xlm_real *)slope_row(s, s->slope, first + i) + c, da + i * width, dz + i * f + c,
                                   sums + i / CHUNK * f + c);
        if (g->dx.at != NULL)
            xlm_packed_multiply(g->inner, rows, false, xlm_floats(dz), NULL, g->dx.add, g->dx.at + first * d);
        return;
    }
    const struct part own = own_part(parts, width_of(s));
    xlm_packed_multiply_and_transpose(g->outer, rows, xlm_floats(dy), false, own.z, g->dy_transposed + first, g->depth, NULL);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < f; c += width)
            kernel->slope_back_bfloat16(width, (const uint16_t *)slope_row(s, s->slope, first + i) + c, own.z + i * width,
                                        own.rounded + i * f + c, sums + i / CHUNK * f + c);
    xlm_real *dx = g->dx.at != NULL ? g->dx.at + first * d : own.z;
    xlm_packed_multiply_and_transpose(g->inner, rows, xlm_rounded(own.rounded), g->dx.add, dx, g->dz_transposed + first, g->depth,
                                      NULL);
}

static void backward_rows(const struct state *s, const struct gradients *g)
{
    if (are_counted(s))
        return;
    const xlm_packed_blocks blocks = xlm_packed_divide(g->inner, s->x->rows);
    void *parts = borrow_parts(s);
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < blocks.count; k++) {
        const int64_t first = xlm_packed_block_start(&blocks, k);
        backward_block(s, g, first, xlm_packed_block_start(&blocks, k + 1) - first, parts);
    }
    return_parts(s, parts);
}

/* Computes dW₁ and dW₂. */
static void backward_weights(const struct state *s, const struct gradients *g)
{
    const int64_t n = s->x->rows;
    const xlm_grad dw2 = xlm_grad_open(s->outer), dw1 = xlm_grad_open(s->inner);
    const xlm_factor a = factor_of(s, s->active), x = xlm_factor_of(s->x, 0);
    if (dw2.at != NULL && s->rounds)
        xlm_product_of_rounded(s->tape, n, g->dy_transposed, a, s->outer, dw2);
    else if (dw2.at != NULL)
        xlm_product_of_weight(s->tape, n, s->y->grad, a, s->outer, dw2);
    if (dw1.at != NULL && s->rounds)
        xlm_product_of_rounded(s->tape, n, g->dz_transposed, x, s->inner, dw1);
    else if (dw1.at != NULL)
        xlm_product_of_weight(s->tape, n, g->dz, x, s->inner, dw1);
}

static void backward(void *pointer)
{
    const struct state *s = pointer;
    const int64_t n = s->x->rows, f = s->inner->rows, chunks = chunks_of(n);
    struct gradients g = {
        .inner = xlm_product_parameter(s->tape, s->inner, false),
        .outer = xlm_product_parameter(s->tape, s->outer, false),
        .dx = xlm_grad_open(s->x),
        .sums = XLM_TAPE_BORROW(s->tape, xlm_real, chunks * f),
    };
    if (s->rounds) {
        g.depth = xlm_packed_depth(n);
        g.dy_transposed = XLM_TAPE_BORROW(s->tape, uint16_t, s->outer->rows * g.depth);
        g.dz_transposed = XLM_TAPE_BORROW(s->tape, uint16_t, f * g.depth);
    } else {
        g.dz = XLM_TAPE_BORROW(s->tape, xlm_real, n * f);
    }
    backward_rows(s, &g);
    backward_weights(s, &g);
    xlm_real *db = s->bias != NULL ? xlm_grad_add(s->bias) : NULL;
    if (db != NULL && xlm_var_has_numbers(s->y))
        xlm_sum_chunks(chunks, f, g.sums, db);
    if (s->rounds) {
        xlm_tape_return(s->tape, g.dz_transposed);
        xlm_tape_return(s->tape, g.dy_transposed);
    } else {
        xlm_tape_return(s->tape, g.dz);
    }
    xlm_tape_return(s->tape, g.sums);
}

xlm_var *xlm_feed_forward(xlm_tape *tape, xlm_activation activation, xlm_var *x, xlm_var *inner, xlm_var *bias, xlm_var *outer)
{
    const int64_t n = x->rows, f = inner->rows;
    const bool gated = f == 2 * outer->cols;
    if (inner->cols != x->cols || (bias != NULL && (bias->rows != 1 || bias->cols != f)) || (outer->cols != f && !gated))
        xlm_tape_fail("feed_forward", "x has %" G_GINT64_FORMAT " columns, the weights %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
                      ", for %" G_GINT64_FORMAT " inner ones", x->cols, inner->cols, outer->cols, f);
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    xlm_var *const inputs[] = {x, inner, outer, bias};
    xlm_var *y = xlm_tape_record(tape, "feed_forward", n, outer->rows, bias != NULL ? 4 : 3, inputs, backward, s);
    y->keys = x->keys;
    xlm_tape_passing(y);
    *s = (struct state){.tape = tape, .x = x, .inner = inner, .bias = bias, .outer = outer, .y = y, .gated = gated,
                        .kernel = &xlm_kernels_get()->activation[activation], .rounds = xlm_product_rounds(tape, inner)};
    const uint64_t one = s->rounds ? sizeof(uint16_t) : sizeof(xlm_real), bytes = one * (uint64_t)(n * outer->cols);
    if (y->grad != NULL) {
        s->active = xlm_tape_take_numbers(tape, bytes);
        s->slope = xlm_tape_take_numbers(tape, one * (uint64_t)(n * f));
        forward(s, s->active, s->slope);
    } else {
        void *active = xlm_tape_borrow(tape, bytes);
        forward(s, active, NULL);
        xlm_tape_return(tape, active);
    }
    return y;
}
