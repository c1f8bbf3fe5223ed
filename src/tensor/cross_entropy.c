/* xlm-mpi: cross-entropy of given logits. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * L = (1/n) Σ_i [log Σ_j exp z_ij − z_i,target(i)]; backwards dz = (softmax z − onehot) dL / n. */
#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "tensor/rows.h"
#include "tensor/tape.h"

struct state {
    xlm_var *logits, *y;
    const int32_t *targets; /* [n] */
    xlm_real *exponentials; /* [n x m] exp(z − max) */
    xlm_real *inverse;      /* [n] 1 / Σ exp(z − max) */
};

static void backward(void *pointer)
{
    const struct state *s = pointer;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = s->logits->rows, m = s->logits->cols;
    const xlm_grad dz = xlm_grad_open(s->logits);
    if (!xlm_var_has_numbers(s->y))
        return;
    const xlm_real factor = *s->y->grad / (xlm_real)n;
#pragma omp parallel for schedule(static) if (n * m > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++) {
        kernel->scale(m, factor * s->inverse[i], s->exponentials + i * m, dz.at + i * m, dz.add);
        dz.at[i * m + s->targets[i]] -= factor;
    }
}

xlm_var *xlm_cross_entropy(xlm_tape *tape, xlm_var *logits, const int32_t *targets, xlm_score *scores)
{
    const int64_t n = logits->rows, m = logits->cols;
    if (n < 1)
        xlm_tape_fail("cross_entropy", "there are no rows");
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    xlm_var *y = xlm_tape_record(tape, "cross_entropy", 1, 1, 1, &logits, backward, s);
    y->keys = NULL;
    *s = (struct state){
        .logits = logits, .y = y, .targets = xlm_rows_copy_index(tape, "cross_entropy", n, targets, 0, m),
        .exponentials = XLM_TAPE_NUMBERS(tape, xlm_real, n * m), .inverse = XLM_TAPE_NUMBERS(tape, xlm_real, n),
    };
    const xlm_kernels *kernel = xlm_kernels_get();
    double *losses = XLM_TAPE_BORROW(tape, double, n);
    if (!xlm_var_has_numbers(y)) {
        xlm_tape_return(tape, losses);
        if (scores != NULL)
            memset(scores, 0, sizeof *scores * (size_t)n);
        return y;
    }
#pragma omp parallel for schedule(static) if (n * m > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++) {
        const xlm_real *z = logits->value + i * m;
        const xlm_real highest = kernel->maximum(m, z), target = z[s->targets[i]];
        const double sum = kernel->exp_sum(m, z, highest, s->exponentials + i * m);
        s->inverse[i] = (xlm_real)(1 / sum);
        losses[i] = log(sum) + ((double)highest - (double)target);
        if (scores != NULL)
            scores[i] = (xlm_score){.loss = (float)losses[i], .correct = target >= highest};
    }
    double total = 0;
    for (int64_t i = 0; i < n; i++)
        total += losses[i];
    xlm_tape_return(tape, losses);
    *y->value = (xlm_real)(total / (double)n);
    return y;
}
