/* xlm-mpi: the encoder against a textbook version, in double and in single precision. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Built twice: encoder_test in double, encoder_float_test as the programs are. The textbook below computes in double from
 * the same parameters; it shares no code with the library. */
#include "batch_fixture.h"
#include "model_fixture.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "gemm/gemm.h"
#include "tensor/variable.h"

#ifdef XLM_DOUBLE
static const double TOLERANCE = 1e-10;
#else
static const double TOLERANCE = 2e-5;
#endif

enum { L = 2, D = 6, F = 10, HEADS = 2 };

/* ---- models ---- */

enum { LANGUAGE = 1, TYPE = 2, SHARE = 4, FACTORISE = 8, XLM_HEAD = 16, SINUSOIDAL = 32, TANH = 64, ALL_OPTIONS = 128 };

static xlm_model_config tiny(int options)
{
    xlm_model_config c = defaults();
    c.layers = L;
    c.hidden_size = D;
    c.attention_heads = HEADS;
    c.feed_forward_size = F;
    c.positions = 5;
    c.vocabulary = V;
    c.vocabulary_chunk = 3;
    c.language_embeddings = options & LANGUAGE;
    c.token_types = options & TYPE;
    c.share_layers = options & SHARE;
    c.embedding_size = options & FACTORISE ? 4 : 0;
    c.head = options & XLM_HEAD ? XLM_HEAD_XLM : XLM_HEAD_BERT;
    c.activation = options & TANH ? XLM_GELU_TANH : XLM_GELU;
    c.position_type = options & SINUSOIDAL ? XLM_POSITIONS_SINUSOIDAL : XLM_POSITIONS_LEARNED;
    return c;
}

static xlm_var *loss(const struct setup *s, xlm_tape *tape, const xlm_batch *b, xlm_score *scores)
{
    xlm_var *h = xlm_model_encode(s->model, tape, &b->corrupted, XLM_TOP_LAYER, b->predicted_rows, b->predicted)[s->config.layers];
    return xlm_lm_cross_entropy(s->model, tape, h, b->targets, scores);
}

/* The same with all of the last layer. */
static xlm_var *loss_of_all(const struct setup *s, xlm_tape *tape, const xlm_batch *b, xlm_score *scores)
{
    xlm_var **hidden = xlm_model_encode(s->model, tape, &b->corrupted, XLM_TOP_LAYER, NULL, 0);
    xlm_var *h = xlm_rows(tape, hidden[s->config.layers], b->predicted_rows, b->predicted);
    return xlm_lm_cross_entropy(s->model, tape, h, b->targets, scores);
}

typedef xlm_var *loss_function(const struct setup *s, xlm_tape *tape, const xlm_batch *b, xlm_score *scores);

/* ---- the textbook ---- */

static const xlm_real *value(const struct setup *s, const char *name)
{
    const int k = xlm_parameters_find(s->parameters, name);
    if (k < 0)
        fail_msg("no parameter %s", name);
    return xlm_parameters_values(s->parameters) + xlm_parameters_get(s->parameters, k)->start;
}

static const xlm_real *part(const struct setup *s, const char *prefix, const char *name)
{
    char full[128];
    g_snprintf(full, sizeof full, "%s/%s", prefix, name);
    return value(s, full);
}

static void linear(const struct setup *s, const char *prefix, int n, int in, int out, const double *x, double *y)
{
    const xlm_real *w = part(s, prefix, "weight"), *b = part(s, prefix, "bias");
    for (int i = 0; i < n; i++)
        for (int o = 0; o < out; o++) {
            y[i * out + o] = b[o];
            for (int c = 0; c < in; c++)
                y[i * out + o] += x[i * in + c] * w[o * in + c];
        }
}

static void norm(const struct setup *s, const char *prefix, int n, int d, double *x)
{
    const xlm_real *gamma = part(s, prefix, "weight"), *beta = part(s, prefix, "bias");
    for (int i = 0; i < n; i++) {
        double mean = 0, variance = 0;
        for (int c = 0; c < d; c++)
            mean += x[i * d + c] / d;
        for (int c = 0; c < d; c++)
            variance += (x[i * d + c] - mean) * (x[i * d + c] - mean) / d;
        for (int c = 0; c < d; c++)
            x[i * d + c] = gamma[c] * (x[i * d + c] - mean) / sqrt(variance + s->config.layer_norm_epsilon) + beta[c];
    }
}

