/* xlm-mpi: which instance of which component comes when. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/sampler.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "options/piecewise.h"
#include "stream/batch_sizes.h"

/* Consecutive draws with the same components, whose α is linear in the step. */
typedef struct spell {
    int64_t step, first;  /* its first step and draw */
    int64_t run;          /* number of its first run, over all spells */
    bool constant;        /* α is the same in all of its runs */
    int64_t *before;      /* [components] draws of each before the spell; NULL: not counted yet */
} spell;

struct xlm_sampler {
    int components;
    double *share;
    int64_t *instances, *begins;
    xlm_piecewise *alpha; /* NULL: 1 */
    xlm_piecewise *draws; /* of each step */
    uint64_t seed;
    uint32_t stream;
    GArray *spells;
    /* The run that was asked for last: */
    int spell;            /* -1: none yet */
    int64_t place;        /* of the run in the spell */
    int32_t *quota;
    int64_t *before;      /* [components] draws of each before the run */
    int32_t *shown;       /* [components] quotas that were asked for */
    int64_t laid_out;     /* the run whose order is in memory; -1: none */
    int64_t laid_draws;   /* how many of its draws */
    uint16_t *owner;      /* [XLM_SAMPLER_RUN] the component of each slot of the permutation */
    int32_t *seen;        /* [components] how many of these draws are of each */
    uint16_t *component;  /* [XLM_SAMPLER_RUN] of each draw of that run */
    uint16_t *rank;       /* [XLM_SAMPLER_RUN] how many earlier draws of the run are from the same component */
};

static spell *spell_at(const xlm_sampler *s, int i) { return &g_array_index(s->spells, spell, i); }

/* ---- quotas ---- */

/* Smaller differences between remainders are ignored, so that quotas do not depend on how a machine rounds pow(). */
static const double rounding = 1e-6;

/* left: the number of draws that the quotas lack. Give one to each of the largest remainders; or, if it is negative because every
 * component gets at least one, take draws from the largest quotas. */
static void distribute_rest(int n, int32_t *quota, double *remainder, int64_t left)
{
    for (; left > 0; left--) {
        int largest = 0;
        for (int i = 1; i < n; i++)
            if (remainder[i] > remainder[largest] + rounding)
                largest = i;
        quota[largest]++;
        remainder[largest] = -1;
    }
    for (; left < 0; left++) {
        int largest = 0;
        for (int i = 1; i < n; i++)
            if (quota[i] > quota[largest])
                largest = i;
        quota[largest]--;
    }
}

/* begins: the components that begin later than `step` have none. */
static void set_quotas(int n, const double *share, const int64_t *instances, const int64_t *begins, int64_t step, double alpha,
                       int32_t *quota)
{
    double *weight = g_new(double, n), total = 0;
    for (int i = 0; i < n; i++)
        total += weight[i] = instances[i] > 0 && begins[i] <= step ? pow(share[i], alpha) : 0;
    int64_t left = XLM_SAMPLER_RUN;
    for (int i = 0; i < n; i++) {
        const double exact = XLM_SAMPLER_RUN * (weight[i] / total);
        quota[i] = (int32_t)(exact + rounding);
        weight[i] = exact - quota[i]; /* now the remainder */
        if (instances[i] == 0 || begins[i] > step)
            weight[i] = -1;
        else if (quota[i] == 0) {
            quota[i] = 1;
            weight[i] = -1;
        }
        left -= quota[i];
    }
    distribute_rest(n, quota, weight, left);
    g_free(weight);
}

/* ---- orders ---- */

/* The key for draws of one purpose in one run or epoch, for this stream and, if there is one, this component. */
static xlm_rng_key key_of(const xlm_sampler *s, xlm_rng_purpose purpose, int64_t number, int component)
{
    const xlm_rng_key key = xlm_rng_make_key(s->seed, purpose, (uint64_t)number);
    const xlm_rng_block b = xlm_rng_draw(key, s->stream, (uint32_t)component, 0, 0x73616d70u);
    return (xlm_rng_key){{b.v[0], b.v[1]}};
}

/* Compute the order of the run's first draws: assign the slots of a permutation to components by quota, and count the earlier draws
 * of each. Short runs need few of them, and all take milliseconds. */
