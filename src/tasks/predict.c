/* xlm-mpi: what a fine-tuned model says of examples. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/predict.h"

#include "base/progress.h"

/* Sums that ranks bring together; of a prediction, and of a pass, of another rank all is 0. */
typedef struct result {
    double label, score;
} result;
typedef struct loss_sum {
    double sum, terms;
} loss_sum;

static xlm_pass encode(const xlm_predictor *p, const xlm_batch *batch)
{
    const int64_t layers = xlm_model_get_config(p->model)->layers;
    const bool part = p->task->loss.masked_only;
    xlm_var **hidden = xlm_model_encode(p->model, p->tape, batch, part ? batch->masked_rows : NULL, part ? batch->masked : 0);
    xlm_pass pass = {.model = p->model, .batch = batch, .hidden = hidden, .layers = layers, .parts = 1};
    pass.masked = part ? hidden[layers] : xlm_rows(p->tape, hidden[layers], batch->masked_rows, batch->masked);
    if (part)
        hidden[layers] = NULL;
    return pass;
}

/* Examples first … first + n; the sum of their loss into *loss. */
static bool run(const xlm_predictor *p, const xlm_examples *examples, int64_t first, int64_t n, xlm_arena *arena, result *results,
                loss_sum *loss, GError **error)
{
    xlm_batch batch;
    xlm_arena_reset(arena);
    int64_t *example = XLM_TAKE(arena, int64_t, n);
    uint32_t *instance = XLM_TAKE(arena, uint32_t, n);
    for (int64_t i = 0; i < n; i++) {
        example[i] = first + i;
        instance[i] = (uint32_t)i;
    }
    if (!xlm_examples_read(examples, n, example, instance, arena, &batch, error))
        return false;
    if (batch.masked == 0)
        return true;
    xlm_prediction *predictions = XLM_TAKE(arena, xlm_prediction, batch.masked);
    xlm_tape_begin(p->tape, NULL, false, 0, 0);
    const xlm_pass pass = encode(p, &batch);
    const int64_t terms = p->task->loss.count != NULL ? p->task->loss.count(p->loss, &pass) : batch.masked;
    if (terms > 0)
        *loss = (loss_sum){(double)p->task->loss.loss(p->loss, p->tape, &pass)->value[0] * (double)terms, (double)terms};
    p->task->predict(p->loss, p->tape, &pass, predictions);
    const int64_t at = xlm_examples_predictions(examples, first);
    for (int32_t i = 0; i < batch.masked; i++)
        results[at + i] = (result){predictions[i].label, predictions[i].score};
    return true;
}

bool xlm_predict(const xlm_predictor *p, const xlm_examples *examples, xlm_prediction *predictions, xlm_measure *loss,
                 GError **error)
{
    GArray *cuts = xlm_examples_cut(examples);
    const int64_t *at = (const int64_t *)(const void *)cuts->data, runs = (int64_t)cuts->len - 1;
    const int64_t n = xlm_examples_predictions(examples, xlm_examples_count(examples));
    result *results = g_new0(result, MAX(n, 1));
    loss_sum *losses = g_new0(loss_sum, MAX(runs, 1)), all = {0};
    xlm_arena *arena = xlm_arena_new();
    GError *failure = NULL;
    xlm_progress progress = xlm_progress_begin("scoring", (double)at[runs], "examples");
    for (int64_t r = p->comm->rank; r < runs && failure == NULL; r += p->comm->ranks) {
        run(p, examples, at[r], at[r + 1] - at[r], arena, results, &losses[r], &failure);
        xlm_progress_show(&progress, (double)at[r + 1]);
    }
    xlm_progress_end(&progress);
    const bool good = xlm_comm_agree(p->comm, &failure);
    if (good) {
        xlm_comm_merge_double(p->comm, (double *)results, (int)(2 * n));
        xlm_comm_merge_double(p->comm, (double *)losses, (int)(2 * runs));
        for (int64_t r = 0; r < runs; r++) {
            all.sum += losses[r].sum;
            all.terms += losses[r].terms;
        }
        *loss = (xlm_measure){"loss", all.sum / MAX(all.terms, 1), (int64_t)all.terms};
        for (int64_t i = 0; i < n; i++)
            predictions[i] = (xlm_prediction){(int32_t)results[i].label, (float)results[i].score};
    } else {
        g_propagate_error(error, failure);
    }
    xlm_arena_free(arena);
    g_array_unref(cuts);
    g_free(results);
    g_free(losses);
    return good;
}
