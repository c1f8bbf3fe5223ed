/* xlm-mpi: the data of a run: where its vocabulary and its streams come from. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pre-training reads text of a corpus file (xlm_stream_text); fine-tuning reads labelled examples, which are in memory
 * (xlm_stream_labelled), with the vocabulary of the checkpoint that it starts from. All else of a run is the same. */
#ifndef XLM_JOB_DATA_H
#define XLM_JOB_DATA_H

#include "model/model_file.h"
#include "objective/host.h"
#include "stream/planned_batch.h"
#include "stream/stream.h"

/* The largest validation pass (run/validation.h): over examples, on stream 0, or another. */
typedef struct xlm_planned_validation {
    xlm_planned_size size; /* of examples; zeros: none */
    /* Computed besides the loss, as in xlm_host_outputs. */
    void (*visit)(void *data, xlm_loss *loss, xlm_tape *tape, const xlm_pass *pass);
    /* Another pass: bytes that it takes of a tape like `tape`; NULL: none. */
    uint64_t (*bytes)(const void *data, const xlm_model *model, xlm_tape *tape);
    const void *data; /* of both */
    uint64_t results; /* bytes for its results, allocated before and filled in by each validation */
} xlm_planned_validation;

/* Everything is borrowed, and must outlive the run. */
typedef struct xlm_training_data {
    const xlm_vocabulary *vocabulary;
    uint64_t digest;                  /* xlm_corpus_digest_of the vocabulary: checkpoints fit data with the same */
    uint64_t text_digest;             /* a run resumes with the same: xlm_corpus_text_digest, xlm_task_sources_digest */
    xlm_stream_input input;           /* of the streams */
    xlm_planned_validation validation;
    const xlm_model_task *task;       /* what checkpoints record about fine-tuning; NULL: nothing */
} xlm_training_data;

#endif
