/* xlm-mpi: the decoder and causal attention against a textbook version, and the objectives that train them, in double precision.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "host_fixture.h"
#include "textbook.h"

#include "nn/memory_weights.h"
#include "tensor/variable.h"

extern const xlm_loss_class xlm_loss_clm, xlm_loss_seq2seq;

/* A memory whose sequences have other lengths than the batch's. */
enum { ROWS = 7 };
static const int32_t memory_offsets[] = {0, 3, 4, ROWS};

static xlm_model_config with_decoder(int options)
{
    xlm_model_config c = tiny(options);
    c.decoder_layers = 3;
    c.share_embeddings = !(options & OWN);
    c.language_tokens = !(options & (LANGUAGE | TANH));
    c.dropout = c.attention_dropout = 0;
    return c;
}

static void make_memory(double memory[ROWS * D])
{
    for (int i = 0; i < ROWS * D; i++)
        memory[i] = number(99, i);
}

/* ---- hidden states ---- */

static void follow(const char *what, int options, xlm_var *const *hidden, const struct setup *s, const char *stack, int layers,
                   const double *memory)
{
    double x[T * D];
    embeddings(s, stack, x);
    for (int l = 0; l <= layers; l++) {
        for (int i = 0; i < T * D; i++)
            near(what, options, hidden[l]->value[i], x[i]);
        if (l < layers)
            layer(s, stack, l, true, memory, memory_offsets, x);
    }
}

/* By the head of a stack, of any states. */
static void follow_logits(int options, const struct setup *s, xlm_tape *tape, const char *stack, xlm_stack number_of_stack, xlm_var *h)
{
    const xlm_var *z = xlm_lm_logits(s->model, tape, number_of_stack, h);
    for (int i = 0; i < T; i++) {
        double wanted[V];
        logits_of(s, stack, h->value + i * D, wanted);
        for (int v = 0; v < V; v++)
            near("logits", options, z->value[i * V + v], wanted[v]);
    }
}

static void test_stacks_follow_the_textbook(void **state)
{
    (void)state;
    double memory[ROWS * D];
    make_memory(memory);
    for (int options = 0; options < 2 * OWN; options++) {
        struct setup s = open_setup(with_decoder(options), 0.5);
        xlm_tape *tape = xlm_tape_new(s.parameters);
        xlm_tape_begin(tape, NULL, false, 1, 1);
        follow("causal encoder", options, xlm_model_encode(s.model, tape, &batch.corrupted, true, XLM_TOP_LAYER, NULL, 0), &s,
               "encoder", L, NULL);
        xlm_var *m = xlm_constant(tape, ROWS, D, memory);
        xlm_var **hidden = xlm_model_decode(s.model, tape, &batch.corrupted, m, memory_offsets, XLM_TOP_LAYER, NULL, 0);
        follow("decoder", options, hidden, &s, "decoder", 3, memory);
        /* Only some rows of the last layer, or of one below. */
        for (int64_t highest = 0; highest <= 3; highest++) {
            xlm_var **some = xlm_model_decode(s.model, tape, &batch.corrupted, m, memory_offsets, highest, predicted_rows, M);
            for (int i = 0; i < M; i++)
                for (int c = 0; c < D; c++)
                    near("row", (int)highest, some[highest]->value[i * D + c], hidden[highest]->value[predicted_rows[i] * D + c]);
        }
        follow_logits(options, &s, tape, "encoder", XLM_STACK_ENCODER, hidden[3]);
        follow_logits(options, &s, tape, "decoder", XLM_STACK_DECODER, hidden[3]);
        xlm_tape_free(tape);
        close_setup(&s);
    }
}

