/* xlm-mpi: t-SNE: perplexities worked by hand, gradients against the definition and central differences, and what it finds.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "maps/near_points.h"
#include "maps/quadtree.h"
#include "maps/tsne.h"

static const xlm_comm alone = {.ranks = 1};

static double number(uint32_t which, int64_t i)
{
    double two[2];
    const xlm_rng_block b = xlm_rng_draw((xlm_rng_key){{5, 2}}, (uint32_t)i, which, 0, 0);
    xlm_rng_normal(b.v[0], b.v[1], two);
    return two[0];
}

/* ---- perplexity ---- */

/* For squared distances 0, 0 and a, p = (1, 1, e) / (2 + e) with e = exp(−β a), and its entropy is H = ln(2 + e) − e ln e / (2 +
 * e). Perplexity 2.5 wants H = ln 2.5 = 0.916291: at e = 0.1732 H = 0.776201 + 0.139735 = 0.915936, at e = 0.1742 H = 0.776661 +
 * 0.140016 = 0.916677; so e is between the two. */
static void test_perplexity_by_hand(void **state)
{
    (void)state;
    const double squared[] = {1, 1, 5};
    double p[3];
    const double beta = xlm_affinities_of_point(3, squared, 2.5, p), e = exp(-4 * beta);
    assert_true(e > 0.1732 && e < 0.1742);
    assert_true(fabs(p[0] - 1 / (2 + e)) < 1e-12 && fabs(p[1] - p[0]) < 1e-15 && fabs(p[2] - e / (2 + e)) < 1e-12);
    const double entropy = -2 * p[0] * log(p[0]) - p[2] * log(p[2]);
    assert_true(fabs(exp(entropy) - 2.5) < 1e-5);
    /* Scaling distances by s² scales β by 1/s²; p stays. */
    const double scaled[] = {1e6, 1e6, 5e6};
    double q[3];
    assert_true(fabs(xlm_affinities_of_point(3, scaled, 2.5, q) * 1e6 / beta - 1) < 1e-4);
    assert_true(fabs(q[2] - p[2]) < 1e-5);
}

static void test_equal_distances(void **state)
{
    (void)state;
    const double squared[] = {2, 2, 2, 2};
    double p[4];
    xlm_affinities_of_point(4, squared, 3, p);
    for (int j = 0; j < 4; j++)
        assert_true(fabs(p[j] - 0.25) < 1e-15);
}

static void test_perplexities_of_many(void **state)
{
    (void)state;
    enum { K = 90 };
    double squared[K], p[K];
    for (uint32_t point = 0; point < 20; point++)
        for (double perplexity = 5; perplexity <= 30; perplexity += 12.5) {
            for (int j = 0; j < K; j++)
                squared[j] = pow(10, (double)point - 10) * (3 + number(point, j) * number(point, j));
            xlm_affinities_of_point(K, squared, perplexity, p);
            double entropy = 0, sum = 0;
            for (int j = 0; j < K; j++) {
                entropy -= p[j] > 0 ? p[j] * log(p[j]) : 0;
                sum += p[j];
            }
            assert_true(fabs(exp(entropy) / perplexity - 1) < 1e-5 && fabs(sum - 1) < 1e-12);
        }
}

/* ---- neighbours ---- */

static void test_neighbours(void **state)
{
    (void)state;
    enum { N = 700, WIDTH = 7, K = 12 };
    float *x = g_new(float, N * WIDTH);
    int32_t *nearest = g_new(int32_t, N * K);
    double *squared = g_new(double, N * K);
    for (int i = 0; i < N * WIDTH; i++)
        x[i] = (float)number(1, i % (650 * WIDTH)); /* the last are the first again */
    xlm_near_points(&alone, N, WIDTH, x, K, nearest, squared);
    for (int i = 0; i < N; i++) {
        int nearer = 0, as_near = 0; /* points that are nearer than the last that was found; or as near */
        /* Compilers may round products here and there otherwise (FMA). */
        const double last = squared[i * K + K - 1], rounding = 1e-12 * last;
        for (int j = 0; j < N; j++) {
            double d = 0;
            for (int c = 0; c < WIDTH; c++)
                d += pow((double)x[i * WIDTH + c] - (double)x[j * WIDTH + c], 2);
            nearer += j != i && d < last - rounding;
            as_near += j != i && d <= last + rounding;
            for (int k = 0; k < K; k++)
                assert_true(nearest[i * K + k] != j || (j != i && fabs(d - squared[i * K + k]) < 1e-12));
        }
        assert_true(nearer < K && as_near >= K);
        if (i < 50)
            assert_true(nearest[i * K] == 650 + i && squared[i * K] == 0);
    }
    g_free(x);
    g_free(nearest);
    g_free(squared);
}

