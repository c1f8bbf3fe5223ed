/* xlm-mpi: instances of the parallel text of one pair of languages. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   xlm    <s> S1 </s> S2 </s> ... <s> T1 </s> T2 </s> ...   pairs are packed in the order of the file until one of the
 *          halves, each of at most `length` tokens, would be full; positions restart at the second half
 *   bert   <s> S </s> T </s>   one pair, at most `length` tokens together; positions run on
 *
 * Left out: pairs with an empty side, pairs that do not fit by themselves, and those that the bounds or the share exclude. */
#ifndef XLM_STREAM_PARALLEL_H
#define XLM_STREAM_PARALLEL_H

#include "stream/instances.h"

/* Which pairs make instances, and how. */
typedef struct xlm_parallel_rules {
    int64_t form;   /* XLM_FORM_... of stream/stream.h */
    int64_t length; /* see above, specials included */
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
    xlm_instances instances;
    int64_t kept;                   /* pairs that are in instances */
    /* Pairs left out: do not fit; an empty side, or outside least_side and most_pair; not in the share. */
    int64_t too_long, excluded, undrawn;
} xlm_parallel;

/* A pass over links and offsets. swapped: the target language of the file is the source here. corpus and pairs are
 * borrowed. Errors: EX_DATAERR when links or offsets lead nowhere; what reading the corpus says. On failure there is
 * nothing to close. */
bool xlm_parallel_open(xlm_parallel *parallel, const xlm_corpus *corpus, const xlm_corpus_pairs *pairs, bool swapped,
                       const xlm_parallel_rules *rules, GError **error);
void xlm_parallel_close(xlm_parallel *parallel);
/* Append the spans of an instance (0 <= instance < instances.count) to `spans` (GArray of xlm_span), the target first
 * when target_first. */
bool xlm_parallel_find(const xlm_parallel *parallel, int64_t instance, bool target_first, GArray *spans,
                       GError **error);

#endif
