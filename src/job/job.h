/* xlm-mpi: a training job, read from a job file. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sections: [model] (nn/model.h), [train] and [evaluate] (below), and any number of [stream NAME] (stream/stream.h), of
 * [stage NAME], with plugin, stream and the plugin's own options, and of [objective NAME], with plugin, stream, weight, begin and the
 * plugin's own options. */
#ifndef XLM_JOB_JOB_H
#define XLM_JOB_JOB_H

#include <stdio.h>

#include "options/jobfile.h"
#include "stream/stream_config.h"
#include "nn/model.h"
#include "job/optimiser.h"
#include "objective/loss_plugins.h"
#include "objective/loss_weight.h"

/* Rows of subwords and languages that the checkpoint of [train] start does not have: the choices of start_rows, in order. */
enum { XLM_START_DRAW, XLM_START_AVERAGE };
/* Layers of the decoder, when it has none: the choices of start_decoder. */
enum { XLM_START_DECODER_DRAW, XLM_START_DECODER_ENCODER, XLM_START_DECODER_COPY };

/* Section [train]. */
typedef struct xlm_train_config {
    char *corpus;              /* corpus.h5 */
    char *start;               /* checkpoint with the model that the run begins with; NULL: parameters are drawn */
    int64_t start_rows;        /* of subwords and languages that it does not have: XLM_START_... */
    int64_t start_decoder;     /* XLM_START_DECODER_... */
    char *output;              /* directory of checkpoints and metrics */
    int64_t steps;
    int64_t seed;
    int64_t micro_batches;     /* passes that a step is divided into, a power of two */
    bool reproducible;         /* gradients are added along one fixed tree */
    bool recompute;            /* layers in the backward pass, instead of keeping their results */
    int64_t threads;           /* of a rank; 0: its cores */
    int64_t gemm;              /* XLM_GEMM_... (train/arithmetic.h) */
    int64_t precision;         /* an xlm_precision (gemm/packed.h) */
    int64_t exchange;          /* an xlm_precision: of gradients on the wire */
    int64_t exchange_parameters; /* the same of parameters */
    xlm_optimiser_config optimiser;
    bool head_frozen;          /* no objective uses the LM head, so it does not change (job/rates.h) */
    int64_t log_every;
    char *tensorboard;         /* directory of event files; NULL: none are written */
    int64_t evaluate_every, evaluate_instances;
    int64_t checkpoint_every, keep;
} xlm_train_config;

/* The keys of [train] that [tune] has too, rows of an option table; PLACE(member) is the offset of that member of
 * xlm_train_config in the table's struct. The optimiser's are XLM_OPTIMISER_OPTIONS. */
#define XLM_TRAINING_OPTIONS(PLACE)                                                                                              \
    {"output", XLM_OPTION_TEXT, NULL, 0, 0, NULL, "directory for checkpoints and metrics.csv; made when missing",                \
     PLACE(output)},                                                                                                             \
    {"seed", XLM_OPTION_INT, "1", 0, 9e18, NULL, "seed of every random draw", PLACE(seed)},                                      \
    {"micro_batches", XLM_OPTION_INT, "8", 1, 1 << 20, NULL,                                                                     \
     "number of passes that a step's batch is cut into (gradient accumulation), a power of two; up to that many ranks, powers "  \
     "of two, give identical bits; on other numbers of ranks it is rounded up to a multiple of them",                            \
     PLACE(micro_batches)},                                                                                                      \
    {"reproducible", XLM_OPTION_FLAG, "true", 0, 0, NULL,                                                                        \
     "add gradients in one fixed order: identical bits on 1, 2, 4 ... ranks up to micro_batches; false: in any order, all "      \
     "micro-batches of a rank into one array, which takes less memory and a little less time",                                   \
     PLACE(reproducible)},                                                                                                       \
    {"recompute", XLM_OPTION_FLAG, "false", 0, 0, NULL,                                                                          \
     "activation checkpointing: keep only the input of each layer and compute the rest again in the backward pass; less "        \
     "memory, up to a third more time, identical bits",                                                                          \
     PLACE(recompute)},                                                                                                          \
    {"threads", XLM_OPTION_INT, "0", 0, 1024, NULL,                                                                              \
     "number of threads of each rank; 0: OMP_NUM_THREADS, or one a core that the rank may use",                                  \
     PLACE(threads)},                                                                                                            \
    {"gemm", XLM_OPTION_CHOICE, "auto", 0, 0, "auto|blis|onednn",                                                                \
     "library that makes products with parameters; auto: oneDNN for bfloat16, and for float32 on processors that were "          \
     "measured to be faster with it (Intel with AVX-512, AMD from Zen 5 on), else BLIS, which takes less memory",                \
     PLACE(gemm)},                                                                                                               \
    {"precision", XLM_OPTION_CHOICE, "float32", 0, 0, "float32|bfloat16",                                                        \
     "precision of the factors of products, including attention's; sums and all else are always float32; bfloat16 is for "      \
     "processors with AVX512_BF16 or AMX, where such products cost half",                                                        \
     PLACE(precision)},                                                                                                          \
    {"exchange", XLM_OPTION_CHOICE, "float32", 0, 0, "float32|bfloat16",                                                         \
     "precision of gradients that ranks send to one another; bfloat16 halves their bytes: both numbers of each addition of "     \
     "micro-batches are rounded, on any number of ranks that is a power of two; sums are float32",                               \
     PLACE(exchange)},                                                                                                           \
    {"exchange_parameters", XLM_OPTION_CHOICE, "float32", 0, 0, "float32|bfloat16",                                              \
     "precision of the parameters that ranks send to one another; bfloat16 halves their bytes: all passes compute with "         \
     "rounded parameters, on any number of ranks, while float32 ones are updated, and written into checkpoints",                 \
     PLACE(exchange_parameters)},                                                                                                \
    {"log_every", XLM_OPTION_INT, "20", 1, 1e12, NULL, "steps between two lines of the log", PLACE(log_every)},                  \
    {"tensorboard", XLM_OPTION_TEXT, "", 0, 0, NULL,                                                                             \
     "directory, of this run alone, for a file of events with the numbers of metrics.csv, which TensorBoard shows; made when "   \
     "missing; none: no such file",                                                                                              \
     PLACE(tensorboard)}

