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
    GArray *views;          /* xlm_view, in the order of their declaration; layers are 0 … L */
    bool averaged;          /* it has an average, */
    double momentum;        /* with this momentum */
    xlm_real *average;      /* while its label runs: the flat array of averages */
    int64_t published_cols; /* 0: it publishes nothing */
    GArray *published;      /* bytes: an instance (u32) and its row (f32), one after another */
} xlm_hosted;

/* What a function of the class is called for. */
struct xlm_pass_call {
    xlm_hosted *hosted;
    const xlm_pass_input *input;
    bool label;                         /* it is `label` */
    const struct xlm_pass_views *views; /* NULL: nothing is encoded */
};

struct xlm_host {
    const xlm_model *model;
    xlm_loss_setup about;
    xlm_resources *resources;
    int objectives;
    xlm_loss_stream *stream; /* a copy */
    xlm_hosted *objective;   /* [objectives] */
    int metrics;             /* of all objectives together */
    GArray *states;          /* xlm_saved_state */
    GArray *averages;        /* int: objectives with an average */
    bool publishing;         /* a step is going on whose rows are delivered */
};

#endif
