/* xlm-mpi: what a run reads: where its vocabulary and its streams come from. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pre-training reads text of a corpus file; fine-tuning reads labelled examples, which are in memory, with the vocabulary of the
 * checkpoint that it starts from. All else of a run is the same. */
#ifndef XLM_TRAIN_DATA_H
#define XLM_TRAIN_DATA_H

#include "stream/stream.h"
#include "train/checkpoint.h"

/* Everything is borrowed, and must outlive the trainer. */
typedef struct xlm_training_data {
    const xlm_vocabulary *vocabulary;
    uint64_t digest;                  /* xlm_corpus_digest_of the vocabulary: checkpoints fit data with the same */
    const xlm_corpus *corpus;         /* text of the streams; NULL: they read examples */
    const xlm_examples *examples;
    const xlm_checkpoint_task *task;  /* what checkpoints say of fine-tuning; NULL: nothing */
} xlm_training_data;

/* Text of a corpus. */
xlm_training_data xlm_training_data_of_corpus(const xlm_corpus *corpus);

/* A stream on the data. split: of a corpus. Errors as xlm_stream_open and xlm_stream_open_examples. */
xlm_stream *xlm_training_data_open_stream(const xlm_training_data *data, xlm_split split, const char *name, int number,
                                     const xlm_stream_config *config, uint64_t seed, GError **error);

#endif
