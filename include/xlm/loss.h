/* xlm-mpi: objectives as plugins. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An objective is one C file that fills in an xlm_loss_class and is built as a loadable module:
 *
 *     cc -shared -fPIC $(pkg-config --cflags xlm-mpi) -o my-loss.so my-loss.c
 *
 * The module exports the class under the name xlm_loss_<file name>, every character that is not a letter or a digit
 * written as '_': my-loss.so exports `xlm_loss_my_loss`. A job file names it with `plugin = ./my-loss.so`; without a slash
 * the name is looked for among the installed objectives (`plugin = mlm`).
 *
 * An objective says which views of its stream it needs: which encodings, up to which layer, which rows. The host encodes each
 * view once a micro-batch, however many objectives ask for it. An objective gets them (an xlm_pass) and returns the mean of its
 * terms. The trainer weighs the micro-batches by their numbers of terms, so that the loss of a step is the global mean over all
 * micro-batches of all ranks, whatever their number. A plugin never speaks to other ranks. */
#ifndef XLM_LOSS_H
#define XLM_LOSS_H

#include <xlm/cooccurrence.h>
#include <xlm/dictionary.h>
#include <xlm/model.h>
#include <xlm/options.h>
#include <xlm/tape.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when the layout or the meaning of anything here changes; a module with another number is refused. What is compiled in
 * double precision has a number of its own (xlm/loss_check.h). */
#define XLM_LOSS_ABI_FLOAT 6
#define XLM_LOSS_ABI_DOUBLE 1000 /* and above */
#ifdef XLM_DOUBLE
#define XLM_LOSS_ABI (XLM_LOSS_ABI_DOUBLE + XLM_LOSS_ABI_FLOAT)
#else
#define XLM_LOSS_ABI XLM_LOSS_ABI_FLOAT
#endif

typedef struct xlm_loss_class xlm_loss_class;

/* What an objective can know before training. Valid until close. */
typedef struct xlm_loss_setup {
    const xlm_model_config *model;
    const char *const *words;     /* [model->vocabulary] subwords by id, UTF-8 */
    const int64_t *counts;        /* [model->vocabulary] in the corpus */
    const xlm_special_tokens *specials;
    const char *const *languages; /* [model->languages] */
    uint64_t seed;
    int64_t steps;                /* planned number of updates */
    int64_t warmup;               /* of these, in which the learning rate rises; 0: it begins at its highest */
} xlm_loss_setup;

/* What an objective can know of its stream. Valid until close. */
typedef struct xlm_loss_stream {
    const char *name;                 /* of the job file's section */
    int64_t batch;                    /* sequences of a step, over all ranks */
    bool parallel;                    /* it has pairs, whose two sides can be viewed alone */
    bool drawn_sides;                 /* which side of a pair comes first is drawn (shuffle_sides) */
    bool several_pairs;               /* a sequence can hold more than one pair */
    double mask;                      /* share of the ordinary tokens that is predicted; of all tokens of labelled examples */
    double switching;                 /* share of those that is switched to another language by the dictionary */
    bool alignments;                  /* it has word alignments: its batches have the annotation "links" */
    const xlm_dictionary *dictionary; /* the stream's: its batches have the annotation "translations"; NULL: none */
} xlm_loss_stream;

/* One objective of a job. */
typedef struct xlm_loss {
    const xlm_loss_class *cls;
    const char *name;              /* of the job file's section */
    void *state;                   /* state_size bytes, the options filled in, the rest zero */
    const xlm_loss_setup *setup;
    const xlm_loss_stream *stream; /* NULL: none */
    struct xlm_hosted *hosted;     /* what the host knows of it */
} xlm_loss;

/* ---- views: what the encoder computes for an objective ---- */

typedef enum xlm_view_input {
    XLM_INPUT_CORRUPTED, /* the batch as the stream gives it */
    XLM_INPUT_ORIGINAL,  /* the same before corruption: ids = original, languages = text_languages */
    XLM_INPUT_FIRST,     /* of each sequence, the first side of its pairs alone (types = 0), before corruption: a batch of its own
                            with positions from 0, all types 0. A parallel stream's alone. */
    XLM_INPUT_SECOND     /* the second side likewise; <s> is put before it where it has none */
} xlm_view_input;

