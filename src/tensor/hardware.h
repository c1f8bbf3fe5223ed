/* xlm-mpi: the processor: denormals, threads, BLIS's kernels, and what GEMM gives. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TENSOR_HARDWARE_H
#define XLM_TENSOR_HARDWARE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct xlm_hardware {
    int threads;           /* of this rank */
    int cores;             /* this rank may run on */
    const char *blis;      /* BLIS's sub-configuration: "skx", "haswell", ... */
    char choice[160];      /* why: "the user's BLIS_ARCH_TYPE", "asked for skx; two AVX-512 FMA units measured" */
    double gemm_gflops;    /* of this rank: 2 n³ / time of the best of some square products, all its threads */
} xlm_hardware;

/* Two units for 512-bit multiply-adds, found out by loops of some milliseconds, as a hypervisor may hide the processor's name. False
 * without AVX-512. */
bool xlm_hardware_two_units(void);

/* Once, before the first use of BLIS: denormals off (FTZ, DAZ) on all threads, thread count (0: the cores this rank may
 * use, shared with the other ranks of the node), BLIS's kernels chosen: skx when there are two_units and the user did not set
 * BLIS_ARCH_TYPE, else by BLIS. Ranks must be told the same, what one of them has found: other kernels add up in another order. */
void xlm_hardware_open(xlm_hardware *hardware, int threads, int local_ranks, bool two_units);
/* Measure gemm_gflops (about a quarter of a second). All ranks of a node at the same time: what they get side by side. */
void xlm_hardware_measure(xlm_hardware *hardware);

#endif
