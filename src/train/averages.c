/* xlm-mpi: momentum averages of the parameters that objectives ask for. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/averages.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"

xlm_averages *xlm_averages_new(const xlm_host *host, const xlm_parameters *parameters, const xlm_shards *shards)
{
    xlm_averages *a = g_new0(xlm_averages, 1);
    a->n = xlm_host_averages(host);
    a->average = g_new0(xlm_saved_average, MAX(a->n, 1));
    a->momentum = g_new0(double, MAX(a->n, 1));
    a->parameters = parameters;
    a->shards = shards;
    for (int i = 0; i < a->n; i++)
        a->average[i] = (xlm_saved_average){
            .objective = xlm_host_average(host, i, &a->momentum[i])->name,
            .own = xlm_pages_take(sizeof(float) * (size_t)MAX(shards->own, 1), "averages"),
        };
    xlm_averages_begin(a);
    return a;
}

void xlm_averages_free(xlm_averages *averages)
{
    if (averages == NULL)
        return;
    for (int i = 0; i < averages->n; i++)
        free(averages->average[i].own);
    g_free(averages->average);
    g_free(averages->momentum);
    g_free(averages);
}

void xlm_averages_begin(xlm_averages *averages)
{
    for (int i = 0; i < averages->n; i++)
        xlm_shards_take(averages->shards, xlm_parameters_values(averages->parameters), averages->average[i].own);
}

void xlm_averages_update(xlm_averages *averages)
{
    const xlm_shards *s = averages->shards;
    const float *p = xlm_parameters_values(averages->parameters);
    for (int i = 0; i < averages->n; i++) {
        float *own = averages->average[i].own;
        const double m = averages->momentum[i];
        for (int64_t start = s->first + s->comm->rank * s->bucket; start < s->size; start += s->comm->ranks * s->bucket) {
            const int64_t n = MIN(s->bucket, s->size - start);
            float *a = own + xlm_shards_place(s, start);
#pragma omp parallel for schedule(static)
            for (int64_t k = 0; k < n; k++)
                a[k] = (float)(m * (double)a[k] + (1 - m) * (double)p[start + k]);
        }
    }
}

float *xlm_averages_gather(const xlm_averages *averages, int average, float *scratch)
{
    float *own = averages->average[average].own;
    const int64_t first = averages->shards->first;
    if (averages->shards->comm->ranks == 1 && first == 0)
        return own;
    if (first > 0) /* frozen parameters are their own averages */
        memcpy(scratch, xlm_parameters_values(averages->parameters), sizeof *scratch * (size_t)first);
    xlm_shards_all_gather_from(averages->shards, own, scratch);
    return scratch;
}

uint64_t xlm_averages_bytes(const xlm_host *host, int64_t size, int ranks)
{
    return sizeof(float) * (uint64_t)xlm_host_averages(host) * (uint64_t)xlm_shards_max_own(size, ranks);
}
