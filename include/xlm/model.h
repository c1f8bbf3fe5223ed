/* xlm-mpi: the encoder, the decoder and their head, for objectives and embedding programs.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_MODEL_H
#define XLM_MODEL_H

#include <xlm/tape.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum number of languages of a model, and so of a vocabulary. */
enum { XLM_MAX_LANGUAGES = 65535 };

/* What a layer belongs to. A stack has layers; views (xlm/loss.h) are of a stack. */
typedef enum xlm_stack {
    XLM_STACK_ENCODER,
    XLM_STACK_DECODER,    /* above the encoder, whose states it attends to */
    XLM_STACK_EMBEDDINGS, /* below the encoder, and below the decoder if it has none of its own; no layers */
    XLM_STACK_NONE        /* no stack: the heads for words, and the parameters of objectives and tasks, above all layers */
} xlm_stack;

/* Kinds of positions. Sinusoids of width e are sin(p θ_i) and cos(p θ_i) for i < e/2: in turn, θ_i = 10000^(−2i/e) (Vaswani et al.
 * 2017); with the same θ_i, sines first and cosines after them (HALVES: Marian); or these with θ_i = 10000^(−i/(e/2 − 1)), computed
 * in single precision as fairseq does (FAIRSEQ: M2M100, NLLB). */
enum {
    XLM_POSITIONS_LEARNED, XLM_POSITIONS_SINUSOIDAL, XLM_POSITIONS_ROTARY, XLM_POSITIONS_SINUSOIDAL_HALVES,
    XLM_POSITIONS_SINUSOIDAL_FAIRSEQ
};
enum { XLM_NORM_POST, XLM_NORM_PRE };
enum { XLM_HEAD_BERT, XLM_HEAD_XLM, XLM_HEAD_NONE /* as in a fine-tuned model */ };

/* Adapters: small matrices in a model, which learn while the rest of it stays as it is.
 *   XLM_ADAPTER_LORA        (Hu et al. 2021, arXiv:2106.09685)  beside linear layers:
 *                           y = x Wᵀ + b + (α / r) dropout(x) Aᵀ Bᵀ, A: r x in, B: out x r
 *   XLM_ADAPTER_BOTTLENECK  (Pfeiffer et al. 2020, arXiv:2005.00247, 2005.00052)  after the feed-forward sublayer f of a layer,
 *                           before its residual connection: f + max(D dropout(h) + d, 0) Uᵀ + u, h = LayerNorm(x + f) or,
 *                           in a pre-LN model, x + f; D: m x d, U: d x m. Several are stacked in their order: each takes
 *                           what the one before it made for f. Also with an invertible adapter, see nn/adapter.h (MAD-X) */
enum { XLM_MAX_ADAPTERS = 8, XLM_ADAPTER_NAME = 48 };
enum { XLM_ADAPTER_LORA, XLM_ADAPTER_BOTTLENECK };
/* Linear layers that an adapter can be beside: query, key, value and output of attention, also of that to a memory, and both of
 * the feed-forward sublayer. */
enum {
    XLM_ADAPT_QUERY = 1, XLM_ADAPT_KEY = 2, XLM_ADAPT_VALUE = 4, XLM_ADAPT_ATTENTION_OUTPUT = 8, XLM_ADAPT_INTERMEDIATE = 16,
    XLM_ADAPT_FEED_FORWARD_OUTPUT = 32
};
typedef struct xlm_adapter {
    char name[XLM_ADAPTER_NAME];
    int64_t kind;     /* XLM_ADAPTER_... */
    double dropout;   /* rate, of what the adapter reads */
    int64_t rank;     /* LoRA: r */
    double alpha;     /* LoRA: α */
    uint32_t targets; /* LoRA: XLM_ADAPT_..., at least one; 0 of kinds that are not beside linear layers */
    int64_t size;     /* bottleneck: m; 0: d / 16 */
    bool invertible;  /* bottleneck */
    bool learns;      /* in this run; not a property of the model */
} xlm_adapter;
typedef struct xlm_adapters {
    int64_t n;
    xlm_adapter one[XLM_MAX_ADAPTERS];
} xlm_adapters;

