/* xlm-mpi: the host of objectives. SPDX-License-Identifier: GPL-3.0-or-later */
#include "objective/host.h"

#include "base/log.h"
#include "objective/declaration.h"
#include "objective/views.h"
#include "tensor/tape.h"

/* ---- opening ---- */

static bool open_objective(xlm_hosted *h, xlm_parameters *parameters, GError **error)
{
    const xlm_loss_class *cls = h->spec.cls;
    char message[512] = "";
    if (cls->open != NULL && !cls->open(&h->loss, message, sizeof message))
        return xlm_error_set(error, EX_CONFIG, "[objective %s]: %s", h->spec.name, message);
    h->open = true;
    if (*message != '\0')
        xlm_log_warn("[objective %s]: %s", h->spec.name, message);
    if (xlm_declare(h, parameters, error))
        return true;
    g_prefix_error(error, "[objective %s]: ", h->spec.name);
    return false;
}

xlm_host *xlm_host_open(const xlm_host_setup *setup, xlm_parameters *parameters, GError **error)
{
    xlm_host *host = g_new0(xlm_host, 1);
    *host = (xlm_host){
        .model = setup->model, .about = setup->about, .resources = setup->resources, .objectives = setup->objectives,
        .stream = g_memdup2(setup->stream, sizeof *setup->stream * (size_t)setup->streams),
        .objective = g_new0(xlm_hosted, MAX(setup->objectives, 1)),
        .states = g_array_new(FALSE, FALSE, sizeof(xlm_saved_state)),
    };
    bool good = true;
    for (int k = 0; k < host->objectives && good; k++) {
        xlm_hosted *h = &host->objective[k];
        *h = (xlm_hosted){.host = host, .spec = setup->objective[k], .metrics = xlm_metrics_new(setup->objective[k].name),
                          .views = g_array_new(FALSE, FALSE, sizeof(xlm_view))};
        h->loss = (xlm_loss){.cls = h->spec.cls, .name = h->spec.name, .state = h->spec.state, .setup = &host->about,
                             .stream = h->spec.stream >= 0 ? &host->stream[h->spec.stream] : NULL, .hosted = h};
        good = open_objective(h, parameters, error);
        host->metrics += (int)h->metrics->names->len;
    }
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
    }
    for (guint i = 0; i < host->states->len; i++)
        g_free((char *)g_array_index(host->states, xlm_saved_state, i).path);
    g_array_unref(host->states);
    g_free(host->objective);
    g_free(host->stream);
    g_free(host);
}

int xlm_host_objectives(const xlm_host *host) { return host->objectives; }
const xlm_objective_spec *xlm_host_objective(const xlm_host *host, int k) { return &host->objective[k].spec; }
xlm_loss *xlm_host_loss(xlm_host *host, int k) { return &host->objective[k].loss; }
int xlm_host_metrics(const xlm_host *host) { return host->metrics; }
const GPtrArray *xlm_host_metric_names(const xlm_host *host, int k) { return host->objective[k].metrics->names; }

const xlm_saved_state *xlm_host_states(const xlm_host *host, int *n)
{
    *n = (int)host->states->len;
    return (const xlm_saved_state *)(const void *)host->states->data;
}

/* ---- terms ---- */

static xlm_pass make_pass(const xlm_host *host, const xlm_pass_input *input)
{
    return (xlm_pass){.model = host->model, .batch = input->batch, .step = input->step, .part = input->part, .parts = input->parts};
}

static bool takes_part(const xlm_hosted *h, const xlm_pass_input *input, int k)
{
    return h->spec.stream == input->stream && input->step >= h->spec.begin && (input->only < 0 || input->only == k);
}

static int64_t count(xlm_hosted *h, const xlm_pass_input *input)
{
    if (h->spec.cls->count != NULL) {
        const xlm_pass pass = make_pass(h->host, input);
        return h->spec.cls->count(&h->loss, &pass);
    }
    return input->batch != NULL ? input->batch->masked : input->part == 0;
}

void xlm_host_count(xlm_host *host, xlm_pass_input *input, xlm_arena *arena)
{
    input->terms = XLM_TAKE(arena, int64_t, MAX(host->objectives, 1));
    for (int k = 0; k < host->objectives; k++) {
        xlm_hosted *h = &host->objective[k];
        input->terms[k] = takes_part(h, input, k) ? count(h, input) : 0;
    }
}

bool xlm_host_has_terms(const xlm_host *host, const xlm_pass_input *input)
{
    bool any = false;
    for (int k = 0; k < host->objectives; k++)
        any |= input->terms[k] > 0;
    return any;
}

/* ---- rows of numbers ---- */

int xlm_host_numbers(const xlm_host *host)
{
    return host->objectives + host->metrics * (int)(sizeof(xlm_metric_sum) / sizeof(double));
}

