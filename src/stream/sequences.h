/* xlm-mpi: the sequences of a batch before they are laid out. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_STREAM_SEQUENCES_H
#define XLM_STREAM_SEQUENCES_H

#include <glib.h>
#include <stdint.h>

/* Tokens that are together in the source, and will in a sequence: a sentence, a part of one, or an example. */
typedef struct xlm_span {
    const void *text; /* that it is of, for the source */
    int64_t start;    /* first token in the text; of labelled examples, the number of the example */
    int32_t tokens;
    int32_t language; /* id */
    int32_t side;     /* token type: 0, or 1 on the side of a pair that is second */
    int64_t pair;     /* number of its pair in the corpus, counted for these two languages; -1: of none */
    int32_t row;      /* of a batch, of its first token: for stages after the layout, which sets it */
} xlm_span;

/* Sequence s has spans [ends[s-1], ends[s]). */
typedef struct xlm_sequences {
    GArray *spans;     /* xlm_span */
    GArray *ends;      /* guint */
    GArray *instances; /* uint32_t: what the row keys of each sequence get */
    int32_t *tokens;   /* of all spans, one span after another; NULL: not read, or the layout reads them. Borrowed */
} xlm_sequences;

void xlm_sequences_init(xlm_sequences *sequences);
void xlm_sequences_clear(xlm_sequences *sequences);
/* Remove all sequences, keep the memory. */
void xlm_sequences_reset(xlm_sequences *sequences);
/* The spans appended since the last call are a sequence. */
void xlm_sequences_end(xlm_sequences *sequences, uint32_t instance);

#endif
