/* xlm-mpi: the specification of objectives, and the input of a pass. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_OBJECTIVE_PASS_INPUT_H
#define XLM_OBJECTIVE_PASS_INPUT_H

#include <xlm/loss.h>

#include "base/arena.h"
#include "objective/loss_weight.h"

/* One objective of a job. */
typedef struct xlm_objective_spec {
    const char *name;
    const xlm_loss_class *cls;
    void *state;    /* cls->state_size bytes with the options filled in */
    int stream;     /* index; -1: it reads none */
    xlm_loss_weight weight;
} xlm_objective_spec;

/* The input of a pass: stream `stream` with its batch, or (stream -1, batch NULL) part `part` of the objectives without a
 * stream. */
typedef struct xlm_pass_input {
    int stream;
    const xlm_batch *batch;
    int64_t part, parts;
    int64_t step;     /* number of updates made before */
    bool held_out;    /* the batch is held-out text: draws are the same at every step */
    int only;         /* the only objective that takes part; -1: all that take part in this step */
    /* Filled in by xlm_host_count and xlm_host_label. */
    int64_t *terms;   /* [means] 0 for objectives that do not take part */
    void **labels;    /* [objectives] results of label; NULL: none */
    const xlm_text **made; /* [objectives] texts that label has made; NULL: none */
    struct xlm_shared_view *shared; /* views that were encoded for labels and are requested again; NULL: none */
    xlm_arena *arena; /* memory that lasts as long as the input, borrowed */
} xlm_pass_input;

#endif
