/* xlm-mpi: rates of the operators at the shapes of roberta-8 beside those of memory and GEMM.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     kernels [threads]
 *
 * 2048 tokens, 512 wide, 2048 inner. Each line on standard error is the best of many runs: time, rate, and the share of what the
 * machine gives: for products and attention GEMM of 1024 x 1024 matrices, for all else memcpy of an array of the operator's size.
 * Bytes are what an operator must read and write, once each. Standard output has rows for tests/bench/table.sh, forward and
 * backward pass together. */
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gemm/gemm.h"
#include "gemm/hardware.h"
#include "kernels/kernels.h"
#include "tensor/parameters.h"
#include "tensor/variable.h"

enum { TOKENS = 2048, WIDTH = 512, INNER = 2048, WORDS = 40000, MASKED = 307 };
static const double DURATION = 0.15; /* seconds a line */

static double gemm_rate, copy_rate[2]; /* GFLOP/s; GB/s of arrays as large as TOKENS x WIDTH, TOKENS x INNER */

/* ---- memory and GEMM ---- */

static double copy_gigabytes(int64_t n)
{
    float *from = aligned_alloc(64, sizeof(float) * (size_t)n), *to = aligned_alloc(64, sizeof(float) * (size_t)n);
    memset(from, 1, sizeof(float) * (size_t)n);
    memset(to, 1, sizeof(float) * (size_t)n);
    double best = G_MAXDOUBLE;
    for (double begin = xlm_clock(), now = begin; now - begin < DURATION;) {
        enum { BLOCK = 1 << 12 };
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n; i += BLOCK)
            memcpy(to + i, from + i, sizeof(float) * (size_t)MIN(BLOCK, n - i));
        const double end = xlm_clock();
        best = MIN(best, end - now);
        now = end;
    }
    free(from);
    free(to);
    return 2e-9 * sizeof(float) * (double)n / best;
}

static double product_seconds, product_flops; /* of all products together */

static void bench_product(const char *name, bool ta, bool tb, int64_t m, int64_t n, int64_t k, double beta)
{
    float *a = aligned_alloc(64, sizeof(float) * (size_t)(m * k)), *b = aligned_alloc(64, sizeof(float) * (size_t)(n * k));
    float *c = aligned_alloc(64, sizeof(float) * (size_t)(m * n));
    for (int64_t i = 0; i < m * k; i++)
        a[i] = 0.5f;
    for (int64_t i = 0; i < n * k; i++)
        b[i] = 0.25f;
    memset(c, 0, sizeof(float) * (size_t)(m * n));
    double best = G_MAXDOUBLE;
    for (double begin = xlm_clock(), now = begin; now - begin < DURATION;) {
        xlm_gemm(ta, tb, m, n, k, 1, a, ta ? m : k, b, tb ? k : n, beta, c, n);
        const double end = xlm_clock();
        best = MIN(best, end - now);
        now = end;
    }
    const double rate = 2e-9 * (double)(m * n * k) / best;
    product_seconds += best;
    product_flops += 2 * (double)(m * n * k);
    fprintf(stderr, "%-28s %9.0f µs %8.1f GFLOP/s %5.0f %%\n", name, best * 1e6, rate, 100 * rate / gemm_rate);
    free(a);
    free(b);
    free(c);
}

static void bench_layer(const char *name, int64_t out, int64_t in)
{
    char line[64];
    g_snprintf(line, sizeof line, "%s y = x W'", name);
    bench_product(line, false, true, TOKENS, out, in, 1);
    g_snprintf(line, sizeof line, "%s dx = dy W", name);
    bench_product(line, false, false, TOKENS, in, out, 0);
    g_snprintf(line, sizeof line, "%s dW += dy' x", name);
    bench_product(line, true, false, out, in, TOKENS, 1);
}

/* A row of the table: work of `unit` 10⁹/s beside what the machine gives. */
static void print_row(const char *name, double seconds, double work, const char *unit, double machine)
{
    const double rate = 1e-9 * work / seconds;
    printf("row\t%s\t%.0f us, %.1f %s\t%s %.1f %s\t%.2f\n", name, seconds * 1e6, rate, unit, unit[1] == 'F' ? "GEMM" : "memcpy",
           machine, unit, rate / machine);
}

/* ---- operators ---- */

/* An activation: a copy of a parameter whose gradient is wanted and then thrown away; or the end of a graph, that gives y a
 * gradient of ones and notes when it did. */
struct end {
    xlm_var *x;
    double *begin;
};

static void throw_away(void *state) { (void)state; }

static xlm_var *activation(xlm_tape *t, const char *name)
{
    xlm_var *x = xlm_param(t, name), *y = xlm_operator(t, x->rows, x->cols, 1, &x, throw_away, NULL);
    memcpy(y->value, x->value, sizeof(float) * (size_t)(x->rows * x->cols));
    return y;
}

