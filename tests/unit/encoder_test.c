/* xlm-mpi: the encoder against a textbook version, in double and in single precision. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Built twice: encoder_test in double, encoder_float_test as the programs are. The textbook (textbook.h) computes
 * in double. */
#include "batch_fixture.h"
#include "textbook.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "gemm/gemm.h"
#include "tensor/variable.h"

static xlm_var *loss(const struct setup *s, xlm_tape *tape, const xlm_batch *b, xlm_score *scores)
{
    xlm_var *h = xlm_model_encode(s->model, tape, &b->corrupted, false, XLM_TOP_LAYER, b->predicted_rows, b->predicted)[s->config.layers];
    return xlm_lm_cross_entropy(s->model, tape, XLM_STACK_ENCODER, h, b->targets, NULL, scores);
}

/* The same with all of the last layer. */
static xlm_var *loss_of_all(const struct setup *s, xlm_tape *tape, const xlm_batch *b, xlm_score *scores)
{
    xlm_var **hidden = xlm_model_encode(s->model, tape, &b->corrupted, false, XLM_TOP_LAYER, NULL, 0);
    xlm_var *h = xlm_rows(tape, hidden[s->config.layers], b->predicted_rows, b->predicted);
    return xlm_lm_cross_entropy(s->model, tape, XLM_STACK_ENCODER, h, b->targets, NULL, scores);
}

typedef xlm_var *loss_function(const struct setup *s, xlm_tape *tape, const xlm_batch *b, xlm_score *scores);

static void test_encoder_follows_the_textbook(void **state)
{
    (void)state;
    for (int options = 0; options < ALL_OPTIONS; options++) {
        struct setup s = open_setup(tiny(options), 0.5);
        xlm_tape *tape = xlm_tape_new(s.parameters);
        xlm_tape_begin(tape, NULL, false, 1, 1);
        xlm_var **hidden = xlm_model_encode(s.model, tape, &batch.corrupted, false, XLM_TOP_LAYER, NULL, 0);
        double x[T * D], wanted[M];
        embeddings(&s, "encoder", x);
        for (int l = 0; l <= L; l++) {
            for (int i = 0; i < T * D; i++)
                near("hidden state", options, hidden[l]->value[i], x[i]);
            if (l < L)
                layer(&s, "encoder", l, false, NULL, NULL, x);
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

static void test_architectures_follow_the_textbook(void **state)
{
    (void)state;
    for (int number = 0; number < ARCHITECTURES; number++)
        for (int causal = 0; causal < 2; causal++) {
            xlm_model_config c = tiny(number % 2 == 0 ? LANGUAGE | TYPE : FACTORISE);
            c.layers = 3;
            set_architecture(number, &c);
            struct setup s = open_setup(c, 0.5);
            xlm_tape *tape = xlm_tape_new(s.parameters);
            xlm_tape_begin(tape, NULL, false, 1, 1);
            xlm_var **hidden = xlm_model_encode(s.model, tape, &batch.corrupted, causal, XLM_TOP_LAYER, NULL, 0);
            xlm_var *some = xlm_model_encode(s.model, tape, &batch.corrupted, causal, XLM_TOP_LAYER, predicted_rows, M)[3];
            double x[T * D];
            embeddings(&s, "encoder", x);
            for (int l = 0; l <= 3; l++) {
                for (int i = 0; i < T * D; i++)
                    near("hidden state", 1000 + number, hidden[l]->value[i], x[i]);
                if (l < 3)
                    layer(&s, "encoder", l, causal, NULL, NULL, x);
            }
            for (int i = 0; i < M * D; i++)
                near("wanted row", 1000 + number, some->value[i], x[predicted_rows[i / D] * D + i % D]);
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
        xlm_var *h = xlm_model_encode(s.model, tape, &batch.corrupted, false, XLM_TOP_LAYER, predicted_rows, M)[L];
        const xlm_var *z = xlm_lm_logits(s.model, tape, XLM_STACK_ENCODER, h);
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
    xlm_var **all = xlm_model_encode(s.model, together, &b.batch.corrupted, false, XLM_TOP_LAYER, NULL, 0);
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
        xlm_var **h = xlm_model_encode(s.model, alone, &single.corrupted, false, XLM_TOP_LAYER, NULL, 0);
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
static void check_shapes(const struct setup *s, const struct big *b, bool masked_only, bool recompute, bool forward)
{
    xlm_real *gradients = g_new0(xlm_real, xlm_parameters_size(s->parameters));
    xlm_tape *made = xlm_tape_new(s->parameters), *shapes = xlm_tape_new_of_shapes(s->parameters);
    const double flops = pass_on(made, s, b, masked_only, recompute, forward, gradients);
    const double counted = pass_on(shapes, s, b, masked_only, recompute, forward, XLM_NO_NUMBERS);
    assert_int_equal(xlm_tape_peak_bytes(shapes), xlm_tape_peak_bytes(made));
    /* Sums over rows that are packed are filled up to 32 of them. */
    if (!(fabs(flops - counted) <= (packed ? 0.05 * flops : 0)))
        fail_msg("%.0f operations counted, %.0f made", counted, flops);
    xlm_tape_free(made);
    xlm_tape_free(shapes);
    g_free(gradients);
}

static void check_size(xlm_model_config config, int32_t tokens, int32_t longest)
{
    struct setup s = open_setup(config, 0.1);
    struct big b = make_big(tokens, longest, (int32_t)config.vocabulary);
    for (int form = 0; form < 8; form++)
        check_shapes(&s, &b, (form & 1) != 0, (form & 2) != 0, (form & 4) != 0);
    free_big(&b);
    close_setup(&s);
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
    for (int number = ARCHITECTURES - 6; number < ARCHITECTURES; number++) {
        c = middling();
        set_architecture(number, &c);
        check_size(c, 500, 100);
    }
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
        cmocka_unit_test(test_architectures_follow_the_textbook),
        cmocka_unit_test(test_logits_agree_with_the_loss),
        cmocka_unit_test(test_same_bits_for_any_number_of_threads),
        cmocka_unit_test(test_wanted_rows_are_those_of_all),
        cmocka_unit_test(test_sequences_do_not_see_one_another),
        cmocka_unit_test(test_shapes_take_what_passes_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
