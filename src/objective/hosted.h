/* xlm-mpi: the objectives of a host, shared by the files of src/objective. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_OBJECTIVE_HOSTED_H
#define XLM_OBJECTIVE_HOSTED_H

#include "nn/model.h"
#include "objective/metrics.h"
#include "objective/pass_input.h"
#include "objective/resources.h"
#include "objective/state.h"
#include "tensor/parameters.h"

/* One objective, open. */
typedef struct xlm_hosted {
    struct xlm_host *host;
    xlm_objective_spec spec;
    xlm_loss loss;
    bool open;
    xlm_metrics *metrics;
    GArray *views;          /* xlm_view, in the order of their declaration; layers are 0 … L */
    bool averaged;          /* it has an average */
    double momentum;        /* of the average */
    xlm_real *average;      /* while its label runs: the flat array of averages */
    bool makes_text;        /* its label makes a text */
    int64_t max_made;       /* maximum number of tokens of a sequence of this text */
    size_t published_bytes; /* of a row; 0: it publishes nothing */
    GArray *means;          /* double: weights of its means but the first */
    int first_mean;         /* number of its mean 1 among the host's */
    struct xlm_loss_run *run; /* while its loss runs */
    GArray *published;      /* bytes: for each row its instance (u32) and the row itself */
} xlm_hosted;

/* A call of `loss`. */
struct xlm_loss_run {
    xlm_tape *tape;
    const int64_t *totals; /* NULL: no gradient */
    xlm_sums *sums;
    bool *given;           /* [means but the first] whether their values have been given */
};

/* The context in which a function of the class is called. */
struct xlm_pass_call {
    xlm_hosted *hosted;
    const xlm_pass_input *input;
    bool label;                         /* the function is `label` */
    bool planned;                       /* for an estimate, on a tape of shapes */
    const struct xlm_pass_views *views; /* NULL: nothing is encoded */
};

struct xlm_host {
    const xlm_model *model;
    xlm_loss_setup about;
    xlm_resources *resources;
    int objectives;
    xlm_loss_stream *stream; /* a copy */
    xlm_hosted *objective;   /* [objectives] */
    int means;               /* of all objectives together: first mean 0 of each, then the others */
    int metrics;             /* of all objectives together */
    GArray *states;          /* xlm_saved_state */
    GArray *averages;        /* int: objectives with an average */
    bool publishing;         /* the rows of a step are being delivered */
    bool estimating;         /* every objective that takes part in any step of the run takes part in every step */
};

/* Call the objective's `declare`, if it has one: its parameters "objectives/<name>/..." are added to `parameters`, its states and
 * its average to those of the host, everything else to `hosted`. EX_CONFIG if a view cannot be encoded, or a declaration lacks
 * what it needs. */
bool xlm_declare(xlm_hosted *hosted, xlm_parameters *parameters, GError **error);

#endif
