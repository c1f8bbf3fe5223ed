/* xlm-mpi: objectives as plugins. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An objective is one C file that fills in an xlm_loss_class and is built as a loadable module:
 *
 *     cc -shared -fPIC $(pkg-config --cflags xlm-mpi) -o my-loss.so my-loss.c
 *
 * The module exports the class under the name xlm_loss_<file name>, where every character that is not a letter or a digit is
 * replaced by '_': my-loss.so exports `xlm_loss_my_loss`. A job file names it with `plugin = ./my-loss.so`; a name without a
 * slash is searched for among the installed objectives (`plugin = mlm`).
 *
 * An objective declares which views of its stream it needs: which encodings, which layer of them, which rows. The host encodes
 * each view once per micro-batch, however many objectives ask for it. An objective receives the views (an xlm_pass) and returns
 * the mean of its terms. The trainer weights the micro-batches by their numbers of terms, so that the loss of a step is the
 * global mean over all micro-batches of all ranks, whatever their number. A plugin never communicates with other ranks.
 *
 * Parameters are marked `[in] name: meaning` or `[out] name: meaning`, one on each line, unless the type says it all. */
#ifndef XLM_LOSS_H
#define XLM_LOSS_H

#include <xlm/cooccurrence.h>
#include <xlm/dictionary.h>
#include <xlm/model.h>
#include <xlm/options.h>
#include <xlm/stage.h>
#include <xlm/tape.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Increased when the layout or the meaning of anything here changes; a module with another number is refused. What is compiled in
 * double precision has a number of its own (xlm/loss_check.h). */
#define XLM_LOSS_ABI_FLOAT 14
#define XLM_LOSS_ABI_DOUBLE 1000 /* and above */
#ifdef XLM_DOUBLE
#define XLM_LOSS_ABI (XLM_LOSS_ABI_DOUBLE + XLM_LOSS_ABI_FLOAT)
#else
#define XLM_LOSS_ABI XLM_LOSS_ABI_FLOAT
#endif

typedef struct xlm_loss_class xlm_loss_class;

/* What an objective knows before training. Valid until close. */
typedef struct xlm_loss_setup {
    const xlm_model_config *model;
    const char *const *words;     /* [model->vocabulary] subwords by id, UTF-8 */
    const int64_t *counts;        /* [model->vocabulary] how often each occurs in the corpus */
    const xlm_special_tokens *specials;
    const char *const *languages; /* [model->languages] codes by id */
    uint64_t seed;
    int64_t steps;                /* planned number of updates */
    int64_t warmup;               /* updates during which the learning rate rises; 0: it starts at its maximum */
} xlm_loss_setup;

/* What an objective knows about its stream. Valid until close. */
typedef struct xlm_loss_stream {
    const char *name;                 /* of the job file's section */
    const char *const *components;    /* what it is drawn from: codes of languages, or of pairs of languages ("de-en") as the job
                                         names them, source first, or without `languages` there as the corpus has them;
                                         NULL-terminated; NULL: labelled examples */
    int64_t batch;                    /* sequences of a step, over all ranks; their maximum if it depends on the step */
    bool parallel;                    /* it has pairs, whose sides can be viewed separately */
    bool drawn_sides;                 /* the side of a pair that comes first is drawn at random (shuffle_sides) */
    bool several_pairs;               /* a sequence can hold more than one pair */
    bool joined;                      /* monolingual text: a sequence can hold more than one sentence */
    bool fragment;                    /* the predicted tokens of a sentence are consecutive, or spans (mask_unit = fragment) */
    double mask;                      /* share of the ordinary tokens that is predicted, its maximum if it depends on the step; in
                                       * labelled examples, share of all tokens */
    double switching;                 /* share of the predicted tokens that the dictionary switches to another language */
    bool noise;                       /* the corrupted text has other rows than the original one */
    bool alignments;                  /* it has word alignments: its batches have the annotation "links" */
    const xlm_dictionary *dictionary; /* if not NULL, its batches have the annotation "translations" */
    const char *const *annotations;   /* names of all annotations of its batches, NULL-terminated; NULL: none */
} xlm_loss_stream;

