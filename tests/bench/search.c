/* xlm-mpi: speed of search, 6 + 6 layers x 512. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     search THREADS WAY SENTENCES TOKENS BEAM         tokens/s of the texts, encoding among it; GB/s of the parameters, each
 *                                                      read once a step, during the search alone; tokens
 *     search THREADS WAY SENTENCES TOKENS BEAM again   seconds of greedy search and of the same without cache, all computed again
 *                                                      for each token
 *     search THREADS WAY SENTENCES TOKENS BEAM profile where the time goes, by operator
 *     search THREADS read                              GB/s of adding up 1 GiB
 *
 * WAY is blis, onednn or bfloat16. Sources have TOKENS tokens. The model is not trained, so texts do not end before TOKENS: all
 * runs compute the same number of rows. The median of three, after one that does not count. */
#include <glib.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xlm/search.h>

#include "base/log.h"
#include "base/rng.h"
#include "gemm/hardware.h"
#include "gemm/packed.h"
#include "nn/model.h"
#include "options/options.h"
#include "subwords/special_tokens.h"
#include "tensor/parameters.h"
#include "tensor/profile.h"

enum { LAYERS = 6, D = 512, HEADS = 8, V = 32000, ROUNDS = 3 };

struct bench {
    xlm_parameters *parameters;
    xlm_model *model;
    xlm_tape *tape;
    int32_t sentences, tokens, beam;
    int32_t *ids, *positions, *zeros, *offsets, *max_tokens, *last;
    int32_t *written; /* [sentences x (tokens + 1)] */
    double seconds;   /* of the search alone */
    int64_t made;     /* tokens of the best texts */
};

static void make_text(struct bench *b)
{
    const int32_t n = b->sentences * (b->tokens + 1);
    b->ids = g_new(int32_t, n);
    b->positions = g_new(int32_t, n);
    b->zeros = g_new0(int32_t, n);
    b->written = g_new0(int32_t, n);
    b->last = g_new(int32_t, b->sentences);
    b->offsets = g_new(int32_t, b->sentences + 1);
    b->max_tokens = g_new(int32_t, b->sentences);
    for (int32_t i = 0; i < n; i++)
        b->ids[i] = XLM_SPECIALS + (int32_t)xlm_rng_below(
            xlm_rng_draw((xlm_rng_key){{4, 2}}, (uint32_t)i, 0, 0, 0).v[0], V - XLM_SPECIALS);
    for (int32_t i = 0; i < b->sentences; i++)
        b->max_tokens[i] = b->tokens;
}

/* All sentences have `length` tokens. */
static xlm_text text_of(struct bench *b, const int32_t *ids, int32_t length)
{
    for (int32_t i = 0; i < b->sentences * length; i++)
        b->positions[i] = i % length;
    for (int32_t i = 0; i <= b->sentences; i++)
        b->offsets[i] = i * length;
    return (xlm_text){.tokens = b->sentences * length, .sequences = b->sentences, .offsets = b->offsets, .ids = ids,
                      .unmasked = ids, .positions = b->positions, .languages = b->zeros, .unswitched = b->zeros,
                      .types = b->zeros, .specials = &xlm_own_special_tokens};
}

static xlm_var *encode(struct bench *b)
{
    const xlm_text text = text_of(b, b->ids, b->tokens);
    return xlm_model_encode(b->model, b->tape, &text, false, XLM_TOP_LAYER, NULL, 0)[LAYERS];
}

static double search(struct bench *b)
{
    const xlm_search_options options = {.beam = b->beam, .length_penalty = 1};
    const double begin = xlm_clock();
    xlm_tape_begin(b->tape, NULL, false, 0, 1);
    xlm_var *memory = encode(b);
    const xlm_search_input input = {.sentences = b->sentences, .memory = memory, .memory_offsets = b->offsets,
                                    .languages = b->zeros, .max_tokens = b->max_tokens};
    const double middle = xlm_clock();
    const xlm_search_result *results = xlm_search(b->model, b->tape, &xlm_own_special_tokens, &options, &input);
    b->seconds = xlm_clock() - middle;
    b->made = 0;
    for (int32_t i = 0; i < b->sentences; i++) {
        b->made += results[i].best[0].tokens;
        for (int32_t k = 0; k < results[i].best[0].tokens; k++)
            b->written[i * (b->tokens + 1) + k] = results[i].best[0].ids[k];
    }
    return xlm_clock() - begin;
}

