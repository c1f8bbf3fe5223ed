/* xlm-mpi: labelled examples in memory, for fine-tuning. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/examples.h"

#include "lexicon/translations.h"

/* What is stored for each token and each predicted row. It is small, because training text in fifteen languages has several
 * hundred million tokens. */
typedef struct token {
    int32_t id;
    uint16_t language;
    uint8_t type;
    bool word; /* it is a whole word that may be switched */
} token;
typedef struct prediction {
    int32_t position, target;
} prediction;
/* The ends of an example in the arrays of tokens and predictions. */
typedef struct end {
    int64_t tokens, predictions;
} end;

struct xlm_examples {
    const xlm_special_tokens *specials;
    GArray *tokens, *predictions;
    GArray *ends; /* number of examples + 1; the first is 0, 0 */
    int64_t longest, max_predictions; /* tokens of the longest example; maximum number of predicted rows of an example */
    int64_t together;               /* number of consecutive examples that belong to one step */
    xlm_translations *translations; /* for switching words; NULL: none */
    double share;                   /* share of the words that are switched */
};

xlm_examples *xlm_examples_new(const xlm_special_tokens *specials)
{
    xlm_examples *e = g_new0(xlm_examples, 1);
    e->specials = specials;
    e->together = 1;
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
    xlm_translations_free(examples->translations);
    g_free(examples);
}

static const end *end_of(const xlm_examples *e, int64_t examples) { return &g_array_index(e->ends, end, examples); }

/* Number of tokens of the example that is being made. */
static int64_t begun(const xlm_examples *e) { return e->tokens->len - end_of(e, xlm_examples_count(e))->tokens; }

void xlm_examples_add(xlm_examples *examples, int32_t id, int32_t language, int32_t type)
{
    const token t = {id, (uint16_t)language, (uint8_t)type, false};
    g_assert(language >= 0 && language <= UINT16_MAX && type >= 0 && type <= UINT8_MAX);
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

void xlm_examples_mark_word(xlm_examples *examples)
{
    g_assert(begun(examples) > 0);
    g_array_index(examples->tokens, token, examples->tokens->len - 1).word = true;
}

void xlm_examples_end(xlm_examples *examples)
{
    const end e = {examples->tokens->len, examples->predictions->len};
    g_assert(begun(examples) > 0);
    examples->longest = MAX(examples->longest, begun(examples));
    examples->max_predictions = MAX(examples->max_predictions,
                                     e.predictions - end_of(examples, xlm_examples_count(examples))->predictions);
    g_array_append_val(examples->ends, e);
}

void xlm_examples_add_sentence(xlm_examples *examples, const int32_t *ids, int64_t n, int64_t max, int32_t language)
{
    xlm_examples_add_special(examples, XLM_BOS, language, 0);
    for (int64_t i = 0; i < MIN(n, max); i++)
        xlm_examples_add(examples, ids[i], language, 0);
    xlm_examples_add_special(examples, XLM_EOS, language, 0);
    xlm_examples_end(examples);
}

void xlm_examples_keep_together(xlm_examples *examples, int64_t group) { examples->together = group; }
int64_t xlm_examples_together(const xlm_examples *examples) { return examples->together; }

int64_t xlm_examples_count(const xlm_examples *examples) { return (int64_t)examples->ends->len - 1; }
int64_t xlm_examples_longest(const xlm_examples *examples) { return examples->longest; }
int64_t xlm_examples_max_predictions(const xlm_examples *examples) { return examples->max_predictions; }
int64_t xlm_examples_tokens(const xlm_examples *examples, int64_t example) { return end_of(examples, example)->tokens; }
int64_t xlm_examples_predictions(const xlm_examples *examples, int64_t example) { return end_of(examples, example)->predictions; }

GArray *xlm_examples_cut(const xlm_examples *examples)
{
    enum { TOKENS = 512, MAX_EXAMPLES = 64 };
    GArray *cuts = g_array_new(FALSE, FALSE, sizeof(int64_t));
    const int64_t count = xlm_examples_count(examples);
    for (int64_t first = 0, next; first < count; first = next) {
        g_array_append_val(cuts, first);
        for (next = first + 1; next < count && next < first + MAX_EXAMPLES; next++)
            if (xlm_examples_tokens(examples, next + 1) - xlm_examples_tokens(examples, first) > TOKENS)
                break;
    }
    g_array_append_val(cuts, count);
    return cuts;
}

/* ---- reading ---- */

/* Put one example into the rows from `row` on, and its predictions after those that the batch already has. */
static void lay_example(const xlm_examples *e, int64_t example, uint32_t instance, int32_t row, xlm_batch_layout *l)
{
    const end *from = end_of(e, example), *to = end_of(e, example + 1);
    const token *t = &g_array_index(e->tokens, token, from->tokens);
    for (int32_t i = 0; i < to->tokens - from->tokens; i++) {
        l->unmasked[row + i] = t[i].id;
        l->unswitched[row + i] = t[i].language;
        l->types[row + i] = t[i].type;
        l->positions[row + i] = i;
        l->keys[row + i] = (xlm_row_key){instance, (uint32_t)i};
    }
    for (int64_t k = from->predictions; k < to->predictions; k++) {
        const prediction *p = &g_array_index(e->predictions, prediction, k);
        l->predicted_rows[l->predicted] = row + p->position;
        l->targets[l->predicted++] = p->target;
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
    xlm_batch_layout_begin_corruption(&layout, NULL);
    *batch = xlm_batch_of_layout(&layout);
    return true;
}

/* ---- switching words ---- */

void xlm_examples_switch_words(xlm_examples *examples, const xlm_dictionary *dictionary, int64_t vocabulary, double share)
{
    xlm_translations_free(examples->translations);
    examples->translations = xlm_translations_new(dictionary, vocabulary);
    examples->share = share;
}

void xlm_examples_count_words(const xlm_examples *examples, int64_t *words, int64_t *translated)
{
    *words = *translated = 0;
    for (guint i = 0; i < examples->tokens->len; i++) {
        const token *t = &g_array_index(examples->tokens, token, i);
        const int32_t *list;
        int32_t other;
        *words += t->word;
        *translated += t->word && examples->translations != NULL &&
                       xlm_translations_find(examples->translations, t->id, t->language, &list, &other) > 0;
    }
}

void xlm_examples_corrupt(const xlm_examples *e, const int64_t *example, const xlm_draws *draws, xlm_batch_layout *batch)
{
    if (e->translations == NULL)
        return;
    const xlm_rng_key key = xlm_draws_key(draws, XLM_RNG_SWITCH);
    xlm_batch_layout_switch(batch);
    for (int32_t s = 0; s < batch->sequences; s++) {
        const token *t = &g_array_index(e->tokens, token, end_of(e, example[s])->tokens);
        for (int32_t first = batch->offsets[s], row = first; row < batch->offsets[s + 1]; row++, t++) {
            const xlm_rng_block chance = xlm_draws_of_token(draws, key, s, row - first);
            const int32_t *list;
            int32_t other;
            if (!t->word || xlm_rng_unit(chance.v[0]) >= e->share)
                continue;
            const int32_t n = xlm_translations_find(e->translations, t->id, t->language, &list, &other);
            if (n == 0)
                continue;
            batch->ids[row] = list[xlm_rng_below(chance.v[1], (uint64_t)n)];
            batch->languages[row] = other;
        }
    }
}
