/* xlm-mpi: which sentences are trained on and which are held out. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/split.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

struct xlm_fates {
    uint64_t seed, limit; /* drawn: digest < limit */
    GArray *pairs;        /* uint64_t x 2: this rank's, until settled */
    GArray *held_out;     /* uint64_t, ascending: held out though not drawn */
    GString *letters;     /* scratch */
    GArray *aside;        /* uint64_t, ascending */
};

xlm_fates *xlm_fates_new(double share, uint64_t seed)
{
    xlm_fates *fates = g_new0(xlm_fates, 1);
    fates->seed = xlm_digest("held out", 8, seed); /* so that seed 0 is not the plain digest of a text */
    fates->limit = (uint64_t)(share * 18446744073709551616.0); /* share < 1 */
    fates->pairs = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    fates->held_out = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    fates->aside = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    fates->letters = g_string_new(NULL);
    return fates;
}

void xlm_fates_free(xlm_fates *fates)
{
    if (fates == NULL)
        return;
    g_array_free(fates->pairs, TRUE);
    g_array_free(fates->held_out, TRUE);
    g_array_free(fates->aside, TRUE);
    g_string_free(fates->letters, TRUE);
    g_free(fates);
}

uint64_t xlm_fates_digest(xlm_fates *fates, const char *text, size_t length)
{
    const char *end = text + length;
    g_string_truncate(fates->letters, 0);
    while (text < end) {
        const char *space = memchr(text, ' ', (size_t)(end - text)), *stop = space != NULL ? space : end;
        g_string_append_len(fates->letters, text, stop - text);
        text = stop + 1;
    }
    return xlm_digest(fates->letters->str, fates->letters->len, fates->seed);
}

void xlm_fates_add_pair(xlm_fates *fates, uint64_t a, uint64_t b)
{
    const uint64_t pair[2] = {a, b};
    g_array_append_vals(fates->pairs, pair, 2);
}

static int compare_digests(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool contains(const GArray *set, uint64_t digest)
{
    return set->len > 0 && bsearch(&digest, set->data, set->len, sizeof digest, compare_digests) != NULL;
}

static void sort_unique(GArray *set)
{
    if (set->len == 0)
        return;
    qsort(set->data, set->len, sizeof(uint64_t), compare_digests);
    guint n = 1;
    for (guint i = 1; i < set->len; i++)
        if (g_array_index(set, uint64_t, i) != g_array_index(set, uint64_t, n - 1))
            g_array_index(set, uint64_t, n++) = g_array_index(set, uint64_t, i);
    g_array_set_size(set, n);
}

/* set <- the union of all ranks' sets, ascending. */
static void unite(GArray *set, const xlm_comm *comm)
{
    sort_unique(set);
    size_t *sizes = g_new(size_t, comm->ranks), total = 0;
    void *all;
    xlm_comm_gather_all(comm, set->data, set->len * sizeof(uint64_t), &all, sizes);
    for (int r = 0; r < comm->ranks; r++)
        total += sizes[r];
    g_array_set_size(set, 0);
    g_array_append_vals(set, all, (guint)(total / sizeof(uint64_t)));
    sort_unique(set);
    g_free(all);
    g_free(sizes);
}

static bool is_held_out(const xlm_fates *fates, uint64_t digest)
{
    return digest < fates->limit || contains(fates->held_out, digest);
}

void xlm_fates_settle(xlm_fates *fates, const xlm_comm *comm)
{
    const uint64_t *digest = (const uint64_t *)(void *)fates->pairs->data;
    for (guint i = 0; i < fates->pairs->len; i++)
        if (digest[i] >= fates->limit && digest[i ^ 1] < fates->limit)
            g_array_append_val(fates->held_out, digest[i]);
    unite(fates->held_out, comm);
    for (guint i = 0; i < fates->pairs->len; i++)
        if (!is_held_out(fates, digest[i]) && is_held_out(fates, digest[i ^ 1]))
            g_array_append_val(fates->aside, digest[i]);
    unite(fates->aside, comm);
    g_array_free(fates->pairs, TRUE);
    fates->pairs = g_array_new(FALSE, FALSE, sizeof(uint64_t));
}

xlm_fate xlm_fates_of_sentence(const xlm_fates *fates, uint64_t digest)
{
    if (is_held_out(fates, digest))
        return XLM_FATE_HELD_OUT;
    return contains(fates->aside, digest) ? XLM_FATE_ASIDE : XLM_FATE_TRAIN;
}

xlm_fate xlm_fates_of_pair(const xlm_fates *fates, uint64_t a, uint64_t b)
{
    const xlm_fate fate = xlm_fates_of_sentence(fates, a);
    return fate == xlm_fates_of_sentence(fates, b) ? fate : XLM_FATE_ASIDE;
}
