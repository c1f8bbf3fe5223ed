/* xlm-mpi: the encodings for the views of objectives. SPDX-License-Identifier: GPL-3.0-or-later */
#include "objective/views.h"

#include <string.h>

#include "base/rng.h"
#include "nn/stack.h"
#include "tensor/tape.h"

/* ---- rows ---- */

static xlm_row_set row_set(const xlm_view *view)
{
    return (xlm_row_set){.kinds = 1U << view->rows, .reach = view->rows == XLM_ROWS_NEAR ? view->reach : 0};
}

static bool has_rows(xlm_row_set set, xlm_view_rows rows) { return (set.kinds & 1U << rows) != 0; }

static xlm_row_set both(xlm_row_set a, xlm_row_set b) { return (xlm_row_set){a.kinds | b.kinds, MAX(a.reach, b.reach)}; }

/* Sets wanted[row] for the predicted rows, and for the rows of the same sequence at most `reach` rows away from one. */
static void mark_near(const xlm_view_source *source, int64_t reach, bool *wanted)
{
    const int32_t *offsets = source->text->offsets;
    for (int32_t i = 0, s = 0; i < source->predicted; i++) {
        const int32_t row = source->predicted_rows[i];
        while (offsets[s + 1] <= row)
            s++;
        const int64_t first = MAX(row - reach, offsets[s]), last = MIN(row + reach, offsets[s + 1] - 1);
        for (int64_t near = first; near <= last; near++)
            wanted[near] = true;
    }
}

static bool *take_marks(xlm_tape *tape, int32_t n)
{
    bool *marks = XLM_TAPE_TAKE(tape, bool, n);
    memset(marks, 0, sizeof *marks * (size_t)n);
    return marks;
}

/* Sets wanted[row] for rows that are linked to predicted ones. */
static void mark_linked(xlm_tape *tape, const xlm_view_source *source, bool *wanted)
{
    const xlm_annotation *links = source->links;
    bool *predicted = take_marks(tape, source->text->tokens);
    for (int32_t i = 0; i < source->predicted; i++)
        predicted[source->predicted_rows[i]] = true;
    for (int32_t l = 0; links != NULL && l < links->length; l++)
        for (int side = 0; side < 2; side++)
            if (predicted[links->values[2 * l + side]])
                wanted[links->values[2 * l + 1 - side]] = true;
}

/* Sets wanted[row] for rows that are not <mask>, and for the first row of a sequence that is all <mask>. */
static void mark_unmasked(const xlm_text *text, bool *wanted)
{
    for (int32_t s = 0; s < text->sequences; s++) {
        bool any = false;
        for (int32_t row = text->offsets[s]; row < text->offsets[s + 1]; row++)
            if (text->ids[row] != text->specials->id[XLM_MASK])
                any = wanted[row] = true;
        if (!any && text->offsets[s] < text->offsets[s + 1])
            wanted[text->offsets[s]] = true;
    }
}

/* The rows of a text that are in the set, *n of them, ascending; NULL: all rows of the text. */
static const int32_t *rows_of(xlm_tape *tape, const xlm_view_source *source, xlm_row_set set, int32_t *n)
{
    const xlm_text *text = source->text;
    *n = text->tokens;
    if (has_rows(set, XLM_ROWS_ALL))
        return NULL;
    *n = source->predicted;
    if (set.kinds == 1U << XLM_ROWS_PREDICTED)
        return source->predicted_rows;
    *n = text->sequences;
    if (set.kinds == 1U << XLM_ROWS_FIRST)
        return text->offsets;
    bool *wanted = take_marks(tape, text->tokens);
    if (has_rows(set, XLM_ROWS_PREDICTED) || has_rows(set, XLM_ROWS_NEAR) || has_rows(set, XLM_ROWS_LINKED))
        mark_near(source, set.reach, wanted);
    if (has_rows(set, XLM_ROWS_LINKED))
        mark_linked(tape, source, wanted);
    if (has_rows(set, XLM_ROWS_UNMASKED))
        mark_unmasked(text, wanted);
    for (int32_t s = 0; has_rows(set, XLM_ROWS_FIRST) && s < text->sequences; s++)
        wanted[text->offsets[s]] = true;
    int32_t *rows = XLM_TAPE_TAKE(tape, int32_t, text->tokens);
    *n = 0;
    for (int32_t row = 0; row < text->tokens; row++)
        if (wanted[row])
            rows[(*n)++] = row;
    return rows;
}

