/* xlm-mpi: the vectors of a file, distributed over ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#include "vectors/vector_rows.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "gemm/gemm.h"
#include "matrix/algebra.h"
#include "vectors/cosines.h"
#include "vectors/vector_file.h"
#include "vectors/word_space.h"

enum { BLOCK = 4096 }; /* rows that are converted at a time */

/* ---- reading ---- */

static bool read_store(xlm_vector_rows *r, const char *path, int64_t max_vectors, GError **error)
{
    xlm_array array;
    g_autoptr(xlm_store) store = xlm_vector_store_open(path, &array, &r->words, error);
    if (store == NULL)
        return false;
    r->n = max_vectors > 0 ? MIN(max_vectors, (int64_t)array.rows) : (int64_t)array.rows;
    r->width = (int64_t)array.columns;
    for (uint64_t i = (uint64_t)r->n; i < array.rows && r->words != NULL; i++)
        g_clear_pointer(&r->words[i], g_free);
    xlm_matrix_share(r->comm, r->n, &r->first, &r->own);
    r->values = g_new(float, r->own * r->width + 1);
    return xlm_store_read(store, "/vectors", array, (uint64_t)r->first, (uint64_t)r->own, r->values, error);
}

static bool read_space(xlm_vector_rows *r, const char *path, const char *language, int64_t max_vectors, GError **error)
{
    int id;
    xlm_word_space *space = xlm_word_space_open(path, max_vectors, error);
    xlm_word_set set = {0};
    bool good = space != NULL && xlm_word_space_language(space, language, &id, error);
    if (good) {
        xlm_word_set_open(&set, space, id);
        for (int64_t i = 0; i < xlm_word_space_rows(space); i++)
            if (xlm_word_space_row_is_word(space, (int32_t)i) && (max_vectors == 0 || xlm_word_set_count(&set) < max_vectors))
                xlm_word_set_add_row(&set, (int32_t)i);
        r->n = xlm_word_set_count(&set);
        r->width = xlm_word_space_width(space);
        r->words = g_new0(char *, r->n + 1);
        for (int64_t i = 0; i < r->n; i++)
            r->words[i] = xlm_word_set_name(&set, i);
        xlm_matrix_share(r->comm, r->n, &r->first, &r->own);
        r->values = xlm_word_set_vectors(&set, r->first, r->own);
    }
    xlm_word_set_close(&set);
    xlm_word_space_free(space);
    return good;
}

static bool check_values(const xlm_vector_rows *r, const char *path, GError **error)
{
    for (int64_t i = 0; i < r->own; i++)
        for (int64_t c = 0; c < r->width; c++)
            if (!isfinite(r->values[i * r->width + c]))
                return xlm_error_set(error, EX_DATAERR, "%s: vector %" G_GINT64_FORMAT "%s%s%s has a number that is not finite",
                                     path, r->first + i, r->words != NULL ? " (\"" : "",
                                     r->words != NULL ? r->words[r->first + i] : "", r->words != NULL ? "\")" : "");
    return r->n >= 2 ||
           xlm_error_set(error, EX_DATAERR, "%s: has %" G_GINT64_FORMAT " vectors; at least 2 are needed", path, r->n);
}

/* Where each rank's rows begin. g_free. */
static int64_t *find_begins(const xlm_vector_rows *r)
{
    int64_t *begin = g_new0(int64_t, r->comm->ranks + 1);
    begin[r->comm->rank] = r->first;
    begin[r->comm->ranks] = r->comm->rank == 0 ? r->n : 0;
    xlm_comm_sum_int64(r->comm, begin, r->comm->ranks + 1);
    return begin;
}

bool xlm_vector_rows_open(const xlm_comm *comm, const char *path, const char *language, int64_t max_vectors,
                          xlm_vector_rows *rows, GError **error)
{
    GError *failure = NULL;
    *rows = (xlm_vector_rows){.comm = comm};
    const bool good = xlm_vector_store_is(path) ? read_store(rows, path, max_vectors, &failure)
                                                : read_space(rows, path, language, max_vectors, &failure);
    if (good)
        check_values(rows, path, &failure);
    if (!xlm_comm_agree_on(comm, failure, error))
        return false;
    rows->begin = find_begins(rows);
    return true;
}

/* ---- rows of zeros ---- */

static bool is_zero(const xlm_vector_rows *r, int64_t i) { return xlm_vector_length(r->width, r->values + i * r->width) == 0; }

