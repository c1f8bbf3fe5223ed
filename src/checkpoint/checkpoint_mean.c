/* xlm-mpi: the mean of several checkpoints of a run. SPDX-License-Identifier: GPL-3.0-or-later */
#include "checkpoint/checkpoint_mean.h"

#include <string.h>

#include "base/log.h"
#include "model/checkpoint_names.h"
#include "model/model_mean.h"

int64_t xlm_checkpoint_mean_members(const xlm_best_score *members, int64_t max_members)
{
    int64_t n = 0;
    while (n < max_members && members[n].step > 0)
        n++;
    return n;
}

void xlm_checkpoint_mean_add(xlm_best_score *members, int64_t max_members, bool by_score, xlm_best_score validated)
{
    const int64_t n = xlm_checkpoint_mean_members(members, max_members);
    int64_t out = n;
    if (n == max_members) {
        out = 0;
        for (int64_t i = 1; by_score && i < n; i++)
            if (members[i].score <= members[out].score)
                out = i;
        if (by_score && validated.score <= members[out].score)
            return;
        memmove(members + out, members + out + 1, sizeof *members * (size_t)(n - 1 - out));
        out = n - 1;
    }
    members[out] = validated;
}

static void close_store(void *store) { xlm_store_close(store); }

/* Append the members whose files are there to stores, open; NULL for the one that cannot be opened. */
static bool open_members(const char *directory, const xlm_best_score *members, int64_t max_members, GPtrArray *stores,
                         GError **error)
{
    bool good = true;
    for (int64_t i = 0; i < xlm_checkpoint_mean_members(members, max_members) && good; i++) {
        g_autofree char *path = xlm_checkpoint_path(directory, (int64_t)members[i].step);
        if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
            xlm_log_warn("%s is gone, and is left out of the mean of checkpoints", path);
            continue;
        }
        g_ptr_array_add(stores, xlm_store_open(path, error));
        good = stores->pdata[stores->len - 1] != NULL;
    }
    return good;
}

bool xlm_checkpoint_mean(const xlm_comm *comm, const char *directory, const xlm_best_score *members, int64_t max_members,
                         xlm_parameters *parameters, int64_t *averaged, GError **error)
{
    float *values = xlm_parameters_values(parameters);
    GError *failure = NULL;
    *averaged = 0;
    if (comm->rank == 0) {
        g_autoptr(GPtrArray) stores = g_ptr_array_new_with_free_func(close_store);
        if (open_members(directory, members, max_members, stores, &failure) &&
            (stores->len == 0 || xlm_model_mean_of(stores, parameters, &failure)))
            *averaged = stores->len;
    }
    if (!xlm_comm_agree_on(comm, failure, error))
        return false;
    xlm_comm_broadcast(comm, 0, averaged, sizeof *averaged);
    xlm_comm_broadcast(comm, 0, values, sizeof *values * (size_t)xlm_parameters_size(parameters));
    return true;
}