static void gelu(const struct setup *s, int n, double *x)
{
    for (int i = 0; i < n; i++)
        x[i] = x[i] / 2 * (1 + (s->config.activation == XLM_GELU_TANH
                                    ? tanh(sqrt(2 / M_PI) * (x[i] + 0.044715 * pow(x[i], 3)))
                                    : erf(x[i] / sqrt(2))));
}

static void attention(const double *q, const double *k, const double *v, double *out)
{
    const int w = D / HEADS;
    for (int s = 0; s < batch.corrupted.sequences; s++)
        for (int h = 0; h < HEADS; h++)
            for (int i = offsets[s]; i < offsets[s + 1]; i++) {
                double e[T], sum = 0;
                for (int j = offsets[s]; j < offsets[s + 1]; j++) {
                    double dot = 0;
                    for (int c = h * w; c < (h + 1) * w; c++)
                        dot += q[i * D + c] * k[j * D + c];
                    sum += e[j] = exp(dot / sqrt(w));
                }
                for (int c = h * w; c < (h + 1) * w; c++) {
                    out[i * D + c] = 0;
                    for (int j = offsets[s]; j < offsets[s + 1]; j++)
                        out[i * D + c] += e[j] / sum * v[j * D + c];
                }
            }
}

static void sublayer(const struct setup *s, const char *layer, const char *name, int in, const double *input, double *x)
{
    char prefix[128], after[128];
    g_snprintf(prefix, sizeof prefix, "%s/%s/output", layer, name);
    g_snprintf(after, sizeof after, "%s/%s/layer_norm", layer, name);
    double y[T * D];
    linear(s, prefix, T, in, D, input, y);
    for (int i = 0; i < T * D; i++)
        x[i] += y[i];
    norm(s, after, T, D, x);
}

static void layer(const struct setup *s, int number_of_layer, double *x)
{
    static const char *const names[] = {"query", "key", "value"};
    char name[64], prefix[128];
    double qkv[3][T * D], a[T * D], wide[T * F];
    if (s->config.share_layers)
        g_snprintf(name, sizeof name, "encoder/layer.shared");
    else
        g_snprintf(name, sizeof name, "encoder/layer.%d", number_of_layer);
    for (int i = 0; i < 3; i++) {
        g_snprintf(prefix, sizeof prefix, "%s/attention/%s", name, names[i]);
        linear(s, prefix, T, D, D, x, qkv[i]);
    }
    attention(qkv[0], qkv[1], qkv[2], a);
    sublayer(s, name, "attention", D, a, x);
    g_snprintf(prefix, sizeof prefix, "%s/feed_forward/intermediate", name);
    linear(s, prefix, T, D, F, x, wide);
    gelu(s, T * F, wide);
    sublayer(s, name, "feed_forward", F, wide, x);
}

static double position_value(const struct setup *s, int row, int c, int e)
{
    if (s->config.position_type == XLM_POSITIONS_LEARNED)
        return value(s, "embeddings/position/weight")[row * e + c];
    const double angle = row * exp(-log(10000) * (c - c % 2) / e);
    return c % 2 == 0 ? sin(angle) : cos(angle);
}

static void embeddings(const struct setup *s, double *out)
{
    const int e = (int)s->config.embedding_size;
    double x[T * D];
    for (int i = 0; i < T; i++)
        for (int c = 0; c < e; c++) {
            x[i * e + c] = value(s, "embeddings/word/weight")[ids[i] * e + c] + position_value(s, positions[i] + 2, c, e);
            if (s->config.language_embeddings)
                x[i * e + c] += value(s, "embeddings/language/weight")[languages[i] * e + c];
            if (s->config.token_types)
                x[i * e + c] += value(s, "embeddings/token_type/weight")[types[i] * e + c];
        }
    norm(s, "embeddings/layer_norm", T, e, x);
    if (e != D)
        linear(s, "embeddings/projection", T, e, D, x, out);
    else
        memcpy(out, x, sizeof x);
}

