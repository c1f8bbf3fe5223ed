/* xlm-mpi: attention and the vocabulary's cross-entropy: gradients and known answers.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "gradient.h"

#include "tensor/attention_weights.h"
#include "tensor/tape.h"

/* ---- attention ---- */

struct layout {
    int heads, w;
    bool fused; /* one T x 3d variable, or three of their own */
    double dropout;
    const int32_t *offsets;
    int32_t sequences;
    const int32_t *queries; /* offsets of their own, in a variable of their own; keys and values then share one */
    const int32_t *visible; /* keys that each query sees; NULL: all */
    const int32_t *from;    /* the first of them; NULL: 0 */
};

static const int32_t mixed[] = {0, 1, 8, 41}; /* lengths 1, 7, 33 */
static const int32_t short_ones[] = {0, 3, 4};
static const int32_t long_ones[] = {0, 100, 100, 297}; /* more than a block of queries, and an empty one */

static const int32_t few[] = {0, 0, 3, 8}, many[] = {0, 5, 105, 106}; /* fewer queries than keys, and more */

static xlm_var *attention(xlm_tape *tape, void *context)
{
    const struct layout *c = context;
    const int64_t d = (int64_t)c->heads * c->w;
    xlm_attention_inputs in = {.width = d, .heads = c->heads, .offsets = c->offsets, .query_offsets = c->queries,
                               .visible = c->visible, .visible_from = c->from, .sequences = c->sequences, .dropout = c->dropout};
    if (c->queries != NULL) {
        in.query = xlm_scale(tape, xlm_param(tape, "query"), 1.5);
        in.key = in.value = xlm_scale(tape, xlm_param(tape, "key_value"), 1.5);
        in.value_column = d;
    } else if (c->fused) {
        in.query = in.key = in.value = xlm_scale(tape, xlm_param(tape, "qkv"), 1.5);
        in.key_column = d;
        in.value_column = 2 * d;
    } else {
        in.query = xlm_scale(tape, xlm_param(tape, "query"), 1.5);
        in.key = xlm_scale(tape, xlm_param(tape, "key"), 1.5);
        in.value = xlm_param(tape, "value");
        in.value_column = 2; /* with columns around it that nothing uses */
    }
    return xlm_attention(tape, &in);
}

static xlm_parameters *attention_parameters(const struct layout *c)
{
    const int rows = c->offsets[c->sequences], d = c->heads * c->w;
    if (c->queries != NULL)
        return gradient_inputs("query", c->queries[c->sequences], d, "key_value", rows, 2 * d, NULL);
    return c->fused ? gradient_inputs("qkv", rows, 3 * d, NULL)
                    : gradient_inputs("query", rows, d, "key", rows, d, "value", rows, d + 3, NULL);
}

/* The weights are what attention makes of values that are the rows of an identity, in each head. */
static void compare_weights(const int32_t *visible_from, const int32_t *visible)
{
    enum { HEADS = 3, W = 5, WIDTH = HEADS * W, QUERIES = 6, KEYS = 8 };
    static const int32_t offsets[] = {0, 5, 6, KEYS}, queries[] = {0, 3, 4, QUERIES};
    double values[KEYS * WIDTH] = {0}, weights[3 * 5 + 1 + 2 * 2];
    for (int s = 0; s < 3; s++)
        for (int j = offsets[s]; j < offsets[s + 1]; j++)
            for (int h = 0; h < HEADS; h++)
                values[j * WIDTH + h * W + j - offsets[s]] = 1;
    xlm_parameters *p = gradient_inputs("query", QUERIES, WIDTH + 2, "key", KEYS, WIDTH, NULL);
    xlm_tape *tape = xlm_tape_new(p);
    xlm_tape_begin(tape, NULL, false, 1, 1);
    const xlm_attention_inputs in = {
        .query = xlm_param(tape, "query"), .query_column = 1, .key = xlm_param(tape, "key"),
        .value = xlm_constant(tape, KEYS, WIDTH, values), .width = WIDTH, .heads = HEADS, .offsets = offsets,
        .query_offsets = queries, .sequences = 3, .visible_from = visible_from, .visible = visible};
    const xlm_var *y = xlm_attention(tape, &in);
    xlm_attention_weights(&in, weights);
    const double *weight = weights;
    for (int s = 0; s < 3; s++)
        for (int i = queries[s]; i < queries[s + 1]; i++)
            for (int j = 0; j < offsets[s + 1] - offsets[s]; j++) {
                double mean = 0;
                for (int h = 0; h < HEADS; h++)
                    mean += y->value[i * WIDTH + h * W + j] / HEADS;
                assert_true(fabs(*weight++ - mean) < 1e-12);
            }
    assert_true(weight == weights + G_N_ELEMENTS(weights));
    xlm_tape_free(tape);
    xlm_parameters_free(p);
}

