/* xlm-mpi: which kernels this processor runs. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/kernels.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/kernels/processor.h"

const xlm_kernels *xlm_kernels_find(const char *name)
{
    const xlm_kernels *const table[] = {
        xlm_processor_has_avx512() ? xlm_kernels_avx512 : NULL,
        xlm_processor_has_avx2() ? xlm_kernels_avx2 : NULL,
        xlm_kernels_portable,
    };
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
        if (table[i] != NULL && (name == NULL || strcmp(name, table[i]->name) == 0))
            return table[i];
    return NULL;
}

const xlm_kernels *xlm_kernels_get(void)
{
    static gsize chosen = 0;
    if (g_once_init_enter(&chosen)) {
        const char *wish = getenv("XLM_KERNELS");
        const xlm_kernels *table = xlm_kernels_find(wish);
        if (table == NULL)
            g_error("XLM_KERNELS=%s: this processor has no such kernels; leave it unset, or take \"portable\"", wish);
        g_once_init_leave(&chosen, (gsize)table);
    }
    return (const xlm_kernels *)chosen;
}
