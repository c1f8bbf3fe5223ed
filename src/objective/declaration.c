/* xlm-mpi: the declarations of an objective. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/log.h"
#include "objective/hosted.h"
#include "objective/views.h"
#include "tensor/tape.h"

struct xlm_declaration {
    xlm_hosted *hosted;
    xlm_parameters *parameters;
};

/* ---- views ---- */

static bool check_text(const xlm_hosted *hosted, const xlm_view *view, GError **error)
{
    const bool some = view->rows == XLM_ROWS_PREDICTED || view->rows == XLM_ROWS_NEAR || view->rows == XLM_ROWS_LINKED;
    if (view->text == XLM_TEXT_ORIGINAL && some && hosted->loss.stream->noise)
        return xlm_error_set(error, EX_CONFIG, "it reads predicted rows of the original text, and [stream %s] has noise "
                             "(noise_shuffle, noise_drop, noise_blank, or a stage), which changes the rows",
                             hosted->loss.stream->name);
    if (view->text != XLM_TEXT_MADE)
        return true;
    if (!hosted->makes_text)
        return xlm_error_set(error, EX_CONFIG, "a view of a text that its label makes, which it has not declared "
                             "(xlm_declare_text)");
    return (view->side == XLM_SIDE_BOTH && !some && view->weights == XLM_WEIGHTS_LIVE) ||
           xlm_error_set(error, EX_CONFIG, "a view of the text that its label makes has no sides and no predicted rows, and "
                         "needs live weights");
}

/* Refuses a memory that cannot be encoded with the view: averaged weights are there for `label` alone, a made text after it. */
static bool check_memory(const xlm_hosted *hosted, const xlm_view *view, GError **error)
{
    const int number = (int)(view - &g_array_index(hosted->views, xlm_view, 0));
    const xlm_view *memory = &g_array_index(hosted->views, xlm_view, view->memory);
    if (memory->weights == XLM_WEIGHTS_AVERAGED && view->weights != XLM_WEIGHTS_AVERAGED)
        return xlm_error_set(error, EX_CONFIG, "view %d is of the decoder with live weights: its memory, view %d, must not be with "
                             "averaged ones", number, view->memory);
    if (!xlm_view_is_for_label(hosted, view))
        return true;
    while (memory->stack == XLM_STACK_DECODER && memory->text != XLM_TEXT_MADE)
        memory = &g_array_index(hosted->views, xlm_view, memory->memory);
    return memory->text != XLM_TEXT_MADE ||
           xlm_error_set(error, EX_CONFIG, "view %d is of the decoder without gradient, for label: it cannot attend to the text that "
                         "label makes", number);
}

static bool check_stack(const xlm_hosted *hosted, const xlm_view *view, GError **error)
{
    const int number = (int)(view - &g_array_index(hosted->views, xlm_view, 0));
    if (view->stack == XLM_STACK_ENCODER)
        return view->memory == 0 ||
               xlm_error_set(error, EX_CONFIG, "a view of the encoder has a memory, which only the decoder attends to");
    if (hosted->loss.setup->model->decoder_layers == 0)
        return xlm_error_set(error, EX_CONFIG, "it needs a decoder, and the model has none; set decoder_layers in [model]");
    if (view->memory < 0 || view->memory >= number || view->causal)
        return xlm_error_set(error, EX_CONFIG, "view %d is of the decoder: its memory must be a view declared before it, and its "
                             "causal must be false", number);
    const xlm_view *memory = &g_array_index(hosted->views, xlm_view, view->memory);
    if (memory->rows != XLM_ROWS_ALL && memory->rows != XLM_ROWS_UNMASKED)
        return xlm_error_set(error, EX_CONFIG, "view %d, which is the memory of a decoder, must be of all rows or of the unmasked "
                             "ones", view->memory);
    return check_memory(hosted, view, error);
}

/* Refuses values that xlm/loss.h does not have, such as those of a plugin that was written for another version. */
static bool check_choices(const xlm_view *view, GError **error)
{
    const bool good = view->text <= XLM_TEXT_MADE && view->side <= XLM_SIDE_SECOND && view->stack <= XLM_STACK_DECODER &&
                      view->weights <= XLM_WEIGHTS_AVERAGED && view->rows <= XLM_ROWS_UNMASKED;
    return good || xlm_error_set(error, EX_CONFIG, "a view whose text, side, stack, weights or rows is none of xlm/loss.h");
}

