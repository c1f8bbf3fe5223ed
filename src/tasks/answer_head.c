/* xlm-mpi: the head that finds answers, and its loss. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/answer_head.h"

#include <glib.h>
#include <math.h>

void xlm_answer_declare(xlm_loss *self, xlm_declaration *declaration, xlm_head_form form)
{
    static const xlm_view all = {.text = XLM_TEXT_CORRUPTED, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_ALL,
                                 .gradient = true, .dropout = true};
    xlm_declare_view(declaration, &all);
    xlm_head_form_declare(self, declaration, form);
    xlm_declare_weight(declaration, "weight", 2, self->setup->model->hidden_size);
}

/* Query 2s is w_start, and query 2s + 1 is w_end; both choose among all rows of sequence s. The two predicted rows of a sequence
 * are in the same order (xlm_answer_text_encode). The operator divides products by √d, so the weight is multiplied by it. */
xlm_var *xlm_answer_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, xlm_head_form form, double dropout)
{
    const xlm_batch *batch = pass->batch;
    const int32_t n = batch->corrupted.sequences, queries = 2 * n;
    g_assert(batch->predicted == queries);
    int32_t *which = xlm_tape_take(tape, sizeof *which * (uint64_t)queries),
            *ends = xlm_tape_take(tape, sizeof *ends * ((uint64_t)queries + 1)),
            *groups = xlm_tape_take(tape, sizeof *groups * ((uint64_t)n + 1)),
            *keys = xlm_tape_take(tape, sizeof *keys * (uint64_t)n);
    for (int32_t i = 0; i <= queries; i++)
        ends[i] = i;
    for (int32_t i = 0; i < queries; i++)
        which[i] = i % 2;
    for (int32_t s = 0; s <= n; s++)
        groups[s] = 2 * s;
    for (int32_t s = 0; s < n; s++)
        keys[s] = batch->corrupted.offsets[s + 1] - batch->corrupted.offsets[s];
    const xlm_pointer_targets targets = {.groups = n, .queries = groups, .first = batch->corrupted.offsets, .keys = keys,
                                         .offsets = ends,
                                         .labels = batch->predicted_rows};
    xlm_var *states = xlm_head_form_apply(self, tape, xlm_pass_view(pass, 0)->states, form, dropout); /* T x d */
    xlm_var *weight = xlm_scale(tape, xlm_loss_param(self, tape, "weight"), sqrt((double)xlm_var_cols(states)));
    return xlm_pointer_cross_entropy(tape, xlm_rows(tape, weight, which, queries), states, &targets, pass->scores);
}

/* ---- predictions: the null score, the number of spans, then start, end (subwords of the window) and score of each span ---- */

enum { NULL_SCORE, SPANS, FIRST_SPAN, SPAN_NUMBERS = 3 };

int64_t xlm_answer_width(int64_t max_spans) { return FIRST_SPAN + SPAN_NUMBERS * max_spans; }

/* Find the context of sequence s: rows [*first, *first + *n). */
static void find_context(const xlm_batch *batch, int32_t s, int64_t *first, int64_t *n)
{
    int64_t at = batch->corrupted.offsets[s];
    while (at + 1 < batch->corrupted.offsets[s + 1] && batch->corrupted.types[at] == 0)
        at++;
    *first = at;
    *n = batch->corrupted.offsets[s + 1] - 1 - at;
}

void xlm_answer_predict(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, xlm_head_form form, int64_t longest,
                        int64_t max_spans, double *predictions)
{
    const xlm_batch *batch = pass->batch;
    xlm_var *states = xlm_head_form_apply(self, tape, xlm_pass_view(pass, 0)->states, form, 0);
    const xlm_var *z = xlm_linear(tape, states, xlm_loss_param(self, tape, "weight"), NULL); /* T x 2 */
    xlm_real *logits = xlm_tape_take(tape, sizeof *logits * 2 * (uint64_t)batch->corrupted.tokens);
    xlm_answer_span *best = xlm_tape_take(tape, sizeof *best * (uint64_t)max_spans);
    const int64_t width = xlm_answer_width(max_spans);
    xlm_var_read(z, 0, batch->corrupted.tokens, logits);
    for (int32_t s = 0; s < batch->corrupted.sequences; s++) {
        int64_t first, n;
        find_context(batch, s, &first, &n);
        const xlm_real *of_null = logits + 2 * batch->corrupted.offsets[s];
        double *row = predictions + 2 * s * width;
        const int64_t found = xlm_answer_best_spans(logits, first, n, longest, max_spans, best);
        row[NULL_SCORE] = (double)of_null[0] + (double)of_null[1];
        row[SPANS] = (double)found;
        for (int64_t i = 0; i < found; i++) {
            double *span = row + FIRST_SPAN + SPAN_NUMBERS * i;
            span[0] = (double)(best[i].start - first);
            span[1] = (double)(best[i].end - first);
            span[2] = best[i].score;
        }
    }
}

double xlm_answer_null_score(const double *row) { return row[NULL_SCORE]; }

bool xlm_answer_span_at(const double *row, int64_t i, xlm_answer_span *span)
{
    if (i >= (int64_t)row[SPANS])
        return false;
    row += FIRST_SPAN + SPAN_NUMBERS * i;
    *span = (xlm_answer_span){(int64_t)row[0], (int64_t)row[1], row[2]};
    return true;
}