typedef enum xlm_view_weights {
    XLM_WEIGHTS_LIVE,
    XLM_WEIGHTS_AVERAGED /* the objective's average (xlm_declare_average); for `label`, without gradient */
} xlm_view_weights;

typedef enum xlm_view_rows {
    XLM_ROWS_ALL,    /* [T] */
    XLM_ROWS_MASKED, /* [M] batch->masked_rows */
    XLM_ROWS_FIRST,  /* [S] the first of each sequence, <s> */
    XLM_ROWS_NEAR,   /* the masked rows, and those of the same sequence that are at most `reach` rows away from one */
    XLM_ROWS_LINKED  /* the masked rows, and those that "links" of the batch link to one; of a stream with alignments */
} xlm_view_rows;

enum { XLM_MOST_VIEW_NUMBER = 15 };

/* An encoding that is looked at in one layer. Views that agree in input, weights, gradient, dropout and number are one encoding,
 * up to the highest layer that anybody asks for, which is computed for those rows alone that somebody wants of it.
 *
 * The number separates draws of dropout: views of the same text with numbers 0 and 1 have two dropout masks (SimCSE, R-Drop). It
 * is a part of the random key, so view 1 of one objective is view 1 of another. An objective that declares the same view with
 * dropout twice, with one number, is refused: both would be one encoding.
 *
 * A view without gradient is encoded for `label` where the class has it, otherwise for `loss`; one of the live weights that is
 * encoded for a label and asked for again, by another label or a loss, stays until the end of the step. */
typedef struct xlm_view {
    xlm_view_input input;
    xlm_view_weights weights;
    int64_t layer;      /* 0 (embeddings) … L, or XLM_TOP_LAYER */
    xlm_view_rows rows;
    bool gradient;      /* false: the states are constants */
    bool dropout;       /* in training */
    int64_t reach;      /* of XLM_ROWS_NEAR, 0 or more */
    int64_t number;     /* of the draws of dropout, 0 to XLM_MOST_VIEW_NUMBER; without dropout 0 */
} xlm_view;

/* A view that was encoded. */
typedef struct xlm_encoded {
    const xlm_batch *batch; /* what the encoder read: pass->batch for the corrupted input; of a side alone, without
                               annotations */
    xlm_var *states;        /* H[layer] at the view's rows, rows x d; NULL when there are no such rows */
    const int32_t *rows;    /* [rows] which rows of the batch these are, ascending; NULL: all */
} xlm_encoded;

/* ---- a pass: one micro-batch ---- */

typedef struct xlm_pass {
    const xlm_model *model;
    const xlm_batch *batch;       /* the stream's; NULL for an objective without stream */
    int64_t step;                 /* updates made before this one */
    int64_t part, parts;          /* an objective without stream does part `part` of `parts` of its own terms */
    xlm_score *scores;            /* [batch->masked] in evaluation: fill in for perplexity and accuracy by language; else NULL */
    void *labels;                 /* in `loss`: the first memory that `label` took with xlm_pass_keep, or NULL */
    const struct xlm_pass_call *call;
} xlm_pass;

/* The view with the index that xlm_declare_view returned, or 0 when none was declared. It ends the program where the view is not
 * encoded: in `count`; in `label` when it has a gradient; in `loss` when it has none and there is a `label`. */
const xlm_encoded *xlm_pass_view(const xlm_pass *pass, int view);

/* For `label`: memory until the end of the step, for this objective and this micro-batch. Not cleared. */
void *xlm_pass_keep(const xlm_pass *pass, uint64_t bytes);

/* For `label` and `loss`: send values[cols] (xlm_declare_publish), of this sequence of the batch, to all ranks. Once a
 * sequence and step. What is not a training step (evaluation, a dump, a check of gradients) publishes nothing. */
void xlm_pass_publish(const xlm_pass *pass, int32_t sequence, const xlm_real *values);

/* A draw from [0, 1), 24 bits: a function of the seed, the objective's name, the step, the key (of a row: batch->keys[row]) and
 * `number`, of which draws for several purposes take several. The same on any number of ranks. */
