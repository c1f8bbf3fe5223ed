/* xlm-mpi: predictions of a fine-tuned model for examples. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/predict.h"

#include <string.h>

#include "stream/example_passes.h"
#include "tensor/parameters.h"

/* Sums that ranks bring together; of a prediction, and of a pass, of another rank all is 0. */
typedef struct result {
    double label, score;
} result;
typedef struct loss_sum {
    double sum, terms;
} loss_sum;

/* Where the predictions and the losses of all passes go. */
typedef struct scoring {
    const xlm_predictor *predictor;
    const xlm_examples *examples;
    result *results;  /* [predictions of all examples] */
    loss_sum *losses; /* [examples] of each run */
} scoring;

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

static void score_run(void *data, const xlm_example_run *run)
{
    const scoring *s = data;
    const xlm_predictor *p = s->predictor;
    const xlm_batch *batch = run->batch;
    if (batch->masked == 0)
        return;
    struct wanted wanted = {.task = p->task, .predictions = XLM_TAKE(run->arena, xlm_prediction, batch->masked)};
    xlm_pass_input input = {.batch = batch, .parts = 1, .step = p->step, .only = -1};
    double *row = XLM_TAKE(run->arena, double, xlm_host_numbers(p->host));
    memset(row, 0, sizeof *row * (size_t)xlm_host_numbers(p->host));
    xlm_host_count(p->host, &input, run->arena);
    xlm_tape_begin(p->tape, NULL, false, 0, 0);
    xlm_host_run(p->host, p->tape, &input, NULL, row, &(xlm_host_wishes){.visit = predict, .data = &wanted});
    s->losses[run->number] = (loss_sum){row[0], (double)input.terms[0]};
    const int64_t at = xlm_examples_predictions(s->examples, run->first);
    for (int32_t i = 0; i < batch->masked; i++)
        s->results[at + i] = (result){wanted.predictions[i].label, wanted.predictions[i].score};
}

bool xlm_predict(const xlm_predictor *p, const xlm_examples *examples, xlm_prediction *predictions, xlm_measure *loss,
                 GError **error)
{
    const int64_t count = xlm_examples_count(examples), n = xlm_examples_predictions(examples, count);
    scoring s = {.predictor = p, .examples = examples, .results = g_new0(result, MAX(n, 1)),
                 .losses = g_new0(loss_sum, MAX(count, 1))};
    const bool good = xlm_examples_pass_over(p->comm, examples, "scoring", score_run, &s, error);
    if (good) {
        loss_sum all = {0};
        xlm_comm_merge_double(p->comm, (double *)s.results, (int)(2 * n));
        xlm_comm_merge_double(p->comm, (double *)s.losses, (int)(2 * count));
        for (int64_t r = 0; r < count; r++) {
            all.sum += s.losses[r].sum;
            all.terms += s.losses[r].terms;
        }
        *loss = (xlm_measure){"loss", all.sum / MAX(all.terms, 1), (int64_t)all.terms};
        for (int64_t i = 0; i < n; i++)
            predictions[i] = (xlm_prediction){(int32_t)s.results[i].label, (float)s.results[i].score};
    }
    g_free(s.results);
    g_free(s.losses);
    return good;
}