/* Will the stream's batches have an annotation of that name? */
static inline bool xlm_loss_stream_annotates(const xlm_loss_stream *stream, const char *name)
{
    const char *const *known = stream->annotations;
    while (known != NULL && *known != NULL && strcmp(*known, name) != 0)
        known++;
    return known != NULL && *known != NULL;
}

/* One objective of a job. */
typedef struct xlm_loss {
    const xlm_loss_class *cls;
    const char *name;              /* of the job file's section */
    void *state;                   /* [state_size] bytes, owned by the host: the options are filled in, the rest is zero */
    const xlm_loss_setup *setup;
    const xlm_loss_stream *stream; /* NULL: none */
    struct xlm_hosted *hosted;     /* private to the host */
} xlm_loss;

/* ---- views: what the encoder and the decoder compute for an objective ---- */

typedef enum xlm_view_text {
    XLM_TEXT_CORRUPTED, /* of the batch: as noise and masking left it */
    XLM_TEXT_ORIGINAL,  /* of the batch: as it was read */
    XLM_TEXT_MADE       /* what this objective's `label` made (xlm_pass_make_text); for `loss` */
} xlm_view_text;

/* One side of the pairs alone is a text of its own, with positions from 0 and all types 0; <s> is added at the beginning of a
 * side that has none. Only for parallel streams. */
typedef enum xlm_view_side {
    XLM_SIDE_BOTH,
    XLM_SIDE_FIRST,     /* types = 0 */
    XLM_SIDE_SECOND     /* types = 1 */
} xlm_view_side;

typedef enum xlm_view_weights {
    XLM_WEIGHTS_LIVE,
    XLM_WEIGHTS_AVERAGED /* the objective's average (xlm_declare_average); for `label`, without gradient. Of what is made of the
                            states, only parameters by xlm_loss_averaged_param are averaged: heads of the model (xlm_lm_...),
                            xlm_param and xlm_search have the live weights */
} xlm_view_weights;

typedef enum xlm_view_rows {
    XLM_ROWS_ALL,       /* [T] */
    XLM_ROWS_PREDICTED, /* [M] batch->predicted_rows */
    XLM_ROWS_FIRST,     /* [S] the first of each sequence, <s> */
    XLM_ROWS_NEAR,      /* the predicted rows, and the rows of the same sequence at most `reach` rows away from one */
    XLM_ROWS_LINKED,    /* the predicted rows, and the rows that the batch's "links" link to one; the stream has alignments */
    XLM_ROWS_UNMASKED   /* the rows whose id is not <mask>; the first row of a sequence that is all <mask> */
} xlm_view_rows;

enum { XLM_MAX_VIEW_NUMBER = 15 };

/* One layer of an encoding. Views with the same text, side, stack, memory, causality, weights, gradient, dropout and number
 * share one encoding, up to the highest layer that any of them asks for; that layer is computed only for the rows that some
 * view asks for.
 *
 * The number separates draws of dropout: views of the same text with numbers 0 and 1 have different dropout masks (SimCSE,
 * R-Drop). It is part of the random key, so view 1 of one objective is view 1 of another. An objective that declares the same
 * view with dropout twice, with the same number, is refused: both would be one encoding. Views of the decoder that differ only in
 * their memory have the same masks unless their numbers differ.
 *
 * A view without gradient is encoded for `label` if the class has it, otherwise for `loss`; a made text always for `loss`. If a
 * view of the live weights is encoded for a label and requested again, by another label or a loss, it is kept until the end of
 * the step. */