/* The weights of a layer whose queries are zeros are even; those of the layer above it are not, and add up to 1. */
static void test_memory_weights(void **state)
{
    (void)state;
    double memory[ROWS * D];
    make_memory(memory);
    struct setup s = open_setup(with_decoder(LANGUAGE), 0.5);
    static const char *const zero[] = {"decoder/layer.1/memory_attention/query/weight", "decoder/layer.1/memory_attention/query/bias"};
    for (int k = 0; k < 2; k++) {
        const xlm_parameter *p = xlm_parameters_get(s.parameters, xlm_parameters_find(s.parameters, zero[k]));
        memset(xlm_parameters_values(s.parameters) + p->start, 0, sizeof(xlm_real) * (size_t)(p->rows * p->cols));
    }
    xlm_tape *tape = xlm_tape_new(s.parameters);
    const xlm_text *text = &batch.corrupted;
    for (int64_t layer = 1; layer <= 3; layer++) {
        xlm_tape_begin(tape, NULL, false, 1, 1);
        xlm_var *m = xlm_constant(tape, ROWS, D, memory);
        const xlm_real *const *weights = xlm_memory_weights(s.model, tape, text, m, memory_offsets, layer);
        double farthest = 0;
        for (int32_t q = 0; q < text->sequences; q++) {
            const int n = text->offsets[q + 1] - text->offsets[q], rows = memory_offsets[q + 1] - memory_offsets[q];
            for (int i = 0; i < n; i++) {
                double sum = 0;
                for (int j = 0; j < rows; j++) {
                    sum += weights[q][i * rows + j];
                    farthest = fmax(farthest, fabs(weights[q][i * rows + j] - 1.0 / rows));
                }
                near("sum of weights", (int)layer, sum, 1);
            }
        }
        assert_true(layer == 2 ? farthest < 1e-12 : farthest > 1e-3);
    }
    xlm_tape_free(tape);
    close_setup(&s);
}

/* Nothing of a row depends on what comes after it: later ids, and other sequences of the memory, may be any. */
/* Those without a window, which is for encoders. */
static void test_architectures_follow_the_textbook(void **state)
{
    (void)state;
    double memory[ROWS * D];
    make_memory(memory);
    for (int number = 0; number < ARCHITECTURES; number++) {
        xlm_model_config c = with_decoder(number % 2 == 0 ? LANGUAGE : OWN);
        set_architecture(number, &c);
        c.attention_window = c.global_attention_every = 0;
        c.rotary_theta_local = 0;
        struct setup s = open_setup(c, 0.5);
        xlm_tape *tape = xlm_tape_new(s.parameters);
        xlm_tape_begin(tape, NULL, false, 1, 1);
        xlm_var *m = xlm_constant(tape, ROWS, D, memory);
        follow("decoder", 1000 + number,
               xlm_model_decode(s.model, tape, &batch.corrupted, m, memory_offsets, XLM_TOP_LAYER, NULL, 0), &s, "decoder", 3,
               memory);
        xlm_tape_free(tape);
        close_setup(&s);
    }
}

static void test_nothing_is_seen_ahead(void **state)
{
    (void)state;
    double memory[ROWS * D];
    int32_t other[T];
    make_memory(memory);
    struct setup s = open_setup(with_decoder(LANGUAGE), 0.5);
    xlm_tape *tape = xlm_tape_new(s.parameters);
    for (int row = 5; row < 11; row++) { /* of the last sequence, from row 5 on */
        xlm_text changed = batch.corrupted;
        memcpy(other, ids, sizeof other);
        for (int i = row + 1; i < T; i++)
            other[i] = (ids[i] + 3) % V;
        changed.ids = other;
        xlm_tape_begin(tape, NULL, false, 1, 1);
        const xlm_var *a = xlm_model_decode(s.model, tape, &batch.corrupted, xlm_constant(tape, ROWS, D, memory), memory_offsets,
                                            XLM_TOP_LAYER, NULL, 0)[3];
        double changed_memory[ROWS * D];
        memcpy(changed_memory, memory, sizeof memory);
        changed_memory[0] += 1; /* of the first sequence */
        const xlm_var *b = xlm_model_decode(s.model, tape, &changed, xlm_constant(tape, ROWS, D, changed_memory), memory_offsets,
                                            XLM_TOP_LAYER, NULL, 0)[3];
        assert_memory_equal(a->value + 5 * D, b->value + 5 * D, sizeof(double) * (size_t)(row - 4) * D);
        assert_true(a->value[(row + 1) * D] != b->value[(row + 1) * D] && a->value[0] != b->value[0]);
    }
    xlm_tape_free(tape);
    close_setup(&s);
}

