/* xlm-mpi: the keys in which jobs differ. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_JOB_JOB_CHANGES_H
#define XLM_JOB_JOB_CHANGES_H

#include <glib.h>

/* A key that differs among some jobs. */
typedef struct xlm_job_difference {
    char *section; /* "stream mono" */
    char *key;     /* NULL: the section as a whole, which some of the jobs do not have */
    char **value;  /* [jobs], in the order of the jobs; "(none)" for a job without it; "there" for a section */
} xlm_job_difference;

/* The keys in which n >= 2 jobs differ, in the order of the first job, followed by keys that it does not have. text: job files
 * with every key (xlm_job_complete), so that defaults count; values that are the same number are equal (1e-4 and 0.0001), and
 * model sizes of 0 are replaced by those that follow from others. NULL when one of the texts is not a job file. Array of
 * xlm_job_difference; g_ptr_array_unref. */
GPtrArray *xlm_job_differences(const char *const *text, int n);

#endif
