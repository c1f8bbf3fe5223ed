/* xlm-mpi: writing texts with the decoder: greedy search, beam search, sampling. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Beam search keeps the K most probable beginnings of each sentence. In each step, the 2 K most probable continuations of all K
 * are visited, the most probable first: one that ends with </s> becomes a finished hypothesis, any other is kept, until K are
 * kept. The score of a hypothesis y of n tokens and </s> is
 *     log p(y) / (n + 1)^α.
 * Of the finished hypotheses, the K with the highest scores are kept. The search for a sentence ends when no unfinished
 * hypothesis can exceed the lowest of these scores or, with early_stopping, as soon as there are K. With K = 1 the search is
 * greedy: it takes the most probable token each time, until that is </s>. Special tokens other than </s> are never written; their
 * probability is not given to other tokens. If languages have tokens (xlm/special_tokens.h), a text that may have a token begins
 * with that of its language, which counts among its n tokens and adds nothing to log p(y), and no other of them is written.
 *
 * The results of a sentence depend on its memory, on the options and, when sampling, on its key, but not on the other sentences.
 * Arguments that are not as described here end the program with a message: check what comes from users first. */
#ifndef XLM_SEARCH_H
#define XLM_SEARCH_H

#include <xlm/model.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { XLM_MAX_BEAM = 1000 };

typedef struct xlm_search_options {
    int64_t beam;          /* K, 1 to XLM_MAX_BEAM, at most the vocabulary; when sampling, the number of independent samples */
    double length_penalty; /* α, finite */
    bool early_stopping;
    double temperature;    /* > 0: sample from p^(1/temperature); 0: search */
    int64_t top_k;         /* sample among this many most probable tokens, at most the vocabulary; 0: among all */
    uint64_t seed;         /* of the draws when sampling */
    uint64_t step;         /* of training; different steps have different draws */
} xlm_search_options;

/* The sentences to be written. */
typedef struct xlm_search_input {
    int32_t sentences;             /* S, at least 1 */
    xlm_var *memory;               /* rows x d: the states that the decoder attends to */
    const int32_t *memory_offsets; /* [S+1] sentence s has rows memory_offsets[s] … memory_offsets[s+1] − 1, at least one */
    const int32_t *languages;      /* [S] language ids of the texts to write */
    const int32_t *max_tokens;     /* [S] maximum number of tokens before </s>: 0 to the positions of the model − 1 */
    const xlm_row_key *keys;       /* [S] keys of the draws; not read unless sampling */
} xlm_search_input;

/* A text that was written. */
typedef struct xlm_hypothesis {
    int32_t tokens;         /* n, without <s> and </s> */
    const int32_t *ids;     /* [n] */
    double log_probability; /* log p(y), of all n tokens and </s> */
    double score;           /* log p(y) / (n + 1)^α */
} xlm_hypothesis;

typedef struct xlm_search_result {
    int32_t n;                  /* 1 to K finished hypotheses */
    const xlm_hypothesis *best; /* [n] highest score first; samples in the order of their numbers */
} xlm_search_result;

/* Writes a text for each sentence, without gradient or dropout. On a tape that computes nothing (xlm_var_read), all texts become
 * as long as allowed.
 * [in] input: valid until the call returns
 * Returns [S] results, memory of the tape. */
const xlm_search_result *xlm_search(const xlm_model *model, xlm_tape *tape, const xlm_special_tokens *specials,
                                    const xlm_search_options *options, const xlm_search_input *input);
/* The number of bytes that xlm_search takes from the tape if all texts become as long as allowed, which is the maximum. It does
 * not include the packed copies of the parameters, which all passes share, nor the memory itself.
 * [in] tape: the tape that is to be searched on; it is not changed
 * [in] input: its memory is not read */
uint64_t xlm_search_bytes(const xlm_model *model, const xlm_tape *tape, const xlm_special_tokens *specials,
                          const xlm_search_options *options, const xlm_search_input *input);

#ifdef __cplusplus
}
#endif
#endif
