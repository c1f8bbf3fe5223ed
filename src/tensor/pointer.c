/* xlm-mpi: cross-entropy of a pointer network. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * With z_ij = q_i·k_j / √d over the keys j of query i's group, p_i = softmax z_i, and t_ij = 1 / |labels(i)| for its labels, else
 * 0, L = −(1/n) Σ_i Σ_j t_ij log p_ij, and backwards, c_ij = (p_ij − t_ij) dL / (n √d),
 *     dq_i = Σ_j c_ij k_j,  dk_j = Σ_i c_ij q_i.
 * Groups are divided among threads, because no two groups share queries or keys. */
#include <math.h>
#include <string.h>

#include "gemm/gemm.h"
#include "kernels/kernels.h"
#include "tensor/tape.h"

struct state {
    xlm_var *query, *key, *y;      /* n x d, m x d, 1 x 1 */
    xlm_pointer_targets targets;   /* copied */
    int64_t *places;               /* [groups + 1] where the numbers of a group begin in exponentials */
    xlm_real *exponentials;        /* for each group queries x keys: exp(z − max); in the backward pass c */
    xlm_real *inverse;             /* [n] 1 / Σ of the query's exponentials */
};

static bool is_large(const struct state *s)
{
    return s->targets.groups > 1 && s->places[s->targets.groups] * s->query->cols > XLM_PARALLEL;
}

/* Operations of the products of all queries with the keys of their groups. */
static double product_flops(const struct state *s)
{
    return 2 * (double)s->places[s->targets.groups] * (double)s->query->cols;
}

/* Replaces the exponentials of query i, those in `row`, by c. */
static void differentiate(const struct state *s, int64_t i, int32_t group, xlm_real *row)
{
    const xlm_pointer_targets *t = &s->targets;
    const double scale = (double)*s->y->grad / ((double)s->query->rows * sqrt((double)s->query->cols));
    const int32_t labels = t->offsets[i + 1] - t->offsets[i];
    xlm_kernels_get()->scale(t->keys[group], (xlm_real)(scale * (double)s->inverse[i]), row, row, false);
    for (int32_t l = t->offsets[i]; l < t->offsets[i + 1]; l++)
        row[t->labels[l] - t->first[group]] -= (xlm_real)(scale / labels);
}

static void backward(void *pointer)
{
    const struct state *s = pointer;
    const xlm_pointer_targets *t = &s->targets;
    const int64_t d = s->query->cols;
    const int32_t groups = xlm_var_has_numbers(s->y) ? t->groups : 0;
#pragma omp parallel for schedule(static) if (is_large(s))
    for (int32_t g = 0; g < groups; g++)
        for (int32_t i = t->queries[g]; i < t->queries[g + 1]; i++)
            differentiate(s, i, g, s->exponentials + s->places[g] + (int64_t)(i - t->queries[g]) * t->keys[g]);
    /* Each gradient is complete before the next is opened, because both inputs may be the same variable. */
    const xlm_grad dq = xlm_grad_open(s->query);
#pragma omp parallel for schedule(static) if (is_large(s))
    for (int32_t g = 0; g < (dq.at != NULL ? groups : 0); g++)
        if (t->queries[g + 1] > t->queries[g])
            xlm_gemm(false, false, t->queries[g + 1] - t->queries[g], d, t->keys[g], 1, s->exponentials + s->places[g], t->keys[g],
                     s->key->value + t->first[g] * d, d, dq.add, dq.at + t->queries[g] * d, d);
    xlm_real *dk = xlm_grad_add(s->key);
#pragma omp parallel for schedule(static) if (is_large(s))
    for (int32_t g = 0; g < (dk != NULL ? groups : 0); g++)
        if (t->queries[g + 1] > t->queries[g])
            xlm_gemm(true, false, t->keys[g], d, t->queries[g + 1] - t->queries[g], 1, s->exponentials + s->places[g], t->keys[g],
                     s->query->value + t->queries[g] * d, d, 1, dk + t->first[g] * d, d);
    if (!xlm_var_has_numbers(s->y))
        xlm_gemm_count(((dq.at != NULL) + (dk != NULL)) * product_flops(s));
}

/* ---- forwards ---- */

static void check_group(const xlm_pointer_targets *t, int32_t g, const xlm_var *key)
{
    const int64_t before = g > 0 ? (int64_t)t->first[g - 1] + t->keys[g - 1] : 0, end = (int64_t)t->first[g] + t->keys[g];
    if (t->queries[g + 1] < t->queries[g] || t->keys[g] < 1 || t->first[g] < before || end > key->rows)
        xlm_tape_fail("pointer_cross_entropy", "group %d has queries from %d to %d and keys from %d on, %d of %" G_GINT64_FORMAT,
                      g, t->queries[g], t->queries[g + 1], t->first[g], t->keys[g], key->rows);
    for (int32_t i = t->queries[g]; i < t->queries[g + 1]; i++) {
        bool good = t->offsets[i + 1] > t->offsets[i];
        for (int32_t l = t->offsets[i]; l < t->offsets[i + 1]; l++)
            good &= t->labels[l] >= t->first[g] && t->labels[l] < end;
        if (!good)
            xlm_tape_fail("pointer_cross_entropy", "query %d has no label, or one that is no key of its group", i);
    }
}

