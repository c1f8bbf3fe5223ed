/* xlm-mpi: labelled examples in memory, what fine-tuning reads. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An example is one sequence as the encoder reads it, special tokens included, some of whose rows are predicted and have a
 * target each. The task (tasks/task.h) decides what a target means: the tag of a word, on the row of its first
 * subword; the class of a text, on the row of <s>; which end of an answer this row is.
 *
 *   xlm_examples_new -> { { xlm_examples_add [xlm_examples_predict] } ... xlm_examples_end } ... -> xlm_examples_read */
#ifndef XLM_STREAM_EXAMPLES_H
#define XLM_STREAM_EXAMPLES_H

#include <glib.h>

#include <xlm/dictionary.h>

#include "stream/batch_layout.h"
#include "stream/draws.h"

typedef struct xlm_examples xlm_examples;

/* specials: borrowed, of the vocabulary that ids are of. */
xlm_examples *xlm_examples_new(const xlm_special_tokens *specials);
/* NULL is allowed. */
void xlm_examples_free(xlm_examples *examples);

/* One more token of the example that is being made. language: id; type: 0, or 1 on the second side of a pair. */
void xlm_examples_add(xlm_examples *examples, int32_t id, int32_t language, int32_t type);
/* The same for a special token. */
void xlm_examples_add_special(xlm_examples *examples, xlm_special special, int32_t language, int32_t type);
/* The token added last is predicted, and target is its right class; -1: the right answer is not one of the classes, so there is
 * no loss for it. A token may be predicted more than once. */
void xlm_examples_predict(xlm_examples *examples, int32_t target);
/* The token added last is a word by itself, which may be switched (xlm_examples_switch_words). */
void xlm_examples_mark_word(xlm_examples *examples);
/* The tokens added since the last call are an example. */
void xlm_examples_end(xlm_examples *examples);

/* Code-switching of words: each time an example is drawn for training, every word that is marked and has a translation becomes,
 * by chance, one of its translations, in its language. share: the chance. vocabulary: ids are below this. The dictionary is not
 * borrowed. */
void xlm_examples_switch_words(xlm_examples *examples, const xlm_dictionary *dictionary, int64_t vocabulary, double share);
/* Words that are marked, and those of them that have a translation. */
void xlm_examples_count_words(const xlm_examples *examples, int64_t *words, int64_t *translated);
/* Switch words of examples that are laid out, whose numbers these are. draws: of the batch. */
void xlm_examples_corrupt(const xlm_examples *examples, const int64_t *example, const xlm_draws *draws, xlm_batch_layout *batch);

/* Examples g·k … g·k + g − 1, for every k, belong to one step: they are drawn one after another, and g divides the batch. The
 * count is to be a multiple of g >= 1; at first g is 1. */
void xlm_examples_keep_together(xlm_examples *examples, int64_t group);
int64_t xlm_examples_together(const xlm_examples *examples);

int64_t xlm_examples_count(const xlm_examples *examples);
/* Tokens of the longest. */
int64_t xlm_examples_longest(const xlm_examples *examples);
/* Predicted rows of the one that has most. */
int64_t xlm_examples_max_predictions(const xlm_examples *examples);
/* Tokens, and predicted rows, of examples 0 … example − 1: where those of `example` begin, which may be the count. */
int64_t xlm_examples_tokens(const xlm_examples *examples, int64_t example);
int64_t xlm_examples_predictions(const xlm_examples *examples, int64_t example);

/* Where passes over all of them begin, and the number of examples (int64_t): fixed runs of consecutive examples, of at most 64
 * and of 512 tokens, unless one has more. So what is computed of them does not depend on which rank has which run.
 * g_array_unref. */
GArray *xlm_examples_cut(const xlm_examples *examples);

/* Lay out n examples, of these numbers, with their predicted rows, in a batch that is taken in the arena. instances: [n] what the
 * row keys get. Errors of xlm_batch_layout_take. */
bool xlm_examples_lay_out(const xlm_examples *examples, int64_t n, const int64_t *example, const uint32_t *instances,
                          xlm_arena *arena, xlm_batch_layout *batch, GError **error);
/* The same as a batch whose input is the original. */
bool xlm_examples_read(const xlm_examples *examples, int64_t n, const int64_t *example, const uint32_t *instances,
                       xlm_arena *arena, xlm_batch *batch, GError **error);

#endif