static void lay_out(xlm_sampler *s, int64_t run, int64_t draws)
{
    if (s->laid_out != run) {
        for (int i = 0, slot = 0; i < s->components; i++) {
            for (int q = 0; q < s->quota[i]; q++)
                s->owner[slot++] = (uint16_t)i;
            s->seen[i] = 0;
        }
        s->laid_out = run;
        s->laid_draws = 0;
    }
    if (draws <= s->laid_draws)
        return;
    const xlm_rng_key key = key_of(s, XLM_RNG_LANGUAGE, run, 0);
    for (int64_t j = s->laid_draws; j < draws; j++) {
        s->component[j] = s->owner[xlm_rng_permute(key, (uint64_t)j, XLM_SAMPLER_RUN)];
        s->rank[j] = (uint16_t)s->seen[s->component[j]]++;
    }
    s->laid_draws = draws;
}

/* ---- runs ---- */

static double alpha_at(const xlm_sampler *s, int64_t step) { return s->alpha != NULL ? xlm_piecewise_at(s->alpha, step) : 1; }

/* The quotas of the run at a place of a spell. */
static void set_run_quotas(const xlm_sampler *s, const spell *in, int64_t place, int32_t *quota)
{
    const int64_t step = in->constant ? in->step : xlm_batch_sizes_step_of(s->draws, in->first + place * XLM_SAMPLER_RUN);
    set_quotas(s->components, s->share, s->instances, s->begins, in->step, alpha_at(s, step), quota);
}

static void go_to(xlm_sampler *s, int number, int64_t place);

/* Count the draws before a spell: those of the whole runs of the one before it, and of the part of a run at its end. */
static void count_before(xlm_sampler *s, int number)
{
    spell *to = spell_at(s, number);
    int64_t *before = g_new0(int64_t, s->components);
    if (number > 0) {
        const spell *previous = spell_at(s, number - 1);
        const int64_t draws = to->first - previous->first, whole = draws / XLM_SAMPLER_RUN, rest = draws % XLM_SAMPLER_RUN;
        go_to(s, number - 1, whole);
        memcpy(before, s->before, sizeof *before * (size_t)s->components);
        if (rest > 0) /* else it has no such run: its number is that of the next spell's first */
            lay_out(s, previous->run + whole, rest);
        for (int64_t j = 0; j < rest; j++)
            before[s->component[j]]++;
    }
    to->before = before;
}

/* Make a run of a spell, from its place 0 on, the present one. Runs before it count with their own quotas. */
static void go_to(xlm_sampler *s, int number, int64_t place)
{
    const spell *to = spell_at(s, number);
    for (int i = 0; i <= number; i++) /* one after another, so that none waits for many */
        if (spell_at(s, i)->before == NULL)
            count_before(s, i);
    if (s->spell != number || place < s->place) {
        s->spell = number;
        s->place = 0;
        memcpy(s->before, to->before, sizeof *s->before * (size_t)s->components);
        set_run_quotas(s, to, 0, s->quota);
    }
    while (s->place < place) {
        const int64_t runs = to->constant ? place - s->place : 1;
        for (int i = 0; i < s->components; i++)
            s->before[i] += runs * s->quota[i];
        s->place += runs;
        if (!to->constant)
            set_run_quotas(s, to, s->place, s->quota);
    }
}

/* ---- spells ---- */

static int compare_steps(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Append a spell from a step to before the next one. */
static void add_spell(xlm_sampler *s, int64_t step, int64_t next)
{
    spell one = {.step = step, .first = xlm_batch_sizes_before(s->draws, step)};
    one.constant = !(fabs(alpha_at(s, step) - alpha_at(s, next == G_MAXINT64 ? next : next - 1)) > 0);
    if (s->spells->len > 0) {
        const spell *previous = spell_at(s, (int)s->spells->len - 1);
        one.run = previous->run + (one.first - previous->first + XLM_SAMPLER_RUN - 1) / XLM_SAMPLER_RUN;
    }
    g_array_append_val(s->spells, one);
}

/* Does α change from a point of its list on? It does not where it stays for a step more, before it jumps, nor at the first point,
 * whose value it has before. */
static bool turns_at(const xlm_piecewise *alpha, int64_t i)
{
    const xlm_piecewise_point *p = &alpha->point[i];
    const bool stays = i == 0 || !(fabs(p->value - p[-1].value) > 0);
    return !stays || (i + 1 < alpha->points && p[1].step > p->step + 1 && fabs(p[1].value - p->value) > 0);
}

static void divide(xlm_sampler *s)
{
    const int64_t zero = 0;
    g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(int64_t));
    g_array_append_val(steps, zero);
    for (int i = 0; i < s->components; i++)
        g_array_append_val(steps, s->begins[i]);
    for (int64_t i = 0; s->alpha != NULL && i < s->alpha->points; i++)
        if (turns_at(s->alpha, i))
            g_array_append_val(steps, s->alpha->point[i].step);
    g_array_sort(steps, compare_steps);
    const int64_t *step = (const int64_t *)(const void *)steps->data;
    for (guint i = 0, next; i < steps->len; i = next) {
        for (next = i + 1; next < steps->len && step[next] == step[i];)
            next++;
        add_spell(s, step[i], next < steps->len ? step[next] : G_MAXINT64);
    }
}

