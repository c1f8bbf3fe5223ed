/* xlm-mpi: the tape and its operators, for the forward and the backward pass. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An operator takes variables (matrices, row-major, rows x cols), computes its result at once and records its backward pass on
 * the tape. Results are in memory of the tape, which is valid until the pass ends and is never freed piece by piece: nothing of
 * it is left in the next pass. Every value is a matrix, including losses, which are 1 x 1. Shapes that do not match are bugs of
 * the caller and end the program.
 *
 * Results do not depend on the number of threads: sums are computed over fixed chunks.
 *
 * Parameters are marked `[in] name: shape` and `[out] name: shape`, one on each line; `y` is the returned variable. The tape,
 * which every operator writes to, is not listed. Arrays that are copied may be changed after the call; others must stay valid
 * and unchanged until the backward pass has ended. */
#ifndef XLM_TAPE_H
#define XLM_TAPE_H

#include <xlm/batch.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* float in the programs; the gradient checks build the same sources in double. */
#ifdef XLM_DOUBLE
typedef double xlm_real;
#else
typedef float xlm_real;
#endif

typedef struct xlm_tape xlm_tape;

/* A matrix of rows x cols. The type that its numbers are stored in is private to the tape. */
typedef struct xlm_var xlm_var;

int64_t xlm_var_rows(const xlm_var *x);
int64_t xlm_var_cols(const xlm_var *x);
/* The only element of a variable; 1 on a tape that computes nothing (xlm_var_read).
 * [in] x: 1 x 1 */
double xlm_var_scalar(const xlm_var *x);
/* Copies rows first to first + n - 1. The tape with which memory is estimated before a run computes nothing: pseudo-random
 * numbers in [-1, 1) are given in place of values, and zeros in place of gradients.
 * [in] x: rows x cols
 * [in] first: 0 to rows - n
 * [out] values: n x cols */
void xlm_var_read(const xlm_var *x, int64_t first, int64_t n, xlm_real *values);

/* The parameter of the model or the plugin with that name; the same variable at each call in a pass. A name that does not exist
 * ends the program.
 * [in] name: such as "embeddings/word/weight" */
xlm_var *xlm_param(xlm_tape *tape, const char *name);

/* A constant.
 * [in] values: rows x cols, copied
 * [out] y: rows x cols, without gradient */
xlm_var *xlm_constant(xlm_tape *tape, int64_t rows, int64_t cols, const xlm_real *values);
/* The same without a copy, for large constants.
 * [in] values: rows x cols, not copied */
xlm_var *xlm_constant_in_place(xlm_tape *tape, int64_t rows, int64_t cols, const xlm_real *values);

/* A constant with the values of x, through which no gradient flows to x.
 * [in] x: n x d
 * [out] y: n x d */
xlm_var *xlm_detach(xlm_tape *tape, const xlm_var *x);

/* y = x Wᵀ + b.
 * [in] x: n x in
 * [in] weight: out x in
 * [in] bias: 1 x out, or NULL
 * [out] y: n x out */
xlm_var *xlm_linear(xlm_tape *tape, xlm_var *x, xlm_var *weight, xlm_var *bias);

/* y_i = Σ_k table[k][indices[k][i]]: row i of the result is the sum of one row of each table, or of none of table k if
 * indices[k][i] is -1. Another bad index ends the program.
 * [in] tables: number of tables
 * [in] table: [tables], each any x d
 * [in] indices: [tables][n], copied
 * [in] keys: [n] row keys of y, not copied, or NULL
 * [out] y: n x d */
xlm_var *xlm_embedding_sum(xlm_tape *tape, int tables, xlm_var *const *table, const int32_t *const *indices, int64_t n,
                           const xlm_row_key *keys);

/* y_i = γ (x_i − mean x_i) / sqrt(var x_i + ε) + β.
 * [in] x: n x d
 * [in] gamma: 1 x d
 * [in] beta: 1 x d, or NULL
 * [in] epsilon: ε > 0
 * [out] y: n x d */
xlm_var *xlm_layer_norm(xlm_tape *tape, xlm_var *x, xlm_var *gamma, xlm_var *beta, double epsilon);

