/* xlm-mpi: a batch of a planned size, before anything is read. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/planned_batch.h"

#include <math.h>

#include "base/rng.h"
#include "stream/batch_layout.h"
#include "subwords/special_tokens.h"

double xlm_plan_deviations(double n)
{
    if (n < 2)
        return 0;
    const double t = sqrt(2 * log(n)); /* Cramér 1946 */
    return t - (log(log(n)) + log(4 * G_PI)) / (2 * t);
}

xlm_planned_size xlm_plan_size(const xlm_stream *stream, int64_t instances, double tokens, double predicted)
{
    const xlm_stream_size size = xlm_stream_expect(stream, instances, tokens);
    return (xlm_planned_size){
        .sequences = instances, .tokens = size.tokens, .length = MIN(size.longest, size.tokens),
        .predicted = MIN(size.tokens, xlm_stream_max_predicted(stream, instances, size.words, predicted)),
    };
}

/* ---- text ---- */

/* Number of words that the text repeats in turn. They are frequent words, so that objectives that look up pairs of words find
 * some. */
enum { WORDS = 16 };

typedef struct text {
    const xlm_special_tokens *specials;
    int words;
    int32_t word[WORDS];
    int languages;
    bool pairs, restarts; /* sequences have two sides; the second side begins with <s>, at position 0 */
} text;

/* Choose the words with the highest counts; there may be fewer than WORDS. */
static void choose_words(const xlm_vocabulary *vocabulary, text *t)
{
    const int64_t *counts = xlm_vocabulary_counts(vocabulary);
    const int32_t n = (int32_t)xlm_vocabulary_size(vocabulary);
    for (int32_t id = 0; id < n; id++) {
        if (!xlm_is_text(t->specials, id))
            continue;
        int at = t->words < WORDS ? t->words++ : WORDS;
        for (; at > 0 && counts[t->word[at - 1]] < counts[id]; at--)
            if (at < WORDS)
                t->word[at] = t->word[at - 1];
        if (at < WORDS)
            t->word[at] = id;
    }
    if (t->words == 0)
        t->word[t->words++] = t->specials->id[XLM_UNK];
}

/* Number of tokens of the first side of a pair that has n. Both sides have equally many words; the first also has <s>, and so has
 * the second if it restarts. */
static int32_t first_side(const text *t, int32_t n) { return t->restarts ? n / 2 : (n + 1) / 2; }

static void fill_sequence(const text *t, int32_t s, int32_t n, xlm_batch_layout *batch)
{
    const int32_t first = batch->offsets[s], half = t->pairs ? first_side(t, n) : n;
    for (int32_t i = 0; i < n; i++) {
        const int32_t row = first + i, side = i >= half;
        const bool opens = i == 0 || (t->restarts && i == half), closes = i == n - 1 || i == half - 1;
        batch->unmasked[row] = opens ? t->specials->id[XLM_BOS] : closes ? t->specials->id[XLM_EOS] : t->word[i % t->words];
        batch->positions[row] = t->restarts && side ? i - half : i;
        batch->types[row] = side;
        batch->unswitched[row] = t->languages > 1 ? side : 0;
        batch->keys[row] = (xlm_row_key){(uint32_t)s, (uint32_t)i};
    }
    batch->offsets[s + 1] = first + n;
}

/* ---- what is predicted and annotated ---- */

/* Choose k rows of sequence s at random, only rows of words if there are enough of these. labelled: targets are classes, not
 * words. */
static void predict(const text *t, int32_t s, int64_t k, bool labelled, xlm_batch_layout *batch)
{
    static const xlm_rng_key key = {{1, 2}};
    int64_t words = 0;
    for (int32_t row = batch->offsets[s]; row < batch->offsets[s + 1]; row++)
        words += xlm_is_text(t->specials, batch->unmasked[row]);
    const bool any = words < k;
    int64_t left = any ? batch->offsets[s + 1] - batch->offsets[s] : words;
    for (int32_t row = batch->offsets[s]; row < batch->offsets[s + 1] && k > 0; row++) {
        if (!any && !xlm_is_text(t->specials, batch->unmasked[row]))
            continue;
        if (xlm_rng_unit(xlm_rng_draw(key, (uint32_t)row, 0, 0, 0).v[0]) * (double)left-- >= (double)k)
            continue;
        batch->predicted_rows[batch->predicted] = row;
        batch->targets[batch->predicted++] = labelled ? 0 : batch->unmasked[row];
        k--;
    }
}

/* Let this share of the predicted rows have <mask> as its input. */
static void mask(const text *t, double share, xlm_batch_layout *batch)
{
    for (int32_t k = 0; k < batch->predicted; k++)
        if ((int64_t)(share * (k + 1)) > (int64_t)(share * k))
            batch->ids[batch->predicted_rows[k]] = t->specials->id[XLM_MASK];
}

