/* xlm-mpi: a model in a file: configuration, vocabulary, parameters. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A model file has everything that is needed to use a model, and nothing about how it was trained. A checkpoint
 * (checkpoint/checkpoint.h) is such a file that also has the state of a run, so all readers of models accept both: tools, [train]
 * start, fine-tuning, xlm_prep --like. Layout:
 *   /                          format = "xlm-mpi model" ("xlm-mpi checkpoint" with the state of a run), format_version,
 *                              program_version, library versions (MPI, HDF5, BLIS), ranks (number of those that wrote it),
 *                              parameters (number of their elements)
 *   /model                     attributes: one for each key of section [model], and vocabulary, languages; adapters: names with
 *                              commas between, if there are any
 *   /model/adapters/<name>     attributes kind, dropout; of LoRA rank, alpha, targets; of bottleneck size, invertible; its
 *                              parameters below (nn/adapter.h)
 *   /model/<parameter>         f32 [rows x cols]; [cols] when rows = 1 (biases, LayerNorm)
 *   /objectives/<name>/<parameter>  of objectives and tasks: parameters named "objectives/<name>/..."
 *   /vocabulary, /languages    as in corpus.h5 (subwords/vocabulary.h)
 *   /job                       attribute translations, if it is known which pairs of languages the model was trained to translate:
 *                              "en-de,de-en", source first; empty: none. pair_form, if the model was
 *                              trained with pairs of sentences (model/model_pair_form.h). Checkpoints have the job there too
 *   /task                      of a fine-tuned model: name, language, length, options, sentences (of classification, those of
 *                              an item; older files do not say it); /task/labels; /task/languages, those of
 *                              training, if there are any (older files have only one, under language) */
#ifndef XLM_MODEL_MODEL_FILE_H
#define XLM_MODEL_MODEL_FILE_H

#include "comm/comm.h"
#include "gemm/packed.h"
#include "nn/model.h"
#include "store/store.h"
#include "subwords/vocabulary.h"

#define XLM_MODEL_FILE_FORMAT "xlm-mpi model"
#define XLM_CHECKPOINT_FORMAT "xlm-mpi checkpoint"
enum { XLM_MODEL_FILE_VERSION = 1 }; /* of both */

/* What a fine-tuned model has for its task, besides parameters named "objectives/<name>/...". */
typedef struct xlm_model_task {
    char *name;       /* "tagging" */
    char *language;   /* the language of files that do not name one; "": none in particular */
    char **languages; /* of training, in the order in which the job names them; NULL-terminated; NULL: none in particular */
    int64_t length;   /* maximum number of tokens of an example */
    char *options;    /* "column = upos\n..." */
    char **labels;    /* NULL-terminated; empty if targets are not classes */
    int64_t sentences; /* of an item of classification, 1 or 2; 0: of other tasks, and of files that do not say it */
} xlm_model_task;
/* NULL is allowed. */
void xlm_model_task_free(xlm_model_task *task);
/* For tasks whose outputs are classes: are there names of any? path: of the file, for the message. EX_DATAERR. */
bool xlm_model_task_check_labels(const xlm_model_task *task, const char *path, GError **error);

/* ---- writing: collective over the ranks of comm ---- */

/* Write the parts of a model file: the attributes of / that identify the file (comm NULL: of one process), and everything else.
 * Parameters must be sealed, have the same values on all ranks, and belong to config; config and vocabulary must agree on the
 * numbers of subwords and languages. Each rank writes its share of the rows. task: NULL: none. */
bool xlm_model_file_write_origin(xlm_store *store, const xlm_comm *comm, const char *format, const xlm_parameters *parameters,
                                 GError **error);
bool xlm_model_file_write_content(xlm_store *store, const xlm_comm *comm, const xlm_model_config *config,
                                  const xlm_parameters *parameters, const xlm_vocabulary *vocabulary, const xlm_model_task *task,
                                  GError **error);

bool xlm_model_file_write_task(xlm_store *store, const xlm_model_task *task, GError **error);
/* translations: as in xlm_loaded_model; NULL writes nothing. */
bool xlm_model_file_write_translations(xlm_store *store, const char *translations, GError **error);

