/* xlm-mpi: a batch that the stages of a stream are filling in. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The layout stage allocates the arrays and fills in the text. Later stages add annotations, change the input and choose the
 * predicted rows. Objectives get the same arrays as an xlm_batch, which is read-only. */
#ifndef XLM_STREAM_BATCH_LAYOUT_H
#define XLM_STREAM_BATCH_LAYOUT_H

#include <xlm/batch.h>

#include "base/arena.h"
#include "base/error.h"

/* The arrays belong to the corrupted text. T: its tokens, S: sequences, M: predicted rows. */
typedef struct xlm_batch_layout {
    xlm_arena *arena;        /* all memory comes from it */
    xlm_text original;       /* set by xlm_batch_layout_begin_corruption, */
    bool noise;              /* and so is this: the original text is another one than that of the arrays */
    int32_t tokens;          /* T */
    int32_t sequences;       /* S */
    int32_t predicted;       /* M, initially 0 */
    const xlm_special_tokens *specials; /* of the vocabulary of the ids */
    int32_t *offsets;        /* [S+1] */
    int32_t *ids;            /* [T] */
    int32_t *unmasked;       /* [T] the ids as laid out, before masking and switching */
    int32_t *positions;      /* [T] */
    int32_t *languages;      /* [T] the same memory as unswitched, unless xlm_batch_layout_switch is called */
    int32_t *unswitched;     /* [T] the languages as laid out, before switching */
    int32_t *types;          /* [T] */
    xlm_row_key *keys;       /* [T] */
    int32_t *predicted_rows; /* [maximum number of predicted rows], of which the first M are set */
    int32_t *targets;        /* [the same] */
    const xlm_annotation *annotations;
} xlm_batch_layout;

/* Allocate the arrays, for at most `predicted` predicted rows. specials is borrowed. EX_CONFIG when there are more than 2^31 - 1
 * tokens or predicted rows. */
bool xlm_batch_layout_take(xlm_batch_layout *layout, xlm_arena *arena, const xlm_special_tokens *specials, int64_t sequences,
                           int64_t tokens, int64_t predicted, GError **error);
/* Call this when all arrays of the text except ids are complete. It copies unmasked to ids, which later stages change. original:
 * the text before noise; NULL: there is no noise, and this text is the original. */
void xlm_batch_layout_begin_corruption(xlm_batch_layout *layout, const xlm_text *original);
/* The text as laid out, before masking and switching; it borrows the arrays. */
xlm_text xlm_batch_layout_original(const xlm_batch_layout *layout);
/* Give the corrupted text its own array of languages, initially a copy of the unswitched ones. */
void xlm_batch_layout_switch(xlm_batch_layout *layout);
/* Add an annotation and return its values, [T], [M] (the present M) or [S], for the caller to fill in. name is borrowed. */
int32_t *xlm_batch_layout_annotate(xlm_batch_layout *layout, const char *name, xlm_axis axis);
/* Add an annotation with existing values, which are borrowed. */
void xlm_batch_layout_attach(xlm_batch_layout *layout, const char *name, xlm_axis axis, const int32_t *values);

/* Add an annotation on an axis of its own and return its values, [length x width], for the caller to fill in. */
int32_t *xlm_batch_layout_annotate_own(xlm_batch_layout *layout, const char *name, int32_t length, int32_t width);

/* The batch that objectives get. */
xlm_batch xlm_batch_of_layout(const xlm_batch_layout *layout);

#endif
