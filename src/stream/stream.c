/* xlm-mpi: streams, the input of the encoder at each step. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/stream.h"

#include <math.h>
#include <string.h>

#include "stream/batch_sizes.h"
#include "stream/sampler.h"
#include "stream/stages.h"

enum { MAX_STREAMS = 256 };

/* A stage of the kind noise, annotate or corrupt, and its state. */
typedef struct opened_stage {
    const xlm_stage_class *cls;
    void *stage;
} opened_stage;

struct xlm_stream {
    uint32_t number;
    uint64_t seed;
    int64_t length;
    xlm_source source;
    const xlm_stage_class *spans, *layout;
    GArray *components;      /* xlm_component */
    const char **names;      /* [components + 1] their names, NULL-terminated */
    int64_t together;        /* number of consecutive instances that are drawn together into one step */
    xlm_piecewise *draws;    /* of each step (stream/batch_sizes.h), each of so many instances */
    xlm_sampler *sampler;    /* of the components */
    bool noise;              /* there are stages of this kind, or plugins with noise */
    GArray *stages;          /* opened_stage of the kinds noise, annotate and corrupt */
    GPtrArray *plugged;      /* xlm_plugged_stage, after all of these */
    GArray *annotations;     /* const char *: names of the annotations that they add, NULL-terminated */
    xlm_sequences sequences; /* scratch of a read */
};

/* Evaluation draws with the number of a step that training never reaches. */
static const uint64_t in_order_step = UINT64_MAX;

static const xlm_component *component_at(const xlm_stream *stream, int i)
{
    return &g_array_index(stream->components, xlm_component, i);
}

/* ---- opening ---- */

/* Checks beyond those of the tables of options. Skips options that this stream could not have set. */
static bool check(const xlm_stream *stream, const xlm_stream_config *config, const char *name, GError **error)
{
    for (int i = 0; i < xlm_stages_count(); i++) {
        const xlm_stage_class *cls = xlm_stage_at(i);
        const void *options = xlm_stream_config_options(config, cls);
        const bool one_of_many = cls->kind == XLM_STAGE_SOURCE || cls->kind == XLM_STAGE_SPANS || cls->kind == XLM_STAGE_LAYOUT;
        const bool chosen = !one_of_many || cls == stream->source.cls || cls == stream->spans || cls == stream->layout;
        if (options != NULL && cls->check != NULL && !cls->check(options, chosen, name, error))
            return false;
    }
    return true;
}

/* From the numbers of instances. */
static bool set_draws(xlm_stream *stream, const xlm_stream_config *config, const char *name, GError **error)
{
    const xlm_piecewise_point always = {.value = (double)config->batch};
    stream->draws = config->batches != NULL ? xlm_piecewise_new(config->batches->point, config->batches->points)
                                            : xlm_piecewise_new(&always, 1);
    for (int64_t i = 0; i < stream->draws->points; i++) {
        const int64_t batch = (int64_t)stream->draws->point[i].value;
        if (batch % stream->together != 0)
            return xlm_error_set(error, EX_CONFIG, "[stream %s]: %" G_GINT64_FORMAT " %s are always in one step together, so "
                                 "batch must be a multiple of that, not %" G_GINT64_FORMAT, name, stream->together,
                                 stream->source.cls->source.unit, batch);
        stream->draws->point[i].value = (double)(batch / stream->together);
    }
    return true;
}

static bool open_components(xlm_stream *stream, const xlm_stream_config *config, const xlm_opening *opening, GError **error)
{
    if (!stream->source.cls->source.components(stream->source.stage, opening, stream->components, error))
        return false;
    const int n = xlm_stream_components(stream);
    stream->together = MAX(component_at(stream, 0)->together, 1);
    if (!set_draws(stream, config, opening->stream, error))
        return false;
    stream->names = g_new0(const char *, n + 1);
    g_autofree double *share = g_new(double, n);
    g_autofree int64_t *instances = g_new(int64_t, n), *begins = g_new(int64_t, n);
    bool at_once = false;
    for (int i = 0; i < n; i++) {
        g_assert(MAX(component_at(stream, i)->together, 1) == stream->together);
        stream->names[i] = component_at(stream, i)->name;
        share[i] = component_at(stream, i)->share;
        instances[i] = component_at(stream, i)->instances / stream->together;
        begins[i] = component_at(stream, i)->begins;
        at_once = at_once || (begins[i] == 0 && instances[i] > 0);
    }
    if (!at_once)
        return xlm_error_set(error, EX_CONFIG, "[stream %s]: languages: none with an instance begins at step 0", opening->stream);
    const xlm_sampler_schedule schedule = {opening->alpha, begins, stream->draws};
    stream->sampler = xlm_sampler_new(n, share, instances, &schedule, stream->seed, stream->number);
    return true;
}