/* ---- which encodings ---- */

/* Is the view one of the encoding of the stream's own corrupted text? */
static bool is_main(const xlm_view *v)
{
    return v->text == XLM_TEXT_CORRUPTED && v->side == XLM_SIDE_BOTH && v->stack == XLM_STACK_ENCODER &&
           !v->causal && v->weights == XLM_WEIGHTS_LIVE && v->gradient && v->dropout && v->number == 0;
}

bool xlm_view_is_for_label(const xlm_hosted *hosted, const xlm_view *view)
{
    return !view->gradient && view->text != XLM_TEXT_MADE && hosted->loss.cls->label != NULL;
}

/* Does the objective need the view for its label, or (label false) for its loss? */
static bool is_for(const xlm_hosted *hosted, const xlm_view *view, bool label)
{
    return xlm_view_is_for_label(hosted, view) == label;
}

static xlm_view_use use_of(const xlm_hosted *hosted, int view)
{
    return (xlm_view_use){hosted, &g_array_index(hosted->views, xlm_view, view)};
}

/* Are both views of the same encoding? */
static bool share_encoding(xlm_view_use a, xlm_view_use b)
{
    const xlm_view *v = a.view, *w = b.view;
    if (v->text != w->text || v->side != w->side || v->stack != w->stack || v->causal != w->causal ||
        v->weights != w->weights || v->gradient != w->gradient || v->dropout != w->dropout || v->number != w->number)
        return false;
    if (v->text == XLM_TEXT_MADE && a.hosted != b.hosted)
        return false;
    return v->stack == XLM_STACK_ENCODER || xlm_view_is_same(use_of(a.hosted, v->memory), use_of(b.hosted, w->memory));
}

bool xlm_view_is_same(xlm_view_use a, xlm_view_use b)
{
    return share_encoding(a, b) && a.view->layer == b.view->layer && a.view->rows == b.view->rows &&
           row_set(a.view).reach == row_set(b.view).reach;
}

static xlm_encoding *find(const xlm_encodings *encodings, xlm_view_use use)
{
    xlm_encoding *e = encodings->first;
    while (e != NULL && !share_encoding(e->use, use))
        e = e->next;
    return e;
}

static void insert(xlm_encodings *encodings, xlm_encoding *e)
{
    xlm_encoding **place = &encodings->first;
    while (!is_main(e->use.view) && *place != NULL)
        place = &(*place)->next;
    e->next = *place;
    *place = e;
}

xlm_encoding *xlm_encodings_add_view(xlm_encodings *encodings, xlm_view_use use)
{
    const xlm_view *view = use.view;
    xlm_encoding *e = find(encodings, use);
    if (e == NULL) {
        xlm_encoding *memory = NULL;
        if (view->stack == XLM_STACK_DECODER)
            memory = xlm_encodings_add_view(encodings, use_of(use.hosted, view->memory));
        e = XLM_TAPE_TAKE(encodings->tape, xlm_encoding, 1);
        *e = (xlm_encoding){.use = use, .memory = memory, .layer = view->layer, .rows = row_set(view)};
        insert(encodings, e);
    } else if (view->layer > e->layer) {
        e->layer = view->layer;
        e->rows = row_set(view);
    } else if (view->layer == e->layer) {
        e->rows = both(e->rows, row_set(view));
    }
    return e;
}

static const xlm_shared_view *find_shared(const xlm_shared_view *shared, xlm_view_use use)
{
    while (shared != NULL && !xlm_view_is_same(shared->use, use))
        shared = shared->next;
    return shared;
}

static bool is_made(const xlm_shared_view *shared, xlm_view_use use)
{
    const xlm_shared_view *found = find_shared(shared, use);
    return found != NULL && found->made;
}

