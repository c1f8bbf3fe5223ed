/* xlm-mpi: which sentences are trained on and which are held out. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A sentence is a digest of its normalised text without the spaces; equal text is assigned alike, in whatever file or
 * language it is. Spaces do not count because splitting into words takes them away: "Ctrl+ Plus" and "Ctrl+Plus" are
 * the same words, and a model that was trained on one has seen the other.
 *
 *   drawn      digest < share x 2^64
 *   held out   drawn, or given as the translation of a drawn sentence
 *   neither    not held out, but given as the translation of a sentence that is
 *   train      all others
 *
 * A pair is held out when both its sides are, and trained on when both sides are trained on. So every pair with a drawn
 * side is held out with both sides, and training sees no held-out sentence and no translation of one. A few sentences
 * are in neither split: holding them out too, and their translations, and so on, would not end before much of the
 * corpus is held out, since short sentences have many translations. */
#ifndef XLM_PREP_SPLIT_H
#define XLM_PREP_SPLIT_H

#include "comm/comm.h"

typedef enum { XLM_ASSIGNED_TRAIN, XLM_ASSIGNED_HELD_OUT, XLM_ASSIGNED_NEITHER } xlm_assignment;

typedef struct xlm_assignments xlm_assignments;

/* Until xlm_assignments_finish, only drawn sentences are held out. */
xlm_assignments *xlm_assignments_new(double share, uint64_t seed);
void xlm_assignments_free(xlm_assignments *assignments);

/* The digest that decides on a normalised text. Not for two threads at once. */
uint64_t xlm_assignments_digest(xlm_assignments *assignments, const char *text, size_t length);
/* Make a pair of digests known. */
void xlm_assignments_add_pair(xlm_assignments *assignments, uint64_t a, uint64_t b);
/* Find the sentences that are held out and those that are in neither split from the pairs of all ranks; collective. The pairs
 * are freed. */
void xlm_assignments_finish(xlm_assignments *assignments, const xlm_comm *comm);

xlm_assignment xlm_assignments_of_sentence(const xlm_assignments *assignments, uint64_t digest);
/* Neither, unless both sides are assigned alike. */
xlm_assignment xlm_assignments_of_pair(const xlm_assignments *assignments, uint64_t a, uint64_t b);

#endif