double xlm_pass_uniform(const xlm_pass *pass, xlm_row_key key, uint32_t number);

/* values[n], N(0, 1): number i is a function of the seed, the objective's name, `number`, of which draws for several purposes take
 * several, and i. In any hook; the same on all ranks. */
void xlm_loss_normal(const xlm_loss *loss, uint32_t number, int64_t n, xlm_real *values);

/* ---- declaring what belongs to the objective ---- */

typedef struct xlm_declaration xlm_declaration;
/* A view that `loss` needs; copied. Returns its index: 0, 1, … in the order of the calls. Without any, an objective with a stream
 * has one, number 0: corrupted input, top layer, all rows, with gradient and dropout. A layer that the model does not have,
 * sides of a stream without pairs, and the same view with dropout twice are refused. */
int xlm_declare_view(xlm_declaration *declaration, const xlm_view *view);
/* Parameters and states of an objective have names of their own, each once; not "loss", "average" and "average/...", which files
 * have beside them. Others end the program.
 *
 * A trained parameter "objectives/<objective>/<name>", at first N(0, 0.02²) for weights, 0 for biases and 1 for gains of
 * normalisations (rows = 1). */
void xlm_declare_weight(xlm_declaration *declaration, const char *name, int64_t rows, int64_t cols);
void xlm_declare_bias(xlm_declaration *declaration, const char *name, int64_t cols);
void xlm_declare_gain(xlm_declaration *declaration, const char *name, int64_t cols);
/* n numbers of the plugin's own memory, the same on all ranks, written to and read from checkpoints, and written to step dumps,
 * as "/objectives/<objective>/<name>". */
typedef enum xlm_state_type {
    XLM_STATE_F32,
    XLM_STATE_F64,
    XLM_STATE_I64,
#ifdef XLM_DOUBLE
    XLM_STATE_REAL = XLM_STATE_F64 /* of xlm_real */
#else
    XLM_STATE_REAL = XLM_STATE_F32
#endif
} xlm_state_type;
void xlm_declare_state(xlm_declaration *declaration, const char *name, xlm_state_type type, void *values, int64_t n);
/* A momentum copy of the model's and of the objective's own parameters, a ← momentum · a + (1 − momentum) · p after each
 * update; at first a copy. momentum: in [0, 1). Once an objective; each has its own. Views with averaged weights are encoded
 * with it. */
void xlm_declare_average(xlm_declaration *declaration, double momentum);
/* Rows of `cols` numbers that `label` or `loss` publishes and `publish` receives. Once an objective, which must have a stream. */
void xlm_declare_publish(xlm_declaration *declaration, int64_t cols);
/* For a loss that is a sum of means with different terms, mean_0 + Σ_i weight_i · mean_i: declare each but the first, which `count`
 * or `label`, and `loss`, return. Each is a global mean by itself, over its own terms of all micro-batches of all ranks. Returns
 * i: 1, 2, … in the order of the calls. Reported is the sum, beside the number of terms of the first. */
int xlm_declare_mean(xlm_declaration *declaration, double weight);
/* A number to be reported beside the loss, under a name of letters, digits and "_-.", as "<objective>/<name>". */
void xlm_declare_metric(xlm_declaration *declaration, const char *name);
/* For `loss`: add to the sum and the count of a declared metric. Reported is the global mean, sum / count over all micro-batches
 * of all ranks, the same bits on any number of ranks: in metrics.csv after each step (split "train", the mean under score, the
 * count under terms) and each evaluation (split "held_out"), in the log of every interval the mean over its steps. Without a
 * count, nothing is reported. Where nothing is reported (a dump, a check of gradients), the call does nothing. */
void xlm_loss_metric(xlm_loss *loss, const char *name, double sum, int64_t count);

/* For `count` or `label`: the terms of a mean of xlm_declare_mean; 0 without a call. */
void xlm_pass_terms(const xlm_pass *pass, int mean, int64_t terms);
/* For `loss`: this mean of the pass, a 1 x 1 variable. Once, where it has terms; not where it has none. */
void xlm_pass_mean(const xlm_pass *pass, int mean, xlm_var *value);

