/* xlm-mpi: sums of windows of an array. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Included after bodies.h, by files that also define nonzero(v): whether a lane of v is not zero. */

enum { WINDOW_VECTORS = 4, SEARCHED_TERMS = 24 };

/* s += weight times a window of x. */
INLINE void add_window(int vectors, int last, xlm_real weight, const xlm_real *window, vec s[WINDOW_VECTORS])
{
    const vec w = all(weight);
    UNROLL
    for (int v = 0; v < vectors; v++)
        s[v] = fma(w, load(window + v * W, v + 1 < vectors ? W : last), s[v]);
}

/* At most four vectors of the sum. Their number is a constant, so that they stay in registers. last: lanes of the last one.
 * Terms are added in turn to two sums, so that none waits for the one before. */
INLINE void sum_windows_block(int vectors, int last, int64_t terms, const xlm_real *weights, const xlm_real *x, int step,
                              xlm_real *y, bool sum)
{
    vec even[WINDOW_VECTORS], odd[WINDOW_VECTORS];
    UNROLL
    for (int v = 0; v < vectors; v++) {
        even[v] = sum ? load(y + v * W, v + 1 < vectors ? W : last) : all(0);
        odd[v] = all(0);
    }
    for (int64_t t = 0; t < terms; t += W) {
        const int64_t end = t + lanes(terms - t);
        /* To find each of the few that are not zero takes longer than to add all of them. */
        if (terms > SEARCHED_TERMS && !nonzero(load(weights + t, (int)(end - t))))
            continue;
        int64_t term = t;
        for (; term + 1 < end; term += 2) {
            add_window(vectors, last, weights[term], x + step * term, even);
            add_window(vectors, last, weights[term + 1], x + step * (term + 1), odd);
        }
        if (term < end)
            add_window(vectors, last, weights[term], x + step * term, even);
    }
    UNROLL
    for (int v = 0; v < vectors; v++)
        store(y + v * W, v + 1 < vectors ? W : last, plus(even[v], odd[v]));
}

static void sum_windows(int64_t n, int64_t terms, const xlm_real *weights, const xlm_real *x, int step, xlm_real *y, bool sum)
{
    for (; n > WINDOW_VECTORS * W; n -= WINDOW_VECTORS * W, x += WINDOW_VECTORS * W, y += WINDOW_VECTORS * W)
        sum_windows_block(WINDOW_VECTORS, W, terms, weights, x, step, y, sum);
    const int vectors = (int)((n + W - 1) / W), last = (int)n - (vectors - 1) * W;
    if (vectors == 4)
        sum_windows_block(4, last, terms, weights, x, step, y, sum);
    else if (vectors == 3)
        sum_windows_block(3, last, terms, weights, x, step, y, sum);
    else if (vectors == 2)
        sum_windows_block(2, last, terms, weights, x, step, y, sum);
    else if (vectors == 1)
        sum_windows_block(1, last, terms, weights, x, step, y, sum);
}