static void test_attention_weights(void **state)
{
    (void)state;
    static const int32_t from[] = {0, 1, 3, 0, 0, 1}, visible[] = {2, 4, 5, 1, 1, 2};
    compare_weights(NULL, NULL);
    compare_weights(NULL, visible);
    compare_weights(from, visible);
}

static void test_attention_gradients(void **state)
{
    (void)state;
    const struct layout layouts[] = {
        {2, 8, true, 0, mixed, 3, NULL, NULL, NULL}, {1, 16, true, 0.2, mixed, 3, NULL, NULL, NULL},
        {1, 64, false, 0.1, mixed, 3, NULL, NULL, NULL}, {1, 80, true, 0.1, mixed, 3, NULL, NULL, NULL},
        {3, 5, false, 0, short_ones, 2, NULL, NULL, NULL}, {2, 3, true, 0.5, short_ones, 2, NULL, NULL, NULL},
        {2, 4, true, 0.1, long_ones, 3, NULL, NULL, NULL}, {1, 7, false, 0, long_ones, 3, NULL, NULL, NULL},
        {2, 8, false, 0.1, mixed, 3, few, NULL, NULL}, {1, 16, false, 0.2, mixed, 3, many, NULL, NULL},
        {1, 64, false, 0, mixed, 3, few, NULL, NULL}, {1, 80, false, 0.1, mixed, 3, few, NULL, NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(layouts); i++) {
        xlm_parameters *p = attention_parameters(&layouts[i]);
        gradient_check(p, attention, (void *)&layouts[i]);
        xlm_parameters_free(p);
    }
}

/* Keys that queries see: 1, 2, 3, … of a sequence (causal), or by twos with the last keys seen by none. */
static int32_t *make_visible(const int32_t *offsets, int32_t sequences, bool causal)
{
    int32_t *visible = g_new(int32_t, MAX(offsets[sequences], 1));
    for (int32_t s = 0; s < sequences; s++)
        for (int32_t q = offsets[s]; q < offsets[s + 1]; q++)
            visible[q] = causal ? q - offsets[s] + 1 : (q - offsets[s]) / 2 + 1;
    return visible;
}

static void test_gradients_of_prefixes(void **state)
{
    (void)state;
    static const int32_t lengths[] = {0, 1, 3, 18, 34, 51, 115, 180}, one[] = {0, 512}; /* 1, 2, 15, 16, 17, 64, 65; 512 */
    const struct layout layouts[] = {
        {2, 5, true, 0, lengths, 7, NULL, NULL, NULL},   {1, 16, true, 0.2, lengths, 7, NULL, NULL, NULL},
        {2, 3, false, 0.1, lengths, 7, NULL, NULL, NULL}, {1, 4, true, 0.1, one, 1, NULL, NULL, NULL},
        {1, 3, false, 0, long_ones, 3, NULL, NULL, NULL},
    };
    for (size_t i = 0; i < 2 * G_N_ELEMENTS(layouts); i++) {
        struct layout c = layouts[i / 2];
        int32_t *visible = make_visible(c.offsets, c.sequences, i % 2 == 0);
        c.visible = visible;
        xlm_parameters *p = attention_parameters(&c);
        gradient_check(p, attention, &c);
        xlm_parameters_free(p);
        g_free(visible);
    }
    /* Queries of their own: some rows of a causal layer, as its last one computes them. */
    static const int32_t rows[] = {1, 4, 7, 5, 33}, offsets[] = {0, 0, 3, 5};
    struct layout c = {2, 8, false, 0.1, mixed, 3, offsets, rows, NULL};
    xlm_parameters *p = attention_parameters(&c);
    gradient_check(p, attention, &c);
    xlm_parameters_free(p);
}

/* Windows of `side` keys on each side, of sequences much longer. */
static void make_window(const struct layout *c, int side, int32_t *from, int32_t *visible)
{
    for (int32_t s = 0; s < c->sequences; s++)
        for (int32_t q = c->offsets[s]; q < c->offsets[s + 1]; q++) {
            from[q] = MAX(q - c->offsets[s] - side, 0);
            visible[q] = MIN(q - c->offsets[s] + side + 1, c->offsets[s + 1] - c->offsets[s]);
        }
}

static void test_gradients_of_windows(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        struct layout c = {.heads = 2, .w = 4, .fused = i % 2 == 0, .dropout = i < 3 ? 0 : 0.2, .offsets = long_ones, .sequences = 3};
        int32_t from[297], visible[297];
        make_window(&c, (int[]){0, 5, 40}[i % 3], from, visible);
        c.from = from, c.visible = visible;
        xlm_parameters *p = attention_parameters(&c);
        gradient_check(p, attention, &c);
        xlm_parameters_free(p);
    }
    /* Some rows only: keys that nobody sees, before, between and after them. */
    static const int32_t queries[] = {0, 2, 2, 5}, from[] = {70, 83, 20, 100, 180}, visible[] = {75, 99, 40, 101, 190};
    struct layout c = {2, 8, false, 0.1, long_ones, 3, queries, visible, from};
    xlm_parameters *p = attention_parameters(&c);
    gradient_check(p, attention, &c);
    xlm_parameters_free(p);
}

