/* xlm-mpi: InfoNCE, the cross-entropy of each row's own candidate against many that all rows share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * With p_i = softmax of (q_i·k_i, q_i·z_1, …, q_i·z_m) / τ, L = −(1/n) Σ_i log p_i0, and backwards, c = dL / (n τ),
 *     dq_i = c [(p_i0 − 1) k_i + Σ_j p_ij z_j],  dk_i = c (p_i0 − 1) q_i,  dz_j = c Σ_i p_ij q_i. */
#include <math.h>
#include <string.h>

#include "gemm/gemm.h"
#include "kernels/kernels.h"
#include "tensor/tape.h"

struct state {
    xlm_var *query, *positive, *negatives, *y; /* n x d, n x d, m x d, 1 x 1 */
    double temperature;
    xlm_real *exponentials; /* [n x m] exp(q·z/τ − max); backwards c p_ij */
    xlm_real *own;          /* [n] p_i0 − 1; backwards c (p_i0 − 1) */
    xlm_real *inverse;      /* [n] 1 / Σ of the row's exponentials */
};

/* Replaces the exponentials by c p_ij, and p_i0 − 1 by c (p_i0 − 1), of which the gradients are sums. */
static void differentiate(const struct state *s)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = s->query->rows, m = s->negatives->rows;
    if (!xlm_var_has_numbers(s->y))
        return;
    const xlm_real c = (xlm_real)((double)*s->y->grad / ((double)n * s->temperature));
#pragma omp parallel for schedule(static) if (n * m > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++) {
        xlm_real *row = s->exponentials + i * m;
        kernel->scale(m, c * s->inverse[i], row, row, false);
        s->own[i] *= c;
    }
}

/* one_i = or += c (p_i0 − 1) other_i. */
static void add_own(const struct state *s, const xlm_var *other, xlm_grad one)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = xlm_var_has_numbers(other) ? other->rows : 0, d = other->cols;
#pragma omp parallel for schedule(static) if (n * d > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++)
        kernel->scale(d, s->own[i], other->value + i * d, one.at + i * d, one.add);
}

/* On a tape of shapes, counts a product with the negatives, and returns true. */
static bool is_counted(const struct state *s)
{
    const bool counted = !xlm_var_has_numbers(s->y);
    if (counted)
        xlm_gemm_count(2 * (double)s->query->rows * (double)s->negatives->rows * (double)s->query->cols);
    return counted;
}

/* Each gradient is complete before the next is opened, because two inputs may be the same variable. */
static void backward(void *pointer)
{
    const struct state *s = pointer;
    const int64_t n = s->query->rows, d = s->query->cols, m = s->negatives->rows;
    differentiate(s);
    const xlm_grad dq = xlm_grad_open(s->query);
    if (dq.at != NULL) {
        add_own(s, s->positive, dq);
        if (m > 0 && !is_counted(s))
            xlm_gemm(false, false, n, d, m, 1, s->exponentials, m, s->negatives->value, d, 1, dq.at, d);
    }
    const xlm_grad dk = xlm_grad_open(s->positive);
    if (dk.at != NULL)
        add_own(s, s->query, dk);
    const xlm_grad dz = xlm_grad_open(s->negatives);
    if (dz.at != NULL && m > 0 && !is_counted(s))
        xlm_gemm(true, false, m, d, n, 1, s->exponentials, m, s->query->value, d, dz.add, dz.at, d);
}

static void check(const struct state *s)
{
    const xlm_var *q = s->query, *k = s->positive, *z = s->negatives;
    if (q->rows < 1 || k->rows != q->rows || k->cols != q->cols || z->cols != q->cols)
        xlm_tape_fail("info_nce", "queries of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " with positives of %" G_GINT64_FORMAT
                      " x %" G_GINT64_FORMAT " and negatives of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT, q->rows, q->cols,
                      k->rows, k->cols, z->rows, z->cols);
    if (!(s->temperature > 0))
        xlm_tape_fail("info_nce", "a temperature of %g", s->temperature);
}

/* Returns the loss of row i, and replaces its products with the negatives by their exponentials. */
static double finish_row(const struct state *s, int64_t i, xlm_score *score)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t d = s->query->cols, m = s->negatives->rows;
    xlm_real *row = s->exponentials + i * m;
    const xlm_real own = (xlm_real)((double)kernel->dot(d, s->query->value + i * d, s->positive->value + i * d) / s->temperature);
    const xlm_real highest = m > 0 ? MAX(own, kernel->maximum(m, row)) : own;
    const double of_own = exp((double)own - (double)highest);
    const double others = m > 0 ? kernel->exp_sum(m, row, highest, row) : 0, sum = of_own + others;
    s->inverse[i] = (xlm_real)(1 / sum);
    s->own[i] = (xlm_real)(-others / sum); /* not p − 1: digits would be lost where p is close to 1 */
    const double loss = log(sum) + ((double)highest - (double)own);
    if (score != NULL)
        *score = (xlm_score){.loss = (float)loss, .correct = own >= highest};
    return loss;
}

xlm_var *xlm_info_nce(xlm_tape *tape, xlm_var *query, xlm_var *positive, xlm_var *negatives, double temperature,
                      xlm_score *scores)
{
    const int64_t n = query->rows, d = query->cols, m = negatives->rows;
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    *s = (struct state){.query = query, .positive = positive, .negatives = negatives, .temperature = temperature};
    check(s);
    xlm_var *const inputs[] = {query, positive, negatives};
    xlm_var *y = xlm_tape_record(tape, "info_nce", 1, 1, 3, inputs, backward, s);
    y->keys = NULL;
    s->y = y;
    s->exponentials = XLM_TAPE_NUMBERS(tape, xlm_real, n * m);
    s->own = XLM_TAPE_NUMBERS(tape, xlm_real, n);
    s->inverse = XLM_TAPE_NUMBERS(tape, xlm_real, n);
    xlm_tape_moves(tape, (double)sizeof(xlm_real) * (double)(2 * n * d + m * d + 3 * n * m));
    const bool counted = is_counted(s);
    if (m > 0 && !counted)
        xlm_gemm(false, true, n, m, d, 1 / temperature, query->value, d, negatives->value, d, 0, s->exponentials, m);
    double *losses = XLM_TAPE_BORROW(tape, double, n);
    if (counted) {
        xlm_tape_return(tape, losses);
        if (scores != NULL)
            memset(scores, 0, sizeof *scores * (size_t)n);
        return y;
    }
#pragma omp parallel for schedule(static) if (n * (m + d) > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++)
        losses[i] = finish_row(s, i, scores != NULL ? &scores[i] : NULL);
    double total = 0;
    for (int64_t i = 0; i < n; i++)
        total += losses[i];
    xlm_tape_return(tape, losses);
    *y->value = (xlm_real)(total / (double)n);
    return y;
}
