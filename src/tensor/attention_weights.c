/* xlm-mpi: attention weights, for programs that examine them. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/attention_weights.h"

#include <glib.h>
#include <math.h>

#include "base/bfloat16.h"
#include "tensor/tape.h"

/* d columns of a variable, in floats; of a variable that exists only in bfloat16, those of a copy. */
struct columns {
    const xlm_real *at; /* of row 0 */
    int64_t stride;
    xlm_real *copy;     /* NULL: none */
};

static struct columns read_columns(const xlm_var *x, int64_t column)
{
    struct columns c = {.at = x->value, .stride = x->cols};
    if (x->value == NULL) {
        c.copy = g_new(xlm_real, x->rows * x->cols);
        for (int64_t i = 0; i < x->rows * x->cols; i++)
            c.copy[i] = (xlm_real)xlm_bfloat16_value(x->rounded[i]);
        c.at = c.copy;
    }
    c.at += column;
    return c;
}

static double dot(int64_t n, const xlm_real *a, const xlm_real *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

/* Adds the mean over all heads of the weights of one query for the keys from `first` to m − 1 to mean[m]. p: [m] scratch. */
static void add_heads(const xlm_attention_inputs *in, const xlm_real *query, const xlm_real *keys, int64_t stride, int64_t first,
                      int64_t m, double *p, double *mean)
{
    const int64_t w = in->width / in->heads;
    for (int64_t h = 0; h < in->heads; h++) {
        double highest = -(double)INFINITY, sum = 0;
        for (int64_t j = first; j < m; j++) {
            p[j] = dot(w, query + h * w, keys + j * stride + h * w) / sqrt((double)w);
            highest = fmax(highest, p[j]);
        }
        for (int64_t j = first; j < m; j++)
            sum += p[j] = exp(p[j] - highest);
        for (int64_t j = first; j < m; j++)
            mean[j] += p[j] / (sum * (double)in->heads);
    }
}

static void weigh_sequence(const xlm_attention_inputs *in, const int32_t *query_offsets, int32_t s, const struct columns *query,
                           const struct columns *key, xlm_real *weights)
{
    const int64_t m = in->offsets[s + 1] - in->offsets[s];
    const xlm_real *keys = key->at + in->offsets[s] * key->stride;
    g_autofree double *p = g_new(double, m);
    for (int64_t i = query_offsets[s]; i < query_offsets[s + 1]; i++, weights += m) {
        g_autofree double *mean = g_new0(double, m);
        const int64_t first = in->visible_from != NULL ? in->visible_from[i] : 0, end = in->visible != NULL ? in->visible[i] : m;
        add_heads(in, query->at + i * query->stride, keys, key->stride, first, end, p, mean);
        for (int64_t j = 0; j < m; j++)
            weights[j] = (xlm_real)mean[j];
    }
}

void xlm_attention_weights(const xlm_attention_inputs *in, xlm_real *weights)
{
    const int32_t *query_offsets = in->query_offsets != NULL ? in->query_offsets : in->offsets;
    if (!xlm_var_has_numbers(in->query))
        return;
    struct columns query = read_columns(in->query, in->query_column), key = read_columns(in->key, in->key_column);
    g_autofree int64_t *start = g_new(int64_t, in->sequences + 1);
    start[0] = 0;
    for (int32_t s = 0; s < in->sequences; s++)
        start[s + 1] = start[s] + (int64_t)(query_offsets[s + 1] - query_offsets[s]) * (in->offsets[s + 1] - in->offsets[s]);
#pragma omp parallel for schedule(dynamic, 1) if (start[in->sequences] > XLM_CHUNK)
    for (int32_t s = 0; s < in->sequences; s++)
        weigh_sequence(in, query_offsets, s, &query, &key, weights + start[s]);
    g_free(query.copy);
    g_free(key.copy);
}