/* Open all stages of a kind; those that are off are not kept. */
static bool open_stages(xlm_stream *stream, xlm_stage_kind kind, const xlm_stream_config *config, xlm_opening *opening,
                        GError **error)
{
    for (int i = 0; i < xlm_stages_count(); i++) {
        opened_stage next = {.cls = xlm_stage_at(i)};
        if (next.cls->kind != kind)
            continue;
        opening->noise = stream->noise;
        if (!next.cls->open(opening, xlm_stream_config_options(config, next.cls), &next.stage, error))
            return false;
        if (next.stage == NULL)
            continue;
        g_array_append_val(stream->stages, next);
        stream->noise |= kind == XLM_STAGE_NOISE;
        for (const char *const *name = kind == XLM_STAGE_ANNOTATE ? next.cls->annotate.names : NULL;
             name != NULL && *name != NULL; name++)
            g_array_append_val(opening->annotations, *name);
    }
    return true;
}

static bool open_plugins(xlm_stream *stream, const xlm_stream_config *config, const xlm_opening *opening, GError **error)
{
    if (config->plugins > 0 && stream->source.cls->source.labelled)
        return xlm_error_set(error, EX_CONFIG, "[%s %s]: [stream %s] reads labelled examples, which no stage changes",
                             config->plugin[0].section, config->plugin[0].name, opening->stream);
    for (int i = 0; i < config->plugins; i++) {
        xlm_plugged_stage *next = xlm_plugged_stage_open(&config->plugin[i], opening, error);
        if (next == NULL)
            return false;
        g_ptr_array_add(stream->plugged, next);
    }
    return true;
}

/* Open the stages in the order in which they work. */
static bool open_all(xlm_stream *stream, const xlm_stream_config *config, xlm_opening *opening, GError **error)
{
    const xlm_stage_class *source = stream->source.cls;
    if (!source->open(opening, xlm_stream_config_options(config, source), &stream->source.stage, error))
        return false;
    stream->source.specials = opening->vocabulary != NULL ? xlm_vocabulary_specials(opening->vocabulary) : NULL;
    return open_components(stream, config, opening, error) &&
           (source->source.labelled || (open_stages(stream, XLM_STAGE_NOISE, config, opening, error) &&
                                        open_stages(stream, XLM_STAGE_ANNOTATE, config, opening, error) &&
                                        open_stages(stream, XLM_STAGE_CORRUPT, config, opening, error))) &&
           open_plugins(stream, config, opening, error);
}

bool xlm_stream_has_noise(const xlm_stream *stream) { return stream->noise; }

static void close_plugged(void *stage) { xlm_plugged_stage_close(stage); }

xlm_stream *xlm_stream_open(xlm_stream_input input, xlm_split split, const char *name, int number,
                            const xlm_stream_config *config, uint64_t seed, GError **error)
{
    if (number < 0 || number >= MAX_STREAMS) {
        xlm_error_set(error, EX_CONFIG, "[stream %s]: a job has at most %d streams; join some", name, MAX_STREAMS);
        return NULL;
    }
    xlm_stream *stream = g_new0(xlm_stream, 1);
    stream->number = (uint32_t)number;
    stream->seed = seed;
    stream->length = config->length;
    stream->source.cls = input.source;
    stream->spans = xlm_stage_choose(XLM_STAGE_SPANS, input.source, config->type);
    stream->layout = xlm_stage_choose(XLM_STAGE_LAYOUT, stream->spans, config->form);
    stream->components = g_array_new(FALSE, FALSE, sizeof(xlm_component));
    stream->stages = g_array_new(FALSE, FALSE, sizeof(opened_stage));
    stream->plugged = g_ptr_array_new_with_free_func(close_plugged);
    stream->annotations = g_array_new(TRUE, FALSE, sizeof(const char *));
    xlm_sequences_init(&stream->sequences);
    xlm_opening opening = {
        .stream = name, .seed = seed, .length = config->length, .from = input.from, .split = split, .spans = stream->spans,
        .layout = stream->layout, .spans_options = xlm_stream_config_options(config, stream->spans),
        .annotations = stream->annotations,
    };
    for (int i = 0; i < config->plugins && !xlm_stream_is_labelled(stream); i++) /* open_plugins refuses those of examples */
        stream->noise |= config->plugin[i].cls->noise != NULL;
    if (!check(stream, config, name, error) || !open_all(stream, config, &opening, error))
        g_clear_pointer(&stream, xlm_stream_close);
    return stream;
}

