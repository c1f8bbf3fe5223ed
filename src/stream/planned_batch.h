/* xlm-mpi: a batch of a planned size, made before any text is read. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The cost of a pass depends on the shapes of its batch: the number and length of sequences, the number of predicted rows, and
 * the annotations. A planned batch has the shapes of a stream's batches, but its text means nothing. */
#ifndef XLM_STREAM_PLANNED_BATCH_H
#define XLM_STREAM_PLANNED_BATCH_H

#include "stream/stream.h"
#include "subwords/vocabulary.h"

typedef struct xlm_planned_size {
    int64_t sequences; /* at least 1 */
    int64_t tokens;    /* of all sequences together, at least 1 each */
    int64_t length;    /* tokens of the longest sequence */
    int64_t predicted; /* number of predicted rows */
} xlm_planned_size;

/* The size of a batch of `instances` instances of a stream. tokens, predicted: how many standard deviations above the mean the
 * number of tokens, and the number of predicted rows among these, shall be. */
xlm_planned_size xlm_plan_size(const xlm_stream *stream, int64_t instances, double tokens, double predicted);
/* Approximate maximum of n numbers drawn from N(0, 1); 0 for n = 1. */
double xlm_plan_deviations(double n);

/* A batch of this size as the stream would make it, in the arena. The first sequence is the longest; the others are about equally
 * long, and so are the sides of a pair. Words are frequent words of the vocabulary, predicted rows are chosen at random, and if
 * the stream has these annotations, the words of a pair are linked to words of the other side, and every word has a translation.
 * EX_CONFIG when a batch cannot be that large. */
bool xlm_plan_batch(const xlm_stream *stream, const xlm_vocabulary *vocabulary, const xlm_planned_size *size, xlm_arena *arena,
                    xlm_batch *batch, GError **error);

#endif
