/* xlm-mpi: what a fine-tuned model says of examples. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/predict.h"

enum { RUN = 16 }; /* examples of a pass */

/* Sums that ranks bring together; of a prediction of another rank all is 0. */
typedef struct result {
    double label, score;
} result;

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

/* Examples first … first + n; their loss, summed, into *loss. */
static bool run(const xlm_predictor *p, const xlm_examples *examples, int64_t first, int64_t n, xlm_arena *arena, result *results,
                double *loss, GError **error)
{
    int64_t example[RUN];
    uint32_t instance[RUN];
    xlm_batch batch;
    for (int64_t i = 0; i < n; i++) {
        example[i] = first + i;
        instance[i] = (uint32_t)i;
    }
    xlm_arena_reset(arena);
    if (!xlm_examples_read(examples, n, example, instance, arena, &batch, error))
        return false;
    if (batch.masked == 0)
        return true;
    xlm_prediction *predictions = XLM_TAKE(arena, xlm_prediction, batch.masked);
    xlm_tape_begin(p->tape, NULL, false, 0, 0);
    const xlm_pass pass = encode(p, &batch);
    *loss = (double)p->task->loss.loss(p->loss, p->tape, &pass)->value[0] * batch.masked;
    p->task->predict(p->loss, p->tape, &pass, predictions);
    const int64_t at = xlm_examples_predictions(examples, first);
    for (int32_t i = 0; i < batch.masked; i++)
        results[at + i] = (result){predictions[i].label, predictions[i].score};
    return true;
}

bool xlm_predict(const xlm_predictor *p, const xlm_examples *examples, xlm_prediction *predictions, double *loss, GError **error)
{
    const int64_t count = xlm_examples_count(examples), n = xlm_examples_predictions(examples, count), runs = (count + RUN - 1) / RUN;
    result *results = g_new0(result, MAX(n, 1));
    double *losses = g_new0(double, MAX(runs, 1));
    xlm_arena *arena = xlm_arena_new();
    GError *failure = NULL;
    for (int64_t r = p->comm->rank; r < runs && failure == NULL; r += p->comm->ranks)
        run(p, examples, r * RUN, MIN(RUN, count - r * RUN), arena, results, &losses[r], &failure);
    const bool good = xlm_comm_agree(p->comm, &failure);
    if (good) {
        xlm_comm_merge_double(p->comm, (double *)results, (int)(2 * n));
        xlm_comm_merge_double(p->comm, losses, (int)runs);
        *loss = 0;
        for (int64_t r = 0; r < runs; r++)
            *loss += losses[r];
        *loss /= (double)MAX(n, 1);
        for (int64_t i = 0; i < n; i++)
            predictions[i] = (xlm_prediction){(int32_t)results[i].label, (float)results[i].score};
    } else {
        g_propagate_error(error, failure);
    }
    xlm_arena_free(arena);
    g_free(results);
    g_free(losses);
    return good;
}