/* scores: [M] losses; returns their mean. */
static double cross_entropy(const struct setup *s, const double *x, double *scores)
{
    const int e = (int)s->config.embedding_size;
    const xlm_real *word = value(s, "embeddings/word/weight"), *bias = value(s, "lm_head/bias");
    double h[M * D], y[M * D], sum = 0;
    for (int i = 0; i < M; i++)
        memcpy(h + i * D, x + predicted_rows[i] * D, sizeof(double) * D);
    memcpy(y, h, sizeof h);
    if (s->config.head == XLM_HEAD_BERT || e != D)
        linear(s, "lm_head/dense", M, D, e, h, y);
    if (s->config.head == XLM_HEAD_BERT) {
        gelu(s, M * e, y);
        norm(s, "lm_head/layer_norm", M, e, y);
    }
    for (int i = 0; i < M; i++) {
        double z[V], total = 0;
        for (int v = 0; v < V; v++) {
            z[v] = bias[v];
            for (int c = 0; c < e; c++)
                z[v] += y[i * e + c] * word[v * e + c];
            total += exp(z[v]);
        }
        sum += scores[i] = log(total) - z[targets[i]];
    }
    return sum / M;
}

static void near(const char *what, int options, double got, double wanted)
{
    if (!(fabs(got - wanted) <= TOLERANCE * fmax(1, fabs(wanted))))
        fail_msg("%s with options %d: %.12g, not %.12g", what, options, got, wanted);
}

static void test_encoder_follows_the_textbook(void **state)
{
    (void)state;
    for (int options = 0; options < ALL_OPTIONS; options++) {
        struct setup s = open_setup(tiny(options), 0.5);
        xlm_tape *tape = xlm_tape_new(s.parameters);
        xlm_tape_begin(tape, NULL, false, 1, 1);
        xlm_var **hidden = xlm_model_encode(s.model, tape, &batch.corrupted, XLM_TOP_LAYER, NULL, 0);
        double x[T * D], wanted[M];
        embeddings(&s, x);
        for (int l = 0; l <= L; l++) {
            for (int i = 0; i < T * D; i++)
                near("hidden state", options, hidden[l]->value[i], x[i]);
            if (l < L)
                layer(&s, l, x);
        }
        xlm_score scores[M];
        const double mean = cross_entropy(&s, x, wanted);
        near("loss", options, loss(&s, tape, &batch, scores)->value[0], mean);
        for (int i = 0; i < M; i++)
            assert_true(fabs(scores[i].loss - wanted[i]) < 1e-4); /* a float in either build */
        xlm_tape_free(tape);
        close_setup(&s);
    }
}

/* The logits give the same probabilities as the fused loss. */
static void test_logits_agree_with_the_loss(void **state)
{
    (void)state;
    for (int options = 0; options < ALL_OPTIONS; options += FACTORISE) {
        struct setup s = open_setup(tiny(options), 0.5);
        xlm_tape *tape = xlm_tape_new(s.parameters);
        xlm_tape_begin(tape, NULL, false, 1, 1);
        xlm_score scores[M];
        loss(&s, tape, &batch, scores);
        xlm_var *h = xlm_model_encode(s.model, tape, &batch.corrupted, XLM_TOP_LAYER, predicted_rows, M)[L];
        const xlm_var *z = xlm_lm_logits(s.model, tape, h);
        assert_int_equal(z->rows, M);
        assert_int_equal(z->cols, V);
        for (int i = 0; i < M; i++) {
            double total = 0;
            for (int v = 0; v < V; v++)
                total += exp(z->value[i * V + v]);
            assert_true(fabs(log(total) - z->value[i * V + targets[i]] - scores[i].loss) < 1e-5);
        }
        xlm_tape_free(tape);
        close_setup(&s);
    }
}

/* ---- larger batches ---- */

/* Loss and gradients of one pass, dropout on. */
static xlm_real run(const struct setup *s, loss_function *loss_of, const xlm_batch *b, int threads, xlm_real *gradients)
{
    const int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    memset(gradients, 0, sizeof *gradients * (size_t)xlm_parameters_size(s->parameters));
    xlm_tape *tape = xlm_tape_new(s->parameters);
    xlm_tape_begin(tape, gradients, true, 1, 1);
    xlm_var *y = loss_of(s, tape, b, NULL);
    const xlm_real result = y->value[0];
    xlm_tape_seed(tape, y, 1);
    xlm_tape_backward(tape);
    xlm_tape_free(tape);
    omp_set_num_threads(before);
    return result;
}

