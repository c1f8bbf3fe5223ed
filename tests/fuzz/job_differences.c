/* xlm-mpi: fuzz target: two jobs, with a byte 0 between them, whose keys are compared. SPDX-License-Identifier: GPL-3.0-or-later
 * */
#include "fuzz.h"
#include "job/job_changes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    char *text[2];
    for (int i = 0; i < 2; i++) {
        size_t length;
        const char *part = fuzz_cut(&data, &size, &length);
        text[i] = g_strndup(part, length);
    }
    GPtrArray *differences = xlm_job_differences((const char *const *)text, 2);
    if (differences != NULL)
        g_ptr_array_unref(differences);
    for (int i = 0; i < 2; i++)
        g_free(text[i]);
    return 0;
}
