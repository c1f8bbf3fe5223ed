/* xlm-mpi: the spaces of word vectors that a command reads, with their languages. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_PROGRAM_SPACE_INPUTS_H
#define XLM_PROGRAM_SPACE_INPUTS_H

#include "corpus/corpus.h"
#include "vectors/word_space.h"

typedef struct xlm_space_inputs {
    xlm_word_space *spaces[2];
    xlm_word_sides sides;
    GArray *rows[2]; /* for each side, the rows in its language's training text, the most frequent first; NULL: all */
} xlm_space_inputs;

/* paths: of a checkpoint or a file of vectors, and that of the second side or NULL. languages: of the sides; NULL: none. corpus:
 * the rows are those in its training texts of the languages; or NULL. max_words: maximum number of words of a file; 0: all. Not
 * collective; *inputs must be zero before, and must be closed also after a failure. EX_NOINPUT; EX_DATAERR: vectors of different
 * widths, a corpus with other subwords; EX_USAGE: languages that the model does not have, a corpus for a file of vectors. */
bool xlm_space_inputs_open(xlm_space_inputs *inputs, const char *const paths[2], const char *const languages[2],
                           const char *corpus, int64_t max_words, GError **error);
void xlm_space_inputs_close(xlm_space_inputs *inputs);

/* Open a set of the words of a side: its rows, or all words of its space. xlm_word_set_close. */
void xlm_space_inputs_add_words(const xlm_space_inputs *inputs, int side, xlm_word_set *set);

/* Does a corpus have the subwords of a model's vocabulary? model: its path, for the message. EX_DATAERR. */
bool xlm_space_inputs_check_corpus(const xlm_corpus *corpus, const xlm_vocabulary *vocabulary, const char *model, GError **error);

#endif
