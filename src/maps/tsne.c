/* xlm-mpi: t-SNE: points of many dimensions in a plane. SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/tsne.h"

#include <math.h>
#include <string.h>

#include "base/progress.h"
#include "base/rng.h"
#include "maps/near_points.h"
#include "maps/quadtree.h"

enum { CHUNK = 128 }; /* points of a chunk; ranks and threads take chunks in turn */

static const double START = 1e-4, NOISE = 1e-6; /* deviations of the first points */

xlm_tsne_options xlm_tsne_defaults(void)
{
    return (xlm_tsne_options){.perplexity = 30, .theta = 0.5, .exaggeration = 12, .iterations = 1000, .exaggerated = 250,
                              .seed = 1};
}

double xlm_tsne_max_perplexity(int64_t n) { return (double)(n - 1) / 3; }

/* ---- the gradient ---- */

/* What is summed over the chunks; 0 for chunks of other ranks. */
typedef struct sums {
    xlm_quadtree *tree;
    int64_t n, chunks;
    double *values; /* those below, one after another */
    double *attraction, *repulsion; /* [n x 2] Σ P w (y_i − y_j), Σ w² (y_i − y_j) */
    double *weights;                /* [chunks] Σ w */
    double *divergence;             /* [chunks] Σ P ln(P / w) */
} sums;

static void open_sums(sums *s, int64_t n)
{
    s->n = n;
    s->chunks = (n + CHUNK - 1) / CHUNK;
    s->tree = xlm_quadtree_new(n);
    s->values = g_new(double, 4 * n + 2 * s->chunks);
    s->attraction = s->values;
    s->repulsion = s->attraction + 2 * n;
    s->weights = s->repulsion + 2 * n;
    s->divergence = s->weights + s->chunks;
}

static void close_sums(sums *s)
{
    xlm_quadtree_free(s->tree);
    g_free(s->values);
}

static void sum_chunk(sums *s, int64_t chunk, const xlm_affinities *a, double theta, bool diverges, const double *y)
{
    const int32_t *order = xlm_quadtree_order(s->tree);
    for (int64_t place = chunk * CHUNK; place < MIN((chunk + 1) * CHUNK, s->n); place++) {
        const int64_t i = order[place];
        double fx = 0, fy = 0;
        s->weights[chunk] += xlm_quadtree_repulsion(s->tree, place, theta, s->repulsion + 2 * i);
        for (int64_t k = a->first[i]; k < a->first[i + 1]; k++) {
            const double *other = y + 2 * (int64_t)a->column[k];
            const double dx = y[2 * i] - other[0], dy = y[2 * i + 1] - other[1], d = 1 + dx * dx + dy * dy, pull = a->p[k] / d;
            fx += pull * dx;
            fy += pull * dy;
            if (diverges && a->p[k] > 0)
                s->divergence[chunk] += a->p[k] * log(a->p[k] * d);
        }
        s->attraction[2 * i] = fx;
        s->attraction[2 * i + 1] = fy;
    }
}

/* Collective. gradient: [n x 2]. */
static void find_gradient(const xlm_comm *comm, sums *s, const xlm_affinities *a, double theta, double exaggeration,
                          const double *y, double *gradient, double *divergence)
{
    const int64_t size = 4 * s->n + 2 * s->chunks;
    memset(s->values, 0, sizeof *s->values * (size_t)size);
    xlm_quadtree_build(s->tree, y);
#pragma omp parallel for schedule(dynamic)
    for (int64_t chunk = comm->rank; chunk < s->chunks; chunk += comm->ranks)
        sum_chunk(s, chunk, a, theta, divergence != NULL, y);
    xlm_comm_merge_double(comm, s->values, size);
    double weights = 0, all = 0;
    for (int64_t chunk = 0; chunk < s->chunks; chunk++)
        weights += s->weights[chunk], all += s->divergence[chunk];
    for (int64_t i = 0; i < 2 * s->n; i++)
        gradient[i] = 4 * (exaggeration * s->attraction[i] - s->repulsion[i] / weights);
    if (divergence != NULL)
        *divergence = all + log(weights);
}

