/* xlm-mpi: which library multiplies parameters faster in float32, by the processor. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The two libraries agree to rounding only, and the same job has the same bits on processors of one make: the choice follows a table
 * of what was measured (docs/performance.md), never a timing. */
#ifndef XLM_GEMM_GEMM_CHOICE_H
#define XLM_GEMM_GEMM_CHOICE_H

#include <stdbool.h>

#include "kernels/processor.h"

/* Processors with AVX-512, which is what oneDNN's packed products need. */
typedef struct xlm_gemm_row {
    const char *name;          /* "AMD Zen 4" */
    const char *vendor;        /* as the processor says */
    int family_from, family_to; /* both included */
    bool packs;                /* oneDNN is taken, else BLIS */
    const char *measured;      /* what the choice rests on */
} xlm_gemm_row;

/* The row of a processor; NULL: it was not measured, and BLIS is taken. */
const xlm_gemm_row *xlm_gemm_row_of(const xlm_processor *processor);

#endif
