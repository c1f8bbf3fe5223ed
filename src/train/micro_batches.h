/* xlm-mpi: how the batches of a step are cut into micro-batches. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A step has a fixed list of instances of each stream (stream/stream.h), cut into G micro-batches, a power of two: micro-batch g
 * has B/G consecutive instances of the B of every stream, one forward and backward pass each, and goes to rank g mod R. A rank
 * adds its micro-batches' gradients pairwise (micro-batch j of its K with j + K/2 first, then K/4, ...), ranks then add theirs
 * likewise (comm/shards.h). For R and G powers of two, R <= G, the tree of additions is one and the same, so the bits of a run do
 * not depend on R. With [train] reproducible = false a rank's micro-batches all add into one array, and MPI adds the ranks' in
 * the order it likes. Micro-batches are also what gradient accumulation is elsewhere: more micro-batches, less memory. */
#ifndef XLM_TRAIN_MICRO_BATCHES_H
#define XLM_TRAIN_MICRO_BATCHES_H

#include <stdbool.h>
#include <stdint.h>

/* Micro-batches of a step on that many ranks when a job asks for `wanted`, a power of two: at least one for each rank. */
int64_t xlm_micro_batches_on(int64_t wanted, int ranks);
/* i < k with its bits in reverse order, when k is a power of two; else i. */
int64_t xlm_micro_batch_reversed(int64_t i, int64_t k);

/* Instances first … first + n of a batch are a micro-batch's. A batch is cut into as many slices as there are micro-batches, and
 * micro-batch g has slice xlm_micro_batch_reversed(g): a rank, which has micro-batches g mod R, has consecutive slices, so that
 * instances are spread evenly over ranks also when there are fewer than micro-batches. */
typedef struct xlm_micro_batch_slice {
    int64_t first, n;
} xlm_micro_batch_slice;
xlm_micro_batch_slice xlm_micro_batch_of_batch(int64_t batch, int64_t micro_batches, int64_t micro_batch);

/* Gradient arrays of a rank: adding K micro-batches like a binary counter takes log2(K) + 1, in any order 1. */
int xlm_gradient_buffers(bool reproducible, int64_t micro_batches, int ranks);

#endif
