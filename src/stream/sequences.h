/* xlm-mpi: the sequences of a batch before they are laid out. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_STREAM_SEQUENCES_H
#define XLM_STREAM_SEQUENCES_H

#include <glib.h>
#include <stdint.h>

/* Contiguous tokens of the source that become a part of a sequence: a sentence, a part of one, or an example. */
typedef struct xlm_span {
    const void *text; /* the text that it is from; only the source knows its type */
    int64_t start;    /* first token in the text; of labelled examples, the number of the example */
    int32_t tokens;
    int32_t language; /* id */
    int32_t side;     /* token type: 0, or 1 on the second side of a pair */
    int64_t pair;     /* number of its pair among the corpus's pairs of these two languages; -1: it is not in a pair */
    int32_t row;      /* row of its first token in the batch; set by the layout for later stages */
} xlm_span;

/* Sequence s has spans [ends[s-1], ends[s]). */
typedef struct xlm_sequences {
    GArray *spans;     /* xlm_span */
    GArray *ends;      /* guint */
    GArray *instances; /* uint32_t: the instance in the row keys of each sequence */
    int32_t *tokens;   /* of all spans, one span after another; NULL: not read yet, or read by the layout. Borrowed */
} xlm_sequences;

void xlm_sequences_init(xlm_sequences *sequences);
void xlm_sequences_clear(xlm_sequences *sequences);
/* Remove all sequences, but keep the memory. */
void xlm_sequences_reset(xlm_sequences *sequences);
/* End a sequence, which has the spans that were appended since the last call. */
void xlm_sequences_end(xlm_sequences *sequences, uint32_t instance);

#endif
