/* xlm-mpi: the hooks of objectives around a step, where ranks have to speak. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/hooks.h"

void xlm_make_labels(const xlm_workspace *workspace, bool training, uint64_t seed, int64_t step, xlm_pass_input *input,
                     int64_t n)
{
    const xlm_workspace *w = workspace;
    for (int a = -1; a < xlm_host_averages(w->host); a++) {
        if (!xlm_host_has_labels(w->host, a))
            continue;
        float *averaged = a >= 0 ? xlm_averages_gather(w->averages, a, w->gradient) : NULL;
        for (int64_t i = 0; i < n; i++) {
            if (input[i].terms == NULL)
                continue;
            xlm_tape_begin(w->tape, NULL, training, seed, (uint64_t)step);
            xlm_host_label(w->host, w->tape, &input[i], a, averaged);
        }
    }
}

GByteArray **xlm_gather_published(const xlm_comm *comm, xlm_host *host, bool alike)
{
    const int objectives = xlm_host_objectives(host);
    GByteArray **published = g_new0(GByteArray *, MAX(objectives, 1));
    g_autofree size_t *sizes = g_new0(size_t, comm->ranks);
    for (int k = 0; k < objectives; k++) {
        if (!xlm_host_publishes(host, k))
            continue;
        size_t bytes, all = 0;
        const void *own = xlm_host_published(host, k, &bytes);
        g_autofree void *gathered = NULL;
        xlm_comm_gather_all(comm, own, bytes, &gathered, sizes);
        for (int r = 0; r < (alike ? 1 : comm->ranks); r++)
            all += sizes[r];
        if (all > G_MAXUINT) /* more than an array of GLib holds: 4 GiB a step */
            g_error("objective %s: it publishes %zu bytes in a step; publish less", xlm_host_loss(host, k)->name, all);
        published[k] = g_byte_array_new();
        g_byte_array_append(published[k], gathered, (guint)all);
    }
    return published;
}

void xlm_free_published(const xlm_host *host, GByteArray **published)
{
    for (int k = 0; k < xlm_host_objectives(host); k++)
        if (published[k] != NULL)
            g_byte_array_unref(published[k]);
    g_free(published);
}

void xlm_exchange_sums(const xlm_comm *comm, xlm_sums *sums, int64_t n, bool *flags, int count)
{
    const int each = n > 0 ? xlm_sums_numbers(&sums[0]) : 0, all = (int)n * each;
    g_autofree double *numbers = g_new(double, MAX(all + count, 1));
    for (int64_t i = 0; i < n; i++)
        xlm_sums_write(&sums[i], numbers + i * each);
    for (int i = 0; i < count; i++)
        numbers[all + i] = flags[i];
    for (int i = 0; i < all; i++)
        numbers[i] += 0; /* −0 becomes 0 on one rank too, as where zeros of others are added */
    xlm_comm_merge_double(comm, numbers, all + count);
    for (int64_t i = 0; i < n; i++)
        xlm_sums_read(&sums[i], numbers + i * each);
    for (int i = 0; i < count; i++)
        flags[i] = numbers[all + i] != 0;
}