static bool check_view(const xlm_hosted *hosted, const xlm_view *view, GError **error)
{
    if (!check_choices(view, error))
        return false;
    const bool decoder = view->stack == XLM_STACK_DECODER;
    const int64_t layers = decoder ? hosted->loss.setup->model->decoder_layers : hosted->loss.setup->model->layers;
    const xlm_loss_stream *stream = hosted->loss.stream;
    if (stream == NULL)
        return xlm_error_set(error, EX_CONFIG, "it asks for a view, but reads no stream; the class lacks needs_stream");
    if (view->layer < 0 || view->layer > layers)
        return xlm_error_set(error, EX_CONFIG, "layer = %" G_GINT64_FORMAT ", but the %s has %" G_GINT64_FORMAT " layers",
                             view->layer, decoder ? "decoder" : "model", layers);
    if (view->rows == XLM_ROWS_LINKED && !stream->alignments)
        return xlm_error_set(error, EX_CONFIG, "it reads rows that are linked, and [stream %s] has no word alignments; give it "
                             "alignments = FILE.h5", stream->name);
    if (view->number < 0 || view->number > XLM_MAX_VIEW_NUMBER || (view->number != 0 && !view->dropout))
        return xlm_error_set(error, EX_CONFIG, "a view with number %" G_GINT64_FORMAT "; it separates draws of dropout, so it must "
                             "be from 0 to %d, and without dropout 0", view->number, XLM_MAX_VIEW_NUMBER);
    if (view->rows == XLM_ROWS_NEAR && view->reach < 0)
        return xlm_error_set(error, EX_CONFIG, "a view that reaches %" G_GINT64_FORMAT " rows around the predicted ones",
                             view->reach);
    if (view->side != XLM_SIDE_BOTH && !stream->parallel)
        return xlm_error_set(error, EX_CONFIG, "it reads the two sides of pairs, and [stream %s] has none; set type = "
                             "parallel there", stream->name);
    if (view->side != XLM_SIDE_BOTH && view->rows == XLM_ROWS_LINKED)
        return xlm_error_set(error, EX_CONFIG, "it reads linked rows of one side alone, but links are between the two sides");
    if (!check_text(hosted, view, error) || !check_stack(hosted, view, error))
        return false;
    if (view->weights == XLM_WEIGHTS_AVERAGED && (view->gradient || hosted->loss.cls->label == NULL || !hosted->averaged))
        return xlm_error_set(error, EX_CONFIG, "a view with averaged weights must have no gradient, and its class must declare an "
                             "average and have a label function");
    return true;
}

/* Refuses a view with dropout that is declared twice: its author expects two dropout masks, but there would be one. */
static bool check_distinct(const xlm_hosted *hosted, guint i, GError **error)
{
    const xlm_view *view = &g_array_index(hosted->views, xlm_view, i);
    for (guint k = 0; k < i && view->dropout; k++)
        if (xlm_view_is_same((xlm_view_use){hosted, &g_array_index(hosted->views, xlm_view, k)}, (xlm_view_use){hosted, view}))
            return xlm_error_set(error, EX_CONFIG, "its views %u and %u are equal, so that both have the same dropout mask; give them "
                                 "different numbers (xlm_view.number), or declare one", k, i);
    return true;
}

static bool check(const xlm_hosted *hosted, GError **error)
{
    const xlm_loss_class *cls = hosted->loss.cls;
    for (guint i = 0; i < hosted->views->len; i++)
        if (!check_view(hosted, &g_array_index(hosted->views, xlm_view, i), error) || !check_distinct(hosted, i, error))
            return false;
    if (hosted->makes_text && (cls->label == NULL || hosted->loss.stream == NULL))
        return xlm_error_set(error, EX_CONFIG, "it makes a text in label, but the class has no label function, or no stream");
    const int64_t positions = hosted->loss.setup->model->positions;
    if (hosted->makes_text && (hosted->max_made < 1 || hosted->max_made > positions))
        return xlm_error_set(error, EX_CONFIG, "it makes a text of up to %" G_GINT64_FORMAT " tokens a sequence; the model has "
                             "%" G_GINT64_FORMAT " positions", hosted->max_made, positions);
    if (hosted->published_bytes > 0 && (cls->publish == NULL || hosted->loss.stream == NULL))
        return xlm_error_set(error, EX_CONFIG, "it publishes rows of sequences, but the class has no publish function, or no "
                             "stream");
    return true;
}

