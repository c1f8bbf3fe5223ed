/* xlm-mpi: inner loops of the operators, for the instruction set of this processor. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * There is one table of functions per instruction set, all compiled from the same bodies (kernels/bodies.h). They run on one
 * thread and know nothing of the tape. Results of two tables may differ by rounding; random draws have the same bits in all. */
#ifndef XLM_KERNELS_KERNELS_H
#define XLM_KERNELS_KERNELS_H

#include <xlm/tape.h>

#include "base/error.h"
#include "base/rng.h"

/* A hidden Markov model of n positions that emit words (aligners/hmm.h), as kernels go from word to word. "Padded" arrays
 * of n numbers are as long as the next multiple of XLM_LANES; what is past n is zero when kernels read it, and stays so. */
enum { XLM_LANES = 16 };
typedef struct xlm_positions {
    int32_t n;
    xlm_real negligible;         /* share of a word's probability below which a position is left out of the next word's sums */
    const xlm_real *jump;        /* [2 n + 1 + XLM_LANES] weight of a jump to k from i, at k - i + n; zeros at the end */
    const xlm_real *backwards;   /* [2 n + 1 + XLM_LANES] weight of a jump to k from i, at i - k + n; zeros at the end */
    const xlm_real *leave;       /* [n, padded] factor of all jumps from i */
    xlm_real *factors;           /* [n, padded] of jumps from each position; also [-1], for the position before the first */
    xlm_real *ahead;             /* [n] probability of the words that follow; zeros: n before it, n + XLM_LANES after it */
    int32_t *list;               /* [n] the positions that the next sum is over, ascending */
    int32_t terms;               /* their number */
} xlm_positions;

/* An activation of x + bias; bias: as many numbers as x has, or NULL for none. */
typedef struct xlm_activation_kernels {
    /* x: [n]. slope: the derivative at x + bias, or NULL. y or slope may be x. */
    void (*forward)(int64_t n, const xlm_real *x, const xlm_real *bias, xlm_real *y, xlm_real *slope);
    /* dx: may be NULL. dbias: [n], added to, or NULL. */
    void (*back)(int64_t n, const xlm_real *x, const xlm_real *bias, const xlm_real *dy, xlm_real *dx, bool add, xlm_real *dbias);
    void (*forward_bfloat16)(int64_t n, const xlm_real *x, const xlm_real *bias, uint16_t *y, uint16_t *slope); /* both rounded */
    /* x: [2 n], (u, v) after the bias. y = a(u) v; slope: dy/du, active: dy/dv = a(u), both or neither NULL. */
    void (*gate)(int64_t n, const xlm_real *x, const xlm_real *bias, xlm_real *y, xlm_real *slope, xlm_real *active);
    void (*gate_bfloat16)(int64_t n, const xlm_real *x, const xlm_real *bias, uint16_t *y, uint16_t *slope, uint16_t *active);
} xlm_activation_kernels;

