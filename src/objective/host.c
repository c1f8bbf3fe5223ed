/* xlm-mpi: the host of objectives. SPDX-License-Identifier: GPL-3.0-or-later */
#include "objective/host.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "objective/hosted.h"
#include "objective/views.h"
#include "tensor/tape.h"

/* ---- opening ---- */

static bool open_objective(xlm_hosted *h, xlm_parameters *parameters, GError **error)
{
    const xlm_loss_class *cls = h->spec.cls;
    char message[512] = "";
    if (cls->open != NULL && !cls->open(&h->loss, message, sizeof message))
        return xlm_error_set(error, EX_CONFIG, "[objective %s]: %s", h->spec.name,
                             *message != '\0' ? message : "its open function fails without giving a reason");
    h->open = true;
    if (*message != '\0')
        xlm_log_warn("[objective %s]: %s", h->spec.name, message);
    if (xlm_declare(h, parameters, error))
        return true;
    g_prefix_error(error, "[objective %s]: ", h->spec.name);
    return false;
}

bool xlm_host_check_class(const xlm_loss_class *cls, GError **error)
{
    if (cls->name == NULL || cls->summary == NULL || cls->loss == NULL)
        return xlm_error_set(error, EX_CONFIG, "its class lacks a name, a summary or a loss function");
    if (cls->label != NULL && (cls->count != NULL || !cls->needs_stream))
        return xlm_error_set(error, EX_CONFIG, "its class has a label function and a count, or reads no stream; label gives the "
                             "number of terms");
    return true;
}

xlm_host *xlm_host_open(const xlm_host_setup *setup, xlm_parameters *parameters, GError **error)
{
    xlm_host *host = g_new0(xlm_host, 1);
    *host = (xlm_host){
        .model = setup->model, .about = setup->about, .resources = setup->resources, .objectives = setup->objectives,
        .stream = g_memdup2(setup->stream, sizeof *setup->stream * (size_t)setup->streams),
        .objective = g_new0(xlm_hosted, MAX(setup->objectives, 1)),
        .states = g_array_new(FALSE, FALSE, sizeof(xlm_saved_state)),
        .averages = g_array_new(FALSE, FALSE, sizeof(int)),
    };
    bool good = true;
    for (int k = 0; k < host->objectives && good; k++) {
        xlm_hosted *h = &host->objective[k];
        *h = (xlm_hosted){.host = host, .spec = setup->objective[k], .metrics = xlm_metrics_new(setup->objective[k].name),
                          .views = g_array_new(FALSE, FALSE, sizeof(xlm_view)), .means = g_array_new(FALSE, FALSE, sizeof(double)),
                          .published = g_array_new(FALSE, FALSE, 1)};
        h->loss = (xlm_loss){.cls = h->spec.cls, .name = h->spec.name, .state = h->spec.state, .setup = &host->about,
                             .stream = h->spec.stream >= 0 ? &host->stream[h->spec.stream] : NULL, .hosted = h};
        good = open_objective(h, parameters, error);
        h->first_mean = host->objectives + host->means;
        host->means += (int)h->means->len;
        host->metrics += (int)h->metrics->names->len;
    }
    host->means += host->objectives;
    if (good)
        return host;
    xlm_host_close(host);
    return NULL;
}

void xlm_host_close(xlm_host *host)
{
    if (host == NULL)
        return;
    for (int k = 0; k < host->objectives && host->objective[k].host != NULL; k++) {
        xlm_hosted *h = &host->objective[k];
        if (h->open && h->spec.cls->close != NULL)
            h->spec.cls->close(&h->loss);
        xlm_metrics_free(h->metrics);
        g_array_unref(h->views);
        g_array_unref(h->means);
        g_array_unref(h->published);
    }
    for (guint i = 0; i < host->states->len; i++)
        g_free((char *)g_array_index(host->states, xlm_saved_state, i).path);
    g_array_unref(host->states);
    g_array_unref(host->averages);
    g_free(host->objective);
    g_free(host->stream);
    g_free(host);
}

int xlm_host_objectives(const xlm_host *host) { return host->objectives; }

bool xlm_host_uses_decoder(const xlm_host *host)
{
    bool used = false;
    for (int k = 0; k < host->objectives; k++)
        for (guint i = 0; i < host->objective[k].views->len; i++)
            used |= g_array_index(host->objective[k].views, xlm_view, i).stack == XLM_STACK_DECODER;
    return used;
}

