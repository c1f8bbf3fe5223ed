/* xlm-mpi: what a preparation tells its user. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_PREP_REPORT_H
#define XLM_PREP_REPORT_H

#include "base/progress.h"
#include "comm/comm.h"
#include "prep/options.h"

/* ---- while it works: a live line on a terminal, a line every half minute in a log ---- */

typedef struct xlm_prepare_progress {
    xlm_progress bytes; /* of all inputs */
    int64_t done;       /* of those passed */
} xlm_prepare_progress;

/* Begin to read all sources from number `first` on. what: "counting words". */
xlm_prepare_progress xlm_prepare_progress_begin(const xlm_prepare_options *options, guint first, const char *what);
/* position: bytes read of the present source. Call as often as you like. */
void xlm_prepare_progress_show(xlm_prepare_progress *progress, int64_t position);
/* The present source is at its end. */
void xlm_prepare_progress_next(xlm_prepare_progress *progress, const xlm_prepare_source *source);

/* ---- at its end ---- */

/* How many sentences or pairs are trained on, held out, left aside or empty. */
typedef struct xlm_fate_counts {
    int64_t train, held_out, aside, empty;
} xlm_fate_counts;

typedef struct xlm_language_counts {
    xlm_fate_counts monolingual, parallel; /* sentences */
    int64_t words, tokens, unknown;        /* of all sentences kept */
} xlm_language_counts;

typedef struct xlm_prepare_counts {
    int languages, pairs;
    xlm_language_counts *language; /* [languages] */
    xlm_fate_counts *pair;         /* [pairs] */
} xlm_prepare_counts;

xlm_prepare_counts *xlm_prepare_counts_new(const xlm_prepare_options *options);
void xlm_prepare_counts_free(xlm_prepare_counts *counts);
/* Sum over ranks; collective. */
void xlm_prepare_counts_sum(xlm_prepare_counts *counts, const xlm_comm *comm);
/* Print a table with a line a language and a line a pair. */
void xlm_prepare_counts_print(const xlm_prepare_counts *counts, const xlm_prepare_options *options);

#endif
