/* xlm-mpi: forward and backward through whole models, beside their own matrix products with nothing between them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     step [threads [rounds]]            a line of the table (tests/bench/table.sh) for each model; recomputing with several
 *                                        threads only
 *     step THREADS ROUNDS model N        the lines of the N-th model alone, from 0
 *     step THREADS ROUNDS yardstick      GFLOP/s of roberta-8's yardstick alone
 *     step THREADS ROUNDS profile        where the time of roberta-8's passes goes, by operator, a table for each way to
 *                                        multiply; profile N: for the N-th alone, from 0 (-1: for all); profile N M: of the M-th
 *                                        model
 *
 * A round is a step (encode, masked language modelling, backward; dropout on; no optimiser; with a decoder, each sequence is
 * translated into itself) and then the yardstick: the same
 * products in the same shapes, transposes and order, each layer with weights and activations of its own. Attention's
 * products are not in the yardstick, but are counted in the step's rate; products made again (recompute) are in neither.
 * Machines shared with others give other rates from minute to minute, so the share is the median over rounds of step and
 * yardstick measured in turn. So are the steps with oneDNN's products, in float32 and in bfloat16 where the processor has it,
 * whose rows give their speed beside that of the step with BLIS's; and in bfloat16 a row gives their rate beside that of the same
 * products with all factors rounded and packed beforehand. */
#include <glib.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/pages.h"
#include "base/rng.h"
#include "gemm/gemm.h"
#include "gemm/hardware.h"
#include "kernels/kernels.h"
#include "nn/model.h"
#include "options/options.h"
#include "subwords/special_tokens.h"
#include "tensor/parameters.h"
#include "tensor/profile.h"

struct test {
    const char *name;
    int64_t layers, decoder_layers, d, heads, vocabulary;
    int32_t tokens, longest;
    bool mixed; /* lengths from longest / 32 to longest, else all longest */
    bool recompute;
    const char *goal; /* for the step's share of its products, or NULL */
};

static const struct test tests[] = {
    {"roberta-8, 16 x 128", 8, 0, 512, 8, 40000, 2048, 128, false, false, NULL},
    {"roberta-8, recomputing", 8, 0, 512, 8, 40000, 2048, 128, false, true, NULL},
    {"roberta-8, 8 to 256 tokens", 8, 0, 512, 8, 40000, 2048, 256, true, false, NULL},
    {"base, 4 x 512", 12, 0, 768, 12, 30000, 2048, 512, false, false, ">= 0.85"},
    {"small, 16 x 128", 4, 0, 128, 4, 8000, 2048, 128, false, false, NULL},
    {"translation 6 + 6, 64 x 32", 6, 6, 512, 8, 32000, 2048, 32, false, false, ">= 0.9"},
};

static const double MASKED = 0.15;

/* Who makes products, the yardstick's first. */
static const struct way {
    const char *name;
    bool packs;
    xlm_precision precision;
} ways[] = {{"BLIS", false, XLM_FLOAT32}, {"oneDNN", true, XLM_FLOAT32}, {"oneDNN, bfloat16", true, XLM_BFLOAT16}};
enum { WAYS = G_N_ELEMENTS(ways) };

static void *take(int64_t n, size_t size)
{
    void *memory = xlm_pages_take((size_t)n * size, "the benchmark"); /* as gradients and parameters are in training */
    memset(memory, 0, (size_t)n * size);
    return memory;
}

static uint32_t draw(uint32_t which, int32_t i, uint32_t below)
{
    return xlm_rng_below(xlm_rng_draw((xlm_rng_key){{4, 2}}, (uint32_t)i, which, 0, 0).v[0], below);
}

/* ---- the batch ---- */

struct batch {
    int32_t *offsets, *ids, *positions, *zeros, *predicted_rows, *targets;
    xlm_row_key *keys;
    xlm_batch batch;
};

static void add_sequence(struct batch *b, const struct test *t, int32_t sequence, int32_t first, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const int32_t row = first + i;
        b->ids[row] = XLM_SPECIALS + (int32_t)draw(0, row, (uint32_t)t->vocabulary - XLM_SPECIALS);
        b->positions[row] = i;
        b->keys[row] = (xlm_row_key){(uint32_t)sequence, (uint32_t)i};
    }
    b->offsets[sequence + 1] = first + n;
}

