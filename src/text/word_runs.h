/* xlm-mpi: sorted lists of words with their counts, in memory or on disk. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What one table (text/word_counts.h) cannot hold is kept as runs. A run is a list of records in ascending order, each word at
 * most once in each of its groups (languages). Records are ordered by the digest of the word, then by its size and bytes, then by
 * group; so a part of all digests has about that part of the words. Runs are read as one sorted list:
 *
 *     xlm_word_runs *runs = xlm_word_runs_new("/scratch");
 *     xlm_word_runs_add_tables(runs, tables, groups);        // as often as tables were full
 *     xlm_word_runs_spill(runs, error);                      // if they take too much memory
 *     xlm_word_merge *merge = xlm_word_merge_new(runs);
 *     while ((record = xlm_word_merge_next(merge)) != NULL) ...   // each word of each group once, counts of all runs added
 *     xlm_word_merge_free(merge);
 *
 * One thread at a time uses an object. */
#ifndef XLM_TEXT_WORD_RUNS_H
#define XLM_TEXT_WORD_RUNS_H

#include <stdint.h>

#include "base/error.h"
#include "text/word_counts.h"

/* The bytes of the word follow it, and zeros up to a multiple of 8. */
typedef struct xlm_word_record {
    uint64_t digest;
    int64_t count;
    uint32_t group, size;
} xlm_word_record;

static inline const char *xlm_word_record_text(const xlm_word_record *record) { return (const char *)(record + 1); }
/* Bytes of a record with its word. */
static inline size_t xlm_word_record_bytes(const xlm_word_record *record)
{
    return sizeof *record + ((size_t)record->size + 7) / 8 * 8;
}
/* Are they records of the same word? */
bool xlm_word_record_same(const xlm_word_record *a, const xlm_word_record *b);

typedef struct xlm_word_runs xlm_word_runs;

/* scratch: directory of scratch files, borrowed. */
xlm_word_runs *xlm_word_runs_new(const char *scratch);
void xlm_word_runs_free(xlm_word_runs *runs); /* NULL is allowed */
/* Add the words of tables[groups] as a run in memory. */
void xlm_word_runs_add_tables(xlm_word_runs *runs, xlm_word_counts *const *tables, int groups);
/* Take ownership of records, in ascending order, of `size` bytes altogether, from g_malloc. No records: no run. */
void xlm_word_runs_add(xlm_word_runs *runs, void *records, size_t size);
/* Bytes of all records: in memory; in memory and on disk. */
int64_t xlm_word_runs_memory(const xlm_word_runs *runs);
int64_t xlm_word_runs_bytes(const xlm_word_runs *runs);
/* Move all records in memory to disk. No merge may be reading the runs. EX_CANTCREAT, EX_IOERR. */
bool xlm_word_runs_spill(xlm_word_runs *runs, GError **error);

typedef struct xlm_word_merge xlm_word_merge;

/* Read all runs, which must stay as they are until the merge is freed. */
xlm_word_merge *xlm_word_merge_new(const xlm_word_runs *runs);
/* The next word of a group with its counts added up, valid until the next call; NULL at the end. */
const xlm_word_record *xlm_word_merge_next(xlm_word_merge *merge);
void xlm_word_merge_free(xlm_word_merge *merge); /* NULL is allowed */

#endif