void xlm_encodings_add(xlm_encodings *encodings, const xlm_hosted *hosted, bool label, const xlm_shared_view *shared)
{
    for (int i = 0; i < (int)hosted->views->len; i++) {
        const xlm_view_use use = use_of(hosted, i);
        if (is_for(hosted, use.view, label) && !is_made(shared, use))
            xlm_encodings_add_view(encodings, use);
    }
}

void xlm_encodings_share(xlm_encodings *encodings, const xlm_hosted *hosted, bool label, xlm_arena *arena,
                         xlm_shared_view **shared)
{
    for (int i = 0; i < (int)hosted->views->len; i++) {
        const xlm_view_use use = use_of(hosted, i);
        if (use.view->gradient || use.view->weights != XLM_WEIGHTS_LIVE || !is_for(hosted, use.view, label) ||
            find(encodings, use) == NULL || find_shared(*shared, use) != NULL)
            continue;
        xlm_encodings_add_view(encodings, use);
        xlm_shared_view *one = XLM_TAKE(arena, xlm_shared_view, 1);
        *one = (xlm_shared_view){.use = use, .next = *shared};
        *shared = one;
    }
}

void xlm_encodings_add_whole(xlm_encodings *encodings, int64_t layers)
{
    xlm_view *whole = XLM_TAPE_TAKE(encodings->tape, xlm_view, 1);
    *whole = (xlm_view){.text = XLM_TEXT_CORRUPTED, .layer = layers, .rows = XLM_ROWS_ALL, .gradient = true, .dropout = true};
    xlm_encodings_add_view(encodings, (xlm_view_use){.view = whole});
}

/* ---- encoding ---- */

/* A view, made once for all objectives that declare it. */
struct taken {
    xlm_view_use use;
    xlm_encoded encoded;
    struct taken *next;
};

struct xlm_encoded_views {
    xlm_tape *tape;
    xlm_texts texts;
    const xlm_shared_view *shared;
    int64_t hidden_size;
    xlm_encodings encodings;
    struct taken *taken;
};

/* The number of the view's text, by which its draws differ from those of other texts. */
static uint32_t number_of_text(const xlm_view *v)
{
    static const uint32_t number[][3] = {
        [XLM_TEXT_CORRUPTED] = {0, 4, 5}, [XLM_TEXT_ORIGINAL] = {1, 2, 3}, [XLM_TEXT_MADE] = {6, 6, 6}};
    return number[v->text][v->side];
}

/* The number of the first call that draws. Encodings that differ in text, side, stack, causality, weights, gradient or dropout
 * have different ranges of numbers; that of the stream's own corrupted text begins with 0. Views whose number is not 0, and views
 * of made texts, also have keys of their own (draws_of). */
static uint32_t first_site(const xlm_view *v)
{
    enum { APART = 1 << 24 };
    const uint32_t kind = v->stack == XLM_STACK_DECODER ? 2 : v->causal;
    return is_main(v) ? 0 : (1 + kind * 64 + number_of_text(v) * 8 + v->weights * 4U + v->gradient * 2U + v->dropout) * APART;
}

/* The number of the key for draws (xlm_tape_mode.draws). */
G_STATIC_ASSERT(XLM_MAX_VIEW_NUMBER < 1 << 4);
static uint32_t draws_of(xlm_view_use use)
{
    const uint32_t number = (uint32_t)use.view->number;
    if (use.view->text != XLM_TEXT_MADE)
        return number;
    const char *name = use.hosted->loss.name;
    return (uint32_t)xlm_digest(name, strlen(name), 0) << 4 | 1U << 31 | number;
}

/* What a decoder attends to. */
struct memory {
    xlm_var *states;        /* NULL: the view is of the encoder */
    const int32_t *offsets; /* [sequences + 1] */
};

static xlm_encoded find_view(xlm_encoded_views *views, xlm_view_use use);

