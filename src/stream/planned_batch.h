/* xlm-mpi: a batch of a planned size, before anything is read. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a pass costs depends on the shapes of its batch: how many sequences there are, how long they are, how many rows are
 * predicted and what is annotated. A planned batch has those of a stream's batches, and text that means nothing. */
#ifndef XLM_STREAM_PLANNED_BATCH_H
#define XLM_STREAM_PLANNED_BATCH_H

#include "stream/stream.h"
#include "subwords/vocabulary.h"

typedef struct xlm_planned_size {
    int64_t sequences; /* at least 1 */
    int64_t tokens;    /* of all sequences together, at least 1 each */
    int64_t length;    /* of the longest sequence */
    int64_t predicted; /* rows that are predicted */
} xlm_planned_size;

/* Of a batch of so many instances of a stream: tokens, and predicted rows of so many tokens, are so many standard deviations above
 * the mean. */
xlm_planned_size xlm_plan_size(const xlm_stream *stream, int64_t instances, double tokens, double predicted);
/* The largest of n numbers drawn from N(0, 1), about; 0 for one. */
double xlm_plan_deviations(double n);

/* A batch of that size as the stream would make it, in memory of the arena: all sequences but the first are about as long as one
 * another; the sides of a pair are equally long; words are frequent ones of the vocabulary, predicted rows are spread at random,
 * every word of a pair is linked to one of the other side and has a translation. EX_CONFIG when a batch cannot be that large. */
bool xlm_plan_batch(const xlm_stream *stream, const xlm_vocabulary *vocabulary, const xlm_planned_size *size, xlm_arena *arena,
                    xlm_batch *batch, GError **error);

#endif
