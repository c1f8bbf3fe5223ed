/* xlm-mpi: byte strings, each stored once and numbered. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Word counts, symbols and caches of words are built on this table. Every one of the millions of words of a text is looked up, so
 * a look-up takes an address and a number of bytes, without a copy or a terminator. Strings are numbered 0, 1, 2, ... in the
 * order in which they are added. */
#ifndef XLM_TEXT_STRINGS_H
#define XLM_TEXT_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "text/word.h"

enum { XLM_STRING_MAX = 1 << 30 }; /* bytes of one string */
#define XLM_NO_STRING UINT32_MAX   /* the number of no string */

typedef struct xlm_strings xlm_strings;

xlm_strings *xlm_strings_new(void);
/* NULL is allowed. */
void xlm_strings_free(xlm_strings *strings);
/* Take the memory for n strings without their bytes, so that the table need not grow while they are added. */
void xlm_strings_reserve(xlm_strings *strings, uint32_t n);
/* Remove all strings, and free most of the memory. */
void xlm_strings_clear(xlm_strings *strings);

uint32_t xlm_strings_count(const xlm_strings *strings);
/* Bytes of memory held. */
size_t xlm_strings_memory(const xlm_strings *strings);
/* String i, 0-terminated (it may have zeros inside), valid until the table is cleared or freed; size may be NULL. */
const char *xlm_strings_get(const xlm_strings *strings, uint32_t i, size_t *size);
/* Number of a string, XLM_NO_STRING when it is not in the table. */
uint32_t xlm_strings_find(const xlm_strings *strings, const char *bytes, size_t size);
/* Number of a string, which is copied into the table if it is new. Ends the program with a message when a string is longer than
 * XLM_STRING_MAX, or when there are more than 2^30 strings. */
uint32_t xlm_strings_add(xlm_strings *strings, const char *bytes, size_t size);
/* The same for n words of a line, in their order: numbers[n]. This is faster than one after another, because the table is read
 * for several words at a time. */
void xlm_strings_add_words(xlm_strings *strings, const char *line, const xlm_word *words, size_t n, uint32_t *numbers);
/* Keep only the strings with the numbers order[n], all different, and give them the numbers 0 ... n − 1 in this order. */
void xlm_strings_reorder(xlm_strings *strings, const uint32_t *order, uint32_t n);

#endif
