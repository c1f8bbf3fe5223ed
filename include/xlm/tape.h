/* xlm-mpi: the tape, operators that compute forwards and remember how to go back. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An operator takes variables (matrices, row-major, rows x cols), computes its result at once and notes on the tape how
 * gradients go back through it. All results live in the tape's arena until the step ends; nobody frees a variable.
 * Every dimension, 1 x 1 losses included, is a matrix. Shapes that do not fit are bugs of the caller and end the program.
 *
 * Results do not depend on the number of threads: sums run over fixed chunks. */
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

/* A matrix of rows x cols. How its numbers are stored is the tape's business. */
typedef struct xlm_var xlm_var;

int64_t xlm_var_rows(const xlm_var *x);
int64_t xlm_var_cols(const xlm_var *x);
/* The element of a 1 x 1 variable. */
double xlm_var_scalar(const xlm_var *x);
/* Copy rows first … first + n to values[n x cols]. */
void xlm_var_read(const xlm_var *x, int64_t first, int64_t n, xlm_real *values);

/* The model's or the plugin's parameter of that name ("embeddings/word/weight"): the same variable at each call. Ends
 * the program when there is none. */
xlm_var *xlm_param(xlm_tape *tape, const char *name);

/* A constant: a copy of values[rows x cols]. */
xlm_var *xlm_constant(xlm_tape *tape, int64_t rows, int64_t cols, const xlm_real *values);
/* The same without a copy, for large ones: values must stay as they are until the pass has ended. */
xlm_var *xlm_constant_in_place(xlm_tape *tape, int64_t rows, int64_t cols, const xlm_real *values);

/* A constant with the numbers of x: x's gradient ends here. y: n x d. */
xlm_var *xlm_detach(xlm_tape *tape, const xlm_var *x);

/* y = x Wᵀ + b.  x: n x in, weight: out x in, bias: 1 x out or NULL. y: n x out. */
xlm_var *xlm_linear(xlm_tape *tape, xlm_var *x, xlm_var *weight, xlm_var *bias);

/* y_i = Σ_k tables[k][indices[k][i]].  tables[k]: any x d; indices[k]: [n], copied. A row index out of range ends the
 * program. y: n x d, with the given keys ([n], not copied, or NULL). */
xlm_var *xlm_embedding_sum(xlm_tape *tape, int tables, xlm_var *const *table, const int32_t *const *indices, int64_t n,
                           const xlm_row_key *keys);

/* y_i = γ (x_i − mean x_i) / sqrt(var x_i + ε) + β.  gamma, beta: 1 x d. */
xlm_var *xlm_layer_norm(xlm_tape *tape, xlm_var *x, xlm_var *gamma, xlm_var *beta, double epsilon);

/* Exact GELU: y_i = u_i Φ(u_i), u_i = x_i + b, Φ(u) = (1 + erf(u/√2)) / 2.  x: n x d, bias: 1 x d or NULL. y: n x d. A
 * linear layer before it is called without its bias, which costs nothing here. */
xlm_var *xlm_gelu(xlm_tape *tape, xlm_var *x, xlm_var *bias);
/* The same with the approximation of Φ by a tanh, as in ALBERT: (1 + tanh(√(2/π) (u + 0.044715 u³))) / 2. */
xlm_var *xlm_gelu_tanh(xlm_tape *tape, xlm_var *x, xlm_var *bias);

/* y = max(x, 0), element by element; no gradient at 0. */
xlm_var *xlm_relu(xlm_tape *tape, xlm_var *x);

/* y = x · m / (1−p), m ~ Bernoulli(1−p); y = x (the same variable) when the tape is not training or p = 0. The draws are
 * a function of (seed, step, place in the order of calls on the tape, row key, column), 16 bits an element: p is rounded
 * to 1/65536 and the scale is exact for the rounded p. Rows without keys are keyed by their number. */
xlm_var *xlm_dropout(xlm_tape *tape, xlm_var *x, double p);

/* y = a + b, y = a − b, y = a ⊙ b (element by element).  a, b, y: of one shape. */
xlm_var *xlm_add(xlm_tape *tape, xlm_var *a, xlm_var *b);
xlm_var *xlm_subtract(xlm_tape *tape, xlm_var *a, xlm_var *b);
xlm_var *xlm_multiply(xlm_tape *tape, xlm_var *a, xlm_var *b);

/* The end of a transformer's sublayer ("add & norm"): y = LayerNorm(x + dropout(z + b)), as
 *     xlm_layer_norm(xlm_add(x, xlm_dropout(z + b, p)), gamma, beta, epsilon)
 * with the same draws.  x, z: n x d, gamma, beta: 1 x d, bias: 1 x d or NULL. y: n x d. A linear layer that makes z is called
 * without its bias, which costs nothing here. When z is the result of xlm_linear and no operator took it before, its memory is
 * made use of: z->value is NULL then, and an operator that takes z afterwards ends the program. */