/* The definition, word for word, for one sequence; query i sees the first visible[i] keys, or all. */
static void naive_attention(int n, int d, int heads, const double *qkv, const int32_t *from, const int32_t *visible,
                            double *out)
{
    const int w = d / heads;
    for (int h = 0; h < heads; h++)
        for (int i = 0; i < n; i++) {
            const int first = from != NULL ? from[i] : 0, keys = visible != NULL ? visible[i] : n;
            double weight[256], sum = 0;
            for (int j = first; j < keys; j++) {
                double s = 0;
                for (int c = 0; c < w; c++)
                    s += qkv[i * 3 * d + h * w + c] * qkv[j * 3 * d + d + h * w + c];
                sum += weight[j] = exp(s / sqrt(w));
            }
            for (int c = 0; c < w; c++) {
                double o = 0;
                for (int j = first; j < keys; j++)
                    o += weight[j] / sum * qkv[j * 3 * d + 2 * d + h * w + c];
                out[i * d + h * w + c] = o;
            }
        }
}

static void check_definition(struct layout c)
{
    const int d = c.heads * c.w;
    xlm_parameters *p = attention_parameters(&c);
    xlm_tape *tape = xlm_tape_new(p);
    xlm_tape_begin(tape, NULL, false, 1, 1);
    const xlm_var *y = attention(tape, &c), *scaled = xlm_scale(tape, xlm_param(tape, "qkv"), 1.5);
    for (int s = 0; s < c.sequences; s++) {
        const int first = c.offsets[s], n = c.offsets[s + 1] - first;
        double *expected = g_new(double, n * d);
        naive_attention(n, d, c.heads, scaled->value + (int64_t)first * 3 * d,
                        c.from != NULL ? c.from + first : NULL, c.visible != NULL ? c.visible + first : NULL, expected);
        for (int i = 0; i < n * d; i++)
            assert_true(fabs(y->value[first * d + i] - expected[i]) < 1e-12);
        g_free(expected);
    }
    xlm_tape_free(tape);
    xlm_parameters_free(p);
}

