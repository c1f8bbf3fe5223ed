/* xlm-mpi: the encodings that objectives' views are made of. SPDX-License-Identifier: GPL-3.0-or-later */
#include "objective/views.h"

#include <string.h>

#include "tensor/tape.h"

/* ---- rows ---- */

static xlm_row_set row_set(const xlm_view *view)
{
    return (xlm_row_set){.kinds = 1U << view->rows, .reach = view->rows == XLM_ROWS_NEAR ? view->reach : 0};
}

static bool has_rows(xlm_row_set set, xlm_view_rows rows) { return (set.kinds & 1U << rows) != 0; }

static xlm_row_set both(xlm_row_set a, xlm_row_set b) { return (xlm_row_set){a.kinds | b.kinds, MAX(a.reach, b.reach)}; }

/* wanted[row] for the predicted rows, and as far as the set reaches around them. */
static void mark_near(const xlm_batch *batch, int64_t reach, bool *wanted)
{
    for (int32_t i = 0, s = 0; i < batch->predicted; i++) {
        const int32_t row = batch->predicted_rows[i];
        while (batch->offsets[s + 1] <= row)
            s++;
        const int64_t first = MAX(row - reach, batch->offsets[s]), last = MIN(row + reach, batch->offsets[s + 1] - 1);
        for (int64_t near = first; near <= last; near++)
            wanted[near] = true;
    }
}

/* wanted[row] for rows that are linked to predicted ones. */
static void mark_linked(xlm_tape *tape, const xlm_batch *batch, bool *wanted)
{
    const xlm_annotation *links = xlm_batch_find_annotation(batch, "links");
    bool *predicted = XLM_TAPE_TAKE(tape, bool, batch->tokens);
    memset(predicted, 0, sizeof *predicted * (size_t)batch->tokens);
    for (int32_t i = 0; i < batch->predicted; i++)
        predicted[batch->predicted_rows[i]] = true;
    for (int32_t l = 0; links != NULL && l < links->length; l++)
        for (int side = 0; side < 2; side++)
            if (predicted[links->values[2 * l + side]])
                wanted[links->values[2 * l + 1 - side]] = true;
}

/* Which rows of a batch those are, ascending, and how many; NULL: all. */
static const int32_t *rows_of(xlm_tape *tape, const xlm_batch *batch, xlm_row_set set, int32_t *n)
{
    *n = batch->tokens;
    if (has_rows(set, XLM_ROWS_ALL))
        return NULL;
    *n = batch->predicted;
    if (set.kinds == 1U << XLM_ROWS_PREDICTED)
        return batch->predicted_rows;
    *n = batch->sequences;
    if (set.kinds == 1U << XLM_ROWS_FIRST)
        return batch->offsets;
    bool *wanted = XLM_TAPE_TAKE(tape, bool, batch->tokens);
    memset(wanted, 0, sizeof *wanted * (size_t)batch->tokens);
    if (has_rows(set, XLM_ROWS_PREDICTED) || has_rows(set, XLM_ROWS_NEAR) || has_rows(set, XLM_ROWS_LINKED))
        mark_near(batch, set.reach, wanted);
    if (has_rows(set, XLM_ROWS_LINKED))
        mark_linked(tape, batch, wanted);
    for (int32_t s = 0; has_rows(set, XLM_ROWS_FIRST) && s < batch->sequences; s++)
        wanted[batch->offsets[s]] = true;
    int32_t *rows = XLM_TAPE_TAKE(tape, int32_t, batch->tokens);
    *n = 0;
    for (int32_t row = 0; row < batch->tokens; row++)
        if (wanted[row])
            rows[(*n)++] = row;
    return rows;
}

/* ---- which ---- */

static bool is_main(const xlm_encoding *e)
{
    return e->input == XLM_INPUT_CORRUPTED && e->weights == XLM_WEIGHTS_LIVE && e->gradient && e->dropout && e->number == 0;
}

/* An objective needs the view for its label, or for its loss. */
static bool is_for(const xlm_hosted *hosted, const xlm_view *view, bool label)
{
    const bool by_label = !view->gradient && hosted->loss.cls->label != NULL;
    return by_label == label;
}

static int find(const xlm_encodings *encodings, const xlm_view *view)
{
    for (int i = 0; i < encodings->n; i++) {
        const xlm_encoding *e = &encodings->encoding[i];
        if (e->input == view->input && e->weights == view->weights && e->gradient == view->gradient &&
            e->dropout == view->dropout && e->number == view->number)
            return i;
    }
    return -1;
}

static void add_view(xlm_encodings *encodings, const xlm_view *view)
{
    const int found = find(encodings, view);
    if (found >= 0) {
        xlm_encoding *e = &encodings->encoding[found];
        if (view->layer > e->layer)
            e->layer = view->layer, e->rows = row_set(view);
        else if (view->layer == e->layer)
            e->rows = both(e->rows, row_set(view));
        return;
    }
    const xlm_encoding e = {.input = view->input, .weights = view->weights, .gradient = view->gradient, .dropout = view->dropout,
                            .number = view->number, .layer = view->layer, .rows = row_set(view)};
    g_assert(encodings->n < (int)G_N_ELEMENTS(encodings->encoding));
    const int at = encodings->n++;
    encodings->encoding[at] = e;
    if (is_main(&e)) {
        encodings->encoding[at] = encodings->encoding[0];
        encodings->encoding[0] = e;
    }
}

