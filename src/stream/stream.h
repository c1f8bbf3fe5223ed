/* xlm-mpi: streams, what the encoder reads at each step. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stream is an endless list of instances, a pure function of (corpus, settings, seed): instance k of the run is found
 * by index, so a rank reads its own instances only, and a resumed run goes on where it stopped without any state. Step
 * s of a stream with `batch` instances a step has the instances s·batch ... (s+1)·batch − 1.
 *
 * Which language (or pair of languages) instance k is of: runs of 65,536 instances have exact quotas of each, ∝ p_i^α
 * (largest remainder, at least one; p_i is its share of the tokens, for pairs its share of the pairs), in an order
 * permuted anew for each run. Instance m of a language stands in epoch m / n at place m mod n of a permutation of its n
 * instances. Both permutations are computed; no list of instances is stored. Every 64th or so is, to find the others.
 *
 * What an instance is made of: stream/monolingual.h, stream/parallel.h; masks: stream/masking.h. A stream of labelled examples
 * (stream/examples.h), for fine-tuning, reads these from memory in the same order of epochs, and masks nothing. */
#ifndef XLM_STREAM_STREAM_H
#define XLM_STREAM_STREAM_H

#include <xlm/batch.h>
#include <xlm/options.h>

#include "base/arena.h"
#include "corpus/corpus.h"
#include "stream/examples.h"
#include "lexicon/dictionary.h"

enum { XLM_STREAM_MONOLINGUAL, XLM_STREAM_PARALLEL };
enum { XLM_FORM_XLM, XLM_FORM_BERT };

/* Section [stream NAME] of a job file. */
typedef struct xlm_stream_config {
    int64_t type;        /* XLM_STREAM_... */
    char **languages;    /* "en,de", or pairs "de-en,fr-en"; all of the corpus when empty */
    double alpha;        /* 0.7 */
    int64_t batch;       /* instances a step, over all ranks */
    int64_t length;      /* most tokens of an instance, specials included; of each half for form xlm */
    int64_t form;        /* XLM_FORM_..., parallel only */
    bool shuffle_sides;  /* parallel only: the side that comes first is drawn for each instance (PPA) */
    double mask;         /* share of the ordinary tokens that is predicted */
    double mask_token, mask_random; /* 0.8, 0.1: of those; the rest stay as they are */
    char *dictionary;    /* NULL: none */
    double switching;    /* share of the predicted that is switched instead; DICT-MLM 0.5 */
    double share;        /* parallel: of the pairs in training, drawn with the seed */
    int64_t least_side, most_pair;  /* parallel: pairs with a side of fewer subwords, or with more together, are left
                                       out; 0: no bound */
} xlm_stream_config;

extern const xlm_option xlm_stream_options[];

typedef struct xlm_stream xlm_stream;

/* Open on one split of a corpus, which must outlive the stream. Makes the index of instances (a pass over links and
 * sentence offsets, not the tokens). Not collective; every rank gets the same. number: of the stream in the job (0 to
 * 255), part of its row keys; name: for messages. config is copied.
 * Errors: EX_CONFIG for settings that contradict one another, a language or pair that the corpus does not have (the
 * message lists what it has), no instance at all, a dictionary of other languages; EX_DATAERR for a damaged corpus; those of
 * xlm_dictionary_read. A language that has text in the
 * training part but none in the held-out part is left out of a stream on the latter, with a warning in the log. */
xlm_stream *xlm_stream_open(const xlm_corpus *corpus, xlm_split split, const char *name, int number,
                            const xlm_stream_config *config, uint64_t seed, GError **error);
/* The same on labelled examples, which are borrowed. Of config, batch and length count, and
 * length is not below the longest example. EX_DATAERR when there are no examples. */
xlm_stream *xlm_stream_open_examples(const xlm_examples *examples, const char *name, int number, const xlm_stream_config *config,
                                     uint64_t seed, GError **error);
/* NULL is allowed. */
void xlm_stream_close(xlm_stream *stream);
const xlm_stream_config *xlm_stream_get_config(const xlm_stream *stream);

/* One line for the log, without the stream's name: instances and share of the draws by language or pair, how many pairs
 * were left out and sentences cut. g_free. */
char *xlm_stream_describe(const xlm_stream *stream);
/* Distinct instances: one epoch over all languages. */
int64_t xlm_stream_instances(const xlm_stream *stream);
/* Its sources: languages or pairs, those named in `languages` in that order; one when it reads examples. */
int xlm_stream_sources(const xlm_stream *stream);
/* Instances of a source. xlm_stream_read_in_order goes through the sources one after another. */
int64_t xlm_stream_source_instances(const xlm_stream *stream, int source);
/* Most tokens an instance can have. */
int64_t xlm_stream_longest(const xlm_stream *stream);
/* Most rows that are predicted of so many instances, for estimates of memory: exact for examples; chance may choose more where
 * there are very few tokens. */
int64_t xlm_stream_most_predicted(const xlm_stream *stream, int64_t instances);
/* Share of the tokens that is predicted in the mean, specials not counted where text is masked. */
double xlm_stream_predicted_share(const xlm_stream *stream);
/* The dictionary that tokens are switched by, valid as long as the stream; NULL: none. */
const xlm_dictionary *xlm_stream_dictionary(const xlm_stream *stream);
/* Positions are below this; less than xlm_stream_longest for form xlm, where they restart. */
int64_t xlm_stream_positions(const xlm_stream *stream);

/* Read and mask instances first .. first+n of step `step`'s list (0 <= first, first + n <= batch) into one packed batch
 * in the arena. Training: the endless list. What is read does not depend on how a step is cut into calls. n may be 0.
 * Not for two threads at once. Errors: EX_DATAERR and EX_IOERR from reading the corpus. */
bool xlm_stream_read(xlm_stream *stream, int64_t step, int64_t first, int64_t n, xlm_arena *arena, xlm_batch *batch,
                     GError **error);
/* The same for instances first .. first+n of one plain pass in file order over all languages, with masks that do not
 * change from one evaluation to the next. first + n <= xlm_stream_instances. */
bool xlm_stream_read_in_order(xlm_stream *stream, int64_t first, int64_t n, xlm_arena *arena, xlm_batch *batch,
                              GError **error);

#endif