void xlm_stream_close(xlm_stream *stream)
{
    if (stream == NULL)
        return;
    g_ptr_array_unref(stream->plugged);
    for (guint i = 0; i < stream->stages->len; i++) {
        const opened_stage *s = &g_array_index(stream->stages, opened_stage, i);
        if (s->cls->close != NULL)
            s->cls->close(s->stage);
    }
    for (int i = 0; i < xlm_stream_components(stream); i++) {
        const xlm_component *component = component_at(stream, i);
        if (stream->spans->spans.close != NULL)
            stream->spans->spans.close(component->spans);
        g_free(component->name);
    }
    if (stream->source.stage != NULL && stream->source.cls->close != NULL)
        stream->source.cls->close(stream->source.stage);
    g_free(stream->names);
    xlm_sampler_free(stream->sampler);
    g_free(stream->draws);
    xlm_sequences_clear(&stream->sequences);
    g_array_unref(stream->stages);
    g_array_unref(stream->annotations);
    g_array_unref(stream->components);
    g_free(stream);
}

/* ---- what it is ---- */

const xlm_dictionary *xlm_stream_dictionary(const xlm_stream *stream)
{
    for (guint i = 0; i < stream->stages->len; i++) {
        const opened_stage *s = &g_array_index(stream->stages, opened_stage, i);
        if (s->cls->kind == XLM_STAGE_ANNOTATE && s->cls->annotate.dictionary != NULL)
            return s->cls->annotate.dictionary(s->stage);
    }
    return NULL;
}

const char *const *xlm_stream_annotations(const xlm_stream *stream)
{
    return (const char *const *)(const void *)stream->annotations->data;
}

void xlm_stream_plan_plugins(const xlm_stream *stream, xlm_batch_layout *batch)
{
    for (guint i = 0; i < stream->plugged->len; i++)
        xlm_plugged_stage_plan(stream->plugged->pdata[i], batch);
}

bool xlm_stream_has_pairs(const xlm_stream *stream) { return stream->spans->spans.pairs; }

bool xlm_stream_packs_pairs(const xlm_stream *stream)
{
    return xlm_stream_has_pairs(stream) && stream->layout->layout.several;
}

bool xlm_stream_is_labelled(const xlm_stream *stream) { return stream->source.cls->source.labelled; }

int64_t xlm_stream_instances(const xlm_stream *stream)
{
    int64_t n = 0;
    for (int i = 0; i < xlm_stream_components(stream); i++)
        n += component_at(stream, i)->instances;
    return n;
}

uint64_t xlm_stream_index_bytes(const xlm_stream *stream)
{
    uint64_t bytes = 0;
    for (int i = 0; i < xlm_stream_components(stream); i++)
        bytes += component_at(stream, i)->index_bytes;
    return bytes;
}

int64_t xlm_stream_batch(const xlm_stream *stream, int64_t step)
{
    return xlm_batch_size_at(stream->draws, step) * stream->together;
}

int xlm_stream_components(const xlm_stream *stream) { return (int)stream->components->len; }

const char *const *xlm_stream_component_names(const xlm_stream *stream)
{
    return component_at(stream, 0)->name != NULL ? stream->names : NULL;
}

int64_t xlm_stream_component_instances(const xlm_stream *stream, int component)
{
    return component_at(stream, component)->instances;
}

int64_t xlm_stream_longest(const xlm_stream *stream)
{
    const xlm_layout_functions *layout = &stream->layout->layout;
    return layout->longest != NULL ? layout->longest(stream->length) : stream->length;
}

/* The stage that chooses the predicted rows; NULL: there is none. */
static const opened_stage *find_predictor(const xlm_stream *stream)
{
    for (guint i = 0; i < stream->stages->len; i++) {
        const opened_stage *s = &g_array_index(stream->stages, opened_stage, i);
        if (s->cls->kind == XLM_STAGE_CORRUPT && s->cls->corrupt.max_predicted != NULL)
            return s;
    }
    return NULL;
}

