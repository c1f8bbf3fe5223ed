/* xlm-mpi: a stage from outside, for tests: the two halves of a text in another order (ALBERT, Lan et al. 2020).
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each sequence of two sentences or more is parted where a sentence ends nearest its middle; with probability `swap` the second part
 * comes first. The part that comes first is side 0, the other side 1. The annotation "swapped" says which sequences were swapped: 1,
 * 0, or −1 of a single sentence. */
#include <xlm/stage.h>

struct sentence_order {
    double swap;
};

static const xlm_option sentence_order_options[] = {
    {"swap", XLM_OPTION_REAL, "0.5", 0, 1, NULL, "share of the sequences that is swapped", offsetof(struct sentence_order, swap)},
    XLM_OPTION_END,
};

static const xlm_stage_annotation sentence_order_annotations[] = {{"swapped", XLM_AXIS_SEQUENCES}, {NULL, XLM_AXIS_TOKENS}};

/* How many of n spans, two at least, make the first part. */
static int32_t first_part(const xlm_stage_span *span, int32_t n)
{
    int64_t all = 0, before = 0, nearest = INT64_MAX;
    int32_t best = 1;
    for (int32_t i = 0; i < n; i++)
        all += span[i].tokens;
    for (int32_t i = 1; i < n; i++) {
        before += span[i - 1].tokens;
        const int64_t distance = 2 * before > all ? 2 * before - all : all - 2 * before;
        if (distance < nearest) {
            nearest = distance;
            best = i;
        }
    }
    return best;
}

static void reverse(xlm_stage_span *span, int32_t n)
{
    for (int32_t i = 0; i < n / 2; i++) {
        const xlm_stage_span other = span[i];
        span[i] = span[n - 1 - i];
        span[n - 1 - i] = other;
    }
}

static void sentence_order_arrange(xlm_stage *self, const xlm_stage_pass *pass, xlm_stage_text *text)
{
    const struct sentence_order *order = self->state;
    int32_t *swapped = xlm_stage_annotate(pass, "swapped");
    for (int32_t s = 0; s < text->sequences; s++) {
        xlm_stage_span *span = text->spans + text->offsets[s];
        const int32_t n = text->offsets[s + 1] - text->offsets[s];
        if (n < 2)
            continue; /* stays −1 */
        int32_t first = first_part(span, n);
        swapped[s] = xlm_stage_uniform(pass, text->keys[s], 0) < order->swap;
        if (swapped[s]) { /* turned round as a whole, then each part */
            reverse(span, n);
            first = n - first;
            reverse(span, first);
            reverse(span + first, n - first);
        }
        for (int32_t i = first; i < n; i++)
            span[i].side = 1;
    }
}

extern const xlm_stage_plugin xlm_stage_sentence_order;
const xlm_stage_plugin xlm_stage_sentence_order = {
    .abi = XLM_STAGE_ABI,
    .name = "sentence-order",
    .summary = "the two parts of a text in one order or the other",
    .options = sentence_order_options,
    .state_size = sizeof(struct sentence_order),
    .annotations = sentence_order_annotations,
    .arrange = sentence_order_arrange,
};
