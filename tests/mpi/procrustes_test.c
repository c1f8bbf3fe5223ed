/* xlm-mpi: rotations from fewer pairs than dimensions and from refined ones, against known answers and the conditions that they
 * must meet; run on 1, 2, 3 and 4 ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "check.h"

#include "base/rng.h"
#include "maps/procrustes.h"

static float number(uint32_t which, int64_t i)
{
    return (float)(xlm_rng_unit(xlm_rng_draw((xlm_rng_key){{7, 1}}, (uint32_t)i, which, 0, 0).v[0]) - 0.5);
}

static xlm_word_rotation *fit(const xlm_comm *comm, const xlm_grid *grid, int64_t width, int64_t n, const float *x, const float *y)
{
    const xlm_procrustes p = {.grid = grid, .width = width, .n = {n, n}, .vectors = {x, y}, .neighbours = 1};
    int32_t *pairs = g_new(int32_t, 2 * n);
    for (int64_t i = 0; i < 2 * n; i++)
        pairs[i] = (int32_t)(i / 2);
    xlm_word_rotation *r = xlm_word_rotation_new(width);
    GOOD(xlm_procrustes_fit(&p, n, pairs, r, &error));
    g_free(pairs);
    return r;
}

/* One pair, e_1 and a vector at an angle to it: in their plane W turns by an angle below 90 degrees; above, a reflection, which
 * keeps more in its place; and it leaves the rest. */
static void one_pair_is_a_turn(const xlm_comm *comm, const xlm_grid *grid)
{
    for (int degrees = 10; degrees < 180; degrees += 20) {
        if (degrees == 90)
            continue; /* both are as near; below */
        const double c = cos(degrees * G_PI / 180), s = sin(degrees * G_PI / 180), sign = c > 0 ? 1 : -1;
        const float x[5] = {1}, y[5] = {(float)c, 0, (float)s};
        const double wanted[25] = {c, 0, -sign * s, 0, 0,  0, 1, 0, 0, 0,  s, 0, sign * c, 0, 0,  0, 0, 0, 1, 0,  0, 0, 0, 0, 1};
        xlm_word_rotation *r = fit(comm, grid, 5, 1, x, y);
        for (int i = 0; i < 25; i++)
            CHECK(fabs(r->map[i] - wanted[i]) < 1e-6);
        CHECK(r->rank == 1 && r->pairs == 1 && fabs(r->values[0] - 1) < 1e-6 && r->values[1] < 1e-9);
        xlm_word_rotation_free(r);
    }
}

/* How far WᵀW is from I. */
static double distance_from_orthogonal(const xlm_word_rotation *r)
{
    const int64_t d = r->width;
    double largest = 0;
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++) {
            double sum = 0;
            for (int64_t k = 0; k < d; k++)
                sum += r->map[k * d + i] * r->map[k * d + j];
            largest = fmax(largest, fabs(sum - (i == j)));
        }
    return largest;
}

/* At 90 degrees there are two answers; W is one of them, and sends e_2 to e_1 or to −e_1. */
static void right_angles_have_an_answer(const xlm_comm *comm, const xlm_grid *grid)
{
    enum { D = 40 };
    float x[2 * D] = {0}, y[2 * D] = {0};
    x[0] = y[1] = 1;
    x[D + 2] = y[D + 35] = 2;
    xlm_word_rotation *r = fit(comm, grid, D, 2, x, y);
    CHECK(r->rank == 2 && distance_from_orthogonal(r) < 1e-9);
    CHECK(fabs(r->map[1 * D] - 1) < 1e-6 && fabs(r->map[35 * D + 2] - 1) < 1e-6);
    for (int i = 0; i < D; i++)
        CHECK(i < 3 || i == 35 || fabs(r->map[i * D + i] - 1) < 1e-6);
    xlm_word_rotation_free(r);
}

/* [d x d] I less the projection onto n vectors [n x d], by Gram and Schmidt, twice. */
static double *project_out(int64_t d, int64_t n, const float *x)
{
    double *p = g_new0(double, d * d), *q = g_new(double, n * d);
    for (int64_t i = 0; i < d; i++)
        p[i * d + i] = 1;
    for (int64_t i = 0; i < n; i++) {
        double length = 0;
        for (int64_t c = 0; c < d; c++)
            q[i * d + c] = (double)x[i * d + c];
        for (int64_t k = 0; k < 2 * i; k++) {
            double dot = 0;
            for (int64_t c = 0; c < d; c++)
                dot += q[i * d + c] * q[k % i * d + c];
            for (int64_t c = 0; c < d; c++)
                q[i * d + c] -= dot * q[k % i * d + c];
        }
        for (int64_t c = 0; c < d; c++)
            length += q[i * d + c] * q[i * d + c];
        for (int64_t c = 0; c < d; c++)
            q[i * d + c] /= sqrt(length);
        for (int64_t a = 0; a < d; a++)
            for (int64_t b = 0; b < d; b++)
                p[a * d + b] -= q[i * d + a] * q[i * d + b];
    }
    g_free(q);
    return p;
}

/* [d x d] op(a) b */
static double *product(int64_t d, bool transpose, const double *a, const double *b)
{
    double *c = g_new0(double, d * d);
    for (int64_t i = 0; i < d; i++)
        for (int64_t k = 0; k < d; k++)
            for (int64_t j = 0; j < d; j++)
                c[i * d + j] += (transpose ? a[k * d + i] : a[i * d + k]) * b[k * d + j];
    return c;
}

