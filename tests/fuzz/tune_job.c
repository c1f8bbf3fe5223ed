/* xlm-mpi: fuzz target: job files of xlm_tune. SPDX-License-Identifier: GPL-3.0-or-later */
#include "job_target.h"
#include "tasks/tune_job.h"

static bool read_job(const char *path, char *const *overrides, char **record, char **completed, GError **error)
{
    xlm_tune_job *job = xlm_tune_job_load(path, overrides, error);
    if (job == NULL)
        return false;
    *record = g_strdup(job->text);
    *completed = xlm_tune_job_complete(NULL, job->text);
    xlm_tune_job_free(job);
    return true;
}