const char *xlm_host_pair_form(const xlm_host *host)
{
    const xlm_loss_stream *first = NULL;
    for (int k = 0; k < host->objectives; k++) {
        const xlm_hosted *objective = &host->objective[k];
        const xlm_loss_stream *stream = objective->loss.stream;
        bool reads = false;
        for (guint i = 0; i < objective->views->len; i++) {
            const xlm_view *view = &g_array_index(objective->views, xlm_view, i);
            reads |= view->side == XLM_SIDE_BOTH && view->stack == XLM_STACK_ENCODER && view->layer > 0 &&
                     view->text != XLM_TEXT_MADE;
        }
        if (reads && stream->parallel && (first == NULL || stream < first))
            first = stream;
    }
    return first == NULL ? NULL : first->several_pairs ? "xlm" : "bert";
}

bool xlm_host_views_corruption(const xlm_host *host, int k)
{
    bool views = false;
    for (guint i = 0; i < host->objective[k].views->len; i++) {
        const xlm_view *view = &g_array_index(host->objective[k].views, xlm_view, i);
        views |= view->text == XLM_TEXT_CORRUPTED ||
                 (view->text == XLM_TEXT_ORIGINAL && view->rows != XLM_ROWS_ALL && view->rows != XLM_ROWS_FIRST);
    }
    return views;
}

bool xlm_host_views_predicted(const xlm_host *host, int k)
{
    bool alone = host->objective[k].views->len > 0;
    for (guint i = 0; i < host->objective[k].views->len; i++) {
        const xlm_view_rows rows = g_array_index(host->objective[k].views, xlm_view, i).rows;
        alone &= rows == XLM_ROWS_PREDICTED || rows == XLM_ROWS_NEAR || rows == XLM_ROWS_LINKED;
    }
    return alone;
}

xlm_loss *xlm_host_loss(xlm_host *host, int k) { return &host->objective[k].loss; }
int xlm_host_means(const xlm_host *host) { return host->means; }
int xlm_host_metrics(const xlm_host *host) { return host->metrics; }
const GPtrArray *xlm_host_metric_names(const xlm_host *host, int k) { return host->objective[k].metrics->names; }

bool xlm_host_metric_is_held_out(const xlm_host *host, int k, int i)
{
    return !g_array_index(host->objective[k].metrics->of_training, bool, i);
}

const xlm_saved_state *xlm_host_states(const xlm_host *host, int *n)
{
    *n = (int)host->states->len;
    return (const xlm_saved_state *)(const void *)host->states->data;
}

size_t xlm_host_states_bytes(const xlm_host *host)
{
    size_t bytes = 0;
    for (guint i = 0; i < host->states->len; i++)
        bytes += xlm_state_bytes(&g_array_index(host->states, xlm_saved_state, i));
    return bytes;
}

void xlm_host_copy_states(const xlm_host *host, void *saved, bool back)
{
    char *at = saved;
    for (guint i = 0; i < host->states->len; i++) {
        const xlm_saved_state *state = &g_array_index(host->states, xlm_saved_state, i);
        const size_t bytes = xlm_state_bytes(state);
        if (bytes > 0) /* a state of 0 numbers may have no array */
            memcpy(back ? state->values : at, back ? at : state->values, bytes);
        at += bytes;
    }
}

/* ---- terms ---- */

static xlm_pass make_pass(const struct xlm_pass_call *call)
{
    const xlm_pass_input *input = call->input;
    return (xlm_pass){.model = call->hosted->host->model, .batch = input->batch, .step = input->step, .part = input->part,
                      .parts = input->parts, .planned = call->planned, .held_out = input->held_out, .call = call};
}

void xlm_host_estimate(xlm_host *host, bool estimating) { host->estimating = estimating; }

bool xlm_host_takes_part(const xlm_host *host, int k, int64_t step)
{
    const xlm_loss_weight *weight = &host->objective[k].spec.weight;
    return host->estimating ? xlm_loss_weight_first_step(weight, host->about.steps) < host->about.steps
                            : xlm_loss_weight_takes_part(weight, step);
}

int xlm_host_objective_of(const xlm_host *host, const char *parameter)
{
    for (int k = 0; k < host->objectives; k++) {
        g_autofree char *prefix = g_strdup_printf("objectives/%s/", host->objective[k].loss.name);
        if (g_str_has_prefix(parameter, prefix))
            return k;
    }
    return -1;
}

