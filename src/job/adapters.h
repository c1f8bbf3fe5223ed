/* xlm-mpi: sections [adapter NAME] of job files. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_JOB_ADAPTERS_H
#define XLM_JOB_ADAPTERS_H

#include <xlm/model.h>

#include "options/jobfile.h"
#include "options/options.h"

/* The job's sections, in their order. EX_CONFIG. */
bool xlm_job_adapters_read(const xlm_jobfile *file, xlm_adapters *adapters, GError **error);
/* Complete them with the adapters of the model that the run starts from (NULL: it starts from none). These come first, in their
 * order, so that what is new is stacked upon them; those that the job has no section for do not learn. EX_CONFIG: a section says
 * otherwise than the model, or is for an adapter that does not learn and is not there; the message names the section, not the
 * file. */
bool xlm_job_adapters_join(const xlm_adapters *start, xlm_adapters *adapters, GError **error);
/* As sections with every key. */
void xlm_job_adapters_print(const xlm_adapters *adapters, GString *out);
/* The keys of a section, of each kind, for --help-job. */
void xlm_job_adapters_help(GString *out);
/* Does one of them learn? */
bool xlm_job_adapters_learn(const xlm_adapters *adapters);

#endif
