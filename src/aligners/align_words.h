/* xlm-mpi: word alignment of text by a statistical aligner, over all ranks. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each rank has a contiguous part of the sentence pairs (aligners/sentence_pairs.h), and goes through it in each iteration;
 * what the pairs add to the aligner's tables is summed by the ranks that own the words (aligners/shared_counts.h). Counts are
 * integers, so links are the same on any number of ranks and threads. Nothing is drawn at random. */
#ifndef XLM_ALIGNERS_ALIGN_WORDS_H
#define XLM_ALIGNERS_ALIGN_WORDS_H

#include "aligners/align_input.h"
#include "aligners/aligner_model.h"
#include "aligners/symmetrise.h"

typedef struct xlm_align_options {
    xlm_align_source source;
    const xlm_aligner *aligner;  /* NULL: the model's, or the first of the table */
    int64_t iterations;          /* -1: the aligner's number; with a model 0 */
    xlm_symmetrisation symmetrisation;
    xlm_bitext_options text;     /* with a model, its own `words` and `lower` are used */
    const char *model;           /* NULL: none */
    const char *save;            /* file for the trained model; NULL: none */
    const char *links, *forward, *reverse, *scores; /* text files to write; NULL: none */
    bool print;                  /* links go to standard output; `links` is NULL */
    const char *alignment;       /* file for the alignment of a corpus; NULL: none */
    int64_t memory;              /* bytes of a rank for arrays that are read in every iteration; */
    const char *scratch;         /* directory for arrays that take more */
    const char *command;
} xlm_align_options;

/* Collective. Writes a summary to the log. EX_NOINPUT, EX_DATAERR, EX_USAGE, EX_OSERR, EX_CANTCREAT, EX_IOERR; then of the output
 * files only those that were already complete are left. */
bool xlm_align_words(const xlm_comm *comm, const xlm_align_options *options, GError **error);

#endif
