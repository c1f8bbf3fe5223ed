/* xlm-mpi: what an objective declares of its own. SPDX-License-Identifier: GPL-3.0-or-later */
#include "objective/declaration.h"

#include "objective/metrics.h"
#include "objective/state.h"

struct xlm_declaration {
    const xlm_loss *loss;
    xlm_parameters *parameters;
    GArray *kept;
};

void xlm_declare(xlm_loss *loss, xlm_parameters *parameters, GArray *kept)
{
    xlm_declaration declaration = {loss, parameters, kept};
    if (loss->cls->declare != NULL)
        loss->cls->declare(loss, &declaration);
}

static char *parameter_name(const xlm_loss *loss, const char *name)
{
    return g_strdup_printf("objectives/%s/%s", loss->name, name);
}

static void declare(xlm_declaration *d, const char *name, int64_t rows, int64_t cols, xlm_init init, bool decay)
{
    char *full = parameter_name(d->loss, name);
    xlm_parameters_add(d->parameters, full, rows, cols, init, decay);
    g_free(full);
}

void xlm_declare_weight(xlm_declaration *declaration, const char *name, int64_t rows, int64_t cols)
{
    declare(declaration, name, rows, cols, XLM_INIT_NORMAL, true);
}

void xlm_declare_bias(xlm_declaration *declaration, const char *name, int64_t cols)
{
    declare(declaration, name, 1, cols, XLM_INIT_ZERO, false);
}

void xlm_declare_state(xlm_declaration *declaration, const char *name, double *numbers, int64_t n)
{
    const xlm_saved_state kept = {
        .path = g_strdup_printf("/objectives/%s/%s", declaration->loss->name, name),
        .numbers = numbers,
        .n = n,
    };
    g_array_append_val(declaration->kept, kept);
}

void xlm_declare_metric(xlm_declaration *declaration, const char *name)
{
    if (declaration->loss->metrics != NULL)
        xlm_metrics_add(declaration->loss->metrics, name);
}

xlm_var *xlm_loss_param(xlm_loss *loss, xlm_tape *tape, const char *name)
{
    char *full = parameter_name(loss, name);
    xlm_var *var = xlm_param(tape, full);
    g_free(full);
    return var;
}
