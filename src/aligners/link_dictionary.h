/* xlm-mpi: a bilingual dictionary of the words that links join. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * With c(s, t) the number of links between source word s and target word t in all sentence pairs,
 * p(t | s) = c(s, t) / Σ_t c(s, t) and p(s | t) = c(s, t) / Σ_s c(s, t). The translations of a word are in order of their number of links; of equal ones the word
 * with fewer links in all comes first, then the one whose bytes do. The first is the best.
 *
 * Each rank goes through its part of the sentence pairs once, and has each pair of linked words there once in memory. The counts
 * are added up by the ranks that own the words, and rank 0, which then has each pair of words once, writes them. Counts are
 * integers, so the dictionary is the same on any number of ranks. */
#ifndef XLM_ALIGNERS_LINK_DICTIONARY_H
#define XLM_ALIGNERS_LINK_DICTIONARY_H

#include "aligners/bitext.h"

typedef struct xlm_link_dictionary_options {
    const char *texts[3];    /* two texts, or one of lines `source ||| target`; then NULL */
    const char *links;       /* lines of links, words counted from 0 */
    xlm_bitext_options text; /* `longest` is not used */
    int64_t min_count;       /* pairs with fewer links are left out */
    double min_probability;  /* and those with a lower p(t | s) */
    int64_t top;             /* of the others, how many translations of a word are kept; 0: all */
    bool mutual;             /* only pairs of which each word is the other's best translation */
    const char *output;      /* lines `s<tab>t`, in order of the bytes of s; NULL: standard output */
    const char *scores;      /* lines `s<tab>t<tab>c(s, t)<tab>p(t | s)<tab>p(s | t)` in the same order; NULL: none */
} xlm_link_dictionary_options;

/* Collective. Writes a summary to the log. EX_NOINPUT; EX_DATAERR: a bad line of links, a link of a word that the sentence does
 * not have, other than one line of links for each
 * sentence pair, no entry left; EX_UNAVAILABLE: more than 2^31 pairs of words; EX_CANTCREAT, EX_IOERR. */
bool xlm_link_dictionary_make(const xlm_comm *comm, const xlm_link_dictionary_options *options, GError **error);

#endif
