/* xlm-mpi: vectors of words, of a model or of a file of vectors. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A space has rows: for a model, those of its word embeddings, one per subword; for a file (vectors/named_vectors.h), one for
 * each of its words. The vector of a word is the mean of its rows. In a model they are its subwords', and the row of the language
 * is added where the model has language embeddings and a language is named. In a file it is the word's own, or that of the word
 * in lower case if the file does not have it as it is written; a phrase is its words joined by "_", or else the mean of its
 * words. A word is not covered when a part of it is unknown.
 *
 *   xlm_word_space_open -> { xlm_word_set_open -> { xlm_word_set_add } ... -> xlm_word_set_vectors -> xlm_word_set_close } ...
 *   -> xlm_word_space_free */
#ifndef XLM_VECTORS_WORD_SPACE_H
#define XLM_VECTORS_WORD_SPACE_H

#include <glib.h>

#include "model/model_file.h"

typedef struct xlm_word_space xlm_word_space;

/* path: a checkpoint or a file of vectors. max_words: number of words that are read of a file; 0: all. Not collective.
 * EX_NOINPUT, EX_DATAERR. */
xlm_word_space *xlm_word_space_open(const char *path, int64_t max_words, GError **error);
/* NULL is allowed. */
void xlm_word_space_free(xlm_word_space *space);

const char *xlm_word_space_path(const xlm_word_space *space);
int64_t xlm_word_space_width(const xlm_word_space *space);
int64_t xlm_word_space_rows(const xlm_word_space *space);
const char *xlm_word_space_row_name(const xlm_word_space *space, int32_t row);
/* Is it the row of a word, not of a special token, and not a row that no token has (xlm_is_row_name)? */
bool xlm_word_space_row_is_word(const xlm_word_space *space, int32_t row);
/* NULL: a file of vectors. */
const xlm_loaded_model *xlm_word_space_model(const xlm_word_space *space);
/* Id of a language of the model; −1 for NULL, and in a file, which knows of none. EX_USAGE: the model does not have it. */
bool xlm_word_space_language(const xlm_word_space *space, const char *name, int *language, GError **error);

/* Words of a space, each once: words with the same rows are one. */
typedef struct xlm_word_set {
    xlm_word_space *space;
    int language;
    GArray *rows;    /* int32_t, of all words */
    GArray *offsets; /* int64_t [n + 1] into rows */
    GHashTable *numbers;
} xlm_word_set;

/* language: whose embedding is added, and by whose rules words are cut into subwords; −1: none. The space is borrowed. */
void xlm_word_set_open(xlm_word_set *set, xlm_word_space *space, int language);
/* After zeros, too. */
void xlm_word_set_close(xlm_word_set *set);
int64_t xlm_word_set_count(const xlm_word_set *set);
/* The number of a word, which is added if it is new; −1: it is not covered. word: UTF-8. */
int64_t xlm_word_set_add(xlm_word_set *set, const char *word);
int64_t xlm_word_set_add_row(xlm_word_set *set, int32_t row);
/* The number of a word, −1 if it is not in the set. */
int64_t xlm_word_set_find(const xlm_word_set *set, const char *word);
/* The number of a word of another set of the same space, −1 if it is not in this one. */
int64_t xlm_word_set_find_rows(const xlm_word_set *set, const xlm_word_set *other, int64_t number);
/* The text of its rows. g_free. */
char *xlm_word_set_name(const xlm_word_set *set, int64_t number);
/* [n x width] of words first … first + n; g_free. */
float *xlm_word_set_vectors(const xlm_word_set *set, int64_t first, int64_t n);

/* ---- pairs of words ---- */

typedef struct xlm_word_side {
    xlm_word_space *space;
    int language;     /* −1: none */
    const char *name; /* of the language; NULL: none was named */
} xlm_word_side;

/* The first and the second words of pairs, in one language or in two. */
typedef struct xlm_word_sides {
    xlm_word_side side[2];
    int n; /* 1: they are equal */
} xlm_word_sides;

#endif
