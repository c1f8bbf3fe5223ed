/* xlm-mpi: the table of statistical aligners. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "aligners/aligner.h"
#include "options/nearest.h"

/* The table: one line per aligner. The first is the default. */
#define ALIGNERS(ALIGNER) \
    ALIGNER(fertility) \
    ALIGNER(diagonal)

#define DECLARE(name) extern const xlm_aligner xlm_aligner_##name;
#define ADDRESS(name) &xlm_aligner_##name,
ALIGNERS(DECLARE)
static const xlm_aligner *const aligners[] = {ALIGNERS(ADDRESS)};

const xlm_aligner *const *xlm_aligners(int *n)
{
    *n = G_N_ELEMENTS(aligners);
    return aligners;
}

const xlm_aligner *xlm_aligner_find(const char *name, GError **error)
{
    const char *names[G_N_ELEMENTS(aligners)];
    for (size_t i = 0; i < G_N_ELEMENTS(aligners); i++) {
        if (name == NULL || strcmp(aligners[i]->name, name) == 0)
            return aligners[i];
        names[i] = aligners[i]->name;
    }
    g_autofree char *advice = xlm_nearest_advice(name, names, G_N_ELEMENTS(names));
    xlm_error_set(error, EX_USAGE, "--method=%s: there is no such method; %s", name, advice);
    return NULL;
}