typedef struct xlm_view {
    xlm_view_text text;
    xlm_view_side side;
    xlm_stack stack;    /* encoder, or decoder if the model has one (decoder_layers in [model]) */
    int memory;         /* for a decoder: index of the view that it attends to, which this objective has declared before and which
                           has all rows or the unmasked ones; 0 for an encoder. With live weights not one with averaged ones; for
                           `label` not one of a made text, or that attends to one */
    bool causal;        /* for an encoder: each token attends only to itself and to those before it in its sequence. false for a
                           decoder, whose attention to the text is always causal */
    xlm_view_weights weights;
    int64_t layer;      /* 0 (embeddings) to L, for a decoder to D; or XLM_TOP_LAYER */
    xlm_view_rows rows; /* for a made text: all rows, the unmasked ones, or the first of each sequence */
    bool gradient;      /* false: the states are constants. An objective none of whose views has one is warned about */
    bool dropout;       /* in training */
    int64_t reach;      /* for XLM_ROWS_NEAR: maximum distance in rows, >= 0 */
    int64_t number;     /* of the draws of dropout: 0 to XLM_MAX_VIEW_NUMBER; 0 without dropout */
} xlm_view;

/* An encoded view. */
typedef struct xlm_encoded {
    const xlm_text *text;   /* what was encoded */
    xlm_var *states;        /* n x d: H[layer] at the n rows of the view; NULL if n = 0, as of the predicted rows of a batch that
                               has none */
    const int32_t *rows;    /* [n] the rows of the text that these are, ascending; NULL: all */
    const int32_t *targets; /* [n] for XLM_ROWS_PREDICTED: their targets; otherwise NULL */
} xlm_encoded;

/* ---- a pass: one micro-batch ---- */

typedef struct xlm_pass {
    const xlm_model *model;
    const xlm_batch *batch;       /* the stream's; NULL for an objective without a stream */
    int64_t step;                 /* number of updates before this step */
    int64_t part, parts;          /* an objective without a stream computes part `part` of `parts` of its terms */
    xlm_score *scores;            /* [batch->predicted] in evaluation, for perplexity and accuracy: fill in all if the terms are
                                     the predicted rows, and none if they are others; else NULL */
    void *labels;                 /* in `loss`: the first memory that `label` took with xlm_pass_keep, or NULL */
    bool planned;                 /* in `label` and `loss`: this is an estimate, on a tape that computes nothing */
    bool held_out;                /* this is an evaluation on held-out text: losses are without label smoothing */
    const struct xlm_pass_call *call;
} xlm_pass;

/* An option for objectives that predict words: ε of label smoothing. place: the offset of a double in the objective's state. */
#define XLM_LABEL_SMOOTHING_OPTION(place)                                                                                        \
    {"label_smoothing", XLM_OPTION_REAL, "0", 0, 1, NULL,                                                                        \
     "share of the probability of each target that is spread evenly over the whole vocabulary (Vaswani et al. 2017: 0.1); the "  \
     "loss without it is reported as cross_entropy, and is the loss on held-out text", place}
/* ε in this pass: none on held-out text, whose loss and perplexity can then be compared whatever ε is in training. */
static inline double xlm_pass_label_smoothing(const xlm_pass *pass, double smoothing) { return pass->held_out ? 0 : smoothing; }

/* An encoded view. Ends the program if the view is not encoded: in `count`; in `label` if the view has a gradient or is of a made
 * text; in `loss` if it has no gradient, the class has a `label` and the text is not made.
 * [in] view: the index that xlm_declare_view returned; 0 if no view was declared */
const xlm_encoded *xlm_pass_view(const xlm_pass *pass, int view);

/* For `label`: memory for this objective and this micro-batch, valid until the end of the step. Not cleared. */
void *xlm_pass_keep(const xlm_pass *pass, uint64_t bytes);

/* For `label`: makes a text that views of XLM_TEXT_MADE encode in `loss`: one sequence for each sequence of the batch, in the
 * same order. Its types are 0, and its row keys have the instances of the batch's sequences. It may depend only on the batch, the
 * parameters, the declared state and draws of xlm_pass_uniform, so that it is the same on any number of ranks. Must be called
 * once in each call of `label` that returns terms, and at most once in the others. In an estimate (pass->planned), memory is
 * estimated for the text that is made here: if its length depends on words or values, make the longest possible text then. All
 * arrays are copied.
 * [in] offsets: [S+1] of S = batch->corrupted.sequences sequences, each of 1 to max_tokens tokens (xlm_declare_text)
 * [in] ids: [offsets[S]] of the vocabulary, including any special tokens that the text is to have
 * [in] languages: [offsets[S]] language ids
 * [in] positions: [offsets[S]] 0 to the positions of the model − 1; NULL: they count from 0 in each sequence */
