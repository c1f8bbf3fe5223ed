/* xlm-mpi: checkpoints, one HDF5 file each, written by all ranks together. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A checkpoint is a model file (model/model_file.h) and the state of a run. Layout (names of parameters as in nn/model.h):
 *   /                          header_digest (store/store_digest.c, in every file), format = "xlm-mpi checkpoint",
 *                              format_version, program_version, library versions (MPI, HDF5,
 *                              BLIS), step (updates made), corpus_digest, text_digest (of the training text; not in older
 *                              files), ranks (that wrote it), parameters (their number of elements)
 *   /generator                 algorithm = "Philox4x32-10", seed, step: the whole state of the random numbers
 *   /job                       text (the job as it ran: a job file with every key, overrides applied), translations (pairs of
 *                              languages that its objectives translate, "en-de,de-en"; not in older files), pair_form
 *                              (model/model_pair_form.h)
 *   /start                     of a run that began with the model of another one: path, sha256 and step of its checkpoint
 *   /model                     attributes: one for each key of section [model], and vocabulary, languages
 *   /model/<parameter>         f32 [rows x cols]; [cols] when rows = 1 (biases, LayerNorm)
 *   /optimiser                 algorithm
 *   /optimiser/first_moment/<parameter>, /optimiser/second_moment/<parameter>
 *   /objectives/<name>/<parameter or state> of objective plugins: parameters named "objectives/<name>/..." are stored
 *                              here (f32, with their moments under /optimiser/...), states are f32, f64 or i64
 *   /objectives/<name>/average/<parameter>   f32, a momentum average of the model's and of the objective's own parameters
 *   /vocabulary, /languages    as in corpus.h5 (subwords/vocabulary.h)
 *   /task                      of a fine-tuned model: name, language (of its training text, "" for none), length (most tokens of
 *                              an example), options (a line `key = value` each)
 *   /task/labels               [n] strings; index = class, row of the head's weight
 *   /task/best                 [2] f64: the highest score on the development set so far, and the step that had it
 *   /translation/best          [2] f64: the same of what [evaluate] compares checkpoints by: translations, losses or others
 *   /task/best_of, /translation/best_of   [1] i64: digest of the measure and the settings that this was the score with
 *   /task/from_best, /translation/from_best   [1] i64: number of evaluations from that of the best score on, which is the first
 *   /task/averaged             [2 k] f64: with [tune] average = k, score and step of each checkpoint that the mean is of so
 *                              far, by step; zeros for those to come (checkpoint/checkpoint_mean.h)
 * Every dataset carries Fletcher-32 checksums; header_digest covers the rest.
 *
 * A directory holds checkpoint-<step, 8 digits>.h5, and `latest`, a relative symbolic link to the newest complete one; for a
 * fine-tuned model also `best`, a link to the checkpoint with the highest score on the development set, and, if the job asks for
 * it, average.h5: a checkpoint with the mean of the parameters of several others and everything else from the last of them. */
#ifndef XLM_CHECKPOINT_CHECKPOINT_H
#define XLM_CHECKPOINT_CHECKPOINT_H

#include "checkpoint/start_record.h"
#include "comm/shards.h"
#include "job/job.h"
#include "model/model_file.h"
#include "nn/model.h"
#include "objective/state.h"
#include "store/store.h"
#include "subwords/vocabulary.h"

/* Name of the state with the highest score on the development set so far and its step. */
#define XLM_CHECKPOINT_BEST "/task/best"
/* The same for [evaluate] (job/job.h), which began with scores of translations; older checkpoints may not have it. */
#define XLM_CHECKPOINT_BEST_HELD_OUT "/translation/best"
/* Digests of what the scores of both are of; older checkpoints do not have them. */
#define XLM_CHECKPOINT_BEST_OF "/task/best_of"
#define XLM_CHECKPOINT_BEST_HELD_OUT_OF "/translation/best_of"
/* Numbers of evaluations from that of the best score on; older checkpoints do not have them either. */
#define XLM_CHECKPOINT_FROM_BEST "/task/from_best"
#define XLM_CHECKPOINT_FROM_BEST_HELD_OUT "/translation/from_best"
/* Name of the state with the members of the mean of checkpoints. */
#define XLM_CHECKPOINT_AVERAGED "/task/averaged"
/* The file of the mean, in the directory of the others. */
#define XLM_CHECKPOINT_MEAN "average.h5"

/* A score on the development set, as in checkpoints: the two numbers of /task/best, the best score, and those of
 * /task/averaged. */
typedef struct xlm_best_score {
    double score;
    double step; /* the step with this score; 0: none yet */
} xlm_best_score;

/* How far a run has come. */
typedef struct xlm_run_progress {
    int64_t step;        /* updates made */
    int64_t saved;       /* step of the newest checkpoint, written or resumed from; 0: none */
    int64_t validated;   /* the last step after which the model was validated (run/validation.h); 0: none */
    xlm_best_score best; /* with a validation */
    int64_t best_of;     /* digest of what it is the score of (run/scoring.h); 0: not known, from an older version */
    int64_t from_best;   /* evaluations from that of the best score on, which is the first; 0: there is none, or it is
                          * not known, from an older version */
} xlm_run_progress;

