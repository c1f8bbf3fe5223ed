/* xlm-mpi: which tokens are predicted, and what replaces them. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/masking.h"

#include <glib.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "stream/stage.h"

/* The token that replaces a chosen one. Word 1 of its leader's draw decides how it is replaced, word 2 of its own draw by which
 * random token. */
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

/* The candidates of a sequence, in arrays with room for the longest sequence: [n], and ends: [sentences]. */
struct sequence {
    int32_t n, sentences;
    int32_t *rows, *ends;
    xlm_rng_block *chance;
    int32_t *leader;
    uint8_t *position; /* of words; NULL: not needed */
};

/* The position of the last candidate, which depends on the one before it (XLM_INSIDE_WORD ...). */
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
        if (xlm_is_text(batch->specials, id)) {
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
    char **replace;
    int64_t mask_unit, span;
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
     "share of the tokens, not counting special ones, that is predicted; 0: none; a list STEP:SHARE,... is linear between its "
     "steps, with STEP=SHARE where it jumps, and held-out text has its last share", offsetof(options, mask)},
    {"replace", XLM_OPTION_LIST, "mask:0.8,random:0.1,keep:0.1", 0, 0, NULL,
     "shares of the predicted tokens that are replaced by <mask>, by a random token, and that stay as they are; 0 where left out",
     offsetof(options, replace)},
    {"mask_unit", XLM_OPTION_CHOICE, "token", 0, 0, XLM_SELECTION_NAMES,
     "which are predicted: each token by chance; whole words; spans of up to 10 words (SpanBERT); n-grams of up to 3 words "
     "(ALBERT); or in each sentence of at least 5 tokens a fragment, consecutive tokens (MASS, with mask = 0.5)",
     offsetof(options, mask_unit)},
    {"span", XLM_OPTION_INT, "0", 0, 65536, NULL,
     "mask_unit fragment: it is cut into spans of this many tokens, at random places of the sentence; 0: it is not cut",
     offsetof(options, span)},
    XLM_OPTION_END,
};

enum { BY_MASK, BY_RANDOM, KEPT, REPLACEMENTS };

/* Read the items of `replace`. [out] shares: their sum is 1. */
static bool read_replacements(char *const *items, const char *stream, double shares[REPLACEMENTS], GError **error)
{
    static const char *const names[] = {[BY_MASK] = "mask", [BY_RANDOM] = "random", [KEPT] = "keep"};
    bool given[REPLACEMENTS] = {false};
    double sum = 0;
    for (int k = 0; k < REPLACEMENTS; k++)
        shares[k] = 0;
    for (; items != NULL && *items != NULL; items++) {
        const char *colon = strchr(*items, ':');
        int k = 0;
        char *end = NULL;
        while (k < REPLACEMENTS && (colon == NULL || strncmp(*items, names[k], MAX(strlen(names[k]), (size_t)(colon - *items))) != 0))
            k++;
        if (k < REPLACEMENTS && !given[k])
            shares[k] = g_ascii_strtod(colon + 1, &end);
        if (end == NULL || end == colon + 1 || *end != '\0' || !(shares[k] >= 0 && shares[k] <= 1))
            return xlm_error_set(error, EX_CONFIG, "[stream %s]: replace has \"%s\"; write mask:SHARE,random:SHARE,keep:SHARE, each "
                                 "once, with shares from 0 to 1", stream, *items);
        given[k] = true;
        sum += shares[k];
    }
    return fabs(sum - 1) <= 1e-9 ||
           xlm_error_set(error, EX_CONFIG, "[stream %s]: the shares of replace are %g together; they must be 1", stream, sum);
}

static bool check(const void *pointer, bool chosen, const char *stream, GError **error)
{
    (void)chosen;
    const options *o = pointer;
    if (o->span > 0 && o->mask_unit != XLM_SELECT_FRAGMENT)
        return xlm_error_set(error, EX_CONFIG, "[stream %s]: span cuts a fragment into spans; set mask_unit = fragment, or remove span",
                             stream);
    if (largest_share(o) <= 0 && o->mask_unit != XLM_SELECT_TOKENS)
        return xlm_error_set(error, EX_CONFIG, "[stream %s]: mask_unit says which tokens are masked, and mask = 0 masks none; raise mask",
                             stream);
    double shares[REPLACEMENTS];
    return read_replacements(o->replace, stream, shares, error);
}

/* [size of the vocabulary] The xlm_word_mark of each subword; g_free. */
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
    const options *o = pointer;
    double replaced[REPLACEMENTS];
    const bool training = opening->split == XLM_TRAIN;
    const double share = training ? largest_share(o) : o->mask->point[o->mask->points - 1].value;
    if (share <= 0)
        return true;
    if (!read_replacements(o->replace, opening->stream, replaced, error))
        return false;
    xlm_masking *masking = g_new(xlm_masking, 1);
    *masking = (xlm_masking){.selection = {o->mask_unit, share, o->span}, .mask_token = replaced[BY_MASK],
                             .mask_random = replaced[BY_RANDOM], .vocabulary = (int32_t)xlm_vocabulary_size(opening->vocabulary)};
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