/* ---- gradients, recomputed and estimated ---- */

static xlm_var *loss_of(const struct setup *s, xlm_tape *tape)
{
    xlm_var *memory = xlm_model_encode(s->model, tape, &batch.corrupted, false, XLM_TOP_LAYER, NULL, 0)[L];
    xlm_var *h = xlm_model_decode(s->model, tape, &batch.corrupted, memory, offsets, XLM_TOP_LAYER, NULL, 0)[3];
    return xlm_lm_next_tokens(s->model, tape, XLM_STACK_DECODER, &batch.corrupted, h, NULL, NULL);
}

static uint64_t take_pass(const struct setup *s, xlm_tape *tape, xlm_real *gradients, bool recompute)
{
    xlm_tape_recompute(tape, recompute);
    xlm_tape_begin(tape, gradients, true, 1, 1);
    xlm_tape_seed(tape, loss_of(s, tape), 1);
    xlm_tape_backward(tape);
    return xlm_tape_peak_bytes(tape);
}

/* The encoder's states go into every layer of the decoder, which may be computed again in the backward pass. */
static void test_recompute_and_shapes(void **state)
{
    (void)state;
    xlm_model_config c = with_decoder(OWN);
    c.dropout = c.attention_dropout = 0.2;
    struct setup s = open_setup(c, 0.5);
    const size_t n = (size_t)xlm_parameters_size(s.parameters);
    double *kept = g_new0(double, n), *again = g_new0(double, n);
    for (int recompute = 0; recompute < 2; recompute++) {
        xlm_tape *tape = xlm_tape_new(s.parameters), *shapes = xlm_tape_new_of_shapes(s.parameters);
        const uint64_t bytes = take_pass(&s, tape, recompute ? again : kept, recompute);
        assert_int_equal(take_pass(&s, shapes, XLM_NO_NUMBERS, recompute), bytes);
        xlm_tape_free(tape);
        xlm_tape_free(shapes);
    }
    assert_memory_equal(kept, again, n * sizeof *kept);
    const int k = xlm_parameters_find(s.parameters, "decoder/layer.2/memory_attention/key/weight");
    assert_true(k >= 0 && kept[xlm_parameters_get(s.parameters, k)->start] != 0);
    g_free(kept);
    g_free(again);
    close_setup(&s);
}

/* ---- objectives ---- */

/* Two pairs; the sides of the first in one run of positions, of the second in two. */
enum { TOKENS = 13 };
static const int32_t pair_offsets[] = {0, 6, 13}, pair_ids[TOKENS] = {0, 7, 2, 8, 6, 2, 0, 5, 2, 0, 9, 10, 2};
static const int32_t pair_positions[TOKENS] = {0, 1, 2, 3, 4, 5, 0, 1, 2, 0, 1, 2, 3};
static const int32_t pair_types[TOKENS] = {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1};
/* What noise has left of them. */
static const int32_t noisy_offsets[] = {0, 3, 6}, noisy_ids[] = {0, 6, 2, 0, 4, 2}, noisy_positions[] = {0, 1, 2, 0, 1, 2};
static const int32_t zeros[TOKENS];
static xlm_row_key pair_keys[TOKENS];

