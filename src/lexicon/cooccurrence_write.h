/* xlm-mpi: the file of co-occurrence counts, writing. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_LEXICON_COOCCURRENCE_WRITE_H
#define XLM_LEXICON_COOCCURRENCE_WRITE_H

#include "comm/comm.h"
#include "lexicon/cooccurrence.h"
#include "subwords/vocabulary.h"

/* The contents of a new file. The same on all ranks, except that each has the counts of its own rows. */
typedef struct xlm_cooccurrence_record {
    const xlm_vocabulary *vocabulary;
    uint64_t corpus_digest, subwords_digest;
    xlm_cooccurrence_rule rule;
    const char *command;
    char **inputs;              /* NULL-terminated */
    const int64_t *occurrences; /* [V x languages], of all ranks */
    const uint8_t *counted;     /* [V] 1: the subword has a row and a column */
    int64_t first_row, last_row;        /* this rank's rows; those of all ranks follow one another */
    xlm_pair_runs *const *counts;       /* [languages] the records of this rank's rows; NULL: no text of this language */
} xlm_cooccurrence_record;

/* Collective. *entries: of the table of all languages. EX_CANTCREAT, EX_IOERR; then nothing is left under the name. */
bool xlm_cooccurrence_write(const xlm_comm *comm, const char *path, const xlm_cooccurrence_record *record, int64_t *entries,
                            GError **error);

#endif
