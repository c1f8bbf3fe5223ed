/* xlm-mpi: stages of a stream that are plugins. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/stage_plugins.h"

#include <string.h>

#include "base/log.h"
#include "stream/stage_pass.h"

struct xlm_plugged_stage {
    xlm_stage self;
    xlm_stage_setup setup;
    uint64_t seed;
    uint32_t name;     /* digest of the section's name, on which its draws depend */
    int32_t **values;  /* of each annotation in the present batch */
};

/* ---- the kind of plugins ---- */

/* Names that an annotation cannot have: those of the arrays of a batch in a step dump, and those of the annotations of built-in
 * stages, which objectives read without checking their shapes. */
static const char *const taken[] = {"ids", "original", "positions", "languages", "types", "offsets", "masked_positions", "targets",
                                    "text_languages", "instances", "links", "translations", "translation_languages",
                                    "original_text", NULL};

static bool check_annotation(const xlm_stage_annotation *a, const char *file, GError **error)
{
    const size_t plain = strspn(a->name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-.");
    if (plain == 0 || a->name[plain] != '\0' || g_strv_contains(taken, a->name))
        return xlm_error_set(error, EX_CONFIG, "%s: an annotation cannot be named \"%s\"; take letters, digits and \"_-.\", and no "
                             "name of an array of the batch or of a built-in annotation", file, a->name);
    if (a->axis != XLM_AXIS_TOKENS && a->axis != XLM_AXIS_SEQUENCES)
        return xlm_error_set(error, EX_CONFIG, "%s: the annotation \"%s\" must be of tokens or of sequences", file, a->name);
    return true;
}

static bool describe(const void *class, const char *file, xlm_plugin *plugin, GError **error)
{
    const xlm_stage_plugin *cls = class;
    if (cls->name == NULL || cls->summary == NULL || (cls->arrange == NULL && cls->noise == NULL && cls->apply == NULL))
        return xlm_error_set(error, EX_CONFIG, "%s: its class lacks a name, a summary, or a function (arrange, noise or apply)", file);
    for (const xlm_stage_annotation *a = cls->annotations; a != NULL && a->name != NULL; a++)
        if (!check_annotation(a, file, error))
            return false;
    plugin->summary = cls->summary;
    plugin->options = cls->options;
    plugin->state_size = cls->state_size;
    return true;
}

const xlm_plugin_kind xlm_stage_plugins = {"stage", "xlm_stage_", "xlm/stage.h", XLM_STAGE_ABI, UINT32_MAX, describe};

/* ---- opening ---- */

static bool check_stream(const xlm_stage_use *use, const xlm_opening *o, GError **error)
{
    if (use->cls->arrange != NULL && o->spans->spans.pairs)
        return xlm_error_set(error, EX_CONFIG, "[%s %s]: \"%s\" arranges the sentences of a sequence, and [stream %s] has pairs, "
                             "whose sentences keep their places; give it a stream of type monolingual", use->section, use->name,
                             use->cls->name, o->stream);
    for (const xlm_stage_annotation *a = use->cls->annotations; a != NULL && a->name != NULL; a++) {
        if (xlm_opening_has_annotation(o, a->name))
            return xlm_error_set(error, EX_CONFIG, "[%s %s]: another stage of [stream %s] annotates \"%s\" already", use->section,
                                 use->name, o->stream, a->name);
        g_array_append_val(o->annotations, a->name);
    }
    return true;
}

static bool call_open(xlm_stage *self, const char *section, GError **error)
{
    char message[512] = "";
    if (self->cls->open == NULL)
        return true;
    const bool good = self->cls->open(self, message, sizeof message);
    if (!good)
        return xlm_error_set(error, EX_CONFIG, "[%s %s]: %s", section, self->name,
                             *message != '\0' ? message : "its plugin refuses to open, and does not say why");
    if (*message != '\0' && !self->setup->held_out)
        xlm_log_warn("[%s %s]: %s", section, self->name, message);
    return true;
}

xlm_plugged_stage *xlm_plugged_stage_open(const xlm_stage_use *use, const xlm_opening *opening, GError **error)
{
    if (!check_stream(use, opening, error))
        return NULL;
    const xlm_vocabulary *vocabulary = opening->vocabulary;
    xlm_plugged_stage *stage = g_new0(xlm_plugged_stage, 1);
    stage->seed = opening->seed;
    stage->name = (uint32_t)xlm_digest(use->name, strlen(use->name), 0);
    stage->values = g_new0(int32_t *, xlm_stage_annotations(use->cls) + 1);
    stage->setup = (xlm_stage_setup){
        .stream = opening->stream, .held_out = opening->split == XLM_HELD_OUT, .pairs = opening->spans->spans.pairs,
        .length = opening->length, .vocabulary = xlm_vocabulary_size(vocabulary), .words = xlm_vocabulary_words(vocabulary),
        .languages = xlm_vocabulary_languages(vocabulary), .language = xlm_vocabulary_language_names(vocabulary),
        .specials = xlm_vocabulary_specials(vocabulary),
    };
    stage->self = (xlm_stage){.cls = use->cls, .name = use->name, .setup = &stage->setup};
    if (use->cls->state_size > 0)
        stage->self.state = use->options != NULL ? g_memdup2(use->options, use->cls->state_size) : g_malloc0(use->cls->state_size);
    if (call_open(&stage->self, use->section, error))
        return stage;
    g_free(stage->self.state);
    g_free(stage->values);
    g_free(stage);
    return NULL;
}

void xlm_plugged_stage_close(xlm_plugged_stage *stage)
{
    if (stage == NULL)
        return;
    if (stage->self.cls->close != NULL)
        stage->self.cls->close(&stage->self);
    g_free(stage->self.state);
    g_free(stage->values);
    g_free(stage);
}

/* ---- batches ---- */

static xlm_stage_pass begin_pass(const xlm_plugged_stage *stage, const xlm_draws *draws)
{
    return (xlm_stage_pass){.self = &stage->self, .values = stage->values, .name = stage->name,
                            .key = xlm_draws_key(draws, XLM_RNG_STAGE)};
}

/* Allocate the values of the annotations on an axis, [n] each, all -1. */
static void take_values(xlm_plugged_stage *stage, xlm_axis axis, int32_t n, xlm_arena *arena)
{
    const xlm_stage_annotation *annotations = stage->self.cls->annotations;
    for (int i = 0; i < xlm_stage_annotations(stage->self.cls); i++)
        if (annotations[i].axis == axis) {
            stage->values[i] = XLM_TAKE(arena, int32_t, n);
            memset(stage->values[i], 0xff, sizeof **stage->values * (size_t)n);
        }
}

static void *take_copy(xlm_arena *arena, const void *from, size_t bytes)
{
    return memcpy(XLM_TAKE(arena, char, (int64_t)bytes), from, bytes);
}

/* Put the spans of a sequence into the order that the stage has chosen, to[n]. Ends the program unless each span occurs once, has
 * side 0 or 1, and is otherwise as it was. seen: [n] scratch. */
static void put_spans(const xlm_plugged_stage *stage, const xlm_stage_span *arranged, const xlm_span *before, int32_t n, xlm_span *to,
                      bool *seen)
{
    memset(seen, 0, sizeof *seen * (size_t)n);
    for (int32_t i = 0; i < n; i++) {
        const xlm_stage_span *span = &arranged[i];
        if (span->number < 0 || span->number >= n || seen[span->number] || (span->side != 0 && span->side != 1))
            g_error("stage %s: arrange must leave each span of a sequence there once, on side 0 or 1", stage->self.name);
        seen[span->number] = true;
        to[i] = before[span->number];
        if (span->tokens != to[i].tokens || span->language != to[i].language)
            g_error("stage %s: arrange may change the places and the sides of spans, but not their tokens or their language",
                    stage->self.name);
        to[i].side = span->side;
    }
}

void xlm_plugged_stage_arrange(xlm_plugged_stage *stage, const xlm_draws *draws, xlm_arena *arena, xlm_sequences *sequences)
{
    const int32_t n = (int32_t)sequences->ends->len, all = (int32_t)sequences->spans->len;
    memset(stage->values, 0, sizeof *stage->values * (size_t)xlm_stage_annotations(stage->self.cls));
    take_values(stage, XLM_AXIS_SEQUENCES, n, arena);
    if (stage->self.cls->arrange == NULL || n == 0)
        return;
    xlm_span *spans = (xlm_span *)(void *)sequences->spans->data;
    int32_t *offsets = XLM_TAKE(arena, int32_t, n + 1);
    xlm_row_key *keys = XLM_TAKE(arena, xlm_row_key, n);
    xlm_stage_span *arranged = XLM_TAKE(arena, xlm_stage_span, all);
    bool *seen = XLM_TAKE(arena, bool, all);
    offsets[0] = 0;
    for (int32_t s = 0; s < n; s++) {
        keys[s] = (xlm_row_key){g_array_index(sequences->instances, uint32_t, s), 0};
        offsets[s + 1] = (int32_t)g_array_index(sequences->ends, guint, s);
        for (int32_t i = offsets[s]; i < offsets[s + 1]; i++)
            arranged[i] = (xlm_stage_span){i - offsets[s], spans[i].tokens, spans[i].language, spans[i].side};
    }
    const xlm_stage_pass pass = begin_pass(stage, draws);
    stage->self.cls->arrange(&stage->self, &pass, &(xlm_stage_text){n, offsets, keys, arranged});
    const xlm_span *before = take_copy(arena, spans, sizeof *spans * (size_t)all);
    for (int32_t s = 0; s < n; s++)
        put_spans(stage, arranged + offsets[s], before + offsets[s], offsets[s + 1] - offsets[s], spans + offsets[s], seen);
}

/* Ends the program if the plugin has made a mistake, because embeddings would be read out of their bounds. */
static void check_tokens(const xlm_plugged_stage *stage, const int32_t *ids, int32_t n, int32_t before)
{
    bool good = n <= before && (n >= 1 || before == 0);
    for (int32_t i = 0; i < n && good; i++)
        good = ids[i] >= 0 && ids[i] < stage->setup.vocabulary;
    if (!good)
        g_error("stage %s: noise must leave 1 to %d tokens of a span of as many, all of the vocabulary", stage->self.name, before);
}

void xlm_plugged_stage_noise(xlm_plugged_stage *stage, const xlm_draws *draws, xlm_row_key key, const xlm_span *span, int32_t *ids,
                             int32_t *n)
{
    if (stage->self.cls->noise == NULL)
        return;
    xlm_stage_pass pass = begin_pass(stage, draws);
    pass.values = NULL; /* a span is not a sequence, and its tokens have no rows yet */
    xlm_stage_noise noise = {.key = key, .language = span->language, .side = span->side, .ids = ids, .tokens = *n};
    stage->self.cls->noise(&stage->self, &pass, &noise);
    check_tokens(stage, ids, noise.tokens, *n);
    *n = noise.tokens;
}

/* [T] Is the row predicted? */
static bool *predicted_of(const xlm_batch_layout *batch)
{
    bool *predicted = XLM_TAKE(batch->arena, bool, batch->tokens);
    memset(predicted, 0, sizeof *predicted * (size_t)batch->tokens);
    for (int32_t k = 0; k < batch->predicted; k++)
        predicted[batch->predicted_rows[k]] = true;
    return predicted;
}

static void set_predicted(const bool *predicted, xlm_batch_layout *batch)
{
    batch->predicted = 0;
    for (int32_t row = 0; row < batch->tokens; row++)
        if (predicted[row]) {
            batch->predicted_rows[batch->predicted] = row;
            batch->targets[batch->predicted++] = batch->unmasked[row];
        }
}

/* Ends the program if a stage whose class has no predicted_share has changed the rows, whose number estimates would not know. */
static void check_unchanged(const xlm_plugged_stage *stage, const bool *predicted, const xlm_batch_layout *batch)
{
    int32_t n = 0;
    bool same = true;
    for (int32_t row = 0; row < batch->tokens; row++)
        n += predicted[row];
    for (int32_t k = 0; k < batch->predicted; k++)
        same &= predicted[batch->predicted_rows[k]];
    if (!same || n != batch->predicted)
        g_error("stage %s: apply chooses predicted rows, but its class has no predicted_share", stage->self.name);
}

/* Ends the program if the plugin has made a mistake, because embeddings would be read out of their bounds. */
static void check_input(const xlm_plugged_stage *stage, const xlm_batch_layout *batch)
{
    for (int32_t row = 0; row < batch->tokens; row++)
        if (batch->ids[row] < 0 || batch->ids[row] >= stage->setup.vocabulary || batch->languages[row] < 0 ||
            batch->languages[row] >= stage->setup.languages)
            g_error("stage %s: token %d of language %d is not in the vocabulary", stage->self.name, batch->ids[row],
                    batch->languages[row]);
}

void xlm_plugged_stage_apply(xlm_plugged_stage *stage, const xlm_draws *draws, xlm_batch_layout *batch)
{
    const xlm_stage_plugin *cls = stage->self.cls;
    take_values(stage, XLM_AXIS_TOKENS, batch->tokens, batch->arena);
    if (cls->apply != NULL) {
        if (batch->languages == batch->unswitched)
            xlm_batch_layout_switch(batch);
        const xlm_batch seen = xlm_batch_of_layout(batch);
        const xlm_stage_pass pass = begin_pass(stage, draws);
        bool *predicted = predicted_of(batch);
        cls->apply(&stage->self, &pass, &(xlm_stage_batch){&seen, batch->ids, batch->languages, predicted});
        if (cls->predicted_share != NULL)
            set_predicted(predicted, batch);
        else
            check_unchanged(stage, predicted, batch);
        check_input(stage, batch);
    }
    for (int i = 0; i < xlm_stage_annotations(cls); i++)
        xlm_batch_layout_attach(batch, cls->annotations[i].name, cls->annotations[i].axis, stage->values[i]);
}

double xlm_plugged_stage_predicted_share(const xlm_plugged_stage *stage)
{
    return stage->self.cls->predicted_share != NULL ? CLAMP(stage->self.cls->predicted_share(&stage->self), 0, 1) : 0;
}

double xlm_plugged_stage_kept_share(const xlm_plugged_stage *stage)
{
    return stage->self.cls->kept_share != NULL ? CLAMP(stage->self.cls->kept_share(&stage->self), 0, 1) : 1;
}

void xlm_plugged_stage_plan(const xlm_plugged_stage *stage, xlm_batch_layout *batch)
{
    const xlm_stage_plugin *cls = stage->self.cls;
    for (int i = 0; i < xlm_stage_annotations(cls); i++) {
        const xlm_axis axis = cls->annotations[i].axis;
        int32_t *values = xlm_batch_layout_annotate(batch, cls->annotations[i].name, axis);
        for (int32_t at = 0; at < (axis == XLM_AXIS_TOKENS ? batch->tokens : batch->sequences); at++)
            values[at] = at % 2;
    }
}
