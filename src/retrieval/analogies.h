/* xlm-mpi: analogies: a is to b as c is to d. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files have lines "a b c d" (Google's questions-words.txt), separated by blanks or tabs; d may be several right answers
 * separated by slashes. A line ": section" begins a section. Or they have lines "word<tab>answers" (BATS): then every ordered
 * pair of lines of a section is a question; b is the first answer of the first line, and d are the answers of the second. Empty
 * lines are skipped.
 *
 * The answer is the word nearest by cosine to  b/|b| − a/|a| + c/|c|  (3CosAdd, Mikolov et al. 2013) among all candidates but
 * a, b and c. Candidates are the rows of the space and the words of the questions. With two sides, a word is looked up in the
 * first, then in the second; "LANG:word" names its side; candidates are of the side of d. */
#ifndef XLM_RETRIEVAL_ANALOGIES_H
#define XLM_RETRIEVAL_ANALOGIES_H

#include "comm/comm.h"
#include "vectors/word_space.h"

typedef struct xlm_analogy {
    int section;
    char *words[3]; /* a, b, c */
    char **answers; /* d, NULL-terminated */
} xlm_analogy;

typedef struct xlm_analogies {
    GPtrArray *sections;  /* char * */
    GPtrArray *questions; /* xlm_analogy * */
} xlm_analogies;

/* EX_NOINPUT; EX_DATAERR with file and line. NULL on failure. */
xlm_analogies *xlm_analogies_read(const char *path, GError **error);
/* NULL is allowed. */
void xlm_analogies_free(xlm_analogies *analogies);

typedef struct xlm_analogy_score {
    int64_t questions, covered, right;
    double cosine; /* mean of cos(b − a + c, d) over the covered questions, where d is the first covered answer; NaN if there are
                      none */
} xlm_analogy_score;

/* [out] scores: [sections + 1], the last over all sections. rows: by side, the rows that are candidates (GArray of int32_t);
 * NULL: all rows. The results are the same on any number of ranks, which share the questions. Memory: as for
 * xlm_alignment_nearest(). Collective. */
void xlm_analogies_measure(const xlm_comm *comm, const xlm_analogies *analogies, const xlm_word_sides *sides,
                           GArray *const rows[2], xlm_analogy_score *scores);

#endif
