/* xlm-mpi: which library multiplies parameters faster in float32, by the processor. SPDX-License-Identifier: GPL-3.0-or-later */
#include "gemm/gemm_choice.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

/* The measurements are speeds of oneDNN relative to BLIS: for a step of roberta-8 and, after "small", for a step of a model with
 * 4 layers of hidden size 128 (tests/bench/step.sh); after "search", for greedy search and with a beam (tests/bench/search.sh). */
static const xlm_gemm_row table[] = {
    {"AMD Zen 4", "AuthenticAMD", 25, 25, false, true, "within 2 % of one another; BLIS takes less memory; search 1.16, 1.10"},
    {"AMD from Zen 5 on", "AuthenticAMD", 26, INT_MAX, true, true, "1.10 to 1.16, small 1 to 1.09"},
    {"Intel with AVX-512", "GenuineIntel", 0, INT_MAX, true, true, "2 cores of Ice Lake: 1.22 to 1.27, small 1.21"},
};

const xlm_gemm_row *xlm_gemm_row_of(const xlm_processor *processor)
{
    for (size_t i = 0; i < sizeof table / sizeof *table && processor->avx512; i++)
        if (strcmp(table[i].vendor, processor->vendor) == 0 && processor->family >= table[i].family_from &&
            processor->family <= table[i].family_to)
            return &table[i];
    return NULL;
}
