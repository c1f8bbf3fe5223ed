/* xlm-mpi: byte strings, each kept once and numbered. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table under word counts, symbols and caches of words. Text has millions of words and each is looked up, so a
 * look-up takes bytes and their number where they are, with no copy and no terminator. Strings are numbered 0, 1,
 * 2, ... as they come. */
#ifndef XLM_TEXT_STRINGS_H
#define XLM_TEXT_STRINGS_H

#include <stddef.h>
#include <stdint.h>

enum { XLM_STRING_MAX = 1 << 30 }; /* bytes of one string */
#define XLM_NO_STRING UINT32_MAX   /* more strings than this end the program with a message */

typedef struct xlm_strings xlm_strings;

xlm_strings *xlm_strings_new(void);
/* NULL is allowed. */
void xlm_strings_free(xlm_strings *strings);
/* Forget all strings; most memory is given back. */
void xlm_strings_clear(xlm_strings *strings);

uint32_t xlm_strings_count(const xlm_strings *strings);
/* Bytes of memory held. */
size_t xlm_strings_memory(const xlm_strings *strings);
/* String i, 0-terminated (it may have zeros inside), valid until the table is cleared or freed; size may be NULL. */
const char *xlm_strings_get(const xlm_strings *strings, uint32_t i, size_t *size);
/* Number of a string, XLM_NO_STRING when it is not in the table. */
uint32_t xlm_strings_find(const xlm_strings *strings, const char *bytes, size_t size);
/* Number of a string, which is put into the table (copied) when it is new. */
uint32_t xlm_strings_add(xlm_strings *strings, const char *bytes, size_t size);
/* Keep the strings order[0..n), all different, and number them so. */
void xlm_strings_reorder(xlm_strings *strings, const uint32_t *order, uint32_t n);

#endif
