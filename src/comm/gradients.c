/* xlm-mpi: sum of gradients over ranks along a fixed tree. SPDX-License-Identifier: GPL-3.0-or-later */
#include "comm/comm.h"

enum { TAG_HALVE = 71, TAG_GATHER = 72 };

static const size_t MOST = (size_t)1 << 28; /* floats in one message: MPI counts are int */

static void swap_floats(const xlm_comm *comm, int partner, int tag, const float *out, size_t out_n, float *in, size_t in_n)
{
    for (size_t done = 0; done < MAX(out_n, in_n); done += MOST) {
        const size_t out_now = out_n > done ? MIN(MOST, out_n - done) : 0;
        const size_t in_now = in_n > done ? MIN(MOST, in_n - done) : 0;
        MPI_Sendrecv(out + MIN(done, out_n), (int)out_now, MPI_FLOAT, partner, tag, in + MIN(done, in_n), (int)in_now,
                     MPI_FLOAT, partner, tag, comm->mpi, MPI_STATUS_IGNORE);
    }
}

void xlm_comm_sum_gradients(const xlm_comm *comm, float *values, size_t n)
{
    const int ranks = comm->ranks;
    if (ranks == 1)
        return;
    if ((ranks & (ranks - 1)) != 0) {
        for (size_t done = 0; done < n; done += MOST)
            MPI_Allreduce(MPI_IN_PLACE, values + done, (int)MIN(MOST, n - done), MPI_FLOAT, MPI_SUM, comm->mpi);
        return;
    }

    /* starts[k], sizes[k]: the part this rank holds after k halvings. */
    size_t starts[32], sizes[32];
    int level = 0;
    starts[0] = 0;
    sizes[0] = n;
    float *received = g_new(float, n / 2 + 1);
    for (int distance = ranks / 2; distance > 0; distance /= 2, level++) {
        const int partner = comm->rank ^ distance;
        const size_t low = sizes[level] / 2, high = sizes[level] - low;
        const bool keep_low = (comm->rank & distance) == 0;
        float *base = values + starts[level];
        float *mine = keep_low ? base : base + low, *theirs = keep_low ? base + low : base;
        const size_t mine_n = keep_low ? low : high, theirs_n = keep_low ? high : low;
        swap_floats(comm, partner, TAG_HALVE, theirs, theirs_n, received, mine_n);
        /* Addition commutes exactly, so both partners of a pair make the same tree. */
        for (size_t i = 0; i < mine_n; i++)
            mine[i] += received[i];
        starts[level + 1] = (size_t)(mine - values);
        sizes[level + 1] = mine_n;
    }
    for (int distance = 1; distance < ranks; distance *= 2, level--) {
        const size_t theirs_n = sizes[level - 1] - sizes[level];
        const size_t theirs =
            starts[level] == starts[level - 1] ? starts[level] + sizes[level] : starts[level - 1];
        swap_floats(comm, comm->rank ^ distance, TAG_GATHER, values + starts[level], sizes[level], values + theirs,
                    theirs_n);
    }
    g_free(received);
}
