/* xlm-mpi: counting pairs of subwords that occur near one another. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For tokens t_0 … t_{n-1}, each pair (t_p, t_{p+r}) with 1 <= r <= window is counted once for its distance r: in the record of
 * (min, max), the count number r - 1. A pair of a subword with itself counts twice there, once for each of the two that is the
 * centre of a window; so record (i, j) has at r how often j occurs r tokens before or after i, for i = j too.
 *
 * Pairs are collected as numbers and sorted by radix, which all OpenMP threads do together; equal ones become a record. */
#ifndef XLM_LEXICON_PAIR_COUNTER_H
#define XLM_LEXICON_PAIR_COUNTER_H

#include "lexicon/pair_runs.h"

typedef struct xlm_pair_counter xlm_pair_counter;

/* An id that is not counted; it takes a place all the same. `window` of them in a row keep what is before apart from what
 * comes after them. */
enum { XLM_PAIR_NONE = -1 };

/* Bits that pairs with a distance take as numbers: at most 64 can be counted. */
int xlm_pair_counter_bits(int64_t vocabulary, int window);
/* Counts into runs of width `window`, with at most about `bytes` of memory of its own, a few mebibytes at least. pairs: about how
 * many will be counted at most; more memory than these need is not taken. `runs` is borrowed. */
xlm_pair_counter *xlm_pair_counter_new(int64_t vocabulary, int window, int64_t pairs, int64_t bytes, xlm_pair_runs *runs);
void xlm_pair_counter_free(xlm_pair_counter *counter); /* NULL is allowed */
/* Count the pairs whose second token is one of ids[first … n); ids before `first` are there to be the first of a pair. Runs in
 * memory go to disk when they have more than `most` bytes. EX_CANTCREAT, EX_IOERR. */
bool xlm_pair_counter_add(xlm_pair_counter *counter, const int32_t *ids, int64_t first, int64_t n, int64_t max_bytes,
                          GError **error);
/* Make a run of what was collected since the last one. */
void xlm_pair_counter_flush(xlm_pair_counter *counter);

#endif