/* ---- the gradient ---- */

/* n points, P of all pairs or of neighbours. */
static xlm_affinities *make_affinities(int64_t n, int k, double perplexity)
{
    enum { WIDTH = 5 };
    float *x = g_new(float, n * WIDTH);
    int32_t *nearest = g_new(int32_t, n * k);
    double *squared = g_new(double, n * k);
    for (int64_t i = 0; i < n * WIDTH; i++)
        x[i] = (float)(number(2, i) + (double)(i / WIDTH % 4));
    xlm_near_points(&alone, n, WIDTH, x, k, nearest, squared);
    xlm_affinities *a = xlm_affinities_make(n, k, nearest, squared, perplexity);
    g_free(x);
    g_free(nearest);
    g_free(squared);
    return a;
}

static double *make_points(int64_t n, double scale)
{
    double *y = g_new(double, 2 * n);
    for (int64_t i = 0; i < 2 * n; i++)
        y[i] = scale * number(3, i) + (i / 2 % 3 == 0 ? 4 * scale : 0);
    return y;
}

static double weight(const double *y, int64_t i, int64_t j)
{
    const double dx = y[2 * i] - y[2 * j], dy = y[2 * i + 1] - y[2 * j + 1];
    return 1 / (1 + dx * dx + dy * dy);
}

/* P as a whole matrix, [n x n]. g_free. */
static double *whole(const xlm_affinities *a)
{
    double *p = g_new0(double, a->n * a->n);
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t k = a->first[i]; k < a->first[i + 1]; k++)
            p[i * a->n + a->column[k]] = a->p[k];
    return p;
}

/* The definition; returns KL. */
static double exact_gradient(int64_t n, const double *p, double exaggeration, const double *y, double *gradient)
{
    double z = 0, divergence = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            z += i != j ? weight(y, i, j) : 0;
    for (int64_t i = 0; i < n; i++) {
        gradient[2 * i] = gradient[2 * i + 1] = 0;
        for (int64_t j = 0; j < n; j++) {
            if (i == j)
                continue;
            const double w = weight(y, i, j), q = w / z, f = 4 * (exaggeration * p[i * n + j] - q) * w;
            gradient[2 * i] += f * (y[2 * i] - y[2 * j]);
            gradient[2 * i + 1] += f * (y[2 * i + 1] - y[2 * j + 1]);
            divergence += p[i * n + j] > 0 ? p[i * n + j] * log(p[i * n + j] / q) : 0;
        }
    }
    return divergence;
}

static double distance(int64_t n, const double *a, const double *b)
{
    double sum = 0, all = 0;
    for (int64_t i = 0; i < 2 * n; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
        all += b[i] * b[i];
    }
    return sqrt(sum / all);
}

static void test_affinities(void **state)
{
    (void)state;
    xlm_affinities *a = make_affinities(300, 40, 12);
    double *p = whole(a), sum = 0;
    for (int64_t i = 0; i < 300; i++)
        for (int64_t j = 0; j < 300; j++) {
            assert_true(p[i * 300 + j] == p[j * 300 + i]);
            sum += p[i * 300 + j];
        }
    assert_true(fabs(sum - 1) < 1e-12);
    g_free(p);
    xlm_affinities_free(a);
}

