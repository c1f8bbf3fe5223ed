/* xlm-mpi: optimisers, learning-rate schedules and clipping. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/optimiser.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"

enum { CHUNK = 16384 }; /* elements in one partial sum, whatever the thread count */

static float *new_moment(int64_t size)
{
    float *moment = xlm_pages_take(sizeof(float) * (size_t)size, "the optimiser");
    memset(moment, 0, sizeof(float) * (size_t)size);
    return moment;
}

xlm_optimiser *xlm_optimiser_new(const xlm_optimiser_config *config, xlm_parameters *parameters)
{
    xlm_optimiser *o = g_new0(xlm_optimiser, 1);
    o->config = *config;
    o->parameters = parameters;
    o->first_moment = new_moment(xlm_parameters_size(parameters));
    o->second_moment = new_moment(xlm_parameters_size(parameters));
    return o;
}

void xlm_optimiser_free(xlm_optimiser *optimiser)
{
    if (optimiser == NULL)
        return;
    free(optimiser->first_moment);
    free(optimiser->second_moment);
    g_free(optimiser);
}

double xlm_learning_rate(const xlm_optimiser_config *config, int64_t step, int64_t steps)
{
    const double peak = config->learning_rate;
    if (step < config->warmup)
        return peak * (double)(step + 1) / (double)config->warmup;
    switch (config->schedule) {
    case XLM_SCHEDULE_LINEAR:
        return steps > config->warmup ? peak * fmax(0, (double)(steps - step) / (double)(steps - config->warmup)) : peak;
    case XLM_SCHEDULE_INVERSE_SQRT:
        return peak * sqrt((double)MAX(config->warmup, 1) / (double)(step + 1));
    default:
        return peak;
    }
}

/* Σ x² over [0, n), in double, chunk by chunk. */
static double sum_of_squares(const float *x, int64_t n)
{
    const int64_t chunks = (n + CHUNK - 1) / CHUNK;
    double *part = g_new(double, MAX(chunks, 1));
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < chunks; c++) {
        const int64_t end = MIN(n, (c + 1) * CHUNK);
        double sum[8] = {0};
        int64_t i = c * CHUNK;
        for (; i + 8 <= end; i += 8)
            for (int lane = 0; lane < 8; lane++)
                sum[lane] += (double)x[i + lane] * x[i + lane];
        for (; i < end; i++)
            sum[0] += (double)x[i] * x[i];
        part[c] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    }
    double total = 0;
    for (int64_t c = 0; c < chunks; c++)
        total += part[c];
    g_free(part);
    return total;
}

double xlm_gradient_norm(const xlm_parameters *parameters, const float *gradient)
{
    return sqrt(sum_of_squares(gradient, xlm_parameters_size(parameters)));
}

typedef struct coefficients {
    float factor, beta1, beta2, correct1, correct2, epsilon, rate;
} coefficients;

/* One pass over n elements; w may be left alone by a rate of 0 (lamb), the direction u stays in g. */
static void update_elements(const coefficients k, float in_gradient, float decoupled, int64_t n, float *restrict w,
                            float *restrict g, float *restrict m, float *restrict v)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const float gradient = g[i] * k.factor + in_gradient * w[i];
        m[i] = k.beta1 * m[i] + (1 - k.beta1) * gradient;
        v[i] = k.beta2 * v[i] + (1 - k.beta2) * gradient * gradient;
        g[i] = m[i] * k.correct1 / (sqrtf(v[i] * k.correct2) + k.epsilon) + decoupled * w[i];
        w[i] -= k.rate * g[i];
    }
}

static void apply_direction(int64_t n, float *w, const float *r, double rate)
{
    const double w_norm = sqrt(sum_of_squares(w, n)), r_norm = sqrt(sum_of_squares(r, n));
    const float scaled = (float)(rate * (w_norm > 0 && r_norm > 0 ? w_norm / r_norm : 1));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        w[i] -= scaled * r[i];
}

void xlm_optimiser_update(xlm_optimiser *optimiser, float *gradient, double factor, int64_t step, double learning_rate)
{
    const xlm_optimiser_config *c = &optimiser->config;
    const coefficients k = {
        .factor = (float)factor,
        .beta1 = (float)c->beta1,
        .beta2 = (float)c->beta2,
        .correct1 = (float)(1 / (1 - pow(c->beta1, (double)(step + 1)))),
        .correct2 = (float)(1 / (1 - pow(c->beta2, (double)(step + 1)))),
        .epsilon = (float)c->epsilon,
        .rate = c->algorithm == XLM_OPTIMISER_LAMB ? 0 : (float)learning_rate,
    };
    const bool adam = c->algorithm == XLM_OPTIMISER_ADAM, lamb = c->algorithm == XLM_OPTIMISER_LAMB;
    float *values = xlm_parameters_values(optimiser->parameters);
    for (int p = 0; p < xlm_parameters_count(optimiser->parameters); p++) {
        const xlm_parameter *parameter = xlm_parameters_get(optimiser->parameters, p);
        const int64_t n = parameter->rows * parameter->cols, start = parameter->start;
        const float decay = parameter->decay ? (float)c->weight_decay : 0;
#pragma omp parallel for schedule(static)
        for (int64_t chunk = 0; chunk < n; chunk += CHUNK) {
            const int64_t at = start + chunk;
            update_elements(k, adam ? decay : 0, adam ? 0 : decay, MIN(CHUNK, n - chunk), values + at, gradient + at,
                            optimiser->first_moment + at, optimiser->second_moment + at);
        }
        if (lamb)
            apply_direction(n, values + start, gradient + start, learning_rate);
    }
}
