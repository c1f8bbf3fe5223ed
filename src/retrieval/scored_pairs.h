/* xlm-mpi: pairs of words whose similarity people have judged. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files have lines "word1<tab>word2<tab>score", as those of MUSE and SemEval-2017 (task 2), or with blanks instead of tabs if no
 * word has blanks. Fields after the score, empty lines and lines that begin with # are skipped; so is the first of the other
 * lines if its third field is not a number. SemEval's test data have no scores; these are in another file, of keys, one per line.
 *
 * Measures over the pairs whose words are both covered: Pearson's r and Spearman's ρ between the scores and the cosines, and
 * their harmonic mean 2rρ / (r + ρ), by which SemEval-2017 ranks (Camacho-Collados et al. 2017, §3.3); 0 unless both are above
 * 0. */
#ifndef XLM_RETRIEVAL_SCORED_PAIRS_H
#define XLM_RETRIEVAL_SCORED_PAIRS_H

#include "vectors/word_space.h"

/* Pairs of words, with scores or without. */
typedef struct xlm_pair_list {
    GPtrArray *words[2]; /* char * */
    GArray *scores;      /* double; as many as there are pairs, or none */
} xlm_pair_list;

/* keys: the file of the scores, if those of the pairs are in a file of their own, or NULL. EX_NOINPUT; EX_DATAERR with file and
 * line. *list must be closed after a failure, too. */
bool xlm_scored_pairs_read(const char *path, const char *keys, xlm_pair_list *list, GError **error);
/* A dictionary of words as text: lexicon/entries.h. */
bool xlm_pair_list_read_dictionary(const char *path, xlm_pair_list *list, GError **error);
void xlm_pair_list_close(xlm_pair_list *list);

typedef struct xlm_pair_measure {
    int64_t pairs, covered;
    double pearson, spearman, p, harmonic; /* NaN for fewer than 3 pairs, and when all values of a side are equal */
    double cosine;     /* mean over the covered pairs; NaN if there are none */
    double shuffled;   /* mean over all combinations of a first and a second word of these pairs: xlm_pair_cosines */
} xlm_pair_measure;

/* Each process computes this for itself; the work grows only with the number of pairs. */
xlm_pair_measure xlm_pair_list_measure(const xlm_pair_list *list, const xlm_word_sides *sides);

#endif
