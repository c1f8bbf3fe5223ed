/* xlm-mpi: gradients of a job's objectives against central differences. SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/check_gradients.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "nn/adapter.h"
#include "run/derivative.h"
#include "tensor/tape.h"
#include "train/hooks.h"
#include "train/micro_batches.h"

enum {
    ALONE = 16,    /* number of elements of a parameter that are changed one at a time; all of a smaller one */
    GROUPS = 8,    /* groups of a parameter's elements that are changed together */
    ALONE_OWN = 64, GROUPS_OWN = 128, GROUP_OWN = 16, /* of the objective's own parameters */
    NUDGES = 8,    /* number of passes to measure rounding */
    TRIALS = 3,    /* number of initial step sizes before a disagreement is accepted */
    OTHERS = 4,    /* further ones, when the first shows nothing */
    MOST = OTHERS + TRIALS
};
static const double TOLERANCE = 5e-3, CLOSE = 1e-3, FIRST_STEP = 0.5, SHORTER = 0.3;
static const double LARGEST_CHANGE = 1; /* change of the loss in the first step, as predicted by the gradient */

/* The state of the check of one objective. */
typedef struct checker {
    const xlm_job *job;
    const xlm_workspace *workspace;
    int64_t step;           /* updates made before */
    int objective;
    xlm_pass_input input;
    int64_t *totals;        /* [means] terms of all means */
    xlm_sums sums;          /* of a pass */
    char *saved;            /* values of all declared state before the passes, one after another */
    const float *gradient;
    float *nudged;          /* the gradient at another of the neighbours, by which its own rounding is measured */
    double loss, rounding;
    double gradient_rounding; /* of an element of the current parameter */
    xlm_rng_key key;
} checker;

/* ---- passes ---- */

static double weight_of(const checker *c) { return xlm_loss_weight_at(&c->job->objective[c->objective].weight, c->step); }

/* The loss times its weight, and its gradient in `gradient` if that is not NULL. */
static double pass(checker *c, float *gradient)
{
    const xlm_workspace *w = c->workspace;
    xlm_host_copy_states(c->workspace->host, c->saved, true);
    xlm_sums_clear(&c->sums);
    xlm_tape_begin(w->tape, gradient, false, (uint64_t)c->job->train.seed, (uint64_t)c->step);
    xlm_host_run(w->host, w->tape, &c->input, gradient != NULL ? c->totals : NULL, &c->sums, NULL);
    return weight_of(c) * xlm_host_mean_loss(w->host, c->objective, &c->sums, c->totals);
}

/* Does it have terms, of its first mean or of another, in the micro-batch? */
static bool has_terms(const checker *c) { return xlm_host_has_terms_of(c->workspace->host, c->objective, c->totals); }

/* The first micro-batch in which the objective has terms. All ranks look through the same ones. */
static bool find_input(checker *c, GError **error)
{
    GError *failure = NULL;
    const xlm_workspace *w = c->workspace;
    const int s = c->job->objective[c->objective].stream;
    const int64_t micro_batches = xlm_micro_batches_on(c->job->train.micro_batches, w->comm->ranks);
    g_autoptr(xlm_micro_batches) divided = xlm_micro_batches_of_step(micro_batches, w->comm->ranks, w->streams, c->step);
    for (int64_t g = 0; g < micro_batches && !has_terms(c); g++) {
        c->input = (xlm_pass_input){.stream = s, .part = s < 0 ? g : 0, .parts = s < 0 ? micro_batches : 1, .step = c->step,
                                    .only = c->objective};
        if (s >= 0) {
            const xlm_micro_batch_slice slice = xlm_micro_batch_of_batch(divided, s, g);
            if (slice.n == 0)
                continue;
            xlm_batch *batch = XLM_TAKE(w->arena, xlm_batch, 1);
            if (xlm_stream_read(w->streams->training[s], c->step, slice.first, slice.n, w->arena, batch, &failure))
                c->input.batch = batch;
            if (!xlm_comm_agree(w->comm, &failure)) {
                g_propagate_error(error, failure);
                return false;
            }
        }
        xlm_host_count(w->host, &c->input, w->arena);
        xlm_make_labels(w, false, (uint64_t)c->job->train.seed, c->step, &c->input, 1);
        memcpy(c->totals, c->input.terms, sizeof *c->totals * (size_t)xlm_host_means(w->host));
    }
    return true;
}

