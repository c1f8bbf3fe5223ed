/* xlm-mpi: which tokens are predicted, and what replaces them. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/masking.h"

#include <glib.h>
#include <stddef.h>

#include "stream/stage.h"

/* The token that replaces a chosen one: how, by word 1 of its leader's draw; with which random token, by word 2 of its own. */
static int32_t replace(const xlm_masking *m, const xlm_special_tokens *specials, xlm_rng_block leader, xlm_rng_block chance,
                       int32_t original)
{
    const double unit = xlm_rng_unit(leader.v[1]);
    if (unit < m->mask_token)
        return specials->id[XLM_MASK];
    if (unit < m->mask_token + m->mask_random)
        return xlm_ordinary_id(specials, (int32_t)xlm_rng_below(chance.v[2], (uint64_t)(m->vocabulary - specials->distinct)));
    return original;
}

/* The candidates of a sequence, and room for those of the longest one. */
struct sequence {
    int32_t n, sentences;
    int32_t *rows, *ends;
    xlm_rng_block *chance;
    int32_t *leader;
    uint8_t *position; /* of words; NULL: not needed */
};

/* The last candidate, by the one before it. */
static uint8_t find_position(const xlm_masking *m, const xlm_batch_layout *batch, const struct sequence *s)
{
    const int32_t row = s->rows[s->n - 1];
    if (s->n == 1 || s->rows[s->n - 2] != row - 1)
        return XLM_BEGINS_RUN;
    const bool joins = (m->marks[batch->unmasked[row - 1]] & XLM_MARKS_END) == 0 &&
                       (m->marks[batch->unmasked[row]] & XLM_MARKS_BEGIN) == 0;
    return joins ? XLM_INSIDE_WORD : XLM_BEGINS_WORD;
}

static void find_candidates(const xlm_masking *m, const xlm_draws *draws, xlm_rng_key key, int32_t number,
                            const xlm_batch_layout *batch, struct sequence *s)
{
    const int32_t first = batch->offsets[number], end = batch->offsets[number + 1];
    const int32_t bos = batch->specials->id[XLM_BOS], eos = batch->specials->id[XLM_EOS];
    s->n = s->sentences = 0;
    for (int32_t row = first; row < end; row++) {
        const int32_t id = batch->unmasked[row];
        if (!xlm_is_special(batch->specials, id)) {
            s->rows[s->n] = row;
            s->leader[s->n] = -1;
            s->chance[s->n++] = xlm_draws_of_token(draws, key, number, row - first);
            if (s->position != NULL)
                s->position[s->n - 1] = find_position(m, batch, s);
        }
        const bool ends = id == bos || id == eos || row + 1 == end;
        if (ends && s->n > (s->sentences > 0 ? s->ends[s->sentences - 1] : 0))
            s->ends[s->sentences++] = s->n;
    }
}

static void mask_sequence(const xlm_masking *m, const xlm_selection *selection, const struct sequence *s, xlm_batch_layout *batch)
{
    xlm_select(selection, &(xlm_candidates){s->n, s->chance, s->sentences, s->ends, s->position}, s->leader);
    for (int32_t i = 0; i < s->n; i++) {
        if (s->leader[i] < 0)
            continue;
        const int32_t row = s->rows[i];
        batch->predicted_rows[batch->predicted] = row;
        batch->targets[batch->predicted++] = batch->unmasked[row];
        batch->ids[row] = replace(m, batch->specials, s->chance[s->leader[i]], s->chance[i], batch->unmasked[row]);
    }
}

void xlm_mask(const xlm_masking *masking, const xlm_draws *draws, xlm_batch_layout *batch)
{
    xlm_selection selection = masking->selection;
    if (masking->shares != NULL)
        selection.share = xlm_piecewise_at(masking->shares, (int64_t)draws->step);
    if (selection.share <= 0)
        return;
    const xlm_rng_key key = xlm_draws_key(draws, XLM_RNG_MASK);
    int32_t longest = 1;
    for (int32_t s = 0; s < batch->sequences; s++)
        longest = MAX(longest, batch->offsets[s + 1] - batch->offsets[s]);
    g_autofree int32_t *rows = g_new(int32_t, longest), *ends = g_new(int32_t, longest), *leader = g_new(int32_t, longest);
    g_autofree xlm_rng_block *chance = g_new(xlm_rng_block, longest);
    g_autofree uint8_t *position = xlm_selects_words(&selection) ? g_new(uint8_t, longest) : NULL;
    struct sequence sequence = {.rows = rows, .ends = ends, .chance = chance, .leader = leader, .position = position};
    for (int32_t s = 0; s < batch->sequences; s++) {
        find_candidates(masking, draws, key, s, batch, &sequence);
        mask_sequence(masking, &selection, &sequence, batch);
    }
}

/* ---- the stage ---- */

typedef struct options {
    xlm_piecewise *mask;
    double mask_token, mask_random;
    int64_t masking, span;
} options;