static void check(const xlm_var *query, const xlm_var *key, const xlm_pointer_targets *t)
{
    if (query->rows < 1 || key->cols != query->cols || t->queries[0] != 0 || t->queries[t->groups] != query->rows ||
        t->offsets[0] != 0)
        xlm_tape_fail("pointer_cross_entropy", "queries of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " with keys of %"
                      G_GINT64_FORMAT " x %" G_GINT64_FORMAT ", for groups of %d queries together", query->rows, query->cols,
                      key->rows, key->cols, t->queries[t->groups]);
    for (int32_t g = 0; g < t->groups; g++)
        check_group(t, g, key);
}

static int32_t *copy(xlm_tape *tape, const int32_t *from, int64_t n)
{
    return memcpy(XLM_TAPE_TAKE(tape, int32_t, n), from, sizeof *from * (size_t)n);
}

/* Returns the loss of query i of a group, and replaces its products with the keys by their exponentials. */
static double finish_row(const struct state *s, int64_t i, int32_t group, xlm_real *row, xlm_score *score)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    const xlm_pointer_targets *t = &s->targets;
    const int32_t labels = t->offsets[i + 1] - t->offsets[i];
    const xlm_real highest = kernel->maximum(t->keys[group], row);
    double of_labels = 0;
    bool correct = false;
    for (int32_t l = t->offsets[i]; l < t->offsets[i + 1]; l++) {
        const xlm_real z = row[t->labels[l] - t->first[group]];
        of_labels += (double)highest - (double)z;
        correct |= z >= highest;
    }
    const double sum = kernel->exp_sum(t->keys[group], row, highest, row);
    s->inverse[i] = (xlm_real)(1 / sum);
    const double loss = log(sum) + of_labels / labels;
    if (score != NULL)
        *score = (xlm_score){.loss = (float)loss, .correct = correct};
    return loss;
}

static void run_group(const struct state *s, int32_t g, double *losses, xlm_score *scores)
{
    const xlm_pointer_targets *t = &s->targets;
    const int64_t d = s->query->cols, first = t->queries[g], n = t->queries[g + 1] - first;
    if (n == 0)
        return;
    xlm_gemm(false, true, n, t->keys[g], d, 1 / sqrt((double)d), s->query->value + first * d, d, s->key->value + t->first[g] * d,
             d, 0, s->exponentials + s->places[g], t->keys[g]);
    for (int64_t i = first; i < first + n; i++)
        losses[i] = finish_row(s, i, g, s->exponentials + s->places[g] + (i - first) * t->keys[g],
                               scores != NULL ? &scores[i] : NULL);
}

xlm_var *xlm_pointer_cross_entropy(xlm_tape *tape, xlm_var *query, xlm_var *key, const xlm_pointer_targets *targets,
                                   xlm_score *scores)
{
    check(query, key, targets);
    const int64_t n = query->rows, groups = targets->groups;
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    xlm_var *const inputs[] = {query, key};
    xlm_var *y = xlm_tape_record(tape, "pointer_cross_entropy", 1, 1, 2, inputs, backward, s);
    y->keys = NULL;
    *s = (struct state){
        .query = query, .key = key, .y = y, .places = XLM_TAPE_TAKE(tape, int64_t, groups + 1),
        .inverse = XLM_TAPE_NUMBERS(tape, xlm_real, n),
        .targets = {
            .groups = targets->groups, .queries = copy(tape, targets->queries, groups + 1),
            .first = copy(tape, targets->first, groups), .keys = copy(tape, targets->keys, groups),
            .offsets = copy(tape, targets->offsets, n + 1), .labels = copy(tape, targets->labels, targets->offsets[n]),
        },
    };
    s->places[0] = 0;
    for (int64_t g = 0; g < groups; g++)
        s->places[g + 1] = s->places[g] + (int64_t)(targets->queries[g + 1] - targets->queries[g]) * targets->keys[g];
    s->exponentials = XLM_TAPE_NUMBERS(tape, xlm_real, s->places[groups]);
    xlm_tape_moves(tape, (double)sizeof(xlm_real) * (double)((n + key->rows) * query->cols + 3 * s->places[groups]));
    double *losses = XLM_TAPE_BORROW(tape, double, n);
    if (!xlm_var_has_numbers(y)) {
        xlm_gemm_count(product_flops(s));
        xlm_tape_return(tape, losses);
        if (scores != NULL)
            memset(scores, 0, sizeof *scores * (size_t)n);
        return y;
    }
#pragma omp parallel for schedule(static) if (is_large(s))
    for (int32_t g = 0; g < s->targets.groups; g++)
        run_group(s, g, losses, scores);
    double total = 0;
    for (int64_t i = 0; i < n; i++)
        total += losses[i];
    xlm_tape_return(tape, losses);
    *y->value = (xlm_real)(total / (double)n);
    return y;
}
