/* xlm-mpi: counting co-occurrence in a corpus, over all ranks. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each rank counts pairs in a part of every text, as sorted runs (lexicon/pair_counter.h). Then the rows are divided: each rank
 * gets the records of its rows from all others, adds them up, and writes them. What does not fit into memory goes to scratch
 * files. Counts are integers until the end, so the file is the same on any number of ranks. */
#ifndef XLM_LEXICON_COOCCURRENCE_COUNT_H
#define XLM_LEXICON_COOCCURRENCE_COUNT_H

#include "comm/comm.h"
#include "lexicon/cooccurrence.h"

typedef struct xlm_cooccurrence_options {
    const char *corpus, *output;
    const char *add;              /* an earlier table whose counts are added; NULL for none */
    xlm_cooccurrence_rule rule;   /* with `add` it must be the table's; 0, -1 (counts), NULL: the table's or the default */
    bool held_out, train;         /* which text is counted */
    int64_t memory;               /* about how many bytes a rank may use for counting */
    const char *scratch;          /* directory of scratch files; NULL: that of the output */
    const char *command;
} xlm_cooccurrence_options;

/* Collective. Writes a summary to the log. EX_NOINPUT, EX_DATAERR, EX_USAGE (a rule that does not fit the table), EX_CANTCREAT,
 * EX_IOERR; then nothing is left under the output's name. */
bool xlm_cooccurrence_count(const xlm_comm *comm, const xlm_cooccurrence_options *options, GError **error);

#endif
