/* xlm-mpi: subwords of one language for which word embeddings are measured. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   xlm_token_set_open -> { xlm_token_set_add_... } ... -> xlm_token_set_vectors -> xlm_token_set_close
 *
 * xlm_token_translations_make() makes the translations of an xlm_alignment from two sets and a dictionary between them. */
#ifndef XLM_VECTORS_TOKEN_SET_H
#define XLM_VECTORS_TOKEN_SET_H

#include <glib.h>
#include <xlm/dictionary.h>

#include "corpus/corpus.h"
#include "nn/model.h"

typedef struct xlm_token_set {
    int language;   /* id, -1: none, whose embedding would be added */
    GArray *ids;    /* int32_t, each once, in the order in which they were added */
    int32_t *place; /* [vocabulary] place in ids, -1: not there */
} xlm_token_set;

void xlm_token_set_open(xlm_token_set *set, int language, int64_t vocabulary);
void xlm_token_set_close(xlm_token_set *set);
/* All subwords of the language's training text. list: of xlm_frequency_list(). */
void xlm_token_set_add_list(xlm_token_set *set, const GArray *list);

/* Their word embeddings, plus the language's where the model has them: [n x embedding_size]; g_free. */
float *xlm_token_set_vectors(const xlm_token_set *set, const xlm_model_config *model, const xlm_parameters *parameters);

/* How often subwords occur in the training text of a language (xlm_frequency_list). EX_DATAERR if there is no such text; errors
 * of reading. g_array_unref. */
GArray *xlm_token_frequencies(const xlm_corpus *corpus, int language, GError **error);

/* Translations of the tokens of a set among those of another. */
typedef struct xlm_token_translations {
    int64_t *first;        /* [n + 1] into translations, n the tokens of the source */
    int32_t *translations; /* places in the target */
    int32_t *self;         /* [n] place in the target of the same subword; -1: it has none, or is a translation of itself */
} xlm_token_translations;

/* For the pairs of n dictionaries, all of whose subwords must be in the sets; reverse: from the second language to the first. */
void xlm_token_translations_make(xlm_token_translations *t, const xlm_dictionary *const *dictionaries, int n, bool reverse,
                                 const xlm_token_set *source, const xlm_token_set *target);
void xlm_token_translations_free(xlm_token_translations *t);
/* Add both sides of a dictionary's pairs to the sets. */
void xlm_token_set_add_pairs(const xlm_dictionary *dictionary, bool reverse, xlm_token_set *source, xlm_token_set *target);

#endif
