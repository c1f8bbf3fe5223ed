/* xlm-mpi: fuzz target: job files of xlm_tune; after each byte 0, an argument of --set.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"
#include "tasks/tune_job.h"

enum { MAX_OVERRIDES = 8 };

static void complete_again(const xlm_tune_job *job)
{
    char *again = xlm_tune_job_complete(NULL, job->text);
    fuzz_require(again != NULL, "the record of a job can be read");
    fuzz_require(g_str_equal(again, job->text), "the record of a job is its own record");
    g_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    size_t length;
    const char *text = fuzz_cut(&data, &size, &length);
    const char *path = fuzz_write("job.conf", text, length);
    char *overrides[MAX_OVERRIDES + 1] = {NULL};
    for (int n = 0; n < MAX_OVERRIDES && size > 0; n++) {
        const char *override = fuzz_cut(&data, &size, &length);
        overrides[n] = g_strndup(override, length);
    }
    GError *error = NULL;
    xlm_tune_job *job = xlm_tune_job_load(path, overrides, &error);
    fuzz_check(job != NULL, error);
    if (job != NULL)
        complete_again(job);
    xlm_tune_job_free(job);
    for (int n = 0; overrides[n] != NULL; n++)
        g_free(overrides[n]);
    return 0;
}