/* Deviation of the loss when each parameter is another of its neighbours: what cannot be distinguished from rounding. The
 * gradient at the last of them goes into c->nudged. */
static double measure_rounding(checker *c)
{
    xlm_parameters *p = c->workspace->parameters;
    float *x = xlm_parameters_values(p);
    const int64_t n = xlm_parameters_size(p);
    g_autofree float *before = g_memdup2(x, sizeof *x * (size_t)n);
    double sum = 0;
    for (uint32_t nudge = 0; nudge < NUDGES; nudge++) {
        for (int64_t i = 0; i < n; i++) {
            const uint32_t bits = xlm_rng_draw(c->key, (uint32_t)i, (uint32_t)(i >> 32), nudge, 1).v[0];
            x[i] = before[i] * (bits & 1 ? 1 + FLT_EPSILON : 1 - FLT_EPSILON / 2);
        }
        const double change = pass(c, nudge + 1 < NUDGES ? NULL : c->nudged) - c->loss;
        sum += change * change;
    }
    memcpy(x, before, sizeof *x * (size_t)n);
    /* Twice as much: errors of the kernels' approximations are larger along some directions than along those drawn here. */
    return 2 * fmax(sqrt(sum / NUDGES), 0.3 * FLT_EPSILON * fmax(fabs(c->loss), 0.1));
}

/* ---- one comparison ---- */

/* Elements of a parameter that are changed along a direction of length 1. */
typedef struct motion {
    checker *checker;
    float *x;                /* the parameter */
    int64_t n;
    const int64_t *index;    /* [n] */
    const double *direction; /* [n] */
} motion;

static double moved_loss(void *data, double h)
{
    const motion *m = data;
    g_autofree float *before = g_new(float, m->n);
    for (int64_t i = 0; i < m->n; i++) {
        float *x = &m->x[m->index[i]];
        before[i] = *x;
        *x = (float)((double)before[i] + h * m->direction[i]);
    }
    const double loss = pass(m->checker, NULL);
    for (int64_t i = 0; i < m->n; i++)
        m->x[m->index[i]] = before[i];
    return loss;
}

/* The results for a parameter, as a row of numbers that is combined over the ranks. */
typedef struct result {
    double alone, groups, unclear; /* comparisons; those in which rounding hides the derivative */
    double largest;                /* relative error of those that are clear */
    double wrong;                  /* comparisons that do not agree */
    double at, of, tape, difference; /* the worst of them: first element, number of elements, both derivatives */
    double zero;                   /* 1: the tape has no gradient for it */
} result;
enum { RESULT = sizeof(result) / sizeof(double) };

typedef struct comparison {
    double step;              /* the longest */
    double difference, error; /* relative */
    double uncertainty;       /* error of both derivatives together */
    bool clear, wrong;
} comparison;

/* All comparisons of one motion. */
typedef struct comparisons {
    comparison made[MOST];
    int n;
} comparisons;

/* The first step, and no longer than the loss is smooth. */
static double first_step(double predicted, double step) { return fmin(step, LARGEST_CHANGE / fmax(fabs(predicted), DBL_MIN)); }

/* What the error of both derivatives together is at least in a comparison from this step on. */
static double least_error(const checker *c, double predicted, double step)
{
    return xlm_derivative_least_error(first_step(predicted, step), c->rounding) + 2 * c->gradient_rounding;
}

static comparison compare_once(const motion *m, double predicted, double step, comparisons *all)
{
    const checker *c = m->checker;
    const double first = first_step(predicted, step);
    const xlm_derivative d = xlm_derivative_at_zero(moved_loss, (void *)m, first, c->rounding, predicted, CLOSE / 2);
    const double scale = fmax(fabs(d.value), fabs(predicted)), apart = fabs(d.value - predicted);
    const double error = d.error + 2 * c->gradient_rounding;
    const bool clear = 2 * error <= 0.5 * TOLERANCE * scale;
    return all->made[all->n++] = (comparison){
        .step = first, .difference = d.value, .error = scale > 0 ? apart / scale : 0, .uncertainty = error, .clear = clear,
        .wrong = !(apart <= TOLERANCE * scale + (clear ? 2 : 6) * error),
    };
}

