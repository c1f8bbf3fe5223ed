/* xlm-mpi: instances of the parallel text of one pair of languages. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pairs are taken in the order of the file, as many as the layout has room for, or one. Left out: pairs with an empty side, pairs
 * that do not fit by themselves, and those that the bounds or the share exclude. */
#ifndef XLM_STREAM_PARALLEL_H
#define XLM_STREAM_PARALLEL_H

#include "stream/instances.h"
#include "stream/stage.h"

/* Which pairs make instances, and how. */
typedef struct xlm_parallel_rules {
    const xlm_stage_class *layout;
    int64_t length; /* of the layout */
    int64_t least_side, most_pair; /* subwords without specials; 0: no bound */
    double share;   /* of the pairs that is taken, drawn with the seed; 1: all. A smaller share is part of a larger one */
    uint64_t seed;
} xlm_parallel_rules;

typedef struct xlm_parallel {
    const xlm_corpus *corpus;
    const xlm_corpus_pairs *pairs;
    const xlm_corpus_text *text[2]; /* source and target */
    int column[2];                  /* of the links that has them */
    xlm_parallel_rules rules;
    bool shuffle_sides;             /* draw for each instance which side comes first */
    xlm_instances instances;
    int64_t taken;                  /* pairs that are in instances */
    /* Pairs left out: do not fit; an empty side, or outside least_side and most_pair; not in the share. */
    int64_t too_long, excluded, undrawn;
} xlm_parallel;

/* A pass over links and offsets. swapped: the target language of the file is the source here. corpus and pairs are
 * borrowed. Errors: EX_DATAERR when links or offsets lead nowhere, and errors of reading the corpus. On failure there is
 * nothing to close. */
bool xlm_parallel_open(xlm_parallel *parallel, const xlm_corpus *corpus, const xlm_corpus_pairs *pairs, bool swapped,
                       const xlm_parallel_rules *rules, GError **error);
void xlm_parallel_close(xlm_parallel *parallel);
/* Append the spans of an instance (0 <= instance < instances.count) to `spans` (GArray of xlm_span), the target first
 * when target_first. */
bool xlm_parallel_find(const xlm_parallel *parallel, int64_t instance, bool target_first, GArray *spans,
                       GError **error);

#endif