/* theta = 0 is the definition; theta = 0.5 is near it, whatever the scale, and with points that coincide. */
static void test_gradient(void **state)
{
    (void)state;
    enum { N = 900 };
    xlm_affinities *a = make_affinities(N, 60, 18);
    double *p = whole(a), exact[2 * N], found[2 * N], divergence;
    for (double scale = 1e-4; scale <= 101; scale *= 100)
        for (int exaggerated = 0; exaggerated < 2; exaggerated++) {
            double *y = make_points(N, scale);
            for (int i = 0; i < 40; i++)
                memcpy(y + 2 * (i + 100), y, 2 * sizeof *y);
            const double wanted = exact_gradient(N, p, exaggerated ? 12 : 1, y, exact);
            xlm_tsne_gradient(&alone, a, 0, exaggerated ? 12 : 1, y, found, &divergence);
            assert_true(distance(N, found, exact) < 1e-11);
            assert_true(fabs(divergence - wanted) < 1e-9);
            xlm_tsne_gradient(&alone, a, 0.5, exaggerated ? 12 : 1, y, found, &divergence);
            const double off = distance(N, found, exact);
            assert_true(off < 0.03);
            assert_true(fabs(divergence - wanted) < 0.01 * fabs(wanted) + 0.01);
            assert_true(scale < 1 || off > 0); /* it is not all summed */
            g_free(y);
        }
    g_free(p);
    xlm_affinities_free(a);
}

/* The square around 16 points has the side 1. One quarter has seven at (0, 0) and seven at (0.4, 0.4), whose centre of mass,
 * (0.2, 0.2), is sqrt(1.28) from (1, 1): it counts as one point when 0.5 < θ sqrt(1.28), which is when θ > 0.4419; no part of it
 * has a side small enough for more to be summed than is at one place. The point at (1, 0) is alone in its quarter. */
static void test_theta_by_hand(void **state)
{
    (void)state;
    static const double theta[] = {0, 0.44, 0.443, 1};
    double y[32] = {0}, force[2];
    for (int i = 7; i < 14; i++)
        y[2 * i] = y[2 * i + 1] = 0.4;
    y[28] = y[29] = y[30] = 1;
    xlm_quadtree *tree = xlm_quadtree_new(16);
    xlm_quadtree_build(tree, y);
    int64_t place = 0;
    while (xlm_quadtree_order(tree)[place] != 14)
        place++;
    for (int t = 0; t < 4; t++) {
        const bool one = theta[t] > 0.4419;
        const double far = 1 / 3., near = 1 / 1.72, both = 1 / 2.28, right = 1 / 2.;
        const double sum = right + (one ? 14 * both : 7 * far + 7 * near);
        const double x = one ? 14 * both * both * 0.8 : 7 * far * far + 7 * near * near * 0.6;
        assert_true(fabs(xlm_quadtree_repulsion(tree, place, theta[t], force) - sum) < 1e-12);
        assert_true(fabs(force[0] - x) < 1e-12 && fabs(force[1] - x - right * right) < 1e-12);
    }
    xlm_quadtree_free(tree);
}

/* It is the derivative of what it calls the divergence. */
static void test_central_differences(void **state)
{
    (void)state;
    enum { N = 60 };
    xlm_affinities *a = make_affinities(N, 20, 6);
    double *y = make_points(N, 1), gradient[2 * N], unused[2 * N], above, below;
    xlm_tsne_gradient(&alone, a, 0, 1, y, gradient, NULL);
    for (int i = 0; i < 2 * N; i += 7) {
        const double kept = y[i], h = 1e-5;
        y[i] = kept + h;
        xlm_tsne_gradient(&alone, a, 0, 1, y, unused, &above);
        y[i] = kept - h;
        xlm_tsne_gradient(&alone, a, 0, 1, y, unused, &below);
        y[i] = kept;
        assert_true(fabs((above - below) / (2 * h) - gradient[i]) < 1e-7);
    }
    g_free(y);
    xlm_affinities_free(a);
}

/* ---- the whole ---- */

/* Each step goes along the gradient for its θ, after van der Maaten: gains that grow by 0.2 or shrink to 0.8, momentum 0.5 while P
 * is exaggerated and 0.8 then; and so does the divergence. θ = 1 is another map than θ = 0. */