/* ---- reading: not collective ---- */

/* A model with its parameters and vocabulary, ready to encode. The file may be untrusted: before memory is allocated, everything
 * in it is checked for consistency and against the size of the file. EX_NOINPUT; EX_DATAERR. */
typedef struct xlm_loaded_model {
    xlm_model_config config;
    xlm_parameters *parameters;
    xlm_model *model;
    xlm_vocabulary *vocabulary;
    xlm_model_task *task; /* NULL: not fine-tuned */
    char *translations;   /* pairs of languages that it was trained to translate, "en-de,de-en"; NULL: not known */
    char *pair_form;      /* "bert" or "xlm": how it read pairs of sentences in training; NULL: not known to have read any */
    int64_t step;         /* of the checkpoint; 0: it is not a checkpoint */
} xlm_loaded_model;

/* Does the encoder read a text's language, by an embedding or by a token of the vocabulary? */
bool xlm_loaded_model_reads_language(const xlm_loaded_model *loaded);
xlm_loaded_model *xlm_model_file_read(const char *path, GError **error);
/* The same in two steps, between which more parameters may be declared, such as those of an objective: first everything except
 * the values of the parameters, then these. */
xlm_loaded_model *xlm_model_file_read_header(const char *path, GError **error);
bool xlm_model_file_read_values(const char *path, xlm_loaded_model *loaded, GError **error);
/* Does the encoder of the model, which was read from `path`, have this layer (0: embeddings)? If not, EX_USAGE, with a message
 * about the option --layer. */
bool xlm_model_file_has_layer(const xlm_loaded_model *loaded, const char *path, int64_t layer, GError **error);
/* A tape for passes over the model, whose parameters must not change from now on; the caller frees it. Products with parameters
 * are computed in float32, or in the precision that was set last. */
xlm_tape *xlm_model_file_tape(const xlm_loaded_model *loaded);
/* Set the precision of all tapes from now on; xlm_packed_lacks must be NULL for it. */
void xlm_model_file_set_precision(xlm_precision precision);
/* Whether tapes multiply parameters by oneDNN in float32 too from now on, as they always do in other precisions; then
 * xlm_packed_lacks must be NULL for it. */
void xlm_model_file_pack_float32(bool packs);
/* Bytes of the copies of the model's parameters that a tape packs, at most. */
uint64_t xlm_model_file_packed_bytes(const xlm_loaded_model *loaded);
/* NULL is allowed. */
void xlm_model_file_free(xlm_loaded_model *loaded);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xlm_loaded_model, xlm_model_file_free)

/* ---- checks of an open file ---- */

/* Instead of a damaged file another one may be tried; a valid file that does not fit is an error of the user. The message about
 * a file of a newer version says what to do. */
typedef enum { XLM_FILE_GOOD, XLM_FILE_DAMAGED, XLM_FILE_UNFIT, XLM_FILE_NEWER } xlm_file_condition;

/* Are format and version those of this program (else XLM_FILE_UNFIT, XLM_FILE_NEWER), and is the step one that a run can reach
 * (else XLM_FILE_DAMAGED)? needs_run: refuse a model without the state of a run. [out] step: of the run; 0 if the file has none. */
xlm_file_condition xlm_model_file_check_format(const xlm_store *store, bool needs_run, int64_t *step, GError **error);
/* The type and shape of a parameter in a file: a single row is a vector. */
xlm_array xlm_model_file_array(const xlm_parameter *p);
/* Does the array of a parameter exist with the right shape? The message of XLM_FILE_UNFIT does not begin with the file. */
xlm_file_condition xlm_model_file_check_shape(const xlm_store *store, const char *path, const xlm_parameter *p, GError **error);
/* Read values[rows * cols] of one parameter under a group such as "/model". EX_DATAERR for values that are not finite or, if they
 * must not be negative, below 0. */
bool xlm_model_file_read_array(const xlm_store *store, const char *group, const xlm_parameter *p, bool positive, float *values,
                               GError **error);

#endif