static bool takes_part(const xlm_hosted *h, const xlm_pass_input *input, int k)
{
    return h->spec.stream == input->stream && (input->only < 0 || input->only == k) && xlm_host_takes_part(h->host, k, input->step);
}

/* A number of terms that a function of the class has returned. A negative one would weigh gradients wrongly. */
static int64_t check_terms(const xlm_hosted *h, const char *function, int64_t terms)
{
    if (terms < 0)
        g_error("objective %s: %s returned %" G_GINT64_FORMAT " terms", h->loss.name, function, terms);
    return terms;
}

static int64_t count(xlm_hosted *h, const xlm_pass_input *input)
{
    if (h->spec.cls->count != NULL) {
        const struct xlm_pass_call call = {.hosted = h, .input = input};
        const xlm_pass pass = make_pass(&call);
        return check_terms(h, "count", h->spec.cls->count(&h->loss, &pass));
    }
    return input->batch != NULL ? input->batch->predicted : input->part == 0;
}

void xlm_host_count(xlm_host *host, xlm_pass_input *input, xlm_arena *arena)
{
    input->arena = arena;
    input->shared = NULL;
    input->terms = XLM_TAKE(arena, int64_t, MAX(host->means, 1));
    memset(input->terms, 0, sizeof *input->terms * (size_t)host->means);
    input->labels = XLM_TAKE(arena, void *, MAX(host->objectives, 1));
    input->made = XLM_TAKE(arena, const xlm_text *, MAX(host->objectives, 1));
    for (int k = 0; k < host->objectives; k++) {
        xlm_hosted *h = &host->objective[k];
        if (takes_part(h, input, k) && h->spec.cls->label == NULL)
            input->terms[k] = count(h, input);
        input->labels[k] = NULL;
        input->made[k] = NULL;
    }
}

bool xlm_host_has_terms(const xlm_host *host, const xlm_pass_input *input)
{
    bool any = false;
    for (int i = 0; i < host->means; i++)
        any |= input->terms[i] > 0;
    return any;
}

int64_t xlm_host_terms_of(const xlm_host *host, int k, const int64_t *terms)
{
    const xlm_hosted *h = &host->objective[k];
    int64_t n = terms[k];
    for (guint i = 0; i < h->means->len; i++)
        n += terms[h->first_mean + (int)i];
    return n;
}

bool xlm_host_has_terms_of(const xlm_host *host, int k, const int64_t *terms) { return xlm_host_terms_of(host, k, terms) > 0; }

double xlm_host_mean_loss(const xlm_host *host, int k, const xlm_sums *sums, const int64_t *totals)
{
    const xlm_hosted *h = &host->objective[k];
    double loss = totals[k] > 0 ? sums->mean[k] / (double)totals[k] : 0;
    for (guint i = 0; i < h->means->len; i++) {
        const int mean = h->first_mean + (int)i;
        if (totals[mean] > 0)
            loss += g_array_index(h->means, double, i) * sums->mean[mean] / (double)totals[mean];
    }
    return xlm_host_has_terms_of(host, k, totals) ? loss : NAN;
}

/* The number that a mean of xlm_declare_mean has among all means of the host. */
static int number_of_mean(const xlm_hosted *h, int mean)
{
    if (mean < 1 || mean > (int)h->means->len)
        g_error("objective %s: it uses mean %d, but has declared only %u means besides the first", h->loss.name, mean,
                h->means->len);
    return h->first_mean + mean - 1;
}

void xlm_pass_terms(const xlm_pass *pass, int mean, int64_t terms)
{
    const xlm_hosted *h = pass->call->hosted;
    const int i = number_of_mean(h, mean);
    if (terms < 0)
        g_error("objective %s: it gives mean %d %" G_GINT64_FORMAT " terms", h->loss.name, mean, terms);
    if (h->run != NULL)
        g_error("objective %s: it gives the number of terms of mean %d in loss; count or label does that", h->loss.name, mean);
    pass->call->input->terms[i] = terms;
}

/* ---- sums ---- */

xlm_sums xlm_host_sums_new(const xlm_host *host) { return xlm_sums_new(host->means, host->metrics); }

xlm_metric_sum *xlm_host_metric_sums(const xlm_host *host, const xlm_sums *sums, int k)
{
    xlm_metric_sum *first = sums->metric;
    for (int before = 0; before < k; before++)
        first += host->objective[before].metrics->names->len;
    return first;
}

