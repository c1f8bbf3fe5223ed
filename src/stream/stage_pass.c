/* xlm-mpi: what a stage that is a plugin calls while a batch passes through it. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/stage_pass.h"

#include <glib.h>
#include <string.h>

int xlm_stage_annotations(const xlm_stage_plugin *cls)
{
    int n = 0;
    while (cls->annotations != NULL && cls->annotations[n].name != NULL)
        n++;
    return n;
}

int32_t *xlm_stage_annotate(const xlm_stage_pass *pass, const char *name)
{
    const xlm_stage_plugin *cls = pass->self->cls;
    for (int i = 0; i < xlm_stage_annotations(cls); i++)
        if (strcmp(cls->annotations[i].name, name) == 0 && pass->values != NULL && pass->values[i] != NULL)
            return pass->values[i];
    g_error("stage %s: \"%s\" is no annotation of its class, or cannot be given values here: tokens are annotated in apply, "
            "sequences in arrange and apply", pass->self->name, name);
}

double xlm_stage_uniform(const xlm_stage_pass *pass, xlm_row_key key, uint32_t number)
{
    return xlm_rng_unit(xlm_rng_draw(pass->key, key.instance, key.position, pass->name, number).v[0]);
}
