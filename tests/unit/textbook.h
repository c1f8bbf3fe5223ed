/* xlm-mpi: a textbook version of the model, in double, for tests. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * It computes from the parameters of a model, and shares no code with the library. */
#ifndef XLM_TESTS_TEXTBOOK_H
#define XLM_TESTS_TEXTBOOK_H

#include "architecture_fixture.h"
#include "batch_fixture.h"
#include "model_fixture.h"

#include <math.h>
#include <string.h>

#ifdef XLM_DOUBLE
static const double TOLERANCE = 1e-10;
#else
static const double TOLERANCE = 2e-5;
#endif

enum { L = 2, D = 6, F = 10, HEADS = 2 };

/* ---- models ---- */

enum { LANGUAGE = 1, TYPE = 2, SHARE = 4, FACTORISE = 8, XLM_HEAD = 16, SINUSOIDAL = 32, TANH = 64, ALL_OPTIONS = 128 };
/* A decoder's, beside these. */
enum { OWN = ALL_OPTIONS };

/* Architectures: each property alone, some together, and those of ModernBERT, XLM-R XL, Marian and M2M100. */
enum { PROPERTIES = 11, MARIAN = 21, M2M100, ARCHITECTURES = 27 };
static inline void set_architecture(int number, xlm_model_config *c)
{
    static const int properties[ARCHITECTURES] = {
        1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, /* each */
        3, 1 | 4 | 8 | 16, 32 | 256, 128 | 256, 1 | 2 | 256 | 512, 64 | 512 | 1024, 2 | 64, 16 | 256 | 512 | 1024,
        1 | 2 | 4 | 8 | 16 | 128 | 256 | 512, /* ModernBERT */
        1 | 2 | 32, 32 | 64 | 1024 | 2048, 1 | 2 | 32 | 64 | 1024 | 2048 | 4096, /* XLM-R XL, Marian, M2M100 */
        2047 & ~32 & ~8, 2048, 4096 | 2048 | 512, 2048 | 256 | 1,
    };
    const int p = properties[number];
    c->attention_heads = number % 2 != 0 ? 1 : 3; /* of even width */
    set_properties(p, c);
    c->position_type = p & 256 ? XLM_POSITIONS_ROTARY : number % 3 == 0 ? XLM_POSITIONS_SINUSOIDAL : XLM_POSITIONS_LEARNED;
    if (number == MARIAN || number == M2M100)
        c->position_type = number == MARIAN ? XLM_POSITIONS_SINUSOIDAL_HALVES : XLM_POSITIONS_SINUSOIDAL_FAIRSEQ;
    if (p & 512) {
        c->attention_window = 2;
        c->global_attention_every = 2 * (number % 2);
        c->rotary_theta_local = p & 256 ? 100 : 0;
    }
    c->activation = p & 1024 ? XLM_RELU + number % 2 : XLM_GELU;
}

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
    const xlm_real *w = part(s, prefix, "weight"), *b = s->config.linear_biases ? part(s, prefix, "bias") : NULL;
    for (int i = 0; i < n; i++)
        for (int o = 0; o < out; o++) {
            y[i * out + o] = b != NULL ? b[o] : 0;
            for (int c = 0; c < in; c++)
                y[i * out + o] += x[i * in + c] * w[o * in + c];
        }
}

static void norm(const struct setup *s, const char *prefix, int n, int d, double *x)
{
    const xlm_real *gamma = part(s, prefix, "weight"), *beta = s->config.norm_biases ? part(s, prefix, "bias") : NULL;
    for (int i = 0; i < n; i++) {
        double mean = 0, variance = 0;
        for (int c = 0; c < d; c++)
            mean += x[i * d + c] / d;
        for (int c = 0; c < d; c++)
            variance += (x[i * d + c] - mean) * (x[i * d + c] - mean) / d;
        for (int c = 0; c < d; c++)
            x[i * d + c] = gamma[c] * (x[i * d + c] - mean) / sqrt(variance + s->config.layer_norm_epsilon) +
                           (beta != NULL ? beta[c] : 0);
    }
}

static void gelu(const struct setup *s, int n, double *x)
{
    for (int i = 0; i < n; i++)
        if (s->config.activation == XLM_RELU)
            x[i] = fmax(x[i], 0);
        else if (s->config.activation == XLM_SWISH)
            x[i] = x[i] / (1 + exp(-x[i]));
        else
            x[i] = x[i] / 2 * (1 + (s->config.activation == XLM_GELU_TANH
                                    ? tanh(sqrt(2 / M_PI) * (x[i] + 0.044715 * pow(x[i], 3)))
                                    : erf(x[i] / sqrt(2))));
}

/* Rotary positions, by complex numbers: (a + ib) e^(i angle) of elements c and c + w/2. */
static inline void turn(int n, int heads, double theta, double *x)
{
    const int w = D / heads;
    for (int i = 0; i < n; i++)
        for (int h = 0; h < heads; h++)
            for (int c = 0; c < w / 2; c++) {
                double *a = x + i * D + h * w + c, *b = a + w / 2;
                const double angle = positions[i] * exp(-log(theta) * 2 * c / w), real = *a * cos(angle) - *b * sin(angle);
                *b = *b * cos(angle) + *a * sin(angle);
                *a = real;
            }
}