/* Exact GELU: y_i = u_i Φ(u_i), u_i = x_i + b, Φ(u) = (1 + erf(u/√2)) / 2. Call a linear layer before it without bias: the bias
 * costs nothing here.
 * [in] x: n x d
 * [in] bias: 1 x d, or NULL
 * [out] y: n x d */
xlm_var *xlm_gelu(xlm_tape *tape, xlm_var *x, xlm_var *bias);
/* The same with ALBERT's approximation of Φ by a tanh: (1 + tanh(√(2/π) (u + 0.044715 u³))) / 2. */
xlm_var *xlm_gelu_tanh(xlm_tape *tape, xlm_var *x, xlm_var *bias);

/* Activations of a model's feed-forward layers: both forms of GELU; ReLU, max(u, 0); swish, u / (1 + e^-u), also called SiLU. */
typedef enum xlm_activation { XLM_GELU, XLM_GELU_TANH, XLM_RELU, XLM_SWISH, XLM_ACTIVATIONS } xlm_activation;
/* y_i = a(x_i + b).
 * [in] activation: a
 * [in] x: n x d
 * [in] bias: 1 x d, or NULL
 * [out] y: n x d */
xlm_var *xlm_activate(xlm_tape *tape, xlm_activation activation, xlm_var *x, xlm_var *bias);
/* A gated activation, GeGLU and the like (Shazeer 2020): y_i = a(u_i) ⊙ v_i with (u_i, v_i) = x_i + b.
 * [in] activation: a
 * [in] x: n x 2d
 * [in] bias: 1 x 2d, or NULL
 * [out] y: n x d */
xlm_var *xlm_gate(xlm_tape *tape, xlm_activation activation, xlm_var *x, xlm_var *bias);

/* y = max(x, 0), element by element; no gradient at 0.
 * [in] x: n x d
 * [out] y: n x d */
xlm_var *xlm_relu(xlm_tape *tape, xlm_var *x);

/* y = tanh(x), element by element, computed in double precision: for the few rows of a pooler.
 * [in] x: n x d
 * [out] y: n x d */
xlm_var *xlm_tanh(xlm_tape *tape, xlm_var *x);

/* y = x · m / (1−p), m ~ Bernoulli(1−p); y = x (the same variable) if the tape is not training or p = 0. The draws are a function
 * of (seed, step, position in the order of calls on the tape, row key, column), with 16 bits per element: p is rounded to 1/65536
 * and the scale is exact for the rounded p. Rows without keys are keyed by their number.
 * [in] x: n x d
 * [in] p: probability of a zero, in [0, 1)
 * [out] y: n x d */
xlm_var *xlm_dropout(xlm_tape *tape, xlm_var *x, double p);

/* y = a + b, y = a − b, y = a ⊙ b (element by element).
 * [in] a: n x d
 * [in] b: n x d
 * [out] y: n x d */
xlm_var *xlm_add(xlm_tape *tape, xlm_var *a, xlm_var *b);
xlm_var *xlm_subtract(xlm_tape *tape, xlm_var *a, xlm_var *b);
xlm_var *xlm_multiply(xlm_tape *tape, xlm_var *a, xlm_var *b);

/* The end of a transformer's sublayer ("add & norm"): y = LayerNorm(x + dropout(z + b)), as
 *     xlm_layer_norm(xlm_add(x, xlm_dropout(z + b, p)), gamma, beta, epsilon)
 * with the same draws. Call the linear layer that makes z without bias: the bias costs nothing here. If z is the result of
 * xlm_linear and no operator has used it, its memory is reused: z can then no longer be read, and an operator that uses z
 * afterwards ends the program.
 * [in] x: n x d
 * [in] z: n x d
 * [in] bias: 1 x d, or NULL
 * [in] p: probability of dropout, in [0, 1)
 * [in] gamma: 1 x d
 * [in] beta: 1 x d, or NULL
 * [in] epsilon: > 0
 * [out] y: n x d */