/* Section [model] of a job file, the sizes that the corpus gives, and the sections [adapter NAME]. */
typedef struct xlm_model_config {
    int64_t layers;              /* L, of the encoder */
    int64_t decoder_layers;      /* D; 0: there is no decoder */
    bool share_embeddings;       /* the decoder uses the encoder's embeddings and head; true if there is no decoder */
    int64_t hidden_size;         /* d */
    int64_t attention_heads;     /* divides d */
    int64_t feed_forward_size;   /* 0: 4 d */
    int64_t embedding_size;      /* e, of the factorised embeddings (ALBERT); 0: d */
    bool share_layers;           /* ALBERT: one set of weights for all layers */
    int64_t positions;           /* length of the longest sequence, in tokens */
    int64_t position_type;       /* XLM_POSITIONS_... */
    int64_t position_offset;     /* row of position 0; RoBERTa: id of <pad> + 1 = 2 */
    bool language_embeddings;
    bool language_tokens;        /* the decoder's first input, at position 0, is a token of the language instead of <s> */
    bool token_types;
    int64_t norm;                /* XLM_NORM_...: LayerNorm(x + f(x)), or x + f(LayerNorm(x)) */
    bool final_norm;             /* a norm after the last layer of a stack */
    bool first_norm;             /* false: attention in layer 0 has no norm, in a pre-LN model */
    bool embedding_norm;         /* a norm after the embeddings */
    bool norm_biases, linear_biases; /* whether norms have β; and linear layers of blocks, embeddings and head a bias */
    bool encode_bos;             /* false: neither the encoder nor the decoder's attention to its states sees the first token of a
                                  * sequence, <s>, and the encoder's positions count from the token after it */
    bool output_bias;            /* the output layer of words has a bias */
    bool scale_embeddings;       /* words are multiplied by √e before positions are added */
    double rotary_theta;         /* θ of rotary positions; angles are position θ^(−2i/w) */
    double rotary_theta_local;   /* of layers with a window; 0: the same */
    int64_t attention_window;    /* 2 times how far a token sees to each side; 0: all of its sequence */
    int64_t global_attention_every; /* layers whose number is a multiple of it have no window; 0: all have it */
    bool gated_feed_forward;     /* (a(u) ⊙ v) W₂ᵀ instead of a(u) W₂ᵀ */
    int64_t activation;          /* XLM_GELU..., in the feed-forward layers and the head */
    double layer_norm_epsilon;
    double dropout;              /* rate for the embeddings and the output of each sublayer */
    double attention_dropout;    /* rate for the attention weights */
    int64_t head;                /* XLM_HEAD_... */
    int64_t vocabulary_chunk;    /* number of rows of logits held at a time */
    int64_t vocabulary;          /* V, from the corpus */
    int64_t languages;           /* from the corpus */
    xlm_adapters adapters;
} xlm_model_config;

/* Does the decoder know the language that it is to write, by an embedding, a token in place of <s>, or a token of the vocabulary? */
static inline bool xlm_decoder_knows_language(const xlm_model_config *config, const xlm_special_tokens *specials)
{
    return config->language_embeddings || config->language_tokens || specials->languages > 0;
}

typedef struct xlm_model xlm_model;

const xlm_model_config *xlm_model_get_config(const xlm_model *model);

enum { XLM_TOP_LAYER = -1 }; /* layer L of any encoder, D of any decoder */

