/* xlm-mpi: instances of the parallel text of one pair of languages. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/parallel.h"

#include <stddef.h>

#include "base/rng.h"
#include "corpus/corpus.h"

/* Number of pairs that are read at a time: PASS in a walk over all pairs, LOOK to find one instance. */
enum { PASS = 65536, LOOK = 512 };

/* A walk over pairs [next, end). */
typedef struct walk {
    const xlm_parallel *of;
    int64_t next, end;
    int64_t taken, too_long, excluded, undrawn;
    int64_t first, held, capacity;     /* pairs [first, first + held) are in memory, with */
    int64_t *links;                    /* [held x 2] their links, and */
    int64_t *starts[2], *tokens[2];    /* [held] first token and number of tokens of their sides */
} walk;

static walk begin(const xlm_parallel *of, int64_t first, int64_t end, int64_t capacity)
{
    capacity = MIN(capacity, end - first);
    walk w = {.of = of, .next = first, .end = end, .first = first, .capacity = capacity};
    w.links = g_new(int64_t, 6 * capacity);
    for (int side = 0; side < 2; side++) {
        w.starts[side] = w.links + (2 + side) * capacity;
        w.tokens[side] = w.links + (4 + side) * capacity;
    }
    return w;
}

/* Read more pairs, beginning with the walk's present pair. */
static bool refill(walk *w, GError **error)
{
    const xlm_parallel *of = w->of;
    w->first = w->next;
    w->held = MIN(w->capacity, w->end - w->first);
    if (!xlm_corpus_read_links(of->corpus, of->pairs, w->first, w->held, w->links, error))
        return false;
    for (int side = 0; side < 2; side++)
        if (!xlm_corpus_sentence_offsets(of->text[side], w->held, w->links + of->column[side], w->starts[side],
                                         w->tokens[side], error))
            return false;
    return true;
}

/* Does the pair with this number belong to the share? */
static bool is_drawn(const xlm_parallel *of, int64_t pair)
{
    if (of->rules.share >= 1)
        return true;
    const xlm_rng_block block = xlm_rng_draw(xlm_rng_make_key(of->rules.seed, XLM_RNG_SHARE, 0), (uint32_t)pair,
                                             (uint32_t)(pair >> 32), (uint32_t)of->pairs->source->language_id,
                                             (uint32_t)of->pairs->target->language_id);
    return xlm_rng_unit(block.v[0]) < of->rules.share;
}

/* Is there room for these tokens on both sides, and for the </s> of each sentence? */
static bool fits(const xlm_parallel_rules *rules, int64_t source, int64_t target, int64_t pairs)
{
    return rules->layout->layout.fits((const int64_t[]){source + pairs, target + pairs}, rules->length);
}

/* May the present pair of the walk be in an instance? If not, counts the reason. */
static bool is_wanted(walk *w, int64_t source, int64_t target)
{
    const xlm_parallel_rules *rules = &w->of->rules;
    if (!is_drawn(w->of, w->next)) {
        w->undrawn++;
        return false;
    }
    const int64_t shorter = MIN(source, target);
    if (shorter == 0 || shorter < rules->least_side || (rules->most_pair > 0 && source + target > rules->most_pair)) {
        w->excluded++;
        return false;
    }
    if (!fits(rules, source, target, 1)) {
        w->too_long++;
        return false;
    }
    return true;
}

/* Go to the next pair that may be in an instance, without taking it. Returns 1; 0 if there is none; -1 on error. [out] i: its
 * index in the walk's arrays. */
static int seek(walk *w, int64_t *i, GError **error)
{
    for (; w->next < w->end; w->next++) {
        if (w->next >= w->first + w->held && !refill(w, error))
            return -1;
        *i = w->next - w->first;
        if (is_wanted(w, w->tokens[0][*i], w->tokens[1][*i]))
            return 1;
    }
    return 0;
}

static void add_span(const walk *w, int64_t i, int side, GArray *spans)
{
    const xlm_span span = {.text = w->of->text[side], .start = w->starts[side][i],
                           .tokens = (int32_t)w->tokens[side][i], .language = w->of->text[side]->language_id,
                           .pair = w->next};
    g_array_append_val(spans, span);
}

/* Walk over one instance. [out] extent: its place; `unit` is -1 if no instance is left. sides: NULL, or the spans of source and
 * target are appended. */