static void make_batch(struct batch *b, const struct test *t)
{
    const int32_t n = t->tokens, masked = (int32_t)(MASKED * n);
    int32_t *const arrays = take(6 * (n + 1), sizeof *arrays);
    *b = (struct batch){
        .offsets = arrays, .ids = arrays + (n + 1), .positions = arrays + 2 * (n + 1), .zeros = arrays + 3 * (n + 1),
        .predicted_rows = arrays + 4 * (n + 1), .targets = arrays + 5 * (n + 1), .keys = take(n, sizeof(xlm_row_key)),
    };
    int32_t sequences = 0;
    for (int32_t first = 0; first < n; sequences++) {
        const int32_t min_length = t->longest / 32,
            length = t->mixed ? min_length + (int32_t)draw(1, sequences, (uint32_t)(t->longest - min_length + 1)) : t->longest;
        add_sequence(b, t, sequences, first, MIN(length, n - first));
        first = b->offsets[sequences + 1];
    }
    for (int32_t i = 0; i < masked; i++) {
        b->predicted_rows[i] = (int32_t)((int64_t)i * n / masked);
        b->targets[i] = b->ids[b->predicted_rows[i]];
        b->ids[b->predicted_rows[i]] = XLM_ID_MASK;
    }
    b->batch = (xlm_batch){
        .corrupted = {
            .tokens = n, .sequences = sequences, .offsets = b->offsets, .ids = b->ids, .unmasked = b->ids,
            .positions = b->positions, .languages = b->zeros, .unswitched = b->zeros, .types = b->zeros, .keys = b->keys,
            .specials = &xlm_own_special_tokens,
        },
        .predicted = masked, .predicted_rows = b->predicted_rows, .targets = b->targets,
    };
}

/* ---- the yardstick ---- */

/* A linear layer, n rows. Outputs are made, gradients of inputs assigned, gradients of weights added to. */
struct linear {
    int64_t n, in, out;
    float *x, *w, *y, *dw;
};

struct yardstick {
    int linears;
    struct linear linear[4 * 64 + 3]; /* of up to 64 layers, the last one's query, and the head; 7 of a decoder's layer */
    float *dy, *dx;                   /* memory that all gradients of activations share */
};

static float *numbers(int64_t n, double deviation)
{
    float *x = take(n, sizeof *x);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(deviation * (2 * xlm_rng_unit(xlm_rng_draw((xlm_rng_key){{6, 6}}, (uint32_t)i, 0, 0, 0).v[0]) - 1));
    return x;
}

static void add_linear(struct yardstick *y, int64_t n, int64_t in, int64_t out, float *x)
{
    y->linear[y->linears++] = (struct linear){
        .n = n, .in = in, .out = out, .x = x, .w = numbers(in * out, 0.02), .y = take(n * out, sizeof(float)),
        .dw = take(in * out, sizeof(float))};
}

static float *last_output(const struct yardstick *y) { return y->linear[y->linears - 1].y; }

/* Of x, t rows, which all attend to one another, but only so many are wanted. Returns the output. */
static float *add_encoder_layer(struct yardstick *y, const xlm_model_config *c, int64_t t, int64_t rows, float *x)
{
    const int64_t d = c->hidden_size, f = c->feed_forward_size;
    add_linear(y, t, d, rows < t ? 2 * d : 3 * d, x);
    if (rows < t)
        add_linear(y, rows, d, d, numbers(rows * d, 1));
    add_linear(y, rows, d, d, numbers(rows * d, 1)); /* of what attention made */
    add_linear(y, rows, d, f, last_output(y));
    add_linear(y, rows, f, d, last_output(y));
    return last_output(y);
}

/* With a memory of as many rows. */
static float *add_decoder_layer(struct yardstick *y, const xlm_model_config *c, int64_t t, float *x)
{
    const int64_t d = c->hidden_size, f = c->feed_forward_size;
    add_linear(y, t, d, 3 * d, x);
    add_linear(y, t, d, d, numbers(t * d, 1));
    add_linear(y, t, d, d, last_output(y));
    add_linear(y, t, d, 2 * d, numbers(t * d, 1));
    add_linear(y, t, d, d, numbers(t * d, 1));
    add_linear(y, t, d, f, last_output(y));
    add_linear(y, t, f, d, last_output(y));
    return last_output(y);
}