/* A view whose .gradient was forgotten is a constant. */
static void warn_of_constants(const xlm_hosted *hosted)
{
    bool learns = hosted->views->len == 0;
    for (guint i = 0; i < hosted->views->len; i++)
        learns |= g_array_index(hosted->views, xlm_view, i).gradient;
    if (!learns)
        xlm_log_warn("[objective %s]: none of its views has a gradient (xlm_view.gradient), so that no layer of the model learns "
                     "from it", hosted->loss.name);
}

bool xlm_declare(xlm_hosted *hosted, xlm_parameters *parameters, GError **error)
{
    static const xlm_view whole = {.text = XLM_TEXT_CORRUPTED, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_ALL,
                                   .gradient = true, .dropout = true};
    xlm_declaration declaration = {hosted, parameters};
    if (hosted->loss.cls->declare != NULL)
        hosted->loss.cls->declare(&hosted->loss, &declaration);
    if (hosted->views->len == 0 && hosted->loss.stream != NULL)
        xlm_declare_view(&declaration, &whole);
    if (!check(hosted, error))
        return false;
    warn_of_constants(hosted);
    return true;
}

int xlm_declare_view(xlm_declaration *declaration, const xlm_view *view)
{
    xlm_hosted *hosted = declaration->hosted;
    xlm_view resolved = *view;
    const xlm_model_config *model = hosted->loss.setup->model;
    if (resolved.layer == XLM_TOP_LAYER)
        resolved.layer = resolved.stack == XLM_STACK_DECODER ? model->decoder_layers : model->layers;
    g_array_append_val(hosted->views, resolved);
    return (int)hosted->views->len - 1;
}

/* ---- parameters ---- */

static char *parameter_name(const xlm_loss *loss, const char *name)
{
    return g_strdup_printf("objectives/%s/%s", loss->name, name);
}

/* Can both not be in one file, because one is the other, or would be both data and the group that the other is in? */
static bool collide(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b), least = MIN(n, m);
    return strncmp(a, b, least) == 0 && (n == m || (n > m ? a : b)[least] == '/');
}