xlm_metric_sum *xlm_host_metric_sums(const xlm_host *host, double *row, int k)
{
    xlm_metric_sum *first = (xlm_metric_sum *)(row + host->objectives);
    for (int before = 0; before < k; before++)
        first += host->objective[before].metrics->names->len;
    return first;
}

/* ---- passes ---- */

static bool is_called(const xlm_hosted *h, const xlm_pass_input *input, const xlm_host_wishes *wishes, int k)
{
    return input->terms[k] > 0 || (wishes->visit != NULL && takes_part(h, input, k));
}

/* The views of all whose loss is computed, and of those who are visited. */
static xlm_encoded_views *encode(xlm_host *host, xlm_tape *tape, const xlm_pass_input *input, const xlm_host_wishes *wishes)
{
    xlm_encodings encodings = {0};
    if (input->batch == NULL)
        return NULL;
    for (int k = 0; k < host->objectives; k++)
        if (is_called(&host->objective[k], input, wishes, k))
            xlm_encodings_add(&encodings, &host->objective[k]);
    if (wishes->hidden != NULL)
        xlm_encodings_add_whole(&encodings, host->about.model->layers);
    if (encodings.n == 0)
        return NULL;
    xlm_encoded_views *views = xlm_views_encode(&encodings, host->model, tape, input->batch);
    if (wishes->hidden != NULL)
        *wishes->hidden = xlm_views_whole(views);
    return views;
}

void xlm_host_run(xlm_host *host, xlm_tape *tape, const xlm_pass_input *input, const int64_t *totals, double *row,
                  const xlm_host_wishes *wishes)
{
    static const xlm_host_wishes none = {0};
    const xlm_host_wishes *w = wishes != NULL ? wishes : &none;
    xlm_encoded_views *views = encode(host, tape, input, w);
    xlm_pass pass = make_pass(host, input);
    pass.scores = w->scores;
    /* All that views take out of the encodings stands before the first loss on the tape. */
    const struct xlm_pass_views **own = XLM_TAPE_TAKE(tape, const struct xlm_pass_views *, MAX(host->objectives, 1));
    for (int k = 0; k < host->objectives; k++)
        own[k] = views != NULL && is_called(&host->objective[k], input, w, k) ? xlm_views_of(views, &host->objective[k]) : NULL;
    for (int k = 0; k < host->objectives; k++) {
        xlm_hosted *h = &host->objective[k];
        const int64_t terms = input->terms[k];
        pass.views = own[k];
        if (terms > 0) {
            h->metrics->sums = xlm_host_metric_sums(host, row, k);
            xlm_var *mean = h->spec.cls->loss(&h->loss, tape, &pass);
            h->metrics->sums = NULL;
            row[k] += xlm_var_scalar(mean) * (double)terms;
            if (totals != NULL)
                xlm_tape_seed(tape, mean, h->spec.weight * (double)terms / (double)totals[k]);
        }
        if (w->visit != NULL && takes_part(h, input, k))
            w->visit(w->data, &h->loss, tape, &pass);
    }
    if (totals != NULL)
        xlm_tape_backward(tape);
}

/* ---- memory and operations ---- */

static xlm_pass_size size_of(const xlm_encoding *e, const xlm_input_size *size, bool main)
{
    const int64_t rows = e->rows == XLM_ROWS_MASKED ? size->predicted : e->rows == XLM_ROWS_FIRST ? size->sequences : size->tokens;
    return (xlm_pass_size){
        .tokens = size->tokens, .length = size->length, .pairs = (double)size->tokens * (double)size->length,
        .layers = e->layer, .rows = MIN(rows, size->tokens), .predicted = main ? size->predicted : 0,
    };
}

static xlm_encodings encodings_of(const xlm_host *host, int stream)
{
    xlm_encodings encodings = {0};
    for (int k = 0; k < host->objectives; k++)
        if (host->objective[k].spec.stream == stream)
            xlm_encodings_add(&encodings, &host->objective[k]);
    return encodings;
}

uint64_t xlm_host_pass_bytes(const xlm_host *host, int stream, const xlm_input_size *size, bool recompute)
{
    const xlm_encodings encodings = encodings_of(host, stream);
    uint64_t bytes = 0;
    for (int i = 0; i < encodings.n; i++) {
        const xlm_pass_size one = size_of(&encodings.encoding[i], size, i == 0);
        bytes += xlm_model_pass_bytes(host->about.model, &one, recompute);
    }
    return bytes;
}

double xlm_host_pass_flops(const xlm_host *host, int stream, const xlm_input_size *size, bool recompute)
{
    const xlm_encodings encodings = encodings_of(host, stream);
    double flops = 0;
    for (int i = 0; i < encodings.n; i++) {
        const xlm_pass_size one = size_of(&encodings.encoding[i], size, i == 0);
        /* The backward pass makes two products for each of the forward pass's, which recomputation makes again. */
        flops += (encodings.encoding[i].gradient ? recompute ? 4 : 3 : 1) * xlm_model_forward_flops(host->about.model, &one);
    }
    return flops;
}