/* ---- passes ---- */

const xlm_model *xlm_host_model(const xlm_host *host) { return host->model; }

static bool is_called(const xlm_hosted *h, const xlm_pass_input *input, const xlm_host_outputs *outputs, int k)
{
    return xlm_host_has_terms_of(h->host, k, input->terms) || (outputs->visit != NULL && takes_part(h, input, k));
}

static xlm_texts texts_of(const xlm_pass_input *input) { return (xlm_texts){.batch = input->batch, .made = input->made}; }

/* Encodes the views of all objectives whose loss is computed or that are visited. */
static xlm_encoded_views *encode(xlm_host *host, xlm_tape *tape, const xlm_pass_input *input, const xlm_host_outputs *outputs)
{
    xlm_encodings encodings = {.tape = tape};
    for (int k = 0; k < host->objectives; k++)
        if (is_called(&host->objective[k], input, outputs, k))
            xlm_encodings_add(&encodings, &host->objective[k], false, input->shared);
    if (outputs->hidden != NULL)
        xlm_encodings_add_whole(&encodings, host->about.model->layers);
    xlm_encoded_views *views = xlm_views_encode(&encodings, host->model, texts_of(input), input->shared, NULL);
    if (outputs->hidden != NULL)
        *outputs->hidden = xlm_views_whole(views);
    return views;
}

/* Adds mean i of the host in this pass, which has terms for it, and makes it a root of the backward pass. */
static void add_mean(const xlm_hosted *h, const xlm_pass_input *input, int i, xlm_var *mean, double weight)
{
    const struct xlm_loss_run *run = h->run;
    const int64_t terms = input->terms[i];
    if (mean == NULL)
        g_error("objective %s: a mean has %" G_GINT64_FORMAT " terms, but its value is NULL", h->loss.name, terms);
    run->sums->mean[i] += xlm_var_scalar(mean) * (double)terms;
    if (run->totals != NULL)
        xlm_tape_seed(run->tape, mean, weight * (double)terms / (double)run->totals[i]);
}

void xlm_pass_mean(const xlm_pass *pass, int mean, xlm_var *value)
{
    const xlm_hosted *h = pass->call->hosted;
    const int i = number_of_mean(h, mean);
    if (h->run == NULL || pass->call->input->terms[i] <= 0)
        g_error("objective %s: it gives mean %d outside loss, or without terms", h->loss.name, mean);
    if (h->run->given[mean - 1])
        g_error("objective %s: it gives the value of mean %d twice", h->loss.name, mean);
    h->run->given[mean - 1] = true;
    const double weight = xlm_loss_weight_at(&h->spec.weight, pass->step);
    add_mean(h, pass->call->input, i, value, weight * g_array_index(h->means, double, mean - 1));
}

/* Ends the program if loss has left out the value of a mean that has terms: its sum and its gradient would be missing. */
static void check_given(const xlm_hosted *h, const xlm_pass_input *input)
{
    for (guint i = 0; i < h->means->len; i++) {
        const int64_t terms = input->terms[h->first_mean + (int)i];
        if (terms > 0 && !h->run->given[i])
            g_error("objective %s: mean %u has %" G_GINT64_FORMAT " terms, but loss has not given its value (xlm_pass_mean)",
                    h->loss.name, i + 1, terms);
    }
}

/* The loss of objective k, which has terms. */
static void run_loss(xlm_hosted *h, int k, xlm_tape *tape, const xlm_pass *pass, const int64_t *totals, xlm_sums *sums)
{
    g_autofree bool *given = g_new0(bool, MAX(h->means->len, 1));
    struct xlm_loss_run run = {.tape = tape, .totals = totals, .sums = sums, .given = given};
    h->metrics->sums = xlm_host_metric_sums(h->host, sums, k);
    h->run = &run;
    xlm_var *mean = h->spec.cls->loss(&h->loss, tape, pass);
    if (pass->call->input->terms[k] > 0)
        add_mean(h, pass->call->input, k, mean, xlm_loss_weight_at(&h->spec.weight, pass->step));
    check_given(h, pass->call->input);
    h->run = NULL;
    h->metrics->sums = NULL;
}

