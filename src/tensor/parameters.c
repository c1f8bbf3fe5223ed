/* xlm-mpi: the named parameters of a model, in one flat array. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/parameters.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "base/rng.h"

/* 16 floats are one cache line, and one vector of AVX-512. */
enum { ALIGNMENT = 16 };

static const double DEVIATION = 0.02;

struct xlm_parameters {
    GArray *list;        /* of xlm_parameter */
    GHashTable *by_name; /* name -> index + 1 */
    int64_t size, elements;
    int64_t learning;    /* where parameters begin that are not frozen */
    xlm_real *values;    /* NULL before sealing */
};

static int64_t align(int64_t n) { return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

xlm_parameters *xlm_parameters_new(void)
{
    xlm_parameters *p = g_new0(xlm_parameters, 1);
    p->list = g_array_new(FALSE, FALSE, sizeof(xlm_parameter));
    p->by_name = g_hash_table_new(g_str_hash, g_str_equal);
    return p;
}

void xlm_parameters_free(xlm_parameters *p)
{
    if (p == NULL)
        return;
    g_hash_table_destroy(p->by_name);
    for (guint i = 0; i < p->list->len; i++)
        g_free(g_array_index(p->list, xlm_parameter, i).name);
    g_array_free(p->list, TRUE);
    free(p->values);
    g_free(p);
}

int xlm_parameters_add_stack(xlm_parameters *p, int n, const char *const *names, int64_t rows, int64_t cols,
                             xlm_init init, bool decay)
{
    const int first = (int)p->list->len;
    if (p->values != NULL)
        g_error("xlm_parameters_add: \"%s\" is declared after xlm_parameters_seal", names[0]);
    if (rows < 1 || cols < 1)
        g_error("xlm_parameters_add: \"%s\" is %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT, names[0], rows, cols);
    for (int i = 0; i < n; i++) {
        const xlm_parameter parameter = {.name = g_strdup(names[i]), .rows = rows, .cols = cols,
                                         .start = p->size + i * rows * cols, .init = init, .decay = decay, .rate = 1};
        g_array_append_val(p->list, parameter);
        if (!g_hash_table_insert(p->by_name, parameter.name, GINT_TO_POINTER(first + i + 1)))
            g_error("xlm_parameters_add: \"%s\" is declared twice", names[i]);
    }
    p->size += align(n * rows * cols);
    p->elements += n * rows * cols;
    return first;
}

int xlm_parameters_add(xlm_parameters *p, const char *name, int64_t rows, int64_t cols, xlm_init init, bool decay)
{
    return xlm_parameters_add_stack(p, 1, &name, rows, cols, init, decay);
}

void xlm_parameters_set_rate(xlm_parameters *p, int index, double rate)
{
    g_array_index(p->list, xlm_parameter, index).rate = rate;
}

/* Lays out a parameter, which comes right after the one before it if it did so in the old layout. */
static void lay_out(xlm_parameters *p, GArray *old, guint i, GArray *list)
{
    xlm_parameter parameter = g_array_index(old, xlm_parameter, i);
    const xlm_parameter *before = i > 0 ? &g_array_index(old, xlm_parameter, i - 1) : NULL;
    const bool stacked = before != NULL && before->start + before->rows * before->cols == parameter.start &&
                         (before->rate != 0) == (parameter.rate != 0);
    parameter.start = stacked ? p->size : align(p->size);
    p->size = parameter.start + parameter.rows * parameter.cols;
    g_array_append_val(list, parameter);
}

void xlm_parameters_put_frozen_first(xlm_parameters *p)
{
    g_assert(p->values == NULL);
    GArray *old = p->list, *list = g_array_new(FALSE, FALSE, sizeof(xlm_parameter));
    p->size = 0;
    for (int learning = 0; learning < 2; learning++) {
        p->size = align(p->size);
        p->learning = p->size;
        for (guint i = 0; i < old->len; i++)
            if ((g_array_index(old, xlm_parameter, i).rate != 0) == learning)
                lay_out(p, old, i, list);
    }
    p->size = align(p->size);
    for (guint i = 0; i < list->len; i++)
        g_hash_table_insert(p->by_name, g_array_index(list, xlm_parameter, i).name, GINT_TO_POINTER((int)i + 1));
    g_array_free(old, TRUE);
    p->list = list;
}

void xlm_parameters_seal(xlm_parameters *p)
{
    const uint64_t bytes = sizeof(xlm_real) * (uint64_t)MAX(p->size, ALIGNMENT);
    p->values = xlm_pages_take(bytes, "the parameters");
    memset(p->values, 0, bytes);
}

/* Elements [first, first + n): element e is normal e mod 4 of draw e / 4. */
static void draw_normal(xlm_rng_key key, int64_t first, int64_t n, xlm_real *values)
{
#pragma omp parallel for schedule(static)
    for (int64_t block = first / 4; block < (first + n + 3) / 4; block++) {
        const xlm_rng_block b = xlm_rng_draw(key, (uint32_t)block, (uint32_t)((uint64_t)block >> 32), 0, 0);
        double normal[4];
        xlm_rng_normal(b.v[0], b.v[1], normal);
        xlm_rng_normal(b.v[2], b.v[3], normal + 2);
        for (int64_t e = MAX(block * 4, first); e < MIN(first + n, block * 4 + 4); e++)
            values[e - first] = (xlm_real)(DEVIATION * normal[e % 4]);
    }
}

/* Elements [first, first + n): element e is number e mod 4 of draw e / 4. */
static void draw_uniform(xlm_rng_key key, double bound, int64_t first, int64_t n, xlm_real *values)
{
#pragma omp parallel for schedule(static)
    for (int64_t block = first / 4; block < (first + n + 3) / 4; block++) {
        const xlm_rng_block b = xlm_rng_draw(key, (uint32_t)block, (uint32_t)((uint64_t)block >> 32), 0, 0);
        for (int64_t e = MAX(block * 4, first); e < MIN(first + n, block * 4 + 4); e++)
            values[e - first] = (xlm_real)(bound * (2 * xlm_rng_unit(b.v[e % 4]) - 1));
    }
}

void xlm_parameter_draw(const xlm_parameter *parameter, uint64_t seed, int64_t first, int64_t n, xlm_real *values)
{
    const uint64_t name = xlm_digest(parameter->name, strlen(parameter->name), 0);
    const xlm_rng_key key = xlm_rng_make_key(seed, XLM_RNG_INITIALISE, name);
    if (parameter->init == XLM_INIT_NORMAL) {
        draw_normal(key, first, n, values);
    } else if (parameter->init == XLM_INIT_UNIFORM) {
        draw_uniform(key, 1 / sqrt((double)parameter->cols), first, n, values);
    } else {
        for (int64_t e = 0; e < n; e++)
            values[e] = parameter->init == XLM_INIT_ONE;
    }
}

void xlm_parameters_initialise(xlm_parameters *p, uint64_t seed)
{
    for (guint i = 0; i < p->list->len; i++) {
        const xlm_parameter *parameter = &g_array_index(p->list, xlm_parameter, i);
        xlm_parameter_draw(parameter, seed, 0, parameter->rows * parameter->cols, p->values + parameter->start);
    }
}

int xlm_parameters_count(const xlm_parameters *p) { return (int)p->list->len; }

const xlm_parameter *xlm_parameters_get(const xlm_parameters *p, int index)
{
    return &g_array_index(p->list, xlm_parameter, index);
}

int xlm_parameters_find(const xlm_parameters *p, const char *name)
{
    return GPOINTER_TO_INT(g_hash_table_lookup(p->by_name, name)) - 1;
}

int64_t xlm_parameters_size(const xlm_parameters *p) { return p->size; }
int64_t xlm_parameters_learning(const xlm_parameters *p) { return p->learning; }
int64_t xlm_parameters_elements(const xlm_parameters *p) { return p->elements; }
xlm_real *xlm_parameters_values(const xlm_parameters *p) { return p->values; }
