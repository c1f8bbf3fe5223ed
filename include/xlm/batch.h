/* xlm-mpi: packed texts, and the batch of texts that a pass is made over. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A text (xlm_text) holds the tokens of several sequences one after another, without padding: sequence s is rows
 * offsets[s] … offsets[s+1] − 1 of every array with one entry per token.
 *
 * A batch (xlm_batch) holds its sequences twice: as they were read (original), and after noise and masking (corrupted). Views
 * (xlm/loss.h) can also take one side of the pairs, and objectives can make their own texts. */
#ifndef XLM_BATCH_H
#define XLM_BATCH_H

#include <xlm/special_tokens.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What makes the random draws of a row independent of the rank that holds it. */
typedef struct xlm_row_key {
    uint32_t instance; /* number of the sequence within the step, over all streams and ranks */
    uint32_t position; /* number of the token within its sequence */
} xlm_row_key;

/* The axis of an annotation: what it has one entry for. */
typedef enum {
    XLM_AXIS_TOKENS,         /* [T] of the corrupted text */
    XLM_AXIS_PREDICTED_ROWS, /* [M] */
    XLM_AXIS_SEQUENCES,      /* [S] */
    XLM_AXIS_OWN             /* [length], the annotation's own */
} xlm_axis;

/* A named array beside the tokens, from one of the stream's stages. */
typedef struct xlm_annotation {
    const char *name;
    xlm_axis axis;
    const int32_t *values;
    const struct xlm_annotation *next; /* NULL: the last */
    int32_t length; /* entries, on any axis */
    int32_t width;  /* numbers per entry: values is [length x width] */
} xlm_annotation;

/* What an encoder or a decoder reads. */
typedef struct xlm_text {
    int32_t tokens;              /* T */
    int32_t sequences;           /* S */
    const int32_t *offsets;      /* [S+1] */
    const int32_t *ids;          /* [T] */
    const int32_t *unmasked;     /* [T] ids before masking and switching, but after noise */
    const int32_t *positions;    /* [T] from 0 in each sequence; in pairs of the form xlm, again from 0 on the second side */
    const int32_t *languages;    /* [T] language ids; a switched token has its translation's */
    const int32_t *unswitched;   /* [T] languages before switching */
    const int32_t *types;        /* [T] 0, or 1 on the second side of a pair */
    const xlm_row_key *keys;     /* [T] */
    const xlm_special_tokens *specials; /* of the vocabulary of the ids */
} xlm_text;

typedef struct xlm_batch {
    xlm_text original;           /* as it was read: ids and unmasked are the same, languages and unswitched too */
    xlm_text corrupted;          /* after noise, masking and switching. Without noise it has the rows of the original, and
                                    unmasked are original.ids */
    bool noise;                  /* noise has changed the order or the number of rows */
    int32_t predicted;           /* M, rows that are predicted */
    const int32_t *predicted_rows; /* [M] ascending, of the corrupted text */
    const int32_t *targets;      /* [M] unmasked token of each predicted row; in labelled examples, its label */
    const xlm_annotation *annotations; /* of the corrupted text; the first of them; NULL: none */
} xlm_batch;

/* Do predicted_rows and annotations refer to rows of this text of the batch? True for the corrupted text and, without noise, for
 * the original text. */
static inline bool xlm_batch_has_rows_of(const xlm_batch *batch, const xlm_text *text)
{
    return !batch->noise || text != &batch->original;
}

/* The annotation of that name; NULL if the batch has none. */
static inline const xlm_annotation *xlm_batch_find_annotation(const xlm_batch *batch, const char *name)
{
    const xlm_annotation *a = batch->annotations;
    while (a != NULL && strcmp(a->name, name) != 0)
        a = a->next;
    return a;
}

/* The values of an annotation, on the axis that is stated here; NULL if the batch has none of that name.
 *
 *   "translations"         per token: a translation by the stream's dictionary, drawn uniformly; -1 where there is none
 *   "translation_languages"  per token: the language of that translation; -1 where there is none
 *   "links"                own axis, width 2: rows i and j of the corrupted text that a word alignment links, i on the first side
 *                          of a pair (type 0), j on its second side; ascending by i, then by j, each link once. A pair without
 *                          links has no entries */
static inline const int32_t *xlm_batch_annotation(const xlm_batch *batch, const char *name)
{
    const xlm_annotation *a = xlm_batch_find_annotation(batch, name);
    return a != NULL ? a->values : NULL;
}

#ifdef __cplusplus
}
#endif
#endif
