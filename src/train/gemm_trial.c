/* xlm-mpi: both libraries timed on a job's products, on a processor that was never measured.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/gemm_trial.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/pages.h"
#include "tensor/parameters.h"
#include "tensor/products.h"
#include "train/micro_batches.h"

enum { WEIGHTS = 6 };
static const double SECONDS = 0.8;
static const double MAX_FLOPS = 1e10; /* of one pass by one library */

/* Operations of the forward and the backward pass, for each row. */
static double flops_of_row(const xlm_gemm_trial *trial)
{
    return 6 * (double)trial->hidden * (4 * (double)trial->hidden + 2 * (double)trial->inner);
}

xlm_gemm_trial xlm_gemm_trial_of(const xlm_run_size *size, int64_t micro_batches)
{
    enum { MIN_ROWS = 128 };
    const xlm_model_config *c = xlm_model_get_config(xlm_host_model(size->host));
    xlm_gemm_trial trial = {.hidden = c->hidden_size,
                            .inner = c->feed_forward_size > 0 ? c->feed_forward_size : 4 * c->hidden_size};
    g_autofree int64_t *most = xlm_micro_batches_most_of_job(micro_batches, size->job, size->streams);
    for (int s = 0; s < size->streams->n; s++)
        trial.rows = MAX(trial.rows, most[s] * xlm_stream_longest(size->streams->training[s]));
    trial.rows = CLAMP((int64_t)(MAX_FLOPS / flops_of_row(&trial)), MIN_ROWS, MAX(trial.rows, MIN_ROWS));
    return trial;
}

/* A layer, and memory for what goes in and comes out, of which the widest is inner or hidden. */
typedef struct layer {
    xlm_parameters *parameters;
    xlm_tape *tape;
    int64_t rows;
    xlm_real *gradients, *x, *y, *dx;
} layer;

static const char *const names[WEIGHTS] = {"query", "key", "value", "output", "inner", "outer"};

static xlm_real *take(int64_t n) { return xlm_pages_take(sizeof(xlm_real) * (size_t)n, "the comparison of GEMM libraries"); }

static layer make_layer(const xlm_gemm_trial *trial)
{
    layer l = {.parameters = xlm_parameters_new(), .rows = trial->rows};
    for (int w = 0; w < WEIGHTS; w++)
        xlm_parameters_add(l.parameters, names[w], w == 4 ? trial->inner : trial->hidden, w == 5 ? trial->inner : trial->hidden,
                           XLM_INIT_NORMAL, false);
    xlm_parameters_seal(l.parameters);
    xlm_parameters_initialise(l.parameters, 1);
    l.tape = xlm_tape_new(l.parameters);
    const int64_t numbers = trial->rows * MAX(trial->hidden, trial->inner);
    l.gradients = take(xlm_parameters_size(l.parameters));
    l.x = take(numbers);
    l.y = take(numbers);
    l.dx = take(numbers);
    for (int64_t i = 0; i < numbers; i++)
        l.x[i] = (xlm_real)1 / (xlm_real)(1 + i % 7);
    return l;
}

static void free_layer(layer *l)
{
    xlm_tape_free(l->tape);
    xlm_parameters_free(l->parameters);
    free(l->gradients);
    free(l->x);
    free(l->y);
    free(l->dx);
}

/* Seconds of a forward and a backward pass. Where parameters are packed, they are before, as a step does it once for all its
 * micro-batches. */
static double time_pass(layer *l)
{
    const double begin = xlm_clock();
    for (int w = 0; w < WEIGHTS; w++) {
        xlm_var *weight = xlm_param(l->tape, names[w]);
        xlm_product(l->tape, l->rows, xlm_floats(l->x), weight, NULL, l->y);
        xlm_product_backward(l->tape, l->rows, l->y, xlm_floats(l->x), weight, (xlm_grad){.at = l->dx},
                             (xlm_grad){.at = weight->grad}, NULL);
    }
    return xlm_clock() - begin;
}

void xlm_gemm_trial_run(xlm_gemm_trial *trial)
{
    layer l = make_layer(trial);
    double best[2] = {G_MAXDOUBLE, G_MAXDOUBLE};
    const double begin = xlm_clock();
    /* The first round makes code, packs and touches memory. */
    for (int round = 0; round < 2 || xlm_clock() - begin < SECONDS; round++)
        for (int packs = 0; packs < 2; packs++) {
            xlm_tape_multiply_by(l.tape, packs == 1, XLM_FLOAT32);
            xlm_tape_begin(l.tape, l.gradients, true, 1, 0);
            for (int w = 0; w < WEIGHTS && packs == 1; w++)
                if (xlm_product_packs(l.tape, l.rows, xlm_param(l.tape, names[w])))
                    xlm_product_parameter(l.tape, xlm_param(l.tape, names[w]), true);
            const double seconds = time_pass(&l);
            if (round > 0)
                best[packs] = MIN(best[packs], seconds);
        }
    free_layer(&l);
    const double operations = 1e-9 * flops_of_row(trial) * (double)trial->rows;
    trial->blis = operations / best[0];
    trial->onednn = operations / best[1];
}

char *xlm_gemm_trial_text(const xlm_gemm_trial *trial, const xlm_processor *processor)
{
    return g_strdup_printf("gemm = auto: BLIS, since this processor (%s, family %d, model %d) was never measured. A layer's "
                           "products of %" G_GINT64_FORMAT " rows, %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " wide, give "
                           "%.0f GFLOP/s by BLIS and %.0f by oneDNN here; gemm = onednn or blis in the job chooses, to other bits",
                           processor->vendor, processor->family, processor->model, trial->rows, trial->hidden, trial->inner,
                           trial->blis, trial->onednn);
}
