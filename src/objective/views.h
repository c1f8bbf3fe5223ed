/* xlm-mpi: the encodings that objectives' views are made of. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_OBJECTIVE_VIEWS_H
#define XLM_OBJECTIVE_VIEWS_H

#include "objective/host_internal.h"

/* Rows that several views want together. */
typedef struct xlm_row_set {
    unsigned kinds; /* a bit 1 << xlm_view_rows for each */
    int64_t reach;  /* the largest of XLM_ROWS_NEAR */
} xlm_row_set;

/* What the views of one (input, weights, gradient, dropout, number) have in common. */
typedef struct xlm_encoding {
    xlm_view_input input;
    xlm_view_weights weights;
    bool gradient, dropout;
    int64_t number;
    int64_t layer;      /* the highest that is asked for */
    xlm_row_set rows;   /* of that layer: those that are wanted */
} xlm_encoding;

/* The encodings that objectives ask for, each once; the encoding of the stream's own batch comes first. */
typedef struct xlm_encodings {
    int n;
    xlm_encoding encoding[4 * 2 * 2 * (1 + 1 + XLM_MOST_VIEW_NUMBER)]; /* inputs, weights, gradient, no dropout or numbers */
} xlm_encodings;

/* A view without gradient, of the live weights, that is encoded for a label and asked for again afterwards, by other labels or
 * by the loss of a class without label: its states stay until the end of the step. They are much less than what a pass takes,
 * and encoding them once more is a forward pass. */
typedef struct xlm_shared_view {
    xlm_view view;
    bool made;        /* the passes after this one find it here */
    xlm_real *states; /* [rows x d] */
    struct xlm_shared_view *next;
} xlm_shared_view;

/* Both are one and the same view. */
bool xlm_view_is_same(const xlm_view *a, const xlm_view *b);

/* Add those that one objective needs for its label, or for its loss, but for shared views that are made. */
void xlm_encodings_add(xlm_encodings *encodings, const xlm_hosted *hosted, bool label, const xlm_shared_view *shared);
/* Of an objective that is called later, for its label or its loss: views that one of the encodings can serve are put into
 * *shared, and the encodings changed so that they do. Memory of the arena. */
void xlm_encodings_share(xlm_encodings *encodings, const xlm_hosted *hosted, bool label, xlm_arena *arena,
                         xlm_shared_view **shared);
/* All rows and all layers of the stream's own batch, with gradient and dropout, are wanted too. */
void xlm_encodings_add_whole(xlm_encodings *encodings, int64_t layers);

/* Encoded, as far as an objective's views ask for it; memory of the tape. */
typedef struct xlm_encoded_views xlm_encoded_views;
/* Encode. batch: the stream's; shared: what the passes before over this batch have made; averaged: the flat array of averaged
 * weights, or NULL where no encoding reads it. The mode of the tape is what it was before, with the draws that follow the
 * encoding of the stream's own batch, so that those of objectives do not depend on what else is encoded. */
xlm_encoded_views *xlm_views_encode(const xlm_encodings *encodings, const xlm_model *model, xlm_tape *tape,
                                    const xlm_batch *batch, const xlm_shared_view *shared, xlm_real *averaged);
/* H[0 … L] that xlm_encodings_add_whole asked for. */
xlm_var **xlm_views_whole(const xlm_encoded_views *views);
/* An objective's views among them, for its label or for its loss: what xlm_pass_view finds. */
const struct xlm_pass_views *xlm_views_of(xlm_encoded_views *views, const xlm_hosted *hosted, bool label);

/* The states of shared views that are not made yet, which must be among the encodings; memory of the arena. */
void xlm_views_share(xlm_encoded_views *views, xlm_arena *arena, xlm_shared_view *shared);

/* Its input as a packed batch: the stream's own, or made of it; memory of the tape. */
const xlm_batch *xlm_view_batch(xlm_tape *tape, const xlm_batch *batch, xlm_view_input input);

#endif