/* Do shorter steps show that these were too long? What rounding adds to a difference is measured, but the error of the
 * extrapolation is only estimated, by how far orders agree. Where the loss bends within the steps they can agree on what is not
 * the derivative: D(h) has an extremum there, as it has when an element is moved by more than the norm of its row before a layer
 * norm. That error vanishes as h does, so of two comparisons that exclude one another the one with the longer steps is in error.
 * Errors are two standard deviations (run/derivative.c), so 1.5 of them are three, which rounding exceeds in 0.3 % of
 * comparisons: a wrong gradient is not lost by it. */
static bool is_refuted(const comparison *found, const comparisons *all)
{
    for (int i = 0; i < all->n; i++) {
        const comparison *shorter = &all->made[i];
        if (shorter->step < found->step && !shorter->wrong &&
            fabs(shorter->difference - found->difference) > 1.5 * (shorter->uncertainty + found->uncertainty))
            return true;
    }
    return false;
}

/* Extrapolations may agree by chance, so values that are not close are compared again with shorter steps. A clear agreement
 * counts at once, a disagreement only if it occurs twice and shorter steps do not refute it. */
static comparison compare_again(const motion *m, double predicted, comparison first, comparisons *all)
{
    comparison best = first;
    int wrong = 0;
    double step = FIRST_STEP;
    for (int trial = 1; trial < TRIALS; trial++) {
        const comparison v = compare_once(m, predicted, step *= SHORTER, all);
        if (v.clear && !v.wrong && (best.wrong || v.error < best.error))
            best = v;
    }
    for (int i = 0; i < all->n; i++)
        wrong += all->made[i].wrong && !is_refuted(&all->made[i], all);
    if (best.wrong && wrong < 2)
        best.wrong = best.clear = false;
    return best;
}

/* Compare the derivative along the motion with what the gradient gives. */
static void compare(const motion *m, double predicted, result *r)
{
    /* Times the first step: where the loss bends more, or rounding is more. */
    static const double others[OTHERS] = {0.2, 0.04, 36, 6};
    comparisons all = {.n = 0};
    comparison v = compare_once(m, predicted, FIRST_STEP, &all);
    double best = v.uncertainty;
    for (int trial = 0; trial < OTHERS && !v.clear && !v.wrong && predicted != 0; trial++) {
        /* Where rounding alone makes it no more exact than what there is, a comparison shows nothing new. */
        if (least_error(m->checker, predicted, FIRST_STEP * others[trial]) < best) {
            v = compare_once(m, predicted, FIRST_STEP * others[trial], &all);
            if (v.wrong && is_refuted(&v, &all))
                v.wrong = v.clear = false;
            else
                best = fmin(best, v.uncertainty);
        }
    }
    if (v.wrong || (v.clear && v.error > CLOSE))
        v = compare_again(m, predicted, v, &all);
    r->unclear += !v.clear && !v.wrong;
    r->wrong += v.wrong;
    if ((v.clear || v.wrong) && v.error >= r->largest) {
        r->largest = v.error;
        if (v.wrong) {
            r->at = (double)m->index[0];
            r->of = (double)m->n;
            r->tape = predicted;
            r->difference = v.difference;
        }
    }
}

/* ---- one parameter ---- */

static int by_magnitude(const void *a, const void *b)
{
    const double x = fabs((double)**(const float *const *)a), y = fabs((double)**(const float *const *)b);
    return (x < y) - (x > y);
}

/* Every element of a small parameter; of a large one those with the largest gradients, and the same number drawn at random, none
 * twice. index: [max_elements]. */
static int choose_alone(const checker *c, int number, const float *gradient, int64_t n, int max_elements, int64_t *index)
{
    if (n <= max_elements) {
        for (int64_t i = 0; i < n; i++)
            index[i] = i;
        return (int)n;
    }
    g_autofree const float **sorted = g_new(const float *, n);
    for (int64_t i = 0; i < n; i++)
        sorted[i] = gradient + i;
    qsort(sorted, (size_t)n, sizeof *sorted, by_magnitude);
    int chosen = 0;
    for (; chosen < max_elements / 2; chosen++)
        index[chosen] = sorted[chosen] - gradient;
    for (uint32_t draw = 0; chosen < max_elements; draw++) {
        const xlm_rng_block random = xlm_rng_draw(c->key, draw, (uint32_t)number, 0, 2);
        index[chosen] = (int64_t)(((uint64_t)random.v[0] << 32 | random.v[1]) % (uint64_t)n);
        bool there = false;
        for (int k = 0; k < chosen; k++)
            there |= index[k] == index[chosen];
        chosen += !there;
    }
    return chosen;
}

