/* xlm-mpi: fuzz targets: job files of a program; after each byte 0, an argument of --set.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TESTS_FUZZ_JOB_TARGET_H
#define XLM_TESTS_FUZZ_JOB_TARGET_H

#include "fuzz.h"

enum { MAX_OVERRIDES = 8 };

/* Of a target that includes this: reads a job file, and frees the job. [out] record: its text, completed: what completing that text
 * gives; g_free. False if it is no job. */
static bool read_job(const char *path, char *const *overrides, char **record, char **completed, GError **error);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    size_t length;
    const char *text = fuzz_cut(&data, &size, &length);
    const char *path = fuzz_write("job.conf", text, length);
    char *overrides[MAX_OVERRIDES + 1] = {NULL}, *record = NULL, *completed = NULL;
    for (int n = 0; n < MAX_OVERRIDES && size > 0; n++) {
        const char *override = fuzz_cut(&data, &size, &length);
        overrides[n] = g_strndup(override, length);
    }
    GError *error = NULL;
    const bool good = read_job(path, overrides, &record, &completed, &error);
    fuzz_check(good, error);
    if (good) {
        fuzz_require(completed != NULL, "the record of a job can be read");
        fuzz_require(g_str_equal(completed, record), "the record of a job is its own record");
    }
    g_free(record);
    g_free(completed);
    for (int n = 0; overrides[n] != NULL; n++)
        g_free(overrides[n]);
    return 0;
}

#endif
