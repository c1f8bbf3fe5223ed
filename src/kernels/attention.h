/* xlm-mpi: inner loops of attention: small products, softmax rows. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Included after bodies.h, which says what must be defined, by files that also define
 *     TILE_ROWS, TILE_VECTORS           a tile of the product whose sums and operands fit into the registers
 *     add_pairs(a, b, c)                c plus the products of the two bfloat16 in each lane of a and b
 *     transpose_square(rows, cols, x, ldx, y, ldy)   y = xᵀ for rows, cols <= W
 *     transpose_halves_square(rows, cols, x, ldx, y, ldy)   the same for numbers of 16 bits, for rows <= 2 W, cols <= W
 * BLIS takes about 10 µs for even the smallest product; these take as long for a head of 64 tokens. */

static void transpose(int64_t rows, int64_t cols, const xlm_real *x, int64_t ldx, xlm_real *y, int64_t ldy)
{
    for (int64_t r = 0; r < rows; r += W)
        for (int64_t c = 0; c < cols; c += W)
            transpose_square(lanes(rows - r), lanes(cols - c), x + r * ldx + c, ldx, y + c * ldy + r, ldy);
}

static void transpose_bfloat16(int64_t rows, int64_t cols, const uint16_t *x, int64_t ldx, uint16_t *y, int64_t ldy)
{
    for (int64_t c = 0; c < cols; c += W)
        for (int64_t r = 0; r < rows; r += 2 * W)
            transpose_halves_square(rows - r < 2 * W ? (int)(rows - r) : 2 * W, lanes(cols - c), x + r * ldx + c, ldx,
                                    y + c * ldy + r, ldy);
}

/* Compute a tile of c, rows x (vectors W), of whose last vector only `last` lanes are used. rows and vectors are constants where
 * this is inlined. With `in_pairs` the elements of a and b are pairs of bfloat16 instead of floats, and are loaded in the same
 * way. */
INLINE void tile(const bool in_pairs, const int rows, const int vectors, const int last, int64_t depth, const xlm_real *a,
                 int64_t a_row, int64_t a_col, const xlm_real *b, int64_t ldb, bool sum_c, xlm_real *c, int64_t ldc)
{
    vec t[TILE_ROWS][TILE_VECTORS];
    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int v = 0; v < vectors; v++)
            t[r][v] = all(0);
    for (int64_t l = 0; l < depth; l++) {
        vec right[TILE_VECTORS];
        UNROLL for (int v = 0; v < vectors; v++)
            right[v] = load(b + l * ldb + v * W, v == vectors - 1 ? last : W);
        UNROLL for (int r = 0; r < rows; r++) {
            const vec left = all(a[r * a_row + l * a_col]);
            UNROLL for (int v = 0; v < vectors; v++)
                t[r][v] = in_pairs ? add_pairs(left, right[v], t[r][v]) : fma(left, right[v], t[r][v]);
        }
    }
    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int v = 0; v < vectors; v++)
            put(c + r * ldc + v * W, v == vectors - 1 ? last : W, t[r][v], sum_c);
}

/* Compute all rows of c in the columns of one tile. That part of b is read once for each TILE_ROWS rows, from the first-level
 * cache when depth is at most a few hundred. */
INLINE void tiles_down(const bool in_pairs, const int vectors, const int last, int64_t m, int64_t depth, const xlm_real *a,
                       int64_t a_row, int64_t a_col, const xlm_real *b, int64_t ldb, bool sum_c, xlm_real *c, int64_t ldc)
{
#define TILE(rows) tile(in_pairs, rows, vectors, last, depth, a + i * a_row, a_row, a_col, b, ldb, sum_c, c + i * ldc, ldc)
    int64_t i = 0;
    for (; i + TILE_ROWS <= m; i += TILE_ROWS)
        TILE(TILE_ROWS);
    _Static_assert(TILE_ROWS <= 6, "every remainder has its case");
    switch (m - i) {
    case 5: TILE(TILE_ROWS > 5 ? 5 : 1); break;
    case 4: TILE(TILE_ROWS > 4 ? 4 : 1); break;
    case 3: TILE(3); break;
    case 2: TILE(2); break;
    case 1: TILE(1); break;
    }
#undef TILE
}

INLINE void tiles_across(const bool in_pairs, int64_t m, int64_t n, int64_t depth, const xlm_real *a, int64_t a_row,
                         int64_t a_col, const xlm_real *b, int64_t ldb, xlm_real *c, int64_t ldc, bool sum_c)
{
    int64_t j = 0;
    for (; j + TILE_VECTORS * W <= n; j += TILE_VECTORS * W)
        tiles_down(in_pairs, TILE_VECTORS, W, m, depth, a, a_row, a_col, b + j, ldb, sum_c, c + j, ldc);
    for (; j + 2 * W <= n; j += 2 * W)
        tiles_down(in_pairs, 2, W, m, depth, a, a_row, a_col, b + j, ldb, sum_c, c + j, ldc);
    for (; j + W <= n; j += W)
        tiles_down(in_pairs, 1, W, m, depth, a, a_row, a_col, b + j, ldb, sum_c, c + j, ldc);
    if (j < n)
        tiles_down(in_pairs, 1, (int)(n - j), m, depth, a, a_row, a_col, b + j, ldb, sum_c, c + j, ldc);
}

static void product(int64_t m, int64_t n, int64_t depth, const xlm_real *a, int64_t a_row, int64_t a_col, const xlm_real *b,
                    int64_t ldb, xlm_real *c, int64_t ldc, bool sum_c)
{
    tiles_across(false, m, n, depth, a, a_row, a_col, b, ldb, c, ldc, sum_c);
}

static xlm_real softmax(int64_t n, xlm_real factor, xlm_real *x, const uint8_t *bits, xlm_real keep_scale)
{
    const xlm_real highest = factor * maximum(n, x);
    const vec f = all(factor), minus_highest = all(-highest);
    vec s = all(0);
    for (int64_t i = 0; i < n; i += W) {
        const int k = lanes(n - i);
        store(x + i, k, exponential(fma(load(x + i, k), f, minus_highest)));
        s = plus(s, load(x + i, k));
    }
    const xlm_real total = sum_of(s);
    if (bits != NULL)
        keep(n, x, bits, keep_scale / total, x, false);
    else
        scale(n, 1 / total, x, x, false);
    return highest + (xlm_real)log((double)total);
}

INLINE void softmax_back_row(const bool drops, int64_t n, xlm_real factor, xlm_real log_sum, xlm_real mean, xlm_real *x,
                             xlm_real *dy, const uint8_t *bits, xlm_real keep_scale)
{
    const vec f = all(factor), minus_log_sum = all(-log_sum), minus_mean = all(-mean), scale_kept = all(keep_scale);
    for (int64_t i = 0; i < n; i += W) {
        const int k = lanes(n - i);
        const vec p = exponential(fma(load(x + i, k), f, minus_log_sum));
        vec d = load(dy + i, k);
        if (drops)
            d = chosen(bits, i, k, times(d, scale_kept));
        store(x + i, k, drops ? chosen(bits, i, k, times(p, scale_kept)) : p);
        store(dy + i, k, times(times(p, f), plus(d, minus_mean)));
    }
}

static void softmax_back(int64_t n, xlm_real factor, xlm_real log_sum, xlm_real mean, xlm_real *x, xlm_real *dy,
                         const uint8_t *bits, xlm_real keep_scale)
{
    if (bits != NULL)
        softmax_back_row(true, n, factor, log_sum, mean, x, dy, bits, keep_scale);
    else
        softmax_back_row(false, n, factor, log_sum, mean, x, dy, NULL, 1);
}
