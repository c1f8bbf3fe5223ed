/* xlm-mpi: instances as pieces of text, and their sparse index. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Text is divided into instances by walking over its units (sentences, or pairs of them) from the beginning, so instance i is
 * found only by walking to it. The index divides the instances into blocks of at most 64 and stores where each block begins. To
 * find instance i, walk from the beginning of its block. Memory: half a byte per instance. */
#ifndef XLM_STREAM_INSTANCES_H
#define XLM_STREAM_INSTANCES_H

#include "corpus/corpus.h"
#include "stream/sequences.h"

/* The place of an instance. */
typedef struct xlm_extent {
    int64_t unit;  /* it begins in this unit, */
    int64_t token; /* at this token of the unit, */
    int64_t end;   /* and ends before this unit */
    int64_t tokens, words; /* number of its tokens in a batch, with and without special tokens */
} xlm_extent;

/* Instances [instance, instance of the next block), which cover units [unit, end). */
typedef struct xlm_block {
    int64_t instance;
    int64_t unit, token;
    int64_t end;
} xlm_block;

/* The lengths of instances, in tokens. */
typedef struct xlm_lengths {
    int64_t longest;
    double tokens, squares; /* sums over instances: of the number of tokens, of its square, */
    double words;           /* and of the number of tokens that are not special */
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
/* Add the next instance. A block ends after 64 instances or 4,096 units, so that finding an instance is a short walk. */
void xlm_instances_add(xlm_instances *instances, const xlm_extent *extent);
/* Memory of the index, which stays as it is. */
uint64_t xlm_instances_bytes(const xlm_instances *instances);
/* The block of an instance (0 <= instance < count). */
const xlm_block *xlm_instances_find(const xlm_instances *instances, int64_t instance);

#endif
