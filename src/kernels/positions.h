/* xlm-mpi: words of a hidden Markov model of positions. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Included after bodies.h, by files that also define above(a, b): a bit for each lane, set where a > b.
 *
 * Arrays of positions are zero in the lanes past the last position, because emissions, leave and the first beta are. */

enum { BLOCK_VECTORS = 4 };

/* Append the places of the lanes that are set to the list of terms. */
INLINE void list_lanes(xlm_positions *h, unsigned bits, int64_t first_lane)
{
    for (; bits != 0; bits &= bits - 1)
        h->list[h->terms++] = (int32_t)first_lane + __builtin_ctz(bits);
}

/* s += weight times a window of x. */
INLINE void add_window(int vectors, xlm_real weight, const xlm_real *window, vec s[BLOCK_VECTORS])
{
    const vec w = all(weight);
    UNROLL
    for (int v = 0; v < vectors; v++)
        s[v] = fma(w, load(window + v * W, W), s[v]);
}

/* s_k = Σ_t weights_t x[step t + k] over the listed t, for at most four vectors of k. Their number is a constant, so that they
 * stay in registers. Terms are added in turn to two sums, so that none waits for the one before. */
INLINE void sum_windows(int vectors, const xlm_positions *h, const xlm_real *weights, const xlm_real *x, int step,
                        vec s[BLOCK_VECTORS])
{
    vec odd[BLOCK_VECTORS];
    UNROLL
    for (int v = 0; v < vectors; v++)
        s[v] = odd[v] = all(0);
    int32_t i = 0;
    for (; i + 1 < h->terms; i += 2) {
        const int32_t t = h->list[i], u = h->list[i + 1];
        add_window(vectors, weights[t], x + step * t, s);
        add_window(vectors, weights[u], x + step * u, odd);
    }
    if (i < h->terms)
        add_window(vectors, weights[h->list[i]], x + step * h->list[i], s);
    UNROLL
    for (int v = 0; v < vectors; v++)
        s[v] = plus(s[v], odd[v]);
}

/* The arrays of a word that a step reads and writes. */
struct word {
    const xlm_real *emission, *at, *beta;
    xlm_real stay;
    xlm_real *result;
};

/* The step of positions k … k + vectors W - 1; what it adds to `total`, a sum over positions. */
typedef vec block_step(int vectors, const xlm_positions *h, const struct word *word, int64_t k, vec total);

INLINE xlm_real over_blocks(block_step *step, const xlm_positions *h, const struct word *word, int64_t from, int64_t to)
{
    vec total = all(0);
    for (; to - from > BLOCK_VECTORS * W; from += BLOCK_VECTORS * W)
        total = step(BLOCK_VECTORS, h, word, from, total);
    const int64_t left = to - from;
    if (left > 3 * W)
        total = step(4, h, word, from, total);
    else if (left > 2 * W)
        total = step(3, h, word, from, total);
    else if (left > W)
        total = step(2, h, word, from, total);
    else if (left > 0)
        total = step(1, h, word, from, total);
    return sum_of(total);
}

/* result_k = emission_k Σ_i factors_i jump(k - i) */
INLINE vec enter(int vectors, const xlm_positions *h, const struct word *word, int64_t k, vec total)
{
    vec s[BLOCK_VECTORS];
    sum_windows(vectors, h, h->factors, h->jump + h->n + k, -1, s);
    UNROLL
    for (int v = 0; v < vectors; v++, k += W) {
        const vec here = times(s[v], load(word->emission + k, lanes(h->n - k)));
        store(word->result + k, W, here);
        total = plus(total, here);
    }
    return total;
}

static xlm_real positions_forward(xlm_positions *h, const xlm_real *emission, const xlm_real *before, xlm_real empty,
                                  xlm_real *alpha, xlm_real *at)
{
    const struct word word = {.emission = emission, .result = alpha};
    const xlm_real factor = 1 / (over_blocks(enter, h, &word, 0, h->n) + empty), stay = empty * factor;
    const vec f = all(factor), s = all(stay), negligible = all(h->negligible);
    h->terms = 0;
    for (int64_t k = 0; k < h->n; k += W) {
        const vec here = times(load(alpha + k, W), f), any = fma(s, load(before + k, W), here);
        store(alpha + k, W, here);
        store(at + k, W, any);
        store(h->factors + k, W, times(any, load(h->leave + k, W)));
        list_lanes(h, above(any, negligible), k);
    }
    return stay;
}