static xlm_batch pair_batch(bool noise)
{
    for (int i = 0; i < TOKENS; i++)
        pair_keys[i] = i < 6 ? (xlm_row_key){20, (uint32_t)i} : (xlm_row_key){21, (uint32_t)(i - 6)};
    const xlm_text text = {
        .tokens = TOKENS, .sequences = 2, .offsets = pair_offsets, .ids = pair_ids, .unmasked = pair_ids, .positions = pair_positions,
        .languages = pair_types, .unswitched = pair_types, .types = pair_types, .keys = pair_keys,
        .specials = &xlm_own_special_tokens,
    };
    xlm_batch made = {.original = text, .corrupted = text};
    if (noise)
        made.corrupted = (xlm_text){
            .tokens = 6, .sequences = 2, .offsets = noisy_offsets, .ids = noisy_ids, .unmasked = noisy_ids,
            .positions = noisy_positions, .languages = zeros, .unswitched = zeros, .types = zeros, .keys = pair_keys,
            .specials = &xlm_own_special_tokens,
        };
    return made;
}

/* The mean over rows of −log p(next), by the head of a stack as the textbook has it. */
static double next_tokens(struct hosted_job *job, const char *stack, const xlm_text *text, const xlm_var *h, double smoothing)
{
    const struct setup setup = {.config = job->config, .parameters = job->parameters, .model = job->model};
    double sum = 0;
    int n = 0;
    for (int32_t s = 0; s < text->sequences; s++)
        for (int32_t i = text->offsets[s]; i < text->offsets[s + 1] - 1; i++, n++) {
            double z[V], total = 0;
            logits_of(&setup, stack, h->value + i * D, z);
            for (int v = 0; v < V; v++)
                total += exp(z[v]);
            sum += (1 - smoothing) * (log(total) - z[text->ids[i + 1]]);
            for (int v = 0; v < V; v++)
                sum += smoothing / V * (log(total) - z[v]);
        }
    return sum / n;
}

/* Whether the labels of an objective are smoothed: its options, and ε. */
static const char *const smoothed[][2] = {{NULL}, {"label_smoothing=0.2", NULL}};
static const double smoothings[] = {0, 0.2};

/* The loss of the only objective; on held-out text it is without smoothing. */
static void check_loss(struct hosted_job *job, xlm_pass_input *input, double wanted, double plain)
{
    assert_true(fabs(run_job(job, input, NULL, NULL) - wanted) < 1e-12);
    input->held_out = true;
    assert_true(fabs(run_job(job, input, NULL, NULL) - plain) < 1e-12);
    input->held_out = false;
    check_gradients_of(job, input);
}

static void check_clm(int smooth)
{
    const xlm_batch of = pair_batch(false);
    /* Of a model with a decoder it is the encoder's. */
    struct hosted_job job = {.batch = &of, .languages = true, .decoder_layers = smooth, .own_embeddings = smooth,
                             .stream = {.name = "text"}};
    add_objective(&job, "clm", &xlm_loss_clm, smoothed[smooth]);
    assert_true(open_job(&job));
    xlm_pass_input input = job_input(&job, 0, 1);
    assert_int_equal(input.terms[0], TOKENS - 2);
    xlm_tape_begin(job.tape, NULL, false, 1, 1);
    xlm_var *h = xlm_model_encode(job.model, job.tape, &of.original, true, XLM_TOP_LAYER, NULL, 0)[2];
    const double plain = next_tokens(&job, "encoder", &of.original, h, 0);
    const double wanted = next_tokens(&job, "encoder", &of.original, h, smoothings[smooth]);
    assert_true((fabs(wanted - plain) > 1e-3) == (smooth == 1));
    check_loss(&job, &input, wanted, plain);
    close_job(&job);
}

static void test_clm(void **state)
{
    (void)state;
    check_clm(0);
    check_clm(1);
}

/* The sides as texts of their own. */
static const int32_t source_offsets[] = {0, 3, 6}, source_ids[] = {0, 7, 2, 0, 5, 2}, source_positions[] = {0, 1, 2, 0, 1, 2};
static const int32_t target_offsets[] = {0, 4, 8}, target_ids[] = {0, 8, 6, 2, 0, 9, 10, 2};
static const int32_t target_positions[] = {0, 1, 2, 3, 0, 1, 2, 3}, ones[] = {1, 1, 1, 1, 1, 1, 1, 1};

