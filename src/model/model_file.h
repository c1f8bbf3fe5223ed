/* xlm-mpi: a model in a file: configuration, vocabulary, parameters. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is needed to use a model, and nothing of how it was trained. A checkpoint (checkpoint/checkpoint.h) is such a file with the
 * state of a run beside it, so all readers of models accept either: tools, [train] start, fine-tuning, xlm_prep --like. Layout:
 *   /                          format = "xlm-mpi model" ("xlm-mpi checkpoint" with the state of a run), format_version,
 *                              program_version, library versions (MPI, HDF5, BLIS), ranks (that wrote it), parameters (their
 *                              number of elements)
 *   /model                     attributes: one for each key of section [model], and vocabulary, languages
 *   /model/<parameter>         f32 [rows x cols]; [cols] when rows = 1 (biases, LayerNorm)
 *   /objectives/<name>/<parameter>  of objectives and tasks: parameters named "objectives/<name>/..."
 *   /vocabulary, /languages    as in corpus.h5 (subwords/vocabulary.h)
 *   /task                      of a fine-tuned model: name, language, length, options; /task/labels; /task/languages, of
 *                              training, where there are any (files of before have the one, under language) */
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

/* What a fine-tuned model knows of its task, beside parameters named "objectives/<name>/...". */
typedef struct xlm_model_task {
    char *name;     /* "tagging" */
    char *language;   /* of files that come without one; "": none in particular */
    char **languages; /* of training, in the order in which the job names them; NULL-terminated; NULL: none in particular */
    int64_t length;
    char *options;  /* "column = upos\n..." */
    char **labels;  /* NULL-terminated; empty where targets are not classes */
} xlm_model_task;

/* ---- writing: collective over the ranks of comm ---- */

/* The parts of a model's file: attributes of / that say what the file is (comm NULL: of one process); all the rest. Parameters
 * must be sealed, their values the same on all ranks, and config theirs; config and vocabulary must agree on their numbers of
 * subwords and languages. Each rank writes its share of the rows. task: NULL: none. */
bool xlm_model_file_write_origin(xlm_store *store, const xlm_comm *comm, const char *format, const xlm_parameters *parameters,
                                 GError **error);
bool xlm_model_file_write_content(xlm_store *store, const xlm_comm *comm, const xlm_model_config *config,
                                  const xlm_parameters *parameters, const xlm_vocabulary *vocabulary, const xlm_model_task *task,
                                  GError **error);

bool xlm_model_file_write_task(xlm_store *store, const xlm_model_task *task, GError **error);

/* ---- reading: not collective ---- */

/* A model with its parameters and vocabulary, ready to encode. The file may be untrusted: everything in it is checked, against
 * one another and against what the file has room for, before memory is taken. EX_NOINPUT; EX_DATAERR. */
typedef struct xlm_loaded_model {
    xlm_model_config config;
    xlm_parameters *parameters;
    xlm_model *model;
    xlm_vocabulary *vocabulary;
    xlm_model_task *task; /* NULL: not fine-tuned */
    int64_t step;         /* of the run whose checkpoint it is; 0: of none */
} xlm_loaded_model;
xlm_loaded_model *xlm_model_file_read(const char *path, GError **error);
/* The same in two steps, between which more parameters may be declared, as of an objective: all but the parameters' values, and
 * these. */
xlm_loaded_model *xlm_model_file_read_header(const char *path, GError **error);
bool xlm_model_file_read_values(const char *path, xlm_loaded_model *loaded, GError **error);
/* Is a layer, 0 being the embeddings, one of the model's, which was read from `path`? EX_USAGE, which names --layer. */
bool xlm_model_file_has_layer(const xlm_loaded_model *loaded, const char *path, int64_t layer, GError **error);
/* A tape for passes over the model, whose parameters stay as they are from now on; to be freed. Products with parameters are made
 * in float32, or in what was set last (xlm_packed_lacks must be NULL for it). */
xlm_tape *xlm_model_file_tape(const xlm_loaded_model *loaded);
void xlm_model_file_set_precision(xlm_precision precision);
/* NULL is allowed. */
void xlm_model_file_free(xlm_loaded_model *loaded);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xlm_loaded_model, xlm_model_file_free)

/* ---- checks, of an open file ---- */

/* A file that is damaged may be skipped for another one; one that is whole but not what is wanted is the user's to change. */
typedef enum { XLM_FILE_GOOD, XLM_FILE_DAMAGED, XLM_FILE_UNFIT } xlm_file_condition;

/* Format and version are this program's (else XLM_FILE_UNFIT), and *step is one that a run can come to. needs_run: a model
 * without the state of a run will not do; else its step is 0. */
xlm_file_condition xlm_model_file_check_format(const xlm_store *store, bool needs_run, int64_t *step, GError **error);
/* What a parameter is in a file: one row is a vector. */
xlm_array xlm_model_file_array(const xlm_parameter *p);
/* The array of a parameter is there and has its shape. The message of XLM_FILE_UNFIT does not name the file. */
xlm_file_condition xlm_model_file_check_shape(const xlm_store *store, const char *path, const xlm_parameter *p, GError **error);
/* values[rows * cols] of the array of one parameter under a group, "/model". EX_DATAERR for values that are not finite or, where
 * they are to be positive, below 0. */
bool xlm_model_file_read_array(const xlm_store *store, const char *group, const xlm_parameter *p, bool positive, float *values,
                               GError **error);

#endif
