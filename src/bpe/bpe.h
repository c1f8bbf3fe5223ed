/* xlm-mpi: byte-pair encoding of words, in the form of fastBPE. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Source: Sennrich, Haddow, Birch, "Neural machine translation of rare words with subword units", ACL 2016. Programs use it
 * through its class (subwords/bpe_class.h).
 *
 * A word is a sequence of symbols, at first one for each character (a byte that does not continue a UTF-8 sequence, and the bytes
 * that do after it); the last symbol has `</w>` after it. A code (left, right) merges the two symbols wherever they are side by
 * side into one symbol with both texts. Codes are ranked in the order in which they were learned.
 *
 * Learning. At each step the pair with the highest count is merged in all words, from left to right. The count of a pair is the
 * number of places where it occurs (three equal symbols in a row are two places), times the counts of the words. Of pairs with
 * equal counts the one with the older left symbol is taken, and of those the one with the older right symbol. Characters are
 * older than merges; characters are ordered by their bytes and merges by their rank. Codes therefore depend only on the set
 * of words with their counts. fastBPE's learnbpe has the same rule, but orders characters as in a C++ hash table; both learn the
 * same codes except for such ties. Learning ends early when no two symbols are left side by side.
 *
 * Segmentation. As long as there is a code for two neighbours in the word, the code of the lowest rank is applied in all places,
 * from left to right. Symbols are compared by text. If there is a set of allowed subwords (fastBPE's vocabulary), each symbol of
 * the result that is not allowed is split again into the two symbols that it was merged from, and so on down to characters, which
 * are kept. The output has spaces between symbols, and `@@` after all but the last of a word. The result is that of fastBPE's
 * applybpe, byte for byte, except in these cases, in which applybpe stops or writes rubbish:
 *   - a last line without line end is segmented too (applybpe leaves its last word out)
 *   - a symbol that no code makes is never taken apart (matters for words with a literal `</w>` inside, and for
 *     invalid UTF-8). */
#ifndef XLM_BPE_BPE_H
#define XLM_BPE_BPE_H

#include "base/error.h"
#include "text/word_counts.h"

/* ---- codes ---- */

typedef struct xlm_bpe xlm_bpe; /* never changes after it was made, so any number of threads may use it */

/* Learn up to `merges` codes. Skips words with counts <= 0, empty words, words with a space, a line end or a byte 0, which code
 * files cannot contain, and words that contain `</w>`, whose symbols could be mistaken for ends of words. Ends the program with a
 * message when the distinct words have more than 2^32 - 2 characters, counting one more for each word. */
xlm_bpe *xlm_bpe_learn(const xlm_word_counts *words, uint32_t merges);

/* Continue learning: the result has the codes of `base`, then up to `merges` more, learned from words that base has segmented.
 * Subwords of base are thus merged further or kept. Ties are broken as above; symbols of base count as characters, in order of
 * their bytes. A merge whose text a code of base already has is skipped. */
xlm_bpe *xlm_bpe_extend(const xlm_bpe *base, const xlm_word_counts *words, uint32_t merges);

/* Parse the text of a code file of fastBPE: a line `left right count` for each code, by rank; count is the count of the pair when
 * it was merged. name: for messages. EX_DATAERR with file and line for lines of another form and for a second code with the same
 * pair or result. A carriage return before the line end is skipped. */
xlm_bpe *xlm_bpe_parse(const char *name, const char *text, size_t size, GError **error);
/* The text of a code file with these codes. g_string_free. */
GString *xlm_bpe_print(const xlm_bpe *bpe);
/* NULL is allowed. */
void xlm_bpe_free(xlm_bpe *bpe);

/* Number of codes. */
uint32_t xlm_bpe_size(const xlm_bpe *bpe);
/* The code of rank i: texts (0-terminated, valid as long as the codes) and count. Pointers may be NULL. */
void xlm_bpe_code(const xlm_bpe *bpe, uint32_t i, const char **left, const char **right, int64_t *count);

/* ---- segmentation ---- */

typedef struct xlm_bpe_cutter xlm_bpe_cutter;

/* bpe: borrowed as long as the cutter lives. allowed: subwords as in segmented text ("lo@@", "west"), or NULL for all. A cutter
 * may be used by one thread at a time. */
xlm_bpe_cutter *xlm_bpe_cutter_new(const xlm_bpe *bpe, const xlm_word_counts *allowed);
/* NULL is allowed. */
void xlm_bpe_cutter_free(xlm_bpe_cutter *cutter);
/* The subwords of one word (size > 0, no space, no line end) between single spaces: "lo@@ west". *n bytes, valid until
 * the next call. */
const char *xlm_bpe_cutter_word(xlm_bpe_cutter *cutter, const char *word, size_t size, size_t *n);

#endif