static double largest_share(const options *o)
{
    double largest = 0;
    for (int64_t i = 0; i < o->mask->points; i++)
        largest = MAX(largest, o->mask->point[i].value);
    return largest;
}

static const xlm_option masking_options[] = {
    {"mask", XLM_OPTION_PIECEWISE, "0.15", 0, 1, NULL,
     "share of the tokens, special ones excepted, that is predicted; 0: none; a list STEP:SHARE,... is linear between its steps, and "
     "held-out text has its last share", offsetof(options, mask)},
    {"mask_token", XLM_OPTION_REAL, "0.8", 0, 1, NULL, "share of the predicted tokens that is replaced by <mask>",
     offsetof(options, mask_token)},
    {"mask_random", XLM_OPTION_REAL, "0.1", 0, 1, NULL,
     "share of the predicted tokens that is replaced by a random token; the rest stays as it is", offsetof(options, mask_random)},
    {"masking", XLM_OPTION_CHOICE, "tokens", 0, 0, XLM_SELECTION_NAMES,
     "which are predicted: each token by chance; whole words; spans of up to 10 words (SpanBERT); n-grams of up to 3 words (ALBERT); "
     "or in each sentence of at least 5 tokens a fragment, consecutive tokens (MASS, with mask = 0.5)", offsetof(options, masking)},
    {"span", XLM_OPTION_INT, "0", 0, 65536, NULL,
     "masking fragment: it is cut into spans of this many tokens, at random places of the sentence; 0: it is not cut",
     offsetof(options, span)},
    XLM_OPTION_END,
};

static bool check(const void *pointer, bool chosen, const char *stream, GError **error)
{
    (void)chosen;
    const options *o = pointer;
    if (o->span > 0 && o->masking != XLM_SELECT_FRAGMENT)
        return xlm_error_set(error, EX_CONFIG, "[stream %s]: span cuts a fragment into spans; set masking = fragment, or remove span",
                             stream);
    if (largest_share(o) <= 0 && o->masking != XLM_SELECT_TOKENS)
        return xlm_error_set(error, EX_CONFIG, "[stream %s]: masking says which tokens are masked, and mask = 0 masks none; raise mask",
                             stream);
    return o->mask_token + o->mask_random <= 1 + 1e-9 ||
           xlm_error_set(error, EX_CONFIG, "[stream %s]: mask_token and mask_random are more than 1 together; lower one", stream);
}

/* [V] */
static uint8_t *marks_of(const xlm_vocabulary *vocabulary)
{
    const int32_t n = (int32_t)xlm_vocabulary_size(vocabulary);
    uint8_t *marks = g_new(uint8_t, n);
    for (int32_t id = 0; id < n; id++)
        marks[id] = (uint8_t)xlm_vocabulary_marks(vocabulary, id);
    return marks;
}

static bool open_masking(xlm_opening *opening, const void *pointer, void **stage, GError **error)
{
    (void)error;
    const options *o = pointer;
    const bool training = opening->split == XLM_TRAIN;
    const double share = training ? largest_share(o) : o->mask->point[o->mask->points - 1].value;
    if (share <= 0)
        return true;
    xlm_masking *masking = g_new(xlm_masking, 1);
    *masking = (xlm_masking){.selection = {o->masking, share, o->span}, .mask_token = o->mask_token, .mask_random = o->mask_random,
                             .vocabulary = (int32_t)xlm_vocabulary_size(opening->vocabulary)};
    if (training && !xlm_piecewise_is_constant(o->mask))
        masking->shares = xlm_piecewise_new(o->mask->point, o->mask->points);
    if (xlm_selects_words(&masking->selection))
        masking->marks = marks_of(opening->vocabulary);
    *stage = masking;
    return true;
}

static void close_masking(void *stage)
{
    xlm_masking *masking = stage;
    g_free((void *)masking->shares);
    g_free((void *)masking->marks);
    g_free(masking);
}

static void corrupt(const void *stage, const xlm_draws *draws, xlm_batch_layout *batch) { xlm_mask(stage, draws, batch); }

static int64_t max_predicted(const void *stage, int64_t instances, int64_t tokens, double deviations)
{
    const xlm_masking *masking = stage;
    return xlm_select_max(&masking->selection, instances, tokens, deviations);
}

static double predicted_share(const void *stage)
{
    const xlm_masking *masking = stage;
    return masking->selection.share;
}

static double mask_token_share(const void *stage)
{
    const xlm_masking *masking = stage;
    return masking->mask_token;
}

const xlm_stage_class xlm_stage_masking = {
    .kind = XLM_STAGE_CORRUPT,
    .options = masking_options,
    .options_size = sizeof(options),
    .check = check,
    .open = open_masking,
    .close = close_masking,
    .corrupt = {.corrupt = corrupt, .max_predicted = max_predicted, .predicted_share = predicted_share,
                .mask_token_share = mask_token_share},
};