/* Move elements [begin, end) together, each in proportion to a number from 0.5 to 1.5, to the side where the loss rises, or to a
 * side drawn at random where the gradient is 0. */
static void compare_group(checker *c, int number, const xlm_parameter *p, int64_t begin, int64_t end, result *r)
{
    const int64_t n = end - begin;
    g_autofree int64_t *index = g_new(int64_t, n);
    g_autofree double *direction = g_new(double, n);
    double length = 0, predicted = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = begin + i;
        const xlm_rng_block random = xlm_rng_draw(c->key, (uint32_t)at, (uint32_t)(at >> 32), (uint32_t)number, 3);
        const float g = c->gradient[p->start + at];
        const bool down = g < 0 || (g == 0 && (random.v[1] & 1) != 0);
        index[i] = at;
        direction[i] = (0.5 + xlm_rng_unit(random.v[0])) * (down ? -1 : 1);
        length += direction[i] * direction[i];
    }
    for (int64_t i = 0; i < n; i++) {
        direction[i] /= sqrt(length);
        predicted += direction[i] * (double)c->gradient[p->start + begin + i];
    }
    const motion m = {c, xlm_parameters_values(c->workspace->parameters) + p->start, n, index, direction};
    compare(&m, predicted, r);
    r->groups++;
}

/* Declared by the objective. */
static bool is_own(const checker *c, const xlm_parameter *p)
{
    g_autofree char *prefix = g_strdup_printf("objectives/%s/", c->job->objective[c->objective].name);
    return g_str_has_prefix(p->name, prefix);
}

static void check_parameter(checker *c, int number, result *r)
{
    const xlm_parameter *p = xlm_parameters_get(c->workspace->parameters, number);
    const int64_t n = p->rows * p->cols;
    const float *gradient = c->gradient + p->start;
    if (p->rate == 0) {
        r->zero = 1; /* frozen: none is computed */
        return;
    }
    bool any = false;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const double change = (double)c->nudged[p->start + i] - (double)gradient[i];
        any |= gradient[i] != 0;
        sum += change * change;
    }
    c->gradient_rounding = sqrt(sum / (double)n);
    r->zero = !any;
    const bool own = is_own(c, p);
    const int64_t groups = !any || n <= ALONE ? 1 : own ? CLAMP(n / GROUP_OWN, 1, GROUPS_OWN) : GROUPS;
    for (int64_t g = 0; g < groups; g++)
        compare_group(c, number, p, n * g / groups, n * (g + 1) / groups, r);
    int64_t index[ALONE_OWN];
    const int alone = any ? choose_alone(c, number, gradient, n, own ? ALONE_OWN : ALONE, index) : 0;
    for (int i = 0; i < alone; i++) {
        const double one = 1;
        const motion m = {c, xlm_parameters_values(c->workspace->parameters) + p->start, 1, &index[i], &one};
        compare(&m, (double)gradient[index[i]], r);
        r->alone++;
    }
}

/* ---- the tables ---- */

static void print_row(const xlm_parameter *p, const result *r)
{
    char shape[32], largest[16] = "-";
    g_snprintf(shape, sizeof shape, "%" G_GINT64_FORMAT " x %" G_GINT64_FORMAT, p->rows, p->cols);
    if (r->unclear < r->alone + r->groups)
        g_snprintf(largest, sizeof largest, "%.1e", r->largest);
    printf("%-44s %14s %6.0f %7.0f %8.0f %9s", p->name, shape, r->alone, r->groups, r->unclear, largest);
    if (r->wrong > 0 && r->of == 1)
        printf("  WRONG at [%.0f, %.0f]: %.6g, not %.6g", floor(r->at / (double)p->cols), fmod(r->at, (double)p->cols), r->tape,
               r->difference);
    else if (r->wrong > 0)
        printf("  WRONG over %.0f elements from [%.0f, %.0f]: %.6g, not %.6g", r->of, floor(r->at / (double)p->cols),
               fmod(r->at, (double)p->cols), r->tape, r->difference);
    else if (r->zero != 0)
        printf("  none");
    putchar('\n');
}