bool xlm_view_is_same(const xlm_view *a, const xlm_view *b)
{
    return a->input == b->input && a->weights == b->weights && a->layer == b->layer && a->rows == b->rows &&
           row_set(a).reach == row_set(b).reach && a->gradient == b->gradient && a->dropout == b->dropout &&
           a->number == b->number;
}

static const xlm_shared_view *find_shared(const xlm_shared_view *shared, const xlm_view *view)
{
    while (shared != NULL && !xlm_view_is_same(&shared->view, view))
        shared = shared->next;
    return shared;
}

static bool is_made(const xlm_shared_view *shared, const xlm_view *view)
{
    const xlm_shared_view *found = find_shared(shared, view);
    return found != NULL && found->made;
}

void xlm_encodings_add(xlm_encodings *encodings, const xlm_hosted *hosted, bool label, const xlm_shared_view *shared)
{
    for (guint i = 0; i < hosted->views->len; i++) {
        const xlm_view *view = &g_array_index(hosted->views, xlm_view, i);
        if (is_for(hosted, view, label) && !is_made(shared, view))
            add_view(encodings, view);
    }
}

void xlm_encodings_share(xlm_encodings *encodings, const xlm_hosted *hosted, bool label, xlm_arena *arena,
                         xlm_shared_view **shared)
{
    for (guint i = 0; i < hosted->views->len; i++) {
        const xlm_view *view = &g_array_index(hosted->views, xlm_view, i);
        if (view->gradient || view->weights != XLM_WEIGHTS_LIVE || !is_for(hosted, view, label) || find(encodings, view) < 0 ||
            find_shared(*shared, view) != NULL)
            continue;
        add_view(encodings, view);
        xlm_shared_view *one = XLM_TAKE(arena, xlm_shared_view, 1);
        *one = (xlm_shared_view){.view = *view, .next = *shared};
        *shared = one;
    }
}

void xlm_encodings_add_whole(xlm_encodings *encodings, int64_t layers)
{
    const xlm_view whole = {.input = XLM_INPUT_CORRUPTED, .layer = layers, .rows = XLM_ROWS_ALL, .gradient = true,
                            .dropout = true};
    add_view(encodings, &whole);
}

/* ---- encoding ---- */

/* A view, made once for all who declare it. */
struct taken {
    xlm_view view;
    xlm_encoded encoded;
    struct taken *next;
};

struct done {
    const xlm_batch *batch;
    xlm_var **hidden;    /* [layer + 1] */
    const int32_t *rows; /* [n] of the last; NULL: all */
    int32_t n;
};

struct xlm_encoded_views {
    xlm_tape *tape;
    const xlm_batch *batch; /* the stream's */
    const xlm_shared_view *shared;
    int64_t hidden_size;
    xlm_encodings encodings;
    struct done done[G_N_ELEMENTS(((xlm_encodings *)NULL)->encoding)];
    struct taken *taken;
};

/* Calls that draw are numbered apart in each encoding but the stream's own batch's, whose numbers begin with 0; those of views
 * with other numbers than 0 draw with keys of their own. */
static uint32_t first_site(const xlm_encoding *e)
{
    enum { APART = 1 << 24 };
    return is_main(e) ? 0 : (uint32_t)(1 + e->input * 8 + e->weights * 4 + e->gradient * 2 + e->dropout) * APART;
}

static struct done encode(const xlm_encoding *e, const xlm_model *model, xlm_tape *tape, const xlm_batch *batch)
{
    struct done done = {.batch = xlm_view_batch(tape, batch, e->input)};
    done.rows = rows_of(tape, done.batch, e->rows, &done.n);
    if (done.n == 0)
        done.rows = NULL;
    done.hidden = xlm_model_encode(model, tape, done.batch, e->layer, done.rows, done.n);
    return done;
}

xlm_encoded_views *xlm_views_encode(const xlm_encodings *encodings, const xlm_model *model, xlm_tape *tape,
                                    const xlm_batch *batch, const xlm_shared_view *shared, xlm_real *averaged)
{
    xlm_encoded_views *views = XLM_TAPE_TAKE(tape, xlm_encoded_views, 1);
    *views = (xlm_encoded_views){.tape = tape, .batch = batch, .shared = shared, .encodings = *encodings,
                                 .hidden_size = xlm_model_get_config(model)->hidden_size};
    xlm_tape_mode before = xlm_tape_get_mode(tape);
    for (int i = 0; i < encodings->n; i++) {
        const xlm_encoding *e = &encodings->encoding[i];
        xlm_tape_mode mode = before;
        mode.values = e->weights == XLM_WEIGHTS_AVERAGED ? averaged : NULL;
        mode.gradient = before.gradient && e->gradient;
        mode.training = before.training && e->dropout;
        mode.draws = (uint32_t)e->number;
        if (!is_main(e))
            mode.site = first_site(e);
        xlm_tape_set_mode(tape, mode);
        views->done[i] = encode(e, model, tape, batch);
        if (is_main(e))
            before.site = xlm_tape_get_mode(tape).site;
    }
    xlm_tape_set_mode(tape, before);
    return views;
}

