/* xlm-mpi: where the time of a step goes. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/profile.h"

#include <glib.h>
#include <string.h>

#include "base/log.h"
#include "gemm/gemm.h"

struct xlm_profile {
    GArray *rows; /* xlm_profile_row */
    int open;     /* index of the open row, -1: none */
    double since, flops_before;
};

xlm_profile *xlm_profile_new(void)
{
    xlm_profile *profile = g_new0(xlm_profile, 1);
    profile->rows = g_array_new(FALSE, TRUE, sizeof(xlm_profile_row));
    profile->open = -1;
    return profile;
}

void xlm_profile_free(xlm_profile *profile)
{
    if (profile == NULL)
        return;
    g_array_free(profile->rows, TRUE);
    g_free(profile);
}

static xlm_profile_row *row_at(const xlm_profile *profile, int i) { return &g_array_index(profile->rows, xlm_profile_row, i); }

/* A linear search: a step has a few dozen rows. */
static int find(xlm_profile *profile, const char *name, bool backward)
{
    for (int i = 0; i < (int)profile->rows->len; i++)
        if (row_at(profile, i)->backward == backward && strcmp(row_at(profile, i)->name, name) == 0)
            return i;
    const xlm_profile_row row = {.name = name, .backward = backward};
    g_array_append_val(profile->rows, row);
    return (int)profile->rows->len - 1;
}

void xlm_profile_leave(xlm_profile *profile)
{
    if (profile == NULL || profile->open < 0)
        return;
    xlm_profile_row *row = row_at(profile, profile->open);
    row->seconds += xlm_clock() - profile->since;
    row->flops += xlm_gemm_flops() - profile->flops_before;
    profile->open = -1;
}

void xlm_profile_enter(xlm_profile *profile, const char *name, bool backward, double bytes)
{
    if (profile == NULL)
        return;
    xlm_profile_leave(profile);
    profile->open = find(profile, name, backward);
    xlm_profile_row *row = row_at(profile, profile->open);
    row->calls++;
    row->bytes += bytes;
    profile->flops_before = xlm_gemm_flops();
    profile->since = xlm_clock();
}

void xlm_profile_add_bytes(xlm_profile *profile, double bytes)
{
    if (profile != NULL && profile->open >= 0)
        row_at(profile, profile->open)->bytes += bytes;
}

void xlm_profile_reset(xlm_profile *profile)
{
    if (profile == NULL)
        return;
    profile->open = -1;
    g_array_set_size(profile->rows, 0);
}

static gint longest_first(gconstpointer a, gconstpointer b)
{
    const double x = ((const xlm_profile_row *)a)->seconds, y = ((const xlm_profile_row *)b)->seconds;
    return (x < y) - (x > y);
}

const xlm_profile_row *xlm_profile_rows(xlm_profile *profile, int *n)
{
    xlm_profile_leave(profile);
    g_array_sort(profile->rows, longest_first);
    *n = (int)profile->rows->len;
    return (const xlm_profile_row *)(const void *)profile->rows->data;
}
