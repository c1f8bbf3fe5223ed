/* xlm-mpi: progress and results of a preparation. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_PREP_REPORT_H
#define XLM_PREP_REPORT_H

#include "base/progress.h"
#include "comm/comm.h"
#include "prep/filter_options.h"

/* ---- during the work: a line that is updated on a terminal, or a line every half minute in a log ---- */

typedef struct xlm_prep_progress {
    xlm_progress bytes; /* of all inputs */
    int64_t done;       /* bytes of the sources that have been read */
} xlm_prep_progress;

/* Begin reading all sources from number `first` on. what: such as "counting words". */
xlm_prep_progress xlm_prep_progress_begin(const xlm_prep_options *options, guint first, const char *what);
/* position: bytes read of the present source. Call as often as you like. */
void xlm_prep_progress_show(xlm_prep_progress *progress, int64_t position);
/* The present source has ended. */
void xlm_prep_progress_next(xlm_prep_progress *progress, const xlm_prep_source *source);

/* ---- at its end ---- */

/* Numbers of sentences or pairs for training, held out, in neither split (prep/split.h), and empty. */
typedef struct xlm_split_counts {
    int64_t train, held_out, aside, empty;
} xlm_split_counts;

typedef struct xlm_language_counts {
    xlm_split_counts monolingual, parallel; /* sentences */
    int64_t words, tokens, unknown;        /* of all encoded sentences */
} xlm_language_counts;

/* Bad lines of a source (prep/options.h). */
typedef struct xlm_bad_counts {
    int64_t skipped, repaired, first; /* first: number of the first of these lines, from 1; 0: there is none */
} xlm_bad_counts;

typedef struct xlm_prep_counts {
    int languages, pairs, sources;
    xlm_language_counts *language; /* [languages] */
    xlm_split_counts *pair;         /* [pairs] the new ones (prep/options.h) */
    xlm_bad_counts *bad;            /* [sources] */
    int64_t (*left_out)[XLM_RULES]; /* [sources] sentences or pairs that each rule has left out */
} xlm_prep_counts;

xlm_prep_counts *xlm_prep_counts_new(const xlm_prep_options *options);
void xlm_prep_counts_free(xlm_prep_counts *counts);
/* Sum over ranks; collective. */
void xlm_prep_counts_sum(xlm_prep_counts *counts, const xlm_comm *comm);
/* Print a table with one line per language and one line per pair, what the rules have left out of each source, and warn of bad
 * lines. */
void xlm_prep_counts_print(const xlm_prep_counts *counts, const xlm_prep_options *options);

#endif
