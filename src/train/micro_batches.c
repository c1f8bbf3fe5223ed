/* xlm-mpi: how the batches of a step are cut into micro-batches. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/micro_batches.h"

int64_t xlm_micro_batches_on(int64_t wanted, int ranks)
{
    int64_t g = wanted;
    while (g < ranks)
        g *= 2;
    return g;
}

int64_t xlm_micro_batch_reversed(int64_t i, int64_t k)
{
    if ((k & (k - 1)) != 0)
        return i;
    int64_t j = 0;
    for (int64_t bit = 1; bit < k; bit <<= 1, i >>= 1)
        j = j << 1 | (i & 1);
    return j;
}

xlm_micro_batch_slice xlm_micro_batch_of_batch(int64_t batch, int64_t micro_batches, int64_t micro_batch)
{
    const int64_t slice = xlm_micro_batch_reversed(micro_batch, micro_batches), first = batch * slice / micro_batches;
    return (xlm_micro_batch_slice){.first = first, .n = batch * (slice + 1) / micro_batches - first};
}

int xlm_gradient_buffers(bool reproducible, int64_t micro_batches, int ranks)
{
    if (!reproducible)
        return 1;
    const int64_t own = (micro_batches + ranks - 1) / ranks;
    int buffers = 1;
    for (int64_t k = own; k > 1; k /= 2)
        buffers++;
    return buffers;
}
