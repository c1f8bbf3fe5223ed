/* xlm-mpi: labelled examples in memory, for fine-tuning. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An example is one sequence as the encoder reads it, including special tokens. Some of its rows are predicted, and each of these
 * has a target. The task (tasks/task.h) decides what a target means: the tag of a word, on the row of its first subword; the
 * class of a text, on the row of <s>; the beginning or the end of an answer.
 *
 *   xlm_examples_new -> { { xlm_examples_add [xlm_examples_predict] } ... xlm_examples_end } ... -> xlm_examples_read */
#ifndef XLM_STREAM_EXAMPLES_H
#define XLM_STREAM_EXAMPLES_H

#include <glib.h>

#include <xlm/dictionary.h>

#include "stream/batch_layout.h"
#include "stream/draws.h"

typedef struct xlm_examples xlm_examples;

/* specials: the special tokens of the vocabulary that the ids belong to; borrowed. */
xlm_examples *xlm_examples_new(const xlm_special_tokens *specials);
/* NULL is allowed. */
void xlm_examples_free(xlm_examples *examples);

/* Add a token to the current example. language: id; type: 0, or 1 on the second side of a pair. */
void xlm_examples_add(xlm_examples *examples, int32_t id, int32_t language, int32_t type);
/* The same for a special token. */
void xlm_examples_add_special(xlm_examples *examples, xlm_special special, int32_t language, int32_t type);
/* Predict the last token that was added. target: its correct class; -1: the correct answer is not one of the classes, so it has
 * no loss. A token may be predicted more than once. */
void xlm_examples_predict(xlm_examples *examples, int32_t target);
/* Mark the last token that was added as a whole word, which may be switched (xlm_examples_switch_words). */
void xlm_examples_mark_word(xlm_examples *examples);
/* End an example: the tokens added since the last call. */
void xlm_examples_end(xlm_examples *examples);

/* Add and end an example of one sentence: <s>, at most `max` of its n subwords, </s>. */
void xlm_examples_add_sentence(xlm_examples *examples, const int32_t *ids, int64_t n, int64_t max, int32_t language);
/* Code-switching of words: each time an example is drawn for training, every marked word that has a translation is replaced by
 * one of its translations with probability `share`, and gets the translation's language. vocabulary: ids are below this. The
 * dictionary is not borrowed. */
void xlm_examples_switch_words(xlm_examples *examples, const xlm_dictionary *dictionary, int64_t vocabulary, double share);
/* [out] words: number of marked words; translated: how many of these have a translation. */
void xlm_examples_count_words(const xlm_examples *examples, int64_t *words, int64_t *translated);
/* Switch words in a batch in which the examples with these numbers have been laid out. example: [batch->sequences]. */
void xlm_examples_corrupt(const xlm_examples *examples, const int64_t *example, const xlm_draws *draws, xlm_batch_layout *batch);

/* Examples g·k … g·k + g − 1, for every k, belong to one step: they are drawn one after another, and g must divide the batch. The
 * number of examples must be a multiple of g >= 1; g is 1 by default. */
void xlm_examples_keep_together(xlm_examples *examples, int64_t group);
int64_t xlm_examples_together(const xlm_examples *examples);

int64_t xlm_examples_count(const xlm_examples *examples);
/* Number of tokens of the longest example. */
int64_t xlm_examples_longest(const xlm_examples *examples);
/* Maximum number of predicted rows of an example. */
int64_t xlm_examples_max_predictions(const xlm_examples *examples);
/* Number of tokens, and of predicted rows, of examples 0 … example − 1, where those of `example` begin. `example` may be the
 * number of examples. */
int64_t xlm_examples_tokens(const xlm_examples *examples, int64_t example);
int64_t xlm_examples_predictions(const xlm_examples *examples, int64_t example);

/* Divide all examples into runs, one for each pass. Returns the first example of each run, then the number of examples (int64_t);
 * g_array_unref. A run is at most 64 consecutive examples with at most 512 tokens together, or one example with more. Runs depend
 * on the examples alone, so results do not depend on which rank computes which run. */
GArray *xlm_examples_cut(const xlm_examples *examples);

/* Lay out the examples with the numbers example[n], with their predicted rows, in a batch in the arena. instances: [n] for the
 * row keys. Errors of xlm_batch_layout_take. */
bool xlm_examples_lay_out(const xlm_examples *examples, int64_t n, const int64_t *example, const uint32_t *instances,
                          xlm_arena *arena, xlm_batch_layout *batch, GError **error);
/* The same for a batch whose input is the original text. */
bool xlm_examples_read(const xlm_examples *examples, int64_t n, const int64_t *example, const uint32_t *instances,
                       xlm_arena *arena, xlm_batch *batch, GError **error);

#endif
