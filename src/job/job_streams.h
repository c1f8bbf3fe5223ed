/* xlm-mpi: the streams of a job, opened on its data. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_JOB_JOB_STREAMS_H
#define XLM_JOB_JOB_STREAMS_H

#include "job/data.h"
#include "job/job.h"

typedef struct xlm_job_streams {
    int n;
    xlm_stream **training; /* [n] on the training split */
    xlm_stream **held_out; /* [n], NULL if the held-out split has nothing for the stream, or if streams read examples */
} xlm_job_streams;

/* Not collective. positions: of the model, EX_CONFIG when a stream's sequences are longer; errors of opening streams. If the
 * held-out split lacks something, a warning is logged. On failure call xlm_job_streams_close for what has been opened. */
bool xlm_job_streams_open(xlm_job_streams *streams, const xlm_job *job, const xlm_training_data *data, int64_t positions,
                          GError **error);
void xlm_job_streams_close(xlm_job_streams *streams);

#endif
