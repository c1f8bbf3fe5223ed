/* xlm-mpi: the source that reads text of a corpus. SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>

#include "base/log.h"
#include "stream/sampler.h"
#include "stream/stream.h"

typedef struct options {
    char **languages; /* NULL: all of the corpus */
    xlm_piecewise *alpha;
} options;

static const xlm_option text_options[] = {
    {"languages", XLM_OPTION_LIST, "", 0, 0, NULL,
     "languages that are read (en,de) or, for type parallel, pairs (de-en,fr-en), source first; all of the corpus when empty; "
     "NAME@STEP is drawn from this step on, and * are all that are not named (en,de,*@100000)",
     offsetof(options, languages)},
    {"alpha", XLM_OPTION_PIECEWISE, "0.7", 0, 1, NULL,
     "exponent of the draw: languages are drawn in proportion to their share of the tokens (pairs: of the pairs) to this power; "
     "a list STEP:EXPONENT,... is linear between its steps, with STEP=EXPONENT where it jumps",
     offsetof(options, alpha)},
    XLM_OPTION_END,
};

typedef struct text_source {
    const xlm_corpus *corpus;
    char **languages; /* as requested; NULL: all */
    int64_t *begins;  /* the first step of each */
    GArray *buffer;   /* int32_t, scratch of a read */
} text_source;

/* A language that is requested, NAME@STEP or NAME; * stands for all that are not named. */
static bool take_language(const xlm_opening *o, char *const *all, const char *item, GPtrArray *names, GArray *begins,
                          GError **error)
{
    const char *at = strchr(item, '@');
    guint64 step = 0;
    if (at != NULL && !g_ascii_string_to_unsigned(at + 1, 10, 0, 1000000000000, &step, NULL))
        return xlm_error_set(error, EX_CONFIG, "[stream %s]: languages: %s: not NAME@STEP, with a step from 0 on", o->stream,
                             item);
    g_autofree char *name = at != NULL ? g_strndup(item, (gsize)(at - item)) : g_strdup(item);
    if (strcmp(name, "*") != 0) {
        g_ptr_array_add(names, g_steal_pointer(&name));
        g_array_append_val(begins, step);
        return true;
    }
    g_auto(GStrv) there = o->spans->spans.list(o->from, o->split);
    for (char **other = there; *other != NULL; other++) {
        bool named = false;
        for (char *const *one = all; *one != NULL && !named; one++) {
            g_autofree char *alone = g_strndup(*one, strcspn(*one, "@"));
            named = g_strcmp0(o->spans->spans.find_name(o->from, o->split, alone), *other) == 0;
        }
        if (!named) {
            g_ptr_array_add(names, g_strdup(*other));
            g_array_append_val(begins, step);
        }
    }
    return true;
}

static bool take_languages(const xlm_opening *opening, char *const *items, text_source *s, GError **error)
{
    GPtrArray *names = g_ptr_array_new();
    g_autoptr(GArray) begins = g_array_new(FALSE, FALSE, sizeof(guint64));
    bool good = true;
    for (char *const *item = items; *item != NULL && good; item++)
        good = take_language(opening, items, *item, names, begins, error);
    g_ptr_array_add(names, NULL);
    s->languages = (char **)g_ptr_array_free(names, FALSE);
    s->begins = g_memdup2(begins->data, begins->len * sizeof(int64_t));
    return good;
}

static bool text_open(xlm_opening *opening, const void *pointer, void **stage, GError **error)
{
    const options *o = pointer;
    text_source *s = g_new0(text_source, 1);
    s->corpus = opening->from;
    if (o->languages != NULL && !take_languages(opening, o->languages, s, error)) {
        g_strfreev(s->languages);
        g_free(s->begins);
        g_free(s);
        return false;
    }
    s->buffer = g_array_new(FALSE, FALSE, sizeof(int32_t));
    opening->vocabulary = xlm_corpus_vocabulary(s->corpus);
    opening->digest = xlm_corpus_digest(s->corpus);
    opening->languages = s->languages;
    opening->alpha = o->alpha;
    *stage = s;
    return true;
}

static void text_close(void *stage)
{
    text_source *s = stage;
    g_strfreev(s->languages);
    g_free(s->begins);
    g_array_unref(s->buffer);
    g_free(s);
}

/* ---- components ---- */

static bool refuse_absent(const xlm_opening *o, const char *wanted, GError **error)
{
    const xlm_spans_functions *spans = &o->spans->spans;
    const xlm_corpus *corpus = o->from;
    const bool held_out = o->split == XLM_HELD_OUT;
    const char *where = held_out ? " in its held-out part" : "";
    if (wanted == NULL)
        return xlm_error_set(error, EX_CONFIG, "[stream %s]: %s has no %s text%s; %s", o->stream, xlm_corpus_path(corpus),
                             o->spans->name, where, held_out ? "raise --held-out of xlm_prep" : spans->absent);
    g_auto(GStrv) all = spans->list(corpus, o->split);
    g_autofree char *list = g_strjoinv(", ", all);
    return xlm_error_set(error, EX_CONFIG, "[stream %s]: languages: %s has no %s text \"%s\"%s; it has %s", o->stream,
                         xlm_corpus_path(corpus), o->spans->name, wanted, where, *list != '\0' ? list : "none");
}

