/* xlm-mpi: instances as stretches of text, and their sparse index. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Text is cut into instances by walking over its units (sentences, or pairs of them) from the front, so where instance
 * i begins is only known by walking there. The index keeps the beginning of about every 64th: a block. To find instance
 * i, walk from the beginning of its block. Memory: half a byte an instance. */
#ifndef XLM_STREAM_INSTANCES_H
#define XLM_STREAM_INSTANCES_H

#include "corpus/corpus.h"
#include "stream/sequences.h"

/* Where an instance is. */
typedef struct xlm_extent {
    int64_t unit;  /* it begins in this one */
    int64_t token; /* at this token of it */
    int64_t end;   /* it ends before this unit */
    int64_t tokens, words; /* in a batch, and without special tokens */
} xlm_extent;

/* Instances [instance, instance of the next block), which reach over units [unit, end). */
typedef struct xlm_block {
    int64_t instance;
    int64_t unit, token;
    int64_t end;
} xlm_block;

/* How long instances are. */
typedef struct xlm_lengths {
    int64_t longest;
    double tokens, squares; /* Σ tokens of an instance, Σ of its square */
    double words;           /* Σ tokens that are not special */
} xlm_lengths;

static inline void xlm_lengths_add(xlm_lengths *lengths, int64_t tokens, int64_t words)
{
    lengths->longest = MAX(lengths->longest, tokens);
    lengths->tokens += (double)tokens;
    lengths->squares += (double)tokens * (double)tokens;
    lengths->words += (double)words;
}

typedef struct xlm_instances {
    GArray *blocks; /* xlm_block */
    int64_t count;  /* instances */
    xlm_lengths lengths;
} xlm_instances;

void xlm_instances_init(xlm_instances *instances);
void xlm_instances_clear(xlm_instances *instances);
/* Put the next instance in. A block ends after 64 instances or 4,096 units, so that few are walked to find one. */
void xlm_instances_add(xlm_instances *instances, const xlm_extent *extent);
/* The block that an instance (0 <= instance < count) is in. */
const xlm_block *xlm_instances_find(const xlm_instances *instances, int64_t instance);

#endif
