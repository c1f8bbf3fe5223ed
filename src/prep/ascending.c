/* xlm-mpi: sets of 64-bit numbers, ascending. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/ascending.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void xlm_ascending_sort(GArray *numbers)
{
    if (numbers->len == 0)
        return;
    qsort(numbers->data, numbers->len, sizeof(uint64_t), compare);
    guint n = 1;
    for (guint i = 1; i < numbers->len; i++)
        if (g_array_index(numbers, uint64_t, i) != g_array_index(numbers, uint64_t, n - 1))
            g_array_index(numbers, uint64_t, n++) = g_array_index(numbers, uint64_t, i);
    g_array_set_size(numbers, n);
}

bool xlm_ascending_contains(const GArray *set, uint64_t number)
{
    return set->len > 0 && bsearch(&number, set->data, set->len, sizeof number, compare) != NULL;
}

void xlm_ascending_unite(GArray *set, GArray *found, const xlm_comm *comm)
{
    xlm_ascending_sort(found); /* so that no number is sent twice by one rank */
    g_autofree size_t *sizes = g_new(size_t, comm->ranks);
    size_t total = 0;
    void *all;
    xlm_comm_gather_all(comm, found->data, found->len * sizeof(uint64_t), &all, sizes);
    for (int r = 0; r < comm->ranks; r++)
        total += sizes[r];
    g_array_append_vals(set, all, (guint)(total / sizeof(uint64_t)));
    xlm_ascending_sort(set);
    g_array_set_size(found, 0);
    g_free(all);
}