/* Rows whose tokens are predicted. */
static int64_t predicted_of(const struct batch *b, const xlm_model_config *c)
{
    return c->decoder_layers > 0 ? b->batch.corrupted.tokens - b->batch.corrupted.sequences : b->batch.predicted;
}

/* An encoder's last layer is computed for predicted rows, but for keys and values. */
static void make_yardstick(struct yardstick *y, const xlm_model_config *c, const struct batch *b)
{
    const int64_t t = b->batch.corrupted.tokens, m = predicted_of(b, c), d = c->hidden_size, f = c->feed_forward_size,
                  v = c->vocabulary;
    y->linears = 0;
    float *x = numbers(t * d, 1);
    for (int64_t l = 0; l < c->layers; l++)
        x = add_encoder_layer(y, c, t, l == c->layers - 1 && c->decoder_layers == 0 ? m : t, x);
    for (int64_t l = 0; l < c->decoder_layers; l++)
        x = add_decoder_layer(y, c, t, x);
    add_linear(y, m, d, d, x);
    add_linear(y, m, d, v, last_output(y));
    y->dy = numbers(MAX(t * MAX(f, 3 * d), m * v), 0.01);
    y->dx = take(t * MAX(f, d), sizeof(float));
}

static void free_yardstick(struct yardstick *y)
{
    for (int i = 0; i < y->linears; i++) {
        struct linear *l = &y->linear[i];
        if (i == 0 || l->x != l[-1].y)
            free(l->x);
        free(l->w);
        free(l->dw);
    }
    for (int i = 0; i < y->linears; i++)
        free(y->linear[i].y);
    free(y->dy);
    free(y->dx);
}

static void run_yardstick(const struct yardstick *y)
{
    for (int i = 0; i < y->linears; i++) {
        const struct linear *l = &y->linear[i];
        xlm_gemm(false, true, l->n, l->out, l->in, 1, l->x, l->in, l->w, l->in, 1, l->y, l->out);
    }
    for (int i = y->linears; i-- > 0;) {
        const struct linear *l = &y->linear[i];
        xlm_gemm(false, false, l->n, l->in, l->out, 1, y->dy, l->out, l->w, l->in, 0, y->dx, l->in);
        xlm_gemm(true, false, l->out, l->in, l->n, 1, y->dy, l->out, l->x, l->in, 1, l->dw, l->in);
    }
}

/* The same in bfloat16, all factors rounded and packed before the clock runs. */
struct rounded_linear {
    const struct linear *l;
    uint16_t *x, *dy;
    xlm_packed *forward, *backward, *rows; /* Wᵀ, W, x */
};

static uint16_t *halves(const float *x, int64_t n)
{
    uint16_t *y = take(n, sizeof *y);
    xlm_kernels_get()->to_bfloat16(n, x, y);
    return y;
}

static struct rounded_linear *round_yardstick(const struct yardstick *y)
{
    struct rounded_linear *all = g_new0(struct rounded_linear, y->linears);
    for (int i = 0; i < y->linears; i++) {
        const struct linear *l = &y->linear[i];
        all[i] = (struct rounded_linear){.l = l, .x = halves(l->x, l->n * l->in), .dy = halves(y->dy, l->n * l->out),
                                         .forward = xlm_packed_new(), .backward = xlm_packed_new(), .rows = xlm_packed_new()};
        xlm_packed_set(all[i].forward, XLM_BFLOAT16, true, l->in, l->out, l->w);
        xlm_packed_set(all[i].backward, XLM_BFLOAT16, false, l->out, l->in, l->w);
        xlm_packed_set(all[i].rows, XLM_BFLOAT16, false, l->n, l->in, l->x);
    }
    return all;
}

static void free_rounded(struct rounded_linear *all, int n)
{
    for (int i = 0; i < n; i++) {
        free(all[i].x);
        free(all[i].dy);
        xlm_packed_free(all[i].forward);
        xlm_packed_free(all[i].backward);
        xlm_packed_free(all[i].rows);
    }
    g_free(all);
}

