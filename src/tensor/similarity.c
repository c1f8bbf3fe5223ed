/* xlm-mpi: links between the tokens of two sentences, from similarities of their vectors. SPDX-License-Identifier:
 * GPL-3.0-or-later */
#include <glib.h>
#include <math.h>
#include <string.h>
#include <xlm/similarity.h>

#include "gemm/gemm.h"

/* ---- similarities ---- */

void xlm_similarity_products(int64_t n, int64_t m, int64_t d, const xlm_real *source, const xlm_real *target, xlm_real *s)
{
    if (n > 0 && m > 0)
        xlm_gemm(false, true, n, m, d, 1, source, d, target, d, 0, s, m);
}

/* [n] 1 / |x_i|, 0 for a vector of zeros; g_free. */
static double *inverse_norms(int64_t n, int64_t d, const xlm_real *x)
{
    double *inverse = g_new(double, MAX(n, 1));
    for (int64_t i = 0; i < n; i++) {
        double square = 0;
        for (int64_t c = 0; c < d; c++)
            square += (double)x[i * d + c] * (double)x[i * d + c];
        inverse[i] = square > 0 ? 1 / sqrt(square) : 0;
    }
    return inverse;
}

void xlm_similarity_cosines(int64_t n, int64_t m, int64_t d, const xlm_real *source, const xlm_real *target, xlm_real *s)
{
    double *source_inverse = inverse_norms(n, d, source), *target_inverse = inverse_norms(m, d, target);
    xlm_similarity_products(n, m, d, source, target, s);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            const double cosine = (double)s[i * m + j] * source_inverse[i] * target_inverse[j];
            s[i * m + j] = (xlm_real)((1 + CLAMP(cosine, -1, 1)) / 2);
        }
    g_free(source_inverse);
    g_free(target_inverse);
}

/* ---- optimal transport ---- */

/* K of regularisation 1: epsilon and float's largest number are far from the limits of double. */
static void transport_products(const xlm_transport *transport, int64_t n, int64_t m, double *k, double *u, double *v)
{
    double *columns = g_new(double, MAX(m, 1)); /* Kᵀ u */
    for (int64_t j = 0; j < m; j++)
        v[j] = 1;
    for (int t = 0; t < transport->iterations; t++) {
        for (int64_t j = 0; j < m; j++)
            columns[j] = 0;
        for (int64_t i = 0; i < n; i++) {
            double row = 0;
            for (int64_t j = 0; j < m; j++)
                row += k[i * m + j] * v[j];
            u[i] = 1 / row;
            for (int64_t j = 0; j < m; j++)
                columns[j] += k[i * m + j] * u[i];
        }
        for (int64_t j = 0; j < m; j++)
            v[j] = 1 / columns[j];
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            k[i * m + j] = u[i] * k[i * m + j] * v[j];
    g_free(columns);
}

/* log Σ exp(x_i + y_i) over n numbers x, which are `step` apart. */
static double log_of_sum(int64_t n, const double *x, int64_t step, const double *y)
{
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, x[i * step] + y[i]);
    for (int64_t i = 0; i < n; i++)
        sum += exp(x[i * step] + y[i] - largest);
    return largest + log(sum);
}

/* The same from log K, for a power of which K can leave the range of double; u and v are logarithms too. */
static void transport_logarithms(const xlm_transport *transport, int64_t n, int64_t m, double *k, double *u, double *v)
{
    for (int64_t j = 0; j < m; j++)
        v[j] = 0;
    for (int t = 0; t < transport->iterations; t++) {
        for (int64_t i = 0; i < n; i++)
            u[i] = -log_of_sum(m, k + i * m, 1, v);
        for (int64_t j = 0; j < m; j++)
            v[j] = -log_of_sum(n, k + j, m, u);
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            k[i * m + j] = exp(u[i] + k[i * m + j] + v[j]);
}

void xlm_similarity_transport(const xlm_transport *transport, int64_t n, int64_t m, xlm_real *s)
{
    double *k = g_new(double, MAX(n * m, 1)), *u = g_new(double, MAX(n, 1)), *v = g_new(double, MAX(m, 1));
    const bool plain = transport->regularisation == 1;
    for (int64_t e = 0; e < n * m; e++) {
        k[e] = (double)s[e] <= transport->epsilon ? transport->epsilon : (double)s[e]; /* NaN stays NaN */
        if (!plain)
            k[e] = log(k[e]) / transport->regularisation;
    }
    (plain ? transport_products : transport_logarithms)(transport, n, m, k, u, v);
    for (int64_t e = 0; e < n * m; e++)
        s[e] = (xlm_real)k[e];
    g_free(k);
    g_free(u);
    g_free(v);
}

/* ---- links ---- */

/* The state of a search for links: the largest number of each row and of each column, and what is linked. */
struct search {
    int64_t n, m;
    double *values;                      /* [n x m], which rounds change */
    int64_t *in_row, *in_column;         /* [n] the column of the largest number of a row, [m] the row of that of a column */
    bool *source_linked, *target_linked; /* [n], [m] */
    bool *links;                         /* [n x m] */
    int64_t count;
};

static struct search begin(int64_t n, int64_t m, const xlm_real *s, bool *links)
{
    struct search r = {
        .n = n, .m = m, .values = g_new(double, MAX(n * m, 1)), .in_row = g_new(int64_t, MAX(n, 1)),
        .in_column = g_new(int64_t, MAX(m, 1)), .source_linked = g_new0(bool, MAX(n, 1)),
        .target_linked = g_new0(bool, MAX(m, 1)), .links = links,
    };
    for (int64_t e = 0; e < n * m; e++) {
        r.values[e] = (double)s[e];
        links[e] = false;
    }
    return r;
}

static int64_t finish(struct search *r)
{
    g_free(r->values);
    g_free(r->in_row);
    g_free(r->in_column);
    g_free(r->source_linked);
    g_free(r->target_linked);
    return r->count;
}

static void find_largest(struct search *r)
{
    memset(r->in_row, 0, sizeof *r->in_row * (size_t)r->n);
    memset(r->in_column, 0, sizeof *r->in_column * (size_t)r->m);
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t j = 0; j < r->m; j++) {
            const double value = r->values[i * r->m + j];
            if (value > r->values[i * r->m + r->in_row[i]])
                r->in_row[i] = j;
            if (value > r->values[r->in_column[j] * r->m + j])
                r->in_column[j] = i;
        }
}

