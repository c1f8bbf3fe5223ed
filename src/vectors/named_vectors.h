/* xlm-mpi: reading files of words with their vectors. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files of xlm_embed export (vectors/vector_file.h) and of other programs:
 *
 *   HDF5    /vectors [N x d] and /words [N], of format "xlm-mpi vectors"
 *   text    a line for each word: the word and d numbers, separated by blanks; plain or gzip. The first line may be "N d"
 * (word2vec's text, fastText's .vec; GloVe has none). The last d fields of a line are its numbers, so a word may contain
 *           blanks */
#ifndef XLM_VECTORS_NAMED_VECTORS_H
#define XLM_VECTORS_NAMED_VECTORS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct xlm_named_vectors {
    int64_t n, width;
    GPtrArray *names;    /* [n] char *, each once */
    float *values;       /* [n x width] */
    GHashTable *numbers; /* name -> number + 1 */
} xlm_named_vectors;

/* Reads the first max_words words (files have the most frequent first); 0: all. If a word occurs again, its first vector is
 * taken, and words that are not UTF-8 are skipped, both with a warning. Not collective. EX_NOINPUT; EX_DATAERR with file and
 * line: no number, one that is not finite, another number of them than in the first line, fewer words than the first line says,
 * vectors without names. */
xlm_named_vectors *xlm_named_vectors_read(const char *path, int64_t max_words, GError **error);
/* NULL is allowed. */
void xlm_named_vectors_free(xlm_named_vectors *vectors);
/* The number of a word, −1 if it is not there. */
int64_t xlm_named_vectors_find(const xlm_named_vectors *vectors, const char *name);

#endif
