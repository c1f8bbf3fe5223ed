/* xlm-mpi: from entries of dictionaries to pairs of subwords. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Words are processed like the corpus's text: normalisation, word breaks, segmenter. An entry is taken if each side is one word
 * of one subword (`first`: any number, the first subword represents the word) that is in the vocabulary. Entries of twins
 * are looked up unchanged, and taken if each can occur in text of its side's language: a twin only in that of its synthetic
 * language. Repeated pairs are taken once; pairs of a subword with itself are left out, because they are aligned already.
 *
 * A share s of the n source subwords that have a translation is drawn: the round(s·n), but at least one, with the smallest draws,
 * which depend only on seed and id. So with the same seed a smaller share is a subset of a larger one. The pairs of the others
 * are `left_out`. */
#ifndef XLM_LEXICON_SUBWORD_PAIRS_H
#define XLM_LEXICON_SUBWORD_PAIRS_H

#include "lexicon/entries.h"

typedef struct xlm_lexicon_source {
    xlm_entries_form form;
    const char *path;
} xlm_lexicon_source;

typedef struct xlm_lexicon_options {
    const char *corpus, *output; /* output NULL: lines `subword<tab>subword` on standard output, which --twins reads */
    const char *language[2];   /* source and target, names of the corpus */
    const GArray *sources;     /* xlm_lexicon_source */
    bool first_translation;    /* dictd: of each entry */
    bool first_subword;
    double share;              /* in (0, 1] */
    int64_t seed;
    const char *command;       /* for the file */
} xlm_lexicon_options;

/* Read everything, report to the log, and write the output. Not collective: called by one process. Errors: EX_USAGE for a
 * language that the corpus does not have; EX_NOINPUT for missing files; EX_DATAERR when no entry is in the vocabulary, and for an
 * entry that is a special token; those of the store. Then nothing is written. */
bool xlm_lexicon_make(const xlm_lexicon_options *options, GError **error);

#endif
