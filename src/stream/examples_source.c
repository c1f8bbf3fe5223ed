/* xlm-mpi: the source that reads labelled examples. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An example is an instance that already has its special tokens and its list of predicted rows. It has one span, whose start is
 * the example's number. */
#include "stream/examples.h"
#include "stream/stream.h"

static bool examples_open(xlm_opening *opening, const void *options, void **stage, GError **error)
{
    (void)options;
    const xlm_examples *examples = opening->from;
    if (xlm_examples_count(examples) == 0)
        return xlm_error_set(error, EX_DATAERR, "[stream %s]: there are no examples", opening->stream);
    g_assert(xlm_examples_longest(examples) <= opening->length);
    g_assert(xlm_examples_count(examples) % xlm_examples_together(examples) == 0);
    *stage = (void *)(uintptr_t)examples;
    return true;
}

static bool examples_component(void *stage, const xlm_opening *opening, GArray *components, GError **error)
{
    (void)opening;
    (void)error;
    const xlm_examples *examples = stage;
    xlm_component all = {.instances = xlm_examples_count(examples), .share = 1, .spans = stage,
                               .together = xlm_examples_together(examples)};
    for (int64_t i = 0; i < all.instances; i++) {
        const int64_t tokens = xlm_examples_tokens(examples, i + 1) - xlm_examples_tokens(examples, i);
        xlm_lengths_add(&all.lengths, tokens, tokens);
    }
    g_array_append_val(components, all);
    return true;
}

static int64_t max_predicted(const void *stage, int64_t instances)
{
    const xlm_examples *examples = stage;
    return instances * xlm_examples_max_predictions(examples);
}

static double predicted_share(const void *stage)
{
    const xlm_examples *examples = stage;
    const int64_t n = xlm_examples_count(examples);
    return (double)xlm_examples_predictions(examples, n) / (double)xlm_examples_tokens(examples, n);
}

/* The number of each sequence's example, [sequences] in the arena. */
static int64_t *numbers_of(const xlm_sequences *sequences, xlm_arena *arena)
{
    const guint n = sequences->spans->len;
    int64_t *example = XLM_TAKE(arena, int64_t, n);
    for (guint i = 0; i < n; i++)
        example[i] = g_array_index(sequences->spans, xlm_span, i).start;
    return example;
}

static void corrupt(const void *stage, const xlm_draws *draws, const xlm_sequences *sequences, xlm_batch_layout *batch)
{
    const xlm_examples *examples = stage;
    xlm_examples_corrupt(examples, numbers_of(sequences, batch->arena), draws, batch);
}

const xlm_stage_class xlm_stage_examples_source = {
    .kind = XLM_STAGE_SOURCE,
    .open = examples_open,
    .source = {.labelled = true, .unit = "examples", .components = examples_component, .max_predicted = max_predicted,
               .predicted_share = predicted_share, .corrupt = corrupt},
};

xlm_stream_input xlm_stream_labelled(const xlm_examples *examples)
{
    return (xlm_stream_input){&xlm_stage_examples_source, examples};
}

/* ---- spans and layout ---- */

static bool find(const void *spans, int64_t instance, const xlm_draws *draws, GArray *into, GError **error)
{
    (void)spans;
    (void)draws;
    (void)error;
    const xlm_span span = {.start = instance, .pair = -1};
    g_array_append_val(into, span);
    return true;
}

static void describe(const GArray *components, GString *out)
{
    const xlm_examples *examples = g_array_index(components, xlm_component, 0).spans;
    const int64_t n = xlm_examples_count(examples);
    g_string_append_printf(out, " of %.1f tokens", (double)xlm_examples_tokens(examples, n) / (double)n);
}

const xlm_stage_class xlm_stage_examples_spans = {
    .kind = XLM_STAGE_SPANS,
    .spans = {.source = &xlm_stage_examples_source, .find = find, .describe = describe},
};

static bool lay_out(const xlm_source *source, const xlm_sequences *sequences, xlm_arena *arena,
                    xlm_batch_layout *batch, GError **error)
{
    const xlm_examples *examples = source->stage;
    return xlm_examples_lay_out(examples, sequences->spans->len, numbers_of(sequences, arena),
                                (const uint32_t *)(const void *)sequences->instances->data, arena, batch, error);
}

const xlm_stage_class xlm_stage_examples_layout = {
    .kind = XLM_STAGE_LAYOUT,
    .layout = {.spans = &xlm_stage_examples_spans, .lay_out = lay_out},
};