static void test_attention_by_definition(void **state)
{
    (void)state;
    check_definition((struct layout){.heads = 3, .w = 7, .fused = true, .offsets = mixed, .sequences = 3});
    check_definition((struct layout){.heads = 2, .w = 80, .fused = true, .offsets = long_ones, .sequences = 3});
    for (int causal = 0; causal < 2; causal++) {
        int32_t *visible = make_visible(long_ones, 3, causal);
        check_definition((struct layout){.heads = 2, .w = 16, .fused = true, .offsets = long_ones, .sequences = 3,
                                         .visible = visible});
        g_free(visible);
    }
    for (int side = 0; side < 60; side += 11) {
        struct layout c = {.heads = 2, .w = 16, .fused = true, .offsets = long_ones, .sequences = 3};
        int32_t from[297], visible[297];
        make_window(&c, side, from, visible);
        c.from = from, c.visible = visible;
        check_definition(c);
    }
}

/* Dropout is on the weights, drawn by instance, head, query and key: with values that pick out single keys, the weights come
 * out as they are, and must be 0 or 1 / (1 - p) times those without dropout. */
static void test_attention_dropout_is_on_the_weights(void **state)
{
    (void)state;
    enum { N = 203, W = 203 };
    static const int32_t one[] = {0, N};
    xlm_parameters *p = gradient_inputs("query", N, 2 * W, "key", N, 2 * W, NULL);
    xlm_tape *tape = xlm_tape_new(p);
    double *identity = g_new0(double, N * 2 * W), *plain = g_new(double, N * 2 * W);
    for (int i = 0; i < N; i++)
        identity[i * 2 * W + i] = identity[i * 2 * W + W + i] = 1;
    int kept[2] = {0, 0}, same = 0;
    for (int training = 0; training < 2; training++) {
        xlm_tape_begin(tape, NULL, training, 1, 1);
        const xlm_attention_inputs in = {
            .query = xlm_param(tape, "query"), .key = xlm_param(tape, "key"), .value = xlm_constant(tape, N, 2 * W, identity),
            .width = 2 * W, .heads = 2, .offsets = one, .sequences = 1, .dropout = 0.25,
        };
        const xlm_var *y = xlm_attention(tape, &in);
        if (!training) {
            memcpy(plain, y->value, sizeof(double) * N * 2 * W);
            continue;
        }
        for (int i = 0; i < N; i++)
            for (int j = 0; j < W; j++) {
                const double *got = y->value + i * 2 * W + j, *wanted = plain + i * 2 * W + j;
                for (int head = 0; head < 2; head++) {
                    assert_true(got[head * W] == 0 || fabs(got[head * W] * 0.75 - wanted[head * W]) < 1e-12);
                    kept[head] += got[head * W] != 0;
                }
                same += (got[0] != 0) == (got[W] != 0);
            }
    }
    /* 3/4 are kept, in each head; both heads decide alike for 1/16 + 9/16. Five deviations. */
    const double n = N * N;
    for (int head = 0; head < 2; head++)
        assert_true(fabs(kept[head] - 0.75 * n) < 5 * sqrt(n * 0.75 * 0.25));
    assert_true(fabs(same - 0.625 * n) < 5 * sqrt(n * 0.625 * 0.375));
    g_free(identity);
    g_free(plain);
    xlm_tape_free(tape);
    xlm_parameters_free(p);
}

/* The decisions of every head in several encodings, whose draws are numbered from multiples of 2^24 (objective/views.c): no two
 * have the same ones. Equal queries and keys weigh all alike, and values pick out single keys. */