void xlm_pass_make_text(const xlm_pass *pass, const int32_t *offsets, const int32_t *ids, const int32_t *languages,
                        const int32_t *positions);

/* For `label` and `loss`: sends a row of this sequence of the batch to all ranks, once per sequence and step. Does nothing
 * outside training steps (in evaluation, dumps and gradient checks).
 * [in] sequence: 0 to batch->corrupted.sequences − 1
 * [in] row: [bytes] of xlm_declare_publish, copied */
void xlm_pass_publish(const xlm_pass *pass, int32_t sequence, const void *row);

/* A random number in [0, 1) with 24 bits: a function of the seed, the objective's name, the step, the key and the number. The
 * same on any number of ranks; on held-out text it does not depend on the step.
 * [in] key: for a row, its text's keys[row]
 * [in] number: a different one for each purpose */
double xlm_pass_uniform(const xlm_pass *pass, xlm_row_key key, uint32_t number);

/* Random numbers from N(0, 1): value i is a function of the seed, the objective's name, the number and i. May be called in any
 * hook; the same on all ranks.
 * [in] number: a different one for each purpose
 * [out] values: [n] */
void xlm_loss_normal(const xlm_loss *loss, uint32_t number, int64_t n, xlm_real *values);

/* ---- declarations of an objective ---- */

typedef struct xlm_declaration xlm_declaration;
/* Declares a view that `label` or `loss` needs. Returns its index: 0, 1, … in the order of the calls. An objective with a stream
 * that declares none has one view, index 0: corrupted text, top layer, all rows, with gradient and dropout. A layer that the
 * model does not have, sides of a stream without pairs, and the same view with dropout twice are refused.
 * [in] view: copied */
int xlm_declare_view(xlm_declaration *declaration, const xlm_view *view);
/* Names of parameters and states are paths in files: words of letters, digits, "_", "-" and "." (not "." alone), with "/" between
 * them. All names of an objective must be different, and none may be the beginning of another up to a "/". "loss", "average",
 * "made_text" and what begins with one of them and a "/" are reserved, because files use them for other data. A name that breaks
 * these rules ends the program.
 *
 * Declares a trained parameter "objectives/<objective>/<name>", initialised to N(0, 0.02²) for weights (rows x cols), to 0 for
 * biases (1 x cols) and to 1 for gains of normalisations (1 x cols). */
void xlm_declare_weight(xlm_declaration *declaration, const char *name, int64_t rows, int64_t cols);
void xlm_declare_bias(xlm_declaration *declaration, const char *name, int64_t cols);
void xlm_declare_gain(xlm_declaration *declaration, const char *name, int64_t cols);
typedef enum xlm_state_type {
    XLM_STATE_F32,
    XLM_STATE_F64,
    XLM_STATE_I64,
#ifdef XLM_DOUBLE
    XLM_STATE_REAL = XLM_STATE_F64 /* the type xlm_real */
#else
    XLM_STATE_REAL = XLM_STATE_F32
#endif
} xlm_state_type;
/* Declares state in the plugin's own memory, which is the same on all ranks; it is written to and read from checkpoints, and
 * written to step dumps, as "/objectives/<objective>/<name>". A checkpoint can be anyone's: what it says of the state may be any
 * numbers of this type, so a plugin checks those that it uses as indices or sizes.
 * [in,out] values: [n], owned by the plugin, valid until close; may be NULL if n is 0
 * [in] n: at least 0 */
void xlm_declare_state(xlm_declaration *declaration, const char *name, xlm_state_type type, void *values, int64_t n);
/* Declares a momentum average of the parameters of the model and of the objective, a ← momentum · a + (1 − momentum) · p after
 * each update; it starts as a copy. At most once per objective; each objective has its own average. Views with averaged weights
 * are encoded with it.
 * [in] momentum: in [0, 1) */