/* Does only the held-out part lack this language or pair, because it is so rare that none of its text was held out? */
static bool is_too_rare(const xlm_opening *o, const char *name)
{
    const xlm_spans_functions *spans = &o->spans->spans;
    return o->split == XLM_HELD_OUT && spans->find_name(o->from, XLM_HELD_OUT, name) == NULL &&
           spans->find_name(o->from, XLM_TRAIN, name) != NULL;
}

static bool check_names(const xlm_opening *o, char **names, GError **error)
{
    if (*names == NULL)
        return refuse_absent(o, NULL, error);
    if (g_strv_length(names) > XLM_SAMPLER_RUN)
        return xlm_error_set(error, EX_CONFIG, "[stream %s]: languages: there are more than %d", o->stream, XLM_SAMPLER_RUN);
    for (char **name = names; *name != NULL; name++)
        for (char **before = names; before < name; before++)
            if (strcmp(*before, *name) == 0)
                return xlm_error_set(error, EX_CONFIG, "[stream %s]: languages: %s is named twice; remove one", o->stream, *name);
    return true;
}

static bool add_component(const xlm_opening *o, const char *name, int64_t begins, GArray *components, int64_t *instances,
                          GError **error)
{
    if (is_too_rare(o, name)) {
        xlm_log_warn("stream %s: no text of %s was held out; it is not evaluated", o->stream, name);
        return true;
    }
    if (o->spans->spans.find_name(o->from, o->split, name) == NULL)
        return refuse_absent(o, name, error);
    xlm_component component = {0};
    if (!o->spans->spans.open(o, name, &component, error))
        return false;
    component.name = g_strdup(name);
    component.begins = begins;
    g_array_append_val(components, component);
    *instances += component.instances;
    return true;
}

static bool text_components(void *stage, const xlm_opening *o, GArray *components, GError **error)
{
    const text_source *s = stage;
    g_auto(GStrv) names = s->languages != NULL ? g_strdupv(s->languages) : o->spans->spans.list(s->corpus, o->split);
    const bool at_once = s->begins == NULL || o->split == XLM_HELD_OUT; /* held-out text is evaluated from the beginning */
    int64_t instances = 0;
    bool good = check_names(o, names, error);
    for (char **name = names; *name != NULL && good; name++)
        good = add_component(o, *name, at_once ? 0 : s->begins[name - names], components, &instances, error);
    if (good && components->len == 0)
        return refuse_absent(o, NULL, error);
    if (good && instances == 0)
        return xlm_error_set(error, EX_CONFIG, "[stream %s]: %s makes no instance%s; %s", o->stream, xlm_corpus_path(s->corpus),
                             o->split == XLM_HELD_OUT ? " of its held-out part" : "", o->spans->spans.empty);
    return good;
}

/* ---- tokens ---- */

/* GAP: two spans with at most this many tokens between them are read together, with these tokens. MAX_TOKENS: of one read. */
enum { GAP = 1024, MAX_TOKENS = 1 << 20 };

static const xlm_span *span_at(const GArray *spans, guint i) { return &g_array_index(spans, xlm_span, i); }

/* The end of the run of spans from `first` on that are read together: each is in the same text, shortly after the one before
 * it. */
static guint end_of_run(const GArray *spans, guint first)
{
    const xlm_span *start = span_at(spans, first), *last = start;
    guint next = first + 1;
    for (; next < spans->len; next++, last++) {
        const xlm_span *span = span_at(spans, next);
        const int64_t gap = span->start - (last->start + last->tokens);
        if (span->text != start->text || gap < 0 || gap > GAP || span->start + span->tokens - start->start > MAX_TOKENS)
            break;
    }
    return next;
}

/* Read the spans [first, end) of one run into `tokens`. Returns the address after them, NULL on error. */
static int32_t *read_run(const text_source *s, const GArray *spans, guint first, guint end, int32_t *tokens, GError **error)
{
    const xlm_span *start = span_at(spans, first), *last = span_at(spans, end - 1);
    const int64_t n = last->start + last->tokens - start->start;
    g_array_set_size(s->buffer, (guint)n);
    int32_t *ids = (int32_t *)(void *)s->buffer->data;
    if (!xlm_corpus_read_tokens(start->text, start->start, n, ids, error))
        return NULL;
    for (const xlm_span *span = start; span <= last; span++) {
        memcpy(tokens, ids + (span->start - start->start), sizeof *ids * (size_t)span->tokens);
        tokens += span->tokens;
    }
    return tokens;
}

static bool text_read(void *stage, const GArray *spans, int32_t *tokens, GError **error)
{
    for (guint i = 0, end; i < spans->len && tokens != NULL; i = end) {
        end = end_of_run(spans, i);
        tokens = read_run(stage, spans, i, end, tokens, error);
    }
    return tokens != NULL;
}

/* If the file has changed, what was read may be partly old contents that were still in memory and partly new ones. */
static bool text_check_unchanged(const void *stage, GError **error)
{
    const text_source *s = stage;
    return xlm_corpus_check_unchanged(s->corpus, error);
}

const xlm_stage_class xlm_stage_text_source = {
    .kind = XLM_STAGE_SOURCE,
    .options = text_options,
    .options_size = sizeof(options),
    .open = text_open,
    .close = text_close,
    .source = {.held_out = true, .unit = "instances", .components = text_components, .read = text_read,
               .check_unchanged = text_check_unchanged},
};

xlm_stream_input xlm_stream_text(const xlm_corpus *corpus) { return (xlm_stream_input){&xlm_stage_text_source, corpus}; }