static void test_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    xlm_model_config c = middling();
    c.layers = 1; /* BLIS's threads wait for one another by spinning, which takes long where others want the cores too */
    struct setup s = open_setup(c, 0.1);
    struct big b = make_big(400, 150, 1200);
    const size_t n = (size_t)xlm_parameters_size(s.parameters);
    xlm_real *one = g_new(xlm_real, n), *two = g_new(xlm_real, n);
    const xlm_real wanted = run(&s, loss, &b.batch, 1, one), got = run(&s, loss, &b.batch, 2, two);
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(one[i]));
    assert_true(largest > 1e-3);
    assert_memory_equal(&got, &wanted, sizeof got);
    assert_memory_equal(two, one, n * sizeof *one);
    g_free(one);
    g_free(two);
    free_big(&b);
    close_setup(&s);
}

/* The rows that are wanted of the last layer are those of all, dropout and gradients included; sequences without any among them.
 * */
static void check_wanted_rows(xlm_model_config c, int64_t masked)
{
    struct setup s = open_setup(c, 0.1);
    struct big b = make_big(400, 40, 1200);
    /* Some of them, so that whole sequences have none. */
    b.batch.predicted_rows += b.batch.predicted / 3;
    b.batch.targets += b.batch.predicted / 3;
    b.batch.predicted = (int32_t)masked;
    const size_t n = (size_t)xlm_parameters_size(s.parameters);
    xlm_real *all = g_new(xlm_real, n), *wanted = g_new(xlm_real, n);
    near("loss of wanted rows", 0, run(&s, loss, &b.batch, 1, wanted), run(&s, loss_of_all, &b.batch, 1, all));
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        near("gradient of wanted rows", (int)i, wanted[i], all[i]);
        largest = fmax(largest, fabs(all[i]));
    }
    assert_true(largest > 1e-3);
    g_free(all);
    g_free(wanted);
    free_big(&b);
    close_setup(&s);
}

static void test_wanted_rows_are_those_of_all(void **state)
{
    (void)state;
    xlm_model_config c = middling();
    for (int64_t masked = 1; masked <= 16; masked *= 4) {
        check_wanted_rows(c, masked);
        c.share_layers = !c.share_layers;
    }
    c.layers = 1;
    check_wanted_rows(c, 5);
}

/* A sequence's states do not depend on its neighbours, dropout included: the draws follow the keys. */
static void test_sequences_do_not_see_one_another(void **state)
{
    (void)state;
    struct setup s = open_setup(middling(), 0.1);
    struct big b = make_big(700, 150, 1200);
    xlm_tape *together = xlm_tape_new(s.parameters), *alone = xlm_tape_new(s.parameters);
    xlm_tape_begin(together, NULL, true, 1, 1);
    xlm_var **all = xlm_model_encode(s.model, together, &b.batch.corrupted, XLM_TOP_LAYER, NULL, 0);
    for (int q = 0; q < b.batch.corrupted.sequences; q++) {
        const int32_t first = b.offsets[q], n = b.offsets[q + 1] - first, own[] = {0, n};
        const xlm_batch single = {
            .corrupted = {
                .tokens = n, .sequences = 1, .offsets = own, .ids = b.ids + first, .unmasked = b.ids + first,
                .positions = b.positions + first, .languages = b.languages + first, .unswitched = b.languages + first,
                .types = b.types + first, .keys = b.keys + first, .specials = &xlm_own_special_tokens,
            },
        };
        xlm_tape_begin(alone, NULL, true, 1, 1);
        xlm_var **h = xlm_model_encode(s.model, alone, &single.corrupted, XLM_TOP_LAYER, NULL, 0);
        const int64_t d = s.config.hidden_size;
        for (int l = 0; l <= s.config.layers; l++)
            for (int64_t i = 0; i < n * d; i++)
                near("hidden state of a sequence alone", l, h[l]->value[i], all[l]->value[first * d + i]);
    }
    xlm_tape_free(together);
    xlm_tape_free(alone);
    free_big(&b);
    close_setup(&s);
}