/* Keys are in rows to[s] … to[s + 1] − 1 of sequence s; causal: of those of the sequence itself a query sees none after its own;
 * window: none that is farther away than half of it, unless it is 0. unseen: of a sequence of several keys the first is not seen,
 * except by the row itself. */
static void attention(const double *q, const double *k, const double *v, const int32_t *to, bool causal, int heads, int window,
                      bool unseen, double *out)
{
    const int w = D / heads;
    for (int s = 0; s < batch.corrupted.sequences; s++)
        for (int h = 0; h < heads; h++)
            for (int i = offsets[s]; i < offsets[s + 1]; i++) {
                const int end = causal ? i + 1 : to[s + 1];
                double e[T] = {0}, sum = 0;
                for (int j = to[s]; j < end; j++) {
                    if (window > 0 && 2 * abs(i - j) > window)
                        continue;
                    if (unseen && j == to[s] && end > to[s] + 1 && (to != offsets || i != j))
                        continue;
                    double dot = 0;
                    for (int c = h * w; c < (h + 1) * w; c++)
                        dot += q[i * D + c] * k[j * D + c];
                    sum += e[j] = exp(dot / sqrt(w));
                }
                for (int c = h * w; c < (h + 1) * w; c++) {
                    out[i * D + c] = 0;
                    for (int j = to[s]; j < end; j++)
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
    if (s->config.norm == XLM_NORM_POST)
        norm(s, after, T, D, x);
}

/* What a sublayer reads. */
static void enter(const struct setup *s, const char *layer, const char *name, const double *x, double *h)
{
    char before[128];
    g_snprintf(before, sizeof before, "%s/%s/layer_norm", layer, name);
    memcpy(h, x, sizeof *h * T * D);
    const bool first = strcmp(name, "attention") == 0 && g_str_has_suffix(layer, "/layer.0");
    if (s->config.norm == XLM_NORM_PRE && (s->config.first_norm || !first))
        norm(s, before, T, D, h);
}

/* A block of attention: x to itself, or to m rows of a memory with these offsets. */
static void attention_block(const struct setup *s, const char *layer, const char *block, bool causal, const double *memory, int m,
                            const int32_t *to, double *x)
{
    static const char *const names[] = {"query", "key", "value"};
    char prefix[128];
    double qkv[3][T * D], a[T * D], h[T * D];
    const xlm_model_config *c = &s->config;
    const int number_of_layer = atoi(strrchr(layer, '.') + 1), heads = (int)c->attention_heads;
    const bool itself = memory == x, local = itself && c->attention_window > 0 &&
                      (c->global_attention_every == 0 || number_of_layer % c->global_attention_every != 0);
    const bool unseen = !c->encode_bos && (!itself || strncmp(layer, "encoder", 7) == 0);
    enter(s, layer, block, x, h);
    for (int i = 0; i < 3; i++) {
        g_snprintf(prefix, sizeof prefix, "%s/%s/%s", layer, block, names[i]);
        linear(s, prefix, i == 0 ? T : m, D, D, i == 0 || itself ? h : memory, qkv[i]);
        if (itself && i < 2 && c->position_type == XLM_POSITIONS_ROTARY)
            turn(T, heads, local && c->rotary_theta_local > 0 ? c->rotary_theta_local : c->rotary_theta, qkv[i]);
    }
    attention(qkv[0], qkv[1], qkv[2], to, causal, heads, local ? (int)c->attention_window : 0, unseen, a);
    sublayer(s, layer, block, D, a, x);
}

/* memory: of the decoder, with its offsets, of no more than T rows; else NULL. */
static void layer(const struct setup *s, const char *stack, int number_of_layer, bool causal, const double *memory,
                  const int32_t *memory_offsets, double *x)
{
    char name[64], prefix[128];
    double wide[T * 2 * F], h[T * D];
    const int width = s->config.gated_feed_forward ? 2 * F : F;
    if (s->config.share_layers)
        g_snprintf(name, sizeof name, "%s/layer.shared", stack);
    else
        g_snprintf(name, sizeof name, "%s/layer.%d", stack, number_of_layer);
    attention_block(s, name, "attention", causal, x, T, offsets, x);
    if (memory != NULL)
        attention_block(s, name, "memory_attention", false, memory, memory_offsets[batch.corrupted.sequences], memory_offsets, x);
    g_snprintf(prefix, sizeof prefix, "%s/feed_forward/intermediate", name);
    enter(s, name, "feed_forward", x, h);
    linear(s, prefix, T, D, width, h, wide);
    for (int i = 0; i < T; i++) {
        gelu(s, F, wide + i * width);
        for (int c = 0; c < F; c++)
            wide[i * F + c] = wide[i * width + c] * (width > F ? wide[i * width + F + c] : 1);
    }
    sublayer(s, name, "feed_forward", F, wide, x);
    const int64_t layers = strcmp(stack, "decoder") == 0 ? s->config.decoder_layers : s->config.layers;
    if (s->config.final_norm && number_of_layer == layers - 1) {
        g_snprintf(prefix, sizeof prefix, "%s/layer_norm", stack);
        norm(s, prefix, T, D, x);
    }
}

/* The name of a part of a stack: of a decoder its own, if it has embeddings of its own. */
static const char *of_stack(const struct setup *s, const char *stack, const char *part, char name[128])
{
    g_snprintf(name, 128, "%s%s", strcmp(stack, "decoder") == 0 && !s->config.share_embeddings ? "decoder/" : "", part);
    return name;
}

static const xlm_real *table(const struct setup *s, const char *stack, const char *part)
{
    char name[128];
    return value(s, of_stack(s, stack, part, name));
}

static double position_value(const struct setup *s, const char *stack, int row, int c, int e)
{
    if (s->config.position_type == XLM_POSITIONS_LEARNED)
        return table(s, stack, "embeddings/position/weight")[row * e + c];
    if (s->config.position_type == XLM_POSITIONS_ROTARY)
        return 0;
    if (s->config.position_type == XLM_POSITIONS_SINUSOIDAL) {
        const double angle = row * exp(-log(10000) * (c - c % 2) / e);
        return c % 2 == 0 ? sin(angle) : cos(angle);
    }
    const int half = e / 2; /* e is even here */
    const bool fairseq = s->config.position_type == XLM_POSITIONS_SINUSOIDAL_FAIRSEQ;
    const float step = (float)(log(10000) / (half - 1)); /* fairseq rounds to single precision on its way */
    const double frequency = fairseq ? (double)(float)exp(-(double)((float)(c % half) * step)) : pow(10000, -2.0 * (c % half) / e);
    const double angle = fairseq ? (double)((float)row * (float)frequency) : row * frequency;
    return c < half ? sin(angle) : cos(angle);
}

static void embeddings(const struct setup *s, const char *stack, double *out)
{
    const int e = (int)s->config.embedding_size;
    char name[128];
    double x[T * D];
    for (int i = 0; i < T; i++)
        for (int c = 0; c < e; c++) {
            const bool counts_on = s->config.encode_bos || strcmp(stack, "decoder") == 0 || positions[i] == 0;
            const int place = positions[i] - !counts_on;
            const bool begins = s->config.language_tokens && strcmp(stack, "decoder") == 0 && positions[i] == 0;
            const double word = begins ? value(s, "decoder/embeddings/language_token/weight")[languages[i] * e + c]
                                       : table(s, stack, "embeddings/word/weight")[ids[i] * e + c];
            x[i * e + c] = word * (s->config.scale_embeddings ? sqrt(e) : 1) + position_value(s, stack, place + 2, c, e);
            if (s->config.language_embeddings)
                x[i * e + c] += table(s, stack, "embeddings/language/weight")[languages[i] * e + c];
            if (s->config.token_types)
                x[i * e + c] += table(s, stack, "embeddings/token_type/weight")[types[i] * e + c];
        }
    if (s->config.embedding_norm)
        norm(s, of_stack(s, stack, "embeddings/layer_norm", name), T, e, x);
    if (e != D)
        linear(s, of_stack(s, stack, "embeddings/projection", name), T, e, D, x, out);
    else
        memcpy(out, x, sizeof x);
}

/* z [V]: the logits of a state x [D] of a stack, by its head. */
static inline void logits_of(const struct setup *s, const char *stack, const double *x, double z[V])
{
    const int e = (int)s->config.embedding_size;
    const xlm_real *word = table(s, stack, "embeddings/word/weight");
    const xlm_real *bias = s->config.output_bias ? table(s, stack, "lm_head/bias") : NULL;
    char name[128];
    double y[D];
    memcpy(y, x, sizeof y);
    if (s->config.head == XLM_HEAD_BERT || e != D)
        linear(s, of_stack(s, stack, "lm_head/dense", name), 1, D, e, x, y);
    if (s->config.head == XLM_HEAD_BERT) {
        gelu(s, e, y);
        norm(s, of_stack(s, stack, "lm_head/layer_norm", name), 1, e, y);
    }
    for (int v = 0; v < V; v++) {
        z[v] = bias != NULL ? bias[v] : 0;
        for (int c = 0; c < e; c++)
            z[v] += y[c] * word[v * e + c];
    }
}

/* By the encoder's head. scores: [M] losses; returns their mean. */
static inline double cross_entropy(const struct setup *s, const double *x, double *scores)
{
    double sum = 0;
    for (int i = 0; i < M; i++) {
        double z[V], total = 0;
        logits_of(s, "encoder", x + predicted_rows[i] * D, z);
        for (int v = 0; v < V; v++)
            total += exp(z[v]);
        sum += scores[i] = log(total) - z[targets[i]];
    }
    return sum / M;
}

static void near(const char *what, int options, double got, double wanted)
{
    if (!(fabs(got - wanted) <= TOLERANCE * fmax(1, fabs(wanted))))
        fail_msg("%s with options %d: %.12g, not %.12g", what, options, got, wanted);
}

#endif
