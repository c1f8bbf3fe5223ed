/* xlm-mpi: which sentences are used for training and which are held out. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A sentence is identified by a digest of its normalised text without spaces, so equal texts are assigned alike in all files and
 * languages. Spaces do not count, because splitting into words removes them: "Ctrl+ Plus" and "Ctrl+Plus" have the same words,
 * and a model that was trained on one has seen the other.
 *
 *   drawn      its digest is less than share x 2^64
 *   held out   drawn, or given as the translation of a drawn sentence
 *   neither    not held out, but given as the translation of a sentence that is held out
 *   train      all others
 *
 * A pair is held out if both its sides are, and used for training if both sides are. So every pair with a drawn side is held out
 * with both sides, and training sees no held-out sentence and no translation of one. A few sentences are in neither split:
 * holding them out too, then their translations, and so on, would hold out much of the corpus, because short sentences have many
 * translations. */
#ifndef XLM_PREP_SPLIT_H
#define XLM_PREP_SPLIT_H

#include "comm/comm.h"
#include "store/store.h"

typedef enum { XLM_ASSIGNED_TRAIN, XLM_ASSIGNED_HELD_OUT, XLM_ASSIGNED_NEITHER } xlm_assignment;

typedef struct xlm_assignments xlm_assignments;

/* Until xlm_assignments_finish, only drawn sentences are held out. */
xlm_assignments *xlm_assignments_new(double share, uint64_t seed);
void xlm_assignments_free(xlm_assignments *assignments);

/* The digest that determines the split of a normalised text. */
uint64_t xlm_assignments_digest(const xlm_assignments *assignments, const char *text, size_t length);
/* Add a pair of digests. */
void xlm_assignments_add_pair(xlm_assignments *assignments, uint64_t a, uint64_t b);
/* Add n digests of sentences that are held out, or in neither split, by the pairs of an earlier preparation with the same share
 * and seed. Call it before xlm_assignments_finish. */
void xlm_assignments_recall(xlm_assignments *assignments, xlm_assignment assignment, uint64_t n, const uint64_t *digests);
/* Find the sentences that are held out and those that are in neither split, from the pairs of all ranks; collective. Frees the
 * pairs. */
void xlm_assignments_finish(xlm_assignments *assignments, const xlm_comm *comm);

/* Write /assigned, which lists the digests of sentences that are held out although they are not drawn, and of those in neither
 * split; collective. */
bool xlm_assignments_save(const xlm_assignments *assignments, xlm_store *store, GError **error);

/* Is a sentence held out although it is not drawn, or in neither split? The number of all such digests. */
bool xlm_assignments_is_listed(const xlm_assignments *assignments, uint64_t digest);
uint64_t xlm_assignments_listed(const xlm_assignments *assignments);

xlm_assignment xlm_assignments_of_sentence(const xlm_assignments *assignments, uint64_t digest);
/* The split of a pair: neither, unless both sides are assigned alike. */
xlm_assignment xlm_assignments_of_pair(const xlm_assignments *assignments, uint64_t a, uint64_t b);

#endif
