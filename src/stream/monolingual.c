/* xlm-mpi: instances of one language's monolingual text. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/monolingual.h"

#include <stddef.h>

#include "stream/stage.h"

/* Number of sentences whose offsets are read at a time: PASS in a walk over all sentences, LOOK to find one instance. */
enum { PASS = 65536, LOOK = 512 };

/* A walk over sentences [sentence, end). */
typedef struct walk {
    const xlm_monolingual *of;
    int64_t sentence, token, end; /* the next instance begins at this token of this sentence */
    int64_t cut;                  /* number of sentences that were cut so far */
    uint64_t *offsets;            /* [capacity + 1] those of sentences [first, first + held] are in memory */
    int64_t first, held, capacity;
} walk;

static walk begin(const xlm_monolingual *of, int64_t sentence, int64_t token, int64_t end, int64_t capacity)
{
    capacity = MIN(capacity, end - sentence);
    return (walk){.of = of, .sentence = sentence, .token = token, .end = end, .first = sentence, .capacity = capacity,
                  .offsets = g_new(uint64_t, capacity + 1)};
}

/* Read more offsets, beginning with those of the walk's present sentence. */
static bool refill(walk *w, GError **error)
{
    const xlm_corpus_text *text = w->of->text;
    w->first = w->sentence;
    w->held = MIN(w->capacity, w->end - w->first);
    return xlm_corpus_read_offsets(text, w->first, w->held + 1, w->offsets, error);
}

/* Number of tokens of the sentence that are not in an instance yet; -1 on error. */
static inline int64_t remaining(walk *w, GError **error)
{
    if (w->sentence >= w->first + w->held && !refill(w, error))
        return -1;
    const uint64_t *bounds = w->offsets + (w->sentence - w->first);
    return (int64_t)(bounds[1] - bounds[0]) - w->token;
}

static void add_span(const walk *w, int64_t tokens, GArray *spans)
{
    const xlm_span span = {.text = w->of->text, .start = (int64_t)w->offsets[w->sentence - w->first] + w->token,
                           .tokens = (int32_t)tokens, .language = w->of->text->language_id, .pair = -1};
    g_array_append_val(spans, span);
}

/* Walk over one instance. [out] extent: its place; `unit` is -1 if no instance is left. spans: NULL, or its spans are
 * appended. */
static bool walk_instance(walk *w, xlm_extent *extent, GArray *spans, GError **error)
{
    const int64_t length = w->of->length;
    int64_t used = 1; /* <s> */
    *extent = (xlm_extent){.unit = -1};
    while (w->sentence < w->end) {
        const int64_t left = remaining(w, error);
        if (left < 0)
            return false;
        const bool fits = used + left + 1 <= length; /* </s> */
        if (used > 1 && (!fits || !w->of->join))
            break;
        if (left > 0 && used == 1)
            *extent = (xlm_extent){.unit = w->sentence, .token = w->token};
        const int64_t taken = fits ? left : length - 2;
        if (taken > 0) {
            if (spans != NULL)
                add_span(w, taken, spans);
            used += taken + 1;
            extent->words += taken;
            extent->tokens = used;
            extent->end = w->sentence + 1;
        }
        w->cut += !fits && w->token == 0;
        if (!fits && !w->of->first_part) {
            w->token += taken;
            break;
        }
        w->sentence++;
        w->token = 0;
        if (!fits)
            break;
    }
    return true;
}

bool xlm_monolingual_open(xlm_monolingual *monolingual, const xlm_corpus_text *text, int64_t length, bool join, bool first_part,
                          GError **error)
{
    *monolingual = (xlm_monolingual){.text = text, .length = length, .join = join, .first_part = first_part};
    xlm_instances_init(&monolingual->instances);
    uint64_t tokens = 0;
    walk w = begin(monolingual, 0, 0, text->monolingual_sentences, PASS);
    xlm_extent extent;
    bool good;
    while ((good = walk_instance(&w, &extent, NULL, error)) && extent.unit >= 0)
        xlm_instances_add(&monolingual->instances, &extent);
    good = good && xlm_corpus_read_offsets(text, text->monolingual_sentences, 1, &tokens, error);
    g_free(w.offsets);
    monolingual->tokens = (int64_t)tokens;
    monolingual->cut = w.cut;
    if (!good)
        xlm_monolingual_close(monolingual);
    return good;
}

