/* xlm-mpi: noise, which changes the order and the number of a sentence's tokens. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The noise of denoising auto-encoders (Lample et al. 2018; word_shuffle, word_dropout and word_blank of XLM), applied to tokens
 * in this order:
 *
 *   shuffle  token i is sorted by i + U(0, k), so none moves by k places or more
 *   drop     each token is left out with this probability; at least one is kept
 *   blank    each becomes <mask> with this probability */
#include <stddef.h>
#include <stdlib.h>

#include "stream/stage.h"

typedef struct noise {
    double shuffle, drop, blank;
    int32_t mask; /* id of <mask> */
    const xlm_special_tokens *specials;
} noise;

static const xlm_option noise_options[] = {
    {"noise_shuffle", XLM_OPTION_REAL, "0", 0, 1000, NULL,
     "tokens of a sentence move by fewer places than this before it is encoded (XLM's denoising: 3); 0: none moves",
     offsetof(noise, shuffle)},
    {"noise_drop", XLM_OPTION_REAL, "0", 0, 1, NULL, "share of the tokens that is left out (XLM's denoising: 0.1)",
     offsetof(noise, drop)},
    {"noise_blank", XLM_OPTION_REAL, "0", 0, 1, NULL,
     "share of the tokens that becomes <mask>, without being predicted (XLM's denoising: 0.1)", offsetof(noise, blank)},
    XLM_OPTION_END,
};

static bool open_noise(xlm_opening *opening, const void *pointer, void **stage, GError **error)
{
    (void)error;
    const noise *o = pointer;
    if (o->shuffle <= 0 && o->drop <= 0 && o->blank <= 0)
        return true;
    noise *n = g_memdup2(o, sizeof *o);
    n->specials = xlm_vocabulary_specials(opening->vocabulary);
    n->mask = n->specials->id[XLM_MASK];
    *stage = n;
    return true;
}

typedef struct moved_token {
    double place;
    int32_t id, number; /* number: its index in the sentence before noise */
} moved_token;

static int by_place(const void *a, const void *b)
{
    const moved_token *x = a, *y = b;
    return x->place != y->place ? (x->place > y->place) - (x->place < y->place) : (x->number > y->number) - (x->number < y->number);
}

static void change_words(const noise *o, const xlm_draws *draws, int32_t sequence, int32_t first, int32_t *ids, int32_t *n)
{
    const xlm_rng_key key = xlm_draws_key(draws, XLM_RNG_NOISE);
    g_autofree moved_token *tokens = g_new(moved_token, MAX(*n, 1));
    g_autofree xlm_rng_block *chance = g_new(xlm_rng_block, MAX(*n, 1));
    for (int32_t i = 0; i < *n; i++) {
        chance[i] = xlm_draws_of_token(draws, key, sequence, first + i);
        tokens[i] = (moved_token){i + o->shuffle * xlm_rng_unit(chance[i].v[0]), ids[i], i};
    }
    qsort(tokens, (size_t)*n, sizeof *tokens, by_place);
    int32_t kept = 0, last = 0; /* last: the token with the highest draw, kept if all others are dropped */
    for (int32_t i = 0; i < *n; i++) {
        const xlm_rng_block *c = &chance[tokens[i].number];
        if (c->v[1] > chance[tokens[last].number].v[1])
            last = i;
        if (xlm_rng_unit(c->v[1]) < o->drop)
            continue;
        ids[kept++] = xlm_rng_unit(c->v[2]) < o->blank ? o->mask : tokens[i].id;
    }
    if (kept == 0 && *n > 0)
        ids[kept++] = xlm_rng_unit(chance[tokens[last].number].v[2]) < o->blank ? o->mask : tokens[last].id;
    *n = kept;
}

/* The token of the language stays where it is. */
static void change(const void *stage, const xlm_draws *draws, int32_t sequence, int32_t first, int32_t *ids, int32_t *n)
{
    const noise *o = stage;
    const int32_t begun = *n > 0 && xlm_is_language_token(o->specials, ids[0]);
    int32_t words = *n - begun;
    change_words(o, draws, sequence, first + begun, ids + begun, &words);
    *n = words + begun;
}

static double kept_share(const void *stage)
{
    const noise *o = stage;
    return 1 - o->drop;
}

const xlm_stage_class xlm_stage_noise = {
    .kind = XLM_STAGE_NOISE,
    .options = noise_options,
    .options_size = sizeof(noise),
    .open = open_noise,
    .close = g_free,
    .noise = {.change = change, .kept_share = kept_share},
};