void xlm_declare_average(xlm_declaration *declaration, double momentum);
/* Declares that `label` makes a text (xlm_pass_make_text). At most once per objective, which must have a stream and a label
 * function. Views of the text are declared as others are.
 * [in] max_tokens: of a sequence, at least 1; more than the model has positions is refused */
void xlm_declare_text(xlm_declaration *declaration, int64_t max_tokens);
/* Declares rows of `bytes` bytes that `label` or `loss` publishes and `publish` receives. At most once per objective, which must
 * have a stream. The bytes must not contain addresses, nor padding that nobody has set. */
void xlm_declare_publish(xlm_declaration *declaration, size_t bytes);
/* For a loss that is a sum of means over different terms, mean_0 + Σ_i weight_i · mean_i: declares one of the means after the
 * first. The number of terms of the first mean is returned by `count` or `label`, and its value by `loss`. Each mean is a global
 * mean over its own terms in all micro-batches of all ranks. The sum is reported, with the number of terms of the first mean.
 * Returns i: 1, 2, … in the order of the calls. */
int xlm_declare_mean(xlm_declaration *declaration, double weight);
/* Declares a number that is reported with the loss as "<objective>/<name>".
 * [in] name: of letters, digits and "_-."; not "loss" or "perplexity", which the program reports, nor "weight", which reports a
 * weight that changes */
void xlm_declare_metric(xlm_declaration *declaration, const char *name);
/* The same of a number that held-out text never has, so that checkpoints cannot be compared by it. */
void xlm_declare_training_metric(xlm_declaration *declaration, const char *name);
/* For `loss`: adds to the sum and the count of a declared metric. The global mean is reported, sum / count over all micro-batches
 * of all ranks, with the same bits on any number of ranks: in metrics.csv after each step (split "train", the mean as score, the
 * count as terms) and each evaluation (split "held_out"), and in the log as the mean over the steps of an interval. Nothing is
 * reported if the count is 0. In dumps and gradient checks the call does nothing. */
void xlm_loss_metric(xlm_loss *loss, const char *name, double sum, int64_t count);

/* For objectives that predict words. The first declares the metric "accuracy" and, with label smoothing, "cross_entropy", which
 * is the loss without it and is not reported of held-out text, whose loss has none; the second, called in `loss`, adds to them.
 * [in] scores: [n] of the predicted words */
static inline void xlm_declare_word_metrics(xlm_declaration *declaration, double label_smoothing)
{
    xlm_declare_metric(declaration, "accuracy");
    if (label_smoothing > 0)
        xlm_declare_training_metric(declaration, "cross_entropy");
}
static inline void xlm_loss_word_metrics(xlm_loss *loss, const xlm_score *scores, int64_t n, double label_smoothing)
{
    for (int64_t i = 0; i < n; i++) {
        xlm_loss_metric(loss, "accuracy", scores[i].correct, 1);
        if (label_smoothing > 0)
            xlm_loss_metric(loss, "cross_entropy", scores[i].loss, 1);
    }
}

/* For `count` or `label`: sets the number of terms of a mean of xlm_declare_mean, which is 0 if this is not called.
 * [in] mean: the index that xlm_declare_mean returned */
void xlm_pass_terms(const xlm_pass *pass, int mean, int64_t terms);
/* For `loss`: gives the value of this mean. To be called once if it has terms in this pass, and not at all if it has none.
 * Anything else ends the program.
 * [in] mean: the index that xlm_declare_mean returned
 * [in] value: 1 x 1 */
void xlm_pass_mean(const xlm_pass *pass, int mean, xlm_var *value);

/* A parameter of the objective as a variable. */
xlm_var *xlm_loss_param(xlm_loss *loss, xlm_tape *tape, const char *name);
/* For `label`: the average of a parameter of the objective, a constant. */
xlm_var *xlm_loss_averaged_param(xlm_loss *loss, xlm_tape *tape, const char *name);

