/* xlm-mpi: stages of streams as plugins. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stage changes what a stream reads, before the encoder and the objectives get it. It is one C file that fills in an
 * xlm_stage_plugin and is built as a loadable module:
 *
 *     cc -shared -fPIC $(pkg-config --cflags xlm-mpi) -o my-stage.so my-stage.c
 *
 * The module exports the class under the name xlm_stage_<file name>, where every character that is not a letter or a digit is
 * replaced by '_': my-stage.so exports `xlm_stage_my_stage`. A section [stage NAME] of a job file names it with
 * `plugin = ./my-stage.so`, and its stream with `stream = NAME`. Stages of one stream run in the order of their sections.
 *
 * A stage can work at three places:
 *
 *     source ▸ spans ▸ arrange ▸ (noise of the stream) ▸ noise ▸ layout ▸ (translations, links, masking, switching) ▸ apply
 *
 * `arrange` may change the order and the sides of the spans of each sequence (sentences, or parts of them) before layout. `noise`
 * may change the tokens of a span and their number; the batch has the text before noise as its original text, and the text after
 * noise, which is then masked, as its corrupted text (xlm/batch.h). `apply` gets the packed batch: it may change the input,
 * choose predicted rows, and annotate tokens. `arrange` and `apply` may annotate sequences. Objectives find annotations with
 * xlm_batch_annotation.
 *
 * How sequences are divided into batches differs between training and evaluation, and with [train] micro_batches. So what a stage
 * does to a sequence must depend only on this sequence and on draws of xlm_stage_uniform. Then the results have the same bits on
 * any number of ranks and after resuming. */
#ifndef XLM_STAGE_H
#define XLM_STAGE_H

#include <xlm/batch.h>
#include <xlm/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when the layout or the meaning of anything here changes; a module with another number is refused. */
#define XLM_STAGE_ABI 3

typedef struct xlm_stage_plugin xlm_stage_plugin;

/* What a stage knows about its stream. Valid until close. */
typedef struct xlm_stage_setup {
    const char *stream;           /* of the job file's section */
    bool held_out;                /* this is the stream on held-out text, for evaluation */
    bool pairs;                   /* its sequences are pairs of translations */
    int64_t length;               /* its key `length`: maximum number of tokens of a sequence; of each half in form xlm */
    int64_t vocabulary;           /* V */
    const char *const *words;     /* [V] subwords by id, UTF-8 */
    int64_t languages;            /* n */
    const char *const *language;  /* [n] codes by id */
    const xlm_special_tokens *specials;
} xlm_stage_setup;

/* One stage of a stream. The streams on training text and on held-out text each have their own. */
typedef struct xlm_stage {
    const xlm_stage_plugin *cls;
    const char *name;             /* of the job file's section */
    void *state;                  /* [state_size] bytes: the options are filled in, the rest is zero */
    const xlm_stage_setup *setup;
} xlm_stage;

/* An annotation that a stage adds to batches. Its name has letters, digits and "_-."; no other stage of the stream may use it.
 * Reserved are the arrays of a batch in a step dump (ids, original, positions, languages, types, offsets, masked_positions,
 * targets, text_languages, instances) and the annotations of built-in stages (links, translations, translation_languages,
 * original_text). */
typedef struct xlm_stage_annotation {
    const char *name;
    xlm_axis axis;                /* XLM_AXIS_TOKENS or XLM_AXIS_SEQUENCES */
} xlm_stage_annotation;

/* One batch that passes through one stage. */
typedef struct xlm_stage_pass xlm_stage_pass;

/* A span: consecutive tokens of the text. The layout puts </s> after each span, and <s> before the first. */
typedef struct xlm_stage_span {
    int32_t number;               /* [in] number of the span in its sequence, in the order of the previous stage: 0, 1, … */
    int32_t tokens;               /* [in] without special tokens */
    int32_t language;             /* [in] id */
    int32_t side;                 /* [in, out] 0 or 1: the type of its tokens; 0 before the first stage */
} xlm_stage_span;

