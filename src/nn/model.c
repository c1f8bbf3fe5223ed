/* xlm-mpi: building a model: configuration, parameters. SPDX-License-Identifier: GPL-3.0-or-later */
#include "nn/model.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "nn/adapter.h"
#include "nn/layer.h"
#include "nn/model_parts.h"
#include "nn/stack.h"
#include "options/options.h"

#define OPTION(name, type, default_value, minimum, maximum, choices, help) \
    {#name, XLM_OPTION_##type, default_value, minimum, maximum, choices, help, offsetof(xlm_model_config, name)}

/* Defaults are ALIGN-MLM's roberta-8. */
const xlm_option xlm_model_options[] = {
    OPTION(layers, INT, "8", 1, XLM_MAX_LAYERS, NULL, "number of transformer layers, L"),
    OPTION(decoder_layers, INT, "0", 0, XLM_MAX_LAYERS, NULL,
           "number of decoder layers, D; 0: the model has no decoder"),
    OPTION(share_embeddings, FLAG, "true", 0, 0, NULL,
           "let the decoder use the encoder's embeddings and head; false: it has its own"),
    OPTION(hidden_size, INT, "512", 2, 1 << 20, NULL, "width of the hidden states, d"),
    OPTION(attention_heads, INT, "8", 1, 4096, NULL, "number of attention heads; must divide hidden_size"),
    OPTION(feed_forward_size, INT, "0", 0, 1 << 22, NULL, "width of the feed-forward layers; 0: 4 x hidden_size"),
    OPTION(embedding_size, INT, "0", 0, 1 << 20, NULL,
           "width of factorised embeddings (ALBERT); 0: hidden_size, not factorised"),
    OPTION(share_layers, FLAG, "false", 0, 0, NULL, "use one set of weights for all layers (ALBERT)"),
    OPTION(positions, INT, "512", 1, 1 << 20, NULL, "number of positions, the length of the longest sequence"),
    OPTION(position_type, CHOICE, "learned", 0, 0, "learned|sinusoidal|rotary|sinusoidal_halves|sinusoidal_fairseq",
           "kind of position embeddings; rotary: queries and keys are turned by angles (RoFormer, ModernBERT); sinusoidal: sines "
           "and cosines in turn (Vaswani et al. 2017), all sines first (sinusoidal_halves: Marian), or these with fairseq's "
           "wavelengths (sinusoidal_fairseq: M2M100, NLLB)"),
    OPTION(rotary_theta, REAL, "10000", 1, 1e12, NULL, "base of the wavelengths of rotary positions"),
    OPTION(rotary_theta_local, REAL, "0", 0, 1e12, NULL, "the same in layers with an attention window; 0: rotary_theta"),
    OPTION(position_offset, INT, "2", 0, 1024, NULL,
           "number of the first position: 2 in RoBERTa (pad id + 1), 0 in BERT and XLM"),
    OPTION(language_embeddings, FLAG, "false", 0, 0, NULL, "add an embedding of the language to each token (XLM)"),
    OPTION(language_tokens, FLAG, "false", 0, 0, NULL,
           "begin what the decoder writes with a token of its language instead of <s>: without language embeddings, it tells into "
           "which language to translate"),
    OPTION(token_types, FLAG, "false", 0, 0, NULL, "add an embedding of the side of a pair to each token (BERT)"),
    OPTION(activation, CHOICE, "gelu", 0, 0, "gelu|gelu_tanh|relu|swish",
           "activation of the feed-forward layers and the head: exact GELU, its approximation by a tanh (ALBERT), ReLU, or swish "
           "(SiLU)"),
    OPTION(gated_feed_forward, FLAG, "false", 0, 0, NULL,
           "multiply the activation by a second linear layer: with gelu this is GeGLU (ModernBERT), with swish SwiGLU"),
    OPTION(linear_biases, FLAG, "true", 0, 0, NULL, "let linear layers have biases, except the output layer of words"),
    OPTION(output_bias, FLAG, "true", 0, 0, NULL, "let the output layer of words have a bias"),
    OPTION(encode_bos, FLAG, "true", 0, 0, NULL,
           "false: the encoder does not see the first token of a sequence, <s>, and no decoder sees it there (Marian, M2M100)"),
    OPTION(norm, CHOICE, "post", 0, 0, "post|pre", "LayerNorm after each sublayer (BERT), or before it"),
    OPTION(norm_biases, FLAG, "true", 0, 0, NULL, "let LayerNorm have biases"),
    OPTION(final_norm, FLAG, "false", 0, 0, NULL, "LayerNorm after the last layer"),
    OPTION(first_norm, FLAG, "true", 0, 0, NULL,
           "false: the attention of the first layer has no LayerNorm, with norm = pre (ModernBERT)"),
    OPTION(embedding_norm, FLAG, "true", 0, 0, NULL, "LayerNorm after the embeddings"),
    OPTION(scale_embeddings, FLAG, "false", 0, 0, NULL,
           "multiply the embeddings of words by the square root of their width (Vaswani et al. 2017)"),
    OPTION(attention_window, INT, "0", 0, 1 << 20, NULL,
           "tokens of a window of attention in the encoder, half of them to each side; even; 0: the whole sequence"),
    OPTION(global_attention_every, INT, "0", 0, XLM_MAX_LAYERS, NULL,
           "with a window: layers 0, n, 2n, ... attend to the whole sequence; 0: none does"),
    OPTION(layer_norm_epsilon, REAL, "1e-5", 0, 1, NULL, "number added to variances in LayerNorm: 1e-12 in BERT, 1e-5 in "
           "RoBERTa"),
    OPTION(dropout, REAL, "0.1", 0, 0.99, NULL, "dropout rate of the embeddings and of the output of each sublayer"),
    OPTION(attention_dropout, REAL, "0.1", 0, 0.99, NULL, "dropout rate of the attention weights"),
    OPTION(head, CHOICE, "bert", 0, 0, "bert|xlm|none",
           "layers before the output, which is tied to the word embeddings: dense layer, GELU and LayerNorm (bert), or "
           "nothing (xlm); the model has no head for words (none)"),
    OPTION(vocabulary_chunk, INT, "1024", 1, 1 << 30, NULL,
           "number of predicted tokens whose logits are in memory at a time; a smaller number takes less memory and more time"),
    XLM_OPTION_END};

bool xlm_model_has_sinusoids(const xlm_model_config *c)
{
    return c->position_type == XLM_POSITIONS_SINUSOIDAL || c->position_type == XLM_POSITIONS_SINUSOIDAL_HALVES ||
           c->position_type == XLM_POSITIONS_SINUSOIDAL_FAIRSEQ;
}

/* Vaswani et al. 2017, §3.5: sin and cos of pos / 10000^(2i/e) in turn. */
static double sinusoid_in_turn(int64_t position, int64_t column, int64_t width)
{
    const double angle = (double)position / pow(10000, (double)(column / 2 * 2) / (double)width);
    return column % 2 == 0 ? sin(angle) : cos(angle);
}

/* With an odd width, there is a sine more than there are cosines. */
static double sinusoid_in_halves(int64_t position, int64_t column, int64_t width)
{
    const int64_t half = (width + 1) / 2, i = column < half ? column : column - half;
    const double angle = (double)position / pow(10000, 2 * (double)i / (double)width);
    return column < half ? sin(angle) : cos(angle);
}

/* Angles are rounded as in fairseq, which matters at large positions; with an odd width, the last column is 0. */
static double sinusoid_of_fairseq(int64_t position, int64_t column, int64_t width)
{
    const int64_t half = width / 2, i = column < half ? column : column - half;
    const float step = (float)-(log(10000) / (double)(half - 1)), exponent = (float)i * step;
    const float frequency = (float)exp((double)exponent), angle = (float)position * frequency;
    return column >= 2 * half ? 0 : column < half ? sin((double)angle) : cos((double)angle);
}

double xlm_sinusoid(int64_t position_type, int64_t position, int64_t column, int64_t width)
{
    return position_type == XLM_POSITIONS_SINUSOIDAL          ? sinusoid_in_turn(position, column, width)
           : position_type == XLM_POSITIONS_SINUSOIDAL_HALVES ? sinusoid_in_halves(position, column, width)
                                                              : sinusoid_of_fairseq(position, column, width);
}

/* The divisor of d closest to `heads`. */
static int64_t nearest_divisor(int64_t d, int64_t heads)
{
    for (int64_t step = 1;; step++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const int64_t candidate = heads + sign * step;
            if (candidate >= 1 && candidate <= d && d % candidate == 0)
                return candidate;
        }
}

/* Maximum number of elements of the table of sinusoids, whose size no file bounds, because it is computed: 65,536 positions of
 * width 2048. */
static const int64_t MAX_SINUSOIDS = (int64_t)1 << 27;

static bool check_decoder(const xlm_model_config *c, GError **error)
{
    if (c->language_tokens && (c->decoder_layers == 0 || c->language_embeddings))
        return xlm_error_set(error, EX_CONFIG, "language_tokens = true is for a decoder without language embeddings, and %s",
                             c->decoder_layers == 0 ? "decoder_layers = 0" : "language_embeddings = true");
    return c->share_embeddings || c->decoder_layers > 0 ||
           xlm_error_set(error, EX_CONFIG, "share_embeddings = false is for a decoder, and decoder_layers = 0; set "
                         "decoder_layers, or leave share_embeddings out");
}

/* Keys without effect are refused. */
static bool check_architecture(const xlm_model_config *c, GError **error)
{
    const bool rotary = c->position_type == XLM_POSITIONS_ROTARY;
    if (!rotary && (c->rotary_theta < 10000 || c->rotary_theta > 10000))
        return xlm_error_set(error, EX_CONFIG, "rotary_theta = %g is for position_type = rotary", c->rotary_theta);
    if (c->rotary_theta_local > 0 && (!rotary || c->attention_window == 0))
        return xlm_error_set(error, EX_CONFIG, "rotary_theta_local = %g is for position_type = rotary with attention_window",
                             c->rotary_theta_local);
    if (c->rotary_theta_local > 0 && c->rotary_theta_local < 1)
        return xlm_error_set(error, EX_CONFIG, "rotary_theta_local = %g is not 0, nor at least 1", c->rotary_theta_local);
    if (rotary && c->hidden_size / c->attention_heads % 2 != 0)
        return xlm_error_set(error, EX_CONFIG, "position_type = rotary needs heads of even width, and hidden_size / "
                             "attention_heads is %" G_GINT64_FORMAT, c->hidden_size / c->attention_heads);
    if (c->attention_window % 2 != 0)
        return xlm_error_set(error, EX_CONFIG, "attention_window = %" G_GINT64_FORMAT " is odd; half of it is on each side",
                             c->attention_window);
    if (c->attention_window > 0 && c->decoder_layers > 0)
        return xlm_error_set(error, EX_CONFIG, "attention_window is for models without a decoder, and decoder_layers = %"
                             G_GINT64_FORMAT, c->decoder_layers);
    if (c->global_attention_every > 0 && c->attention_window == 0)
        return xlm_error_set(error, EX_CONFIG, "global_attention_every is for a model with attention_window");
    if (!c->first_norm && (c->norm != XLM_NORM_PRE || c->share_layers))
        return xlm_error_set(error, EX_CONFIG, "first_norm = false is for norm = pre and layers with weights of their own");
    return true;
}

static bool check_sizes(const xlm_model_config *c, GError **error)
{
    const int64_t d = c->hidden_size, heads = c->attention_heads, e = c->embedding_size > 0 ? c->embedding_size : d;
    if (d % heads != 0)
        return xlm_error_set(error, EX_CONFIG, "attention_heads = %" G_GINT64_FORMAT " does not divide hidden_size = %"
                             G_GINT64_FORMAT "; take attention_heads = %" G_GINT64_FORMAT, heads, d, nearest_divisor(d, heads));
    if (c->position_type == XLM_POSITIONS_ROTARY && c->positions * (d / heads) > MAX_SINUSOIDS)
        return xlm_error_set(error, EX_CONFIG, "positions = %" G_GINT64_FORMAT " rotations of width %" G_GINT64_FORMAT
                             " are too many; take at most %" G_GINT64_FORMAT " positions", c->positions, d / heads,
                             MAX_SINUSOIDS / (d / heads));
    if (c->position_type == XLM_POSITIONS_SINUSOIDAL_FAIRSEQ && e < 4)
        return xlm_error_set(error, EX_CONFIG, "position_type = sinusoidal_fairseq is for embeddings of at least 4 columns, and "
                             "they have %" G_GINT64_FORMAT, e);
    if (xlm_model_has_sinusoids(c) && (c->positions + c->position_offset) * e > MAX_SINUSOIDS)
        return xlm_error_set(error, EX_CONFIG, "positions = %" G_GINT64_FORMAT " sinusoids of width %" G_GINT64_FORMAT
                             " are too many; take at most %" G_GINT64_FORMAT " positions", c->positions, e,
                             MAX_SINUSOIDS / e - c->position_offset);
    if (c->vocabulary <= XLM_SPECIAL_TOKENS || c->vocabulary > G_MAXINT32)
        return xlm_error_set(error, EX_DATAERR, "vocabulary = %" G_GINT64_FORMAT ": must be from %d, of which %d are special "
                             "tokens, to %d; prepare the corpus again", c->vocabulary, XLM_SPECIAL_TOKENS + 1, XLM_SPECIAL_TOKENS,
                             G_MAXINT32);
    if (c->languages < 1 || c->languages > XLM_MAX_LANGUAGES)
        return xlm_error_set(error, EX_DATAERR, "languages = %" G_GINT64_FORMAT ": must be from 1 to %d; prepare the corpus "
                             "again", c->languages, XLM_MAX_LANGUAGES);
    return true;
}

void xlm_model_fill_in_sizes(xlm_model_config *config)
{
    if (config->feed_forward_size == 0)
        config->feed_forward_size = 4 * config->hidden_size;
    if (config->embedding_size == 0)
        config->embedding_size = config->hidden_size;
    xlm_adapters_fill_in_sizes(&config->adapters, config->hidden_size);
}

bool xlm_model_check(xlm_model_config *config, GError **error)
{
    if (!xlm_options_check(xlm_model_options, config, error) || !check_decoder(config, error) || !check_sizes(config, error) ||
        !check_architecture(config, error) || !xlm_adapters_check(&config->adapters, error))
        return false;
    xlm_model_fill_in_sizes(config);
    return xlm_adapters_fit(config, error);
}

/* ---- parameters ---- */

/* The embeddings of the encoder, or those of a decoder that has its own. */
static void add_embeddings(const xlm_model_config *c, xlm_stack stack, xlm_parameters *p)
{
    const int64_t e = c->embedding_size;
    char name[XLM_PART_NAME];
    xlm_model_add(p, xlm_part_name(c, stack, "embeddings/word", name), "weight", c->vocabulary, e, XLM_INIT_NORMAL, true);
    if (c->position_type == XLM_POSITIONS_LEARNED)
        xlm_model_add(p, xlm_part_name(c, stack, "embeddings/position", name), "weight", c->positions + c->position_offset, e,
                      XLM_INIT_NORMAL, true);
    if (c->language_embeddings)
        xlm_model_add(p, xlm_part_name(c, stack, "embeddings/language", name), "weight", c->languages, e, XLM_INIT_NORMAL, true);
    if (c->token_types)
        xlm_model_add(p, xlm_part_name(c, stack, "embeddings/token_type", name), "weight", 2, e, XLM_INIT_NORMAL, true);
    if (c->embedding_norm)
        xlm_model_add_layer_norm(c, p, xlm_part_name(c, stack, "embeddings/layer_norm", name), e);
    if (e != c->hidden_size)
        xlm_model_add_linear(c, p, xlm_part_name(c, stack, "embeddings/projection", name), c->hidden_size, e);
    xlm_adapters_declare_around(c, p, stack);
}

/* Also of a decoder that shares the encoder's embeddings. */
static void add_language_tokens(const xlm_model_config *c, xlm_parameters *p)
{
    if (c->language_tokens)
        xlm_model_add(p, "decoder/embeddings/language_token", "weight", c->languages, c->embedding_size, XLM_INIT_NORMAL, true);
}

static void add_head(const xlm_model_config *c, xlm_stack stack, xlm_parameters *p)
{
    const int64_t e = c->embedding_size;
    char name[XLM_PART_NAME];
    if (c->head == XLM_HEAD_NONE)
        return;
    if (c->head == XLM_HEAD_BERT || e != c->hidden_size)
        xlm_model_add_linear(c, p, xlm_part_name(c, stack, "lm_head/dense", name), e, c->hidden_size);
    if (c->head == XLM_HEAD_BERT)
        xlm_model_add_layer_norm(c, p, xlm_part_name(c, stack, "lm_head/layer_norm", name), e);
    if (c->output_bias)
        xlm_model_add(p, xlm_part_name(c, stack, "lm_head", name), "bias", 1, c->vocabulary, XLM_INIT_ZERO, false);
}

static xlm_real *sinusoids(const xlm_model_config *c)
{
    const int64_t rows = c->positions + c->position_offset, e = c->embedding_size;
    xlm_real *table = g_new(xlm_real, rows * e);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < e; i++)
            table[r * e + i] = (xlm_real)xlm_sinusoid(c->position_type, r, i, e);
    return table;
}

