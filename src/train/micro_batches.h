/* xlm-mpi: how the batches of a step are divided into micro-batches. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A step has a fixed list of instances of each stream (stream/stream.h), divided into G micro-batches: the job's number, a power
 * of two, rounded up to a multiple of the number of ranks R, so that all ranks have as many.
 * Micro-batch g has consecutive instances of every stream, about a G-th of the step's tokens in all, has one forward and one
 * backward pass of each stream, and belongs to the rank at place g mod R (comm/comm.h). A rank adds the gradients of its
 * micro-batches pairwise (micro-batch j of its K with j + K/2 first, then K/4, ...), and then ranks add theirs in the same way
 * (comm/shards.h). If R and G are powers of two, R <= G, the tree of additions is the same for every R, so the bits of a run do
 * not depend on R. With [train] reproducible = false all micro-batches of a rank add into one array, and MPI adds those of the
 * ranks in any order. Micro-batches are also gradient accumulation: more micro-batches take less memory. */
#ifndef XLM_TRAIN_MICRO_BATCHES_H
#define XLM_TRAIN_MICRO_BATCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "job/job_streams.h"

/* G, if a job requests `wanted`, a power of two. G is a power of two if R is one, and not otherwise. */
int64_t xlm_micro_batches_on(int64_t wanted, int ranks);
/* i < k with its bits in reverse order, when k is a power of two; else i. */
int64_t xlm_micro_batch_reversed(int64_t i, int64_t k);

/* The instances of all streams of a step are placed on one line, those of each stream in their order and the streams in turn, as
 * evenly as their numbers allow; each is as long as an instance of its stream has tokens on average. The line is divided into G
 * slices of the same length, an instance belongs to the slice that its middle is in, and micro-batch g has slice
 * xlm_micro_batch_reversed(g) if G is a power of two, and slice (g mod R) G/R + g/R otherwise. So micro-batches have equal numbers
 * of tokens up to one instance, even if there are fewer instances than micro-batches; and a rank, which has micro-batches g mod R,
 * has consecutive slices, so that the same is true of ranks. */
typedef struct xlm_micro_batches xlm_micro_batches;

/* micro_batches: G, for R ranks. batch, tokens: [streams] instances of a step, and the mean number of tokens of an instance, from
 * 1 on. */
xlm_micro_batches *xlm_micro_batches_new(int64_t micro_batches, int ranks, int streams, const int64_t *batch,
                                         const int64_t *tokens);
/* Those of a step of a job's streams. */
xlm_micro_batches *xlm_micro_batches_of_step(int64_t micro_batches, int ranks, const xlm_job_streams *streams, int64_t step);
/* NULL is allowed. */
void xlm_micro_batches_free(xlm_micro_batches *micro_batches);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xlm_micro_batches, xlm_micro_batches_free)

/* A micro-batch has instances first … first + n of a stream's batch. */
typedef struct xlm_micro_batch_slice {
    int64_t first, n;
} xlm_micro_batch_slice;
xlm_micro_batch_slice xlm_micro_batch_of_batch(const xlm_micro_batches *micro_batches, int stream, int64_t micro_batch);
/* The most instances of a stream that one micro-batch has. */
int64_t xlm_micro_batches_most(const xlm_micro_batches *micro_batches, int stream);
/* [streams], g_free: the same in all steps of a job, for estimates. Where a stream has fewer instances, micro-batches may have
 * more of another one, so batches that depend on the step are divided as they are at all points of their lists, at most steps
 * between where they change, and as the largest ones of all streams together. */
int64_t *xlm_micro_batches_most_of_job(int64_t micro_batches, const xlm_job *job, const xlm_job_streams *streams);

/* Number of gradient arrays of a rank: adding its K micro-batches like a binary counter takes log2(K) + 1; adding them in any order
 * takes 1. */
int xlm_gradient_buffers(bool reproducible, int64_t micro_batches, int ranks);

#endif
