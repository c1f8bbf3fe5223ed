/* xlm-mpi: the stages of a stream. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   source    what is read: text of a corpus, labelled examples
 *   spans     which sentences make an instance
 *   noise     which of their tokens are encoded, and in which order
 *   layout    how they are arranged in the rows of a batch
 *   annotate  named arrays beside the tokens (xlm_annotation)
 *   corrupt   which rows are predicted, and what the encoder reads there
 *
 * A stage is a file with an xlm_stage_class and a line in the table of stages.c. The keys of section [stream NAME] of a job are
 * those of the stream itself (stream_config.c) and the options of all stages. A stream has one source, one spans and one layout
 * stage, and all stages of the kinds noise, annotate and corrupt that their options do not turn off, in the order of the table.
 * The functions of a class get what its `open` made as `stage`. Stages that are plugins come in addition (stage_plugins.h).
 * Nothing here is collective. */
#ifndef XLM_STREAM_STAGE_H
#define XLM_STREAM_STAGE_H

#include <xlm/dictionary.h>
#include <xlm/options.h>

#include "corpus/corpus.h"
#include "stream/batch_layout.h"
#include "stream/draws.h"
#include "stream/instances.h"
#include "stream/sequences.h"

typedef struct xlm_stage_class xlm_stage_class;

typedef enum {
    XLM_STAGE_SOURCE,
    XLM_STAGE_SPANS,
    XLM_STAGE_NOISE,
    XLM_STAGE_LAYOUT,
    XLM_STAGE_ANNOTATE,
    XLM_STAGE_CORRUPT
} xlm_stage_kind;

/* A part of what the source reads: a language or a pair of languages, with its own instances. */
typedef struct xlm_component {
    char *name;        /* "en", "de-en"; NULL: there is only one component, without a name */
    int64_t instances;
    double share;      /* p of the sampler: its share of the text, up to a factor */
    int64_t begins;    /* the first step at which it is drawn */
    void *spans;       /* state of the spans class, which finds the spans of its instances */
    xlm_lengths lengths; /* of its instances */
    uint64_t index_bytes; /* memory of their index */
    int64_t together;  /* number of consecutive instances that belong to one step and are drawn together; 0 means 1 */
} xlm_component;

/* What the `open` functions of stages get. */
typedef struct xlm_opening {
    const char *stream;      /* its name, for messages */
    uint64_t seed;
    int64_t length;          /* key of the stream: maximum number of tokens of an instance, or of each half */
    const void *from;        /* what the source reads, see xlm_stream_input */
    xlm_split split;
    const xlm_stage_class *spans, *layout; /* of the stream */
    const void *spans_options; /* of class `spans` */
    /* Set by the source for later stages. */
    const xlm_vocabulary *vocabulary;
    uint64_t digest;         /* xlm_corpus_digest */
    char *const *languages;  /* NULL-terminated: the requested components; NULL: all */
    const xlm_piecewise *alpha; /* components are drawn in proportion to their shares to this power; NULL: 1 */
    bool noise;              /* the stream has noise, of stages that were opened before or of plugins */
    GArray *annotations;     /* const char *: names of the annotations that the stages opened before add to batches; owned by
                              * the stream */
} xlm_opening;

/* Will batches have this annotation when the stage that is being opened gets them? */
static inline bool xlm_opening_has_annotation(const xlm_opening *opening, const char *name)
{
    for (guint i = 0; i < opening->annotations->len; i++)
        if (strcmp(g_array_index(opening->annotations, const char *, i), name) == 0)
            return true;
    return false;
}

/* What layouts see of a source. */
typedef struct xlm_source {
    const xlm_stage_class *cls;
    void *stage;
    const xlm_special_tokens *specials; /* of its vocabulary; NULL: there are none */
} xlm_source;

typedef struct xlm_source_functions {
    bool held_out;  /* it has a held-out split */
    bool labelled;  /* its instances bring their predicted rows: they are not annotated, and only the source corrupts them */
    const char *unit; /* what an instance is called in the log */
    /* Append the components (xlm_component), at least one and none twice, in the order of evaluation, and open the spans of
     * each. */
    bool (*components)(void *stage, const xlm_opening *opening, GArray *components, GError **error);
    /* [out] tokens: those of all spans (GArray of xlm_span), one span after another. NULL: only the source's own layout can read
     * them. */
    bool (*read)(void *stage, const GArray *spans, int32_t *tokens, GError **error);
    /* False when the input has changed since it was opened, so that what was read cannot be used. NULL: it cannot change. */
    bool (*check_unchanged)(const void *stage, GError **error);
    /* For labelled sources: maximum number of predicted rows of `instances` instances, and their share of the tokens. */
    int64_t (*max_predicted)(const void *stage, int64_t instances);
    double (*predicted_share)(const void *stage);
    /* Change the input of instances that were drawn for training; NULL: it is not changed. */
    void (*corrupt)(const void *stage, const xlm_draws *draws, const xlm_sequences *sequences, xlm_batch_layout *batch);
} xlm_source_functions;

