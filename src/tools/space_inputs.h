/* xlm-mpi: spaces of word vectors that a command reads, with their languages. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TOOLS_SPACE_INPUTS_H
#define XLM_TOOLS_SPACE_INPUTS_H

#include "vectors/word_sides.h"

typedef struct xlm_space_inputs {
    xlm_word_space *spaces[2];
    xlm_word_sides sides;
    GArray *rows[2]; /* by side, rows of its language's training text, the most frequent first; NULL: of all text */
} xlm_space_inputs;

/* paths: of a checkpoint or a file of vectors, and NULL or that of the second side. languages: of the sides, NULL: none. corpus:
 * whose training texts of the languages choose the rows; NULL. most: words of a file, 0: all. By each rank for itself; *inputs is
 * zeros before, and closed also after a failure. EX_NOINPUT; EX_DATAERR: vectors of different widths, a corpus of other
 * subwords; EX_USAGE: languages that the model does not have, a corpus for a file of vectors. */
bool xlm_space_inputs_open(xlm_space_inputs *inputs, const char *const paths[2], const char *const languages[2],
                           const char *corpus, int64_t most, GError **error);
void xlm_space_inputs_close(xlm_space_inputs *inputs);
/* Of "LANG" or "LANG,LANG", both languages; of NULL, none. what: the option, for messages. EX_USAGE. *languages: g_strfreev. */
bool xlm_space_inputs_languages(const char *text, const char *what, char ***languages, GError **error);

#endif
