/* xlm-mpi: the encodings for the views of objectives. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   xlm_encodings_add ... -> xlm_views_encode -> xlm_views_of, for each objective
 *
 * The views of all objectives are collected as encodings, each of which is computed once. */
#ifndef XLM_OBJECTIVE_VIEWS_H
#define XLM_OBJECTIVE_VIEWS_H

#include "objective/hosted.h"

/* The union of the rows that several views need. */
typedef struct xlm_row_set {
    unsigned kinds; /* a bit 1 << xlm_view_rows for each kind */
    int64_t reach;  /* the maximum reach of XLM_ROWS_NEAR */
} xlm_row_set;

/* A view, and the objective that has declared it, whose made text and whose views as memory it refers to. */
typedef struct xlm_view_use {
    const xlm_hosted *hosted; /* NULL: no objective; the view then has a text of the batch */
    const xlm_view *view;
} xlm_view_use;

/* A text that is encoded, with its predicted rows. */
typedef struct xlm_view_source {
    const xlm_text *text;
    int32_t predicted;
    const int32_t *predicted_rows, *targets; /* [predicted] */
    const xlm_annotation *links;             /* NULL: none */
} xlm_view_source;

/* An encoding, which all views share that differ only in layer and rows. */
typedef struct xlm_encoding {
    xlm_view_use use;            /* the first of these views */
    struct xlm_encoding *memory; /* for a decoder: the encoding that it attends to, earlier in the list; NULL: an encoder */
    int64_t layer;               /* the highest layer that is requested */
    xlm_row_set rows;            /* the rows of that layer that are requested */
    struct xlm_encoding *next;
    /* Set by xlm_views_encode. */
    xlm_view_source source;
    xlm_var **hidden;            /* [layer + 1] */
    const int32_t *computed;     /* [n] rows of the highest layer that were computed, ascending; NULL: all */
    int32_t n;
} xlm_encoding;

/* The encodings that objectives request, each once: the nodes of a directed acyclic graph, as a list in which each node comes
 * after its memory. The encoding of the stream's own corrupted text comes first. Memory of the tape. */
typedef struct xlm_encodings {
    xlm_tape *tape;
    xlm_encoding *first; /* NULL: none */
} xlm_encodings;

/* A view of the live weights without gradient that is encoded for a label and requested again later, by other labels or by the
 * loss of a class without label. Its states are kept until the end of the step: they are small compared with the memory of a
 * pass, and encoding them again would take a forward pass. */
typedef struct xlm_shared_view {
    xlm_view_use use;
    bool made;        /* it has been encoded, and `states` is valid */
    xlm_real *states; /* [rows x d] */
    struct xlm_shared_view *next;
} xlm_shared_view;

/* Are both the same view? */
bool xlm_view_is_same(xlm_view_use a, xlm_view_use b);
/* Is the view encoded for the objective's label, not for its loss? */
bool xlm_view_is_for_label(const xlm_hosted *hosted, const xlm_view *view);

/* Add the encodings that one objective needs for its label, or for its loss, except shared views that were already encoded. */
void xlm_encodings_add(xlm_encodings *encodings, const xlm_hosted *hosted, bool label, const xlm_shared_view *shared);
/* For an objective that is called in a later pass, for its label or its loss: views without gradient that one of the encodings
 * can compute now are added to *shared, and to what that encoding computes. Memory of the arena. */
void xlm_encodings_share(xlm_encodings *encodings, const xlm_hosted *hosted, bool label, xlm_arena *arena,
                         xlm_shared_view **shared);
/* Also request all rows and all layers of the stream's corrupted text, with gradient and dropout. */
void xlm_encodings_add_whole(xlm_encodings *encodings, int64_t layers);
/* Add one view and, before it, the view that is its memory. Returns its encoding. */
xlm_encoding *xlm_encodings_add_view(xlm_encodings *encodings, xlm_view_use use);

/* The texts of a pass. */
typedef struct xlm_texts {
    const xlm_batch *batch;      /* the stream's */
    const xlm_text *const *made; /* [objectives] by their labels; NULL: none, by an objective or by all */
} xlm_texts;

/* The encoded views of an objective; memory of the tape. */
typedef struct xlm_encoded_views xlm_encoded_views;
/* Compute the encodings. shared: views that earlier passes over this batch have encoded; averaged: the flat array of averaged
 * weights, or NULL if no encoding reads it. Afterwards the mode of the tape is as before, except that draws continue after those
 * of the encoding of the stream's corrupted text: so draws of objectives do not depend on what else is encoded. */
xlm_encoded_views *xlm_views_encode(xlm_encodings *encodings, const xlm_model *model, xlm_texts texts,
                                    const xlm_shared_view *shared, xlm_real *averaged);
/* H[0 … L] of the stream's corrupted text, which xlm_encodings_add_whole must have requested. */
xlm_var **xlm_views_whole(const xlm_encoded_views *views);
/* The views of an objective for its label or for its loss, as xlm_pass_view needs them. */
const struct xlm_pass_views *xlm_views_of(xlm_encoded_views *views, const xlm_hosted *hosted, bool label);

/* Store the states of those shared views that have not been stored yet, all of which must be among the encodings; memory of the
 * arena. */
void xlm_views_share(xlm_encoded_views *views, xlm_arena *arena, xlm_shared_view *shared);

/* The text of a view: the stream's own, a side of it, or a made one; memory of the tape. */
xlm_view_source xlm_view_find_source(xlm_tape *tape, xlm_texts texts, xlm_view_use use);

/* The states of one view of the encoder, with live weights, for programs that examine a model without objectives. The tape must
 * have begun. NULL if the view has no rows. */
xlm_var *xlm_encode_view(const xlm_model *model, xlm_tape *tape, const xlm_batch *batch, const xlm_view *view);

#endif
