/* xlm-mpi: labelled examples in memory, what fine-tuning reads. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/examples.h"

/* What there is a token, and a predicted row. */
typedef struct token {
    int32_t id, language, type;
} token;
typedef struct prediction {
    int32_t position, target;
} prediction;
/* Where an example ends in both arrays. */
typedef struct end {
    int64_t tokens, predictions;
} end;

struct xlm_examples {
    const xlm_special_tokens *specials;
    GArray *tokens, *predictions;
    GArray *ends; /* one more than there are examples; the first is 0, 0 */
    int64_t longest, most_predictions; /* of one */
};

xlm_examples *xlm_examples_new(const xlm_special_tokens *specials)
{
    xlm_examples *e = g_new0(xlm_examples, 1);
    e->specials = specials;
    const end first = {0};
    e->tokens = g_array_new(FALSE, FALSE, sizeof(token));
    e->predictions = g_array_new(FALSE, FALSE, sizeof(prediction));
    e->ends = g_array_new(FALSE, FALSE, sizeof(end));
    g_array_append_val(e->ends, first);
    return e;
}

void xlm_examples_free(xlm_examples *examples)
{
    if (examples == NULL)
        return;
    g_array_unref(examples->tokens);
    g_array_unref(examples->predictions);
    g_array_unref(examples->ends);
    g_free(examples);
}

static const end *end_of(const xlm_examples *e, int64_t examples) { return &g_array_index(e->ends, end, examples); }

/* Tokens of the example that is being made. */
static int64_t begun(const xlm_examples *e) { return e->tokens->len - end_of(e, xlm_examples_count(e))->tokens; }

void xlm_examples_add(xlm_examples *examples, int32_t id, int32_t language, int32_t type)
{
    const token t = {id, language, type};
    g_array_append_val(examples->tokens, t);
}

void xlm_examples_add_special(xlm_examples *examples, xlm_special special, int32_t language, int32_t type)
{
    xlm_examples_add(examples, examples->specials->id[special], language, type);
}

void xlm_examples_predict(xlm_examples *examples, int32_t target)
{
    const prediction p = {(int32_t)begun(examples) - 1, target};
    g_assert(p.position >= 0 && target >= -1);
    g_array_append_val(examples->predictions, p);
}

void xlm_examples_end(xlm_examples *examples)
{
    const end e = {examples->tokens->len, examples->predictions->len};
    g_assert(begun(examples) > 0);
    examples->longest = MAX(examples->longest, begun(examples));
    examples->most_predictions = MAX(examples->most_predictions,
                                     e.predictions - end_of(examples, xlm_examples_count(examples))->predictions);
    g_array_append_val(examples->ends, e);
}

int64_t xlm_examples_count(const xlm_examples *examples) { return (int64_t)examples->ends->len - 1; }
int64_t xlm_examples_longest(const xlm_examples *examples) { return examples->longest; }
int64_t xlm_examples_most_predictions(const xlm_examples *examples) { return examples->most_predictions; }
int64_t xlm_examples_tokens(const xlm_examples *examples, int64_t example) { return end_of(examples, example)->tokens; }
int64_t xlm_examples_predictions(const xlm_examples *examples, int64_t example) { return end_of(examples, example)->predictions; }

GArray *xlm_examples_cut(const xlm_examples *examples)
{
    enum { TOKENS = 512, MOST = 64 };
    GArray *cuts = g_array_new(FALSE, FALSE, sizeof(int64_t));
    const int64_t count = xlm_examples_count(examples);
    for (int64_t first = 0, next; first < count; first = next) {
        g_array_append_val(cuts, first);
        for (next = first + 1; next < count && next < first + MOST; next++)
            if (xlm_examples_tokens(examples, next + 1) - xlm_examples_tokens(examples, first) > TOKENS)
                break;
    }
    g_array_append_val(cuts, count);
    return cuts;
}

/* ---- reading ---- */

/* One example into the rows from `row` on, its predictions behind those that the batch has. */
static void lay_example(const xlm_examples *e, int64_t example, uint32_t instance, int32_t row, xlm_batch_layout *l)
{
    const end *from = end_of(e, example), *to = end_of(e, example + 1);
    const token *t = &g_array_index(e->tokens, token, from->tokens);
    for (int32_t i = 0; i < to->tokens - from->tokens; i++) {
        l->original[row + i] = t[i].id;
        l->text_languages[row + i] = t[i].language;
        l->types[row + i] = t[i].type;
        l->positions[row + i] = i;
        l->keys[row + i] = (xlm_row_key){instance, (uint32_t)i};
    }
    for (int64_t k = from->predictions; k < to->predictions; k++) {
        const prediction *p = &g_array_index(e->predictions, prediction, k);
        l->masked_rows[l->masked] = row + p->position;
        l->targets[l->masked++] = p->target;
    }
}

bool xlm_examples_lay_out(const xlm_examples *e, int64_t n, const int64_t *example, const uint32_t *instances, xlm_arena *arena,
                          xlm_batch_layout *batch, GError **error)
{
    end sum = {0};
    for (int64_t i = 0; i < n; i++) {
        sum.tokens += end_of(e, example[i] + 1)->tokens - end_of(e, example[i])->tokens;
        sum.predictions += end_of(e, example[i] + 1)->predictions - end_of(e, example[i])->predictions;
    }
    if (!xlm_batch_layout_take(batch, arena, e->specials, n, sum.tokens, sum.predictions, error))
        return false;
    int32_t row = 0;
    for (int64_t i = 0; i < n; i++) {
        lay_example(e, example[i], instances[i], row, batch);
        row += (int32_t)(end_of(e, example[i] + 1)->tokens - end_of(e, example[i])->tokens);
        batch->offsets[i + 1] = row;
    }
    return true;
}

bool xlm_examples_read(const xlm_examples *examples, int64_t n, const int64_t *example, const uint32_t *instances,
                       xlm_arena *arena, xlm_batch *batch, GError **error)
{
    xlm_batch_layout layout;
    if (!xlm_examples_lay_out(examples, n, example, instances, arena, &layout, error))
        return false;
    xlm_batch_layout_copy_original(&layout);
    *batch = xlm_batch_of_layout(&layout);
    return true;
}
