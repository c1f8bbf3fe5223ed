/* xlm-mpi: stages of streams as plugins. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stage changes what a stream reads, before the encoder and the objectives get it. It is one C file that fills in an
 * xlm_stage_plugin and is built as a loadable module:
 *
 *     cc -shared -fPIC $(pkg-config --cflags xlm-mpi) -o my-stage.so my-stage.c
 *
 * The module exports the class under the name xlm_stage_<file name>, every character that is not a letter or a digit written as
 * '_': my-stage.so exports `xlm_stage_my_stage`. A section [stage NAME] of a job file names it with `plugin = ./my-stage.so`, and
 * the stream with `stream = NAME`. Stages of one stream work in the order of their sections.
 *
 * A stage can work at three places:
 *
 *     source ▸ spans ▸ arrange ▸ (noise of the stream) ▸ noise ▸ layout ▸ (translations, links, masking, switching) ▸ apply
 *
 * `arrange` puts the spans of each sequence (sentences, or parts of them) into another order and says which side they are on,
 * before they are laid out. `noise` changes the tokens of a span and their number; the batch has the text before noise as its original
 * text, and the text after it, which is then masked, as its corrupted one (xlm/batch.h). `apply` gets the packed batch: it may change the input, choose rows that are predicted, and annotate
 * tokens. `arrange` and `apply` can annotate sequences. Objectives find the annotations by xlm_batch_annotation.
 *
 * A batch is a part of a step, which depends on the job alone, but not of the same size in training and in evaluation: what a
 * stage does to a sequence must depend on this sequence and on draws of xlm_stage_uniform alone. Then the same bits come out on
 * any number of ranks and after resuming. */
#ifndef XLM_STAGE_H
#define XLM_STAGE_H

#include <xlm/batch.h>
#include <xlm/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when the layout or the meaning of anything here changes; a module with another number is refused. */
#define XLM_STAGE_ABI 2

typedef struct xlm_stage_plugin xlm_stage_plugin;

/* What a stage can know of its stream. Valid until close. */
typedef struct xlm_stage_setup {
    const char *stream;           /* of the job file's section */
    bool held_out;                /* this is the stream on held-out text, for evaluation */
    bool pairs;                   /* its sequences are pairs of translations */
    int64_t length;               /* its key: max. tokens of a sequence; of each half in form xlm */
    int64_t vocabulary;           /* V */
    const char *const *words;     /* [V] subwords by id, UTF-8 */
    int64_t languages;            /* n */
    const char *const *language;  /* [n] names */
    const xlm_special_tokens *specials;
} xlm_stage_setup;

/* One stage of a stream. The stream on text that is trained on and the one on held-out text each have their own. */
typedef struct xlm_stage {
    const xlm_stage_plugin *cls;
    const char *name;             /* of the job file's section */
    void *state;                  /* state_size bytes, the options filled in, the rest zero */
    const xlm_stage_setup *setup;
} xlm_stage;

/* An annotation that a stage adds to batches. */
typedef struct xlm_stage_annotation {
    const char *name;             /* of letters, digits and "_-.", which no other stage of the stream uses */
    xlm_axis axis;                /* XLM_AXIS_TOKENS or XLM_AXIS_SEQUENCES */
} xlm_stage_annotation;

/* One batch on its way through one stage. */
typedef struct xlm_stage_pass xlm_stage_pass;

/* A span: tokens that follow one another in the text. The layout ends each with </s>, and puts <s> before the first. */
typedef struct xlm_stage_span {
    int32_t number;               /* [in] which span of its sequence it is, as the stage before left them: 0, 1, … */
    int32_t tokens;               /* [in] special tokens not counted */
    int32_t language;             /* [in] id */
    int32_t side;                 /* [in, out] 0 or 1: the type of its tokens; 0 before the first stage */
} xlm_stage_span;

/* What `arrange` gets. */
typedef struct xlm_stage_text {
    int32_t sequences;            /* [in] S */
    const int32_t *offsets;       /* [in] [S+1] sequence s has spans offsets[s] … offsets[s+1] − 1, one at least */
    const xlm_row_key *keys;      /* [in] [S] of the first row that each sequence will have, for draws; `apply` gets
                                     the same key for that row */
    xlm_stage_span *spans;        /* [in, out] [offsets[S]]: those of a sequence may change places and sides, no more */
} xlm_stage_text;

/* What `noise` gets: the tokens of one span. */
typedef struct xlm_stage_noise {
    xlm_row_key key;              /* [in] for draws: instance of the sequence, and how many tokens it has before this span */
    int32_t language, side;       /* [in] of the span */
    int32_t *ids;                 /* [in, out] [tokens] */
    int32_t tokens;               /* [in, out] afterwards not more than before, and 1 at least */
} xlm_stage_noise;

/* What `apply` gets. */
typedef struct xlm_stage_batch {
    const xlm_batch *batch;       /* [in] as it is now; ids and languages of its corrupted text, which has T rows, are those below */
    int32_t *ids;                 /* [in, out] [T] the input */
    int32_t *languages;           /* [in, out] [T] language ids of the input */
    bool *predicted;              /* [in, out] [T] is the row predicted? Targets are the unmasked tokens. NULL: the class has no
                                     predicted_share */
} xlm_stage_batch;

/* The values of an annotation of the stage's class, to be filled in: [S] in `arrange` and `apply`, [T] in `apply`. −1 at first. In
 * the batches that memory is estimated with, where no text is read and no function of the stage is called, they are 0 and 1 in turn. */
int32_t *xlm_stage_annotate(const xlm_stage_pass *pass, const char *name);

/* A draw from [0, 1), 24 bits: a function of the seed, the stage's name, the step, the key (batch->keys[row], or text->keys[s] for
 * a sequence) and `number`, which must differ between purposes, also between a draw in `arrange` and one in `apply` with the same
 * key. The same draws in every evaluation. */
double xlm_stage_uniform(const xlm_stage_pass *pass, xlm_row_key key, uint32_t number);

/* Functions are called in this order: open; for each batch arrange, noise of each span, apply; close. One of arrange, noise and apply at
 * least. */
struct xlm_stage_plugin {
    uint32_t abi;                 /* XLM_STAGE_ABI */
    const char *name;             /* "sentence-order" */
    const char *summary;          /* one line for --help-job */
    const xlm_option *options;    /* what its section may say, beyond plugin and stream; NULL: nothing */
    size_t state_size;
    const xlm_stage_annotation *annotations; /* the last has the name NULL; NULL: none */
    /* Check and prepare. On failure, false with a message (why, what to do) in message[size], which is "" before; a message on
     * success is a warning, and goes to the log. NULL: nothing to do. */
    bool (*open)(xlm_stage *self, char *message, size_t size);
    /* Of monolingual streams alone: the sentences of a pair keep their places. */
    void (*arrange)(xlm_stage *self, const xlm_stage_pass *pass, xlm_stage_text *text);
    void (*noise)(xlm_stage *self, const xlm_stage_pass *pass, xlm_stage_noise *noise);
    void (*apply)(xlm_stage *self, const xlm_stage_pass *pass, xlm_stage_batch *batch);
    /* Mean share of the tokens that `apply` makes predicted beyond those that were before, for estimates and as a part of what
     * objectives know as the stream's `mask`. NULL: it leaves that alone. */
    double (*predicted_share)(const xlm_stage *self);
    void (*close)(xlm_stage *self);
};

#ifdef __cplusplus
}
#endif
#endif
