/* xlm-mpi: what a stage that is a plugin calls while a batch passes through it (xlm/stage.h).
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * These functions are also in the library for gradient checks, which reads no streams, because the file of an objective may
 * contain a stage. */
#ifndef XLM_STREAM_STAGE_PASS_H
#define XLM_STREAM_STAGE_PASS_H

#include <xlm/stage.h>

#include "base/rng.h"

struct xlm_stage_pass {
    const xlm_stage *self;
    int32_t **values;  /* of each annotation of its class; NULL for one, or for all, that the present function cannot annotate */
    uint32_t name;     /* digest of the stage's name, on which its draws depend */
    xlm_rng_key key;
};

/* Number of annotations of a class. */
int xlm_stage_annotations(const xlm_stage_plugin *cls);

#endif