/* The argument of `arrange`. */
typedef struct xlm_stage_text {
    int32_t sequences;            /* [in] S */
    const int32_t *offsets;       /* [in] [S+1] sequence s has spans offsets[s] … offsets[s+1] − 1, at least one */
    const xlm_row_key *keys;      /* [in] [S] of the first row that each sequence will have, for draws; `apply` gets
                                     the same key for that row */
    xlm_stage_span *spans;        /* [in, out] [offsets[S]]: the spans of a sequence may change places and sides, nothing else */
} xlm_stage_text;

/* The argument of `noise`: the tokens of one span. */
typedef struct xlm_stage_noise {
    xlm_row_key key;              /* [in] for draws: instance of the sequence, and number of its tokens before this span */
    int32_t language, side;       /* [in] of the span */
    int32_t *ids;                 /* [in, out] [tokens]; a token of a language (xlm_is_language_token) must stay at its place */
    int32_t tokens;               /* [in, out] may become smaller, but not less than 1 */
} xlm_stage_noise;

/* The argument of `apply`. */
typedef struct xlm_stage_batch {
    const xlm_batch *batch;       /* [in] the present batch; its corrupted text has T rows, and its ids and languages are those
                                   * below */
    int32_t *ids;                 /* [in, out] [T] the input */
    int32_t *languages;           /* [in, out] [T] language ids of the input */
    bool *predicted;              /* [in, out] [T] is the row predicted? Targets are the unmasked tokens. A stage whose class has no
                                     predicted_share must leave it as it is */
} xlm_stage_batch;

/* The values of an annotation of the stage's class, for the stage to fill in: [S] for sequences, in `arrange` and `apply`; [T]
 * for tokens, in `apply` alone. They are −1 at first. Memory of the stream. In batches for estimating memory, for which no text
 * is read and no function of the stage is called, they are 0 and 1 in turn. */
int32_t *xlm_stage_annotate(const xlm_stage_pass *pass, const char *name);

/* A random number in [0, 1) with 24 bits: a function of the seed, the stage's name, the step, the key and the number. On held-out
 * text it does not depend on the step.
 * [in] key: in `arrange` text->keys[s], for a sequence; in `noise` noise->key, for token i with i added to its position; in
 *      `apply` corrupted.keys[row] of the batch
 * [in] number: a different one for each purpose, also in different functions of the stage, whose keys can be equal */
double xlm_stage_uniform(const xlm_stage_pass *pass, xlm_row_key key, uint32_t number);

/* The functions are called in this order: open; for each batch arrange, noise for each span, apply; close. At least one of
 * arrange, noise and apply must be given. */
struct xlm_stage_plugin {
    uint32_t abi;                 /* XLM_STAGE_ABI */
    const char *name;             /* "sentence-order" */
    const char *summary;          /* one line for --help-job */
    const xlm_option *options;    /* the keys of its section in addition to plugin and stream; NULL: none */
    size_t state_size;
    const xlm_stage_annotation *annotations; /* the last has the name NULL; NULL: none */
    /* Checks and prepares. Returns false on failure. A message on success is a warning, and is written to the log, of the training
     * text (setup->held_out is false) alone. May be NULL.
     * [in,out] message: [size] bytes, "" before: on failure the reason and the remedy */
    bool (*open)(xlm_stage *self, char *message, size_t size);
    /* Only for monolingual streams: the sentences of a pair keep their places. */
    void (*arrange)(xlm_stage *self, const xlm_stage_pass *pass, xlm_stage_text *text);
    /* For each span of at least one token, in monolingual and in parallel streams. */
    void (*noise)(xlm_stage *self, const xlm_stage_pass *pass, xlm_stage_noise *noise);
    void (*apply)(xlm_stage *self, const xlm_stage_pass *pass, xlm_stage_batch *batch);
    /* Mean share of the tokens that `apply` predicts in addition to those already predicted, for estimates and as a part of the
     * stream's `mask` that objectives know. NULL: it does not change the predicted rows. */
    double (*predicted_share)(const xlm_stage *self);
    /* Mean share of the tokens that `noise` keeps, for estimates. NULL: all of them. */
    double (*kept_share)(const xlm_stage *self);
    void (*close)(xlm_stage *self);
};

#ifdef __cplusplus
}
#endif
#endif
