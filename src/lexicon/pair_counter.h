/* xlm-mpi: counting pairs of subwords that occur near one another. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For tokens t_0 … t_{n-1}, each pair (t_p, t_{p+r}) with 1 <= r <= window is counted once for its distance r, as count number
 * r - 1 of the record of (min, max). A pair of a subword with itself counts twice, once for each of the two as the centre of a
 * window; so the record of (i, j) says for each r how often j occurs r tokens before or after i, also if i = j.
 *
 * Pairs are collected as numbers, which all OpenMP threads together sort by radix; equal ones become a record. */
#ifndef XLM_LEXICON_PAIR_COUNTER_H
#define XLM_LEXICON_PAIR_COUNTER_H

#include "lexicon/pair_runs.h"

typedef struct xlm_pair_counter xlm_pair_counter;

/* An id that is not counted but takes a place. `window` of them in a row separate what is before from what comes after. */
enum { XLM_PAIR_NONE = -1 };

/* The number of bits of a pair with its distance, which must be at most 64. */
int xlm_pair_counter_bits(int64_t vocabulary, int window);
/* Counts into runs of width `window`, which are borrowed. bytes: approximate maximum of its own memory, of which it takes at
 * least a few mebibytes. pairs: about how many will be counted at most; it takes no more memory than these need. */
xlm_pair_counter *xlm_pair_counter_new(int64_t vocabulary, int window, int64_t pairs, int64_t bytes, xlm_pair_runs *runs);
void xlm_pair_counter_free(xlm_pair_counter *counter); /* NULL is allowed */
/* Count the pairs whose second token is one of ids[first … n); ids before `first` are there to be the first of a pair. Runs in
 * memory go to disk if they have more than max_bytes. EX_CANTCREAT, EX_IOERR. */
bool xlm_pair_counter_add(xlm_pair_counter *counter, const int32_t *ids, int64_t first, int64_t n, int64_t max_bytes,
                          GError **error);
/* Make a run of what was collected since the last one. */
void xlm_pair_counter_flush(xlm_pair_counter *counter);

#endif