static void test_descent(void **state)
{
    (void)state;
    enum { N = 120, WIDTH = 3, K = 31 };
    static double y[2][2 * N], wanted[2 * N], gradient[2 * N], speed[2 * N], gain[2 * N], squared[N * K];
    static float x[N * WIDTH];
    static int32_t nearest[N * K];
    xlm_tsne_options o = {.perplexity = 10, .exaggeration = 4, .exaggerated = 20, .learning_rate = 20, .seed = 3};
    double divergence[2], after;
    for (int i = 0; i < N * WIDTH; i++)
        x[i] = (float)(number(6, i) * (i % WIDTH == 0 ? 3 : 1));
    xlm_near_points(&alone, N, WIDTH, x, K, nearest, squared);
    xlm_affinities *a = xlm_affinities_make(N, K, nearest, squared, o.perplexity);
    for (int coarse = 0; coarse < 2; coarse++) {
        o.theta = coarse;
        o.iterations = 0;
        xlm_tsne(&alone, N, WIDTH, x, &o, wanted); /* where it begins */
        memset(speed, 0, sizeof speed);
        for (int i = 0; i < 2 * N; i++)
            gain[i] = 1;
        o.iterations = 40;
        for (int t = 0; t < o.iterations; t++) {
            double mean[2] = {0, 0};
            xlm_tsne_gradient(&alone, a, o.theta, t < 20 ? 4 : 1, wanted, gradient, NULL);
            for (int i = 0; i < 2 * N; i++) {
                const bool against = gradient[i] > 0 ? speed[i] <= 0 : speed[i] > 0;
                gain[i] = against ? gain[i] + 0.2 : fmax(0.01, gain[i] * 0.8);
                speed[i] = (t < 20 ? 0.5 : 0.8) * speed[i] - 20 * gain[i] * gradient[i];
                wanted[i] += speed[i];
                mean[i % 2] += wanted[i] / N;
            }
            for (int i = 0; i < 2 * N; i++)
                wanted[i] -= mean[i % 2];
        }
        xlm_tsne_gradient(&alone, a, o.theta, 1, wanted, gradient, &after);
        divergence[coarse] = xlm_tsne(&alone, N, WIDTH, x, &o, y[coarse]);
        assert_true(distance(N, y[coarse], wanted) < 1e-6 && fabs(divergence[coarse] - after) < 1e-6);
    }
    assert_true(distance(N, y[1], y[0]) > 1e-3);
    xlm_affinities_free(a);
}

/* Three groups of 60 points far from one another: of each point all neighbours up to 20 are of its own group in the plane. */
static void test_groups(void **state)
{
    (void)state;
    enum { N = 180, WIDTH = 10, K = 20 };
    float *x = g_new(float, N * WIDTH), *plane = g_new(float, N * 2);
    double *y = g_new(double, 2 * N), *again = g_new(double, 2 * N), squared[N * K], mean = 0;
    int32_t nearest[N * K];
    for (int i = 0; i < N * WIDTH; i++)
        x[i] = (float)(number(4, i) + (i % WIDTH == i / WIDTH % 3 ? 30 : 0));
    xlm_tsne_options o = xlm_tsne_defaults();
    o.perplexity = 15;
    o.iterations = 400;
    o.exaggerated = 100;
    const double divergence = xlm_tsne(&alone, N, WIDTH, x, &o, y);
    assert_true(divergence > 0 && divergence < 1);
    for (int i = 0; i < 2 * N; i++) {
        plane[i] = (float)y[i];
        mean += y[i] / N;
    }
    assert_true(fabs(mean) < 1e-9);
    xlm_near_points(&alone, N, 2, plane, K, nearest, squared);
    for (int i = 0; i < N * K; i++)
        assert_int_equal(nearest[i] % 3, i / K % 3);
    /* The same again; another seed is another map. */
    assert_true(xlm_tsne(&alone, N, WIDTH, x, &o, again) == divergence && memcmp(y, again, 2 * N * sizeof *y) == 0);
    o.seed = 2;
    xlm_tsne(&alone, N, WIDTH, x, &o, again);
    assert_true(memcmp(y, again, 2 * N * sizeof *y) != 0);
    g_free(x);
    g_free(plane);
    g_free(y);
    g_free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_perplexity_by_hand), cmocka_unit_test(test_equal_distances),
        cmocka_unit_test(test_perplexities_of_many), cmocka_unit_test(test_neighbours), cmocka_unit_test(test_affinities),
        cmocka_unit_test(test_gradient), cmocka_unit_test(test_theta_by_hand), cmocka_unit_test(test_central_differences),
        cmocka_unit_test(test_descent), cmocka_unit_test(test_groups),
    };
    return cmocka_run_group_tests_name("t-SNE", tests, NULL, NULL);
}