typedef struct xlm_spans_functions {
    const xlm_stage_class *source; /* the source that it reads */
    bool pairs;                    /* instances are pairs: tokens of types 0 and 1 are translations of each other */
    /* For text: the names of all components of a split of the corpus (NULL-terminated, g_strfreev), and the one among them that a
     * user means by a name: a pair may be named in either order. It is the corpus's; NULL: there is none. */
    char **(*list)(const xlm_corpus *corpus, xlm_split split);
    const char *(*find_name)(const xlm_corpus *corpus, xlm_split split, const char *name);
    const char *absent;  /* advice to the user when there are no components, */
    const char *empty;   /* and when no component has an instance */
    /* Fill in everything of a component except its name. */
    bool (*open)(const xlm_opening *opening, const char *name, xlm_component *component, GError **error);
    void (*close)(void *spans);
    /* Append the spans (xlm_span) of an instance, 0 <= instance < component's instances. draws->first: number of the draw in its
     * step. */
    bool (*find)(const void *spans, int64_t instance, const xlm_draws *draws, GArray *into, GError **error);
    /* Append a description of the components (xlm_component) to a line of the log. */
    void (*describe)(const GArray *components, GString *out);
} xlm_spans_functions;

typedef struct xlm_layout_functions {
    const xlm_stage_class *spans;  /* the spans that it lays out */
    bool several;                  /* for pairs: an instance has as many as there is room for, not just one */
    /* Is there room for this many tokens on each side, counting the </s> of each sentence but not <s>? NULL: always. */
    bool (*fits)(const int64_t tokens[2], int64_t length);
    int64_t (*longest)(int64_t length); /* maximum number of tokens of an instance; NULL: length. Positions are below length */
    /* Allocate a batch in the arena and fill in the text (unmasked) of sequences->tokens and, for labelled instances, the
     * predicted rows. */
    bool (*lay_out)(const xlm_source *source, const xlm_sequences *sequences, xlm_arena *arena, xlm_batch_layout *batch,
                    GError **error);
} xlm_layout_functions;

typedef struct xlm_noise_functions {
    /* Change the tokens of a span, ids[*n]. There may be fewer afterwards, but at least one. The span is in sequence `sequence`
     * of the batch, which had `first` tokens before the span when there was no noise. */
    void (*change)(const void *stage, const xlm_draws *draws, int32_t sequence, int32_t first, int32_t *ids, int32_t *n);
    double (*kept_share)(const void *stage); /* mean share of the tokens that are kept */
} xlm_noise_functions;

typedef struct xlm_annotate_functions {
    const char *const *names; /* NULL-terminated: names of the annotations that it adds */
    /* sequences: the sequences of the batch, with the rows of their spans. Errors of reading. */
    bool (*annotate)(const void *stage, const xlm_draws *draws, const xlm_sequences *sequences, xlm_batch_layout *batch,
                     GError **error);
    const xlm_dictionary *(*dictionary)(const void *stage); /* the dictionary that it uses; NULL: it has none */
} xlm_annotate_functions;

typedef struct xlm_corrupt_functions {
    void (*corrupt)(const void *stage, const xlm_draws *draws, xlm_batch_layout *batch);
    /* Number of rows that the stage chooses from so many instances and tokens, `deviations` standard deviations above the mean;
     * and the mean share of the tokens. NULL: it chooses no rows. */
    int64_t (*max_predicted)(const void *stage, int64_t instances, int64_t tokens, double deviations);
    double (*predicted_share)(const void *stage);
    /* Only for a stage that chooses rows: mean share of these rows whose input becomes <mask>. */
    double (*mask_token_share)(const void *stage);
} xlm_corrupt_functions;

struct xlm_stage_class {
    xlm_stage_kind kind;
    const char *name;          /* the value of the job's key type (spans) or form (layout) that chooses it; NULL: none */
    const xlm_option *options; /* keys of [stream NAME], into a struct of options_size bytes; NULL: none */
    size_t options_size;
    /* Checks beyond those of the table of options. chosen: the stage is, or may be, in the stream; otherwise none of its keys
     * should be set. May be NULL. */
    bool (*check)(const void *options, bool chosen, const char *stream, GError **error);
    /* [out] stage: the argument `stage` of the other functions; NULL for noise, annotate and corrupt means that the stage is off.
     * options are not borrowed. The function may be NULL if stage is always NULL. */
    bool (*open)(xlm_opening *opening, const void *options, void **stage, GError **error);
    void (*close)(void *stage);
    union {
        xlm_source_functions source;
        xlm_spans_functions spans;
        xlm_noise_functions noise;
        xlm_layout_functions layout;
        xlm_annotate_functions annotate;
        xlm_corrupt_functions corrupt;
    };
};

#endif
