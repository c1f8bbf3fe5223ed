/* xlm-mpi: what objectives keep, draw and publish within a step. SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "objective/host_internal.h"

/* ---- memory and draws ---- */

void *xlm_pass_keep(const xlm_pass *pass, uint64_t bytes)
{
    const struct xlm_pass_call *call = pass->call;
    const int k = (int)(call->hosted - call->hosted->host->objective);
    if (!call->label)
        g_error("objective %s: xlm_pass_keep is for its label function", call->hosted->loss.name);
    void *memory = xlm_arena_take(call->input->arena, bytes);
    if (call->input->labels[k] == NULL)
        call->input->labels[k] = memory;
    return memory;
}

double xlm_pass_uniform(const xlm_pass *pass, xlm_row_key key, uint32_t number)
{
    const xlm_hosted *h = pass->call->hosted;
    const uint64_t step = pass->call->input->held_out ? UINT64_MAX : (uint64_t)pass->step;
    const xlm_rng_key all = xlm_rng_make_key(h->host->about.seed, XLM_RNG_OBJECTIVE, step);
    const uint32_t name = (uint32_t)xlm_digest(h->loss.name, strlen(h->loss.name), 0);
    return xlm_rng_unit(xlm_rng_draw(all, key.instance, key.position, name, number).v[0]);
}

void xlm_loss_normal(const xlm_loss *loss, uint32_t number, int64_t n, xlm_real *values)
{
    const xlm_rng_key all = xlm_rng_make_key(loss->setup->seed, XLM_RNG_OBJECTIVE_START, number);
    const uint32_t name = (uint32_t)xlm_digest(loss->name, strlen(loss->name), 0);
    for (int64_t i = 0; i < n; i += 2) {
        const xlm_rng_block random = xlm_rng_draw(all, (uint32_t)(i / 2), (uint32_t)(i / 2 >> 32), name, 0);
        double pair[2];
        xlm_rng_normal(random.v[0], random.v[1], pair);
        values[i] = (xlm_real)pair[0];
        if (i + 1 < n)
            values[i + 1] = (xlm_real)pair[1];
    }
}

/* ---- publishing ---- */

bool xlm_host_publishes(const xlm_host *host, int k) { return host->objective[k].published_cols > 0; }

static size_t row_bytes(const xlm_hosted *h) { return sizeof(uint32_t) + sizeof(float) * (size_t)h->published_cols; }

void xlm_pass_publish(const xlm_pass *pass, int32_t sequence, const xlm_real *values)
{
    xlm_hosted *h = pass->call->hosted;
    if (h->published_cols == 0 || sequence < 0 || sequence >= pass->batch->sequences)
        g_error("objective %s: it publishes sequence %d of %d, without having declared it or out of range", h->loss.name,
                sequence, pass->batch->sequences);
    if (!h->host->publishing)
        return;
    const uint32_t instance = pass->batch->keys[pass->batch->offsets[sequence]].instance;
    g_array_append_vals(h->published, &instance, sizeof instance);
    for (int64_t c = 0; c < h->published_cols; c++) {
        const float value = (float)values[c];
        g_array_append_vals(h->published, &value, sizeof value);
    }
}

void xlm_host_begin_step(xlm_host *host)
{
    host->publishing = true;
    for (int k = 0; k < host->objectives; k++)
        g_array_set_size(host->objective[k].published, 0);
}

const void *xlm_host_published(const xlm_host *host, int k, size_t *bytes)
{
    *bytes = host->objective[k].published->len;
    return host->objective[k].published->data;
}

GByteArray *xlm_host_published_zeros(const xlm_host *host, int k, int64_t n)
{
    const size_t size = row_bytes(&host->objective[k]);
    GByteArray *rows = g_byte_array_sized_new((guint)(size * (size_t)n));
    char *row = g_malloc0(size);
    for (int64_t i = 0; i < n; i++) {
        const uint32_t instance = (uint32_t)i;
        memcpy(row, &instance, sizeof instance);
        g_byte_array_append(rows, (const guint8 *)row, (guint)size);
    }
    g_free(row);
    return rows;
}

static int by_instance(const void *a, const void *b)
{
    uint32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void deliver(xlm_hosted *h, int64_t step, GByteArray *all)
{
    const size_t size = row_bytes(h), n = all->len / size;
    uint32_t *instances = g_new(uint32_t, MAX(n, 1));
    float *values = g_new(float, MAX(n * (size_t)h->published_cols, 1));
    if (n > 0)
        qsort(all->data, n, size, by_instance);
    for (size_t i = 0; i < n; i++) {
        memcpy(&instances[i], all->data + i * size, sizeof *instances);
        memcpy(values + i * (size_t)h->published_cols, all->data + i * size + sizeof *instances, size - sizeof *instances);
        if (i > 0 && instances[i] == instances[i - 1])
            g_error("objective %s: it has published a sequence twice", h->loss.name);
    }
    const xlm_published published = {.rows = (int64_t)n, .cols = h->published_cols, .instances = instances, .values = values,
                                     .step = step};
    h->spec.cls->publish(&h->loss, &published);
    g_free(instances);
    g_free(values);
}

void xlm_host_finish_step(xlm_host *host, int64_t step, GByteArray *const *published)
{
    host->publishing = false;
    for (int k = 0; k < host->objectives; k++) {
        xlm_hosted *h = &host->objective[k];
        if (step < h->spec.begin)
            continue;
        if (xlm_host_publishes(host, k))
            deliver(h, step, published[k]);
        if (h->spec.cls->after_update != NULL)
            h->spec.cls->after_update(&h->loss, step);
    }
}
