/* xlm-mpi: a made co-occurrence table of any size, for measurements. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   tests/bench/cooc_table SUBWORDS PAIRS COOC.h5
 *
 * Words are as frequent as in text (Zipf), and each has a place in a space of some dimensions: near ones meet more often. About
 * PAIRS pairs are there. One language, of which nothing but /cooccurrence and /words is filled in. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "lexicon/cooccurrence.h"

enum { DIMENSIONS = 40 };

static double weight(int64_t i, int64_t n) { return pow((double)(i + 20), -0.75) * (1 + 0.001 * (double)(n - i) / (double)n); }

static float *places(int64_t n)
{
    float *z = g_new(float, n * DIMENSIONS);
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < DIMENSIONS; d += 2) {
            const xlm_rng_block b = xlm_rng_draw((xlm_rng_key){{5, 6}}, (uint32_t)i, (uint32_t)d, 0, 0);
            double pair[2];
            xlm_rng_normal(b.v[0], b.v[1], pair);
            const double scale = 0.9 / sqrt(1 + d);
            z[i * DIMENSIONS + d] = (float)(scale * pair[0]);
            z[i * DIMENSIONS + d + 1] = (float)(scale * pair[1]);
        }
    return z;
}

static double uniform(int64_t i, int64_t j, int which)
{
    const xlm_rng_block b = xlm_rng_draw((xlm_rng_key){{7, 8}}, (uint32_t)i, (uint32_t)j, (uint32_t)which, 0);
    return (xlm_rng_unit(b.v[0]) + 1e-9) / (1 + 1e-9);
}

/* Entries of row i, which are drawn by skips (Miller & Hagberg 2011): *columns, *counts and totals grow. */
static void draw_row(int64_t i, int64_t n, double scale, const double *w, const float *z, GArray *columns, GArray *counts,
                     double *totals)
{
    double bound = fmin(1, scale * w[i] * w[i]);
    for (int64_t j = i; j < n; j++) {
        if (bound < 1)
            j += (int64_t)floor(log(uniform(i, j, 0)) / log(1 - bound));
        if (j >= n || j < 0)
            break;
        const double p = fmin(1, scale * w[i] * w[j]);
        if (uniform(i, j, 1) < p / bound) {
            double near = 0;
            for (int d = 0; d < DIMENSIONS; d++)
                near += (double)z[i * DIMENSIONS + d] * (double)z[j * DIMENSIONS + d];
            const double count = 0.5 * (1 + floor(scale * w[i] * w[j] * exp(near) * (0.5 + uniform(i, j, 2))));
            const uint32_t column = (uint32_t)j;
            g_array_append_val(columns, column);
            g_array_append_val(counts, count);
            totals[i] += count;
            totals[j] += j > i ? count : 0;
        }
        bound = p;
    }
}

static bool describe(xlm_store *s, int64_t n, GError **error)
{
    static const char *const language[] = {"en"}, *const input[] = {"made by tests/bench/cooc_table"};
    char *words = g_malloc(16 * (size_t)n);
    const char **names = g_new(const char *, n);
    int64_t *occurrences = g_new0(int64_t, n);
    for (int64_t i = 0; i < n; i++) {
        g_snprintf(words + 16 * i, 16, "w%d", (int)i);
        names[i] = words + 16 * i;
    }
    const uint64_t dims[2] = {(uint64_t)n, 1};
    return xlm_store_set_text(s, "/", "format", XLM_COOCCURRENCE_FORMAT, error) &&
           xlm_store_set_int(s, "/", "format_version", XLM_COOCCURRENCE_VERSION, error) &&
           xlm_store_set_text(s, "/", "corpus_digest", "0", error) && xlm_store_set_int(s, "/", "vocabulary", n, error) &&
           xlm_store_set_int(s, "/", "window", 2, error) && xlm_store_set_text(s, "/", "weights", "inverse", error) &&
           xlm_store_set_text(s, "/", "factors", "none", error) && xlm_store_set_int(s, "/", "min_count", 0, error) &&
           xlm_store_set_int(s, "/", "max_vocabulary", 0, error) && xlm_store_set_int(s, "/", "tokens", 0, error) &&
           xlm_store_write_strings(s, "/inputs", 1, input, error) &&
           xlm_store_write_strings(s, "/languages", 1, language, error) &&
           xlm_store_write_strings(s, "/words/subwords", (uint64_t)n, names, error) &&
           xlm_store_dataset(s, "/words/occurrences", XLM_I64, 2, dims, XLM_STORE_CHECKED, error) &&
           xlm_store_write(s, "/words/occurrences", 0, (uint64_t)n, occurrences, error);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return fprintf(stderr, "usage: %s SUBWORDS PAIRS COOC.h5\n", argv[0]), EX_USAGE;
    const int64_t n = atoll(argv[1]), pairs = atoll(argv[2]);
    double *w = g_new(double, n), *totals = g_new0(double, n), low = 0, high = 1e12;
    for (int64_t i = 0; i < n; i++)
        w[i] = weight(i, n);
    /* The scale at which so many pairs are expected: by every 31st row, and as many columns. */
    for (int step = 0; step < 50; step++) {
        const double middle = step == 0 ? high : sqrt(fmax(low, 1e-3) * high);
        double expected = 0;
        for (int64_t i = 0; i < n; i += 31)
            for (int64_t j = i; j < n; j += 31)
                expected += 961 * fmin(1, middle * w[i] * w[j]);
        if (expected > (double)pairs)
            high = middle;
        else
            low = middle;
    }
    float *z = places(n);
    GArray *columns = g_array_new(FALSE, FALSE, sizeof(uint32_t)), *counts = g_array_new(FALSE, FALSE, sizeof(double));
    uint64_t *offsets = g_new0(uint64_t, n + 1);
    GError *error = NULL;
    xlm_store *s = xlm_store_create(NULL, argv[3], &error);
    if (s != NULL && describe(s, n, &error)) {
        for (int64_t i = 0; i < n; i++) {
            draw_row(i, n, high, w, z, columns, counts, totals);
            offsets[i + 1] = columns->len;
        }
        if (xlm_store_write_array(s, "/cooccurrence", "offsets", XLM_U64, (uint64_t)n + 1, offsets, &error) &&
            xlm_store_write_array(s, "/cooccurrence", "columns", XLM_U32, columns->len, columns->data, &error) &&
            xlm_store_write_array(s, "/cooccurrence", "counts", XLM_F64, counts->len, counts->data, &error) &&
            xlm_store_write_array(s, "/words", "totals", XLM_F64, (uint64_t)n, totals, &error))
            xlm_store_commit(s, &error);
        printf("%u pairs\n", columns->len);
    }
    return xlm_error_exit(error);
}
