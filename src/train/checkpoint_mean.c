/* xlm-mpi: the mean of several checkpoints of a run. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/checkpoint_mean.h"

#include <string.h>

#include "base/log.h"
#include "train/checkpoint_files.h"
#include "train/model_file.h"

int64_t xlm_checkpoint_mean_members(const xlm_best_score *members, int64_t most)
{
    int64_t n = 0;
    while (n < most && members[n].step > 0)
        n++;
    return n;
}

void xlm_checkpoint_mean_add(xlm_best_score *members, int64_t most, bool by_score, xlm_best_score validated)
{
    const int64_t n = xlm_checkpoint_mean_members(members, most);
    int64_t out = n;
    if (n == most) {
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

/* Add the parameters of a checkpoint to sum[size]. */
static bool add_checkpoint(const char *path, const xlm_parameters *parameters, float *values, double *sum, GError **error)
{
    xlm_store *store = xlm_store_open(path, error);
    bool good = store != NULL;
    for (int i = 0; i < xlm_parameters_count(parameters) && good; i++) {
        const xlm_parameter *p = xlm_parameters_get(parameters, i);
        good = xlm_model_file_read_array(store, "/model", p, false, values, error);
        for (int64_t k = 0; k < p->rows * p->cols && good; k++)
            sum[p->start + k] += values[k];
    }
    xlm_store_close(store);
    return good;
}

/* The sum of the parameters of all members whose files are there, and their number. */
static bool add_up(const char *directory, const xlm_best_score *members, int64_t most, const xlm_parameters *parameters,
                   double *sum, int64_t *n, GError **error)
{
    float *values = g_new(float, xlm_parameters_size(parameters));
    bool good = true;
    *n = 0;
    for (int64_t i = 0; i < xlm_checkpoint_mean_members(members, most) && good; i++) {
        char *path = xlm_checkpoint_path(directory, (int64_t)members[i].step);
        if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
            xlm_log_warn("%s is not here any more, and is left out of the mean of checkpoints", path);
        } else {
            good = add_checkpoint(path, parameters, values, sum, error);
            *n += good;
        }
        g_free(path);
    }
    g_free(values);
    return good;
}

bool xlm_checkpoint_mean(const xlm_comm *comm, const char *directory, const xlm_best_score *members, int64_t most,
                         xlm_parameters *parameters, int64_t *averaged, GError **error)
{
    const int64_t size = xlm_parameters_size(parameters);
    float *values = xlm_parameters_values(parameters);
    GError *failure = NULL;
    *averaged = 0;
    if (comm->rank == 0) {
        double *sum = g_new0(double, size);
        if (add_up(directory, members, most, parameters, sum, averaged, &failure))
            for (int64_t k = 0; k < size && *averaged > 0; k++)
                values[k] = (float)(sum[k] / (double)*averaged);
        g_free(sum);
    }
    if (!xlm_comm_agree_on(comm, failure, error))
        return false;
    xlm_comm_broadcast(comm, 0, averaged, sizeof *averaged);
    xlm_comm_broadcast(comm, 0, values, sizeof *values * (size_t)size);
    return true;
}
