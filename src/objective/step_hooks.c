/* xlm-mpi: functions that objectives call: files, metrics, memory, made texts, random draws, publishing.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "objective/host.h"
#include "objective/hosted.h"

/* ---- files and metrics ---- */

const void *xlm_loss_resource(xlm_loss *loss, const char *kind, const char *path, char *message, size_t size)
{
    GError *error = NULL;
    const void *found = xlm_resources_get(loss->hosted->host->resources, kind, path, &error);
    if (found == NULL)
        g_strlcpy(message, error->message, size);
    g_clear_error(&error);
    return found;
}

void xlm_loss_metric(xlm_loss *loss, const char *name, double sum, int64_t count)
{
    xlm_metrics *metrics = loss->hosted->metrics;
    const int i = xlm_metrics_find(metrics, name);
    if (i < 0)
        g_error("objective %s: the metric \"%s\" was not declared", metrics->objective, name);
    if (metrics->sums == NULL)
        return;
    metrics->sums[i].sum += sum;
    metrics->sums[i].count += (double)count;
}

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

/* A copy that lasts until the end of the step. */
static void *keep_copy(const xlm_pass *pass, const void *from, size_t bytes)
{
    return memcpy(xlm_arena_take(pass->call->input->arena, bytes), from, bytes);
}

/* What is wrong with a made text; NULL: nothing. */
static const char *check_made(const xlm_hosted *h, const xlm_batch *batch, const int32_t *offsets, const int32_t *ids,
                              const int32_t *languages, const int32_t *positions)
{
    static const char wrong_offsets[] = "its offsets do not begin with 0, or a sequence is empty or longer than was declared";
    const xlm_model_config *model = h->loss.setup->model;
    if (offsets[0] != 0)
        return wrong_offsets;
    for (int32_t s = 0; s < batch->corrupted.sequences; s++) {
        const int64_t tokens = (int64_t)offsets[s + 1] - offsets[s];
        if (tokens < 1 || tokens > h->max_made)
            return wrong_offsets;
        for (int32_t i = offsets[s]; i < offsets[s + 1]; i++)
            if (ids[i] < 0 || ids[i] >= model->vocabulary || languages[i] < 0 || languages[i] >= model->languages)
                return "it has ids or languages that do not exist";
        for (int32_t i = offsets[s]; i < offsets[s + 1] && positions != NULL; i++)
            if (positions[i] < 0 || positions[i] >= model->positions)
                return "it has positions that the model does not have";
    }
    return NULL;
}

void xlm_pass_make_text(const xlm_pass *pass, const int32_t *offsets, const int32_t *ids, const int32_t *languages,
                        const int32_t *positions)
{
    const xlm_hosted *h = pass->call->hosted;
    const int k = (int)(h - h->host->objective);
    if (!pass->call->label || !h->makes_text || pass->call->input->made[k] != NULL)
        g_error("objective %s: it makes a text outside of label, twice, or without having declared it", h->loss.name);
    const char *wrong = check_made(h, pass->batch, offsets, ids, languages, positions);
    if (wrong != NULL)
        g_error("objective %s: the text that its label makes is wrong: %s", h->loss.name, wrong);
    const xlm_text *of = &pass->batch->corrupted;
    const int32_t tokens = offsets[of->sequences];
    xlm_arena *arena = pass->call->input->arena;
    int32_t *own_positions = XLM_TAKE(arena, int32_t, tokens), *types = XLM_TAKE(arena, int32_t, tokens);
    xlm_row_key *keys = XLM_TAKE(arena, xlm_row_key, tokens);
    for (int32_t s = 0; s < of->sequences; s++)
        for (int32_t i = offsets[s]; i < offsets[s + 1]; i++) {
            own_positions[i] = positions != NULL ? positions[i] : i - offsets[s];
            types[i] = 0;
            keys[i] = (xlm_row_key){of->keys[of->offsets[s]].instance, (uint32_t)(i - offsets[s])};
        }
    xlm_text *text = XLM_TAKE(arena, xlm_text, 1);
    *text = (xlm_text){
        .tokens = tokens, .sequences = of->sequences, .positions = own_positions, .types = types, .keys = keys, .specials = of->specials,
        .offsets = keep_copy(pass, offsets, sizeof *offsets * ((size_t)of->sequences + 1)),
        .ids = keep_copy(pass, ids, sizeof *ids * (size_t)tokens),
        .languages = keep_copy(pass, languages, sizeof *languages * (size_t)tokens),
    };
    text->unmasked = text->ids;
    text->unswitched = text->languages;
    pass->call->input->made[k] = text;
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

bool xlm_host_publishes(const xlm_host *host, int k) { return host->objective[k].published_bytes > 0; }

static size_t row_bytes(const xlm_hosted *h) { return sizeof(uint32_t) + h->published_bytes; }

void xlm_pass_publish(const xlm_pass *pass, int32_t sequence, const void *row)
{
    xlm_hosted *h = pass->call->hosted;
    const int32_t sequences = pass->batch != NULL ? pass->batch->corrupted.sequences : 0;
    if (h->published_bytes == 0 || sequence < 0 || sequence >= sequences)
        g_error("objective %s: it publishes sequence %d of %d, without having declared it or out of range", h->loss.name,
                sequence, sequences);
    if (!h->host->publishing)
        return;
    const uint32_t instance = pass->batch->corrupted.keys[pass->batch->corrupted.offsets[sequence]].instance;
    g_array_append_vals(h->published, &instance, sizeof instance);
    g_array_append_vals(h->published, row, (guint)h->published_bytes);
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
    g_autofree char *row = g_malloc0(size);
    for (int64_t i = 0; i < n; i++) {
        const uint32_t instance = (uint32_t)i;
        memcpy(row, &instance, sizeof instance);
        g_byte_array_append(rows, (const guint8 *)row, (guint)size);
    }
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
    g_autofree uint32_t *instances = g_new(uint32_t, MAX(n, 1));
    g_autofree char *values = g_malloc(MAX(n * h->published_bytes, 1));
    if (n > 0)
        qsort(all->data, n, size, by_instance);
    for (size_t i = 0; i < n; i++) {
        memcpy(&instances[i], all->data + i * size, sizeof *instances);
        memcpy(values + i * h->published_bytes, all->data + i * size + sizeof *instances, h->published_bytes);
        if (i > 0 && instances[i] == instances[i - 1])
            g_error("objective %s: it has published a sequence twice", h->loss.name);
    }
    const xlm_published published = {.rows = (int64_t)n, .bytes = h->published_bytes, .instances = instances, .values = values,
                                     .step = step};
    h->spec.cls->publish(&h->loss, &published);
}

void xlm_host_finish_step(xlm_host *host, int64_t step, GByteArray *const *published)
{
    host->publishing = false;
    for (int k = 0; k < host->objectives; k++) {
        xlm_hosted *h = &host->objective[k];
        if (!xlm_host_takes_part(host, k, step))
            continue;
        if (xlm_host_publishes(host, k))
            deliver(h, step, published[k]);
        if (h->spec.cls->after_update != NULL)
            h->spec.cls->after_update(&h->loss, step);
    }
}
