/* xlm-mpi: the entries of bilingual dictionaries in different formats. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   text    a line `word translation`, separated by a space (as in MUSE), or by a tab, and then both may have spaces;
 *           plain or gzip
 *   twins   a line `subword<tab>subword`: entries of the vocabulary as they are spelled there; plain or gzip
 *   dictd   the two files of a dictd database, as FreeDict's packages have them (lexicon/dictd.h)
 *
 * Empty lines are skipped. So are lines that do not have the form; they are counted, and the first three are reported. */
#ifndef XLM_LEXICON_ENTRIES_H
#define XLM_LEXICON_ENTRIES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef enum { XLM_ENTRIES_TEXT, XLM_ENTRIES_TWINS, XLM_ENTRIES_DICTD } xlm_entries_form;

/* A word and one translation. The words are not terminated and may be anything that is UTF-8. */
typedef struct xlm_entry {
    const char *path; /* the file */
    int64_t line;     /* its line */
    const char *word[2];
    size_t size[2];
} xlm_entry;

/* Takes an entry; false stops the reading, with *error. */
typedef bool xlm_entry_taker(void *data, const xlm_entry *entry, GError **error);

typedef struct xlm_entries {
    xlm_entry_taker *take;
    void *data;
    bool first;       /* dictd: the first translation of each entry only */
    int64_t read, bad; /* numbers of entries taken and lines skipped; readers add to them */
} xlm_entries;

/* Read a dictionary of text or twins. EX_NOINPUT if the file is missing; EX_DATAERR for damaged gzip data; errors of `take`. */
bool xlm_entries_read(xlm_entries *entries, xlm_entries_form form, const char *path, GError **error);

/* For readers of one form: give an entry to `take`; skip a line and say why. */
bool xlm_entries_give(xlm_entries *entries, const xlm_entry *entry, GError **error);
void xlm_entries_pass_over(xlm_entries *entries, const char *path, int64_t line, const char *why);

#endif
