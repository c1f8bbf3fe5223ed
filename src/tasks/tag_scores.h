/* xlm-mpi: scores of tagging. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   accuracy   words with the right tag
 *   micro_f1   2 Σ right / (Σ gold + Σ predicted) over tags, which is the accuracy if all tags count
 *   macro_f1   mean F1 of the tags that occur in gold or are predicted
 *   span_f1    for BIO tags: F1 of spans with the right beginning, end and type, as conlleval counts them (CoNLL-2000 and later)
 *   run_f1     for other tags: F1 of the longest sequences of words with the same tag, right if beginning, end and tag are. Papers
 *              that take seqeval for tags without B- and I-, such as those of XTREME's parts of speech, give this F1; but it takes
 *              every word for a sequence if its tag begins with S (SCONJ, SYM)
 *
 * Tags are BIO if all are "O", "B-..." or "I-...", with at least one of the latter two. Then O, which is not an entity, is left
 * out of micro_f1 and macro_f1.
 *
 * A gold tag that the model does not have is never predicted, so it is wrong in every measure. If the model's tags are BIO, a
 * gold tag that is not BIO also counts as a span of one word. */
#ifndef XLM_TASKS_TAG_SCORES_H
#define XLM_TASKS_TAG_SCORES_H

#include "tasks/task.h"

/* The tags of all words, in their order; sentence s has the words [ends[s−1], ends[s]). */
typedef struct xlm_tag_pairs {
    int64_t words, sentences;
    const int32_t *gold, *predicted; /* [words] indices into labels */
    const uint32_t *ends;            /* [sentences] */
    char *const *labels;             /* [classes], then NULL */
    int64_t classes;
    bool bio;                        /* xlm_tags_are_bio of the model's labels */
} xlm_tag_pairs;

/* Are the labels (NULL-terminated) BIO tags? */
bool xlm_tags_are_bio(char *const *labels);

/* Add the measures above in this order (span_f1 of BIO tags, run_f1 of others), and one row for each type of span and each tag that occurs in
 * gold or is predicted. */
void xlm_tag_scores(const xlm_tag_pairs *pairs, xlm_task_scores *scores);

#endif
