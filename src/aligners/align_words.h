/* xlm-mpi: word alignment of text by a statistical aligner, over all ranks. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each rank has a contiguous part of the sentence pairs (aligners/sentence_pairs.h), whose words it looks at in each
 * iteration; what they add to the aligner's tables is summed by the ranks that own the words (aligners/shared_counts.h).
 * Counts are integers, so links are the same on any number of ranks and threads. Nothing is drawn at random. */
#ifndef XLM_ALIGNERS_ALIGN_WORDS_H
#define XLM_ALIGNERS_ALIGN_WORDS_H

#include "aligners/align_input.h"
#include "aligners/aligner_model.h"
#include "aligners/symmetrise.h"

/* In place of a path. */
#define XLM_LINKS_STANDARD_OUTPUT "-"

typedef struct xlm_align_options {
    xlm_align_source source;
    const xlm_aligner *aligner;  /* NULL: the model's, or the first of the table */
    int64_t iterations;          /* -1: the aligner's number; with a model 0 */
    xlm_symmetrisation symmetrisation;
    xlm_bitext_options text;     /* with a model, what it says of words and letters is taken */
    const char *model;           /* NULL: none */
    const char *save;            /* file of the model that was trained; NULL: none */
    const char *links, *forward, *reverse, *scores; /* files of text to write; NULL: none */
    const char *alignment;       /* of a corpus, file of its alignment; NULL: none */
    int64_t memory;              /* bytes of a rank for what is read again and again; what takes more goes to */
    const char *scratch;         /* a directory */
    const char *command;
} xlm_align_options;

/* Collective. Logs what it found. EX_NOINPUT, EX_DATAERR, EX_USAGE, EX_OSERR, EX_CANTCREAT, EX_IOERR: then nothing is left of the
 * files that were to be written, but of those that were whole before. */
bool xlm_align_words(const xlm_comm *comm, const xlm_align_options *options, GError **error);

#endif
