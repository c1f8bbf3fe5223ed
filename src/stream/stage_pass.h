/* xlm-mpi: what a stage that is a plugin calls while a batch passes through it (xlm/stage.h).
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Its functions are in the library for gradient checks too, where no stream is read: an objective's file may have a stage. */
#ifndef XLM_STREAM_STAGE_PASS_H
#define XLM_STREAM_STAGE_PASS_H

#include <xlm/stage.h>

#include "base/rng.h"

struct xlm_stage_pass {
    const xlm_stage *self;
    int32_t **values;  /* of each annotation of its class, or NULL where the present function cannot annotate */
    uint32_t name;     /* digest of the stage's name, a part of its draws */
    xlm_rng_key key;
};

/* Number of annotations of a class. */
int xlm_stage_annotations(const xlm_stage_plugin *cls);

#endif
