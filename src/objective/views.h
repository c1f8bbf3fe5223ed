/* xlm-mpi: the encodings that objectives' views are made of. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_OBJECTIVE_VIEWS_H
#define XLM_OBJECTIVE_VIEWS_H

#include "objective/hosted.h"

/* Rows that several views want together. */
typedef struct xlm_row_set {
    unsigned kinds; /* a bit 1 << xlm_view_rows for each */
    int64_t reach;  /* the largest of XLM_ROWS_NEAR */
} xlm_row_set;

/* A view, and the objective that declares it: it says which made text and which memory the view means. */
typedef struct xlm_view_use {
    const xlm_hosted *hosted; /* NULL: of no objective; such a view is of a text of the batch */
    const xlm_view *view;
} xlm_view_use;

/* A text that is encoded, and which of its rows are predicted. */
typedef struct xlm_view_source {
    const xlm_text *text;
    int32_t predicted;
    const int32_t *predicted_rows, *targets; /* [predicted] */
    const xlm_annotation *links;             /* NULL: none */
} xlm_view_source;

/* What equal views have in common but for the layer and its rows. */
typedef struct xlm_encoding {
    xlm_view_use use;            /* the first of them */
    struct xlm_encoding *memory; /* of a decoder: what it attends to, earlier in the list; NULL: an encoder */
    int64_t layer;               /* the highest that is asked for */
    xlm_row_set rows;            /* of that layer: those that are wanted */
    struct xlm_encoding *next;
    /* Set by xlm_views_encode. */
    xlm_view_source source;
    xlm_var **hidden;            /* [layer + 1] */
    const int32_t *computed;     /* [n] rows of the last; NULL: all */
    int32_t n;
} xlm_encoding;

/* The encodings that objectives ask for, each once: the nodes of a directed graph without circles, as a list in which each comes
 * after its memory. The encoding of the stream's own corrupted text comes first. Memory of the tape. */
typedef struct xlm_encodings {
    xlm_tape *tape;
    xlm_encoding *first; /* NULL: none */
} xlm_encodings;

/* A view without gradient, of the live weights, that is encoded for a label and asked for again afterwards, by other labels or
 * by the loss of a class without label: its states stay until the end of the step. They are much less than what a pass takes,
 * and encoding them once more is a forward pass. */
typedef struct xlm_shared_view {
    xlm_view_use use;
    bool made;        /* the passes after this one find it here */
    xlm_real *states; /* [rows x d] */
    struct xlm_shared_view *next;
} xlm_shared_view;

/* Both are one and the same view. */
bool xlm_view_is_same(xlm_view_use a, xlm_view_use b);

/* Add those that one objective needs for its label, or for its loss, but for shared views that are made. */
void xlm_encodings_add(xlm_encodings *encodings, const xlm_hosted *hosted, bool label, const xlm_shared_view *shared);
/* Of an objective that is called later, for its label or its loss: views that one of the encodings can serve are put into
 * *shared, and the encodings changed so that they do. Memory of the arena. */
void xlm_encodings_share(xlm_encodings *encodings, const xlm_hosted *hosted, bool label, xlm_arena *arena,
                         xlm_shared_view **shared);
/* All rows and all layers of the stream's corrupted text, with gradient and dropout, are wanted too. */
void xlm_encodings_add_whole(xlm_encodings *encodings, int64_t layers);
/* Add one view, and the view that is its memory. Returns its node. */
xlm_encoding *xlm_encodings_add_view(xlm_encodings *encodings, xlm_view_use use);

/* The texts of a pass. */
typedef struct xlm_texts {
    const xlm_batch *batch;      /* the stream's */
    const xlm_text *const *made; /* [objectives] by their labels; NULL: none, by an objective or by all */
} xlm_texts;

/* Encoded, as far as an objective's views ask for it; memory of the tape. */
typedef struct xlm_encoded_views xlm_encoded_views;
/* Encode. texts: what there is to encode; shared: what the passes before over this batch have made; averaged: the flat array of
 * averaged weights, or NULL where no encoding reads it. The mode of the tape is what it was before, with the draws that follow the
 * encoding of the stream's corrupted text, so that those of objectives do not depend on what else is encoded. */
xlm_encoded_views *xlm_views_encode(xlm_encodings *encodings, const xlm_model *model, xlm_texts texts,
                                    const xlm_shared_view *shared, xlm_real *averaged);
/* H[0 … L] that xlm_encodings_add_whole asked for. */
xlm_var **xlm_views_whole(const xlm_encoded_views *views);
/* An objective's views among them, for its label or for its loss: what xlm_pass_view finds. */
const struct xlm_pass_views *xlm_views_of(xlm_encoded_views *views, const xlm_hosted *hosted, bool label);

/* The states of shared views that are not made yet, which must be among the encodings; memory of the arena. */
void xlm_views_share(xlm_encoded_views *views, xlm_arena *arena, xlm_shared_view *shared);

/* The text of a view: the stream's own, a side of it, or a made one; memory of the tape. */
xlm_view_source xlm_view_find_source(xlm_tape *tape, xlm_texts texts, xlm_view_use use);

/* The states of one view of a batch, for programs that look at a model without objectives: live weights, on a tape that has
 * begun. NULL when the view has no rows. */
xlm_var *xlm_encode_view(const xlm_model *model, xlm_tape *tape, const xlm_batch *batch, const xlm_view *view);

#endif
