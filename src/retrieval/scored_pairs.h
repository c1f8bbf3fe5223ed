/* xlm-mpi: pairs of words whose similarity people have judged. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files: a line "word1<tab>word2<tab>score" each, as MUSE and SemEval-2017 (task 2) have them, or with blanks between words
 * without blanks; fields after the score are skipped, as are empty lines, lines that begin with # and a first of the
 * others whose third field is not a number. SemEval's test data come without the score, and another file, of keys, has it, one a
 * line.
 *
 * Measures, over the pairs both of whose words are covered: Pearson's r and Spearman's ρ between the scores and the cosines, and
 * their harmonic mean 2rρ / (r + ρ), by which SemEval-2017 ranks (Camacho-Collados et al. 2017, §3.3); 0 unless both are
 * above 0. */
#ifndef XLM_RETRIEVAL_SCORED_PAIRS_H
#define XLM_RETRIEVAL_SCORED_PAIRS_H

#include "vectors/word_space.h"

/* Pairs of words, with scores or without. */
typedef struct xlm_pair_list {
    GPtrArray *words[2]; /* char * */
    GArray *scores;      /* double; as many as there are pairs, or none */
} xlm_pair_list;

/* keys: file of the scores of pairs that have none; NULL. EX_NOINPUT; EX_DATAERR with file and line. *list is closed also after a
 * failure. */
bool xlm_scored_pairs_read(const char *path, const char *keys, xlm_pair_list *list, GError **error);
/* A dictionary of words as text: lexicon/entries.h. */
bool xlm_pair_list_read_dictionary(const char *path, xlm_pair_list *list, GError **error);
void xlm_pair_list_close(xlm_pair_list *list);

typedef struct xlm_pair_measure {
    int64_t pairs, covered;
    double pearson, spearman, p, harmonic; /* NaN for fewer than 3 pairs, and when all values of a side are equal */
    double cosine;     /* mean over the covered pairs; NaN without */
    double shuffled;   /* and of any of their first words with any of their second: xlm_pair_cosines */
} xlm_pair_measure;

/* By each process for itself: its work grows with the pairs alone. */
xlm_pair_measure xlm_pair_list_measure(const xlm_pair_list *list, const xlm_word_sides *sides);

#endif