void xlm_tsne_gradient(const xlm_comm *comm, const xlm_affinities *affinities, double theta, double exaggeration, const double *y,
                       double *gradient, double *divergence)
{
    sums s;
    open_sums(&s, affinities->n);
    find_gradient(comm, &s, affinities, theta, exaggeration, y, gradient, divergence);
    close_sums(&s);
}

/* ---- descent ---- */

/* The first two columns, and noise. */
static void begin_points(int64_t n, int64_t width, const float *x, int64_t seed, double *y)
{
    const xlm_rng_key key = xlm_rng_make_key((uint64_t)seed, XLM_RNG_MAP, 0);
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)x[i * width];
    for (int64_t i = 0; i < n; i++) {
        const double d = (double)x[i * width] - sum / (double)n;
        squares += d * d;
    }
    const double scale = squares > 0 ? START / sqrt(squares / (double)n) : 0;
    for (int64_t i = 0; i < n; i++) {
        const xlm_rng_block draw = xlm_rng_draw(key, (uint32_t)i, 0, 0, 0);
        double noise[2];
        xlm_rng_normal(draw.v[0], draw.v[1], noise);
        y[2 * i] = (double)x[i * width] * scale + NOISE * noise[0];
        y[2 * i + 1] = (width > 1 ? (double)x[i * width + 1] * scale : 0) + NOISE * noise[1];
    }
}

/* One step: gains as in van der Maaten's program. */
static void move(int64_t n, double rate, double momentum, const double *gradient, double *speed, double *gain, double *y)
{
    double mean[2] = {0, 0};
    for (int64_t i = 0; i < 2 * n; i++) {
        gain[i] = (gradient[i] > 0) != (speed[i] > 0) ? gain[i] + 0.2 : MAX(0.8 * gain[i], 0.01);
        speed[i] = momentum * speed[i] - rate * gain[i] * gradient[i];
        y[i] += speed[i];
        mean[i % 2] += y[i] / (double)n;
    }
    for (int64_t i = 0; i < 2 * n; i++)
        y[i] -= mean[i % 2];
}

static double descend(const xlm_comm *comm, const xlm_affinities *a, const xlm_tsne_options *o, double *y)
{
    const int64_t n = a->n;
    const double rate = o->learning_rate > 0 ? o->learning_rate : MAX((double)n / o->exaggeration / 4, 50);
    g_autofree double *gradient = g_new(double, 2 * n), *speed = g_new0(double, 2 * n), *gain = g_new(double, 2 * n);
    double divergence;
    sums s;
    open_sums(&s, n);
    for (int64_t i = 0; i < 2 * n; i++)
        gain[i] = 1;
    xlm_progress progress = xlm_progress_begin("t-SNE", (double)o->iterations, "iterations");
    for (int64_t t = 0; t < o->iterations; t++) {
        const bool early = t < o->exaggerated;
        find_gradient(comm, &s, a, o->theta, early ? o->exaggeration : 1, y, gradient, NULL);
        move(n, rate, early ? 0.5 : 0.8, gradient, speed, gain, y);
        xlm_progress_show(&progress, (double)(t + 1));
    }
    xlm_progress_end(&progress);
    find_gradient(comm, &s, a, o->theta, 1, y, gradient, &divergence);
    close_sums(&s);
    return divergence;
}

double xlm_tsne(const xlm_comm *comm, int64_t n, int64_t width, const float *x, const xlm_tsne_options *options, double *y)
{
    const int k = (int)MIN(n - 1, (int64_t)(3 * options->perplexity) + 1);
    g_autofree int32_t *nearest = g_new(int32_t, n * k);
    g_autofree double *squared = g_new(double, n * k);
    xlm_near_points(comm, n, width, x, k, nearest, squared);
    xlm_affinities *a = xlm_affinities_make(n, k, nearest, squared, options->perplexity);
    begin_points(n, width, x, options->seed, y);
    const double divergence = descend(comm, a, options, y);
    xlm_affinities_free(a);
    return divergence;
}