static void give_ones(void *pointer)
{
    const struct end *s = pointer;
    for (int64_t i = 0; i < s->x->rows * s->x->cols; i++)
        s->x->grad[i] = 1;
    *s->begin = xlm_clock();
}

static xlm_var *wide(xlm_tape *t) { return activation(t, "wide"); }
static xlm_var *narrow(xlm_tape *t) { return activation(t, "narrow"); }
static xlm_var *do_gelu(xlm_tape *t, xlm_var *x) { return xlm_gelu(t, x, xlm_param(t, "up_bias")); }
static xlm_var *do_dropout(xlm_tape *t, xlm_var *x) { return xlm_dropout(t, x, 0.1); }
static xlm_var *do_scale(xlm_tape *t, xlm_var *x) { return xlm_scale(t, x, 2); }
static xlm_var *do_add(xlm_tape *t, xlm_var *x) { return xlm_add(t, x, xlm_param(t, "narrow")); }

static xlm_var *do_layer_norm(xlm_tape *t, xlm_var *x)
{
    return xlm_layer_norm(t, x, xlm_param(t, "gamma"), xlm_param(t, "beta"), 1e-5);
}

static xlm_var *do_residual_norm(xlm_tape *t, xlm_var *x)
{
    xlm_var *beta = xlm_param(t, "beta");
    return xlm_residual_norm(t, x, xlm_param(t, "narrow"), beta, 0.1, xlm_param(t, "gamma"), beta, 1e-5);
}

static xlm_var *do_linear(xlm_tape *t, xlm_var *x) { return xlm_linear(t, x, xlm_param(t, "up"), xlm_param(t, "up_bias")); }

static const int32_t *some_rows(int64_t below)
{
    static int32_t index[TOKENS];
    for (int i = 0; i < TOKENS; i++)
        index[i] = (int32_t)((uint64_t)i * 2654435761u % (uint64_t)below);
    return index;
}

static xlm_var *do_rows(xlm_tape *t, xlm_var *x) { return xlm_rows(t, x, some_rows(TOKENS), MASKED); }

static xlm_var *do_embedding(xlm_tape *t, xlm_var *x)
{
    xlm_var *const table[] = {xlm_param(t, "words"), x};
    static int32_t position[TOKENS];
    for (int i = 0; i < TOKENS; i++)
        position[i] = i % 128;
    const int32_t *const index[] = {some_rows(WORDS), position};
    return xlm_embedding_sum(t, 2, table, index, TOKENS, NULL);
}

static xlm_var *do_cosine(xlm_tape *t, xlm_var *x) { return xlm_cosine(t, x, xlm_param(t, "narrow")); }

static xlm_var *do_multiply(xlm_tape *t, xlm_var *x) { return xlm_multiply(t, x, xlm_param(t, "narrow")); }
static xlm_var *do_row_normalise(xlm_tape *t, xlm_var *x) { return xlm_row_normalise(t, x); }

static xlm_var *do_sequence_mean(xlm_tape *t, xlm_var *x)
{
    enum { SENTENCE = 32 };
    int32_t offsets[TOKENS / SENTENCE + 1];
    for (int i = 0; i <= TOKENS / SENTENCE; i++)
        offsets[i] = i * SENTENCE;
    return xlm_sequence_mean(t, x, offsets, TOKENS / SENTENCE, NULL);
}

static const struct operator_line {
    const char *name;
    xlm_var *(*input)(xlm_tape *t), *(*operate)(xlm_tape *t, xlm_var *x);
    double forward, backward; /* arrays of TOKENS x `cols` read and written, once each */
    int cols;
} operators[] = {
    {"layer_norm 2048 x 512", narrow, do_layer_norm, 2, 3, WIDTH},
    {"residual_norm 2048x512", narrow, do_residual_norm, 4, 5, WIDTH},
    {"gelu 2048 x 2048", wide, do_gelu, 2, 3, INNER},
    {"dropout 2048 x 512", narrow, do_dropout, 2, 2, WIDTH},
    {"add 2048 x 512", narrow, do_add, 3, 3, WIDTH},
    {"scale 2048 x 512", narrow, do_scale, 2, 2, WIDTH},
    {"embedding_sum 2 tables", narrow, do_embedding, 3, 6, WIDTH},
    {"rows 307 of 2048 x 512", narrow, do_rows, 2.0 * MASKED / TOKENS, 1 + 3.0 * MASKED / TOKENS, WIDTH},
    {"cosine 2048 x 512", narrow, do_cosine, 2, 5, WIDTH},
    {"multiply 2048 x 512", narrow, do_multiply, 3, 5, WIDTH},
    {"row_normalise 2048x512", narrow, do_row_normalise, 2, 3, WIDTH},
    {"sequence_mean of 32", narrow, do_sequence_mean, 1, 1, WIDTH},
};