/* Parameters of an objective's table. */
typedef struct summary {
    int gradients, lost, wrong; /* with one; those whose derivatives are all hidden by rounding; wrong ones */
    const char *worst;          /* the one with the largest error among these */
} summary;

static summary print_table(const checker *c, const result *results)
{
    const xlm_parameters *parameters = c->workspace->parameters;
    const xlm_job_objective *o = &c->job->objective[c->objective];
    summary s = {0};
    double largest = 0;
    printf("objective %s (plugin %s): loss %.6f of %" G_GINT64_FORMAT " terms, rounding %.1e\n", o->name, o->plugin,
           c->loss / weight_of(c), xlm_host_terms_of(c->workspace->host, c->objective, c->totals),
           c->rounding / fabs(weight_of(c)));
    printf("%-44s %14s %6s %7s %8s %9s\n", "gradient", "shape", "alone", "groups", "unclear", "error");
    for (int i = 0; i < xlm_parameters_count(parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(parameters, i);
        print_row(p, &results[i]);
        s.gradients += results[i].zero == 0;
        s.lost += results[i].zero == 0 && results[i].unclear >= results[i].alone + results[i].groups;
        s.wrong += results[i].wrong > 0;
        if (results[i].wrong > 0 && results[i].largest > largest) {
            largest = results[i].largest;
            s.worst = p->name;
        }
    }
    if (s.lost > 0)
        printf("%d gradients are completely lost in rounding: they could not be checked\n", s.lost);
    putchar('\n');
    return s;
}

/* A check that has compared nothing has also failed. */
static bool judge(const checker *c, const summary *s, GError **error)
{
    const char *name = c->job->objective[c->objective].name;
    if (s->wrong > 0)
        return xlm_error_set(error, EX_SOFTWARE, "objective %s: %d gradients differ from differences of the loss by more than %g "
                             "%%; most of all that of %s", name, s->wrong, 100 * TOLERANCE, s->worst);
    if (s->gradients == 0)
        return xlm_error_set(error, EX_SOFTWARE, "objective %s was not checked: no parameter that is trained has a gradient of "
                             "it", name);
    if (s->lost == s->gradients)
        return xlm_error_set(error, EX_SOFTWARE, "objective %s was not checked: rounding hides all of its %d gradients; use a "
                             "smaller model, or a loss of another magnitude", name, s->gradients);
    return true;
}

/* ---- one objective ---- */

static void announce(checker *c)
{
    const double begin = xlm_clock();
    pass(c, NULL);
    const double seconds = xlm_clock() - begin;
    char text[16];
    const int n = xlm_parameters_count(c->workspace->parameters);
    xlm_log_info("objective %s: up to %d comparisons of 12 passes each, %s a rank", c->job->objective[c->objective].name,
                 n * (ALONE + GROUPS), xlm_log_duration(seconds * 12 * n * (ALONE + GROUPS) / c->workspace->comm->ranks, text));
}

/* Does the step read nothing of the objective's stream? */
static bool is_unread(const checker *c)
{
    const int s = c->job->objective[c->objective].stream;
    return s >= 0 && xlm_stream_batch(c->workspace->streams->training[s], c->step) == 0;
}

/* The gradient, the loss and its rounding, in the unchanged model. */
static bool prepare(checker *c, GError **error)
{
    const xlm_workspace *w = c->workspace;
    const xlm_job_objective *o = &c->job->objective[c->objective];
    if (!find_input(c, error))
        return false;
    if (!has_terms(c) || weight_of(c) == 0)
        return xlm_error_set(error, EX_SOFTWARE, "objective %s was not checked: %s at step %" G_GINT64_FORMAT "%s", o->name,
                             weight_of(c) == 0 ? "it has a weight of 0" : "it has no terms", c->step + 1,
                             c->step < o->weight.begin ? "; set its begin = 0"
                             : is_unread(c)            ? "; set the batch of its stream to 1 or more"
                                                       : "");
    float *gradient = w->gradient;
    memset(gradient, 0, sizeof *gradient * (size_t)xlm_parameters_size(w->parameters));
    xlm_tape_constants(w->tape, XLM_CONSTANTS_KEEP);
    c->loss = pass(c, gradient);
    c->gradient = gradient;
    xlm_tape_constants(w->tape, XLM_CONSTANTS_REPEAT);
    const double again = pass(c, NULL);
    if (again != c->loss)
        return xlm_error_set(error, EX_SOFTWARE, "objective %s: two passes over one batch have losses %.9g and %.9g; state that "
                             "is kept from pass to pass must be declared (xlm_declare_state)", o->name, c->loss, again);
    c->rounding = measure_rounding(c);
    announce(c);
    return true;
}

static bool check_objective(checker *c, GError **error)
{
    const xlm_workspace *w = c->workspace;
    const int n = xlm_parameters_count(w->parameters);
    g_autofree result *results = g_new0(result, n);
    GError *failure = NULL;
    if (prepare(c, &failure))
        for (int i = w->comm->rank; i < n; i += w->comm->ranks)
            check_parameter(c, i, &results[i]);
    xlm_tape_constants(w->tape, XLM_CONSTANTS_FREE);
    xlm_host_copy_states(c->workspace->host, c->saved, true);
    if (xlm_comm_agree(w->comm, &failure)) {
        xlm_comm_merge_double(w->comm, (double *)results, n * RESULT);
        if (w->comm->rank == 0) {
            const summary s = print_table(c, results);
            judge(c, &s, &failure);
        }
        xlm_comm_agree(w->comm, &failure);
    }
    if (failure != NULL)
        g_propagate_error(error, failure);
    return failure == NULL;
}

bool xlm_check_gradients_has(const xlm_job *job, const char *name, GError **error)
{
    g_autoptr(GString) names = g_string_new("");
    bool has = name == NULL;
    for (int k = 0; k < job->objectives; k++) {
        has |= g_strcmp0(job->objective[k].name, name) == 0;
        g_string_append_printf(names, "%s%s", k > 0 ? ", " : "", job->objective[k].name);
    }
    if (!has)
        xlm_error_set(error, EX_USAGE, "--check-gradients=%s: the job has no objective of that name; it has %s", name,
                      names->str);
    return has;
}

bool xlm_check_gradients(const xlm_job *job, const xlm_workspace *workspace, int64_t step, const char *name, GError **error)
{
    GError *first = NULL;
    const char *kind = xlm_adapters_with_relu(&job->model.adapters);
    const bool relu = job->model.activation == XLM_RELU;
    if (kind != NULL || relu)
        xlm_log_warn("ReLU (%s = %s) has a kink at 0, where differences of the loss are not its derivative; a few gradients near "
                     "it may be called wrong that are right", relu ? "activation" : "kind", relu ? "relu" : kind);
    for (int k = 0; k < job->objectives; k++) {
        if (name != NULL && strcmp(job->objective[k].name, name) != 0)
            continue;
        checker c = {
            .job = job, .workspace = workspace, .step = step, .objective = k,
            .totals = g_new0(int64_t, xlm_host_means(workspace->host)),
            .sums = xlm_host_sums_new(workspace->host),
            .saved = g_malloc0(MAX(xlm_host_states_bytes(workspace->host), 1)),
            .nudged = g_new0(float, xlm_parameters_size(workspace->parameters)),
            .key = xlm_rng_make_key((uint64_t)job->train.seed, XLM_RNG_CHECK, (uint64_t)k),
        };
        GError *failure = NULL;
        xlm_arena_reset(workspace->arena);
        xlm_host_copy_states(workspace->host, c.saved, false);
        check_objective(&c, &failure);
        if (failure != NULL && first != NULL) {
            xlm_log_error("%s", failure->message);
            g_clear_error(&failure);
        } else if (failure != NULL) {
            first = failure;
        }
        g_free(c.nudged);
        g_free(c.totals);
        xlm_sums_free(&c.sums);
        g_free(c.saved);
    }
    if (first != NULL)
        g_propagate_error(error, first);
    return first == NULL;
}