static void test_draws_of_heads_differ(void **state)
{
    (void)state;
    enum { N = 16, HEADS = 70, ENCODINGS = 6, D = N * HEADS };
    static const int32_t one[] = {0, N};
    double *zeros = g_new0(double, N * D), *identity = g_new0(double, N * D);
    for (int i = 0; i < N * HEADS; i++)
        identity[i / HEADS * D + i % HEADS * N + i / HEADS] = 1;
    xlm_parameters *p = gradient_inputs("none", 1, 1, NULL);
    xlm_tape *tape = xlm_tape_new(p);
    GHashTable *seen = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    for (uint32_t encoding = 0; encoding < ENCODINGS; encoding++) {
        xlm_tape_begin(tape, NULL, true, 1, 1);
        xlm_tape_mode mode = xlm_tape_get_mode(tape);
        mode.site = encoding << 24;
        xlm_tape_set_mode(tape, mode);
        xlm_var *zero = xlm_constant(tape, N, D, zeros);
        const xlm_attention_inputs in = {.query = zero, .key = zero, .value = xlm_constant(tape, N, D, identity), .width = D,
                                         .heads = HEADS, .offsets = one, .sequences = 1, .dropout = 0.5};
        const xlm_var *y = xlm_attention(tape, &in);
        for (int head = 0; head < HEADS; head++) {
            bool kept[N * N];
            for (int i = 0; i < N * N; i++)
                kept[i] = y->value[i / N * D + head * N + i % N] != 0;
            if (!g_hash_table_add(seen, g_bytes_new(kept, sizeof kept)))
                fail_msg("head %d of encoding %u has the draws of another one", head, encoding);
        }
    }
    g_hash_table_unref(seen);
    g_free(zeros);
    g_free(identity);
    xlm_tape_free(tape);
    xlm_parameters_free(p);
}

/* ---- cross-entropy ---- */

struct prediction {
    int64_t chunk;
    bool bias;
    double smoothing;
};

static const int32_t targets[] = {2, 0, 10, 10, 5, 7, 1};

static xlm_var *cross_entropy(xlm_tape *tape, void *context)
{
    const struct prediction *c = context;
    return xlm_vocab_smoothed_cross_entropy(tape, xlm_scale(tape, xlm_param(tape, "h"), 3), xlm_param(tape, "table"),
                                            c->bias ? xlm_param(tape, "bias") : NULL, targets, c->smoothing, c->chunk, NULL);
}

static void test_cross_entropy_gradients(void **state)
{
    (void)state;
    const struct prediction cases[] = {{1, true, 0}, {3, true, 0}, {7, true, 0}, {1000, true, 0}, {3, false, 0}, {100, false, 0},
                                       {1, true, 0.1}, {3, true, 0.1}, {7, false, 0.1}, {1000, true, 0.4}, {3, true, 1}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        xlm_parameters *p = gradient_inputs("h", 7, 5, "table", 11, 5, "bias", 1, 11, NULL);
        gradient_check(p, cross_entropy, (void *)&cases[i]);
        xlm_parameters_free(p);
    }
}

static void test_cross_entropy_by_definition(void **state)
{
    (void)state;
    xlm_parameters *p = gradient_inputs("h", 7, 5, "table", 11, 5, "bias", 1, 11, NULL);
    xlm_tape *tape = xlm_tape_new(p);
    for (int64_t chunk = 1; chunk < 10; chunk++) {
        const double smoothing = chunk % 2 == 0 ? 0.3 : 0;
        xlm_tape_begin(tape, NULL, false, 1, 1);
        const xlm_var *h = xlm_param(tape, "h"), *table = xlm_param(tape, "table"), *bias = xlm_param(tape, "bias");
        xlm_score scores[7];
        const xlm_var *y = xlm_vocab_smoothed_cross_entropy(tape, (xlm_var *)h, (xlm_var *)table, (xlm_var *)bias, targets,
                                                            smoothing, chunk, scores);
        double mean = 0;
        for (int i = 0; i < 7; i++) {
            double z[11], sum = 0, largest = -INFINITY;
            for (int v = 0; v < 11; v++) {
                z[v] = bias->value[v];
                for (int c = 0; c < 5; c++)
                    z[v] += h->value[i * 5 + c] * table->value[v * 5 + c];
                sum += exp(z[v]);
                largest = fmax(largest, z[v]);
            }
            const double loss = log(sum) - z[targets[i]];
            mean += (1 - smoothing) * loss / 7;
            for (int v = 0; v < 11; v++)
                mean += smoothing / 11 * (log(sum) - z[v]) / 7;
            assert_true(fabs(scores[i].loss - loss) < 1e-5);
            assert_int_equal(scores[i].correct, z[targets[i]] == largest);
        }
        assert_true(fabs(y->value[0] - mean) < 1e-12);
    }
    xlm_tape_free(tape);
    xlm_parameters_free(p);
}