static void run_rounded(const struct rounded_linear *all, int n, float *dx)
{
    for (int i = 0; i < n; i++)
        xlm_packed_multiply(all[i].forward, all[i].l->n, false, xlm_rounded(all[i].x), NULL, false, all[i].l->y);
    for (int i = n; i-- > 0;) {
        xlm_packed_multiply(all[i].backward, all[i].l->n, false, xlm_rounded(all[i].dy), NULL, false, dx);
        xlm_packed_multiply(all[i].rows, all[i].l->out, true, xlm_rounded(all[i].dy), NULL, true, all[i].l->dw);
    }
}

/* ---- rounds ---- */

static xlm_var *translate(const xlm_model *model, xlm_tape *tape, const xlm_text *text)
{
    const xlm_model_config *c = xlm_model_get_config(model);
    const xlm_lm_settings settings = {.label_smoothing = 0.1};
    xlm_var *memory = xlm_model_encode(model, tape, text, false, XLM_TOP_LAYER, NULL, 0)[c->layers];
    xlm_var **states = xlm_model_decode(model, tape, text, memory, text->offsets, XLM_TOP_LAYER, NULL, 0);
    return xlm_lm_next_tokens(model, tape, XLM_STACK_DECODER, text, states[c->decoder_layers], &settings, NULL);
}

static xlm_var *forward_pass(const xlm_model *model, xlm_tape *tape, const xlm_batch *b)
{
    if (xlm_model_get_config(model)->decoder_layers > 0)
        return translate(model, tape, &b->corrupted);
    xlm_var **hidden = xlm_model_encode(model, tape, &b->corrupted, false, XLM_TOP_LAYER, b->predicted_rows, b->predicted);
    return xlm_lm_cross_entropy(model, tape, XLM_STACK_ENCODER, hidden[xlm_model_get_config(model)->layers], b->targets,
                                NULL, NULL);
}

static void run_step(const xlm_model *model, xlm_tape *tape, const xlm_batch *b, float *gradients, uint64_t step)
{
    xlm_tape_begin(tape, gradients, true, 1, step);
    xlm_tape_seed(tape, forward_pass(model, tape, b), 1);
    xlm_tape_backward(tape);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, ascending);
    return (x[(n - 1) / 2] + x[n / 2]) / 2;
}

/* A model of a test, and what its steps work on. */
struct trained {
    xlm_model_config config;
    xlm_parameters *parameters;
    xlm_model *model;
    float *gradients;
    xlm_tape *tape;
    struct batch batch;
};

static struct trained make_trained(const struct test *t)
{
    struct trained m = {0};
    xlm_options_defaults(xlm_model_options, &m.config, NULL);
    m.config.layers = t->layers, m.config.decoder_layers = t->decoder_layers;
    m.config.hidden_size = t->d, m.config.attention_heads = t->heads;
    m.config.vocabulary = t->vocabulary, m.config.languages = 1;
    xlm_model_check(&m.config, NULL);
    m.parameters = xlm_parameters_new();
    m.model = xlm_model_new(&m.config, m.parameters);
    xlm_parameters_seal(m.parameters);
    xlm_parameters_initialise(m.parameters, 1);
    m.gradients = take(xlm_parameters_size(m.parameters), sizeof *m.gradients);
    m.tape = xlm_tape_new(m.parameters);
    make_batch(&m.batch, t);
    return m;
}

static void free_trained(struct trained *m)
{
    free(m->batch.offsets);
    free(m->batch.keys);
    xlm_tape_free(m->tape);
    free(m->gradients);
    xlm_model_free(m->model);
    xlm_parameters_free(m->parameters);
}

/* For a model: seconds of a step, bytes of its pass. */
struct cost {
    double seconds, bytes;
};

/* Operations of a step; the forward pass is a third of it. Recomputing layers is not counted. */
static double count_flops(const struct trained *m)
{
    xlm_tape *shapes = xlm_tape_new_of_shapes(m->parameters);
    const double before = xlm_gemm_flops();
    xlm_tape_begin(shapes, XLM_NO_NUMBERS, true, 1, 0);
    forward_pass(m->model, shapes, &m->batch.batch);
    const double flops = 3 * (xlm_gemm_flops() - before);
    xlm_tape_free(shapes);
    return flops;
}

