/* xlm-mpi: what a fine-tuned model says of examples. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/predict.h"

#include <string.h>

#include "base/progress.h"
#include "tensor/parameters.h"

/* Sums that ranks bring together; of a prediction, and of a pass, of another rank all is 0. */
typedef struct result {
    double label, score;
} result;
typedef struct loss_sum {
    double sum, terms;
} loss_sum;

/* Where the predictions of a pass go. */
struct wanted {
    const xlm_task *task;
    xlm_prediction *predictions;
};

static void predict(void *data, xlm_loss *loss, xlm_tape *tape, const xlm_pass *pass)
{
    const struct wanted *wanted = data;
    wanted->task->predict(loss, tape, pass, wanted->predictions);
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
    struct wanted wanted = {.task = p->task, .predictions = XLM_TAKE(arena, xlm_prediction, batch.masked)};
    xlm_pass_input input = {.batch = &batch, .parts = 1, .step = p->step, .only = -1};
    double *row = XLM_TAKE(arena, double, xlm_host_numbers(p->host));
    memset(row, 0, sizeof *row * (size_t)xlm_host_numbers(p->host));
    xlm_host_count(p->host, &input, arena);
    xlm_tape_begin(p->tape, NULL, false, 0, 0);
    xlm_host_run(p->host, p->tape, &input, NULL, row, &(xlm_host_wishes){.visit = predict, .data = &wanted});
    *loss = (loss_sum){row[0], (double)input.terms[0]};
    const int64_t at = xlm_examples_predictions(examples, first);
    for (int32_t i = 0; i < batch.masked; i++)
        results[at + i] = (result){wanted.predictions[i].label, wanted.predictions[i].score};
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
    const bool good = xlm_comm_agree_on(p->comm, failure, error);
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
    }
    xlm_arena_free(arena);
    g_array_unref(cuts);
    g_free(results);
    g_free(losses);
    return good;
}
