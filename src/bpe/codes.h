/* xlm-mpi: codes as learning and segmentation see them. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_BPE_CODES_H
#define XLM_BPE_CODES_H

#include <string.h>

#include "bpe/bpe.h"
#include "text/strings.h"

#define BPE_END "</w>"
#define BPE_CONTINUED "@@"
enum { BPE_END_SIZE = 4, BPE_CONTINUED_SIZE = 2 };

#define BPE_NONE UINT32_MAX

/* A control character, which occurs in no text (text/normalise.h) and no code. It is appended to a subword that does not end its
 * word, so that no symbol of the subword is taken for the end of the word. */
#define BPE_WORD_GOES_ON "\001"

typedef struct bpe_code {
    uint32_t left, right, result; /* symbols */
    int64_t count;
} bpe_code;

/* From a pair of symbols to the rank of its code. */
typedef struct bpe_pair {
    uint64_t symbols; /* left << 32 | right */
    uint32_t rank;    /* BPE_NONE: empty */
} bpe_pair;

struct xlm_bpe {
    xlm_strings *symbols; /* texts of all symbols of codes */
    GArray *codes;        /* bpe_code by rank */
    GArray *made_by;      /* uint32_t by symbol: rank of the code that makes it, or BPE_NONE */
    bpe_pair *pairs;      /* open addressing, at most half full */
    uint64_t mask;
    uint64_t *filter;     /* a bit for each hash of a pair with a code; few others have their bit set */
};

static inline uint64_t bpe_key(uint32_t left, uint32_t right) { return (uint64_t)left << 32 | right; }

static inline uint64_t bpe_hash(uint64_t key)
{
    key *= UINT64_C(0x9E3779B97F4A7C15);
    return key ^ key >> 32;
}

enum { BPE_FILTER_BITS = 8 }; /* for each slot */

/* The bit of a hash in the filter. */
static inline uint64_t bpe_filter_bit(const xlm_bpe *bpe, uint64_t hash)
{
    return hash >> 32 & (BPE_FILTER_BITS * (bpe->mask + 1) - 1);
}

/* Rank of the code of a pair, or BPE_NONE. Most pairs of neighbours have none, and the filter is small enough to say so soon. */
static inline uint32_t bpe_rank(const xlm_bpe *bpe, uint32_t left, uint32_t right)
{
    if (left == BPE_NONE || right == BPE_NONE)
        return BPE_NONE;
    const uint64_t key = bpe_key(left, right);
    const uint64_t hash = bpe_hash(key), bit = bpe_filter_bit(bpe, hash);
    if ((bpe->filter[bit / 64] >> bit % 64 & 1) == 0)
        return BPE_NONE;
    uint64_t at = hash & bpe->mask;
    while (bpe->pairs[at].rank != BPE_NONE && bpe->pairs[at].symbols != key)
        at = (at + 1) & bpe->mask;
    return bpe->pairs[at].rank;
}

static inline const bpe_code *bpe_get(const xlm_bpe *bpe, uint32_t rank)
{
    return &g_array_index(bpe->codes, bpe_code, rank);
}

static inline bool bpe_ends_word(const char *symbol, size_t size)
{
    return size > BPE_END_SIZE && memcmp(symbol + size - BPE_END_SIZE, BPE_END, BPE_END_SIZE) == 0;
}

xlm_bpe *bpe_new(void);
/* Give the next rank to a code. Returns false, and does not add it, if an earlier code has the same pair or result. */
bool bpe_add(xlm_bpe *bpe, const char *left, size_t left_size, const char *right, size_t right_size, int64_t count);
/* The same, but returns false only if an earlier code has the same pair. If several codes have the same result, it is split by
 * the first. */
bool bpe_add_pair(xlm_bpe *bpe, const char *left, size_t left_size, const char *right, size_t right_size, int64_t count);

/* The same codes in the same order. keep: [codes] 0 for those that are left out; NULL: none is. xlm_bpe_free. */
xlm_bpe *bpe_copy(const xlm_bpe *bpe, const uint8_t *keep);
/* The codes as strings "left right", [codes] and then NULL (g_strfreev), and their counts, [codes], g_free. */
char **bpe_strings(const xlm_bpe *bpe, int64_t **counts);

/* The ends of the symbols that a word becomes when no symbol marks the end of a word and none is split again, as in byte-level BPE.
 * [out] ends: uint32_t, in bytes of the word. */
void xlm_bpe_cutter_unmarked(xlm_bpe_cutter *cutter, const char *word, size_t size, GArray *ends);
/* From now on set used[rank] (of all codes) for each code that the cutter applies. NULL: stop doing so. */
void xlm_bpe_cutter_record(xlm_bpe_cutter *cutter, uint8_t *used);

/* Number of bytes of the character at the beginning of at[0..size), size > 0: the first byte and those after it that continue a
 * UTF-8 sequence. As in fastBPE, a byte 0 and all bytes after it belong to the character before. */
static inline size_t bpe_character(const char *at, size_t size)
{
    size_t n = 1;
    while (n < size && ((unsigned char)at[n] & 0xc0) == 0x80)
        n++;
    return at[0] == '\0' || (n < size && at[n] == '\0') ? size : n;
}

#endif