static struct cost run_test(const struct test *t, int rounds, bool yardstick_alone)
{
    struct trained m = make_trained(t);
    xlm_tape *tape = m.tape;
    xlm_tape_recompute(tape, t->recompute);
    struct yardstick y;
    make_yardstick(&y, &m.config, &m.batch);
    bool there[WAYS];
    for (int w = 0; w < WAYS; w++) {
        there[w] = !yardstick_alone && (w == 0 || (!t->recompute && xlm_packed_lacks(ways[w].precision) == NULL));
        for (int i = 0; i < 2 && there[w]; i++) { /* the second has its memory in one block, touched for the first time */
            xlm_tape_multiply_by(tape, ways[w].packs, ways[w].precision);
            run_step(m.model, tape, &m.batch.batch, m.gradients, 0);
        }
    }
    run_yardstick(&y);
    const int half = WAYS - 1;
    struct rounded_linear *rounded = there[half] ? round_yardstick(&y) : NULL;
    if (rounded != NULL)
        run_rounded(rounded, y.linears, y.dx);

    double *other[WAYS], *faster = g_new(double, rounds);
    for (int w = 0; w < WAYS; w++)
        other[w] = g_new0(double, rounds);
    double *step = g_new(double, rounds), *products = g_new(double, rounds), *share = g_new(double, rounds), yardstick_flops = 0;
    double *rounded_seconds = g_new0(double, rounds), *rounded_share = g_new0(double, rounds);
    const double flops = count_flops(&m);
    for (int i = 0; i < rounds; i++) {
        for (int w = 1; w < WAYS; w++) {
            const double begin = xlm_clock();
            xlm_tape_multiply_by(tape, ways[w].packs, ways[w].precision);
            if (there[w])
                run_step(m.model, tape, &m.batch.batch, m.gradients, (uint64_t)i);
            other[w][i] = xlm_clock() - begin;
        }
        const double begin = xlm_clock();
        if (rounded != NULL)
            run_rounded(rounded, y.linears, y.dx);
        rounded_seconds[i] = xlm_clock() - begin;
        xlm_tape_multiply_by(tape, false, XLM_FLOAT32);
        const double start = xlm_clock();
        if (!yardstick_alone)
            run_step(m.model, tape, &m.batch.batch, m.gradients, (uint64_t)i);
        const double middle = xlm_clock(), before = xlm_gemm_flops();
        run_yardstick(&y);
        yardstick_flops = xlm_gemm_flops() - before;
        step[i] = middle - start;
        products[i] = xlm_clock() - middle;
        share[i] = (flops / step[i]) / (yardstick_flops / products[i]);
        rounded_share[i] = (flops / other[half][i]) / (yardstick_flops / rounded_seconds[i]);
    }
    const struct cost cost = {median(step, rounds), (double)xlm_tape_peak_bytes(tape)};
    const double rate = 1e-9 * yardstick_flops / median(products, rounds);
    if (yardstick_alone)
        printf("%.1f\n", rate);
    else
        printf("row\t%s, %d thread%s\t%.0f tokens/s, %.1f GFLOP/s\t%.1f GFLOP/s\t%.2f%s%s\n", t->name, omp_get_max_threads(),
               omp_get_max_threads() > 1 ? "s" : "", t->tokens / cost.seconds, 1e-9 * flops / cost.seconds, rate,
               median(share, rounds), t->goal != NULL ? "\t" : "", t->goal != NULL ? t->goal : "");
    for (int w = 1; w < WAYS; w++) {
        for (int i = 0; i < rounds; i++)
            faster[i] = step[i] / other[w][i];
        const double ratio = median(faster, rounds), seconds = median(other[w], rounds);
        if (there[w])
            printf("row\t  %s beside BLIS\t%.0f tokens/s, %.1f GFLOP/s\t%.0f tokens/s\t%.2f\n", ways[w].name, t->tokens / seconds,
                   1e-9 * flops / seconds, t->tokens / cost.seconds, ratio);
        if (there[w] && w == half)
            printf("row\t  %s beside its products\t%.1f GFLOP/s\t%.1f GFLOP/s\t%.2f\t>= 0.85\n", ways[w].name,
                   1e-9 * flops / seconds,
                   1e-9 * yardstick_flops / median(rounded_seconds, rounds), median(rounded_share, rounds));
        g_free(other[w]);
    }
    g_free(other[0]);
    if (rounded != NULL)
        free_rounded(rounded, y.linears);
    g_free(rounded_seconds);
    g_free(rounded_share);
    g_free(faster);
    fflush(stdout);
    g_free(step);
    g_free(products);
    g_free(share);
    free_yardstick(&y);
    free_trained(&m);
    return cost;
}

