/* xlm-mpi: how often each word occurs in a text. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A table of byte strings and their counts, used for words (to learn merges) and for subwords (to make a vocabulary). Words are
 * numbered 0 ... n − 1 in the order in which they were added or, after xlm_word_counts_sort, by falling count and then by bytes.
 * That order depends only on the words and their counts, so that tables gathered from any number of ranks in any order become the
 * same. */
#ifndef XLM_TEXT_WORD_COUNTS_H
#define XLM_TEXT_WORD_COUNTS_H

#include <stdint.h>

#include "base/error.h"
#include "text/words.h"

typedef struct xlm_word_counts xlm_word_counts;

xlm_word_counts *xlm_word_counts_new(void);
/* NULL is allowed. */
void xlm_word_counts_free(xlm_word_counts *counts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xlm_word_counts, xlm_word_counts_free)

/* Take the memory for n words, so that the table need not grow while they are added. */
void xlm_word_counts_reserve(xlm_word_counts *counts, uint32_t n);
/* Remove all words, and free most of the memory. */
void xlm_word_counts_clear(xlm_word_counts *counts);
/* Bytes of memory held. */
size_t xlm_word_counts_memory(const xlm_word_counts *counts);

/* Add `times` >= 0 to the count of a word, which may be any bytes, even none. A count that would exceed 2^63 − 1 stays there. */
void xlm_word_counts_add(xlm_word_counts *counts, const char *word, size_t size, int64_t times);
/* Add 1 to the counts of n words of a line. */
void xlm_word_counts_add_words(xlm_word_counts *counts, const char *line, const xlm_word *words, size_t n);
/* Add `times` for each occurrence of a word in a text, whose words are separated by ' ' and '\n'. If text arrives in blocks,
 * divide it at line ends. */
void xlm_word_counts_add_text(xlm_word_counts *counts, const char *text, size_t size, int64_t times);
/* Add all words of `more`, with their counts multiplied by `times`. */
void xlm_word_counts_add_all(xlm_word_counts *counts, const xlm_word_counts *more, int64_t times);

/* Number the words by falling count, words of equal count by bytes (memcmp, a prefix first). */
void xlm_word_counts_sort(xlm_word_counts *counts);
/* Remove all words from number n on; for a sorted table. */
void xlm_word_counts_cut(xlm_word_counts *counts, uint32_t n);

/* Number of different words, and the sum of their counts. */
uint32_t xlm_word_counts_size(const xlm_word_counts *counts);
int64_t xlm_word_counts_total(const xlm_word_counts *counts);
/* Word i, 0-terminated, valid as long as the table; size may be NULL. */
const char *xlm_word_counts_word(const xlm_word_counts *counts, uint32_t i, size_t *size);
int64_t xlm_word_counts_count(const xlm_word_counts *counts, uint32_t i);
/* Number of a word, UINT32_MAX when the table does not have it. */
uint32_t xlm_word_counts_index(const xlm_word_counts *counts, const char *word, size_t size);
/* Count of a word, -1 when the table does not have it. */
int64_t xlm_word_counts_find(const xlm_word_counts *counts, const char *word, size_t size);

/* The whole table as bytes that another rank can add to its own (xlm_word_counts_unpack). [out] size: their number. g_free. */
void *xlm_word_counts_pack(const xlm_word_counts *counts, size_t *size);
/* Add what xlm_word_counts_pack wrote. EX_SOFTWARE when the bytes are not such. */
bool xlm_word_counts_unpack(xlm_word_counts *counts, const void *bytes, size_t size, GError **error);

/* Write a vocabulary file, which has a line `word count` for each word in the order of their numbers. Errors of
 * xlm_fields_write. */
bool xlm_word_counts_write(const xlm_word_counts *counts, const char *path, GError **error);
/* The same as text. g_string_free. */
GString *xlm_word_counts_print(const xlm_word_counts *counts);
/* Read a vocabulary file, in the order of its lines. EX_NOINPUT when it cannot be read; EX_DATAERR with file and line for lines
 * of another form, words that occur twice, counts whose sum is above 2^63 − 1, and a file without words. */
xlm_word_counts *xlm_word_counts_read(const char *path, GError **error);
/* The same from bytes; name: for messages. */
xlm_word_counts *xlm_word_counts_parse(const char *name, const char *text, size_t size, GError **error);

#endif
