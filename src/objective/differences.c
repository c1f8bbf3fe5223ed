/* xlm-mpi: gradients of hosted objectives against finite differences, in double precision.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "objective/differences.h"

#include <math.h>

#include "tensor/tape.h"

enum { MAX_ELEMENTS = 64 }; /* maximum number of elements of a parameter that are compared */
static const double STRIDE = 1e-4, TOLERANCE = 1e-6;

double xlm_differences_pass(const xlm_differences *d, double *gradient, const xlm_host_outputs *outputs)
{
    xlm_sums sums = xlm_host_sums_new(d->host);
    double sum = 0;
    xlm_tape_begin(d->tape, gradient, true, d->seed, (uint64_t)d->input->step);
    xlm_host_run(d->host, d->tape, d->input, gradient != NULL ? d->input->terms : NULL, &sums, outputs);
    for (int k = 0; k < xlm_host_objectives(d->host); k++)
        sum += xlm_host_has_terms_of(d->host, k, d->input->terms) ? xlm_host_mean_loss(d->host, k, &sums, d->input->terms) : 0;
    xlm_sums_free(&sums);
    return sum;
}

/* The same, after the declared state has been restored from `saved`. */
static double pass(const xlm_differences *d, void *saved, double *gradient)
{
    xlm_host_copy_states(d->host, saved, true);
    return xlm_differences_pass(d, gradient, NULL);
}

/* The derivative by *x: (8 (f(x + h) − f(x − h)) − (f(x + 2h) − f(x − 2h))) / 12h, with an error of order h⁴. */
static double difference(const xlm_differences *d, void *saved, double *x)
{
    static const double at[] = {1, -1, 2, -2}, factor[] = {8, -8, -1, 1};
    const double before = *x;
    double sum = 0;
    for (int j = 0; j < 4; j++) {
        *x = before + at[j] * STRIDE;
        sum += factor[j] * pass(d, saved, NULL);
    }
    *x = before;
    return sum / (12 * STRIDE);
}

/* Compares the gradient of one parameter. The first element that differs becomes the error, unless there is one already. Returns
 * the largest absolute gradient. threshold: gradients that are smaller count as this large when they are compared. */
static double check_parameter(const xlm_differences *d, void *saved, const xlm_parameter *p, const double *gradient,
                              double threshold, FILE *table, GError **error)
{
    const int64_t n = p->rows * p->cols;
    double largest = 0, worst = 0;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(gradient[i]));
    for (int64_t k = 0; k < MIN(n, MAX_ELEMENTS); k++) {
        const int64_t i = n <= MAX_ELEMENTS ? k : (int64_t)((uint64_t)k * 2654435761u % (uint64_t)n);
        const double slope = difference(d, saved, xlm_parameters_values(d->parameters) + p->start + i);
        const double scale = fmax(fmax(fabs(slope), fabs(gradient[i])), 0.1 * fmax(largest, threshold));
        const double apart = fabs(slope - gradient[i]) / scale;
        if (!(apart <= TOLERANCE) && error != NULL && *error == NULL)
            xlm_error_set(error, EX_SOFTWARE, "%s[%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT "]: its gradient is %.10g, differences "
                          "of the loss give %.10g", p->name, i / p->cols, i % p->cols, gradient[i], slope);
        worst = apart <= worst || isnan(worst) ? worst : apart; /* a NaN stays */
    }
    if (table != NULL)
        fprintf(table, "%-44s %5" G_GINT64_FORMAT " x %-6" G_GINT64_FORMAT " %5" G_GINT64_FORMAT " %9.1e%s\n", p->name, p->rows,
                p->cols, MIN(n, MAX_ELEMENTS), worst, !(worst <= TOLERANCE) ? "  WRONG" : largest == 0 ? "  none" : "");
    return largest;
}

bool xlm_differences_check(const xlm_differences *d, FILE *table, double *largest, GError **error)
{
    if (!xlm_host_has_terms(d->host, d->input))
        return xlm_error_set(error, EX_SOFTWARE, "there are no terms in the batch");
    g_autofree double *gradient = g_new0(double, xlm_parameters_size(d->parameters));
    g_autofree void *saved = g_malloc0(xlm_host_states_bytes(d->host));
    GError *failure = NULL;
    xlm_host_copy_states(d->host, saved, false);
    xlm_tape_constants(d->tape, XLM_CONSTANTS_KEEP);
    const double loss = pass(d, saved, gradient);
    xlm_tape_constants(d->tape, XLM_CONSTANTS_REPEAT);
    const double again = pass(d, saved, NULL);
    if (!(loss == again)) {
        xlm_error_set(&failure, EX_SOFTWARE, "two passes over one batch have losses %.17g and %.17g; what the objective remembers "
                      "from pass to pass must be declared (xlm_declare_state)", loss, again);
    } else {
        if (table != NULL)
            fprintf(table, "loss %.10g\n%-44s %14s %5s %9s\n", loss, "gradient", "shape", "of it", "error");
        double all = 0;
        for (int i = 0; i < xlm_parameters_count(d->parameters); i++) {
            const xlm_parameter *p = xlm_parameters_get(d->parameters, i);
            const double threshold = 1e-3 * fmax(1, fabs(loss));
            all = fmax(all, check_parameter(d, saved, p, gradient + p->start, threshold, table, &failure));
        }
        if (largest != NULL)
            *largest = all;
    }
    xlm_tape_constants(d->tape, XLM_CONSTANTS_FREE);
    xlm_host_copy_states(d->host, saved, true);
    if (failure != NULL)
        g_propagate_error(error, failure);
    return failure == NULL;
}