xlm_var *xlm_residual_norm(xlm_tape *tape, xlm_var *x, xlm_var *z, xlm_var *bias, double p, xlm_var *gamma, xlm_var *beta,
                           double epsilon);

/* Attention within each sequence, for each of `heads` heads of width w = d / heads:
 *     O = dropout(softmax(Q Kᵀ / √w)) V.
 * Q, K, V are d columns of `query`, `key`, `value`, beginning at the given columns, so that one T x 3d variable can hold
 * all three (columns 0, d, 2d). Sequence i has the keys and values of rows offsets[i] … offsets[i + 1], and as many queries,
 * or those of rows query_offsets[i] … query_offsets[i + 1]. A query sees all keys of its sequence, or the first visible[q] of
 * them: with visible[q] = 1 + the number of q in its sequence, attention is causal. y: a row a query, x d. */
typedef struct xlm_attention_inputs {
    xlm_var *query, *key, *value;
    int64_t query_column, key_column, value_column;
    int64_t width;  /* d */
    int64_t heads;
    const int32_t *offsets;       /* [sequences + 1], not copied */
    const int32_t *query_offsets; /* the same, or NULL: offsets */
    const int32_t *visible;       /* [query rows], not copied: from 1, ascending within a sequence; NULL: all keys */
    int32_t sequences;
    double dropout; /* on the attention weights */
} xlm_attention_inputs;
xlm_var *xlm_attention(xlm_tape *tape, const xlm_attention_inputs *inputs);

/* y_i = x[index_i].  index: [n], copied; a row may be taken more than once. */
xlm_var *xlm_rows(xlm_tape *tape, xlm_var *x, const int32_t *index, int64_t n);

/* y_i = Σ x[index_e], e = offsets_i … offsets_(i+1) − 1: y = A x for a sparse A of zeros and ones; a sum of nothing is 0.  offsets:
 * [n + 1] rising from 0, index: [offsets_n], copied. y: n x d, without keys. */
xlm_var *xlm_rows_sum(xlm_tape *tape, xlm_var *x, const int32_t *offsets, const int32_t *index, int64_t n);

/* How one target was predicted. */
typedef struct xlm_score {
    float loss;     /* −log p(target) */
    int32_t correct; /* 1 when the target has the highest probability */
} xlm_score;

/* Mean over rows of −log softmax(h Eᵀ + b)[target].  h: M x e, table: V x e, bias: 1 x V or NULL, targets: [M], copied.
 * Logits are made for `chunk` rows at a time; when all M fit in one chunk they are kept for the backward pass, else made
 * again, so no more than chunk x V logits are ever held. scores: [M] filled in, or NULL. y: 1 x 1. M >= 1. */
xlm_var *xlm_vocab_cross_entropy(xlm_tape *tape, xlm_var *h, xlm_var *table, xlm_var *bias, const int32_t *targets,
                                 int64_t chunk, xlm_score *scores);

/* y_i = a_i·b_i / (|a_i| |b_i|), n x 1; 0 (and no gradient) where a norm is below 1e-12. */
xlm_var *xlm_cosine(xlm_tape *tape, xlm_var *a, xlm_var *b);

/* y_i = a_i·b_i, the dot product of row i of both.  a, b: n x d. y: n x 1. */
xlm_var *xlm_row_dot(xlm_tape *tape, xlm_var *a, xlm_var *b);

/* y_i = a_j·b_k with j = of_a[i], k = of_b[i]: dot products of n pairs of rows, without copies of the rows.  a, b: any rows x d;
 * of_a, of_b: [n], copied; a row may be taken more than once, and a and b may be one variable. y: n x 1, without keys. */
xlm_var *xlm_row_pairs_dot(xlm_tape *tape, xlm_var *a, const int32_t *of_a, xlm_var *b, const int32_t *of_b, int64_t n);

/* y_i = x_i / |x_i|, each row with an L2 norm of 1; zeros (and no gradient) where the norm is below 1e-12.  x, y: n x d. */
xlm_var *xlm_row_normalise(xlm_tape *tape, xlm_var *x);

/* y_s = mean of those rows of sequence s, offsets[s] … offsets[s + 1], that are wanted; zeros where there are none.  x: T x d,
 * T = offsets[sequences]; offsets: [sequences + 1], copied; wanted: [T], copied, or NULL: all rows. y: sequences x d, without
 * keys. Of the text of a sentence, without its special tokens:
 *     xlm_sequence_mean(tape, view->states, view->batch->offsets, view->batch->sequences, xlm_text_rows(tape, view->batch)) */
