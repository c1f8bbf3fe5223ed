/* xlm-mpi: instances of the parallel text of one pair of languages. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An instance has one pair, or as many as the layout has room for, in the order of the file. Pairs with an empty side, pairs that
 * do not fit into an instance, and pairs that the bounds or the share exclude are left out. */
#ifndef XLM_STREAM_PARALLEL_H
#define XLM_STREAM_PARALLEL_H

#include "stream/instances.h"
#include "stream/stage.h"

/* Which pairs make instances, and how. */
typedef struct xlm_parallel_rules {
    const xlm_stage_class *layout;
    int64_t length; /* of the layout */
    int64_t least_side, most_pair; /* minimum subwords of a side, maximum of both, without special tokens; 0: no bound */
    double share;   /* share of the pairs that is read, drawn with the seed; 1: all. A smaller share is part of a larger one */
    uint64_t seed;
} xlm_parallel_rules;

typedef struct xlm_parallel {
    const xlm_corpus *corpus;
    const xlm_corpus_pairs *pairs;
    const xlm_corpus_text *text[2]; /* source and target */
    int column[2];                  /* the column of the corpus's links in which each side is */
    xlm_parallel_rules rules;
    bool shuffle_sides;             /* draw for each instance which side comes first */
    xlm_instances instances;
    int64_t taken;                  /* number of pairs in instances */
    /* Numbers of pairs that are left out because: */
    int64_t too_long; /* they do not fit into an instance */
    int64_t excluded; /* a side is empty, or least_side or most_pair excludes them */
    int64_t undrawn;  /* they are not in the share */
} xlm_parallel;

/* Make the index by a pass over links and offsets. swapped: the target language of the corpus's pairs is the source here. corpus
 * and pairs are borrowed. Errors: EX_DATAERR when links or offsets are out of range, and errors of reading the corpus. On failure
 * there is nothing to close. */
bool xlm_parallel_open(xlm_parallel *parallel, const xlm_corpus *corpus, const xlm_corpus_pairs *pairs, bool swapped,
                       const xlm_parallel_rules *rules, GError **error);
void xlm_parallel_close(xlm_parallel *parallel);
/* Append the spans of an instance (0 <= instance < instances.count) to `spans` (GArray of xlm_span), the target first
 * when target_first. */
bool xlm_parallel_find(const xlm_parallel *parallel, int64_t instance, bool target_first, GArray *spans,
                       GError **error);

#endif