/* Section [evaluate]: how checkpoints are compared while the model is trained (run/scoring.h), and held-out pairs that are
 * translated for that (run/dev_translations.h). */
typedef struct xlm_evaluate_config {
    bool given;                /* the job has the section */
    char **choose_by;          /* measures, "mlm/loss", whose mean compares checkpoints, NULL-terminated; NULL without section */
    char **translate;          /* directions, "en-de", NULL-terminated; NULL: nothing is translated */
    int64_t sentences;         /* maximum number of pairs of each; 0: all */
    int64_t beam;
    double length_penalty;
    int64_t metric;            /* XLM_EVALUATE_BLEU ... */
    int64_t words;             /* of BLEU: XLM_EVALUATE_13A ... */
    int64_t patience;          /* evaluations without a better score after which the run ends; 0: it does not */
    int64_t examples;          /* translations of each direction that are written */
} xlm_evaluate_config;

/* The choices of metric and of words, in order, and the names of the metrics. */
extern const char *const xlm_evaluate_metrics[];
enum { XLM_EVALUATE_BLEU, XLM_EVALUATE_CHRF, XLM_EVALUATE_CHRF_WORDS };
enum { XLM_EVALUATE_13A, XLM_EVALUATE_INTL, XLM_EVALUATE_ZH, XLM_EVALUATE_CHAR, XLM_EVALUATE_NONE };

/* Keys of [train], and of [tune], that had another name before (options/jobfile.h). */
extern const char *const xlm_training_former_keys[];
/* The sections that a job file may have. */
extern const xlm_jobfile_kind xlm_job_kinds[];
extern const xlm_option xlm_train_options[], xlm_evaluate_options[];

typedef struct xlm_job_stream {
    char *name;
    xlm_stream_config config;
} xlm_job_stream;

/* The plugin that a section names, with its options. */
typedef struct xlm_job_plugin {
    xlm_plugin loaded;         /* cls NULL: it is unknown (xlm_job_complete) */
    void *state;               /* its state_size bytes, options filled in; NULL: it has none */
    char *as_written;          /* the text of the section if the plugin is unknown; else NULL */
} xlm_job_plugin;

typedef struct xlm_job_stage {
    char *name;
    char *plugin;
    char *stream_name;
    xlm_job_plugin use;        /* of an xlm_stage_plugin; the config of its stream has it */
} xlm_job_stage;

typedef struct xlm_job_objective {
    char *name;
    char *plugin;
    char *stream_name;         /* NULL: none */
    int stream;                /* index, or -1 */
    xlm_loss_weight weight;
    const xlm_loss_class *cls;
    xlm_job_plugin use;        /* of cls */
} xlm_job_objective;

typedef struct xlm_job xlm_job;
struct xlm_job {
    char *text;                /* the job that runs: a job file with every key, with overrides applied */
    /* xlm_job_complete, or the corresponding function for jobs of another program. */
    char *(*complete)(const xlm_job *job, const char *text);
    xlm_model_config model;
    xlm_train_config train;
    xlm_evaluate_config evaluate;
    int streams, stages, objectives;
    xlm_job_stream *stream;
    xlm_job_stage *stage;
    xlm_job_objective *objective;
};

/* Read and check a job file with overrides ("train.steps=100", NULL-terminated or NULL), load its plugins. Not collective.
 * Errors name file, section, key, and the nearest valid name: EX_NOINPUT, EX_CONFIG. */
xlm_job *xlm_job_load(const char *path, char *const *overrides, GError **error);
void xlm_job_free(xlm_job *job);

/* The text of another job file with every key, so that equal jobs have equal texts. No module is loaded and no file is read,
 * because the text may come from a checkpoint: options are completed only for plugins that `job` has; a section with any other
 * plugin is not changed. NULL when the text cannot be read. g_free. */
char *xlm_job_complete(const xlm_job *job, const char *text);

/* Is anything of objective k computed in the step after `step` updates? It takes part, and its stream, if it has one, is read. */
bool xlm_job_computes(const xlm_job *job, int k, int64_t step);
/* Is something learned from it, too? Its weight is not 0. */
bool xlm_job_learns(const xlm_job *job, int k, int64_t step);

/* Every section and key with type, default, range and meaning, installed plugins' options included; with the name or path of a
 * plugin, only its options. Errors as xlm_plugin_load. */
bool xlm_job_print_help(const char *plugin, FILE *out, GError **error);

#endif