/* Milliseconds of a pass, by operator; the ways take turns. */
static void show_profile(const struct test *t, int rounds, int only)
{
    struct trained m = make_trained(t);
    xlm_tape *tape = m.tape;
    xlm_profile *profile[WAYS];
    for (int w = 0; w < WAYS; w++)
        profile[w] = xlm_profile_new();
    for (int i = -2; i < rounds; i++)
        for (int w = 0; w < WAYS; w++) {
            if ((only >= 0 && only != w) || (ways[w].packs && xlm_packed_lacks(ways[w].precision) != NULL))
                continue;
            xlm_tape_multiply_by(tape, ways[w].packs, ways[w].precision);
            xlm_tape_profile(tape, i < 0 ? NULL : profile[w]);
            run_step(m.model, tape, &m.batch.batch, m.gradients, (uint64_t)i);
        }
    for (int w = 0; w < WAYS; w++) {
        int n;
        const xlm_profile_row *row = xlm_profile_rows(profile[w], &n);
        double total = 0;
        for (int i = 0; i < n; i++)
            total += row[i].seconds;
        if (n > 0)
            printf("%s: %.1f ms\n", ways[w].name, 1e3 * total / rounds);
        for (int i = 0; i < n; i++)
            printf("  %-24s %-8s %8.2f ms %5.1f %% %8.1f GFLOP/s\n", row[i].name, row[i].backward ? "backward" : "forward",
                   1e3 * row[i].seconds / rounds, 100 * row[i].seconds / total, 1e-9 * row[i].flops / row[i].seconds);
        xlm_profile_free(profile[w]);
    }
    free_trained(&m);
}

int main(int argc, char **argv)
{
    xlm_hardware hardware;
    xlm_hardware_open(&hardware, argc > 1 ? atoi(argv[1]) : 0, 1);
    const int rounds = argc > 2 ? atoi(argv[2]) : 5;
    if (argc > 3 && strcmp(argv[3], "profile") == 0) {
        const int model = argc > 5 ? atoi(argv[5]) : 0;
        show_profile(&tests[CLAMP(model, 0, (int)G_N_ELEMENTS(tests) - 1)], rounds, argc > 4 ? atoi(argv[4]) : -1);
        return 0;
    }
    if (argc > 4 && strcmp(argv[3], "model") == 0) {
        run_test(&tests[CLAMP(atoi(argv[4]), 0, (int)G_N_ELEMENTS(tests) - 1)], rounds, false);
        return 0;
    }
    if (argc > 3) {
        run_test(&tests[0], rounds, true);
        return 0;
    }
    struct cost keeping = {0, 0};
    for (size_t i = 0; i < G_N_ELEMENTS(tests); i++) {
        if (tests[i].recompute && hardware.threads == 1)
            continue; /* it takes long, and shows nothing that several threads do not */
        const struct cost cost = run_test(&tests[i], rounds, false);
        if (tests[i].recompute) {
            printf("row\t  recomputing, memory of a pass\t%.0f MB\t%.0f MB\t%.2f\n", 1e-6 * cost.bytes, 1e-6 * keeping.bytes,
                   cost.bytes / keeping.bytes);
            printf("row\t  recomputing, time of a pass\t%.3f s\t%.3f s\t%.2f\n", cost.seconds, keeping.seconds,
                   cost.seconds / keeping.seconds);
        }
        keeping = cost;
    }
    return 0;
}