xlm_var **xlm_views_whole(const xlm_encoded_views *views) { return views->done[0].hidden; }

/* ---- for an objective ---- */

struct xlm_pass_views {
    int n;
    xlm_encoded *view; /* [n]; batch NULL: not encoded now */
};

/* rows[n] of the batch by their numbers among those of the last layer that were computed. */
static const int32_t *places_of(xlm_tape *tape, const struct done *done, const int32_t *rows, int32_t n)
{
    int32_t *places = XLM_TAPE_TAKE(tape, int32_t, n);
    for (int32_t i = 0, place = 0; i < n; i++) {
        while (done->rows[place] < rows[i])
            place++;
        places[i] = place;
    }
    return places;
}

/* rows[n]: of the view, n > 0. */
static xlm_var *take_out(xlm_encoded_views *views, int encoding, const xlm_view *view, const int32_t *rows, int32_t n)
{
    const struct done *done = &views->done[encoding];
    xlm_var *states = done->hidden[view->layer];
    if (view->layer == views->encodings.encoding[encoding].layer && done->rows != NULL) {
        if (n < done->n)
            states = xlm_rows(views->tape, states, places_of(views->tape, done, rows, n), n);
    } else if (rows != NULL) {
        states = xlm_rows(views->tape, states, rows, n);
    }
    return view->gradient ? states : xlm_tape_hold(views->tape, states);
}

/* The variable of states that a pass before has shared. */
static xlm_var *take_shared(xlm_tape *tape, const xlm_shared_view *shared, const xlm_batch *batch, const int32_t *rows, int32_t n,
                            int64_t cols)
{
    xlm_var *states = xlm_constant(tape, n, cols, shared->states);
    xlm_row_key *keys = rows != NULL ? XLM_TAPE_TAKE(tape, xlm_row_key, n) : NULL;
    for (int32_t i = 0; keys != NULL && i < n; i++)
        keys[i] = batch->keys[rows[i]];
    states->keys = keys != NULL ? keys : batch->keys;
    return states;
}

static xlm_encoded make_view(xlm_encoded_views *views, const xlm_view *view)
{
    const xlm_shared_view *shared = find_shared(views->shared, view);
    const bool made = shared != NULL && shared->made;
    const int encoding = made ? -1 : find(&views->encodings, view);
    xlm_encoded encoded = {
        .batch = made ? xlm_view_batch(views->tape, views->batch, view->input) : views->done[encoding].batch,
    };
    int32_t n;
    encoded.rows = rows_of(views->tape, encoded.batch, row_set(view), &n);
    if (n > 0)
        encoded.states = made ? take_shared(views->tape, shared, encoded.batch, encoded.rows, n, views->hidden_size)
                              : take_out(views, encoding, view, encoded.rows, n);
    return encoded;
}

static xlm_encoded find_view(xlm_encoded_views *views, const xlm_view *view)
{
    for (const struct taken *t = views->taken; t != NULL; t = t->next)
        if (xlm_view_is_same(&t->view, view))
            return t->encoded;
    struct taken *t = XLM_TAPE_TAKE(views->tape, struct taken, 1);
    *t = (struct taken){*view, make_view(views, view), views->taken};
    views->taken = t;
    return t->encoded;
}

xlm_var *xlm_host_encode_view(const xlm_model *model, xlm_tape *tape, const xlm_batch *batch, const xlm_view *view)
{
    xlm_encodings encodings = {0};
    xlm_view resolved = *view;
    if (resolved.layer == XLM_TOP_LAYER)
        resolved.layer = xlm_model_get_config(model)->layers;
    add_view(&encodings, &resolved);
    return find_view(xlm_views_encode(&encodings, model, tape, batch, NULL, NULL), &resolved).states;
}

void xlm_views_share(xlm_encoded_views *views, xlm_arena *arena, xlm_shared_view *shared)
{
    for (; shared != NULL; shared = shared->next) {
        if (shared->made)
            continue;
        const xlm_var *states = find_view(views, &shared->view).states;
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
        const xlm_view *view = &g_array_index(hosted->views, xlm_view, i);
        own->view[i] = (xlm_encoded){.batch = NULL};
        if (is_for(hosted, view, label))
            own->view[i] = find_view(views, view);
    }
    return own;
}

const xlm_encoded *xlm_pass_view(const xlm_pass *pass, int view)
{
    const struct xlm_pass_call *call = pass->call;
    const char *name = call->hosted->loss.name;
    const int n = (int)call->hosted->views->len;
    if (view < 0 || view >= n)
        g_error("objective %s: it asks for view %d, and has declared %d", name, view, n);
    if (call->views == NULL || call->views->view[view].batch == NULL)
        g_error("objective %s: view %d is not encoded here; count sees none, label those without gradient, loss the others", name,
                view);
    return &call->views->view[view];
}
