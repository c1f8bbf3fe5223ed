/* xlm-mpi: dictionaries of dictd, as FreeDict's packages have them. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * NAME.index has a line `headword<tab>offset<tab>length` for each entry, numbers in base 64 (dictfmt(1)); NAME.dict, or
 * NAME.dict.dz, which zlib reads as gzip, has the text there:
 *
 *     house /hˈaʊs/                          headword, with pronunciation and grammar
 *     Haus <neut>, Gebäude <neut> [arch.]    translations, between commas or semicolons
 *           "build a house"  - ein Haus bauen
 *        Synonym: {home}
 *      see: {houses}
 *
 * The headword is taken from the text, because the index has it without capitals and marks. Text in (), [], <> and {}, or between
 * slashes after a blank, is left out, and so are examples, notes and references. */
#ifndef XLM_LEXICON_DICTD_H
#define XLM_LEXICON_DICTD_H

#include "lexicon/entries.h"

/* The names of the two files of a dictionary that is given as NAME or by either file. [out] g_free both. EX_NOINPUT if one is
 * missing. */
bool xlm_dictd_find(const char *path, char **index, char **text, GError **error);
/* xlm_entries_read (lexicon/entries.h) for XLM_ENTRIES_DICTD. */
bool xlm_dictd_read(xlm_entries *entries, const char *path, GError **error);

#endif
