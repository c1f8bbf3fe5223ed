/* xlm-mpi: sorted counts of pairs of subwords, in memory or on disk. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A record is 1 + width 64-bit words: a pair of ids (xlm_pair), and `width` counts that belong to it. A run is a list of records
 * in ascending order of their pairs, each pair at most once. Runs of one width are kept together; if memory is short they go to
 * scratch files (files/large_array.h), which are merged into one when there are many. A merge reads any number of runs as one
 * sorted list:
 *
 *     xlm_pair_runs *runs = xlm_pair_runs_new(2, "/scratch");
 *     xlm_pair_runs_add(runs, words, records);                        // as often as there are runs
 *     xlm_pair_merge *merge = xlm_pair_merge_new(2);
 *     xlm_pair_merge_add(merge, runs, 0, 0, vocabulary);              // the runs' records of all rows, with tag 0
 *     while (xlm_pair_merge_sum(merge, record)) ...                   // each pair once, counts of all runs added
 *     xlm_pair_merge_free(merge);
 *
 * One thread at a time uses an object. */
#ifndef XLM_LEXICON_PAIR_RUNS_H
#define XLM_LEXICON_PAIR_RUNS_H

#include <stdint.h>

#include "base/error.h"

/* A pair as it is sorted: by row, then by column. */
static inline uint64_t xlm_pair(uint32_t row, uint32_t column) { return (uint64_t)row << 32 | column; }
static inline uint32_t xlm_pair_row(uint64_t pair) { return (uint32_t)(pair >> 32); }
static inline uint32_t xlm_pair_column(uint64_t pair) { return (uint32_t)pair; }

typedef struct xlm_pair_runs xlm_pair_runs;

/* width: counts of a record. scratch: directory of scratch files, borrowed. */
xlm_pair_runs *xlm_pair_runs_new(int width, const char *scratch);
void xlm_pair_runs_free(xlm_pair_runs *runs); /* NULL is allowed */
/* Takes ownership of words[records x (1 + width)], from g_malloc. A run without records is not kept. */
void xlm_pair_runs_add(xlm_pair_runs *runs, uint64_t *words, int64_t records);
/* The same for words that stay the caller's, and as they are until the runs are freed. */
void xlm_pair_runs_lend(xlm_pair_runs *runs, const uint64_t *words, int64_t records);
/* The number of bytes in memory; the number of records, in memory and on disk. */
int64_t xlm_pair_runs_bytes(const xlm_pair_runs *runs);
int64_t xlm_pair_runs_records(const xlm_pair_runs *runs);
/* Move all records in memory to disk. No merge may be reading the runs. EX_CANTCREAT, EX_IOERR. */
bool xlm_pair_runs_spill(xlm_pair_runs *runs, GError **error);

typedef struct xlm_pair_merge xlm_pair_merge;

/* width: the width that all runs to be read have. */
xlm_pair_merge *xlm_pair_merge_new(int width);
/* Read the records of rows [first_row, last_row) of all runs, which must stay as they are until the merge is freed. tag: comes
 * back with each record; among records of one pair those with the lower tag come first. Add all runs before the first record. */
void xlm_pair_merge_add(xlm_pair_merge *merge, const xlm_pair_runs *runs, int tag, int64_t first_row, int64_t last_row);
/* The next record in order, valid until the next call; NULL at the end. tag may be NULL. */
const uint64_t *xlm_pair_merge_next(xlm_pair_merge *merge, int *tag);
/* The next pair, with the counts of all its records added up: record[1 + width]. False at the end. */
bool xlm_pair_merge_sum(xlm_pair_merge *merge, uint64_t *record);
void xlm_pair_merge_free(xlm_pair_merge *merge);

#endif