/* Does it name an array in the group of an objective? Files take "." for the group itself. */
static bool is_path(const char *name)
{
    g_auto(GStrv) parts = g_strsplit(name, "/", -1);
    bool good = parts[0] != NULL;
    for (int i = 0; good && parts[i] != NULL; i++) {
        const size_t plain = strspn(parts[i], G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-.");
        good = plain > 0 && parts[i][plain] == '\0' && strcmp(parts[i], ".") != 0;
    }
    return good;
}

/* Checkpoints and step dumps have other data of these names under "objectives/<name>/". */
static bool is_reserved(const char *name)
{
    return collide(name, "loss") || collide(name, "average") || collide(name, "made_text");
}

/* The name of a state or a parameter that cannot be in one file with this one; NULL: none. full: see check_name. */
static const char *find_other(const xlm_declaration *d, const char *full)
{
    const GArray *states = d->hosted->host->states;
    for (guint i = 0; i < states->len; i++)
        if (collide(g_array_index(states, xlm_saved_state, i).path + 1, full))
            return g_array_index(states, xlm_saved_state, i).path + 1;
    for (int i = 0; i < xlm_parameters_count(d->parameters); i++)
        if (collide(xlm_parameters_get(d->parameters, i)->name, full))
            return xlm_parameters_get(d->parameters, i)->name;
    return NULL;
}

/* Files have the parameters and the states of an objective in one group, where their names are paths. full: the result of
 * parameter_name. */
static void check_name(const xlm_declaration *d, const char *name, const char *full)
{
    if (!is_path(name))
        g_error("objective %s: a parameter or a state cannot be named \"%s\"; take letters, digits and \"_-.\", and \"/\" between "
                "them", d->hosted->loss.name, name);
    if (is_reserved(name))
        g_error("objective %s: parameters and states cannot be named \"%s\"", d->hosted->loss.name, name);
    const char *other = find_other(d, full);
    if (other != NULL && strcmp(other, full) == 0)
        g_error("objective %s: \"%s\" is declared twice", d->hosted->loss.name, name);
    if (other != NULL)
        g_error("objective %s: \"%s\" and \"%s\" cannot both be declared, since one would be in the other in files",
                d->hosted->loss.name, strchr(strchr(other, '/') + 1, '/') + 1, name);
}

static void declare(xlm_declaration *d, const char *name, int64_t rows, int64_t cols, xlm_init init, bool decay)
{
    char *full = parameter_name(&d->hosted->loss, name);
    check_name(d, name, full);
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

void xlm_declare_gain(xlm_declaration *declaration, const char *name, int64_t cols)
{
    declare(declaration, name, 1, cols, XLM_INIT_ONE, false);
}

xlm_var *xlm_loss_param(xlm_loss *loss, xlm_tape *tape, const char *name)
{
    g_autofree char *full = parameter_name(loss, name);
    return xlm_param(tape, full);
}

xlm_var *xlm_loss_averaged_param(xlm_loss *loss, xlm_tape *tape, const char *name)
{
    if (loss->hosted->average == NULL)
        g_error("objective %s: the average of %s is read outside label, or no average was declared", loss->name, name);
    const xlm_tape_mode before = xlm_tape_get_mode(tape);
    xlm_tape_mode mode = before;
    mode.values = loss->hosted->average;
    mode.gradient = false;
    xlm_tape_set_mode(tape, mode);
    xlm_var *var = xlm_loss_param(loss, tape, name);
    xlm_tape_set_mode(tape, before);
    return var;
}

/* ---- averages, states, metrics ---- */

void xlm_declare_average(xlm_declaration *declaration, double momentum)
{
    xlm_hosted *hosted = declaration->hosted;
    if (hosted->averaged || !(momentum >= 0 && momentum < 1))
        g_error("objective %s: a second average, or a momentum of %g, which is not in [0, 1)", hosted->loss.name, momentum);
    const int k = (int)(hosted - hosted->host->objective);
    hosted->averaged = true;
    hosted->momentum = momentum;
    g_array_append_val(hosted->host->averages, k);
}

int xlm_declare_mean(xlm_declaration *declaration, double weight)
{
    g_array_append_val(declaration->hosted->means, weight);
    return (int)declaration->hosted->means->len;
}

void xlm_declare_text(xlm_declaration *declaration, int64_t max_tokens)
{
    xlm_hosted *hosted = declaration->hosted;
    if (hosted->makes_text)
        g_error("objective %s: it declares a second text", hosted->loss.name);
    hosted->makes_text = true;
    hosted->max_made = max_tokens;
}

void xlm_declare_publish(xlm_declaration *declaration, size_t bytes)
{
    xlm_hosted *hosted = declaration->hosted;
    if (hosted->published_bytes > 0 || bytes < 1 || hosted->spec.stream < 0)
        g_error("objective %s: it declares that it publishes twice, or without a stream, or rows of %zu bytes", hosted->loss.name,
                bytes);
    hosted->published_bytes = bytes;
}

void xlm_declare_state(xlm_declaration *declaration, const char *name, xlm_state_type type, void *values, int64_t n)
{
    if (n < 0 || (n > 0 && values == NULL) || (unsigned)type > XLM_STATE_I64)
        g_error("objective %s: its state \"%s\" of %" G_GINT64_FORMAT " numbers has no values, or is of no type of xlm/loss.h",
                declaration->hosted->loss.name, name, n);
    char *full = parameter_name(&declaration->hosted->loss, name);
    check_name(declaration, name, full);
    const xlm_saved_state state = {.path = g_strconcat("/", full, NULL), .type = type, .values = values, .n = n};
    g_free(full);
    g_array_append_val(declaration->hosted->host->states, state);
}

void xlm_declare_metric(xlm_declaration *declaration, const char *name)
{
    xlm_metrics_add(declaration->hosted->metrics, name, false);
}

void xlm_declare_training_metric(xlm_declaration *declaration, const char *name)
{
    xlm_metrics_add(declaration->hosted->metrics, name, true);
}