void xlm_host_run(xlm_host *host, xlm_tape *tape, const xlm_pass_input *input, const int64_t *totals, xlm_sums *sums,
                  const xlm_host_outputs *outputs)
{
    static const xlm_host_outputs none = {0};
    const xlm_host_outputs *w = outputs != NULL ? outputs : &none;
    xlm_encoded_views *views = encode(host, tape, input, w);
    struct xlm_pass_call *call = XLM_TAPE_TAKE(tape, struct xlm_pass_call, MAX(host->objectives, 1));
    /* The rows of all views are taken out of the encodings before the first loss is recorded on the tape. */
    for (int k = 0; k < host->objectives; k++) {
        xlm_hosted *h = &host->objective[k];
        call[k] = (struct xlm_pass_call){.hosted = h, .input = input, .planned = xlm_tape_is_of_shapes(tape)};
        if (is_called(h, input, w, k))
            call[k].views = xlm_views_of(views, h, false);
    }
    for (int k = 0; k < host->objectives; k++) {
        xlm_hosted *h = &host->objective[k];
        xlm_pass pass = make_pass(&call[k]);
        pass.scores = w->scores;
        pass.labels = input->labels[k];
        if (xlm_host_has_terms_of(host, k, input->terms))
            run_loss(h, k, tape, &pass, totals, sums);
        if (w->visit != NULL && takes_part(h, input, k))
            w->visit(w->data, &h->loss, tape, &pass);
    }
    if (totals != NULL)
        xlm_tape_backward(tape);
}

/* ---- labels ---- */

int xlm_host_averages(const xlm_host *host) { return (int)host->averages->len; }

const xlm_objective_spec *xlm_host_average(const xlm_host *host, int average, double *momentum)
{
    const xlm_hosted *h = &host->objective[g_array_index(host->averages, int, average)];
    *momentum = h->momentum;
    return &h->spec;
}

int xlm_host_average_of(const xlm_host *host, int k)
{
    for (int a = 0; a < xlm_host_averages(host); a++)
        if (g_array_index(host->averages, int, a) == k)
            return a;
    return -1;
}

/* Does objective k make labels, with this average (-1: without one)? */
static bool labels_with(const xlm_host *host, int k, int average)
{
    return host->objective[k].spec.cls->label != NULL && xlm_host_average_of(host, k) == average;
}

bool xlm_host_has_labels(const xlm_host *host, int average)
{
    bool any = false;
    for (int k = 0; k < host->objectives; k++)
        any |= labels_with(host, k, average);
    return any;
}

/* The encodings for the labels of this input with this average. Views of these encodings that later passes also need are added to
 * the shared views of the input. */
static xlm_encodings encodings_of_labels(const xlm_host *host, xlm_tape *tape, xlm_pass_input *input, int average)
{
    xlm_encodings encodings = {.tape = tape};
    for (int k = 0; k < host->objectives; k++)
        if (labels_with(host, k, average) && takes_part(&host->objective[k], input, k))
            xlm_encodings_add(&encodings, &host->objective[k], true, input->shared);
    for (int k = 0; k < host->objectives; k++) {
        const xlm_hosted *h = &host->objective[k];
        const bool label = h->spec.cls->label != NULL, later = !label || xlm_host_average_of(host, k) > average;
        if (later && takes_part(h, input, k) && (label || xlm_host_has_terms_of(host, k, input->terms)))
            xlm_encodings_share(&encodings, h, label, input->arena, &input->shared);
    }
    return encodings;
}

void xlm_host_label(xlm_host *host, xlm_tape *tape, xlm_pass_input *input, int average, xlm_real *averaged)
{
    xlm_encodings encodings = encodings_of_labels(host, tape, input, average);
    xlm_encoded_views *views = xlm_views_encode(&encodings, host->model, texts_of(input), input->shared, averaged);
    for (int k = 0; k < host->objectives; k++) {
        xlm_hosted *h = &host->objective[k];
        if (!labels_with(host, k, average) || !takes_part(h, input, k))
            continue;
        const struct xlm_pass_call call = {.hosted = h, .input = input, .label = true,
                                           .planned = xlm_tape_is_of_shapes(tape), .views = xlm_views_of(views, h, true)};
        const xlm_pass pass = make_pass(&call);
        h->average = averaged;
        input->terms[k] = check_terms(h, "label", h->spec.cls->label(&h->loss, tape, &pass));
        h->average = NULL;
    }
    xlm_views_share(views, input->arena, input->shared);
}

uint64_t xlm_host_resource_bytes(const xlm_host *host) { return xlm_resources_bytes(host->resources); }