static struct memory find_memory(xlm_encoded_views *views, const xlm_encoding *e)
{
    if (e->memory == NULL)
        return (struct memory){NULL, NULL};
    const xlm_view_use use = use_of(e->use.hosted, e->use.view->memory);
    const xlm_encoded view = find_view(views, use);
    const int32_t *offsets = view.text->offsets;
    if (view.states == NULL) /* a text without sequences */
        return (struct memory){e->memory->hidden[use.view->layer], offsets};
    if (view.rows != NULL)
        offsets = xlm_stack_offsets_of_rows(views->tape, view.text, view.rows, (int32_t)xlm_var_rows(view.states));
    return (struct memory){view.states, offsets};
}

static void encode(xlm_encoding *e, const xlm_model *model, xlm_tape *tape, xlm_texts texts, struct memory memory)
{
    e->source = xlm_view_find_source(tape, texts, e->use);
    e->computed = rows_of(tape, &e->source, e->rows, &e->n);
    if (e->n == 0)
        e->computed = NULL;
    e->hidden = memory.states == NULL
                    ? xlm_model_encode(model, tape, e->source.text, e->use.view->causal, e->layer, e->computed, e->n)
                    : xlm_model_decode(model, tape, e->source.text, memory.states, memory.offsets, e->layer, e->computed, e->n);
}

xlm_encoded_views *xlm_views_encode(xlm_encodings *encodings, const xlm_model *model, xlm_texts texts,
                                    const xlm_shared_view *shared, xlm_real *averaged)
{
    xlm_tape *tape = encodings->tape;
    xlm_encoded_views *views = XLM_TAPE_TAKE(tape, xlm_encoded_views, 1);
    *views = (xlm_encoded_views){.tape = tape, .texts = texts, .shared = shared, .encodings = *encodings,
                                 .hidden_size = xlm_model_get_config(model)->hidden_size};
    xlm_tape_mode before = xlm_tape_get_mode(tape);
    for (xlm_encoding *e = encodings->first; e != NULL; e = e->next) {
        const xlm_view *view = e->use.view;
        const struct memory memory = find_memory(views, e);
        xlm_tape_mode mode = before;
        mode.values = view->weights == XLM_WEIGHTS_AVERAGED ? averaged : NULL;
        mode.gradient = before.gradient && view->gradient;
        mode.training = before.training && view->dropout;
        mode.draws = draws_of(e->use);
        if (!is_main(view))
            mode.site = first_site(view);
        xlm_tape_set_mode(tape, mode);
        encode(e, model, tape, texts, memory);
        if (is_main(view))
            before.site = xlm_tape_get_mode(tape).site;
        xlm_tape_set_mode(tape, before);
    }
    return views;
}

xlm_var **xlm_views_whole(const xlm_encoded_views *views) { return views->encodings.first->hidden; }

/* ---- for an objective ---- */

struct xlm_pass_views {
    int n;
    xlm_encoded *view; /* [n]; text NULL: not encoded now */
};

/* Where rows[n] of the text are among the computed rows of the highest layer. */
static const int32_t *places_of(xlm_tape *tape, const xlm_encoding *e, const int32_t *rows, int32_t n)
{
    int32_t *places = XLM_TAPE_TAKE(tape, int32_t, n);
    for (int32_t i = 0, place = 0; i < n; i++) {
        while (e->computed[place] < rows[i])
            place++;
        places[i] = place;
    }
    return places;
}

/* Takes the states of a view out of its encoding. rows: [n] those of the view, n > 0; NULL: all. */
static xlm_var *take_out(xlm_tape *tape, const xlm_encoding *e, const xlm_view *view, const int32_t *rows, int32_t n)
{
    xlm_var *states = e->hidden[view->layer];
    if (view->layer == e->layer && e->computed != NULL) {
        if (n < e->n)
            states = xlm_rows(tape, states, places_of(tape, e, rows, n), n);
    } else if (rows != NULL) {
        states = xlm_rows(tape, states, rows, n);
    }
    return view->gradient ? states : xlm_tape_hold(tape, states);
}

/* The states that an earlier pass has shared, as a variable. */
static xlm_var *take_shared(xlm_tape *tape, const xlm_shared_view *shared, const xlm_text *text, const int32_t *rows, int32_t n,
                            int64_t cols)
{
    xlm_var *states = xlm_constant(tape, n, cols, shared->states);
    xlm_row_key *keys = rows != NULL ? XLM_TAPE_TAKE(tape, xlm_row_key, n) : NULL;
    for (int32_t i = 0; keys != NULL && i < n; i++)
        keys[i] = text->keys[rows[i]];
    states->keys = keys != NULL ? keys : text->keys;
    return states;
}

