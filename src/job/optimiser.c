/* xlm-mpi: optimisers, learning-rate schedules and clipping. SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/optimiser.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bfloat16.h"
#include "base/pages.h"
#include "kernels/kernels.h"
#include "options/options.h"

#define PLACE(member) offsetof(xlm_optimiser_config, member)
static const xlm_option options[] = {XLM_OPTIMISER_OPTIONS(PLACE, "0"), XLM_OPTION_END};


/* How an algorithm differs from the others: one update of moments and weights serves all. */
static const struct update_rule {
    bool decay_in_gradient; /* λ w is added to the gradient, and so to the moments; else to the direction of the update */
    bool scaled_by_norms;   /* a parameter's step has the length rate |w| (apply_directions) */
} rules[] = {
    [XLM_OPTIMISER_ADAMW] = {false, false},
    [XLM_OPTIMISER_ADAM] = {.decay_in_gradient = true},
    [XLM_OPTIMISER_LAMB] = {.scaled_by_norms = true},
};

enum { CHUNK = XLM_SHARD_UNIT }; /* elements in one partial sum: of one owner */

/* What a chunk has of one parameter. */
typedef struct stretch {
    int parameter;
    int64_t start, n; /* in the flat array */
} stretch;

static float *new_moment(int64_t size)
{
    float *moment = xlm_pages_take(sizeof(float) * (size_t)MAX(size, 1), "the optimiser");
    memset(moment, 0, sizeof(float) * (size_t)size);
    return moment;
}

/* Of the parameters from element `first` on, where chunks begin. */
static GArray *cut_into_stretches(const xlm_parameters *parameters, int64_t first)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(stretch));
    for (int p = 0; p < xlm_parameters_count(parameters); p++) {
        const xlm_parameter *parameter = xlm_parameters_get(parameters, p);
        const int64_t end = parameter->start + parameter->rows * parameter->cols;
        for (int64_t start = parameter->start; start >= first && start < end;) {
            const int64_t next = MIN(end, first + ((start - first) / CHUNK + 1) * CHUNK);
            const stretch one = {.parameter = p, .start = start, .n = next - start};
            g_array_append_val(all, one);
            start = next;
        }
    }
    return all;
}

xlm_optimiser *xlm_optimiser_new(const xlm_optimiser_config *config, xlm_parameters *parameters, const xlm_shards *shards)
{
    xlm_optimiser *o = g_new0(xlm_optimiser, 1);
    o->config = *config;
    o->name = xlm_option_print(&options[0], config);
    o->parameters = parameters;
    o->shards = *shards;
    o->first_moment = new_moment(shards->own);
    o->second_moment = new_moment(shards->own);
    o->stretches = cut_into_stretches(parameters, shards->first);
    o->held = g_new0(bool, MAX(xlm_parameters_count(parameters), 1));
    return o;
}

void xlm_optimiser_free(xlm_optimiser *optimiser)
{
    if (optimiser == NULL)
        return;
    g_free(optimiser->name);
    free(optimiser->first_moment);
    free(optimiser->second_moment);
    free(optimiser->masters);
    g_array_free(optimiser->stretches, TRUE);
    g_free(optimiser->held);
    g_free(optimiser);
}

void xlm_optimiser_hold(xlm_optimiser *optimiser, int parameter, bool held) { optimiser->held[parameter] = held; }

static void round_values(float *values, int64_t n)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        values[i] = xlm_bfloat16_round(values[i]);
}

void xlm_optimiser_keep_masters(xlm_optimiser *optimiser)
{
    xlm_optimiser *o = optimiser;
    float *values = xlm_parameters_values(o->parameters);
    if (o->masters == NULL)
        o->masters = new_moment(o->shards.own);
    xlm_shards_take(&o->shards, values, o->masters);
    round_values(values + o->shards.first, o->shards.size - o->shards.first);
}

void xlm_optimiser_show_masters(xlm_optimiser *optimiser)
{
    const xlm_optimiser *o = optimiser;
    if (o->masters != NULL)
        xlm_shards_all_gather_from(&o->shards, o->masters, xlm_parameters_values(o->parameters));
}

/* Factor of the learning rate of the schedule wsd after the warm-up. */
static double decay_at(const xlm_optimiser_config *config, int64_t step, int64_t steps)
{
    const int64_t first = MAX(steps - (int64_t)(config->decay * (double)steps + 0.5), config->warmup);
    if (step <= first || first >= steps)
        return 1;
    const double x = fmin((double)(step - first) / (double)(steps - first), 1);
    switch (config->decay_form) {
    case XLM_DECAY_SQRT:
        return 1 - sqrt(x);
    case XLM_DECAY_COSINE:
        return (1 + cos(G_PI * x)) / 2;
    default:
        return 1 - x;
    }
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
    case XLM_SCHEDULE_WSD:
        return peak * decay_at(config, step, steps);
    default:
        return peak;
    }
}

static bool is_own(const xlm_shards *shards, int64_t element) { return xlm_shards_owner(shards, element) == shards->comm->rank; }

double xlm_gradient_norm(const xlm_shards *shards, const float *gradient)
{
    const int64_t size = shards->size - shards->first, chunks = (size + CHUNK - 1) / CHUNK;
    g_autofree double *part = g_new0(double, MAX(chunks, 1));
    double total = 0;
    const xlm_kernels *kernel = xlm_kernels_get();
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < chunks; c++)
        if (is_own(shards, shards->first + c * CHUNK))
            part[c] = kernel->sum_of_squares(MIN(CHUNK, size - c * CHUNK), gradient + shards->first + c * CHUNK);
    xlm_comm_merge_double(shards->comm, part, chunks);
    for (int64_t c = 0; c < chunks; c++)
        total += part[c];
    return sqrt(total);
}

