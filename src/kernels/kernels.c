/* xlm-mpi: which kernels this processor runs. SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/kernels.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/processor.h"

enum { TABLES = 4 };

/* The tables that this processor can run, the best first, then NULL. */
static void list_runnable(const xlm_kernels *runnable[TABLES + 1])
{
    const xlm_kernels *const table[TABLES] = {
        xlm_processor_has_bfloat16() && xlm_kernels_avx512_bfloat16 != NULL ? xlm_kernels_avx512_bfloat16
        : xlm_processor_has_avx512()                                        ? xlm_kernels_avx512
                                                                            : NULL,
        xlm_processor_has_avx2() ? xlm_kernels_avx2 : NULL,
        xlm_kernels_neon,
        xlm_kernels_portable,
    };
    for (size_t i = 0; i < TABLES; i++)
        if (table[i] != NULL)
            *runnable++ = table[i];
    *runnable = NULL;
}

const xlm_kernels *xlm_kernels_find(const char *name)
{
    const xlm_kernels *runnable[TABLES + 1];
    list_runnable(runnable);
    for (const xlm_kernels **at = runnable; *at != NULL; at++)
        if (name == NULL || strcmp(name, (*at)->name) == 0)
            return *at;
    return NULL;
}

/* XLM_KERNELS; NULL when it is unset or empty. */
static const char *requested(void)
{
    const char *name_given = getenv("XLM_KERNELS");
    return name_given != NULL && *name_given != '\0' ? name_given : NULL;
}

bool xlm_kernels_check(GError **error)
{
    if (xlm_kernels_find(requested()) != NULL)
        return true;
    const xlm_kernels *runnable[TABLES + 1];
    const char *names[TABLES + 1] = {NULL};
    list_runnable(runnable);
    for (size_t i = 0; runnable[i] != NULL; i++)
        names[i] = runnable[i]->name;
    char *known = g_strjoinv(", ", (char **)names);
    xlm_error_set(error, EX_USAGE, "XLM_KERNELS=%s: there are no such kernels for the processor of %s; leave it unset, or use "
                  "one of %s", requested(), g_get_host_name(), known);
    g_free(known);
    return false;
}

const xlm_kernels *xlm_kernels_get(void)
{
    static gsize chosen = 0;
    if (g_once_init_enter(&chosen)) {
        const xlm_kernels *table = xlm_kernels_find(requested());
        if (table == NULL)
            g_error("XLM_KERNELS=%s: there are no such kernels for this processor; leave it unset, or use \"portable\"",
                    requested());
        g_once_init_leave(&chosen, (gsize)table);
    }
    return (const xlm_kernels *)chosen;
}
