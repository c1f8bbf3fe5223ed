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
 * The headword is taken from the text: the index has it without capitals and marks. What is in (), [], <> and {}, or
 * after a blank between slashes, is left out, and so are examples, notes and references. */
#ifndef XLM_LEXICON_DICTD_H
#define XLM_LEXICON_DICTD_H

#include "lexicon/entries.h"

/* The two names that belong to one: NAME, NAME.index, NAME.dict or NAME.dict.dz. [out] g_free both. EX_NOINPUT when one of
 * them is missing. */
bool xlm_dictd_find(const char *path, char **index, char **text, GError **error);
/* xlm_entries_read (lexicon/entries.h) for XLM_ENTRIES_DICTD. */
bool xlm_dictd_read(xlm_entries *entries, const char *path, GError **error);

#endif
