/* xlm-mpi: the stages of a stream. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   source    what is read: text of a corpus, labelled examples
 *   spans     which sentences make an instance
 *   noise     which tokens of them are encoded, in which order
 *   layout    how they are in the rows of a batch
 *   annotate  named arrays beside the tokens (xlm_annotation)
 *   corrupt   which rows are predicted, and what the encoder reads there
 *
 * A stage is a file with an xlm_stage_class, and a line in the table of stages.c. What section [stream NAME] of a job can say is
 * what the tables of all stages have. A stream has one source, spans and layout, and all stages of the kinds noise,
 * annotate and corrupt that are not off by their options, in the order of the table. What a class opens is passed to its
 * functions as `stage`. Stages that are plugins work beside these (stage_plugins.h). Nothing here is collective. */
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

/* What the source reads has components: languages, or pairs of languages, each with instances of its own. */
typedef struct xlm_component {
    char *name;        /* "en", "de-en"; NULL: the only one needs none */
    int64_t instances;
    double share;      /* of the draws, up to a factor */
    void *spans;       /* what its spans are found by, of the spans class */
    xlm_lengths lengths; /* of its instances */
    int64_t together;  /* so many instances, side by side, are drawn one after another and stand in one step; 0: each by itself */
} xlm_component;

/* What stages are opened with. */
typedef struct xlm_opening {
    const char *stream;      /* its name, for messages */
    uint64_t seed;
    int64_t length;          /* key of the stream: most tokens of an instance, or of each half */
    const void *from;        /* what the source reads, see xlm_stream_input */
    xlm_split split;
    const xlm_stage_class *spans, *layout; /* of the stream */
    const void *spans_options;
    /* Set by the source, for the stages after it. */
    const xlm_vocabulary *vocabulary;
    uint64_t digest;         /* xlm_corpus_digest */
    char *const *languages;  /* NULL-terminated: the components that are asked for; NULL: all */
    double alpha;            /* components are drawn in proportion to their shares to this power */
    bool noise;              /* stages opened before change the number of tokens */
    GArray *annotations;     /* const char *: names that the stages opened before add to batches; of the stream */
} xlm_opening;

/* Will batches have an annotation when the stage that is being opened gets them? */
static inline bool xlm_opening_has_annotation(const xlm_opening *opening, const char *name)
{
    for (guint i = 0; i < opening->annotations->len; i++)
        if (strcmp(g_array_index(opening->annotations, const char *, i), name) == 0)
            return true;
    return false;
}

/* A source as layouts see it. */
typedef struct xlm_source {
    const xlm_stage_class *cls;
    void *stage;
    const xlm_special_tokens *specials; /* of its vocabulary; NULL: it has none */
} xlm_source;

typedef struct xlm_source_functions {
    bool held_out;  /* it has a held-out split */
    bool labelled;  /* its instances come with what is predicted: they are not annotated, and corrupted by the source alone */
    const char *unit; /* what an instance is called in the log */
    /* Append the components (xlm_component), in the order of a plain pass, one at least and none twice, and open the spans of
     * each. */
    bool (*components)(void *stage, const xlm_opening *opening, GArray *components, GError **error);
    /* The tokens of all spans (GArray of xlm_span), one span after another. NULL: only a layout of its own can read it. */
    bool (*read)(void *stage, const GArray *spans, int32_t *tokens, GError **error);
    /* False when what is read has changed since it was opened, so that whatever was read is worth nothing. NULL: it cannot. */
    bool (*check_unchanged)(const void *stage, GError **error);
    /* For labelled ones: most rows that are predicted of so many instances, and share of the tokens. */
    int64_t (*max_predicted)(const void *stage, int64_t instances);
    double (*predicted_share)(const void *stage);
    /* Change the input of what was drawn for training; NULL: it stays. */
    void (*corrupt)(const void *stage, const xlm_draws *draws, const xlm_sequences *sequences, xlm_batch_layout *batch);
} xlm_source_functions;

