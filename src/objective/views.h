/* xlm-mpi: the encodings for the views of objectives. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_OBJECTIVE_VIEWS_H
#define XLM_OBJECTIVE_VIEWS_H

#include "objective/hosted.h"

/* The union of the rows that several views need. */
typedef struct xlm_row_set {
    unsigned kinds; /* a bit 1 << xlm_view_rows for each */
    int64_t reach;  /* the largest reach of XLM_ROWS_NEAR */
} xlm_row_set;

/* A view, and the objective that declares it, which determines the made text and the memory of the view. */
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

/* An encoding: what views that differ only in layer and rows have in common. */
typedef struct xlm_encoding {
    xlm_view_use use;            /* the first of them */
    struct xlm_encoding *memory; /* for a decoder: the encoding that it attends to, earlier in the list; NULL: an encoder */
    int64_t layer;               /* the highest requested layer */
    xlm_row_set rows;            /* requested rows of that layer */
    struct xlm_encoding *next;
    /* Set by xlm_views_encode. */
    xlm_view_source source;
    xlm_var **hidden;            /* [layer + 1] */
    const int32_t *computed;     /* [n] computed rows of the last layer; NULL: all */
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
    bool made;        /* it was encoded, and later passes find its states here */
    xlm_real *states; /* [rows x d] */
    struct xlm_shared_view *next;
} xlm_shared_view;

/* Are both the same view? */
bool xlm_view_is_same(xlm_view_use a, xlm_view_use b);

/* Add the encodings that one objective needs for its label, or for its loss, except shared views that were already encoded. */
void xlm_encodings_add(xlm_encodings *encodings, const xlm_hosted *hosted, bool label, const xlm_shared_view *shared);
/* For an objective that is called later, for its label or its loss: add views that one of the encodings can also compute to
 * *shared, and change the encodings so that they do. Memory of the arena. */
void xlm_encodings_share(xlm_encodings *encodings, const xlm_hosted *hosted, bool label, xlm_arena *arena,
                         xlm_shared_view **shared);
/* Also request all rows and all layers of the stream's corrupted text, with gradient and dropout. */
void xlm_encodings_add_whole(xlm_encodings *encodings, int64_t layers);
/* Add one view, and the view that is its memory. Returns its node. */
xlm_encoding *xlm_encodings_add_view(xlm_encodings *encodings, xlm_view_use use);

/* The texts of a pass. */
typedef struct xlm_texts {
    const xlm_batch *batch;      /* the stream's */
    const xlm_text *const *made; /* [objectives] by their labels; NULL: none, by an objective or by all */
} xlm_texts;

/* The encoded views of an objective; memory of the tape. */
typedef struct xlm_encoded_views xlm_encoded_views;
/* Encode. texts: the texts of the pass; shared: results of earlier passes over this batch; averaged: the flat array of averaged
 * weights, or NULL if no encoding reads it. Restores the mode of the tape, with the draws that follow the encoding of the
 * stream's corrupted text, so that the draws of objectives do not depend on what else is encoded. */
xlm_encoded_views *xlm_views_encode(xlm_encodings *encodings, const xlm_model *model, xlm_texts texts,
                                    const xlm_shared_view *shared, xlm_real *averaged);
/* H[0 … L] that xlm_encodings_add_whole requested. */
xlm_var **xlm_views_whole(const xlm_encoded_views *views);
/* The views of an objective, for its label or for its loss, which xlm_pass_view finds. */
const struct xlm_pass_views *xlm_views_of(xlm_encoded_views *views, const xlm_hosted *hosted, bool label);

/* Store the states of shared views that were not encoded before and must be among the encodings; memory of the arena. */
void xlm_views_share(xlm_encoded_views *views, xlm_arena *arena, xlm_shared_view *shared);

/* The text of a view: the stream's own, a side of it, or a made one; memory of the tape. */
xlm_view_source xlm_view_find_source(xlm_tape *tape, xlm_texts texts, xlm_view_use use);

/* The states of one view of a batch, for programs that examine a model without objectives: live weights, on a tape that has
 * begun. NULL when the view has no rows. */
xlm_var *xlm_encode_view(const xlm_model *model, xlm_tape *tape, const xlm_batch *batch, const xlm_view *view);

#endif