/* A momentum average of parameters that an objective has declared. */
typedef struct xlm_saved_average {
    const char *objective;
    float *own; /* [shards->own] */
} xlm_saved_average;

/* The whole state of a run between two steps. The checkpoint borrows everything in it. */
typedef struct xlm_run_state {
    const xlm_model_config *model;
    xlm_parameters *parameters;
    const xlm_shards *shards;            /* the buckets of the moments that this rank has */
    float *first_moment, *second_moment; /* [shards->own] */
    const float *masters;                /* [shards->own] parameters; NULL: those in `parameters`, which may be rounded else */
    float *scratch;                      /* [size of the parameters], for the checkpoint's use */
    const char *optimiser;               /* "adamw" */
    int64_t step;
    uint64_t seed;
    uint64_t corpus_digest;
    uint64_t text_digest; /* of the training text; 0: not known */
    const xlm_job *job;   /* its objectives read all that they have in a file; NULL: they may leave some out */
    const char *job_text;
    const char *translations;  /* pairs of languages that the job translates (job/translation_pairs.h); NULL: not known */
    const char *pair_form;     /* "xlm" or "bert": how the job's objectives read pairs (model/model_pair_form.h); NULL: none does */
    const xlm_vocabulary *vocabulary;
    const xlm_model_task *task; /* NULL: none */
    int64_t best; /* `best` points at the checkpoint of this step, and it is not removed; 0: `best` stays as it is */
    const xlm_best_score *members; /* [max_members] members of the mean of checkpoints; they are not removed either */
    int64_t max_members;
    bool members_best; /* those with the highest scores; false: the last ones */
    xlm_start_record *start; /* the origin of the first parameters; NULL: not needed */
    int saved_states;
    xlm_saved_state *saved_state;
    int averages;
    const xlm_saved_average *average;
} xlm_run_state;

/* Collective. Write directory/checkpoint-<step>.h5 (each rank writes its share of the rows of every dataset), let `latest` point
 * at it and `best` at state->best, and remove all but the newest `keep` (>= 1) complete checkpoints, the best one, and the
 * members of the mean. On failure there is no file with the final name, and older checkpoints are kept. */
bool xlm_checkpoint_write(const xlm_comm *comm, const char *directory, const xlm_run_state *state, int64_t keep,
                          GError **error);

/* Collective. Write directory/average.h5; state->parameters must be the mean. Does not change links and other checkpoints. */
bool xlm_checkpoint_write_mean(const xlm_comm *comm, const char *directory, const xlm_run_state *state, GError **error);

/* Collective. Read parameters, moments, step and saved states into `state`, whose layout (parameters, states) must be that of the
 * file: a missing or differently shaped parameter, one that an objective of the job had and has no more, a different corpus
 * digest, seed or format is EX_DATAERR with both values; so are parameters and moments that are not finite. state is changed only
 * if the whole file is valid (including checksums). */
bool xlm_checkpoint_read(const xlm_comm *comm, const char *path, xlm_run_state *state, GError **error);

/* Collective. Read the newest valid checkpoint of a directory. If one is damaged, a warning names it and the one before it is
 * tried. [out] found: its path (g_free), or NULL if the directory has no checkpoints. EX_DATAERR if there are checkpoints but
 * none is valid, or if a valid one does not fit the job. */
bool xlm_checkpoint_resume(const xlm_comm *comm, const char *directory, xlm_run_state *state, char **found,
                           GError **error);

/* Collective. Move checkpoints of later steps than `after` to directory/previous-<n>/, and let `latest` point at the newest that
 * is left, if any is. With -1 move all of them, together with `latest`, `best`, average.h5, metrics.csv and job.conf
 * (job/job_record.h), also if metrics.csv has rows but no checkpoint is there. Removes incomplete files of a run that was
 * killed. [out] moved: number of checkpoints. */
bool xlm_checkpoint_set_aside(const xlm_comm *comm, const char *directory, int64_t after, int *moved, GError **error);

/* Collective. Let `latest` point at the checkpoint of state->step, and `best` at that of state->best if that is not 0, and remove
 * those up to that step except the `keep` newest, that of `best` and the members of the mean. */
bool xlm_checkpoint_point_latest(const xlm_comm *comm, const char *directory, const xlm_run_state *state, int64_t keep,
                                 GError **error);
/* Collective. After resuming: let `best` point at the checkpoint of step `best`; if that no longer exists, remove the link. With
 * 0, a link that points at a checkpoint stays until there is a new best one. [out] there: that of step `best` exists. */
bool xlm_checkpoint_point_best(const xlm_comm *comm, const char *directory, int64_t best, bool *there, GError **error);

#endif
