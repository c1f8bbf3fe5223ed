/* xlm-mpi: do all ranks have the same job and the same data? SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each rank reads files for itself. Where they are not the same, as on disks of nodes of which one has an old copy, ranks would
 * train different things, or wait for one another for ever. */
#ifndef XLM_JOB_RANK_INPUTS_H
#define XLM_JOB_RANK_INPUTS_H

#include "comm/comm.h"

/* Collective. Compare each rank's job, its text with every key, and its data with those of rank 0. data: what the digest is of,
 * for the message. EX_CONFIG: another job, with the first key that differs; EX_DATAERR: other data. */
bool xlm_rank_inputs_check(const xlm_comm *comm, const char *job, const char *data, uint64_t digest, GError **error);

#endif
