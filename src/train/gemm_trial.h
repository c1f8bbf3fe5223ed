/* xlm-mpi: both libraries timed on a job's products, on a processor that was never measured.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Only for people to read: the bits of a run depend on the job and the kind of processor, so the result decides nothing. */
#ifndef XLM_TRAIN_GEMM_TRIAL_H
#define XLM_TRAIN_GEMM_TRIAL_H

#include "kernels/processor.h"
#include "train/memory.h"

/* The products of a layer with `rows` rows. */
typedef struct xlm_gemm_trial {
    int64_t rows, hidden, inner; /* hidden x hidden four times, inner x hidden, hidden x inner */
    double blis, onednn;         /* GFLOP/s of all threads, in float32 */
} xlm_gemm_trial;

/* Set the shapes of the largest micro-batch, with fewer rows if it would take longer than about a second. */
xlm_gemm_trial xlm_gemm_trial_of(const xlm_run_size *size, int64_t micro_batches);
/* Forward and backward pass by both in turn, for about a second; xlm_packed_lacks(XLM_FLOAT32) must be NULL. Not collective. */
void xlm_gemm_trial_run(xlm_gemm_trial *trial);
/* The line of the log. g_free. */
char *xlm_gemm_trial_text(const xlm_gemm_trial *trial, const xlm_processor *processor);

#endif