/* Encodes a text with the encoder's layers: H[0 … highest], where H[0] is the output of the embeddings and H[l] that of layer
 * l; H[L] is the output of the final norm, if the model has one. If rows are given, H[highest] is computed only for them: keys
 * and values are computed for all rows, everything else only for these, with the same values up to rounding.
 * Objectives do not call this function; they declare views (xlm/loss.h), which
 * all objectives of a stream share.
 * [in] text: T tokens, valid until the pass has ended
 * [in] causal: each token attends to itself and to those before it in its sequence; otherwise to its whole sequence
 * [in] highest: 0 to L, or XLM_TOP_LAYER; layers above are not computed
 * [in] rows: [n] rows of the text, ascending, valid until the pass has ended; NULL: all
 * [in] n: number of rows; not read if rows is NULL
 * Returns [highest + 1] variables, T x d (the last n x d if rows are given), memory of the tape. */
xlm_var **xlm_model_encode(const xlm_model *model, xlm_tape *tape, const xlm_text *text, bool causal, int64_t highest,
                           const int32_t *rows, int32_t n);
/* The same with the decoder's layers, whose attention to the text is causal; H[0] is the output of the encoder's embeddings, or
 * of the decoder's own (share_embeddings), but at position 0 of language_tokens. Ends the program if the model has no decoder.
 * [in] memory: rows x d, the states that the decoder attends to: a sequence of the text to the sequence of the memory with the
 *      same number
 * [in] memory_offsets: [sequences + 1] of the memory's rows, at least one in each sequence; valid until the pass has ended
 * [in] highest: 0 to D, or XLM_TOP_LAYER */
xlm_var **xlm_model_decode(const xlm_model *model, xlm_tape *tape, const xlm_text *text, xlm_var *memory,
                           const int32_t *memory_offsets, int64_t highest, const int32_t *rows, int32_t n);

/* The functions below end the program if the model has XLM_HEAD_NONE.
 * [in] stack: the stack whose states are given, XLM_STACK_ENCODER or, if the model has a decoder, XLM_STACK_DECODER: a decoder
 *      with its own embeddings (share_embeddings = false) also has its own head, which is tied to them
 *
 * What the head computes before the product with the word embeddings: LayerNorm(a(h Wᵀ + b)) for `bert`, with the activation of
 * the configuration; for `xlm` h itself or, with factorised embeddings, h Wᵀ + b. Then invertible adapters are taken back.
 * [in] h: M x d
 * Returns M x e. */
xlm_var *xlm_lm_transform(const xlm_model *model, xlm_tape *tape, xlm_stack stack, xlm_var *h);

/* Settings of the losses of the LM head. */
typedef struct xlm_lm_settings {
    double label_smoothing; /* ε, 0 to 1 (xlm_vocab_smoothed_cross_entropy) */
} xlm_lm_settings;

/* The mean over rows of −log p(target | h), with the LM head of the stack, tied to its word embeddings.
 * [in] h: M x d
 * [in] targets: [M] ids, copied
 * [in] settings: NULL: all zero
 * [out] scores: [M], without label smoothing; or NULL
 * Returns 1 x 1. */
xlm_var *xlm_lm_cross_entropy(const xlm_model *model, xlm_tape *tape, xlm_stack stack, xlm_var *h, const int32_t *targets,
                              const xlm_lm_settings *settings, xlm_score *scores);

/* The mean of −log p(id of the next row | h) over all rows of a text except the last of each sequence. The ids are those before
 * masking (text->unmasked).
 * [in] text: T tokens
 * [in] h: T x d, causal states: the state of a row must not depend on the ids of later rows
 * [in] settings: NULL: all zero
 * [out] scores: [T − S], without label smoothing; or NULL
 * Returns 1 x 1; NULL if no sequence has two tokens. */
xlm_var *xlm_lm_next_tokens(const xlm_model *model, xlm_tape *tape, xlm_stack stack, const xlm_text *text, xlm_var *h,
                            const xlm_lm_settings *settings, xlm_score *scores);

/* The logits of the LM head of the stack, all at once: for filling in words and for searches. With gradient where the tape has
 * one; xlm_detach makes a constant of them, such as a teacher's.
 * [in] h: M x d
 * Returns M x V. */
xlm_var *xlm_lm_logits(const xlm_model *model, xlm_tape *tape, xlm_stack stack, xlm_var *h);

#ifdef __cplusplus
}
#endif
#endif
