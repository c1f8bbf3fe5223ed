/* xlm-mpi: one step with all its numbers, for checks in another framework. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Layout of the file of `xlm_train --dump-step FILE.h5` and `xlm_tune --dump-step FILE.h5` (T tokens, S sequences, M predicted
 * rows, d hidden size; dropout is off, the whole batch of each stream is one pass, no update is made):
 *   /                          format = "xlm-mpi step dump", format_version, program_version, seed, step, loss (weighted sum
 *                              of the objectives)
 *   /model                     attributes: the keys of section [model], vocabulary, languages
 *   /streams/<stream>/batch/   ids [T] original [T] positions [T] (without position_offset) languages [T] text_languages [T]
 *                              (before tokens were switched) types [T] offsets [S+1] instances [S] (with a token's number in
 *                              its sequence the key of its draws) masked_positions [M] (rows of the packed batch) targets [M];
 *                              annotations by their names (xlm/batch.h), with a dictionary translations [T]
 *                              and translation_languages [T] (-1: none), with alignments links [n x 2] (rows); all i32
 *   /streams/<stream>/batch/original_text/   of a stream with noise, after which rows are others: ids, positions, languages,
 *                              types [T'] offsets [S+1] of the text before it; all else is of the text after it
 *   /streams/<stream>/dictionary   [n x 2] i32, with a dictionary: its pairs; attributes: first, second (their language ids)
 *   /streams/<stream>/hidden/<l>   H[l] f32 [T x d], l = 0 … L
 *   /streams/<stream>/logits   f32 [m x V], of the first predicted rows, at most XLM_DUMP_LOGITS; if there are a head and such
 *   /objectives/<name>/loss    f64 [1], the mean over its terms; attributes: plugin, stream, weight, terms, options (all of the
 *                              plugin's, a line `key = value` each)
 *   /objectives/<name>/made_text/   the text that its label makes (xlm_pass_make_text): as original_text
 *   /objectives/<name>/<state>   f32, f64 or i64 [n]: what the objective has declared with xlm_declare_state, as it is before the
 *                              step
 *   /objectives/<name>/average/<parameter>   f32, of an objective with an average: the momentum average of the model's and of
 *                              the objective's own parameters that its label function reads
 *   /dictionaries/<k>          [n x 2] i32: pairs of a dictionary that objectives have asked for; attributes: path, first, second
 *   /cooccurrence/<k>/offsets [V+1] u64, columns [E] u32, counts [E] f32: a table of co-occurrence that objectives have asked
 *                              for (xlm/cooccurrence.h); attribute of the group: path
 *   /parameters/<parameter>    f32 [rows x cols] or [cols]
 *   /gradients/<parameter>     of the weighted sum, before clipping */
#ifndef XLM_TRAIN_DUMP_H
#define XLM_TRAIN_DUMP_H

#include <xlm/dictionary.h>
#include <xlm/options.h>

#include "nn/model.h"
#include "objective/resources.h"
#include "objective/state.h"
#include "store/store.h"

enum { XLM_DUMP_VERSION = 2, XLM_DUMP_LOGITS = 16 };

typedef struct xlm_dump_stream {
    const char *name;
    const xlm_batch *batch;
    xlm_var *const *hidden; /* [layers + 1] */
    const xlm_var *logits;  /* NULL: none */
    const xlm_dictionary *dictionary; /* NULL: none */
} xlm_dump_stream;

typedef struct xlm_dump_objective {
    const char *name, *plugin, *stream; /* stream NULL when it has none */
    double weight, loss;
    int64_t terms;
    const xlm_option *options; /* of the plugin, NULL: none; and where their values are */
    const void *state;
} xlm_dump_objective;

/* Not collective: called by one rank. A stream is written as soon as it is encoded (its variables live only until the next
 * pass). */
xlm_store *xlm_dump_create(const char *path, const xlm_model_config *model, uint64_t seed, int64_t step, GError **error);
/* The text that an objective has made. */
bool xlm_dump_write_made(xlm_store *store, const char *objective, const xlm_text *text, GError **error);
bool xlm_dump_write_stream(xlm_store *store, int64_t layers, const xlm_dump_stream *stream, GError **error);
/* A file that an objective has requested; number: 0, 1, ... of its kind. */
bool xlm_dump_write_resource(xlm_store *store, int number, const xlm_resource *resource, GError **error);
/* For objectives: n states; the average of one of them, whole[size of the parameters]. */
bool xlm_dump_write_states(xlm_store *store, int n, const xlm_saved_state *state, GError **error);
bool xlm_dump_write_average(xlm_store *store, const char *objective, const xlm_parameters *parameters, const float *whole,
                            GError **error);
/* Write the rest and commit the file. On failure no file is left. */
bool xlm_dump_finish(xlm_store *store, int objectives, const xlm_dump_objective *objective, double loss,
                     const xlm_parameters *parameters, const float *gradients, GError **error);

#endif
