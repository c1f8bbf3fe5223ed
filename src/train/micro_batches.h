/* xlm-mpi: how the batches of a step are divided into micro-batches. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A step has a fixed list of instances of each stream (stream/stream.h), divided into G micro-batches, a power of two.
 * Micro-batch g has B/G consecutive instances of the B of every stream, has one forward and one backward pass, and belongs to
 * rank g mod R. A rank adds the gradients of its micro-batches pairwise (micro-batch j of its K with j + K/2 first, then K/4,
 * ...), and then ranks add theirs in the same way (comm/shards.h). If R and G are powers of two, R <= G, the tree of additions is
 * the same for every R, so the bits of a run do not depend on R. With [train] reproducible = false all micro-batches of a rank
 * add into one array, and MPI adds those of the ranks in any order. Micro-batches are also gradient accumulation: more
 * micro-batches take less memory. */
#ifndef XLM_TRAIN_MICRO_BATCHES_H
#define XLM_TRAIN_MICRO_BATCHES_H

#include <stdbool.h>
#include <stdint.h>

/* The number of micro-batches of a step on that many ranks if a job requests `wanted`, a power of two: at least one for each
 * rank. */
int64_t xlm_micro_batches_on(int64_t wanted, int ranks);
/* i < k with its bits in reverse order, when k is a power of two; else i. */
int64_t xlm_micro_batch_reversed(int64_t i, int64_t k);

/* A micro-batch has instances first … first + n of a batch. A batch is divided into as many slices as there are micro-batches,
 * and micro-batch g has slice xlm_micro_batch_reversed(g). So a rank, which has micro-batches g mod R, has consecutive slices,
 * and instances are spread evenly over ranks even if there are fewer instances than micro-batches. */
typedef struct xlm_micro_batch_slice {
    int64_t first, n;
} xlm_micro_batch_slice;
xlm_micro_batch_slice xlm_micro_batch_of_batch(int64_t batch, int64_t micro_batches, int64_t micro_batch);

/* Number of gradient arrays of a rank: adding K micro-batches like a binary counter takes log2(K) + 1; adding them in any order
 * takes 1. */
int xlm_gradient_buffers(bool reproducible, int64_t micro_batches, int ranks);

#endif