/* Keep the rows of all ranks that are not to be left out. */
static void keep(xlm_vector_rows *r, const char *out)
{
    int64_t kept = 0, own = 0;
    for (int64_t i = 0; i < r->own; i++)
        if (!out[r->first + i])
            memmove(r->values + own++ * r->width, r->values + i * r->width, sizeof *r->values * (size_t)r->width);
    for (int64_t i = 0; i < r->n; i++) {
        if (out[i] && r->words != NULL)
            g_clear_pointer(&r->words[i], g_free);
        else if (!out[i] && r->words != NULL)
            r->words[kept] = kept == i ? r->words[i] : g_steal_pointer(&r->words[i]);
        kept += !out[i];
    }
    r->n = kept;
    r->own = own;
    r->first = xlm_comm_sum_below(r->comm, own);
    g_free(r->begin);
    r->begin = find_begins(r);
}

bool xlm_vector_rows_leave_out_zeros(xlm_vector_rows *rows, xlm_vector_rows *other, const char *path, GError **error)
{
    const int64_t all = rows->n;
    g_autofree char *zero = g_new0(char, rows->own + 1);
    g_autofree void *out = NULL;
    g_autofree size_t *sizes = g_new(size_t, rows->comm->ranks);
    for (int64_t i = 0; i < rows->own; i++)
        zero[i] = is_zero(rows, i) || (other != NULL && is_zero(other, i));
    xlm_comm_gather_all(rows->comm, zero, (size_t)rows->own, &out, sizes);
    if (memchr(out, 1, (size_t)all) == NULL)
        return true;
    keep(rows, out);
    if (other != NULL)
        keep(other, out);
    xlm_log_info("%s: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " vectors are 0 and are left out", path, all - rows->n, all);
    return rows->n >= 2 ||
           xlm_error_set(error, EX_DATAERR, "%s: %" G_GINT64_FORMAT " vectors are not 0; at least 2 are needed", path, rows->n);
}

void xlm_vector_rows_close(xlm_vector_rows *rows)
{
    g_free(rows->values);
    g_free(rows->begin);
    g_strfreev(rows->words);
    *rows = (xlm_vector_rows){0};
}

/* ---- sums ---- */

void xlm_vector_rows_mean(const xlm_vector_rows *rows, double *mean)
{
    memset(mean, 0, sizeof *mean * (size_t)rows->width);
    for (int64_t i = 0; i < rows->own; i++)
        for (int64_t c = 0; c < rows->width; c++)
            mean[c] += (double)rows->values[i * rows->width + c];
    xlm_comm_sum_double(rows->comm, mean, rows->width);
    for (int64_t c = 0; c < rows->width; c++)
        mean[c] /= (double)rows->n;
}

/* x[n x width] = rows `from` … minus the mean. */
static void centre(const xlm_vector_rows *rows, const double *mean, int64_t from, int64_t n, double *x)
{
    const int64_t d = rows->width;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < d; c++)
            x[i * d + c] = (double)rows->values[(from + i) * d + c] - mean[c];
}

void xlm_vector_rows_product(const xlm_vector_rows *x, const double *mean_x, const xlm_vector_rows *y, const double *mean_y,
                             double *product)
{
    double *a = g_new(double, BLOCK * x->width), *b = x != y ? g_new(double, BLOCK * y->width) : a;
    memset(product, 0, sizeof *product * (size_t)(x->width * y->width));
    for (int64_t from = 0; from < x->own; from += BLOCK) {
        const int64_t n = MIN(BLOCK, x->own - from);
        centre(x, mean_x, from, n, a);
        if (x != y)
            centre(y, mean_y, from, n, b);
        xlm_gemm_double(true, false, x->width, y->width, n, 1, a, x->width, b, y->width, 1, product, y->width);
    }
    xlm_comm_sum_double(x->comm, product, x->width * y->width);
    if (x != y)
        g_free(b);
    g_free(a);
}

void xlm_vector_rows_image(const xlm_vector_rows *rows, const double *mean, int64_t k, const double *a, float *image)
{
    const int64_t d = rows->width;
    g_autofree float *x = g_new(float, BLOCK * d), *m = g_new(float, d * k);
    for (int64_t i = 0; i < d * k; i++)
        m[i] = (float)a[i];
    for (int64_t from = 0; from < rows->own; from += BLOCK) {
        const int64_t n = MIN(BLOCK, rows->own - from);
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n; i++)
            for (int64_t c = 0; c < d; c++)
                x[i * d + c] = (float)((double)rows->values[(from + i) * d + c] - mean[c]);
        xlm_gemm(false, false, n, k, d, 1, x, d, m, k, 0, image + from * k, k);
    }
}