static void print_bytes(const char *name, const char *way, double seconds, double arrays, int cols)
{
    const double rate = 1e-9 * arrays * sizeof(float) * TOKENS * cols / seconds;
    fprintf(stderr, "%-22s %-8s %9.0f µs %8.1f GB/s    %5.0f %%\n", name, way, seconds * 1e6, rate,
           100 * rate / copy_rate[cols == INNER]);
}

static void time_operator(xlm_tape *t, float *gradient, const struct operator_line *o, double *forward, double *backward)
{
    *forward = *backward = G_MAXDOUBLE;
    for (double begin = xlm_clock(); xlm_clock() - begin < 2 * DURATION;) {
        xlm_tape_begin(t, gradient, true, 1, 1);
        xlm_var *x = o->input(t);
        const double start = xlm_clock();
        xlm_var *y = o->operate(t, x);
        *forward = MIN(*forward, xlm_clock() - start);
        double backward_begin = 0;
        struct end *s = xlm_tape_take(t, sizeof *s);
        *s = (struct end){.x = y, .begin = &backward_begin};
        xlm_var *root = xlm_operator(t, 1, 1, 1, &y, give_ones, s);
        xlm_tape_seed(t, root, 1);
        xlm_tape_backward(t);
        *backward = MIN(*backward, xlm_clock() - backward_begin);
    }
}

static void bench_operators(xlm_tape *t, float *gradient)
{
    double forward, backward;
    for (size_t k = 0; k < G_N_ELEMENTS(operators); k++) {
        time_operator(t, gradient, &operators[k], &forward, &backward);
        print_bytes(operators[k].name, "forward", forward, operators[k].forward, operators[k].cols);
        print_bytes(operators[k].name, "backward", backward, operators[k].backward, operators[k].cols);
        print_row(operators[k].name, forward + backward,
                  (operators[k].forward + operators[k].backward) * sizeof(float) * TOKENS * operators[k].cols,
                  "GB/s", copy_rate[operators[k].cols == INNER]);
    }
    const struct operator_line linear = {"linear", narrow, do_linear, 0, 0, 0};
    time_operator(t, gradient, &linear, &forward, &backward);
    const double flops = 2e-9 * TOKENS * WIDTH * INNER;
    fprintf(stderr, "%-28s %9.0f µs %8.1f GFLOP/s %5.0f %%\n", "linear 512 to 2048, forward", forward * 1e6, flops / forward,
           100 * flops / forward / gemm_rate);
    fprintf(stderr, "%-28s %9.0f µs %8.1f GFLOP/s %5.0f %%\n", "linear 512 to 2048, backward", backward * 1e6,
           2 * flops / backward, 200 * flops / backward / gemm_rate);
}

/* ---- attention ---- */

enum { HEADS = 8 };
static int32_t length; /* of all sequences */
static bool causal;    /* queries see the keys up to their own */

static xlm_var *do_attention(xlm_tape *t, xlm_var *x)
{
    static int32_t offsets[TOKENS / 16 + 1], visible[TOKENS];
    const int32_t sequences = TOKENS / length;
    for (int32_t q = 0; q <= sequences; q++)
        offsets[q] = q * length;
    for (int32_t i = 0; i < TOKENS; i++)
        visible[i] = i % length + 1;
    const xlm_attention_inputs inputs = {.query = x, .key = x, .value = x, .key_column = WIDTH, .value_column = 2 * WIDTH,
                                         .width = WIDTH, .heads = HEADS, .visible = causal ? visible : NULL, .offsets = offsets,
                                         .sequences = sequences, .dropout = 0.1};
    return xlm_attention(t, &inputs);
}

static xlm_var *triple(xlm_tape *t) { return activation(t, "triple"); }

static void bench_attention(xlm_tape *t, float *gradient)
{
    const struct operator_line attention = {"attention", triple, do_attention, 0, 0, 0};
    for (length = 16; length <= 512; length *= 2) {
        double forward, backward, both[2];
        char name[64];
        for (int i = 0; i < 2; i++) {
            causal = i == 1;
            time_operator(t, gradient, &attention, &forward, &backward);
            both[i] = forward + backward;
            g_snprintf(name, sizeof name, "%sattention, %d tokens a sequence", causal ? "causal " : "", length);
            fprintf(stderr, "%-43s forward %9.0f µs, backward %9.0f µs\n", name, forward * 1e6, backward * 1e6);
            if (!causal) /* two products forward; four backward, and one computed again */
                print_row(name, both[0], 6 * 2.0 * TOKENS * length * WIDTH, "GFLOP/s", gemm_rate);
        }
        printf("row\t%s\t%.0f us\tall keys %.0f us\t%.2f\n", name, both[1] * 1e6, both[0] * 1e6, both[0] / both[1]);
    }
    causal = false;
}

