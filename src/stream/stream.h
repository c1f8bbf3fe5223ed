/* xlm-mpi: streams, the input of the encoder at each step. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stream is an endless list of instances, a pure function of (corpus, settings, seed). Instances are found by their index in
 * the list, so a rank reads only its own instances, and a resumed run continues where it stopped without any state. The instances
 * of a step follow those of the step before it: step s of a stream with `batch` instances in each step has the instances
 * s·batch ... (s+1)·batch − 1. Where `batch` depends on the step (stream/batch_sizes.h), earlier steps are added up.
 *
 * The language (or pair of languages) of instance k is decided by runs of 65,536 instances. Each run has exact quotas of all
 * languages, ∝ p_i^α (largest remainder, at least one; p_i is the language's share of the tokens, or the pair's share of the
 * pairs), in a new random order. The m-th instance of a language is in epoch m / n, at place m mod n of a permutation of its n
 * instances. Both permutations are computed, so no list of instances is stored, except the place of about every 64th.
 *
 * A stream is a chain of stages (stream/stage.h). stream/monolingual.h says how monolingual text is divided into instances, and
 * stream/parallel.h how parallel text is; stream/noise.c has the noise, stream/layouts.c the layouts, and stream/masking.h
 * chooses the predicted tokens. Labelled examples (stream/examples.h), for fine-tuning, are another source; they are in memory,
 * and have epochs in the same way. */
#ifndef XLM_STREAM_STREAM_H
#define XLM_STREAM_STREAM_H

#include <xlm/batch.h>

#include "stream/examples.h"
#include "stream/stream_config.h"

/* What a stream reads, and the source that reads it. */
typedef struct xlm_stream_input {
    const xlm_stage_class *source;
    const void *from;
} xlm_stream_input;

/* Both are borrowed and outlive the streams. */
xlm_stream_input xlm_stream_text(const xlm_corpus *corpus);
xlm_stream_input xlm_stream_labelled(const xlm_examples *examples);

typedef struct xlm_stream xlm_stream;

/* Open a stream on one split of the input. Makes the index of instances (for text, by a pass over links and sentence offsets, not
 * over tokens). Not collective; every rank gets the same. number: of the stream in the job (0 to 255), part of its row keys;
 * name: for messages. config is not borrowed. For labelled examples only batch and length are used, and no example may be longer
 * than length. Errors: EX_CONFIG for settings that contradict one another, a language or pair that the corpus does not have (the
 * message lists what it has), no instance at all, a dictionary of other languages; EX_DATAERR for a damaged corpus and when there
 * are no examples; those of xlm_dictionary_read. A language that has text in the training part but none in the held-out part is
 * left out of a stream on the latter, with a warning in the log. */
xlm_stream *xlm_stream_open(xlm_stream_input input, xlm_split split, const char *name, int number,
                            const xlm_stream_config *config, uint64_t seed, GError **error);
/* NULL is allowed. */
void xlm_stream_close(xlm_stream *stream);

/* One line for the log, without the stream's name: the instances and the share of the draws of each language or pair, and how
 * many pairs were left out and how many sentences were cut. g_free. */
char *xlm_stream_describe(const xlm_stream *stream);
/* Are its instances pairs of texts that are translations of each other? */
bool xlm_stream_has_pairs(const xlm_stream *stream);
/* Can an instance have several pairs? */
bool xlm_stream_packs_pairs(const xlm_stream *stream);
/* Does it have noise, so that its corrupted text has other rows than its original text? */
bool xlm_stream_has_noise(const xlm_stream *stream);
/* Do its instances have their own predicted rows (stream/examples.h)? */
bool xlm_stream_is_labelled(const xlm_stream *stream);
/* Number of distinct instances: one epoch over all languages. */
int64_t xlm_stream_instances(const xlm_stream *stream);
/* Memory of the index of instances, which every rank has whole. */
uint64_t xlm_stream_index_bytes(const xlm_stream *stream);
/* The number of components: languages or pairs, in the order of `languages`; one if it reads examples. */
int xlm_stream_components(const xlm_stream *stream);
/* Their names, NULL-terminated: codes of languages or of pairs ("de-en"); NULL if it reads examples. Valid as long as the
 * stream. */
const char *const *xlm_stream_component_names(const xlm_stream *stream);
/* Instances of a component. xlm_stream_read_in_order goes through the components one after another. */
int64_t xlm_stream_component_instances(const xlm_stream *stream, int component);
/* Maximum number of tokens of an instance. */
int64_t xlm_stream_longest(const xlm_stream *stream);
/* Number of predicted rows of `instances` instances with `words` tokens, not counting special tokens: for examples the maximum,
 * otherwise `deviations` standard deviations above the mean. With three deviations, a batch hardly ever has more. */
int64_t xlm_stream_max_predicted(const xlm_stream *stream, int64_t instances, int64_t words, double deviations);
/* The size of a batch of n instances drawn at random, `deviations` standard deviations above the mean. */
typedef struct xlm_stream_size {
    int64_t tokens, words; /* with and without special tokens; at most those of n copies of the longest instance */
    int64_t longest;       /* tokens of the longest instance */
} xlm_stream_size;
xlm_stream_size xlm_stream_expect(const xlm_stream *stream, int64_t n, double deviations);
/* Mean share of the tokens that is predicted; in masked text, special tokens do not count. */
double xlm_stream_predicted_share(const xlm_stream *stream);
/* Mean share of the predicted tokens whose input is <mask>. */
double xlm_stream_mask_token_share(const xlm_stream *stream);
/* Mean share of the tokens, without special ones, that noise keeps; 1 without noise. */
double xlm_stream_kept_share(const xlm_stream *stream);
/* The dictionary for switching tokens, valid as long as the stream; NULL: none. */
const xlm_dictionary *xlm_stream_dictionary(const xlm_stream *stream);
/* Names of the annotations of its batches, NULL-terminated; valid as long as the stream. */
const char *const *xlm_stream_annotations(const xlm_stream *stream);
/* Add the annotations of its plugins to a planned batch (stream/planned_batch.h), with values 0 and 1 in turn. */
void xlm_stream_plan_plugins(const xlm_stream *stream, xlm_batch_layout *batch);
/* All positions are below this. It is less than xlm_stream_longest for form xlm, where positions restart. */
int64_t xlm_stream_positions(const xlm_stream *stream);

/* For training: number of instances that a step reads; it may be 0. */
int64_t xlm_stream_batch(const xlm_stream *stream, int64_t step);
/* For training: read and mask instances [first, first + n) of step `step` (0 <= first, first + n <= xlm_stream_batch of it) into
 * one packed batch in the arena. The result does not depend on how a step is divided into calls. n may be 0. Not for two
 * threads at once. Errors: EX_DATAERR and EX_IOERR from reading the corpus. */
bool xlm_stream_read(xlm_stream *stream, int64_t step, int64_t first, int64_t n, xlm_arena *arena, xlm_batch *batch,
                     GError **error);
/* The same for evaluation: instances [first, first + n) of one pass over all components in the order of the file, with the same
 * masks in every evaluation. first + n <= xlm_stream_instances. */
bool xlm_stream_read_in_order(xlm_stream *stream, int64_t first, int64_t n, xlm_arena *arena, xlm_batch *batch,
                              GError **error);

#endif