void xlm_monolingual_close(xlm_monolingual *monolingual) { xlm_instances_clear(&monolingual->instances); }

bool xlm_monolingual_find(const xlm_monolingual *monolingual, int64_t instance, GArray *spans, GError **error)
{
    const xlm_block *block = xlm_instances_find(&monolingual->instances, instance);
    walk w = begin(monolingual, block->unit, block->token, block->end, LOOK);
    xlm_extent extent;
    bool good = true;
    for (int64_t i = block->instance; i <= instance && good; i++)
        good = walk_instance(&w, &extent, i == instance ? spans : NULL, error);
    g_free(w.offsets);
    return good;
}

/* ---- the stage ---- */

typedef struct options {
    bool join;
} options;

static const xlm_option monolingual_options[] = {
    {"join_sentences", XLM_OPTION_FLAG, "true", 0, 0, NULL,
     "type monolingual: an instance has as many sentences as there is room for; false: one", offsetof(options, join)},
    XLM_OPTION_END,
};

static bool check(const void *pointer, bool chosen, const char *stream, GError **error)
{
    const options *o = pointer;
    return chosen || o->join ||
           xlm_error_set(error, EX_CONFIG, "[stream %s]: join_sentences is about monolingual text; remove it, or set type = "
                         "monolingual", stream);
}

static char **list(const xlm_corpus *corpus, xlm_split split)
{
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();
    int n;
    const xlm_corpus_text *texts = xlm_corpus_texts(corpus, split, &n);
    for (int i = 0; i < n; i++)
        if (texts[i].monolingual_sentences > 0)
            g_strv_builder_add(names, texts[i].language);
    return g_strv_builder_end(names);
}

static const char *find_name(const xlm_corpus *corpus, xlm_split split, const char *name)
{
    const xlm_corpus_text *text = xlm_corpus_find_text(corpus, split, name);
    return text != NULL && text->monolingual_sentences > 0 ? text->language : NULL;
}

static bool open_component(const xlm_opening *o, const char *name, xlm_component *component, GError **error)
{
    const options *own = o->spans_options;
    xlm_monolingual *m = g_new(xlm_monolingual, 1);
    const xlm_corpus_text *text = xlm_corpus_find_text(o->from, o->split, name);
    const bool token = xlm_language_token(xlm_vocabulary_specials(o->vocabulary), text->language_id) >= 0;
    if (!xlm_monolingual_open(m, text, o->length, own->join, token, error)) {
        g_free(m);
        return false;
    }
    component->instances = m->instances.count;
    component->share = (double)m->tokens;
    component->lengths = m->instances.lengths;
    component->index_bytes = xlm_instances_bytes(&m->instances);
    component->spans = m;
    return true;
}

static void close_component(void *spans)
{
    xlm_monolingual_close(spans);
    g_free(spans);
}

static bool find(const void *spans, int64_t instance, const xlm_draws *draws, GArray *into, GError **error)
{
    (void)draws;
    return xlm_monolingual_find(spans, instance, into, error);
}

static void describe(const GArray *components, GString *out)
{
    int64_t cut[2] = {0, 0}; /* into pieces, of which all or the first are taken */
    for (guint i = 0; i < components->len; i++) {
        const xlm_monolingual *m = g_array_index(components, xlm_component, i).spans;
        cut[m->first_part] += m->cut;
    }
    if (cut[false] > 0)
        g_string_append_printf(out, "; sentences cut into pieces: %" G_GINT64_FORMAT, cut[false]);
    if (cut[true] > 0)
        g_string_append_printf(out, "; sentences whose end is left out: %" G_GINT64_FORMAT, cut[true]);
}

extern const xlm_stage_class xlm_stage_text_source;

const xlm_stage_class xlm_stage_monolingual_spans = {
    .kind = XLM_STAGE_SPANS,
    .name = "monolingual",
    .options = monolingual_options,
    .options_size = sizeof(options),
    .check = check,
    .spans = {.source = &xlm_stage_text_source, .list = list, .find_name = find_name,
              .absent = "give xlm_prep some with --mono, or set type = parallel", .empty = "its sentences are empty",
              .open = open_component, .close = close_component, .find = find, .describe = describe},
};
