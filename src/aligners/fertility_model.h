/* xlm-mpi: tables and parameters of the aligner by fertility. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * aligners/fertility.c says what the model is. */
#ifndef XLM_ALIGNERS_FERTILITY_MODEL_H
#define XLM_ALIGNERS_FERTILITY_MODEL_H

#include "aligners/aligner.h"
#include "aligners/hmm.h"

/* Tables of counts. The second of two is that of direction 1, or of what is explained in it. */
enum {
    XLM_FERTILITY_LINKS,
    XLM_FERTILITY_SOURCE_LINKS,
    XLM_FERTILITY_TARGET_LINKS,
    XLM_FERTILITY_EMPTY_TARGET,
    XLM_FERTILITY_EMPTY_SOURCE,
    XLM_FERTILITY_EMPTY_ALL,
    XLM_FERTILITY_OF_SOURCE,
    XLM_FERTILITY_OF_TARGET,
    XLM_FERTILITY_JUMPS
};
extern const xlm_table xlm_fertility_tables[];

/* The models of the cascade. */
typedef enum { XLM_LEXICAL, XLM_POSITIONS, XLM_FERTILITY } xlm_fertility_stage;

/* Parameters of an iteration, from the totals of the one before. Arrays of two are of source words, then of target words. */
typedef struct xlm_fertility_model {
    xlm_fertility_stage stage;
    uint8_t *alike;      /* [pairs of words] α(e, f) - α in units of 1 / 255 */
    float *links;        /* [pairs of words] c(e, f) + α(e, f) */
    float *of_word[2];   /* [types] c(e) */
    float *ratio[2];     /* [types x XLM_LINK_NUMBERS] P(k + 1) / P(k) */
    float *by_empty[2];  /* [types] count of the empty word: target words; source words */
    float empty_all[2];
    xlm_hmm hmm[2];      /* positions of source words, for forward; of target words */
} xlm_fertility_model;

#define XLM_FERTILITY_ALPHA 0.0003f       /* of a pair of words; aligners/fertility.c says what it is added to */
#define XLM_FERTILITY_ALPHA_EMPTY 0.001f
#define XLM_FERTILITY_P_EMPTY 0.1f        /* of the empty word, before words are looked at */

/* run->state. */
void xlm_fertility_model_open(xlm_alignment_run *run);
void xlm_fertility_model_close(xlm_alignment_run *run);
/* Parameters of the next iteration. */
void xlm_fertility_model_begin(xlm_alignment_run *run);

#endif