static double share_of_plugins(const xlm_stream *stream)
{
    double share = 0;
    for (guint i = 0; i < stream->plugged->len; i++)
        share += xlm_plugged_stage_predicted_share(stream->plugged->pdata[i]);
    return share;
}

int64_t xlm_stream_max_predicted(const xlm_stream *stream, int64_t instances, int64_t words, double deviations)
{
    const opened_stage *predictor = find_predictor(stream);
    if (stream->source.cls->source.labelled)
        return stream->source.cls->source.max_predicted(stream->source.stage, instances);
    const int64_t max = predictor == NULL ? 0 :
                        predictor->cls->corrupt.max_predicted(predictor->stage, instances, words, deviations);
    const double share = share_of_plugins(stream);
    const int64_t tokens = instances * xlm_stream_longest(stream);
    return share > 0 ? MIN(max + (int64_t)((double)words * share * 1.1) + instances, tokens) : max;
}

/* The number of tokens is a sum of n draws, so it is approximately normally distributed. Above the mean, the longest instance may
 * be among the draws. */
static xlm_stream_size expect_in(const xlm_stream *stream, int spell, int64_t n, double deviations)
{
    const int32_t *quotas = xlm_sampler_quotas(stream->sampler, spell);
    double tokens = 0, squares = 0, words = 0;
    int64_t longest = 0;
    for (int i = 0; i < xlm_stream_components(stream); i++) {
        const xlm_component *c = component_at(stream, i);
        const double share = (double)quotas[i] / XLM_SAMPLER_RUN / (double)MAX(c->instances, 1);
        tokens += share * c->lengths.tokens;
        squares += share * c->lengths.squares;
        words += share * c->lengths.words;
        longest = MAX(longest, c->lengths.longest);
    }
    const double more = deviations * sqrt(MAX(squares - tokens * tokens, 0) * (double)n);
    const double with_longest = deviations > 0 ? (double)longest - tokens : 0;
    const double max_tokens = MIN((double)n * tokens + MAX(more, MIN(with_longest, 2 * more)), (double)(n * longest));
    return (xlm_stream_size){.tokens = (int64_t)ceil(max_tokens), .words = (int64_t)ceil(max_tokens * words / MAX(tokens, 1)),
                             .longest = longest};
}

/* In the spell that has the most tokens. */
xlm_stream_size xlm_stream_expect(const xlm_stream *stream, int64_t n, double deviations)
{
    xlm_stream_size most = expect_in(stream, 0, n, deviations);
    for (int spell = 1; spell < xlm_sampler_spells(stream->sampler); spell++) {
        const xlm_stream_size size = expect_in(stream, spell, n, deviations);
        if (size.tokens > most.tokens)
            most = size;
    }
    return most;
}

double xlm_stream_kept_share(const xlm_stream *stream)
{
    double share = 1;
    for (guint i = 0; i < stream->stages->len; i++) {
        const opened_stage *s = &g_array_index(stream->stages, opened_stage, i);
        if (s->cls->kind == XLM_STAGE_NOISE)
            share *= s->cls->noise.kept_share(s->stage);
    }
    for (guint i = 0; i < stream->plugged->len; i++)
        share *= xlm_plugged_stage_kept_share(stream->plugged->pdata[i]);
    return share;
}

double xlm_stream_predicted_share(const xlm_stream *stream)
{
    const opened_stage *predictor = find_predictor(stream);
    if (stream->source.cls->source.labelled)
        return stream->source.cls->source.predicted_share(stream->source.stage);
    const double share = predictor == NULL ? 0 : predictor->cls->corrupt.predicted_share(predictor->stage);
    return MIN(share + share_of_plugins(stream), 1);
}

double xlm_stream_mask_token_share(const xlm_stream *stream)
{
    const opened_stage *predictor = find_predictor(stream);
    return predictor == NULL ? 0 : predictor->cls->corrupt.mask_token_share(predictor->stage);
}

int64_t xlm_stream_positions(const xlm_stream *stream) { return stream->length; }

/* The shares of draws in a later spell. */
static void describe_spell(const xlm_stream *stream, int spell, GString *out)
{
    const int32_t *quotas = xlm_sampler_quotas(stream->sampler, spell);
    g_string_append_printf(out, "; from step %" G_GINT64_FORMAT, xlm_sampler_spell_begins(stream->sampler, spell));
    for (int i = 0; i < xlm_stream_components(stream); i++)
        if (component_at(stream, i)->name != NULL)
            g_string_append_printf(out, "%s %s %.1f %%", i > 0 ? "," : ":", component_at(stream, i)->name,
                                   100.0 * quotas[i] / XLM_SAMPLER_RUN);
}