static void clear_spell(void *pointer) { g_free(((spell *)pointer)->before); }

xlm_sampler *xlm_sampler_new(int components, const double *share, const int64_t *instances, const xlm_sampler_schedule *schedule,
                             uint64_t seed, uint32_t stream)
{
    xlm_sampler *s = g_new0(xlm_sampler, 1);
    s->components = components;
    s->share = g_memdup2(share, sizeof *share * (size_t)components);
    s->instances = g_memdup2(instances, sizeof *instances * (size_t)components);
    s->begins = g_new0(int64_t, components);
    if (schedule->begins != NULL)
        memcpy(s->begins, schedule->begins, sizeof *s->begins * (size_t)components);
    if (schedule->alpha != NULL)
        s->alpha = xlm_piecewise_new(schedule->alpha->point, schedule->alpha->points);
    s->draws = xlm_piecewise_new(schedule->draws->point, schedule->draws->points);
    s->quota = g_new(int32_t, components);
    s->before = g_new0(int64_t, components);
    s->shown = g_new(int32_t, components);
    s->seed = seed;
    s->stream = stream;
    s->spell = -1;
    s->laid_out = -1;
    s->owner = g_new(uint16_t, XLM_SAMPLER_RUN);
    s->seen = g_new(int32_t, components);
    s->component = g_new(uint16_t, XLM_SAMPLER_RUN);
    s->rank = g_new(uint16_t, XLM_SAMPLER_RUN);
    s->spells = g_array_new(FALSE, FALSE, sizeof(spell));
    g_array_set_clear_func(s->spells, clear_spell);
    divide(s);
    return s;
}

void xlm_sampler_free(xlm_sampler *sampler)
{
    if (sampler == NULL)
        return;
    g_array_unref(sampler->spells);
    g_free(sampler->share);
    g_free(sampler->instances);
    g_free(sampler->begins);
    g_free(sampler->alpha);
    g_free(sampler->draws);
    g_free(sampler->quota);
    g_free(sampler->before);
    g_free(sampler->shown);
    g_free(sampler->owner);
    g_free(sampler->seen);
    g_free(sampler->component);
    g_free(sampler->rank);
    g_free(sampler);
}

int xlm_sampler_spells(const xlm_sampler *sampler) { return (int)sampler->spells->len; }

int64_t xlm_sampler_spell_begins(const xlm_sampler *sampler, int number) { return spell_at(sampler, number)->step; }

const int32_t *xlm_sampler_quotas(xlm_sampler *sampler, int number)
{
    set_run_quotas(sampler, spell_at(sampler, number), 0, sampler->shown);
    return sampler->shown;
}

void xlm_sampler_draw(xlm_sampler *s, int64_t k, int *component, int64_t *instance)
{
    int number = (int)s->spells->len - 1;
    while (spell_at(s, number)->first > k)
        number--;
    const int64_t in_spell = k - spell_at(s, number)->first, run = in_spell / XLM_SAMPLER_RUN, place = in_spell % XLM_SAMPLER_RUN;
    go_to(s, number, run);
    lay_out(s, spell_at(s, number)->run + run, place + 1);
    *component = s->component[place];
    const int64_t n = s->instances[*component], m = s->before[*component] + s->rank[place];
    const xlm_rng_key epoch = key_of(s, XLM_RNG_ORDER, m / n, *component);
    *instance = (int64_t)xlm_rng_permute(epoch, (uint64_t)(m % n), (uint64_t)n);
}