static void link_tokens(struct search *r, int64_t i, int64_t j)
{
    r->count += !r->links[i * r->m + j];
    r->links[i * r->m + j] = true;
}

static void note_linked(struct search *r)
{
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t j = 0; j < r->m; j++)
            if (r->links[i * r->m + j])
                r->source_linked[i] = r->target_linked[j] = true;
}

/* Links tokens whose similarity is the largest of its row and of its column. fresh: not if both tokens are already linked. */
static void link_mutual(struct search *r, bool fresh)
{
    find_largest(r);
    for (int64_t i = 0; i < r->n && r->m > 0; i++) {
        const int64_t j = r->in_row[i];
        if (r->in_column[j] == i && !(fresh && r->source_linked[i] && r->target_linked[j]))
            link_tokens(r, i, j);
    }
    note_linked(r);
}

int64_t xlm_similarity_argmax(int64_t n, int64_t m, const xlm_real *s, bool either, bool *links)
{
    struct search r = begin(n, m, s, links);
    link_mutual(&r, false);
    for (int64_t i = 0; i < n && m > 0 && either; i++)
        link_tokens(&r, i, r.in_row[i]);
    for (int64_t j = 0; j < m && n > 0 && either; j++)
        link_tokens(&r, r.in_column[j], j);
    return finish(&r);
}

static bool all(const bool *linked, int64_t n) { return memchr(linked, false, (size_t)n) == NULL; }

int64_t xlm_similarity_itermax(const xlm_itermax *itermax, int64_t n, int64_t m, const xlm_real *s, bool *links)
{
    struct search r = begin(n, m, s, links);
    int64_t before = 0;
    link_mutual(&r, false);
    for (int round = 1; round < itermax->rounds && r.count > before && MIN(n, m) > 2; round++) {
        if (all(r.source_linked, n) || all(r.target_linked, m))
            break;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < m; j++) {
                const int linked = r.source_linked[i] + r.target_linked[j];
                r.values[i * m + j] = (double)s[i * m + j] * (linked == 0 ? 1 : linked == 1 ? itermax->discount : 0);
            }
        before = r.count;
        link_mutual(&r, true);
    }
    return finish(&r);
}

int64_t xlm_similarity_filter(const xlm_itermax *itermax, int64_t n, int64_t m, const xlm_real *a, bool *links)
{
    struct search r = begin(n, m, a, links);
    link_mutual(&r, false);
    for (int round = 1; round < itermax->rounds; round++) {
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < m; j++)
                if (links[i * m + j])
                    r.values[i * m + j] = 0;
                else if (r.source_linked[i] || r.target_linked[j])
                    r.values[i * m + j] *= itermax->discount;
        link_mutual(&r, false);
    }
    return finish(&r);
}

int64_t xlm_similarity_link(xlm_link_method method, int64_t n, int64_t m, int64_t d, const xlm_real *source,
                            const xlm_real *target, xlm_real *s, bool *links)
{
    static const xlm_transport transport = XLM_TRANSPORT_DEFAULTS;
    static const xlm_itermax itermax = XLM_ITERMAX_DEFAULTS;
    if (method == XLM_LINK_TRANSPORT) {
        xlm_similarity_products(n, m, d, source, target, s);
        xlm_similarity_transport(&transport, n, m, s);
        return xlm_similarity_filter(&itermax, n, m, s, links);
    }
    xlm_similarity_cosines(n, m, d, source, target, s);
    return method == XLM_LINK_ARGMAX ? xlm_similarity_argmax(n, m, s, false, links)
                                     : xlm_similarity_itermax(&itermax, n, m, s, links);
}
