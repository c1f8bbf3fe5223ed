/* xlm-mpi: pairs of sentences as batches that a model encodes. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_MODEL_ALIGNER_PAIR_BATCHES_H
#define XLM_MODEL_ALIGNER_PAIR_BATCHES_H

#include "model_aligner/pair_text.h"
#include "stream/batch_layout.h"

/* The form of a pair in a batch (stream/layouts.c): `<s> S </s> T </s>`, `<s> S </s> <s> T </s>` where positions begin again in
 * the target, or two separate sequences. */
typedef enum { XLM_PAIRS_BERT, XLM_PAIRS_XLM, XLM_PAIRS_APART } xlm_pair_form;

const char *xlm_pair_form_name(xlm_pair_form form); /* "bert", "xlm", "apart" */

/* Number of subwords of a side of a pair, with the token of its language if it has one. */
int64_t xlm_pair_tokens(const xlm_pair_text *text, const xlm_special_tokens *specials, int64_t pair, int side);
/* Does a pair of n and m of these fit into so many positions? */
bool xlm_pair_fits(xlm_pair_form form, int64_t n, int64_t m, int64_t positions);

/* Pairs of a rank that are encoded in one pass. */
typedef struct xlm_pair_batch {
    int64_t n;
    const int64_t *pair;    /* [n] numbers of pairs in the text */
    const int32_t *row[2];  /* [n] the row of the first subword of each side */
    xlm_text text;
} xlm_pair_batch;

/* The parts of ranks begin at multiples of so many pairs, so that the passes are the same on any number of ranks. */
enum { XLM_PAIRS_UNIT = 16 };

/* The next pass: the pairs from *next on, without those that cannot be encoded because a side has no subwords or the pair does
 * not fit, which may be all of them. *next: 0 before the first call; becomes the number of the pair after the pass. Must be less
 * than text->pairs. Memory is the arena's. */
void xlm_pair_batch_next(const xlm_pair_text *text, xlm_pair_form form, int64_t positions, const xlm_special_tokens *specials,
                         int64_t *next, xlm_arena *arena, xlm_pair_batch *batch);

#endif
