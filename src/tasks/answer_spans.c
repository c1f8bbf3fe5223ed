/* xlm-mpi: windows over contexts, and the best spans in them. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/answer_spans.h"

#include <glib.h>

bool xlm_answer_next_window(int64_t subwords, int64_t room, int64_t stride, xlm_answer_window *before)
{
    if (before->n > 0 && before->first + before->n >= subwords)
        return false;
    before->first += MIN(before->n, stride);
    before->n = MIN(subwords - before->first, room);
    return true;
}

int xlm_answer_span_order(const void *pa, const void *pb)
{
    const xlm_answer_span *a = pa, *b = pb;
    if (a->score != b->score)
        return a->score < b->score ? 1 : -1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->end < b->end ? -1 : a->end > b->end;
}

int64_t xlm_answer_best_spans(const xlm_real *logits, int64_t first, int64_t n, int64_t longest, int64_t max_spans,
                              xlm_answer_span *best)
{
    int64_t found = 0;
    for (int64_t start = first; start < first + n; start++) {
        const double of_start = (double)logits[2 * start];
        for (int64_t end = start; end < MIN(first + n, start + longest); end++) {
            const double score = of_start + (double)logits[2 * end + 1];
            if (!(score == score) || (found == max_spans && score <= best[max_spans - 1].score)) /* the earlier wins a tie */
                continue;
            int64_t at = found < max_spans ? found++ : max_spans - 1;
            for (; at > 0 && best[at - 1].score < score; at--)
                best[at] = best[at - 1];
            best[at] = (xlm_answer_span){start, end, score};
        }
    }
    return found;
}
