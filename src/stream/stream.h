/* xlm-mpi: streams, what the encoder reads at each step. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stream is an endless list of instances, a pure function of (corpus, settings, seed): instance k of the run is found
 * by index, so a rank reads its own instances only, and a resumed run continues where it stopped without any state. Step
 * s of a stream with `batch` instances per step has the instances s·batch ... (s+1)·batch − 1.
 *
 * Which language (or pair of languages) instance k is of: runs of 65,536 instances have exact quotas of each, ∝ p_i^α
 * (largest remainder, at least one; p_i is its share of the tokens, for pairs its share of the pairs), in an order
 * permuted anew for each run. Instance m of a language is in epoch m / n at place m mod n of a permutation of its n
 * instances. Both permutations are computed; no list of instances is stored. Every 64th or so is, to find the others.
 *
 * What comes from where: the stages of stream/stage.h. Monolingual text is divided into instances as stream/monolingual.h says,
 * parallel text as stream/parallel.h; stream/noise.c has noise, stream/layouts.c the layouts, stream/masking.h which tokens are predicted. Labelled
 * examples (stream/examples.h), for fine-tuning, are a source of their own, read from memory in the same order of epochs. */
#ifndef XLM_STREAM_STREAM_H
#define XLM_STREAM_STREAM_H

#include <xlm/batch.h>

#include "stream/examples.h"
#include "stream/stream_config.h"

/* What a stream reads, and the source that can. */
typedef struct xlm_stream_input {
    const xlm_stage_class *source;
    const void *from;
} xlm_stream_input;

/* Both are borrowed and outlive the streams. */
xlm_stream_input xlm_stream_text(const xlm_corpus *corpus);
xlm_stream_input xlm_stream_labelled(const xlm_examples *examples);

typedef struct xlm_stream xlm_stream;

/* Open on one split of the input. Makes the index of instances (for text a pass over links and sentence offsets, not the tokens).
 * Not collective; every rank gets the same. number: of the stream in the job (0 to 255), part of its row keys; name: for
 * messages. config is not borrowed. For labelled examples, batch and length count, and length is not below the longest example.
 * Errors: EX_CONFIG for settings that contradict one another, a language or pair that the corpus does not have (the
 * message lists what it has), no instance at all, a dictionary of other languages; EX_DATAERR for a damaged corpus and when there
 * are not examples; those of xlm_dictionary_read. A language that has text in the training part but none in the held-out part is
 * left out of a stream on the latter, with a warning in the log. */
xlm_stream *xlm_stream_open(xlm_stream_input input, xlm_split split, const char *name, int number,
                            const xlm_stream_config *config, uint64_t seed, GError **error);
/* NULL is allowed. */
void xlm_stream_close(xlm_stream *stream);

/* One line for the log, without the stream's name: instances and share of the draws by language or pair, how many pairs
 * were left out and sentences cut. g_free. */
char *xlm_stream_describe(const xlm_stream *stream);
/* Are its instances pairs of texts that are translations of each other? */
bool xlm_stream_has_pairs(const xlm_stream *stream);
/* Can an instance hold several of them? */
bool xlm_stream_packs_pairs(const xlm_stream *stream);
/* Has its corrupted text other rows than the original one? */
bool xlm_stream_has_noise(const xlm_stream *stream);
/* Do its instances come with what is predicted (stream/examples.h)? */
bool xlm_stream_is_labelled(const xlm_stream *stream);
/* Distinct instances: one epoch over all languages. */
int64_t xlm_stream_instances(const xlm_stream *stream);
/* Its components: languages or pairs, those named in `languages` in that order; one when it reads examples. */
int xlm_stream_components(const xlm_stream *stream);
/* Instances of a component. xlm_stream_read_in_order goes through the components one after another. */
int64_t xlm_stream_component_instances(const xlm_stream *stream, int component);
/* Most tokens that an instance can have. */
int64_t xlm_stream_longest(const xlm_stream *stream);
/* Rows that are predicted of so many instances with so many tokens, special ones excluded: of examples the most that there may be,
 * else with so many standard deviations more than on average; with three, chance hardly ever chooses more. */
int64_t xlm_stream_max_predicted(const xlm_stream *stream, int64_t instances, int64_t words, double deviations);
/* Tokens of a batch of n instances that are drawn at random, with so many standard deviations more than on average. */
typedef struct xlm_stream_size {
    int64_t tokens, words; /* at most those of n of the longest instances; without special tokens */
    int64_t longest;       /* tokens of the longest instance that there is */
} xlm_stream_size;
xlm_stream_size xlm_stream_expect(const xlm_stream *stream, int64_t n, double deviations);
/* Share of the tokens that is predicted in the mean, specials not counted where text is masked. */
double xlm_stream_predicted_share(const xlm_stream *stream);
/* The dictionary that tokens are switched by, valid as long as the stream; NULL: none. */
const xlm_dictionary *xlm_stream_dictionary(const xlm_stream *stream);
/* Names of the annotations that its batches have, NULL-terminated; valid as long as the stream. */
const char *const *xlm_stream_annotations(const xlm_stream *stream);
/* Annotate a planned batch (stream/planned_batch.h) with what its plugins annotate, 0 and 1 in turn. */
void xlm_stream_plan_plugins(const xlm_stream *stream, xlm_batch_layout *batch);
/* Positions are below this; less than xlm_stream_longest for form xlm, where they restart. */
int64_t xlm_stream_positions(const xlm_stream *stream);

/* Read and mask instances first .. first+n of step `step`'s list (0 <= first, first + n <= batch) into one packed batch
 * in the arena. Training: the endless list. What is read does not depend on how a step is cut into calls. n may be 0.
 * Not for two threads at once. Errors: EX_DATAERR and EX_IOERR from reading the corpus. */
bool xlm_stream_read(xlm_stream *stream, int64_t step, int64_t first, int64_t n, xlm_arena *arena, xlm_batch *batch,
                     GError **error);
/* The same for instances first .. first+n of one plain pass in file order over all components, with masks that do not
 * change from one evaluation to the next. first + n <= xlm_stream_instances. */
bool xlm_stream_read_in_order(xlm_stream *stream, int64_t first, int64_t n, xlm_arena *arena, xlm_batch *batch,
                              GError **error);

#endif