static double by_hand(struct hosted_job *job, const xlm_text *source, const xlm_text *target, double smoothing)
{
    xlm_tape_begin(job->tape, NULL, false, 1, 1);
    xlm_var *memory = xlm_model_encode(job->model, job->tape, source, false, XLM_TOP_LAYER, NULL, 0)[2];
    xlm_var *h = xlm_model_decode(job->model, job->tape, target, memory, source->offsets, XLM_TOP_LAYER, NULL, 0)[2];
    return next_tokens(job, "decoder", target, h, smoothing);
}

static void check_translation(int smooth)
{
    const xlm_batch of = pair_batch(false);
    struct hosted_job job = {.batch = &of, .languages = true, .decoder_layers = 2, .own_embeddings = smooth,
                             .stream = {.name = "pairs", .parallel = true}};
    add_objective(&job, "seq2seq", &xlm_loss_seq2seq, smoothed[smooth]);
    assert_true(open_job(&job));
    xlm_pass_input input = job_input(&job, 0, 1);
    assert_int_equal(input.terms[0], 6);
    const xlm_text source = {
        .tokens = 6, .sequences = 2, .offsets = source_offsets, .ids = source_ids, .unmasked = source_ids,
        .positions = source_positions, .languages = zeros, .unswitched = zeros, .types = zeros, .keys = pair_keys,
        .specials = &xlm_own_special_tokens,
    };
    const xlm_text target = {
        .tokens = 8, .sequences = 2, .offsets = target_offsets, .ids = target_ids, .unmasked = target_ids,
        .positions = target_positions, .languages = ones, .unswitched = ones, .types = zeros, .keys = pair_keys,
        .specials = &xlm_own_special_tokens,
    };
    const double plain = by_hand(&job, &source, &target, 0), wanted = by_hand(&job, &source, &target, smoothings[smooth]);
    check_loss(&job, &input, wanted, plain);
    close_job(&job);
}

static void test_seq2seq_translates(void **state)
{
    (void)state;
    check_translation(0);
    check_translation(1);
}

static void test_seq2seq_undoes_noise(void **state)
{
    (void)state;
    const xlm_batch of = pair_batch(true);
    struct hosted_job job = {.batch = &of, .languages = true, .decoder_layers = 2, .stream = {.name = "text", .noise = true}};
    add_objective(&job, "seq2seq", &xlm_loss_seq2seq, NULL);
    assert_true(open_job(&job));
    const xlm_pass_input input = job_input(&job, 0, 1);
    assert_int_equal(input.terms[0], TOKENS - 2);
    const double got = run_job(&job, &input, NULL, NULL);
    assert_true(fabs(got - by_hand(&job, &of.corrupted, &of.original, 0)) < 1e-12);
    check_gradients_of(&job, &input);
    close_job(&job);
}

static void refuse(struct hosted_job job, const char *message)
{
    const xlm_batch of = pair_batch(false);
    job.batch = &of;
    add_objective(&job, "seq2seq", &xlm_loss_seq2seq, NULL);
    refuse_job(&job, message);
}

static void test_refusals(void **state)
{
    (void)state;
    refuse((struct hosted_job){.stream = {.name = "pairs", .parallel = true}},
           "[objective seq2seq]: it needs a decoder, and the model has none; set decoder_layers in [model]");
    refuse((struct hosted_job){.stream = {.name = "text"}, .decoder_layers = 1},
           "[objective seq2seq]: [stream text] has neither pairs to translate nor noise to undo");
    refuse((struct hosted_job){.stream = {.name = "text", .noise = true, .mask = 0.15}, .decoder_layers = 1},
           "which has masks beside noise; set mask = 0 there");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stacks_follow_the_textbook), cmocka_unit_test(test_architectures_follow_the_textbook),
        cmocka_unit_test(test_nothing_is_seen_ahead), cmocka_unit_test(test_memory_weights),
        cmocka_unit_test(test_recompute_and_shapes), cmocka_unit_test(test_clm), cmocka_unit_test(test_seq2seq_translates),
        cmocka_unit_test(test_seq2seq_undoes_noise), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