xlm_var *xlm_residual_norm(xlm_tape *tape, xlm_var *x, xlm_var *z, xlm_var *bias, double p, xlm_var *gamma, xlm_var *beta,
                           double epsilon);

/* The end of a sublayer whose norm is at its beginning: y = x + dropout(z + b), with the draws of xlm_residual_norm.
 * [in] x: n x d
 * [in] z: n x d
 * [in] bias: 1 x d, or NULL
 * [in] p: probability of dropout, in [0, 1)
 * [out] y: n x d */
xlm_var *xlm_residual(xlm_tape *tape, xlm_var *x, xlm_var *z, xlm_var *bias, double p);

/* Attention within each sequence, for each of `heads` heads of width w = d / heads:
 *     O = dropout(softmax(Q Kᵀ / √w)) V.
 * Q, K, V are d columns of `query`, `key`, `value`, starting at the given columns, so that one T x 3d variable can hold all three
 * (columns 0, d, 2d). Sequence i has the keys and values in rows offsets[i] to offsets[i + 1] − 1, and the queries in the same
 * rows, or in rows query_offsets[i] to query_offsets[i + 1] − 1. A query attends to all keys of its sequence, or to the first
 * visible[q] of them: with visible[q] = 1 + the position of q in its sequence, attention is causal. With visible_from, it attends
 * to keys visible_from[q] to visible[q] − 1 alone; keys that no query near it sees are not computed.
 * [out] y: query rows x d */
typedef struct xlm_attention_inputs {
    xlm_var *query, *key, *value; /* query rows x any, T x any, T x any, T = offsets[sequences] */
    int64_t query_column, key_column, value_column; /* the first of d columns of each */
    int64_t width;                /* d, a multiple of heads */
    int64_t heads;
    const int32_t *offsets;       /* [sequences + 1], not copied */
    const int32_t *query_offsets; /* [sequences + 1], not copied; NULL: offsets */
    const int32_t *visible;       /* [query rows], not copied: at least 1, ascending within a sequence; NULL: all keys */
    const int32_t *visible_from;  /* [query rows], not copied: below visible, ascending within a sequence; NULL: 0 */
    int32_t sequences;
    double dropout;               /* of the attention weights, in [0, 1) */
} xlm_attention_inputs;
xlm_var *xlm_attention(xlm_tape *tape, const xlm_attention_inputs *inputs);

/* y_i = x[index_i]. A row may be taken more than once.
 * [in] x: any x d
 * [in] index: [n], copied
 * [out] y: n x d */
xlm_var *xlm_rows(xlm_tape *tape, xlm_var *x, const int32_t *index, int64_t n);

/* y_i = Σ x[index_e], e = offsets_i … offsets_(i+1) − 1: y = A x for a sparse A of zeros and ones; an empty sum is 0.
 * [in] x: any x d
 * [in] offsets: [n + 1] ascending from 0, copied
 * [in] index: [offsets_n], copied
 * [out] y: n x d, without keys */
xlm_var *xlm_rows_sum(xlm_tape *tape, xlm_var *x, const int32_t *offsets, const int32_t *index, int64_t n);

/* How well one target was predicted. */
typedef struct xlm_score {
    float loss;     /* −log p(target) */
    int32_t correct; /* 1 if the target has the highest probability, else 0 */
} xlm_score;

/* Mean over rows of −log softmax(h Eᵀ + b)[target]. Logits are computed for `chunk` rows at a time. Until the backward pass each
 * call keeps those of its first chunk, if M <= chunk or they have at most 256 MiB; the others are computed again.
 * [in] h: M x e, M >= 1
 * [in] table: E, V x e
 * [in] bias: 1 x V, or NULL
 * [in] targets: [M] in [0, V), copied
 * [in] chunk: rows, >= 1
 * [out] scores: [M], or NULL
 * [out] y: 1 x 1 */
xlm_var *xlm_vocab_cross_entropy(xlm_tape *tape, xlm_var *h, xlm_var *table, xlm_var *bias, const int32_t *targets,
                                 int64_t chunk, xlm_score *scores);