/* The objective's own parameter as a variable. */
xlm_var *xlm_loss_param(xlm_loss *loss, xlm_tape *tape, const char *name);
/* In `label`: the average of it, a constant. */
xlm_var *xlm_loss_averaged_param(xlm_loss *loss, xlm_tape *tape, const char *name);

/* For `open`: a file that the objective needs, by its path, which an option of type TEXT can give. The host reads it, once for
 * all objectives that ask for it, and owns it; valid until close, the same on all ranks. NULL, with what is wrong in
 * message[size], when it cannot be read, or is not of the job's corpus. kind:
 *   "dictionary"     const xlm_dictionary *: the pairs of a dictionary of xlm_dict
 *   "cooccurrence"   const xlm_cooccurrence_table *: the counts of a table of xlm_cooc, 8 bytes a pair on every rank */
const void *xlm_loss_resource(xlm_loss *loss, const char *kind, const char *path, char *message, size_t size);

/* All rows that were published in a step, on every rank, in the order of the instances (keys), whatever the number of ranks. */
typedef struct xlm_published {
    int64_t rows, cols;
    const uint32_t *instances; /* [rows] ascending */
    const float *values;       /* [rows x cols] */
    int64_t step;              /* updates made before this one */
} xlm_published;

/* A micro-batch at its largest. */
typedef struct xlm_loss_size {
    int64_t tokens, sequences, predicted; /* T, S, M */
} xlm_loss_size;

/* What an objective computes of the views of such a micro-batch. */
typedef struct xlm_loss_cost {
    uint64_t label, loss; /* bytes of the tape in `label`, and in `loss` with its backward pass */
    uint64_t kept;        /* bytes of xlm_pass_keep */
    double flops;         /* floating-point operations of all its products */
} xlm_loss_cost;

/* Hooks are called in this order: open, declare; each step: label or count for all micro-batches, loss for all micro-batches, the
 * update of the parameters, publish, after_update; close. */
struct xlm_loss_class {
    uint32_t abi;              /* XLM_LOSS_ABI */
    const char *name;          /* "mlm" */
    const char *summary;       /* one line for --help-job */
    bool needs_stream;         /* a job must, or must not, give it a stream */
    const xlm_option *options; /* what its section may say, beyond plugin, stream and weight; NULL: nothing */
    size_t state_size;
    /* All optional but `loss`. */
    /* Check and prepare. On failure, false with a message (why, what to do) in message[size], which is "" before; a message
     * on success is a warning, and goes to the log. */
    bool (*open)(xlm_loss *self, char *message, size_t size);
    /* Views, parameters, states, an average, metrics. After open. */
    void (*declare)(xlm_loss *self, xlm_declaration *declaration);
    /* Number of terms whose mean `loss` returns for this pass, asked once, before anything is encoded; 0: loss is not called.
     * Default: batch->masked, or, without stream, 1 in part 0 and 0 in the others. */
    int64_t (*count)(xlm_loss *self, const xlm_pass *pass);
    /* In place of count: what `loss` shall learn, made from views without gradient, for all micro-batches of a rank before any
     * loss, and kept with xlm_pass_keep. Returns the number of terms. The state must not change in it. */
    int64_t (*label)(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass);
    /* The mean of the terms, a 1 x 1 variable; NULL where it has none, and is called for a mean of xlm_declare_mean. */
    xlm_var *(*loss)(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass);
    /* After the update, on all ranks alike: the rows of the step, even when there are none; then the state may change once
     * more. */
    void (*publish)(xlm_loss *self, const xlm_published *published);
    void (*after_update)(xlm_loss *self, int64_t step);
    /* For estimates of memory and time (--dry-run, --plan), after declare: what label and loss take beside the encoding of the
     * views and the head for words. *cost is zeros before. Default: they take nothing to speak of. */
    void (*cost)(xlm_loss *self, const xlm_loss_size *size, xlm_loss_cost *cost);
    void (*close)(xlm_loss *self);
};

#ifdef __cplusplus
}
#endif
#endif