/* Cosines, then sines, of pos θ^(−2i/w) for i < w/2 (Su et al. 2021, §3.2). */
static xlm_real *rotations(const xlm_model_config *c, double theta)
{
    const int64_t w = c->hidden_size / c->attention_heads, half = w / 2;
    xlm_real *table = g_new(xlm_real, c->positions * w);
    for (int64_t i = 0; i < half; i++) {
        const double frequency = pow(theta, -2 * (double)i / (double)w);
        for (int64_t r = 0; r < c->positions; r++) {
            table[r * w + i] = (xlm_real)cos((double)r * frequency);
            table[r * w + half + i] = (xlm_real)sin((double)r * frequency);
        }
    }
    return table;
}

xlm_model *xlm_model_new(const xlm_model_config *config, xlm_parameters *parameters)
{
    xlm_model *m = g_new0(xlm_model, 1);
    m->config = *config;
    if (xlm_model_has_sinusoids(config))
        m->sinusoids = sinusoids(config);
    if (config->position_type == XLM_POSITIONS_ROTARY)
        m->turns[0] = rotations(config, config->rotary_theta);
    if (config->rotary_theta_local > 0)
        m->turns[1] = rotations(config, config->rotary_theta_local);
    add_embeddings(config, XLM_STACK_ENCODER, parameters);
    xlm_stack_declare(config, XLM_STACK_ENCODER, parameters);
    if (!config->share_embeddings)
        add_embeddings(config, XLM_STACK_DECODER, parameters);
    add_language_tokens(config, parameters);
    xlm_stack_declare(config, XLM_STACK_DECODER, parameters);
    add_head(config, XLM_STACK_ENCODER, parameters);
    if (!config->share_embeddings)
        add_head(config, XLM_STACK_DECODER, parameters);
    return m;
}

void xlm_model_free(xlm_model *model)
{
    if (model == NULL)
        return;
    g_free(model->sinusoids);
    g_free(model->turns[0]);
    g_free(model->turns[1]);
    g_free(model);
}

const xlm_model_config *xlm_model_get_config(const xlm_model *model) { return &model->config; }
