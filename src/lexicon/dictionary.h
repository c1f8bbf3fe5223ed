/* xlm-mpi: the file of a bilingual dictionary. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Layout of dict.h5, as xlm_dict writes it:
 *
 *   /                       format = "xlm-mpi dictionary", format_version, program_version, command, source, target
 *                           (languages), subwords = "one" | "first" | "literal", share, seed, corpus_digest (of vocabulary
 *                           with counts and languages, as in checkpoints), subwords_digest (the same without the counts; not in
 *                           older files), vocabulary (its size)
 *   /inputs                 [k] strings: path, bytes and SHA-256 of every file that it was made from
 *   /dictionary/pairs       [n x 2] i32: vocabulary ids, source and target, sorted
 *   /dictionary/left_out    [m x 2] i32: the pairs of the source subwords that the share left out
 *
 * No source subword is in both. The ids mean nothing with another vocabulary, so a dictionary is only read for a corpus
 * with one of the two digests. */
#ifndef XLM_LEXICON_DICTIONARY_H
#define XLM_LEXICON_DICTIONARY_H

#include <xlm/dictionary.h>

#include "subwords/vocabulary.h"

#define XLM_DICTIONARY_FORMAT "xlm-mpi dictionary"
enum { XLM_DICTIONARY_VERSION = 1 };

#define XLM_DICTIONARY_PAIRS "/dictionary/pairs"
#define XLM_DICTIONARY_LEFT_OUT "/dictionary/left_out"

typedef struct xlm_dictionary_pair {
    int32_t token[2];
} xlm_dictionary_pair;

/* The contents of a new file. */
typedef struct xlm_dictionary_record {
    const GArray *pairs, *left_out; /* xlm_dictionary_pair, sorted */
    const char *language[2];
    const char *subwords, *command;
    double share;
    int64_t seed;
    uint64_t corpus_digest, subwords_digest;
    int64_t vocabulary;
    char **inputs;                  /* NULL-terminated */
} xlm_dictionary_record;

/* Not collective: written by this process alone. EX_CANTCREAT, EX_IOERR; then nothing is left. */
bool xlm_dictionary_write(const char *path, const xlm_dictionary_record *record, GError **error);

/* Read XLM_DICTIONARY_PAIRS or XLM_DICTIONARY_LEFT_OUT for a vocabulary. corpus_digest: xlm_corpus_digest of its corpus.
 * Not collective. EX_NOINPUT if there is no such file; EX_DATAERR if it is not a dictionary, was made for another vocabulary, is
 * damaged, or has a special token. xlm_dictionary_free. */
xlm_dictionary *xlm_dictionary_read(const char *path, const char *part, const xlm_vocabulary *vocabulary,
                                    uint64_t corpus_digest, GError **error);
/* NULL is allowed. */
void xlm_dictionary_free(xlm_dictionary *dictionary);

#endif