char *xlm_stream_describe(const xlm_stream *stream)
{
    GString *out = g_string_new(NULL);
    const int32_t *quotas = xlm_sampler_quotas(stream->sampler, 0);
    g_string_printf(out, "%" G_GINT64_FORMAT " %s", xlm_stream_instances(stream), stream->source.cls->source.unit);
    for (int i = 0; i < xlm_stream_components(stream); i++) {
        const xlm_component *component = component_at(stream, i);
        if (component->name != NULL)
            g_string_append_printf(out, "%s%s %" G_GINT64_FORMAT ", %.1f %% of the draws", i > 0 ? "; " : " (", component->name,
                                   component->instances, 100.0 * quotas[i] / XLM_SAMPLER_RUN);
    }
    for (int spell = 1; spell < xlm_sampler_spells(stream->sampler); spell++)
        describe_spell(stream, spell, out);
    if (component_at(stream, 0)->name != NULL)
        g_string_append_c(out, ')');
    stream->spans->spans.describe(stream->components, out);
    return g_string_free(out, FALSE);
}

/* ---- reading ---- */

/* Append the spans of an instance of a component as a sequence. number: that of the draw in its step. */
static bool add_sequence(xlm_stream *stream, uint64_t step, uint64_t number, int component, int64_t instance, GError **error)
{
    const xlm_draws draws = {.seed = stream->seed, .step = step, .stream = stream->number, .first = number};
    if (!stream->spans->spans.find(component_at(stream, component)->spans, instance, &draws, stream->sequences.spans, error))
        return false;
    xlm_sequences_end(&stream->sequences, stream->number << 24 | (uint32_t)(number % XLM_STREAM_MAX_BATCH));
    return true;
}

/* Read the tokens of all spans, unless the layout reads them itself. */
static bool read_tokens(xlm_stream *stream, xlm_arena *arena, GError **error)
{
    const xlm_source_functions *source = &stream->source.cls->source;
    const GArray *spans = stream->sequences.spans;
    int64_t tokens = 0;
    if (source->read == NULL)
        return true;
    for (guint i = 0; i < spans->len; i++)
        tokens += g_array_index(spans, xlm_span, i).tokens;
    stream->sequences.tokens = XLM_TAKE(arena, int32_t, tokens);
    return source->read(stream->source.stage, spans, stream->sequences.tokens, error);
}

/* Apply noise to one span, ids[*n], before which its sequence had `first` tokens. */
static void change_span(const xlm_stream *stream, const xlm_draws *draws, int32_t sequence, int32_t first, const xlm_span *span,
                        int32_t *ids, int32_t *n)
{
    for (guint i = 0; i < stream->stages->len; i++) {
        const opened_stage *s = &g_array_index(stream->stages, opened_stage, i);
        if (s->cls->kind == XLM_STAGE_NOISE)
            s->cls->noise.change(s->stage, draws, sequence, first, ids, n);
    }
    const xlm_row_key key = {g_array_index(stream->sequences.instances, uint32_t, sequence), (uint32_t)first};
    for (guint i = 0; i < stream->plugged->len; i++)
        xlm_plugged_stage_noise(stream->plugged->pdata[i], draws, key, span, ids, n);
}

/* Apply noise to all spans, and close the gaps between their tokens. */
static void make_noise(xlm_stream *stream, const xlm_draws *draws)
{
    xlm_sequences *sequences = &stream->sequences;
    int32_t *from = sequences->tokens, *to = sequences->tokens;
    guint i = 0;
    for (guint s = 0; s < sequences->ends->len; s++)
        for (int32_t first = 0; i < g_array_index(sequences->ends, guint, s); i++) {
            xlm_span *span = &g_array_index(sequences->spans, xlm_span, i);
            const int32_t before = span->tokens;
            if (before > 0)
                change_span(stream, draws, (int32_t)s, first, span, from, &span->tokens);
            memmove(to, from, sizeof *to * (size_t)span->tokens);
            to += span->tokens;
            from += before;
            first += before;
        }
}

static bool lay_out(xlm_stream *stream, xlm_arena *arena, xlm_batch_layout *layout, GError **error)
{
    return stream->layout->layout.lay_out(&stream->source, &stream->sequences, arena, layout, error);
}