/* ---- operations and memory, as a tape of shapes counts them ---- */

static bool packed, rounded; /* parameters are packed for their products; these are in bfloat16 */

/* Bytes of a pass, and operations of its products. */
static double pass_on(xlm_tape *tape, const struct setup *s, const struct big *b, bool masked_only, bool recompute, bool forward,
                      xlm_real *gradients)
{
    xlm_tape_recompute(tape, recompute);
    if (packed)
        xlm_tape_multiply_by(tape, true, rounded ? XLM_BFLOAT16 : XLM_FLOAT32);
    const double before = xlm_gemm_flops();
    xlm_tape_begin(tape, forward ? NULL : gradients, !forward, 1, 1);
    xlm_var *y = (masked_only ? loss : loss_of_all)(s, tape, &b->batch, NULL);
    if (!forward) {
        xlm_tape_seed(tape, y, 1);
        xlm_tape_backward(tape);
    }
    return xlm_gemm_flops() - before;
}

/* A tape of shapes takes what one takes that computes, to the byte. */
static void check_shapes(xlm_model_config config, int32_t tokens, int32_t longest, bool masked_only, bool recompute, bool forward)
{
    struct setup s = open_setup(config, 0.1);
    struct big b = make_big(tokens, longest, (int32_t)config.vocabulary);
    xlm_real *gradients = g_new0(xlm_real, xlm_parameters_size(s.parameters));
    xlm_tape *made = xlm_tape_new(s.parameters), *shapes = xlm_tape_new_of_shapes(s.parameters);
    const double flops = pass_on(made, &s, &b, masked_only, recompute, forward, gradients);
    const double counted = pass_on(shapes, &s, &b, masked_only, recompute, forward, XLM_NO_NUMBERS);
    assert_int_equal(xlm_tape_peak_bytes(shapes), xlm_tape_peak_bytes(made));
    /* Sums over rows that are packed are filled up to 32 of them. */
    if (!(fabs(flops - counted) <= (packed ? 0.05 * flops : 0)))
        fail_msg("%.0f operations counted, %.0f made", counted, flops);
    xlm_tape_free(made);
    xlm_tape_free(shapes);
    g_free(gradients);
    free_big(&b);
    close_setup(&s);
}

static void check_size(xlm_model_config config, int32_t tokens, int32_t longest)
{
    for (int form = 0; form < 8; form++)
        check_shapes(config, tokens, longest, (form & 1) != 0, (form & 2) != 0, (form & 4) != 0);
}

static void check_sizes(void)
{
    xlm_model_config c = middling();
    check_size(c, 700, 150);
    check_size(c, 300, 20);
    c.dropout = c.attention_dropout = 0;
    check_size(c, 700, 150);
    c.vocabulary_chunk = 30;
    check_size(c, 700, 150);
    c = middling();
    c.feed_forward_size = 100;
    check_size(c, 500, 50);
    c.feed_forward_size = 1000;
    check_size(c, 500, 50);
    c = middling();
    c.embedding_size = 24, c.share_layers = true, c.position_type = XLM_POSITIONS_SINUSOIDAL, c.token_types = true, c.layers = 5;
    check_size(c, 500, 100);
    c.head = XLM_HEAD_XLM;
    check_size(c, 500, 100);
}

static void test_shapes_take_what_passes_take(void **state)
{
    (void)state;
    check_sizes();
    if (sizeof(xlm_real) != sizeof(float))
        return;
    packed = true;
    if (xlm_packed_lacks(XLM_FLOAT32) == NULL)
        check_sizes();
    g_setenv("XLM_BF16_EMULATE", "1", TRUE);
    rounded = true;
    check_sizes();
    packed = rounded = false;
    g_unsetenv("XLM_BF16_EMULATE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encoder_follows_the_textbook),
        cmocka_unit_test(test_logits_agree_with_the_loss),
        cmocka_unit_test(test_same_bits_for_any_number_of_threads),
        cmocka_unit_test(test_wanted_rows_are_those_of_all),
        cmocka_unit_test(test_sequences_do_not_see_one_another),
        cmocka_unit_test(test_shapes_take_what_passes_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
