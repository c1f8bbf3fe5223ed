/* xlm-mpi: which tokens of two sentences are translations of each other. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From the vectors of n source and m target tokens, a matrix of similarities is computed, and from it a matrix of links:
 *
 *   optimal transport  xlm_similarity_products -> xlm_similarity_transport -> xlm_similarity_filter  (Chi et al. 2021, XLM-Align)
 *   Argmax             xlm_similarity_cosines -> xlm_similarity_argmax                      (Jalili Sabet et al. 2020, SimAlign)
 *   Itermax            xlm_similarity_cosines -> xlm_similarity_itermax                     (the same)
 *
 * Matrices are n x m, row-major. The functions work on plain numbers, without tape and gradient, so that an objective that labels
 * its pairs and a program that aligns them find the same links. Among equal largest numbers, the first one counts. n and m may be
 * 0. */
#ifndef XLM_SIMILARITY_H
#define XLM_SIMILARITY_H

#include <xlm/tape.h>

#ifdef __cplusplus
extern "C" {
#endif

/* s_ij = x_i·y_j.
 * [in] source: x, n x d
 * [in] target: y, m x d
 * [out] s: n x m */
void xlm_similarity_products(int64_t n, int64_t m, int64_t d, const xlm_real *source, const xlm_real *target, xlm_real *s);
/* s_ij = (1 + x_i·y_j / (|x_i| |y_j|)) / 2, in [0, 1]; ½ for a vector of zeros.
 * [in] source: x, n x d
 * [in] target: y, m x d
 * [out] s: n x m */
void xlm_similarity_cosines(int64_t n, int64_t m, int64_t d, const xlm_real *source, const xlm_real *target, xlm_real *s);

/* Parameters of optimal transport with entropic regularisation. */
typedef struct xlm_transport {
    double epsilon;        /* ε > 0, the minimum similarity */
    double regularisation; /* μ > 0 */
    int iterations;        /* of Sinkhorn's algorithm, >= 1 */
} xlm_transport;
#define XLM_TRANSPORT_DEFAULTS {.epsilon = 1e-6, .regularisation = 1, .iterations = 2}

/* Replaces s by A* = diag(u) K diag(v), K_ij = max(ε, s_ij)^(1/μ), with the iterations u = 1 / (K v), v = 1 / (Kᵀ u), starting
 * from v = 1 (XLM-Align, equations 3 to 6). Its columns add up to 1.
 * [in,out] s: n x m */
void xlm_similarity_transport(const xlm_transport *transport, int64_t n, int64_t m, xlm_real *s);

/* Links i and j if s_ij is the largest number of row i and of column j. Returns the number of links, as do the functions below.
 * [in] s: n x m
 * [in] either: it is sufficient that s_ij is the largest of row i or of column j
 * [out] links: n x m, true where i and j are linked */
int64_t xlm_similarity_argmax(int64_t n, int64_t m, const xlm_real *s, bool either, bool *links);

/* Parameters of Itermax: rounds of xlm_similarity_argmax, between which the similarities of linked tokens are reduced. */
typedef struct xlm_itermax {
    double discount; /* α in [½, 1] */
    int rounds;      /* >= 1 */
} xlm_itermax;
#define XLM_ITERMAX_DEFAULTS {.discount = 0.9, .rounds = 2}

/* Itermax as released by SimAlign's authors: s_ij counts as 0 if both tokens are linked, as α s_ij if one is. It ends when all
 * tokens of a side are linked or a round finds nothing, and after the first round if a side has at most two tokens.
 * [in] s: n x m
 * [out] links: n x m */
int64_t xlm_similarity_itermax(const xlm_itermax *itermax, int64_t n, int64_t m, const xlm_real *s, bool *links);

/* Itermax as XLM-Align filters A* (equations 8 and 9): after each round a_ij becomes 0 if i and j are linked to each other, and
 * α a_ij if one or both of them are linked to others.
 * [in] a: n x m
 * [out] links: n x m */
int64_t xlm_similarity_filter(const xlm_itermax *itermax, int64_t n, int64_t m, const xlm_real *a, bool *links);

/* The three ways above, with the parameters of XLM_TRANSPORT_DEFAULTS and XLM_ITERMAX_DEFAULTS. */
typedef enum { XLM_LINK_TRANSPORT, XLM_LINK_ARGMAX, XLM_LINK_ITERMAX } xlm_link_method;

/* Their names in options of programs: "ot", "argmax", "itermax". */
#define XLM_LINK_METHODS {"ot", "argmax", "itermax", NULL}

/* From vectors to links. Returns the number of links, at most 2 min(n, m).
 * [in] source: n x d
 * [in] target: m x d
 * [out] s: n x m: A*, or the similarities
 * [out] links: n x m */
int64_t xlm_similarity_link(xlm_link_method method, int64_t n, int64_t m, int64_t d, const xlm_real *source,
                            const xlm_real *target, xlm_real *s, bool *links);

#ifdef __cplusplus
}
#endif
#endif
