/* xlm-mpi: which sentences are trained on and which are held out. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A sentence is a digest of its normalised text without the spaces; equal text has equal fate, in whatever file or
 * language it stands. Spaces do not count because splitting into words takes them away: "Ctrl+ Plus" and "Ctrl+Plus" are
 * the same words, and a model that was trained on one has seen the other.
 *
 *   drawn      digest < share x 2^64
 *   held out   drawn, or given as the translation of a drawn sentence
 *   aside      not held out, but given as the translation of a sentence that is
 *   train      all others
 *
 * A pair is held out when both its sides are, and trained on when both sides are trained on. So every pair with a drawn
 * side is held out with both sides, and training sees no held-out sentence and no translation of one. Sentences aside
 * (few) are in neither split: holding them out too, and their translations, and so on, would not end before much of the
 * corpus is held out, since short sentences have many translations. */
#ifndef XLM_PREP_SPLIT_H
#define XLM_PREP_SPLIT_H

#include "comm/comm.h"

typedef enum { XLM_FATE_TRAIN, XLM_FATE_HELD_OUT, XLM_FATE_ASIDE } xlm_fate;

typedef struct xlm_fates xlm_fates;

/* Until xlm_fates_settle, only drawn sentences are held out. */
xlm_fates *xlm_fates_new(double share, uint64_t seed);
void xlm_fates_free(xlm_fates *fates);

/* The digest that decides on a normalised text. Not for two threads at once. */
uint64_t xlm_fates_digest(xlm_fates *fates, const char *text, size_t length);
/* Make a pair of digests known. */
void xlm_fates_add_pair(xlm_fates *fates, uint64_t a, uint64_t b);
/* Work out who is held out and who is aside from the pairs of all ranks; collective. The pairs are forgotten. */
void xlm_fates_settle(xlm_fates *fates, const xlm_comm *comm);

xlm_fate xlm_fates_of_sentence(const xlm_fates *fates, uint64_t digest);
/* Aside unless both sides have the same fate. */
xlm_fate xlm_fates_of_pair(const xlm_fates *fates, uint64_t a, uint64_t b);

#endif
