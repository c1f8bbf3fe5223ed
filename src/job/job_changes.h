/* xlm-mpi: in which keys jobs differ. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_JOB_JOB_CHANGES_H
#define XLM_JOB_JOB_CHANGES_H

#include <glib.h>

/* A key whose value is not the same in all of some jobs. */
typedef struct xlm_job_difference {
    char *section; /* "stream mono" */
    char *key;     /* NULL: the section as a whole, which some of the jobs do not have */
    char **value;  /* [jobs], in the order the jobs were given; "(none)" for a job without it; of a section "there" */
} xlm_job_difference;

/* The keys in which n >= 2 jobs differ, in the order of the first job, what it does not have after. text: job files with every
 * key (xlm_job_complete), so that defaults count; values that are the same number are the same (1e-4 and 0.0001), and sizes of
 * the model that are 0 are those that follow from others. NULL when one of the texts is not a job file. Array of
 * xlm_job_difference; g_ptr_array_unref. */
GPtrArray *xlm_job_differences(const char *const *text, int n);

#endif