/* With P and Q the projections onto what is not in the span of all y, and of all x: W is the nearest to the identity there when
 * H = Q Wᵀ P Q is symmetric without a negative eigenvalue, which makes W's part the polar factor of P Q. Tested by xᵀ H x. */
static void check_nearest_to_identity(const xlm_comm *comm, const xlm_word_rotation *r, int64_t n, const float *x, const float *y)
{
    const int64_t d = r->width;
    double *p = project_out(d, n, y), *q = project_out(d, n, x);
    double *pq = product(d, false, p, q), *wpq = product(d, true, r->map, pq), *h = product(d, false, q, wpq);
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < i; j++)
            CHECK(fabs(h[i * d + j] - h[j * d + i]) < 1e-7);
    for (int64_t t = 0; t < 300; t++) {
        double sum = 0;
        for (int64_t i = 0; i < d; i++)
            for (int64_t j = 0; j < d; j++)
                sum += (double)number(5, t * d + i) * h[i * d + j] * (double)number(5, t * d + j);
        CHECK(sum > -1e-7);
    }
    g_free(p);
    g_free(q);
    g_free(pq);
    g_free(wpq);
    g_free(h);
}

/* n pairs at random in d > n dimensions: W is orthogonal, Σ yᵀ W x as large as the sum of the singular values, and the nearest to
 * the identity of all such. With `near`, a pair more, which is one of the others but for 1e-5 of noise on both sides: its
 * singular value is below the threshold. */
static void few_pairs_determine_w(const xlm_comm *comm, const xlm_grid *grid, int64_t d, int64_t n, bool near)
{
    float *x = g_new(float, (n + 1) * d), *y = g_new(float, (n + 1) * d);
    for (int64_t i = 0; i < n * d; i++) {
        x[i] = number(1, i);
        y[i] = number(2, i) + x[i];
    }
    for (int64_t c = 0; c < d; c++) {
        x[n * d + c] = x[c] + 1e-5f * number(3, c);
        y[n * d + c] = y[c] + 1e-5f * number(4, c);
    }
    xlm_word_rotation *r = fit(comm, grid, d, n + near, x, y);
    double reached = 0, wanted = 0;
    for (int64_t i = 0; i < n + near; i++)
        for (int64_t a = 0; a < d; a++)
            for (int64_t b = 0; b < d; b++)
                reached += (double)y[i * d + a] * r->map[a * d + b] * (double)x[i * d + b];
    for (int64_t i = 0; i < d; i++)
        wanted += r->values[i];
    CHECK(r->rank == n && r->pairs == n + near);
    CHECK(fabs(reached - wanted) < (near ? 1e-5 : 1e-9) * wanted);
    CHECK(!near || (r->values[n] > 1e-13 * r->values[0] && r->values[n] < XLM_ROTATION_THRESHOLD * r->values[0]));
    CHECK(distance_from_orthogonal(r) < 1e-9);
    if (!near)
        check_nearest_to_identity(comm, r, n, x, y);
    xlm_word_rotation_free(r);
    g_free(x);
    g_free(y);
}

/* Three words that W turns by 10 degrees, and one that both sides share, which is no pair of its own: turned, it is nearest to
 * itself, and W would turn by 7.5 degrees, under which the mean cosine of all four is larger. */
static void a_word_is_no_pair_of_its_own(const xlm_comm *comm, const xlm_grid *grid)
{
    static const double degrees[2][4] = {{0, 120, 240, 60}, {10, 130, 250, 60}};
    static const int32_t self[4] = {-1, -1, -1, 3}, pairs[] = {0, 0, 1, 1, 2, 2};
    float x[2][8];
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < 4; i++) {
            x[s][2 * i] = (float)cos(degrees[s][i] * G_PI / 180);
            x[s][2 * i + 1] = (float)sin(degrees[s][i] * G_PI / 180);
        }
    for (int known = 0; known < 2; known++) {
        const xlm_procrustes p = {.grid = grid, .width = 2, .n = {4, 4}, .vectors = {x[0], x[1]}, .neighbours = 1,
                                  .self = {known ? self : NULL, known ? self : NULL}};
        xlm_word_rotation *r = xlm_word_rotation_new(2);
        GOOD(xlm_procrustes_fit(&p, 3, pairs, r, &error));
        GOOD(xlm_procrustes_refine(&p, 2, 100, r, &error));
        CHECK(fabs(atan2(r->map[2], r->map[0]) * 180 / G_PI - (known ? 10 : 7.5)) < 1e-2);
        CHECK(r->pairs == (known ? 3 : 4));
        xlm_word_rotation_free(r);
    }
}

int main(int argc, char **argv)
{
    xlm_comm world, *comm = &world;
    xlm_comm_open(comm, "procrustes_test", &argc, &argv);
    xlm_grid *grid = xlm_grid_open(comm);
    one_pair_is_a_turn(comm, grid);
    right_angles_have_an_answer(comm, grid);
    few_pairs_determine_w(comm, grid, 41, 12, false);
    few_pairs_determine_w(comm, grid, 41, 30, false);
    few_pairs_determine_w(comm, grid, 41, 40, false);
    few_pairs_determine_w(comm, grid, 41, 12, true);
    a_word_is_no_pair_of_its_own(comm, grid);
    xlm_grid_close(grid);
    int64_t sum = failures;
    xlm_comm_sum_int64(comm, &sum, 1);
    const int code = xlm_comm_close(comm, NULL);
    return sum == 0 ? code : EXIT_FAILURE;
}
