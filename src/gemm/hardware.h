/* xlm-mpi: the processor: denormals, threads, BLIS's kernels, and what GEMM gives. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_GEMM_HARDWARE_H
#define XLM_GEMM_HARDWARE_H

#include <stdbool.h>

#include "gemm/packed.h"

typedef struct xlm_hardware {
    int threads;           /* of this rank */
    bool chosen;           /* by this program: neither the job nor OMP_NUM_THREADS sets it */
    int cores;             /* this rank may run on */
    const char *blis;      /* BLIS's sub-configuration: "skx", "haswell", ... */
    const char *choice;    /* why: "the user's BLIS_ARCH_TYPE", "BLIS's own choice", "asked for skx: AVX-512" */
    double gemm_gflops;    /* of this rank: 2 n³ / time of the best of some square products, all its threads */
} xlm_hardware;

/* Once, before the first use of BLIS: denormals off (FTZ, DAZ) on all threads, thread count (0: the cores this rank may
 * use, shared with the other ranks of the node), BLIS's kernels: skx where the processor does 512 bits at once and the user did
 * not set BLIS_ARCH_TYPE, else BLIS's choice. Processors of one kind get the same kernels always, and with them the same bits. */
void xlm_hardware_open(xlm_hardware *hardware, int threads, int local_ranks);
/* The same in two parts, for what must be known before threads take memory: their number and the kernels; then the threads. */
void xlm_hardware_prepare(xlm_hardware *hardware, int threads, int local_ranks);
void xlm_hardware_start(void);
/* Measure gemm_gflops (about a quarter of a second), of BLIS, or where `packs` of oneDNN in that precision. All ranks of a node at
 * the same time: what they get side by side. */
void xlm_hardware_measure(xlm_hardware *hardware, bool packs, xlm_precision precision);

/* GFLOP/s of such products one after another with that many threads, all in all and not the best of them; takes a quarter of a
 * second or more. The number of threads is as before afterwards. */
double xlm_hardware_rate(const xlm_hardware *hardware, int threads);
/* Another number of threads: the same bits, another speed. */
void xlm_hardware_set_threads(xlm_hardware *hardware, int threads);

#endif
