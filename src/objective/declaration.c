/* xlm-mpi: what an objective declares of its own. SPDX-License-Identifier: GPL-3.0-or-later */
#include "objective/declaration.h"

struct xlm_declaration {
    xlm_hosted *hosted;
    xlm_parameters *parameters;
    GError *error; /* the first */
};

bool xlm_declare(xlm_hosted *hosted, xlm_parameters *parameters, GError **error)
{
    static const xlm_view whole = {.input = XLM_INPUT_CORRUPTED, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_ALL,
                                   .gradient = true, .dropout = true};
    xlm_declaration declaration = {hosted, parameters, NULL};
    if (hosted->loss.cls->declare != NULL)
        hosted->loss.cls->declare(&hosted->loss, &declaration);
    if (hosted->views->len == 0 && hosted->loss.stream != NULL)
        xlm_declare_view(&declaration, &whole);
    if (declaration.error == NULL)
        return true;
    g_propagate_error(error, declaration.error);
    return false;
}

/* ---- views ---- */

static bool check_view(const xlm_hosted *hosted, const xlm_view *view, GError **error)
{
    const int64_t layers = hosted->loss.setup->model->layers;
    const xlm_loss_stream *stream = hosted->loss.stream;
    if (stream == NULL)
        return xlm_error_set(error, EX_CONFIG, "it asks for a view, but reads no stream; the class lacks needs_stream");
    if (view->layer < 0 || view->layer > layers)
        return xlm_error_set(error, EX_CONFIG, "layer = %" G_GINT64_FORMAT ", but the model has %" G_GINT64_FORMAT " layers",
                             view->layer, layers);
    if ((view->input == XLM_INPUT_FIRST || view->input == XLM_INPUT_SECOND) && !stream->parallel)
        return xlm_error_set(error, EX_CONFIG, "it reads the two sides of pairs, and [stream %s] has none; set type = parallel there",
                             stream->name);
    return true;
}

int xlm_declare_view(xlm_declaration *declaration, const xlm_view *view)
{
    xlm_hosted *hosted = declaration->hosted;
    xlm_view resolved = *view;
    if (resolved.layer == XLM_TOP_LAYER)
        resolved.layer = hosted->loss.setup->model->layers;
    if (declaration->error == NULL)
        check_view(hosted, &resolved, &declaration->error);
    g_array_append_val(hosted->views, resolved);
    return (int)hosted->views->len - 1;
}

/* ---- parameters ---- */

static char *parameter_name(const xlm_loss *loss, const char *name)
{
    return g_strdup_printf("objectives/%s/%s", loss->name, name);
}

static void declare(xlm_declaration *d, const char *name, int64_t rows, int64_t cols, xlm_init init, bool decay)
{
    char *full = parameter_name(&d->hosted->loss, name);
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

xlm_var *xlm_loss_param(xlm_loss *loss, xlm_tape *tape, const char *name)
{
    char *full = parameter_name(loss, name);
    xlm_var *var = xlm_param(tape, full);
    g_free(full);
    return var;
}

/* ---- states and metrics ---- */

void xlm_declare_state(xlm_declaration *declaration, const char *name, double *numbers, int64_t n)
{
    const xlm_saved_state state = {
        .path = g_strdup_printf("/objectives/%s/%s", declaration->hosted->loss.name, name),
        .numbers = numbers,
        .n = n,
    };
    g_array_append_val(declaration->hosted->host->states, state);
}

void xlm_declare_metric(xlm_declaration *declaration, const char *name)
{
    xlm_metrics_add(declaration->hosted->metrics, name);
}