/* Link word i of the first side with word i of the second. */
static void link_words(const text *t, xlm_batch_layout *batch)
{
    int32_t n = 0;
    int32_t *pairs = XLM_TAKE(batch->arena, int32_t, 2 * (int64_t)batch->tokens);
    for (int32_t s = 0; s < batch->sequences; s++) {
        const int32_t first = batch->offsets[s], end = batch->offsets[s + 1], half = first_side(t, end - first);
        for (int32_t row = first; row < first + half && row + half < end; row++)
            if (xlm_is_text(t->specials, batch->unmasked[row]) && xlm_is_text(t->specials, batch->unmasked[row + half])) {
                pairs[2 * n] = row;
                pairs[2 * n++ + 1] = row + half;
            }
    }
    memcpy(xlm_batch_layout_annotate_own(batch, "links", n, 2), pairs, sizeof *pairs * 2 * (size_t)n);
}

static void translate(const text *t, xlm_batch_layout *batch)
{
    int32_t *language = xlm_batch_layout_annotate(batch, "translation_languages", XLM_AXIS_TOKENS);
    int32_t *translation = xlm_batch_layout_annotate(batch, "translations", XLM_AXIS_TOKENS);
    for (int32_t row = 0; row < batch->tokens; row++) {
        translation[row] = t->word[row % t->words];
        language[row] = 0;
    }
}

/* ---- the whole ---- */

static bool plan_text(const text *t, bool labelled, const xlm_planned_size *size, xlm_arena *arena, xlm_batch_layout *layout,
                      GError **error)
{
    /* The numbers in a size may come from different batches, so there may be more predicted rows than tokens: make room for
     * all. */
    const int64_t sequences = size->sequences, each = MAX(1, (size->predicted + sequences - 1) / sequences);
    const int64_t others = MAX(size->tokens - size->length, (sequences - 1) * each);
    if (!xlm_batch_layout_take(layout, arena, t->specials, sequences, sequences > 1 ? size->length + others : size->tokens,
                               size->predicted, error))
        return false;
    for (int64_t s = 0; s < sequences; s++) {
        const int64_t own = s == 0 ? MIN(size->length, layout->tokens)
                                   : s * others / (sequences - 1) - (s - 1) * others / (sequences - 1);
        fill_sequence(t, (int32_t)s, (int32_t)own, layout);
        predict(t, (int32_t)s, (s + 1) * size->predicted / sequences - s * size->predicted / sequences, labelled, layout);
    }
    return true;
}

/* The size after noise, which keeps the two special tokens of each sequence and this share of the others. */
static xlm_planned_size after_noise(const xlm_planned_size *size, double share)
{
    const int64_t special = MIN(2 * size->sequences, size->tokens);
    xlm_planned_size left = *size;
    left.tokens = special + (int64_t)((double)(size->tokens - special) * share);
    left.length = MIN(size->length, MIN(2, size->length) + (int64_t)((double)MAX(size->length - 2, 0) * share));
    left.predicted = MIN((int64_t)((double)size->predicted * share) + 1, MIN(size->predicted, left.tokens));
    return left;
}

bool xlm_plan_batch(const xlm_stream *stream, const xlm_vocabulary *vocabulary, const xlm_planned_size *size, xlm_arena *arena,
                    xlm_batch *batch, GError **error)
{
    const bool labelled = xlm_stream_is_labelled(stream);
    text t = {.specials = xlm_vocabulary_specials(vocabulary), .languages = xlm_vocabulary_languages(vocabulary),
              .pairs = xlm_stream_has_pairs(stream),
              .restarts = xlm_stream_positions(stream) < xlm_stream_longest(stream)};
    xlm_batch_layout layout;
    choose_words(vocabulary, &t);
    if (!plan_text(&t, labelled, size, arena, &layout, error))
        return false;
    const xlm_text original = xlm_batch_layout_original(&layout);
    const xlm_planned_size left = after_noise(size, xlm_stream_kept_share(stream));
    if (xlm_stream_has_noise(stream) && !plan_text(&t, labelled, &left, arena, &layout, error))
        return false;
    xlm_batch_layout_begin_corruption(&layout, xlm_stream_has_noise(stream) ? &original : NULL);
    mask(&t, xlm_stream_mask_token_share(stream), &layout);
    if (g_strv_contains(xlm_stream_annotations(stream), "links"))
        link_words(&t, &layout);
    if (g_strv_contains(xlm_stream_annotations(stream), "translations"))
        translate(&t, &layout);
    xlm_stream_plan_plugins(stream, &layout);
    *batch = xlm_batch_of_layout(&layout);
    return true;
}