typedef struct xlm_kernels {
    const char *name; /* "avx512", "avx2", "portable" */

    /* With `add`: out += result; otherwise out = result, and out may be one of the inputs. */
    void (*add)(int64_t n, const xlm_real *a, const xlm_real *b, xlm_real *y);                    /* y = a + b */
    void (*multiply)(int64_t n, const xlm_real *a, const xlm_real *b, xlm_real *y, bool add);     /* y_i = a_i b_i */
    void (*scale)(int64_t n, xlm_real factor, const xlm_real *x, xlm_real *y, bool add);          /* y = factor x */
    /* y = x. y is at a multiple of 64 bytes and is not read soon, so the stores may bypass the caches; other threads see them
     * after atomic_thread_fence(memory_order_seq_cst); a weaker fence does not suffice. */
    void (*copy_past)(int64_t n, const xlm_real *x, xlm_real *y);
    void (*fill)(int64_t n, xlm_real value, xlm_real *y, bool add);
    xlm_real (*sum)(int64_t n, const xlm_real *x);
    double (*sum_of_squares)(int64_t n, const xlm_real *x); /* of floats: the same bits in all tables */
    xlm_real (*dot)(int64_t n, const xlm_real *a, const xlm_real *b);
    xlm_real (*maximum)(int64_t n, const xlm_real *x);                                            /* n >= 1 */
    /* y = exp(x - shift), not stored if y is NULL; returns Σ y, to the digits of xlm_real however large n is. */
    double (*exp_sum)(int64_t n, const xlm_real *x, xlm_real shift, xlm_real *y);

    /* out[c] += Σ_r x[r, c] over a chunk of rows. */
    void (*column_sums)(int64_t rows, int64_t cols, const xlm_real *x, int64_t ldx, xlm_real *out);

    /* By xlm_activation. */
    xlm_activation_kernels activation[XLM_ACTIVATIONS];
    /* Rotates, in each of `heads` heads of even width w, elements i and i + w/2 by an angle with the cosine turns[i] and the sine
     * turns[w/2 + i]; back: by its negative. */
    void (*rotate)(int64_t heads, int64_t w, const xlm_real *turns, bool back, xlm_real *x);
    void (*rotate_bfloat16)(int64_t heads, int64_t w, const xlm_real *turns, uint16_t *x); /* the same, rounded again */
    /* y_i = slope_i x_i; dbias_i += y_i, unless dbias is NULL. y may be x. */
    void (*slope_back)(int64_t n, const xlm_real *slope, const xlm_real *x, xlm_real *y, xlm_real *dbias);

    /* One row. beta: NULL for zeros. stats: mean, 1 / sqrt(variance + ε). */
    void (*layer_norm)(int64_t cols, const xlm_real *x, const xlm_real *gamma, const xlm_real *beta, xlm_real epsilon,
                       xlm_real *y, xlm_real stats[2]);
    /* dx: may be NULL. dgamma, dbeta: [cols], added to; dbeta may be NULL. */
    void (*layer_norm_back)(int64_t cols, const xlm_real *x, const xlm_real *gamma, const xlm_real stats[2],
                            const xlm_real *dy, xlm_real *dx, bool add, xlm_real *dgamma, xlm_real *dbeta);

    /* Decisions to keep an element, 8 per draw: bits[i], i < draws, from the block of counter (c0 + i, c1, c2, c3). Bit j is u_j
     * >= threshold, u_2k and u_2k+1 the low and the high half of word k. */
    void (*keep_bits)(xlm_rng_key key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, int64_t draws,
                      uint32_t threshold, uint8_t *bits);
    /* y_i = factor x_i where bit i, else 0. */
    void (*keep)(int64_t n, const xlm_real *x, const uint8_t *bits, xlm_real factor, xlm_real *y, bool add);

    /* One row of s = x + dropout(z + bias). bias, bits: NULL for none. s may be z. */
    void (*residual)(int64_t cols, const xlm_real *x, const xlm_real *z, const xlm_real *bias, const uint8_t *bits,
                     xlm_real keep_scale, xlm_real *s);
    /* dz: may be NULL, or ds. dbias: [cols], added to, or NULL. */
    void (*residual_back)(int64_t cols, const xlm_real *ds, const uint8_t *bits, xlm_real keep_scale, xlm_real *dz, bool add,
                          xlm_real *dbias);

    /* bfloat16: upper halves of floats, rounded to nearest, ties to even. Infinities and NaNs are kept; denormals become zero, as
     * with AVX512_BF16. All tables give the same bits. */
    void (*to_bfloat16)(int64_t n, const xlm_real *x, uint16_t *y);
    /* Round and interleave two rows: y_2i is x_i, y_2i+1 is z_i; z NULL: zeros. */
    void (*to_bfloat16_pairs)(int64_t n, const xlm_real *x, const xlm_real *z, uint16_t *y);
    /* The same for rows that are rounded already. past: like copy_past. */
    void (*bfloat16_pairs)(int64_t n, const uint16_t *x, const uint16_t *z, uint16_t *y, bool past);
    double (*exp_sum_bfloat16)(int64_t n, const xlm_real *x, xlm_real shift, uint16_t *y); /* the same, y rounded */
    void (*scale_bfloat16)(int64_t n, xlm_real factor, const uint16_t *x, xlm_real *y);      /* y = factor x */
    /* y_i = slope_i x_i, rounded; dbias_i += slope_i x_i, not rounded, unless dbias is NULL. */
    void (*slope_back_bfloat16)(int64_t n, const uint16_t *slope, const xlm_real *x, uint16_t *y, xlm_real *dbias);

    /* y = xᵀ; x: rows x cols with rows ldx apart, y: cols x rows with rows ldy apart. */
    void (*transpose)(int64_t rows, int64_t cols, const xlm_real *x, int64_t ldx, xlm_real *y, int64_t ldy);
    void (*transpose_bfloat16)(int64_t rows, int64_t cols, const uint16_t *x, int64_t ldx, uint16_t *y, int64_t ldy);
    /* c = a b for small matrices, or matrices of one thread. Element (i, l) of a, m x depth, is a[i a_row + l a_col]; rows of b,
     * depth x n, and of c, m x n, are ldb and ldc apart. */
    void (*product)(int64_t m, int64_t n, int64_t depth, const xlm_real *a, int64_t a_row, int64_t a_col, const xlm_real *b,
                    int64_t ldb, xlm_real *c, int64_t ldc, bool add);
    /* The same for bfloat16, in pairs along the depth: an element of a and b is a pair, and depth and all distances count pairs.
     * Sums are floats. */
    void (*product_bfloat16)(int64_t m, int64_t n, int64_t depth, const uint16_t *a, int64_t a_row, int64_t a_col,
                             const uint16_t *b, int64_t ldb, xlm_real *c, int64_t ldc, bool add);
    xlm_real (*dot_bfloat16)(int64_t n, const uint16_t *a, const xlm_real *b);
    /* Attention of one query to n rows of a cache, each of `heads` times w numbers: p_hj = q_h·k_rows[j],h and y_h = Σ_j p_hj
     * v_rows[j],h. p: [heads x n]. q, y: [heads x w]. */
    void (*dot_rows)(int64_t n, const int32_t *rows, int64_t heads, int64_t w, const xlm_real *q, const xlm_real *keys,
                     xlm_real *p);
    void (*dot_rows_bfloat16)(int64_t n, const int32_t *rows, int64_t heads, int64_t w, const xlm_real *q, const uint16_t *keys,
                              xlm_real *p);
    void (*sum_rows)(int64_t n, const int32_t *rows, int64_t heads, int64_t w, const xlm_real *p, const xlm_real *values,
                     xlm_real *y);
    void (*sum_rows_bfloat16)(int64_t n, const int32_t *rows, int64_t heads, int64_t w, const xlm_real *p, const uint16_t *values,
                              xlm_real *y);
    /* Word j of a hidden Markov model, going forward. The sum is over the listed positions i:
     *     alpha_k = emission_k Σ_i factors_i jump(k - i) / Z     at_k = alpha_k + stay before_k     stay = empty / Z
     * with Z such that Σ alpha + stay = 1. emission: [n]. before: at of the word before, [n, padded]. empty: probability of the
     * empty word. Returns stay; makes factors and the list for the next word. */
    xlm_real (*positions_forward)(xlm_positions *h, const xlm_real *emission, const xlm_real *before, xlm_real empty,
                                  xlm_real *alpha, xlm_real *at);
    /* Going back: posterior [n] of word j, from its alpha, `before` and stay above, and beta [n, padded], which is proportional
     * to the probability of the words after j given its position. Returns the posterior of the empty word. Makes `ahead` and
     * the list of its positions for positions_back. */
    xlm_real (*positions_close)(xlm_positions *h, const xlm_real *emission, const xlm_real *alpha, const xlm_real *before,
                                const xlm_real *beta, xlm_real stay, xlm_real *posterior);
    /* From word j, after positions_close, to the word before it, whose `at` is given:
     *     before_i = (leave_i Σ_k ahead_k jump(k - i) + empty beta_i) / Z, Z such that Σ at before = 1
     * jumps [2 n + XLM_LANES]: the expected number of jumps of d positions between the two words, divided by jump(d), is added at
     * d + n; may be NULL. */
    void (*positions_back)(xlm_positions *h, const xlm_real *at, xlm_real empty, const xlm_real *beta, xlm_real *before,
                           xlm_real *jumps);
    /* A row of attention weights. x: q·k_j becomes p_j = exp(factor x_j) / Σ exp(factor x), factor > 0. If bits is not NULL, p_j
     * is multiplied by keep_scale where bit j is set, and else becomes 0. Returns log Σ exp(factor x). n >= 1. */
    xlm_real (*softmax)(int64_t n, xlm_real factor, xlm_real *x, const uint8_t *bits, xlm_real keep_scale);
    /* Its backward pass, p recomputed from q·k. y: the result of softmax. x: q·k_j becomes y_j. dy: dL/dy_j becomes dL/d(q·k_j) =
     * factor p_j (dL/dp_j − mean). mean: Σ y_j dL/dy_j, which is the product of the row's result and its gradient. */
    void (*softmax_back)(int64_t n, xlm_real factor, xlm_real log_sum, xlm_real mean, xlm_real *x, xlm_real *dy,
                         const uint8_t *bits, xlm_real keep_scale);
} xlm_kernels;

/* EX_USAGE if XLM_KERNELS is set and does not name a table that this processor can run. Programs call it before they start
 * working. */
bool xlm_kernels_check(GError **error);
/* The best table for this processor, or the one that the environment variable XLM_KERNELS names. If there is no such table (see
 * xlm_kernels_check) the program ends. */
const xlm_kernels *xlm_kernels_get(void);
/* The table of that name, or the best one if the name is NULL; NULL if there is none or the processor cannot run it. */
const xlm_kernels *xlm_kernels_find(const char *name);

/* The compiled tables; NULL if the compiler or the machine's architecture does not have the instruction set. */
extern const xlm_kernels *const xlm_kernels_avx512, *const xlm_kernels_avx2, *const xlm_kernels_portable;
extern const xlm_kernels *const xlm_kernels_neon; /* every 64-bit ARM processor has NEON */
extern const xlm_kernels *const xlm_kernels_avx512_bfloat16; /* also called "avx512", for processors that multiply bfloat16 */

#endif
