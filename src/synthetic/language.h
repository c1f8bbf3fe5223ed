/* xlm-mpi: languages made of another one. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A synthetic language is a base language whose sentences are changed by known rules, so that two languages differ in only one
 * property at a time (Deshpande et al. 2021; Tang et al. 2022, section 3 and appendix F). It is written
 *
 *   NAME=BASE:STEP[,STEP...]
 *
 *   transliterate                 other letters: every subword that text of the base uses gets a twin of its own
 *                                 (subwords/vocabulary.h), except for the share of them that both languages have in common
 *   invert                        the words of each sentence backwards. A full stop ends a sentence and stays at its end, so a
 *                                 line may hold several
 *   syntax=NOUN_FILE+VERB_FILE    the dependents of nouns and of verbs in the order of another language (synthetic/permute.h);
 *                                 needs trees
 *
 * Orders of words are applied as given, left to right, to words before they are segmented; letters change afterwards,
 * wherever transliterate occurs. Each step may be given only once. */
#ifndef XLM_SYNTHETIC_LANGUAGE_H
#define XLM_SYNTHETIC_LANGUAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef enum { XLM_SYNTHETIC_INVERT, XLM_SYNTHETIC_SYNTAX } xlm_synthetic_order;
enum { XLM_SYNTHETIC_ORDERS = 2 };

typedef struct xlm_synthetic {
    int language, base; /* indices into the languages of a preparation */
    char *steps;        /* as given */
    bool transliterates;
    int orders;
    xlm_synthetic_order order[XLM_SYNTHETIC_ORDERS]; /* [orders] */
    char *weights[2];   /* files for nouns and for verbs; NULL without syntax */
} xlm_synthetic;

/* Read "STEP[,STEP...]". EX_USAGE. Languages are left to the caller. */
xlm_synthetic *xlm_synthetic_parse(const char *steps, GError **error);
/* NULL is allowed. */
void xlm_synthetic_free(xlm_synthetic *made);

/* The files of the weights and their SHA-256, for the record: "NOUN_FILE: SHA-256 ...; VERB_FILE: SHA-256 ..."; ""
 * without syntax. g_free. EX_NOINPUT. */
char *xlm_synthetic_weights(const xlm_synthetic *made, GError **error);

/* Is this word a full stop: a single character with Unicode's property Sentence_Terminal that is, by its name, no mark of
 * question or exclamation? This includes "." and the full stops of other scripts: ideographic, Devanagari, Arabic, Armenian,
 * Khmer, Myanmar, ... */
bool xlm_synthetic_is_stop(const char *word, size_t size);
/* Reverse order[0 ... n) between full stops, which stay in their places. [in] stop[i]: is word i a full stop? */
void xlm_synthetic_invert(const bool *stop, uint32_t *order, size_t n);

/* Which of the n subwords used[0 ... n), ascending, have a twin: all but round(shared x n), drawn with the seed. [out]
 * *twins: how many. Their ids, ascending; g_free. */
int32_t *xlm_synthetic_twins(const int32_t *used, uint32_t n, double shared, uint64_t seed, int32_t *twins);

#endif
