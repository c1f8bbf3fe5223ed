/* xlm-mpi: do all ranks have the same job and the same data? SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/rank_inputs.h"

#include <glib.h>
#include <string.h>

#include "job/job_changes.h"

static bool refuse_job(const xlm_comm *comm, const char *first, const char *own, GError **error)
{
    const char *const text[] = {first, own};
    g_autoptr(GPtrArray) differences = xlm_job_differences(text, 2);
    const xlm_job_difference *d = differences != NULL && differences->len > 0 ? differences->pdata[0] : NULL;
    g_autofree char *key = d == NULL ? NULL : d->key != NULL ? g_strdup_printf(" %s", d->key) : g_strdup("");
    g_autofree char *what = d == NULL ? g_strdup("another text")
                                      : g_strdup_printf("[%s]%s is %s there, %s here", d->section, key, d->value[0], d->value[1]);
    return xlm_error_set(error, EX_CONFIG, "rank %d, on %s, has another job than rank 0: %s; all ranks must read the same job "
                         "file", comm->rank, g_get_host_name(), what);
}

bool xlm_rank_inputs_check(const xlm_comm *comm, const char *job, const char *data, uint64_t digest, GError **error)
{
    GError *failure = NULL;
    g_autofree char *first = g_strdup(job);
    uint64_t wanted = digest;
    xlm_comm_broadcast_text(comm, &first);
    xlm_comm_broadcast(comm, 0, &wanted, sizeof wanted);
    if (strcmp(first, job) != 0)
        refuse_job(comm, first, job, &failure);
    else if (digest != wanted)
        xlm_error_set(&failure, EX_DATAERR, "%s: not the same on rank %d, on %s, as on rank 0; all ranks must read the same "
                      "files", data, comm->rank, g_get_host_name());
    return xlm_comm_agree_on(comm, failure, error);
}
