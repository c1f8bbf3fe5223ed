/* xlm-mpi: a batch while the stages of a stream fill it in. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The layout stage takes the arrays and fills in the text; stages after it add annotations, change the input and choose the rows
 * that are predicted. Objectives get the same arrays as an xlm_batch, which nobody may write to. */
#ifndef XLM_STREAM_BATCH_LAYOUT_H
#define XLM_STREAM_BATCH_LAYOUT_H

#include <xlm/batch.h>

#include "base/arena.h"
#include "base/error.h"

/* The arrays are those of the corrupted text. */
typedef struct xlm_batch_layout {
    xlm_arena *arena;        /* everything is in it */
    xlm_text original;       /* since xlm_batch_layout_begin_corruption */
    int32_t tokens;          /* T */
    int32_t sequences;       /* S */
    int32_t predicted;       /* M, 0 at first */
    const xlm_special_tokens *specials; /* of the vocabulary that the ids are of */
    int32_t *offsets;        /* [S+1] */
    int32_t *ids;            /* [T] */
    int32_t *unmasked;       /* [T] */
    int32_t *positions;      /* [T] */
    int32_t *languages;      /* [T] the same memory as unswitched, unless xlm_batch_layout_switch is called */
    int32_t *unswitched;     /* [T] */
    int32_t *types;          /* [T] */
    xlm_row_key *keys;       /* [T] */
    int32_t *predicted_rows; /* [as many as can be predicted] */
    int32_t *targets;        /* [same] */
    const xlm_annotation *annotations;
} xlm_batch_layout;

/* Take the arrays, for at most `predicted` predicted rows. specials is borrowed. EX_CONFIG when there are more tokens or
 * predicted rows than a batch can count. */
bool xlm_batch_layout_take(xlm_batch_layout *layout, xlm_arena *arena, const xlm_special_tokens *specials, int64_t sequences,
                           int64_t tokens, int64_t predicted, GError **error);
/* The text is whole, in all arrays but ids: ids are copied from unmasked, and later stages change them. original: the text before
 * noise; NULL: there is no noise, and it is this one. */
void xlm_batch_layout_begin_corruption(xlm_batch_layout *layout, const xlm_text *original);
/* What the layout has laid out, before it is masked and switched; borrows its arrays. */
xlm_text xlm_batch_layout_original(const xlm_batch_layout *layout);
/* Give the corrupted text languages of its own, which begin as the unswitched ones. */
void xlm_batch_layout_switch(xlm_batch_layout *layout);
/* Add an annotation and return its values, [T], [M] as it is now, or [S], to be filled in. name is borrowed. */
int32_t *xlm_batch_layout_annotate(xlm_batch_layout *layout, const char *name, xlm_axis axis);
/* The same with values that are there already, which are borrowed. */
void xlm_batch_layout_attach(xlm_batch_layout *layout, const char *name, xlm_axis axis, const int32_t *values);

/* The same on an axis of its own, [length x width]. */
int32_t *xlm_batch_layout_annotate_own(xlm_batch_layout *layout, const char *name, int32_t length, int32_t width);

/* What the objectives see. */
xlm_batch xlm_batch_of_layout(const xlm_batch_layout *layout);

#endif
