/* xlm-mpi: which library multiplies parameters faster in float32, by the processor. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The results of the two libraries differ by rounding, and the same job must have the same bits on all processors of one kind. So
 * the choice comes from a table of measurements (docs/performance.md), never from a timing. */
#ifndef XLM_GEMM_GEMM_CHOICE_H
#define XLM_GEMM_GEMM_CHOICE_H

#include <stdbool.h>

#include "kernels/processor.h"

/* Processors with AVX-512, which oneDNN's packed products need. */
typedef struct xlm_gemm_row {
    const char *name;          /* "AMD Zen 4" */
    const char *vendor;        /* as the processor reports it */
    int family_from, family_to; /* both included */
    bool packs;                /* use oneDNN in training, else BLIS */
    bool packs_in_search;      /* the same for search with a decoder, which packs parameters once and has no backward pass; where
                                  search was not measured, as in training */
    const char *measured;      /* the measurements that the choice is based on */
} xlm_gemm_row;

/* The row of a processor; NULL: it was not measured, and BLIS is used. */
const xlm_gemm_row *xlm_gemm_row_of(const xlm_processor *processor);

#endif