/* For `open`: a file that the objective needs. The host reads it once for all objectives that ask for it, and owns it; it is
 * valid until close and the same on all ranks. Returns NULL, with an error message, if the file cannot be read or does not belong
 * to the job's corpus. The kinds are
 *   "dictionary"     const xlm_dictionary *: the pairs of a dictionary of xlm_dict
 *   "cooccurrence"   const xlm_cooccurrence_table *: the counts of a table of xlm_cooc, 8 bytes per pair on every rank
 * [in] kind: one of these
 * [in] path: for example the value of an option of type TEXT
 * [out] message: [size] bytes, what is wrong */
const void *xlm_loss_resource(xlm_loss *loss, const char *kind, const char *path, char *message, size_t size);

/* All rows that were published in a step, the same on every rank: in the order of the instances, whatever the number of ranks. */
typedef struct xlm_published {
    int64_t rows;              /* 0 in a step that reads nothing of the objective's stream */
    size_t bytes;              /* of a row */
    const uint32_t *instances; /* [rows] ascending */
    const void *values;        /* [rows x bytes] one row after another, the first aligned for any type */
    int64_t step;              /* number of updates before this step */
} xlm_published;

/* The order of calls is: open, declare; in each step label or count for all micro-batches, loss for all micro-batches, the update
 * of the parameters, publish, after_update; at the end close. In steps in which the objective takes no part, before its `begin` or
 * where its list of weights is 0, none of them is called. Before the first step all but open, declare and close are also
 * called to estimate memory, on a tape whose operators compute nothing (xlm/tape.h: xlm_var_read), with any number as step;
 * declared states are restored afterwards. */
struct xlm_loss_class {
    uint32_t abi;              /* XLM_LOSS_ABI */
    const char *name;          /* "mlm" */
    const char *summary;       /* one line for --help-job */
    bool needs_stream;         /* true: a job must give it a stream; false: it must not */
    const xlm_option *options; /* the keys of its section in addition to plugin, stream, weight and begin; NULL: none */
    size_t state_size;
    /* A stage that its stream must have, after those of the job's sections [stage NAME]; it is there once, however many
     * objectives of a class read the stream. It has the objective's name, no options, and a state of zeros. NULL: none. */
    const xlm_stage_plugin *stage;
    /* All hooks except `loss` are optional.
     *
     * Checks and prepares. Returns false on failure. A message on success is a warning, and is written to the log.
     * [in,out] message: [size] bytes, "" before: on failure the reason and the remedy */
    bool (*open)(xlm_loss *self, char *message, size_t size);
    /* Declares views, parameters, states, an average, metrics. After open. */
    void (*declare)(xlm_loss *self, xlm_declaration *declaration);
    /* Returns the number of terms whose mean `loss` returns for this pass; if 0, loss is not called. Called once, before anything
     * is encoded. Default: batch->predicted or, without a stream, 1 in part 0 and 0 in the others. */
    int64_t (*count)(xlm_loss *self, const xlm_pass *pass);
    /* Instead of count: computes the labels for `loss` from views without gradient, and stores them with xlm_pass_keep. Called
     * for all micro-batches of a rank before any loss, also for those without predicted rows (batch->predicted = 0), whose views of
     * predicted rows have no states. Returns the number of terms. Must not change the state. */
    int64_t (*label)(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass);
    /* Returns the mean of the terms, 1 x 1. If there are none, so that it was called only for a mean of xlm_declare_mean, the
     * result is not used and may be NULL. Must not change the declared state, which would depend on the number of ranks then. */
    xlm_var *(*loss)(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass);
    /* After the update of a step in which the objective takes part, with the same data on all ranks: publish receives the rows of
     * the step, even if there are none; it is called only if `declare` has declared such rows (xlm_declare_publish), which may
     * depend on options. after_update follows. Both may change the state. A declared average follows the parameters in every step,
     * also in others. */
    void (*publish)(xlm_loss *self, const xlm_published *published);
    void (*after_update)(xlm_loss *self, int64_t step);
    void (*close)(xlm_loss *self);
};

#ifdef __cplusplus
}
#endif
#endif
