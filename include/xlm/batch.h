/* xlm-mpi: a packed batch, what the encoder reads in one pass. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The real tokens of several sequences stand one after another without padding: sequence s is rows
 * offsets[s] .. offsets[s+1) of every array with one entry a token. */
#ifndef XLM_BATCH_H
#define XLM_BATCH_H

#include <xlm/special_tokens.h>

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

/* What an annotation has one number of. */
typedef enum {
    XLM_AXIS_TOKENS,         /* [T] */
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
    int32_t width;  /* numbers an entry: values is [length x width] */
} xlm_annotation;

typedef struct xlm_batch {
    int32_t tokens;              /* T */
    int32_t sequences;           /* S */
    int32_t predicted;           /* M, rows that are predicted */
    const int32_t *offsets;      /* [S+1] */
    const int32_t *ids;          /* [T] input, masking applied */
    const int32_t *original;     /* [T] before masking */
    const int32_t *positions;    /* [T] from 0; restarts at the target half of xlm pairs */
    const int32_t *languages;    /* [T] language id of the corpus; of a token that was switched, its translation's */
    const int32_t *text_languages; /* [T] before switching; the same memory where nothing can be switched */
    const int32_t *types;        /* [T] 0, or 1 on the second side of a pair */
    const xlm_row_key *keys;     /* [T] */
    const int32_t *predicted_rows; /* [M] ascending */
    const int32_t *targets;      /* [M] original token of each predicted row; of a labelled example, its label */
    const xlm_special_tokens *specials; /* of the vocabulary that the ids are of */
    const xlm_annotation *annotations; /* the first of them; NULL: none */
} xlm_batch;

/* The annotation of that name; NULL when the batch has none. */
static inline const xlm_annotation *xlm_batch_find_annotation(const xlm_batch *batch, const char *name)
{
    const xlm_annotation *a = batch->annotations;
    while (a != NULL && strcmp(a->name, name) != 0)
        a = a->next;
    return a;
}

/* The values of an annotation, on the axis that is stated here; NULL when the batch has none of that name.
 *
 *   "translations"         per token: a translation by the stream's dictionary, drawn uniformly; -1 where there is none
 *   "translation_languages"  per token: the language of that translation; -1 where there is none
 *   "links"                own axis, two rows each, i and j: tokens that a word alignment links, i of the first side of a pair
 *                          (types 0), j of its second; ascending by i, then by j, each once. Of a pair without links, nothing */
static inline const int32_t *xlm_batch_annotation(const xlm_batch *batch, const char *name)
{
    const xlm_annotation *a = xlm_batch_find_annotation(batch, name);
    return a != NULL ? a->values : NULL;
}

#ifdef __cplusplus
}
#endif
#endif
