/* xlm-mpi: which tokens are predicted, and what replaces them. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/masking.h"

#include <math.h>
#include <stddef.h>

#include "stream/stage.h"

/* The token that replaces a chosen one, by words 1 and 2 of the draw; word 0 has chosen it. */
static int32_t replace(const xlm_masking *m, const xlm_special_tokens *specials, xlm_rng_block chance, int32_t original)
{
    const double unit = xlm_rng_unit(chance.v[1]);
    if (unit < m->mask_token)
        return specials->id[XLM_MASK];
    if (unit < m->mask_token + m->mask_random)
        return xlm_ordinary_id(specials, (int32_t)xlm_rng_below(chance.v[2], (uint64_t)(m->vocabulary - specials->distinct)));
    return original;
}

static void choose(const xlm_masking *m, xlm_rng_block chance, int32_t row, xlm_batch_layout *batch)
{
    batch->predicted_rows[batch->predicted] = row;
    batch->targets[batch->predicted++] = batch->unmasked[row];
    batch->ids[row] = replace(m, batch->specials, chance, batch->unmasked[row]);
}

static void mask_sequence(const xlm_masking *m, const xlm_draws *draws, xlm_rng_key key, int32_t sequence,
                          xlm_batch_layout *batch)
{
    const int32_t first = batch->offsets[sequence], end = batch->offsets[sequence + 1], before = batch->predicted;
    int32_t smallest = -1; /* row of the smallest draw */
    xlm_rng_block chance_there = {{0}};
    for (int32_t row = first; row < end; row++) {
        if (xlm_is_special(batch->specials, batch->unmasked[row]))
            continue;
        const xlm_rng_block chance = xlm_draws_of_token(draws, key, sequence, row - first);
        if (xlm_rng_unit(chance.v[0]) < m->mask) {
            choose(m, chance, row, batch);
        } else if (smallest < 0 || chance.v[0] < chance_there.v[0]) {
            smallest = row;
            chance_there = chance;
        }
    }
    if (batch->predicted == before && smallest >= 0)
        choose(m, chance_there, smallest, batch);
}

void xlm_mask(const xlm_masking *masking, const xlm_draws *draws, xlm_batch_layout *batch)
{
    if (masking->mask <= 0)
        return;
    const xlm_rng_key key = xlm_draws_key(draws, XLM_RNG_MASK);
    for (int32_t s = 0; s < batch->sequences; s++)
        mask_sequence(masking, draws, key, s, batch);
}

/* ---- the stage ---- */

typedef struct options {
    double mask, mask_token, mask_random;
} options;

static const xlm_option masking_options[] = {
    {"mask", XLM_OPTION_REAL, "0.15", 0, 1, NULL, "share of the tokens, special ones excepted, that is predicted; 0: none",
     offsetof(options, mask)},
    {"mask_token", XLM_OPTION_REAL, "0.8", 0, 1, NULL, "share of the predicted tokens that is replaced by <mask>",
     offsetof(options, mask_token)},
    {"mask_random", XLM_OPTION_REAL, "0.1", 0, 1, NULL,
     "share of the predicted tokens that is replaced by a random token; the rest stays as it is", offsetof(options, mask_random)},
    XLM_OPTION_END,
};

static bool check(const void *pointer, bool chosen, const char *stream, GError **error)
{
    (void)chosen;
    const options *o = pointer;
    return o->mask_token + o->mask_random <= 1 + 1e-9 ||
           xlm_error_set(error, EX_CONFIG, "[stream %s]: mask_token and mask_random are more than 1 together; lower one", stream);
}

static bool open_masking(xlm_opening *opening, const void *pointer, void **stage, GError **error)
{
    (void)error;
    const options *o = pointer;
    if (o->mask <= 0)
        return true;
    xlm_masking *masking = g_new(xlm_masking, 1);
    *masking = (xlm_masking){.mask = o->mask, .mask_token = o->mask_token, .mask_random = o->mask_random,
                             .vocabulary = (int32_t)xlm_vocabulary_size(opening->vocabulary)};
    *stage = masking;
    return true;
}

static void corrupt(const void *stage, const xlm_draws *draws, xlm_batch_layout *batch) { xlm_mask(stage, draws, batch); }

/* Each instance has at least one. */
static int64_t max_predicted(const void *stage, int64_t instances, int64_t tokens, double deviations)
{
    const xlm_masking *masking = stage;
    const double mask = masking->mask, n = (double)instances, all = (double)tokens;
    const double mean = all * mask + (n > 0 ? n * pow(1 - mask, all / n) : 0);
    return MIN(tokens, (int64_t)ceil(mean + deviations * sqrt(all * mask * (1 - mask))));
}

static double predicted_share(const void *stage)
{
    const xlm_masking *masking = stage;
    return masking->mask;
}

const xlm_stage_class xlm_stage_masking = {
    .kind = XLM_STAGE_CORRUPT,
    .options = masking_options,
    .options_size = sizeof(options),
    .check = check,
    .open = open_masking,
    .close = g_free,
    .corrupt = {.corrupt = corrupt, .max_predicted = max_predicted, .predicted_share = predicted_share},
};