static bool walk_instance(walk *w, xlm_extent *extent, GArray *sides[2], GError **error)
{
    const xlm_parallel_rules *rules = &w->of->rules;
    int64_t used[2] = {0}, pairs = 0, i;
    int found;
    *extent = (xlm_extent){.unit = -1};
    while ((found = seek(w, &i, error)) == 1) {
        const int64_t source = used[0] + w->tokens[0][i], target = used[1] + w->tokens[1][i];
        if (pairs > 0 && (!rules->layout->layout.several || !fits(rules, source, target, pairs + 1)))
            break;
        pairs++;
        used[0] = source;
        used[1] = target;
        extent->words = source + target;
        extent->tokens = source + target + 2 * pairs + (rules->layout->layout.longest != NULL ? 2 : 1); /* a <s> for each half */
        for (int side = 0; side < 2 && sides != NULL; side++)
            add_span(w, i, side, sides[side]);
        if (extent->unit < 0)
            extent->unit = w->next;
        extent->end = ++w->next;
        w->taken++;
    }
    return found >= 0;
}

bool xlm_parallel_open(xlm_parallel *parallel, const xlm_corpus *corpus, const xlm_corpus_pairs *pairs, bool swapped,
                       const xlm_parallel_rules *rules, GError **error)
{
    *parallel = (xlm_parallel){.corpus = corpus, .pairs = pairs, .rules = *rules};
    for (int side = 0; side < 2; side++) {
        parallel->column[side] = swapped ? 1 - side : side;
        parallel->text[side] = parallel->column[side] == 0 ? pairs->source : pairs->target;
    }
    xlm_instances_init(&parallel->instances);
    walk w = begin(parallel, 0, pairs->pairs, PASS);
    xlm_extent extent;
    bool good;
    while ((good = walk_instance(&w, &extent, NULL, error)) && extent.unit >= 0)
        xlm_instances_add(&parallel->instances, &extent);
    g_free(w.links);
    parallel->taken = w.taken;
    parallel->too_long = w.too_long;
    parallel->excluded = w.excluded;
    parallel->undrawn = w.undrawn;
    if (!good)
        xlm_parallel_close(parallel);
    return good;
}

void xlm_parallel_close(xlm_parallel *parallel) { xlm_instances_clear(&parallel->instances); }

/* Append the spans of one side as the first or the second side. */
static void append_side(const GArray *side, bool second, GArray *spans)
{
    for (guint i = 0; i < side->len; i++) {
        xlm_span span = g_array_index(side, xlm_span, i);
        span.side = second;
        g_array_append_val(spans, span);
    }
}

bool xlm_parallel_find(const xlm_parallel *parallel, int64_t instance, bool target_first, GArray *spans,
                       GError **error)
{
    const xlm_block *block = xlm_instances_find(&parallel->instances, instance);
    GArray *sides[2];
    for (int side = 0; side < 2; side++)
        sides[side] = g_array_new(FALSE, FALSE, sizeof(xlm_span));
    walk w = begin(parallel, block->unit, block->end, LOOK);
    xlm_extent extent;
    bool good = true;
    for (int64_t i = block->instance; i <= instance && good; i++)
        good = walk_instance(&w, &extent, i == instance ? sides : NULL, error);
    if (good)
        for (int place = 0; place < 2; place++)
            append_side(sides[target_first ? 1 - place : place], place == 1, spans);
    g_free(w.links);
    for (int side = 0; side < 2; side++)
        g_array_free(sides[side], TRUE);
    return good;
}

/* ---- the stage ---- */

typedef struct options {
    bool shuffle_sides;
    double share;
    int64_t least_side, most_pair;
} options;

static const xlm_option parallel_options[] = {
    {"shuffle_sides", XLM_OPTION_FLAG, "false", 0, 0, NULL,
     "type parallel: draw for each instance which side comes first (PPA); false: always the source",
     offsetof(options, shuffle_sides)},
    {"share", XLM_OPTION_REAL, "1", 0, 1, NULL,
     "type parallel: share of the pairs that is read in training, drawn once with the seed (ALIGN-MLM: 0.01, 0.1, 0.25, 1); a "
     "smaller one is part of a larger one", offsetof(options, share)},
    {"least_side", XLM_OPTION_INT, "0", 0, 65536, NULL,
     "type parallel: minimum number of subwords of each side; pairs with fewer are left out (PPA: 10); 0: no bound",
     offsetof(options, least_side)},
    {"most_pair", XLM_OPTION_INT, "0", 0, 131072, NULL,
     "type parallel: maximum number of subwords of both sides together; pairs with more are left out (PPA: 128); 0: no bound",
     offsetof(options, most_pair)},
    XLM_OPTION_END,
};