xlm_var *xlm_sequence_mean(xlm_tape *tape, xlm_var *x, const int32_t *offsets, int32_t sequences, const bool *wanted);
/* Which rows of a batch are text: not those of special tokens, but the masked ones. [T], memory of the tape, which the caller may
 * change: `&= batch->types[i] == 1` leaves the second side of pairs. */
bool *xlm_text_rows(xlm_tape *tape, const xlm_batch *batch);

/* Mean over rows of −log softmax(z_i)[target_i].  logits z: n x m, targets: [n] in [0, m), copied. scores: [n] filled in, or
 * NULL. y: 1 x 1. n >= 1. Logits of a large table of candidates, as a vocabulary, are better made by xlm_vocab_cross_entropy. */
xlm_var *xlm_cross_entropy(xlm_tape *tape, xlm_var *logits, const int32_t *targets, xlm_score *scores);

/* InfoNCE (van den Oord et al. 2018): mean over rows of
 *     −log [exp(q_i·k_i/τ) / (exp(q_i·k_i/τ) + Σ_j exp(q_i·z_j/τ))].
 * query q, positive k: n x d; negatives z: m x d, the same for all queries, m may be 0; temperature τ > 0. Rows are taken as they
 * are: for cosines normalise them first. Negatives from xlm_constant (a queue) cost no gradient, others get theirs. Where the
 * other rows' positives are the negatives, xlm_cross_entropy of xlm_scale(xlm_linear(q, k, NULL), 1/τ) with targets 0 … n − 1 is
 * the same thing. scores: [n], correct: the positive comes first; or NULL. y: 1 x 1. n >= 1. */
xlm_var *xlm_info_nce(xlm_tape *tape, xlm_var *query, xlm_var *positive, xlm_var *negatives, double temperature,
                      xlm_score *scores);

/* Which key each query of a pointer network should find (xlm_pointer_cross_entropy). A group is queries that choose among the same
 * keys; groups stand in the order of their keys, which do not overlap. */
typedef struct xlm_pointer_targets {
    int32_t groups;
    const int32_t *queries; /* [groups + 1] group g has rows queries[g] … queries[g + 1] of the queries; from 0 to n */
    const int32_t *first;   /* [groups] and rows first[g] … */
    const int32_t *keys;    /* [groups] … first[g] + keys[g] of the keys, one at least */
    const int32_t *offsets; /* [n + 1] query i has labels[offsets[i]] … labels[offsets[i + 1]], one at least: */
    const int32_t *labels;  /* rows of the keys, of its group, each once */
} xlm_pointer_targets;

/* Cross-entropy of a pointer network (Vinyals et al. 2015): mean over queries i of
 *     −(1 / |labels(i)|) Σ_(j in labels(i)) log softmax_j(q_i·k_j / √d)
 * over the keys j of its group.  query q: n x d, key k: m x d; targets: copied. scores: [n], correct: a label comes first; or
 * NULL. y: 1 x 1. n >= 1. */
xlm_var *xlm_pointer_cross_entropy(xlm_tape *tape, xlm_var *query, xlm_var *key, const xlm_pointer_targets *targets,
                                   xlm_score *scores);

/* y = factor x */
xlm_var *xlm_scale(xlm_tape *tape, xlm_var *x, double factor);

/* Mean of all elements, 1 x 1. */
xlm_var *xlm_mean(xlm_tape *tape, xlm_var *x);

/* ---- operators of one's own ---- */

/* Memory for a step. */
void *xlm_tape_take(xlm_tape *tape, uint64_t bytes);
bool xlm_tape_training(const xlm_tape *tape);

/* A new result of rows x cols, which the caller then fills in (xlm_var_write), with a gradient when any of inputs[n] has one.
 * backward(state) is then called once in the backward pass, when y's gradient is complete (not at all when no root depends on
 * y); it must add (not assign) to the inputs' gradients that are wanted, and leave y's as it is. y's rows draw as those of
 * the first input with as many rows. state: from xlm_tape_take. */
typedef void xlm_backward(void *state);
xlm_var *xlm_operator(xlm_tape *tape, int64_t rows, int64_t cols, int n, xlm_var *const *inputs,
                      xlm_backward *backward, void *state);
/* Rows first … first + n of the result of xlm_operator, from values[n x cols]. */
void xlm_var_write(xlm_var *y, int64_t first, int64_t n, const xlm_real *values);
/* Inside of backward functions. The gradient of the result, [rows x cols]; */
const xlm_real *xlm_var_gradient(const xlm_var *y);
/* that of an input, [rows x cols], to be added to; NULL when none is wanted. */
xlm_real *xlm_var_input_gradient(xlm_var *x);

#ifdef __cplusplus
}
#endif
#endif
