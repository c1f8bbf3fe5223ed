/* xlm-mpi: the words or sentences that a map shows, and their vectors in a model. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_MAPS_MAP_ITEMS_H
#define XLM_MAPS_MAP_ITEMS_H

#include "comm/comm.h"
#include "corpus/corpus.h"

typedef struct xlm_map_items {
    const char *path;     /* what they were read from */
    GPtrArray *labels;    /* char *: words as they are written or spelled in the vocabulary; sentences */
    GArray *language;     /* int32_t: index of `languages` */
    GPtrArray *languages; /* char * */
    bool named;           /* the languages are names that models know */
    GArray *links;        /* int64_t, two each: items that are translations */
    GArray *subwords, *ends; /* int32_t, int64_t: subword ids of each item, and where they end; NULL: words as text */
    uint64_t vocabulary;  /* its digest */
    bool sentences;
} xlm_map_items;

/* Pairs of a dictionary, which is a file of xlm_dict in the subwords of `checkpoint`, or a text file of words. languages: names
 * of the two sides; NULL: as the file or, as in MUSE, its name says, otherwise "first" and "second". max_pairs: maximum number of
 * pairs to take, from the first on; 0: all. Each rank calls one of these readers once for itself; *items must be closed after a
 * failure, too. EX_NOINPUT, EX_DATAERR. */
bool xlm_map_items_read_dictionary(xlm_map_items *items, const char *path, const char *checkpoint, char *const *languages,
                                   int64_t max_pairs, GError **error);
/* The `max_words` most frequent subwords with a letter in them of the training text of each language; NULL: of all languages. */
bool xlm_map_items_read_words(xlm_map_items *items, const char *corpus, char *const *languages, int64_t max_words,
                              GError **error);
/* The first `max_pairs` held-out pairs of sentences of two languages, 0: all; NULL: of the only pair. */
bool xlm_map_items_read_sentences(xlm_map_items *items, const char *corpus, char *const *languages, int64_t max_pairs,
                                  GError **error);
void xlm_map_items_close(xlm_map_items *items); /* items of zeros are allowed */

/* How vectors are made. */
typedef struct xlm_map_vectors {
    int64_t layer;    /* of sentences: hidden states; −1: the last */
    bool words_alone; /* without the embeddings of languages */
    bool unit;        /* divided by their lengths */
    int64_t max_words; /* words of a file of vectors that are read; 0: all */
} xlm_map_vectors;

/* [out] vectors: [n x width], g_free; covered: [n], set to false for items that have none; step: of a checkpoint. path: of a
 * checkpoint or, for words as text, of a file of vectors. Collective. EX_DATAERR: another vocabulary. */
bool xlm_map_items_vectors(const xlm_comm *comm, const xlm_map_items *items, const char *path, const xlm_map_vectors *how,
                           float **vectors, int64_t *width, bool *covered, int64_t *step, GError **error);
/* Keep the items that are covered, and the links between them: renumbers all but the vectors, which stay as they are. */
void xlm_map_items_keep(xlm_map_items *items, const bool *covered);

#endif