static xlm_real positions_close(xlm_positions *h, const xlm_real *emission, const xlm_real *alpha, const xlm_real *before,
                                const xlm_real *beta, xlm_real stay, xlm_real *posterior)
{
    vec here = all(0), none = all(0), largest = all(0);
    for (int64_t k = 0; k < h->n; k += W) {
        const vec b = load(beta + k, W), next = times(load(emission + k, lanes(h->n - k)), b);
        here = fma(load(alpha + k, W), b, here);
        none = fma(load(before + k, W), b, none);
        largest = larger(largest, next);
        store(h->ahead + k, W, next);
    }
    const xlm_real at_none = stay * sum_of(none), factor = 1 / (sum_of(here) + at_none);
    const vec f = all(factor), least = all(h->negligible * largest_of(largest));
    h->terms = 0;
    for (int64_t k = 0; k < h->n; k += W) {
        const vec next = load(h->ahead + k, W);
        store(posterior + k, lanes(h->n - k), times(times(load(alpha + k, W), load(beta + k, W)), f));
        store(h->ahead + k, W, where_negative(plus(least, minus(next)), next, all(0)));
        list_lanes(h, above(next, least), k);
    }
    return at_none * factor;
}

/* result_i = leave_i Σ_k ahead_k jump(k - i) + stay beta_i */
INLINE vec go_back(int vectors, const xlm_positions *h, const struct word *word, int64_t i, vec total)
{
    vec s[BLOCK_VECTORS];
    const vec stay = all(word->stay);
    sum_windows(vectors, h, h->ahead, h->backwards + h->n + i, -1, s);
    UNROLL
    for (int v = 0; v < vectors; v++, i += W) {
        const vec before = fma(s[v], load(h->leave + i, W), times(stay, load(word->beta + i, W)));
        store(word->result + i, W, before);
        total = fma(load(word->at + i, W), before, total);
    }
    return total;
}

/* jumps_d += Σ_i factors_i ahead(i + d), d from -n */
INLINE vec count_jumps(int vectors, const xlm_positions *h, const struct word *word, int64_t d, vec total)
{
    vec s[BLOCK_VECTORS];
    sum_windows(vectors, h, h->factors, h->ahead - h->n + d, 1, s);
    UNROLL
    for (int v = 0; v < vectors; v++, d += W)
        store(word->result + d, W, plus(load(word->result + d, W), s[v]));
    return total;
}

static void positions_back(xlm_positions *h, const xlm_real *at, xlm_real empty, const xlm_real *beta, xlm_real *before,
                           xlm_real *jumps)
{
    const struct word word = {.at = at, .beta = beta, .stay = empty, .result = before};
    const int32_t nexts = h->terms, first = nexts > 0 ? h->list[0] : 0, last = nexts > 0 ? h->list[nexts - 1] : 0;
    const xlm_real factor = 1 / over_blocks(go_back, h, &word, 0, h->n);
    const vec f = all(factor), negligible = all(h->negligible);
    if (jumps == NULL) {
        for (int64_t i = 0; i < h->n; i += W)
            store(before + i, W, times(load(before + i, W), f));
        return;
    }
    h->terms = 0;
    for (int64_t i = 0; i < h->n; i += W) {
        const vec a = load(at + i, W), b = times(load(before + i, W), f);
        store(before + i, W, b);
        store(h->factors + i, W, times(times(a, f), load(h->leave + i, W)));
        list_lanes(h, above(times(a, b), negligible), i);
    }
    if (nexts > 0 && h->terms > 0) { /* from and to positions that are not negligible */
        const struct word counted = {.result = jumps};
        over_blocks(count_jumps, h, &counted, h->n + first - h->list[h->terms - 1], h->n + last - h->list[0] + 1);
    }
}
