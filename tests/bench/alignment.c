/* xlm-mpi: the alignment of two languages of 40,000 subwords, 512 wide. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     alignment [threads]      under mpiexec, or alone; prints seconds and GFLOP/s in all */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/rng.h"
#include "gemm/hardware.h"
#include "vectors/alignment.h"

static void run(const xlm_comm *comm, int64_t n, int64_t width)
{
    float *x = g_new(float, 2 * n * width);
    for (int64_t i = 0; i < 2 * n * width; i++)
        x[i] = (float)(xlm_rng_unit(xlm_rng_draw((xlm_rng_key){{6, 6}}, (uint32_t)i, 0, 0, 0).v[0]) - 0.5);
    int64_t *first = g_new(int64_t, n + 1), *rank = g_new(int64_t, n);
    int32_t *translations = g_new(int32_t, n);
    for (int64_t i = 0; i < n; i++) {
        first[i] = i;
        translations[i] = (int32_t)i;
    }
    first[n] = n;
    const xlm_alignment a = {.width = width, .source_vectors = x, .candidate_vectors = x + n * width, .n = n, .candidates = n,
                             .first = first, .translations = translations};
    xlm_comm_barrier(comm);
    const double start = xlm_clock();
    xlm_alignment_ranks(comm, &a, rank);
    const double seconds = xlm_clock() - start;
    if (comm->rank == 0)
        printf("%.1f %.0f\n", seconds, 2e-9 * (double)n * (double)n * (double)width / seconds);
    g_free(x);
    g_free(first);
    g_free(rank);
    g_free(translations);
}

int main(int argc, char **argv)
{
    xlm_comm comm;
    xlm_comm_open(&comm, "alignment", &argc, &argv);
    xlm_hardware hardware;
    xlm_hardware_open(&hardware, argc > 1 ? atoi(argv[1]) : 0, comm.local_ranks);
    run(&comm, 40000, 512);
    return xlm_comm_close(&comm, NULL);
}