/* ---- InfoNCE with a queue, as in momentum contrast: 128 sentences, 16,384 negatives without gradient ---- */

enum { SENTENCES = 128, QUEUE = 16384 };

static xlm_var *do_info_nce(xlm_tape *t, xlm_var *x)
{
    const xlm_var *words = xlm_param(t, "words");
    xlm_var *q = xlm_rows(t, x, some_rows(TOKENS), SENTENCES), *k = xlm_rows(t, x, some_rows(TOKENS) + SENTENCES, SENTENCES);
    return xlm_info_nce(t, q, k, xlm_constant(t, QUEUE, WIDTH, words->value), 0.05, NULL);
}

static void bench_info_nce(xlm_tape *t, float *gradient)
{
    const struct operator_line line = {"info_nce", narrow, do_info_nce, 0, 0, 0};
    double forward, backward;
    time_operator(t, gradient, &line, &forward, &backward);
    fprintf(stderr, "%-36s forward %9.0f µs, backward %9.0f µs\n", "info_nce, 128 of 16,384", forward * 1e6, backward * 1e6);
    print_row("info_nce, 128 of 16,384", forward + backward, 4.0 * SENTENCES * QUEUE * WIDTH, "GFLOP/s", gemm_rate);
}

static xlm_parameters *make_parameters(void)
{
    xlm_parameters *p = xlm_parameters_new();
    xlm_parameters_add(p, "narrow", TOKENS, WIDTH, XLM_INIT_NORMAL, true);
    xlm_parameters_add(p, "wide", TOKENS, INNER, XLM_INIT_NORMAL, true);
    xlm_parameters_add(p, "triple", TOKENS, 3 * WIDTH, XLM_INIT_NORMAL, true);
    xlm_parameters_add(p, "words", WORDS, WIDTH, XLM_INIT_NORMAL, true);
    xlm_parameters_add(p, "up", INNER, WIDTH, XLM_INIT_NORMAL, true);
    xlm_parameters_add(p, "up_bias", 1, INNER, XLM_INIT_ZERO, true);
    xlm_parameters_add(p, "gamma", 1, WIDTH, XLM_INIT_ONE, true);
    xlm_parameters_add(p, "beta", 1, WIDTH, XLM_INIT_ZERO, true);
    xlm_parameters_seal(p);
    xlm_parameters_initialise(p, 1);
    return p;
}

int main(int argc, char **argv)
{
    xlm_hardware hardware;
    xlm_hardware_open(&hardware, argc > 1 ? atoi(argv[1]) : 0, 1);
    xlm_hardware_measure(&hardware, false, XLM_FLOAT32, HUGE_VAL);
    gemm_rate = hardware.gemm_gflops;
    copy_rate[0] = copy_gigabytes(TOKENS * WIDTH);
    copy_rate[1] = copy_gigabytes(TOKENS * INNER);
    if (hardware.threads == 1)
        printf("machine\tBLIS kernels\t%s (%s); own kernels %s\n", hardware.blis, hardware.choice, xlm_kernels_get()->name);
    printf("machine\tcores: %d\tGEMM 1024 x 1024 x 1024 %.1f GFLOP/s; memcpy, read and written, %.1f GB/s of 256 MiB, %.1f of "
           "16, %.1f of 4\n", hardware.threads, gemm_rate, copy_gigabytes(64 << 20), copy_rate[1], copy_rate[0]);
    printf("section\toperators forward and backward, 2048 tokens, %d thread%s, beside GEMM or memcpy\n", hardware.threads,
           hardware.threads > 1 ? "s" : "");

    bench_layer("qkv 512:1536", 3 * WIDTH, WIDTH);
    bench_layer("out 512:512", WIDTH, WIDTH);
    bench_layer("up 512:2048", INNER, WIDTH);
    bench_layer("down 2048:512", WIDTH, INNER);
    print_row("products of a layer", product_seconds, product_flops, "GFLOP/s", gemm_rate);

    xlm_parameters *p = make_parameters();
    xlm_tape *t = xlm_tape_new(p);
    float *gradient = g_new0(float, xlm_parameters_size(p));
    bench_attention(t, gradient);
    bench_operators(t, gradient);
    bench_info_nce(t, gradient);
    g_free(gradient);
    xlm_tape_free(t);
    xlm_parameters_free(p);
    return 0;
}
