/* xlm-mpi: what a job needs and how long it takes, from rates measured on this machine. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The running ranks, which represent one node of the cluster, each compute the largest micro-batch of the job a few times,
 * reduce-scatter the gradients and update; nothing is written. A stream whose batch depends on the step has its largest one in
 * every step. For R ranks with P per node, G micro-batches (more when R > G), N parameters and a network of B bytes/s into and
 * out of each node, a step takes
 *   (pass and read of the micro-batches of the rank with most tokens) + clear
 *   + moving 2 G/R − 1 arrays of N to add up micro-batches, if there are several and [train] reproducible
 *   + norm and update of N/R + agree
 *   + reduce-scatter and all-gather of parameters that are not hidden,
 * where each of the last two moves V = 4 N (1 − P/R) bytes into and out of every node, V / 0.9 B seconds each, if R and P are
 * powers of two (comm/shards.h), else, and gradients if not reproducible, P times as much; half of that with exchange or
 * exchange_parameters = bfloat16. All gradients except those of the embeddings, which are complete last, overlap the last
 * backward pass, two thirds of a pass; all parameters except the embeddings, which are needed first, overlap the first forward
 * pass. On one node both take what was measured, in proportion to (1 − 1/R). */
#ifndef XLM_RUN_PLAN_H
#define XLM_RUN_PLAN_H

#include "job/job.h"
#include "job/data.h"

typedef struct xlm_plan_options {
    int n;
    const int *ranks;   /* [n] to plan for */
    double network;     /* bytes per second into, and at the same time out of, a node */
} xlm_plan_options;

/* Collective. Prints the plan on standard output, by rank 0. */
bool xlm_plan(const xlm_comm *comm, const xlm_job *job, const xlm_training_data *data, const xlm_plan_options *options,
              GError **error);

#endif
