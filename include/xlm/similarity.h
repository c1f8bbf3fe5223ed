/* xlm-mpi: which tokens of two sentences are translations of one another. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The vectors of n source and m target tokens make a matrix of similarities, and this a matrix of links:
 *
 *   optimal transport  xlm_similarity_products -> xlm_similarity_transport -> xlm_similarity_filter  (Chi et al. 2021, XLM-Align)
 *   Argmax             xlm_similarity_cosines -> xlm_similarity_argmax                      (Jalili Sabet et al. 2020, SimAlign)
 *   Itermax            xlm_similarity_cosines -> xlm_similarity_itermax                     (the same)
 *
 * Matrices are n x m, row-major. These are functions of numbers, without tape and gradient, so that an objective that labels its
 * pairs and a program that aligns them find the same links. Of equal numbers the first is the largest. n and m may be 0. */
#ifndef XLM_SIMILARITY_H
#define XLM_SIMILARITY_H

#include <xlm/tape.h>

#ifdef __cplusplus
extern "C" {
#endif

/* s_ij = x_i·y_j.  source x: n x d, target y: m x d. */
void xlm_similarity_products(int64_t n, int64_t m, int64_t d, const xlm_real *source, const xlm_real *target, xlm_real *s);
/* s_ij = (1 + x_i·y_j / (|x_i| |y_j|)) / 2, in [0, 1]; ½ for a vector of zeros. */
void xlm_similarity_cosines(int64_t n, int64_t m, int64_t d, const xlm_real *source, const xlm_real *target, xlm_real *s);

/* Of optimal transport with entropic regularisation. */
typedef struct xlm_transport {
    double epsilon;        /* ε > 0, the least similarity */
    double regularisation; /* μ > 0 */
    int iterations;        /* of Sinkhorn's algorithm, >= 1 */
} xlm_transport;
#define XLM_TRANSPORT_DEFAULTS {.epsilon = 1e-6, .regularisation = 1, .iterations = 2}

/* In place: s becomes A* = diag(u) K diag(v), K_ij = max(ε, s_ij)^(1/μ), by iterations u = 1 / (K v), v = 1 / (Kᵀ u), where v
 * is 1 at first (XLM-Align, equations 3 to 6). Its columns add up to 1. */
void xlm_similarity_transport(const xlm_transport *transport, int64_t n, int64_t m, xlm_real *s);

/* Where the largest of row i and the largest of column j is s_ij; either: where one of both is. [out] links: n x m. Returns their
 * number, as all that follow do. */
int64_t xlm_similarity_argmax(int64_t n, int64_t m, const xlm_real *s, bool either, bool *links);

/* Of Itermax: rounds of xlm_similarity_argmax, between which similarities of tokens that are linked become less. */
typedef struct xlm_itermax {
    double discount; /* α in [½, 1] */
    int rounds;      /* >= 1 */
} xlm_itermax;
#define XLM_ITERMAX_DEFAULTS {.discount = 0.9, .rounds = 2}

/* Itermax as SimAlign's authors have released it: s_ij counts as 0 when both tokens are linked, α s_ij when one is. It ends when
 * all tokens of a side are linked or a round finds nothing, and with the first round where a side has at most two tokens. */
int64_t xlm_similarity_itermax(const xlm_itermax *itermax, int64_t n, int64_t m, const xlm_real *s, bool *links);

/* Itermax as XLM-Align filters A* (equations 8 and 9): after each round a_ij becomes 0 when i and j are linked to one another,
 * α a_ij when one of them, or both, are linked to others. */
int64_t xlm_similarity_filter(const xlm_itermax *itermax, int64_t n, int64_t m, const xlm_real *a, bool *links);

#ifdef __cplusplus
}
#endif
#endif
