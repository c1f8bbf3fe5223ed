/* xlm-mpi: made vectors of two languages, and what GEMM gives, for measurements. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   tests/bench/vectors make WORDS WIDTH SOURCE.h5 TARGET.h5    words s0 ... and t0 ...; t_i is s_i turned round, and noise
 *   tests/bench/vectors rate THREADS                            GFLOP/s of products of floats, and of doubles */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/rng.h"
#include "gemm/gemm.h"
#include "gemm/hardware.h"
#include "vectors/vector_file.h"

enum { EXTENT = 2048, BLOCK = 1024 };

/* Rows first … of a language. */
static void make_rows(int64_t first, int64_t n, int64_t width, bool target, float *x)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < width; c += 2) {
            double value[2], noise[2];
            const xlm_rng_block b = xlm_rng_draw((xlm_rng_key){{1, 2}}, (uint32_t)(first + i), (uint32_t)c, 0, 0);
            xlm_rng_normal(b.v[0], b.v[1], value);
            xlm_rng_normal(b.v[2], b.v[3], noise);
            const double scale = 1 / (1 + 0.01 * (double)c);
            for (int k = 0; k < 2; k++) /* turned: columns in the other order */
                x[i * width + (target ? width - 1 - c - k : c + k)] = (float)(scale * (value[k] + (target ? 0.3 * noise[k] : 0)));
        }
}

static bool make_file(const char *path, int64_t n, int64_t width, bool target, GError **error)
{
    xlm_vector_file *file = xlm_vector_file_create(path, n, width, error);
    float *x = g_new(float, BLOCK * width);
    char name[BLOCK][16];
    const char *names[BLOCK];
    bool good = file != NULL;
    for (int64_t first = 0; first < n && good; first += BLOCK) {
        const int64_t now = MIN(BLOCK, n - first);
        for (int64_t i = 0; i < now; i++) {
            g_snprintf(name[i], sizeof name[i], "%c%d", target ? 't' : 's', (int)(first + i));
            names[i] = name[i];
        }
        make_rows(first, now, width, target, x);
        good = xlm_vector_file_add(file, now, names, x, error);
    }
    g_free(x);
    return good && xlm_vector_file_commit(file, error);
}

/* The median of some products. */
static double rate_of(bool single)
{
    double seconds[5];
    void *m[3];
    for (int k = 0; k < 3; k++)
        m[k] = g_malloc0((size_t)EXTENT * EXTENT * sizeof(double));
    for (int k = 0; k < 5; k++) {
        const double begin = xlm_clock();
        if (single)
            xlm_gemm(false, false, EXTENT, EXTENT, EXTENT, 1, m[0], EXTENT, m[1], EXTENT, 0, m[2], EXTENT);
        else
            xlm_gemm_double(false, false, EXTENT, EXTENT, EXTENT, 1, m[0], EXTENT, m[1], EXTENT, 0, m[2], EXTENT);
        seconds[k] = xlm_clock() - begin;
        for (int j = k; j > 0 && seconds[j] < seconds[j - 1]; j--) {
            const double other = seconds[j];
            seconds[j] = seconds[j - 1];
            seconds[j - 1] = other;
        }
    }
    for (int k = 0; k < 3; k++)
        g_free(m[k]);
    return 2e-9 * EXTENT * EXTENT * EXTENT / seconds[2];
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    xlm_hardware hardware;
    if (argc == 3 && strcmp(argv[1], "rate") == 0) {
        xlm_hardware_open(&hardware, atoi(argv[2]), 1);
        printf("%.1f %.1f\n", rate_of(true), rate_of(false));
        return EXIT_SUCCESS;
    }
    if (argc != 6 || strcmp(argv[1], "make") != 0)
        return fprintf(stderr, "usage: %s make WORDS WIDTH SOURCE.h5 TARGET.h5 | rate THREADS\n", argv[0]), EX_USAGE;
    if (make_file(argv[4], atoll(argv[2]), atoll(argv[3]), false, &error))
        make_file(argv[5], atoll(argv[2]), atoll(argv[3]), true, &error);
    return xlm_error_exit(error);
}
