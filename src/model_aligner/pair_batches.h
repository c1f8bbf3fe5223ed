/* xlm-mpi: pairs of sentences as batches that a model encodes. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_MODEL_ALIGNER_PAIR_BATCHES_H
#define XLM_MODEL_ALIGNER_PAIR_BATCHES_H

#include "model_aligner/pair_text.h"
#include "stream/batch_layout.h"

/* How a pair is in a batch (stream/layouts.c): `<s> S </s> T </s>`, `<s> S </s> <s> T </s>` with positions of their own, or
 * as two sequences that know nothing of one another. */
typedef enum { XLM_PAIRS_BERT, XLM_PAIRS_XLM, XLM_PAIRS_APART } xlm_pair_form;

const char *xlm_pair_form_name(xlm_pair_form form); /* "bert", "xlm", "apart" */
/* That of the first stream of pairs in the job of a checkpoint; XLM_PAIRS_BERT where there is none. */
xlm_pair_form xlm_pair_form_of_checkpoint(const char *path);

/* A pair of n and m subwords needs no more than so many positions. */
bool xlm_pair_fits(xlm_pair_form form, int64_t n, int64_t m, int64_t positions);

/* Pairs of a rank that are encoded in one pass. */
typedef struct xlm_pair_batch {
    int64_t n;
    const int64_t *pair;    /* [n] numbers of pairs in the text */
    const int32_t *row[2];  /* [n] of the first subword of each side */
    xlm_text text;
} xlm_pair_batch;

/* Parts of ranks begin at multiples of so many pairs: then the passes are the same on any number of ranks. */
enum { XLM_PAIRS_UNIT = 16 };

/* The pairs from *next on that make a pass, without those that cannot be encoded, because a side has no subwords or they do not
 * fit; there may be none left. *next: 0 before the first call, less than text->pairs; the pair after them afterwards. Memory of
 * the arena. */
void xlm_pair_batch_next(const xlm_pair_text *text, xlm_pair_form form, int64_t positions, const xlm_special_tokens *specials,
                         int64_t *next, xlm_arena *arena, xlm_pair_batch *batch);

#endif