static bool check(const void *pointer, bool chosen, const char *stream, GError **error)
{
    const options *o = pointer;
    if (!chosen && (o->shuffle_sides || o->share < 1 || o->least_side > 0 || o->most_pair > 0))
        return xlm_error_set(error, EX_CONFIG, "[stream %s]: shuffle_sides, share, least_side and most_pair are about pairs; set "
                             "type = parallel", stream);
    return o->share > 0 || xlm_error_set(error, EX_CONFIG, "[stream %s]: a share of 0 leaves no pair; take share in (0, 1]",
                                         stream);
}

static char **list(const xlm_corpus *corpus, xlm_split split)
{
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();
    int n;
    const xlm_corpus_pairs *pairs = xlm_corpus_all_pairs(corpus, split, &n);
    for (int i = 0; i < n; i++)
        g_strv_builder_add(names, pairs[i].name);
    return g_strv_builder_end(names);
}

static const char *find_name(const xlm_corpus *corpus, xlm_split split, const char *name)
{
    const xlm_corpus_pairs *pairs = xlm_corpus_find_pairs(corpus, split, name, NULL);
    return pairs != NULL ? pairs->name : NULL;
}

static bool open_component(const xlm_opening *opening, const char *name, xlm_component *component, GError **error)
{
    const options *o = opening->spans_options;
    bool swapped;
    const xlm_corpus_pairs *pairs = xlm_corpus_find_pairs(opening->from, opening->split, name, &swapped);
    const xlm_parallel_rules rules = {
        .layout = opening->layout, .length = opening->length, .least_side = o->least_side, .most_pair = o->most_pair,
        .share = opening->split == XLM_TRAIN ? o->share : 1, .seed = opening->seed,
    };
    xlm_parallel *p = g_new(xlm_parallel, 1);
    if (!xlm_parallel_open(p, opening->from, pairs, swapped, &rules, error)) {
        g_free(p);
        return false;
    }
    p->shuffle_sides = o->shuffle_sides;
    component->instances = p->instances.count;
    component->share = (double)p->taken;
    component->lengths = p->instances.lengths;
    component->index_bytes = xlm_instances_bytes(&p->instances);
    component->spans = p;
    return true;
}

static void close_component(void *spans)
{
    xlm_parallel_close(spans);
    g_free(spans);
}

static bool find(const void *spans, int64_t instance, const xlm_draws *draws, GArray *into, GError **error)
{
    const xlm_parallel *p = spans;
    const bool target_first = p->shuffle_sides && (xlm_draws_of_instance(draws, xlm_draws_key(draws, XLM_RNG_PAIR)).v[0] & 1);
    return xlm_parallel_find(p, instance, target_first, into, error);
}

static void describe(const GArray *components, GString *out)
{
    int64_t taken = 0, too_long = 0, excluded = 0, undrawn = 0;
    for (guint i = 0; i < components->len; i++) {
        const xlm_parallel *p = g_array_index(components, xlm_component, i).spans;
        taken += p->taken;
        too_long += p->too_long;
        excluded += p->excluded;
        undrawn += p->undrawn;
    }
    g_string_append_printf(out, ", %" G_GINT64_FORMAT " pairs; left out: %" G_GINT64_FORMAT " too long, %" G_GINT64_FORMAT
                           " by the bounds on their sides", taken, too_long, excluded);
    if (undrawn > 0)
        g_string_append_printf(out, ", %" G_GINT64_FORMAT " outside the share", undrawn);
}

extern const xlm_stage_class xlm_stage_text_source;

const xlm_stage_class xlm_stage_parallel_spans = {
    .kind = XLM_STAGE_SPANS,
    .name = "parallel",
    .options = parallel_options,
    .options_size = sizeof(options),
    .check = check,
    .spans = {.source = &xlm_stage_text_source, .pairs = true, .list = list, .find_name = find_name,
              .absent = "give xlm_prep some with --para",
              .empty = "raise length, most_pair or share, or lower least_side", .open = open_component, .close = close_component,
              .find = find, .describe = describe},
};