typedef struct xlm_spans_functions {
    const xlm_stage_class *source; /* that it reads */
    bool pairs;                    /* instances are pairs: tokens of types 0 and 1 are translations of each other */
    /* Of text: the names of all components that a split of the corpus has (NULL-terminated, g_strfreev); and whether it has
     * one. */
    char **(*list)(const xlm_corpus *corpus, xlm_split split);
    bool (*has)(const xlm_corpus *corpus, xlm_split split, const char *name);
    const char *absent;  /* what to do when there are none, */
    const char *empty;   /* or none makes an instance */
    /* Fill in all of a component but its name. */
    bool (*open)(const xlm_opening *opening, const char *name, xlm_component *component, GError **error);
    void (*close)(void *spans);
    /* Append the spans (xlm_span) of an instance, 0 <= instance < component's instances. draws->first is the number of the draw
     * in its step. */
    bool (*find)(const void *spans, int64_t instance, const xlm_draws *draws, GArray *into, GError **error);
    /* Append to a line of the log what the components (xlm_component) are made of. */
    void (*describe)(const GArray *components, GString *out);
} xlm_spans_functions;

typedef struct xlm_layout_functions {
    const xlm_stage_class *spans;  /* that it lays out */
    bool several;                  /* pairs: as many in an instance as there is room for, or one */
    /* Is there room for this many tokens on either side, the </s> of each sentence included, <s> not? NULL: always. */
    bool (*fits)(const int64_t tokens[2], int64_t length);
    int64_t (*longest)(int64_t length); /* most tokens of an instance; NULL: length. Positions are below length. */
    /* Take a batch in the arena and fill in the text (unmasked) of sequences->tokens, and, of labelled instances, the predicted rows. */
    bool (*lay_out)(const xlm_source *source, const xlm_sequences *sequences, xlm_arena *arena, xlm_batch_layout *batch,
                    GError **error);
} xlm_layout_functions;

typedef struct xlm_noise_functions {
    /* Change the tokens of a span, ids[*n], of which there may be fewer afterwards, and one at least. Number `sequence` of the batch
     * had `first` tokens before the span. */
    void (*change)(const void *stage, const xlm_draws *draws, int32_t sequence, int32_t first, int32_t *ids, int32_t *n);
} xlm_noise_functions;

typedef struct xlm_annotate_functions {
    const char *const *names; /* NULL-terminated, of what it adds */
    /* sequences: what the batch is laid out of, with the rows of their spans. Errors of reading. */
    bool (*annotate)(const void *stage, const xlm_draws *draws, const xlm_sequences *sequences, xlm_batch_layout *batch,
                     GError **error);
    const xlm_dictionary *(*dictionary)(const void *stage); /* what it annotates by; NULL: it has none */
} xlm_annotate_functions;

typedef struct xlm_corrupt_functions {
    void (*corrupt)(const void *stage, const xlm_draws *draws, xlm_batch_layout *batch);
    /* NULL: it chooses no rows. Rows that it chooses of so many instances and tokens, with so many standard deviations more than
     * on average; the mean share of the tokens. */
    int64_t (*max_predicted)(const void *stage, int64_t instances, int64_t tokens, double deviations);
    double (*predicted_share)(const void *stage);
} xlm_corrupt_functions;

struct xlm_stage_class {
    xlm_stage_kind kind;
    const char *name;          /* the word of the job's keys type (spans) and form (layout) that chooses it; NULL: no word does */
    const xlm_option *options; /* keys of [stream NAME], into a struct of options_size bytes; NULL: none */
    size_t options_size;
    /* What the table cannot see. chosen: it is in the stream, or may be; if not, its keys should not have been set. May be
     * NULL. */
    bool (*check)(const void *options, bool chosen, const char *stream, GError **error);
    /* [out] stage: what the functions are given. NULL of noise, annotate and corrupt: it is off. options are not borrowed. The function
     * may be NULL where stage is always NULL. */
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
