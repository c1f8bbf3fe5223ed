/* xlm-mpi: fuzz target: job files of xlm_train. SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/job.h"
#include "job_target.h"

static bool read_job(const char *path, char *const *overrides, char **record, char **completed, GError **error)
{
    xlm_job *job = xlm_job_load(path, overrides, error);
    if (job == NULL)
        return false;
    *record = g_strdup(job->text);
    *completed = xlm_job_complete(job, job->text);
    xlm_job_free(job);
    return true;
}