/* Greedy search that decodes the whole beginning for each token; the tokens themselves are those found before. */
static double search_again(struct bench *b)
{
    int32_t *ids = g_new(int32_t, b->sentences * (b->tokens + 1)), *memory_offsets = g_new(int32_t, b->sentences + 1);
    float *states = g_new0(float, b->sentences * b->tokens * D); /* instead of the encoder's: the time is the same */
    const double begin = xlm_clock();
    xlm_tape_begin(b->tape, NULL, false, 0, 1);
    encode(b);
    for (int32_t i = 0; i <= b->sentences; i++)
        memory_offsets[i] = i * b->tokens;
    for (int32_t length = 1; length <= b->tokens + 1; length++) {
        for (int32_t i = 0; i < b->sentences; i++) {
            ids[i * length] = xlm_own_special_tokens.id[XLM_BOS];
            for (int32_t k = 1; k < length; k++)
                ids[i * length + k] = b->written[i * (b->tokens + 1) + k - 1];
            b->last[i] = (i + 1) * length - 1;
        }
        xlm_tape_begin(b->tape, NULL, false, 0, 1);
        xlm_var *memory = xlm_constant(b->tape, b->sentences * b->tokens, D, states);
        const xlm_text text = text_of(b, ids, length);
        xlm_var **hidden = xlm_model_decode(b->model, b->tape, &text, memory, memory_offsets, XLM_TOP_LAYER, b->last,
                                            b->sentences);
        xlm_lm_logits(b->model, b->tape, XLM_STACK_DECODER, hidden[LAYERS]);
    }
    const double seconds = xlm_clock() - begin;
    g_free(states);
    g_free(ids);
    g_free(memory_offsets);
    return seconds;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void show_profile(struct bench *b)
{
    xlm_profile *profile = xlm_profile_new();
    xlm_tape_profile(b->tape, profile);
    const double seconds = search(b);
    int n;
    const xlm_profile_row *row = xlm_profile_rows(profile, &n);
    double inside = 0;
    for (int i = 0; i < n; i++)
        inside += row[i].seconds;
    printf("%.1f ms, %.1f of them in operators\n", 1e3 * seconds, 1e3 * inside);
    for (int i = 0; i < n; i++)
        printf("  %-24s %8.2f ms %5.1f %% %8.1f GFLOP/s\n", row[i].name, 1e3 * row[i].seconds, 100 * row[i].seconds / seconds,
               1e-9 * row[i].flops / row[i].seconds);
    xlm_profile_free(profile);
}

/* GB/s of reading memory. */
static double read_rate(void)
{
    const int64_t n = INT64_C(1) << 28;
    float *x = g_new(float, n), sum = 0;
    for (int64_t i = 0; i < n; i++)
        x[i] = 1;
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const double begin = xlm_clock();
#pragma omp parallel for simd reduction(+ : sum)
        for (int64_t i = 0; i < n; i++)
            sum += x[i];
        best = MAX(best, 1e-9 * 4 * (double)n / (xlm_clock() - begin));
    }
    if (!(sum > 0))
        return 0;
    g_free(x);
    return best;
}

int main(int argc, char **argv)
{
    xlm_hardware hardware;
    xlm_hardware_open(&hardware, argc > 1 ? atoi(argv[1]) : 1, 1);
    if (argc == 3 && strcmp(argv[2], "read") == 0) {
        printf("%.1f\n", read_rate());
        return 0;
    }
    if (argc < 6) {
        fprintf(stderr, "search THREADS blis|onednn|bfloat16 SENTENCES TOKENS BEAM [again|profile]\n");
        return 64;
    }
    const xlm_precision precision = strcmp(argv[2], "bfloat16") == 0 ? XLM_BFLOAT16 : XLM_FLOAT32;
    const bool packs = strcmp(argv[2], "blis") != 0;
    const char *lack = packs ? xlm_packed_lacks(precision) : NULL;
    if (lack != NULL) {
        fprintf(stderr, "%s\n", lack);
        return 69;
    }
    struct bench b = {.sentences = atoi(argv[3]), .tokens = atoi(argv[4]), .beam = atoi(argv[5])};
    xlm_model_config c = {0};
    xlm_options_defaults(xlm_model_options, &c, NULL);
    c.layers = c.decoder_layers = LAYERS, c.hidden_size = D, c.attention_heads = HEADS, c.vocabulary = V, c.languages = 1;
    xlm_model_check(&c, NULL);
    b.parameters = xlm_parameters_new();
    b.model = xlm_model_new(&c, b.parameters);
    xlm_parameters_seal(b.parameters);
    xlm_parameters_initialise(b.parameters, 1);
    b.tape = xlm_tape_new(b.parameters);
    xlm_tape_multiply_by(b.tape, packs, precision);
    make_text(&b);
    search(&b);
    if (argc > 6 && strcmp(argv[6], "again") == 0) {
        search_again(&b);
        const double with_cache = search(&b), without = search_again(&b);
        printf("%.3f %.3f\n", with_cache, without);
        return 0;
    }
    if (argc > 6) {
        show_profile(&b);
        return 0;
    }
    double all[ROUNDS], alone[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        all[i] = search(&b);
        alone[i] = b.seconds;
    }
    qsort(all, ROUNDS, sizeof *all, ascending);
    qsort(alone, ROUNDS, sizeof *alone, ascending);
    /* Of a layer: query, key, value, output of one attention, query and output of the other, feed-forward; and the head's. */
    const double read = (precision == XLM_BFLOAT16 ? 2 : 4) * ((double)LAYERS * 14 * D * D + (double)V * D) * (b.tokens + 1);
    printf("%.0f %.2f %" G_GINT64_FORMAT "\n", (double)b.made / all[ROUNDS / 2], 1e-9 * read / alone[ROUNDS / 2], b.made);
    return 0;
}
