/* xlm-mpi: predictions of a fine-tuned model for examples. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/predict.h"

#include <string.h>

#include "stream/example_passes.h"
#include "tensor/parameters.h"

/* The loss of one pass; both numbers are 0 for a pass of another rank. */
typedef struct loss_sum {
    double sum, terms;
} loss_sum;

/* Where the predictions and the losses of all passes go. */
typedef struct scoring {
    const xlm_predictor *predictor;
    const xlm_examples *examples;
    int64_t width;
    double *predictions; /* [predicted rows of all examples x width] */
    loss_sum *losses;    /* [examples] by run; there are at most as many runs as examples */
} scoring;

/* Where the predictions of a pass go. */
struct wanted {
    const xlm_task *task;
    double *predictions; /* [predicted rows of the pass x width] */
};

static void predict(void *data, xlm_loss *loss, xlm_tape *tape, const xlm_pass *pass)
{
    const struct wanted *wanted = data;
    wanted->task->predict(loss, tape, pass, wanted->predictions);
}

void xlm_predict_planned(void *task, xlm_loss *loss, xlm_tape *tape, const xlm_pass *pass)
{
    const xlm_task *t = task;
    g_autofree double *predictions = g_new0(double, MAX(pass->batch->predicted * t->width(loss), 1));
    t->predict(loss, tape, pass, predictions);
}

/* Labels are not made here, and the loss is the first mean alone; see xlm_task.loss. */
static void check_class(const xlm_predictor *p)
{
    if (p->task->loss.label != NULL || xlm_host_means(p->host) > 1)
        g_error("task %s: it has a label function, or means besides the first, which predictions do not compute",
                p->task->loss.name);
}

static void score_run(void *data, const xlm_example_run *run)
{
    const scoring *s = data;
    const xlm_predictor *p = s->predictor;
    const xlm_batch *batch = run->batch;
    if (batch->predicted == 0)
        return;
    const int64_t n = batch->predicted * s->width;
    struct wanted wanted = {.task = p->task, .predictions = XLM_TAKE(run->arena, double, n)};
    memset(wanted.predictions, 0, sizeof(double) * (size_t)n);
    xlm_pass_input input = {.batch = batch, .parts = 1, .step = p->step, .held_out = true, .only = -1};
    xlm_sums sums = xlm_host_sums_new(p->host);
    xlm_host_count(p->host, &input, run->arena);
    xlm_tape_begin(p->tape, NULL, false, 0, 0);
    xlm_host_run(p->host, p->tape, &input, NULL, &sums, &(xlm_host_outputs){.visit = predict, .data = &wanted});
    s->losses[run->number] = (loss_sum){sums.mean[0], (double)input.terms[0]};
    xlm_sums_free(&sums);
    double *into = s->predictions + xlm_examples_predictions(s->examples, run->first) * s->width;
    for (int64_t i = 0; i < n; i++)
        into[i] = wanted.predictions[i] + 0.0; /* turns −0 into 0, because a sum over ranks does not keep −0 */
}

bool xlm_predict(const xlm_predictor *p, const xlm_examples *examples, double *predictions, xlm_measure *loss,
                 GError **error)
{
    check_class(p);
    const int64_t count = xlm_examples_count(examples), width = p->task->width(p->self);
    const int64_t n = xlm_examples_predictions(examples, count) * width;
    scoring s = {.predictor = p, .examples = examples, .width = width, .predictions = predictions,
                 .losses = g_new0(loss_sum, MAX(count, 1))};
    memset(predictions, 0, sizeof *predictions * (size_t)n);
    const bool good = xlm_examples_pass_over(p->comm, examples, "scoring", score_run, &s, error);
    if (good) {
        loss_sum all = {0};
        xlm_comm_merge_double(p->comm, predictions, n);
        xlm_comm_merge_double(p->comm, (double *)s.losses, 2 * count);
        for (int64_t r = 0; r < count; r++) {
            all.sum += s.losses[r].sum;
            all.terms += s.losses[r].terms;
        }
        *loss = (xlm_measure){"loss", all.sum / MAX(all.terms, 1), (int64_t)all.terms};
    }
    g_free(s.losses);
    return good;
}