/* Logits of ±1000 would overflow an exponential that is not shifted. */
static void test_cross_entropy_of_large_logits(void **state)
{
    (void)state;
    xlm_parameters *p = gradient_inputs("h", 1, 1, "table", 2, 1, NULL);
    xlm_parameters_values(p)[xlm_parameters_get(p, 0)->start] = 1000;
    xlm_real *table = xlm_parameters_values(p) + xlm_parameters_get(p, 1)->start;
    table[0] = 1;
    table[1] = -1;
    const int32_t wrong = 1;
    xlm_tape *tape = xlm_tape_new(p);
    xlm_tape_begin(tape, NULL, false, 1, 1);
    const xlm_var *y = xlm_vocab_cross_entropy(tape, xlm_param(tape, "h"), xlm_param(tape, "table"), NULL, &wrong, 1, NULL);
    assert_true(fabs(y->value[0] - 2000) < 1e-9);
    xlm_tape_free(tape);
    xlm_parameters_free(p);
}

/* The products of the cross-entropy of m rows with V columns, each of 2 m V operations for a width of 1: the logits in the
 * forward pass, two in the backward pass, and the logits of all but the first chunk once more, or of all if a chunk is too large
 * to keep. */
static void check_products(int64_t m, int64_t v, int64_t chunk, int64_t again)
{
    xlm_parameters *p = gradient_inputs("h", m, 1, "table", v, 1, NULL);
    xlm_tape *tape = xlm_tape_new_of_shapes(p);
    g_autofree int32_t *target = g_new0(int32_t, m);
    const double before = xlm_gemm_flops();
    xlm_tape_begin(tape, XLM_NO_NUMBERS, true, 1, 1);
    xlm_var *h = xlm_param(tape, "h"), *table = xlm_param(tape, "table");
    xlm_tape_seed(tape, xlm_vocab_cross_entropy(tape, h, table, NULL, target, chunk, NULL), 1);
    xlm_tape_backward(tape);
    assert_true(fabs((xlm_gemm_flops() - before) - 2.0 * (double)v * (double)(3 * m + again)) < 0.5);
    xlm_tape_free(tape);
    xlm_parameters_free(p);
}

static void test_cross_entropy_keeps_the_first_chunk(void **state)
{
    (void)state;
    check_products(7, 11, 7, 0);
    check_products(7, 11, 3, 4);
    check_products(7, 11, 1, 6);
    check_products(600, 100000, 600, 0);   /* 480 MB, and all rows */
    check_products(600, 100000, 400, 600); /* 320 MB */
    check_products(600, 100000, 250, 350); /* 200 MB */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attention_gradients), cmocka_unit_test(test_attention_weights),
        cmocka_unit_test(test_gradients_of_prefixes), cmocka_unit_test(test_gradients_of_windows),
        cmocka_unit_test(test_attention_by_definition),
        cmocka_unit_test(test_attention_dropout_is_on_the_weights),
        cmocka_unit_test(test_draws_of_heads_differ),
        cmocka_unit_test(test_cross_entropy_gradients),
        cmocka_unit_test(test_cross_entropy_by_definition),
        cmocka_unit_test(test_cross_entropy_of_large_logits),
        cmocka_unit_test(test_cross_entropy_keeps_the_first_chunk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
