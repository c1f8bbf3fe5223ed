/* xlm-mpi: a packed batch, what the encoder reads in one pass. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The real tokens of several sequences stand one after another without padding: sequence s is rows
 * offsets[s] .. offsets[s+1) of every array with one entry a token. */
#ifndef XLM_BATCH_H
#define XLM_BATCH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Specials, the same ids in every vocabulary. */
enum { XLM_ID_BOS = 0, XLM_ID_PAD = 1, XLM_ID_EOS = 2, XLM_ID_UNK = 3, XLM_ID_MASK = 4, XLM_SPECIALS = 5 };

/* What makes the random draws of a row independent of the rank that holds it. */
typedef struct xlm_row_key {
    uint32_t instance; /* number of the sequence within the step, over all streams and ranks */
    uint32_t position; /* number of the token within its sequence */
} xlm_row_key;

typedef struct xlm_batch {
    int32_t tokens;              /* T */
    int32_t sequences;           /* S */
    int32_t masked;              /* M */
    const int32_t *offsets;      /* [S+1] */
    const int32_t *ids;          /* [T] input, masking applied */
    const int32_t *original;     /* [T] before masking */
    const int32_t *positions;    /* [T] from 0; restarts at the target half of xlm pairs */
    const int32_t *languages;    /* [T] language id of the corpus; of a token that was switched, its translation's */
    const int32_t *text_languages; /* [T] before switching; the same memory where nothing can be switched */
    const int32_t *types;        /* [T] 0, or 1 on the second side of a pair */
    const xlm_row_key *keys;     /* [T] */
    const int32_t *masked_rows;  /* [M] ascending */
    const int32_t *targets;      /* [M] original token of each masked row */
    const int32_t *translations; /* [M] a translation of each target, drawn; -1 where it has none; NULL without a dictionary */
} xlm_batch;

#ifdef __cplusplus
}
#endif
#endif