/* The same with label smoothing (Szegedy et al. 2016, Vaswani et al. 2017): the target distribution is (1 − ε) onehot + ε/V, and
 * the mean over rows of −(1 − ε) log p(target) − ε/V Σ_v log p(v) is returned. Scores are those without smoothing.
 * [in] smoothing: ε, 0 to 1 */
xlm_var *xlm_vocab_smoothed_cross_entropy(xlm_tape *tape, xlm_var *h, xlm_var *table, xlm_var *bias, const int32_t *targets,
                                          double smoothing, int64_t chunk, xlm_score *scores);

/* y_i = a_i·b_i / (|a_i| |b_i|); 0 (and no gradient) if a norm is below 1e-12.
 * [in] a: n x d
 * [in] b: n x d
 * [out] y: n x 1 */
xlm_var *xlm_cosine(xlm_tape *tape, xlm_var *a, xlm_var *b);

/* y_i = a_i·b_i, the dot product of row i of both.
 * [in] a: n x d
 * [in] b: n x d
 * [out] y: n x 1 */
xlm_var *xlm_row_dot(xlm_tape *tape, xlm_var *a, xlm_var *b);

/* y_i = a_j·b_k with j = of_a[i], k = of_b[i]: dot products of n pairs of rows, without copies of the rows. A row may be taken
 * more than once, and a and b may be the same variable.
 * [in] a: any x d
 * [in] of_a: [n] rows of a, copied
 * [in] b: any x d
 * [in] of_b: [n] rows of b, copied
 * [out] y: n x 1, without keys */
xlm_var *xlm_row_pairs_dot(xlm_tape *tape, xlm_var *a, const int32_t *of_a, xlm_var *b, const int32_t *of_b, int64_t n);

/* y_i = x_i / |x_i|, each row with an L2 norm of 1; zeros (and no gradient) if the norm is below 1e-12.
 * [in] x: n x d
 * [out] y: n x d */
xlm_var *xlm_row_normalise(xlm_tape *tape, xlm_var *x);

/* y_s = mean of the wanted rows of sequence s, which are among offsets[s] to offsets[s + 1] − 1; zeros if there are none. The
 * mean over the text of each sentence, without special tokens, is
 *     xlm_sequence_mean(tape, view->states, view->text->offsets, view->text->sequences, xlm_text_rows(tape, view->text))
 * [in] x: T x d, T = offsets[sequences]
 * [in] offsets: [sequences + 1], copied
 * [in] wanted: [T], copied; NULL: all rows
 * [out] y: sequences x d, with the keys of the first rows of sequences */
xlm_var *xlm_sequence_mean(xlm_tape *tape, xlm_var *x, const int32_t *offsets, int32_t sequences, const bool *wanted);
/* Which rows are words: all except those of special tokens. Masked rows are words; rows that noise has blanked are not. The
 * caller may change the result: `words[i] &= text->types[i] == 1` leaves only the second side of pairs.
 * [in] text: T tokens
 * Returns [T], memory of the tape. */
bool *xlm_text_rows(xlm_tape *tape, const xlm_text *text);

/* Mean over rows of −log softmax(z_i)[target_i]. For a large table of candidates, such as a vocabulary, use
 * xlm_vocab_cross_entropy.
 * [in] logits: z, n x m, n >= 1
 * [in] targets: [n] in [0, m), copied
 * [out] scores: [n], or NULL
 * [out] y: 1 x 1 */
xlm_var *xlm_cross_entropy(xlm_tape *tape, xlm_var *logits, const int32_t *targets, xlm_score *scores);

/* InfoNCE (van den Oord et al. 2018): mean over rows of
 *     −log [exp(q_i·k_i/τ) / (exp(q_i·k_i/τ) + Σ_j exp(q_i·z_j/τ))].
 * Rows are not normalised: for cosines, normalise them first. Negatives from xlm_constant (a queue) get no gradient, other
 * negatives do. If the negatives are the positives of the other rows, xlm_cross_entropy of xlm_scale(xlm_linear(q, k, NULL), 1/τ)
 * with targets 0 … n − 1 computes the same.
 * [in] query: q, n x d, n >= 1
 * [in] positive: k, n x d
 * [in] negatives: z, m x d, the same for all queries; m may be 0
 * [in] temperature: τ > 0
 * [out] scores: [n], correct if the positive has the highest score; or NULL
 * [out] y: 1 x 1 */