static xlm_encoded make_view(xlm_encoded_views *views, xlm_view_use use)
{
    xlm_tape *tape = views->tape;
    const xlm_shared_view *shared = find_shared(views->shared, use);
    const bool made = shared != NULL && shared->made;
    const xlm_encoding *e = made ? NULL : find(&views->encodings, use);
    const xlm_view_source source = made ? xlm_view_find_source(tape, views->texts, use) : e->source;
    int32_t n;
    xlm_encoded encoded = {.text = source.text, .rows = rows_of(tape, &source, row_set(use.view), &n)};
    if (use.view->rows == XLM_ROWS_PREDICTED)
        encoded.targets = source.targets;
    if (n > 0)
        encoded.states = made ? take_shared(tape, shared, source.text, encoded.rows, n, views->hidden_size)
                              : take_out(tape, e, use.view, encoded.rows, n);
    return encoded;
}

static xlm_encoded find_view(xlm_encoded_views *views, xlm_view_use use)
{
    for (const struct taken *t = views->taken; t != NULL; t = t->next)
        if (xlm_view_is_same(t->use, use))
            return t->encoded;
    struct taken *t = XLM_TAPE_TAKE(views->tape, struct taken, 1);
    *t = (struct taken){use, make_view(views, use), views->taken};
    views->taken = t;
    return t->encoded;
}

xlm_var *xlm_encode_view(const xlm_model *model, xlm_tape *tape, const xlm_batch *batch, const xlm_view *view)
{
    xlm_encodings encodings = {.tape = tape};
    xlm_view resolved = *view;
    if (resolved.layer == XLM_TOP_LAYER)
        resolved.layer = xlm_model_get_config(model)->layers;
    const xlm_view_use use = {.view = &resolved};
    xlm_encodings_add_view(&encodings, use);
    return find_view(xlm_views_encode(&encodings, model, (xlm_texts){.batch = batch}, NULL, NULL), use).states;
}

void xlm_views_share(xlm_encoded_views *views, xlm_arena *arena, xlm_shared_view *shared)
{
    for (; shared != NULL; shared = shared->next) {
        if (shared->made)
            continue;
        const xlm_var *states = find_view(views, shared->use).states;
        const int64_t rows = states != NULL ? xlm_var_rows(states) : 0;
        shared->made = true;
        shared->states = XLM_TAKE(arena, xlm_real, MAX(rows, 1) * views->hidden_size);
        if (states != NULL && xlm_var_has_numbers(states))
            xlm_var_read(states, 0, rows, shared->states);
    }
}

const struct xlm_pass_views *xlm_views_of(xlm_encoded_views *views, const xlm_hosted *hosted, bool label)
{
    struct xlm_pass_views *own = XLM_TAPE_TAKE(views->tape, struct xlm_pass_views, 1);
    *own = (struct xlm_pass_views){.n = (int)hosted->views->len};
    own->view = XLM_TAPE_TAKE(views->tape, xlm_encoded, MAX(own->n, 1));
    for (int i = 0; i < own->n; i++) {
        const xlm_view_use use = use_of(hosted, i);
        own->view[i] = (xlm_encoded){.text = NULL};
        if (is_for(hosted, use.view, label))
            own->view[i] = find_view(views, use);
    }
    return own;
}

const xlm_encoded *xlm_pass_view(const xlm_pass *pass, int view)
{
    const struct xlm_pass_call *call = pass->call;
    const char *name = call->hosted->loss.name;
    const int n = (int)call->hosted->views->len;
    if (view < 0 || view >= n)
        g_error("objective %s: it asks for view %d, but has declared %d views", name, view, n);
    if (call->views == NULL || call->views->view[view].text == NULL)
        g_error("objective %s: view %d is not encoded here; count has no views, label those without gradient of texts that are "
                "not made, loss the others", name, view);
    return &call->views->view[view];
}
