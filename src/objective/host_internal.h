/* xlm-mpi: what the files of this folder know of the host. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_OBJECTIVE_HOST_INTERNAL_H
#define XLM_OBJECTIVE_HOST_INTERNAL_H

#include "objective/host.h"
#include "tensor/parameters.h"

/* One objective, open. */
typedef struct xlm_hosted {
    struct xlm_host *host;
    xlm_objective_spec spec;
    xlm_loss loss;
    bool open;
    xlm_metrics *metrics;
    GArray *views; /* xlm_view, in the order of their declaration; layers are 0 … L */
} xlm_hosted;

struct xlm_host {
    const xlm_model *model;
    xlm_loss_setup about;
    xlm_resources *resources;
    int objectives;
    xlm_loss_stream *stream; /* a copy */
    xlm_hosted *objective;   /* [objectives] */
    int metrics;             /* of all objectives together */
    GArray *states;          /* xlm_saved_state */
};

#endif