xlm_var *xlm_info_nce(xlm_tape *tape, xlm_var *query, xlm_var *positive, xlm_var *negatives, double temperature,
                      xlm_score *scores);

/* Which keys each query of a pointer network should find (xlm_pointer_cross_entropy). A group is a set of queries that choose
 * among the same keys; groups are in the order of their keys, which do not overlap. */
typedef struct xlm_pointer_targets {
    int32_t groups;
    const int32_t *queries; /* [groups + 1] group g has rows queries[g] to queries[g + 1] - 1 of the queries; from 0 to n */
    const int32_t *first;   /* [groups] its first row of the keys */
    const int32_t *keys;    /* [groups] its number of keys, >= 1 */
    const int32_t *offsets; /* [n + 1] query i has labels[offsets[i]] to labels[offsets[i + 1] - 1], at least one */
    const int32_t *labels;  /* [offsets[n]] rows of the keys of the query's group, each at most once per query */
} xlm_pointer_targets;

/* Cross-entropy of a pointer network (Vinyals et al. 2015): mean over queries i of
 *     −(1 / |labels(i)|) Σ_(j in labels(i)) log softmax_j(q_i·k_j / √d)
 * over the keys j of its group.
 * [in] query: q, n x d, n >= 1
 * [in] key: k, m x d
 * [in] targets: copied
 * [out] scores: [n], correct if a label has the highest probability; or NULL
 * [out] y: 1 x 1 */
xlm_var *xlm_pointer_cross_entropy(xlm_tape *tape, xlm_var *query, xlm_var *key, const xlm_pointer_targets *targets,
                                   xlm_score *scores);

/* y = factor x.
 * [in] x: n x d
 * [out] y: n x d */
xlm_var *xlm_scale(xlm_tape *tape, xlm_var *x, double factor);

/* The mean of all elements.
 * [in] x: n x d
 * [out] y: 1 x 1 */
xlm_var *xlm_mean(xlm_tape *tape, xlm_var *x);

/* ---- for new operators ---- */

/* Memory that is valid until the pass ends. Not cleared. What `label` of an objective hands on to `loss`, which is called in
 * another pass, needs memory of xlm_pass_keep (xlm/loss.h). */
void *xlm_tape_take(xlm_tape *tape, uint64_t bytes);
/* Is the tape for training, so that dropout is on? */
bool xlm_tape_training(const xlm_tape *tape);

/* A new result, which the caller then fills in (xlm_var_write). It has a gradient if any of the inputs has one. backward(state)
 * is called once in the backward pass, when the gradient of y is complete, or never if no loss depends on y. It must add to (not
 * assign) the gradients of those inputs that need one, and must not change that of y. The rows of y have the keys of the first
 * input that has keys and as many rows.
 * [in] n: number of inputs
 * [in] inputs: [n]
 * [in] backward: the backward pass
 * [in] state: passed to backward; memory from xlm_tape_take
 * [out] y: rows x cols */
typedef void xlm_backward(void *state);
xlm_var *xlm_operator(xlm_tape *tape, int64_t rows, int64_t cols, int n, xlm_var *const *inputs,
                      xlm_backward *backward, void *state);
/* Writes rows first to first + n - 1 of the result of xlm_operator. Another variable ends the program.
 * [in,out] y: rows x cols
 * [in] values: n x cols */
void xlm_var_write(xlm_var *y, int64_t first, int64_t n, const xlm_real *values);
/* For backward functions: the gradient of the result, rows x cols. */
const xlm_real *xlm_var_gradient(const xlm_var *y);
/* For backward functions: the gradient of one of `inputs`, rows x cols, to add to; NULL if it needs none. */
xlm_real *xlm_var_input_gradient(xlm_var *x);

#ifdef __cplusplus
}
#endif
#endif
