/* xlm-mpi: translations, and how they are to be made. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TRANSLATION_TRANSLATION_H
#define XLM_TRANSLATION_TRANSLATION_H

#include <xlm/search.h>
#include <xlm/similarity.h>

/* By what translations are linked with their sentences. */
typedef enum {
    XLM_LINKS_NONE,
    XLM_LINKS_BY_ATTENTION, /* of the decoder to the encoder (translation/token_links.h) */
    XLM_LINKS_BY_STATES     /* of the encoder, which reads both (translation/state_links.h) */
} xlm_links_by;

typedef struct xlm_translation_options {
    xlm_search_options search;
    int64_t n_best;         /* translations of each sentence, at most search.beam */
    double length_ratio;    /* a translation of a sentence of n ids has at most length_ratio n + length_constant ids, rounded down, */
    int64_t length_constant; /* and fits into the positions of the model with <s> */
    int64_t batch_tokens;   /* maximum number of tokens of all hypotheses of a batch, unless one sentence may have more */
    xlm_links_by links_by;
    int64_t link_layer;     /* by attention: of the decoder, 1 to D; by states: of the encoder, 0 to L */
    double link_threshold;  /* > 0: by all attention weights of at least this; 0: each token by the largest one */
    xlm_link_method link_method; /* by states */
} xlm_translation_options;

/* Token `target` of a translation is linked with id `source` of its sentence. */
typedef struct xlm_token_link {
    int32_t source, target;
} xlm_token_link;

typedef struct xlm_translation {
    int32_t tokens;
    const int32_t *ids;     /* [tokens] without <s> and </s> */
    double log_probability; /* of all tokens and </s> */
    double score;           /* log_probability / (tokens + 1)^length_penalty */
    int32_t links;
    const xlm_token_link *link; /* [links] ascending by target, then by source */
} xlm_translation;

typedef struct xlm_translation_set {
    int64_t sentences;
    int64_t *first;         /* [sentences + 1] translations first[s] to first[s + 1] − 1 are those of sentence s: the best first, or
                             * samples in the order of their numbers. A sentence without ids has none */
    xlm_translation *all;
    void *memory[2];        /* of ids and links */
} xlm_translation_set;

#endif
