/* xlm-mpi: one forward pass, of a stream's batch or of no stream, and its losses. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/pass.h"

/* What became of a batch; nothing before it is encoded, and without one. */
struct encoded {
    xlm_var **hidden, *masked;
};

static xlm_pass make_pass(const xlm_trainer *trainer, const xlm_pass_input *input, const struct encoded *encoded,
                          xlm_score *scores)
{
    return (xlm_pass){
        .model = trainer->model,
        .batch = input->batch,
        .hidden = encoded->hidden,
        .masked = encoded->masked,
        .layers = trainer->config.layers,
        .step = trainer->step,
        .part = input->part,
        .parts = input->parts,
        .scores = scores,
    };
}

bool xlm_pass_has(const xlm_trainer *trainer, const xlm_pass_input *input, int k)
{
    const xlm_job_objective *objective = &trainer->job->objective[k];
    return objective->stream == input->stream && trainer->step >= objective->begin &&
           (input->only < 0 || input->only == k);
}

int64_t xlm_pass_count(xlm_trainer *trainer, const xlm_pass_input *input, int k)
{
    if (!xlm_pass_has(trainer, input, k))
        return 0;
    xlm_loss *loss = &trainer->loss[k];
    if (loss->cls->count != NULL) {
        const xlm_pass pass = make_pass(trainer, input, &(struct encoded){0}, NULL);
        return loss->cls->count(loss, &pass);
    }
    return input->batch != NULL ? input->batch->masked : input->part == 0;
}

/* all: all of the last layer is wanted in any case. */
static struct encoded encode(xlm_trainer *trainer, const xlm_pass_input *input, bool all)
{
    const xlm_batch *batch = input->batch;
    if (batch == NULL)
        return (struct encoded){0};
    for (int k = 0; k < trainer->job->objectives; k++)
        all |= xlm_pass_count(trainer, input, k) > 0 && !trainer->loss[k].cls->masked_only;
    struct encoded e = {
        .hidden = xlm_model_encode(trainer->model, trainer->tape, batch, all || batch->masked == 0 ? NULL : batch->masked_rows,
                                   batch->masked),
    };
    xlm_var **last = &e.hidden[trainer->config.layers];
    if (!all && batch->masked > 0) {
        e.masked = *last;
        *last = NULL;
    } else if (batch->masked > 0) {
        e.masked = xlm_rows(trainer->tape, *last, batch->masked_rows, batch->masked);
    }
    return e;
}

int xlm_pass_numbers(const xlm_trainer *trainer)
{
    return trainer->job->objectives + trainer->metrics * (int)(sizeof(xlm_metric_sum) / sizeof(double));
}

xlm_metric_sum *xlm_pass_metrics(const xlm_trainer *trainer, double *row, int k)
{
    xlm_metric_sum *first = (xlm_metric_sum *)(row + trainer->job->objectives);
    for (int before = 0; before < k; before++)
        first += trainer->loss[before].metrics->names->len;
    return first;
}

void xlm_pass_run(xlm_trainer *trainer, const xlm_pass_input *input, const int64_t *totals, bool backward,
                  double *row, xlm_score *scores, xlm_var ***hidden)
{
    xlm_tape *tape = trainer->tape;
    bool any = false;
    for (int k = 0; k < trainer->job->objectives; k++)
        any |= xlm_pass_count(trainer, input, k) > 0;
    if (!any && hidden == NULL)
        return;
    const struct encoded encoded = encode(trainer, input, hidden != NULL);
    if (hidden != NULL)
        *hidden = encoded.hidden;
    for (int k = 0; k < trainer->job->objectives; k++) {
        const int64_t terms = xlm_pass_count(trainer, input, k);
        if (terms == 0)
            continue;
        xlm_loss *loss = &trainer->loss[k];
        const xlm_pass pass = make_pass(trainer, input, &encoded, scores);
        loss->metrics->sums = xlm_pass_metrics(trainer, row, k);
        xlm_var *mean = loss->cls->loss(loss, tape, &pass);
        loss->metrics->sums = NULL;
        row[k] += (double)mean->value[0] * (double)terms;
        if (backward)
            xlm_tape_seed(tape, mean, trainer->job->objective[k].weight * (double)terms / (double)totals[k]);
    }
    if (backward)
        xlm_tape_backward(tape);
}
