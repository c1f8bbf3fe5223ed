/* xlm-mpi: the memory of packed matrices, and functions that their other files use. SPDX-License-Identifier: GPL-3.0-or-later */
#include "gemm/packed_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "kernels/kernels.h"

xlm_packed *xlm_packed_new(void) { return g_new0(xlm_packed, 1); }

void packed_room(xlm_packed *p, size_t bytes)
{
    if (p->room >= bytes)
        return;
    free(p->bytes);
    p->room = aligned(bytes);
    p->bytes = xlm_pages_take(p->room, "a packed matrix");
}

uint64_t xlm_packed_bytes(xlm_precision precision, int64_t k, int64_t n)
{
    return (precision == XLM_BFLOAT16 ? sizeof(bfloat16) : sizeof(float)) * (uint64_t)k * (uint64_t)n;
}

void packed_sum_rows(const left *l, int64_t row, int64_t rows)
{
    const int64_t k = l->p->k;
    for (int64_t i = row; i < row + rows; i += XLM_PACKED_ROWS) {
        xlm_real *sums = l->sums + i / XLM_PACKED_ROWS * l->sums_apart;
        memset(sums, 0, sizeof *sums * (size_t)k);
        xlm_kernels_get()->column_sums(MIN(XLM_PACKED_ROWS, row + rows - i), k, l->a + i * l->apart, l->apart, sums);
    }
}

void xlm_packed_free(xlm_packed *p)
{
    if (p == NULL)
        return;
    g_clear_pointer(&p->parts, g_ptr_array_unref);
    free(p->bytes);
    g_free(p);
}
