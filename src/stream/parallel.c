/* xlm-mpi: instances of the parallel text of one pair of languages. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/parallel.h"

#include "base/rng.h"
#include "corpus/sentence_offsets.h"
#include "stream/stream.h"

/* Pairs that are read at a time, when all are walked over and when one instance is looked for. */
enum { PASS = 65536, LOOK = 512 };

/* A walk over pairs [next, end). */
typedef struct walk {
    const xlm_parallel *of;
    int64_t next, end;
    int64_t kept, too_long, excluded, undrawn;
    int64_t first, held, capacity;     /* pairs [first, first + held) are at hand: */
    int64_t *links;                    /* [held x 2] */
    int64_t *starts[2], *tokens[2];    /* [held] where their sides lie */
} walk;

static walk begin(const xlm_parallel *of, int64_t first, int64_t end, int64_t capacity)
{
    capacity = MIN(capacity, end - first);
    walk w = {.of = of, .next = first, .end = end, .first = first, .capacity = capacity,
              .links = g_new(int64_t, 6 * capacity)};
    for (int side = 0; side < 2; side++) {
        w.starts[side] = w.links + (2 + side) * capacity;
        w.tokens[side] = w.links + (4 + side) * capacity;
    }
    return w;
}

/* Read on, from the pair that the walk has come to. */
static bool refill(walk *w, GError **error)
{
    const xlm_parallel *of = w->of;
    w->first = w->next;
    w->held = MIN(w->capacity, w->end - w->first);
    if (!xlm_corpus_read_links(of->corpus, of->pairs, w->first, w->held, w->links, error))
        return false;
    for (int side = 0; side < 2; side++)
        if (!xlm_corpus_sentence_offsets(of->corpus, of->text[side], w->held, w->links + of->column[side], w->starts[side],
                                  w->tokens[side], error))
            return false;
    return true;
}

/* Is a pair of the file in the share? */
static bool is_drawn(const xlm_parallel *of, int64_t pair)
{
    if (of->rules.share >= 1)
        return true;
    const xlm_rng_block block = xlm_rng_draw(xlm_rng_make_key(of->rules.seed, XLM_RNG_SHARE, 0), (uint32_t)pair,
                                             (uint32_t)(pair >> 32), (uint32_t)of->pairs->source->language_id,
                                             (uint32_t)of->pairs->target->language_id);
    return xlm_rng_unit(block.v[0]) < of->rules.share;
}

/* Is the pair that the walk has come to in, by its own? Counts it when it is not. */
static bool judge(walk *w, int64_t source, int64_t target)
{
    const xlm_parallel_rules *rules = &w->of->rules;
    if (!is_drawn(w->of, w->next)) {
        w->undrawn++;
        return false;
    }
    const int64_t shorter = MIN(source, target), longer = MAX(source, target);
    if (shorter == 0 || shorter < rules->least_side || (rules->most_pair > 0 && source + target > rules->most_pair)) {
        w->excluded++;
        return false;
    }
    if (rules->form == XLM_FORM_XLM ? longer + 2 > rules->length : source + target + 3 > rules->length) {
        w->too_long++;
        return false;
    }
    return true;
}

/* Come to the next pair that is in, without taking it: 1; 0 when there is none, -1 on error. [out] i: its place in the
 * arrays of the walk. */
static int seek(walk *w, int64_t *i, GError **error)
{
    for (; w->next < w->end; w->next++) {
        if (w->next >= w->first + w->held && !refill(w, error))
            return -1;
        *i = w->next - w->first;
        if (judge(w, w->tokens[0][*i], w->tokens[1][*i]))
            return 1;
    }
    return 0;
}

static void add_span(const walk *w, int64_t i, int side, GArray *spans)
{
    const xlm_span span = {.text = w->of->text[side], .start = w->starts[side][i],
                           .tokens = (int32_t)w->tokens[side][i]};
    g_array_append_val(spans, span);
}

/* Walk over one instance. [out] extent: where it is; a `unit` of -1 says that there was none left. [out] sides: the
 * spans of source and target are appended, unless NULL. */
static bool walk_instance(walk *w, xlm_extent *extent, GArray *sides[2], GError **error)
{
    const xlm_parallel_rules *rules = &w->of->rules;
    int64_t used[2] = {1, 1}, i; /* <s> */
    int found;
    *extent = (xlm_extent){.unit = -1};
    while ((found = seek(w, &i, error)) == 1) {
        const int64_t source = used[0] + w->tokens[0][i] + 1, target = used[1] + w->tokens[1][i] + 1; /* </s> */
        if (extent->unit >= 0 && (rules->form == XLM_FORM_BERT || MAX(source, target) > rules->length))
            break;
        used[0] = source;
        used[1] = target;
        for (int side = 0; side < 2 && sides != NULL; side++)
            add_span(w, i, side, sides[side]);
        if (extent->unit < 0)
            extent->unit = w->next;
        extent->end = ++w->next;
        w->kept++;
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
    parallel->kept = w.kept;
    parallel->too_long = w.too_long;
    parallel->excluded = w.excluded;
    parallel->undrawn = w.undrawn;
    if (!good)
        xlm_parallel_close(parallel);
    return good;
}

void xlm_parallel_close(xlm_parallel *parallel) { xlm_instances_clear(&parallel->instances); }

/* Append the spans of one side, which stands first or second. */
static void append_side(const xlm_parallel *parallel, const GArray *side, bool second, GArray *spans)
{
    for (guint i = 0; i < side->len; i++) {
        xlm_span span = g_array_index(side, xlm_span, i);
        span.side = second;
        span.opens = i == 0 && (!second || parallel->rules.form == XLM_FORM_XLM);
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
            append_side(parallel, sides[target_first ? 1 - place : place], place == 1, spans);
    g_free(w.links);
    for (int side = 0; side < 2; side++)
        g_array_free(sides[side], TRUE);
    return good;
}
