/* xlm-mpi: what a decoder writes: greedy search, beam search, sampling. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Beam search keeps the K most probable beginnings of each sentence. In each step the 2 K most probable continuations of all K
 * are visited, the most probable first: one that ends with </s> becomes a finished hypothesis, one that does not is kept, until K
 * are kept. The score of a hypothesis y of n tokens and </s> is
 *     log p(y) / (n + 1)^α,
 * and the K finished hypotheses with the highest scores are remembered. The search of a sentence ends when no unfinished
 * hypothesis can reach the score of the worst of them, or, with early_stopping, as soon as there are K. With K = 1 it is greedy:
 * the most probable token each time, until that is </s>. Special tokens other than </s> are never written; they keep their
 * probability.
 *
 * The results of a sentence depend on its memory, on the options and, when sampling, on its key, but not on the other
 * sentences. What is not as described here ends the program with a message: check what users say before. */
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
    int64_t top_k;         /* sample among this many tokens, the most probable ones, at most the vocabulary; 0: among all */
    uint64_t seed;         /* of the samples */
    uint64_t step;         /* a different one for each step of training */
} xlm_search_options;

/* The sentences to be written. */
typedef struct xlm_search_input {
    int32_t sentences;             /* S, at least 1 */
    xlm_var *memory;               /* rows x d: the states that the decoder attends to */
    const int32_t *memory_offsets; /* [S+1] of the memory's rows, at least one in each; all of them */
    const int32_t *languages;      /* [S] of what is written */
    const int32_t *max_tokens;     /* [S] maximum number of tokens before </s>: 0 to the positions of the model − 1 */
    const xlm_row_key *keys;       /* [S] of the draws when sampling; else they are not read */
} xlm_search_input;

typedef struct xlm_hypothesis {
    int32_t tokens;         /* n, without <s> and </s> */
    const int32_t *ids;     /* [n] */
    double log_probability; /* of all n tokens and </s> */
    double score;
} xlm_hypothesis;

typedef struct xlm_search_result {
    int32_t n;                  /* 1 to K finished hypotheses */
    const xlm_hypothesis *best; /* [n] highest score first; samples in the order of their numbers */
} xlm_search_result;

/* Writes a text for each sentence, without gradient or dropout. On a tape that computes nothing, the longest texts.
 * [in] input: valid until the call returns
 * Returns [S] results, memory of the tape. */
const xlm_search_result *xlm_search(const xlm_model *model, xlm_tape *tape, const xlm_special_tokens *specials,
                                    const xlm_search_options *options, const xlm_search_input *input);
/* The most bytes that xlm_search would take of the tape, if texts became as long as they may. The packed copies of the parameters
 *, which all passes share, and the memory itself are not counted.
 * [in] tape: as it would search; it is not changed
 * [in] input: its memory is not read */
uint64_t xlm_search_bytes(const xlm_model *model, const xlm_tape *tape, const xlm_special_tokens *specials,
                          const xlm_search_options *options, const xlm_search_input *input);

#ifdef __cplusplus
}
#endif
#endif
