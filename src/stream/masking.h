/* xlm-mpi: which tokens are predicted and what stands in their place. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each ordinary token (not special, so neither <s>, </s> nor <unk>) is chosen by itself with probability `mask`; a
 * chosen one becomes <mask> with probability mask_token, a token drawn uniformly from the ordinary ones with
 * probability mask_random, and stays otherwise (Devlin et al. 2019). When chance chooses none of a sequence, its token
 * with the smallest draw is taken, so that no sequence is encoded for nothing. Draws depend on seed, step, stream,
 * instance and position only.
 *
 * With a dictionary (DICT-MLM; Chaudhary et al. 2020, Tang et al. 2022) a chosen token is switched instead with probability
 * `switching`: if the dictionary has translations of it, one, drawn uniformly, takes its place and the language of the
 * position becomes the translation's; if it has none, the token stays. Which tokens are chosen does not depend on the
 * dictionary. For every chosen token a translation is drawn, switched or not, for objectives that predict it. */
#ifndef XLM_STREAM_MASKING_H
#define XLM_STREAM_MASKING_H

#include <xlm/batch.h>

#include "base/rng.h"
#include "lexicon/translations.h"

typedef struct xlm_masking {
    double mask;                    /* 0: nothing is chosen */
    double mask_token, mask_random; /* of the chosen */
    int32_t vocabulary;             /* ids are below this */
    uint32_t stream;                /* its number */
    xlm_rng_key key;                /* of purpose XLM_RNG_MASK and the step */
    const xlm_translations *translations; /* NULL: no dictionary, then the rest is not looked at */
    double switching;
    xlm_rng_key switch_key;         /* of purpose XLM_RNG_SWITCH and the step */
} xlm_masking;

/* Where the results for one sequence go. */
typedef struct xlm_masked {
    int32_t *ids;          /* [n] what the encoder reads */
    int32_t *languages;    /* [n] in: of the text; out: what the encoder is told. Not looked at without a dictionary */
    int32_t *rows;         /* [at most n] of the chosen, ascending */
    int32_t *targets;      /* [same] their original tokens */
    int32_t *translations; /* [same] a translation of each, or -1. Not looked at without a dictionary */
} xlm_masked;

/* Mask one sequence of n tokens, which begins at row `first_row` of its batch. instance: its number within the step.
 * Returns the number of the chosen. */
int32_t xlm_mask_sequence(const xlm_masking *masking, uint64_t instance, int32_t n, const int32_t *original,
                          int32_t first_row, const xlm_masked *masked);

#endif