/* Lay out the text that was read and, if there is noise, the text after noise. */
static bool lay_out_texts(xlm_stream *stream, const xlm_draws *draws, xlm_arena *arena, xlm_batch_layout *layout, GError **error)
{
    if (!read_tokens(stream, arena, error) || !lay_out(stream, arena, layout, error))
        return false;
    const xlm_text original = xlm_batch_layout_original(layout);
    if (stream->noise) {
        make_noise(stream, draws);
        if (!lay_out(stream, arena, layout, error))
            return false;
    }
    xlm_batch_layout_begin_corruption(layout, stream->noise ? &original : NULL);
    return true;
}

/* Lay out, annotate and corrupt the sequences, the first of which is number `first` of its step. */
static bool make_batch(xlm_stream *stream, uint64_t step, uint64_t first, xlm_arena *arena, xlm_batch *batch, GError **error)
{
    const xlm_draws draws = {.seed = stream->seed, .step = step, .stream = stream->number, .first = first};
    xlm_batch_layout layout;
    for (guint i = 0; i < stream->plugged->len; i++)
        xlm_plugged_stage_arrange(stream->plugged->pdata[i], &draws, arena, &stream->sequences);
    if (!lay_out_texts(stream, &draws, arena, &layout, error))
        return false;
    if (step != in_order_step && stream->source.cls->source.corrupt != NULL)
        stream->source.cls->source.corrupt(stream->source.stage, &draws, &stream->sequences, &layout);
    bool good = true;
    for (guint i = 0; i < stream->stages->len && good; i++) {
        const opened_stage *s = &g_array_index(stream->stages, opened_stage, i);
        if (s->cls->kind == XLM_STAGE_ANNOTATE)
            good = s->cls->annotate.annotate(s->stage, &draws, &stream->sequences, &layout, error);
        else if (s->cls->kind == XLM_STAGE_CORRUPT)
            s->cls->corrupt.corrupt(s->stage, &draws, &layout);
    }
    if (!good)
        return false;
    for (guint i = 0; i < stream->plugged->len; i++)
        xlm_plugged_stage_apply(stream->plugged->pdata[i], &draws, &layout);
    *batch = xlm_batch_of_layout(&layout);
    return true;
}

/* Called after reading, whether that failed or not: if the source has changed, this is reported instead of any other error, which
 * it has caused. */
static bool check_unchanged(const xlm_stream *stream, bool good, GError **error)
{
    GError *changed = NULL;
    const xlm_source_functions *source = &stream->source.cls->source;
    if (source->check_unchanged == NULL || source->check_unchanged(stream->source.stage, &changed))
        return good;
    g_clear_error(error);
    g_propagate_error(error, changed);
    return false;
}

bool xlm_stream_read(xlm_stream *stream, int64_t step, int64_t first, int64_t n, xlm_arena *arena, xlm_batch *batch,
                     GError **error)
{
    g_assert(step >= 0 && first >= 0 && n >= 0 && first + n <= xlm_stream_batch(stream, step));
    const int64_t group = stream->together, before = xlm_batch_sizes_before(stream->draws, step) * group;
    bool good = true;
    xlm_sequences_reset(&stream->sequences);
    for (int64_t i = first; i < first + n && good; i++) {
        int component;
        int64_t instance;
        const int64_t draw = before + i;
        xlm_sampler_draw(stream->sampler, draw / group, &component, &instance);
        good = add_sequence(stream, (uint64_t)step, (uint64_t)i, component, instance * group + draw % group, error);
    }
    good = good && make_batch(stream, (uint64_t)step, (uint64_t)first, arena, batch, error);
    return check_unchanged(stream, good, error);
}

bool xlm_stream_read_in_order(xlm_stream *stream, int64_t first, int64_t n, xlm_arena *arena, xlm_batch *batch,
                              GError **error)
{
    g_assert(first >= 0 && n >= 0 && first + n <= xlm_stream_instances(stream));
    int component = 0;
    int64_t before = 0; /* instances of earlier components */
    bool good = true;
    xlm_sequences_reset(&stream->sequences);
    for (int64_t i = first; i < first + n && good; i++) {
        while (i - before >= component_at(stream, component)->instances)
            before += component_at(stream, component++)->instances;
        good = add_sequence(stream, in_order_step, (uint64_t)i, component, i - before, error);
    }
    good = good && make_batch(stream, in_order_step, (uint64_t)first, arena, batch, error);
    return check_unchanged(stream, good, error);
}
