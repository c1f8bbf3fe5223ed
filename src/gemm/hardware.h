/* xlm-mpi: the processor: denormals, threads, BLIS's kernels, and the speed of matrix products.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_GEMM_HARDWARE_H
#define XLM_GEMM_HARDWARE_H

#include <stdbool.h>

#include "base/error.h"
#include "gemm/packed.h"

typedef struct xlm_hardware {
    int threads;           /* of this rank */
    bool chosen;           /* this program chose the number: neither the job nor OMP_NUM_THREADS sets it */
    int cores;             /* that this rank may run on */
    const char *blis;      /* BLIS's sub-configuration: "skx", "haswell", ... */
    const char *choice;    /* why: "the user's BLIS_ARCH_TYPE", "BLIS's own choice", "asked for skx: AVX-512" */
    double gemm_gflops;    /* of this rank, with all its threads: 2 n³ / time of the fastest of several square products */
} xlm_hardware;

/* Check BLIS_ARCH_TYPE, of which BLIS takes a name for the number 0. It ends the program at the number of kernels that it does not
 * have, and does not ask whether the processor has the instructions of those that it has. EX_USAGE. */
bool xlm_hardware_check(GError **error);
/* Call it once, before the first use of BLIS. It turns denormals off (FTZ, DAZ) on all threads, sets the number of threads (0:
 * the cores that this rank may use, shared with the other ranks of the node), and chooses BLIS's kernels: skx if the processor
 * has 512-bit units and the user did not set BLIS_ARCH_TYPE, else BLIS's choice. Processors of one kind always get the same
 * kernels, and so the same bits. */
void xlm_hardware_open(xlm_hardware *hardware, int threads, int local_ranks);
/* The same in two parts. The first determines the number of threads and the kernels, which must be known before threads take
 * memory; the second sets up the threads. */
void xlm_hardware_prepare(xlm_hardware *hardware, int threads, int local_ranks);
void xlm_hardware_start(void);
/* Measure gemm_gflops, of oneDNN in that precision if `packs`, else of BLIS; takes about a quarter of a second. operations: the
 * floating-point operations of this rank that the rate is for, HUGE_VAL if not known. If they are few, the measurement takes no
 * more than a hundredth of them, with smaller matrices. All ranks of a node must call it at the same time, to measure what they
 * get side by side. */
void xlm_hardware_measure(xlm_hardware *hardware, bool packs, xlm_precision precision, double operations);

/* GFLOP/s of such products with that many threads, over all products rather than of the fastest; takes a quarter of a second or
 * more. The number of threads is restored afterwards. */
double xlm_hardware_rate(const xlm_hardware *hardware, int threads);
/* Change the number of threads. This changes the speed, not the bits. */
void xlm_hardware_set_threads(xlm_hardware *hardware, int threads);

#endif