typedef struct coefficients {
    float factor, beta1, beta2, correct1, correct2, epsilon;
} coefficients;

/* The direction u of one element's update, after that of its moments. */
static inline float direction_of(const coefficients *k, float in_gradient, float decoupled, float w, float g, float *m, float *v)
{
    const float gradient = g * k->factor + in_gradient * w;
    *m = k->beta1 * *m + (1 - k->beta1) * gradient;
    *v = k->beta2 * *v + (1 - k->beta2) * gradient * gradient;
    return *m * k->correct1 / (sqrtf(*v * k->correct2) + k->epsilon) + decoupled * w;
}

/* w −= rate u, n elements. */
static void update_elements(const coefficients k, float rate, float in_gradient, float decoupled, int64_t n, float *restrict w,
                            const float *restrict g, float *restrict m, float *restrict v)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        w[i] -= rate * direction_of(&k, in_gradient, decoupled, w[i], g[i], &m[i], &v[i]);
}

/* u instead of g, n elements; w stays. */
static void find_directions(const coefficients k, float in_gradient, float decoupled, int64_t n, const float *restrict w,
                            float *restrict g, float *restrict m, float *restrict v)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        g[i] = direction_of(&k, in_gradient, decoupled, w[i], g[i], &m[i], &v[i]);
}

static const stretch *stretch_at(const xlm_optimiser *o, int64_t i) { return &g_array_index(o->stretches, stretch, i); }

/* For the parameter that a stretch belongs to. */
static const xlm_parameter *parameter_of(const xlm_optimiser *o, const stretch *s)
{
    return xlm_parameters_get(o->parameters, s->parameter);
}

/* This rank updates it. */
static bool is_updated(const xlm_optimiser *o, const stretch *s)
{
    return is_own(&o->shards, s->start) && parameter_of(o, s)->rate != 0 && !o->held[s->parameter];
}

/* Own stretch: what is updated. */
static float *weights_of(const xlm_optimiser *o, const stretch *s)
{
    if (o->masters != NULL)
        return o->masters + xlm_shards_place(&o->shards, s->start);
    return xlm_parameters_values(o->parameters) + s->start;
}

/* w ← w − rate (|w| / |r|) r, a parameter each; r is what find_directions left in the gradient. Own stretches. */
static void apply_directions(const xlm_optimiser *o, const float *direction, double rate)
{
    const int64_t n = o->stretches->len;
    const int parameters = xlm_parameters_count(o->parameters);
    const xlm_kernels *kernel = xlm_kernels_get();
    g_autofree double *part = g_new0(double, 2 * MAX(n, 1)), *norm = g_new0(double, 2 * MAX(parameters, 1));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const stretch *s = stretch_at(o, i);
        if (!is_updated(o, s))
            continue;
        part[2 * i] = kernel->sum_of_squares(s->n, weights_of(o, s));
        part[2 * i + 1] = kernel->sum_of_squares(s->n, direction + s->start);
    }
    xlm_comm_merge_double(o->shards.comm, part, 2 * n);
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 2; k++)
            norm[2 * stretch_at(o, i)->parameter + k] += part[2 * i + k];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const stretch *s = stretch_at(o, i);
        if (!is_updated(o, s))
            continue;
        const double w = sqrt(norm[2 * s->parameter]), r = sqrt(norm[2 * s->parameter + 1]);
        const float scaled = (float)(rate * parameter_of(o, s)->rate * (w > 0 && r > 0 ? w / r : 1));
        float *weight = weights_of(o, s);
        for (int64_t k = 0; k < s->n; k++)
            weight[k] -= scaled * direction[s->start + k];
    }
}

/* Masters were updated: the parameters are what is sent of them. */
static void round_masters(const xlm_optimiser *o)
{
    float *values = xlm_parameters_values(o->parameters);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < (int64_t)o->stretches->len; i++) {
        const stretch *s = stretch_at(o, i);
        if (!is_updated(o, s))
            continue;
        const float *weight = weights_of(o, s);
        for (int64_t k = 0; k < s->n; k++)
            values[s->start + k] = xlm_bfloat16_round(weight[k]);
    }
}

void xlm_optimiser_update(xlm_optimiser *optimiser, float *gradient, double factor, int64_t step, double learning_rate)
{
    const xlm_optimiser *o = optimiser;
    const xlm_optimiser_config *c = &o->config;
    const struct update_rule *rule = &rules[c->algorithm];
    const coefficients k = {
        .factor = (float)factor,
        .beta1 = (float)c->beta1,
        .beta2 = (float)c->beta2,
        .correct1 = (float)(1 / (1 - pow(c->beta1, (double)(step + 1)))),
        .correct2 = (float)(1 / (1 - pow(c->beta2, (double)(step + 1)))),
        .epsilon = (float)c->epsilon,
    };
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < (int64_t)o->stretches->len; i++) {
        const stretch *s = stretch_at(o, i);
        if (!is_updated(o, s))
            continue;
        const xlm_parameter *p = parameter_of(o, s);
        const float decay = p->decay ? (float)c->weight_decay : 0;
        const int64_t place = xlm_shards_place(&o->shards, s->start);
        const float in_gradient = rule->decay_in_gradient ? decay : 0;
        float *w = weights_of(o, s), *g = gradient + s->start, *m = o->first_moment + place, *v = o->second_moment + place;
        if (rule->scaled_by_norms)
            find_directions(k, in_gradient, decay - in_gradient, s->n, w, g, m, v);
        else
            update_elements(k, (float)(learning_rate * p->rate), in_gradient, decay - in_gradient, s->n, w, g, m, v);
    }
    if (rule->scaled_by_norms)
        apply_directions(o, gradient, learning_rate);
    if (o->masters != NULL)
        round_masters(o);
}
