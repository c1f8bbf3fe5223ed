/* xlm-mpi: which sentences are used for training and which are held out. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/split.h"

#include <string.h>

#include "base/rng.h"
#include "prep/ascending.h"

struct xlm_assignments {
    uint64_t seed, limit; /* drawn: digest < limit */
    GArray *pairs;        /* uint64_t x 2: this rank's pairs, until xlm_assignments_finish */
    GArray *held_out;     /* uint64_t, ascending: digests that are held out although they are not drawn */
    GArray *aside;        /* uint64_t, ascending: digests that are in neither split */
};

xlm_assignments *xlm_assignments_new(double share, uint64_t seed)
{
    xlm_assignments *assignments = g_new0(xlm_assignments, 1);
    assignments->seed = xlm_digest("held out", 8, seed); /* so that seed 0 is not the plain digest of a text */
    assignments->limit = (uint64_t)(share * 18446744073709551616.0); /* share < 1 */
    assignments->pairs = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    assignments->held_out = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    assignments->aside = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    return assignments;
}

void xlm_assignments_free(xlm_assignments *assignments)
{
    if (assignments == NULL)
        return;
    g_array_free(assignments->pairs, TRUE);
    g_array_free(assignments->held_out, TRUE);
    g_array_free(assignments->aside, TRUE);
    g_free(assignments);
}

uint64_t xlm_assignments_digest(const xlm_assignments *assignments, const char *text, size_t length)
{
    return xlm_digest_without(' ', text, length, assignments->seed);
}

void xlm_assignments_add_pair(xlm_assignments *assignments, uint64_t a, uint64_t b)
{
    const uint64_t pair[2] = {a, b};
    g_array_append_vals(assignments->pairs, pair, 2);
}

static bool is_held_out(const xlm_assignments *assignments, uint64_t digest)
{
    return digest < assignments->limit || xlm_ascending_contains(assignments->held_out, digest);
}

void xlm_assignments_finish(xlm_assignments *assignments, const xlm_comm *comm)
{
    const uint64_t *digest = (const uint64_t *)(void *)assignments->pairs->data;
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    /* What an earlier preparation has left out stays so; nobody knows any more what else it is a translation of. */
    for (guint i = 0; i < assignments->pairs->len; i++)
        if (digest[i] >= assignments->limit && digest[i ^ 1] < assignments->limit &&
            !xlm_ascending_contains(assignments->aside, digest[i]))
            g_array_append_val(found, digest[i]);
    xlm_ascending_unite(assignments->held_out, found, comm);
    for (guint i = 0; i < assignments->pairs->len; i++)
        if (!is_held_out(assignments, digest[i]) && is_held_out(assignments, digest[i ^ 1]))
            g_array_append_val(found, digest[i]);
    xlm_ascending_unite(assignments->aside, found, comm);
    g_array_free(assignments->pairs, TRUE);
    assignments->pairs = g_array_new(FALSE, FALSE, sizeof(uint64_t));
}

void xlm_assignments_recall(xlm_assignments *assignments, xlm_assignment assignment, uint64_t n, const uint64_t *digests)
{
    GArray *set = assignment == XLM_ASSIGNED_HELD_OUT ? assignments->held_out : assignments->aside;
    g_array_append_vals(set, digests, (guint)n);
    xlm_ascending_sort(set);
}

bool xlm_assignments_is_listed(const xlm_assignments *assignments, uint64_t digest)
{
    return xlm_ascending_contains(assignments->held_out, digest) || xlm_ascending_contains(assignments->aside, digest);
}

uint64_t xlm_assignments_listed(const xlm_assignments *assignments)
{
    return (uint64_t)assignments->held_out->len + assignments->aside->len;
}

bool xlm_assignments_save(const xlm_assignments *assignments, xlm_store *store, GError **error)
{
    return xlm_store_write_array(store, "/assigned", "held_out", XLM_U64, assignments->held_out->len, assignments->held_out->data,
                                 error) &&
           xlm_store_write_array(store, "/assigned", "left_out", XLM_U64, assignments->aside->len, assignments->aside->data,
                                 error) &&
           xlm_store_set_text(store, "/assigned", "description", "what pairs have decided about sentences, for xlm_prep --append",
                              error) &&
           xlm_store_set_text(store, "/assigned/held_out", "description", "digests of sentences that are held out because their "
                              "translations are, ascending", error) &&
           xlm_store_set_text(store, "/assigned/left_out", "description", "digests of sentences in neither split, because a "
                              "translation is held out, ascending", error);
}

xlm_assignment xlm_assignments_of_sentence(const xlm_assignments *assignments, uint64_t digest)
{
    if (is_held_out(assignments, digest))
        return XLM_ASSIGNED_HELD_OUT;
    return xlm_ascending_contains(assignments->aside, digest) ? XLM_ASSIGNED_NEITHER : XLM_ASSIGNED_TRAIN;
}

xlm_assignment xlm_assignments_of_pair(const xlm_assignments *assignments, uint64_t a, uint64_t b)
{
    const xlm_assignment of_a = xlm_assignments_of_sentence(assignments, a);
    return of_a == xlm_assignments_of_sentence(assignments, b) ? of_a : XLM_ASSIGNED_NEITHER;
}
