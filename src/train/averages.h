/* xlm-mpi: momentum averages of the parameters, for objectives that request them. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Of every average, each rank has the elements that it updates (comm/shards.h). The whole average is gathered for the labels of a
 * step, into memory that gradients need only later. */
#ifndef XLM_TRAIN_AVERAGES_H
#define XLM_TRAIN_AVERAGES_H

#include "checkpoint/checkpoint.h"
#include "comm/shards.h"
#include "objective/host.h"
#include "tensor/parameters.h"

typedef struct xlm_averages {
    int n;
    xlm_saved_average *average; /* [n] as in the host */
    double *momentum;           /* [n] */
    const xlm_parameters *parameters;
    const xlm_shards *shards;
} xlm_averages;

/* Begin as copies of the present parameters. parameters and shards are borrowed. */
xlm_averages *xlm_averages_new(const xlm_host *host, const xlm_parameters *parameters, const xlm_shards *shards);
/* NULL is allowed. */
void xlm_averages_free(xlm_averages *averages);
/* Copy the parameters again, after they were replaced. */
void xlm_averages_begin(xlm_averages *averages);
/* a <- m a + (1 - m) p, for the elements that this rank has just updated. */
void xlm_averages_update(xlm_averages *averages);
/* Collective. Gathers average number `average`: in scratch[size of the parameters], or in place on one rank. */
float *xlm_averages_gather(const xlm_averages *averages, int average, float *scratch);
/* Bytes on one rank. */
uint64_t xlm_averages_bytes(const xlm_host *host, int64_t size, int ranks);

#endif
