/* xlm-mpi: pairs of sentences as batches that a model encodes. SPDX-License-Identifier: GPL-3.0-or-later */
#include "model_aligner/pair_batches.h"

enum { TOKENS = 1024 /* of a pass, unless one pair has more */ };

/* ---- forms ---- */

const char *xlm_pair_form_name(xlm_pair_form form)
{
    return form == XLM_PAIRS_BERT ? "bert" : form == XLM_PAIRS_XLM ? "xlm" : "apart";
}

/* Special tokens of a pair. */
static int64_t specials_of(xlm_pair_form form) { return form == XLM_PAIRS_BERT ? 3 : 4; }

/* The token of the language of a side; -1: it has none. */
static int32_t language_token(const xlm_pair_text *text, const xlm_special_tokens *specials, int side)
{
    return xlm_language_token(specials, text->side[side].language);
}

int64_t xlm_pair_tokens(const xlm_pair_text *text, const xlm_special_tokens *specials, int64_t pair, int side)
{
    return xlm_pair_size(text, pair, side) + (language_token(text, specials, side) >= 0);
}

bool xlm_pair_fits(xlm_pair_form form, int64_t n, int64_t m, int64_t positions)
{
    return form == XLM_PAIRS_BERT ? n + m + 3 <= positions : MAX(n, m) + 2 <= positions;
}

/* ---- layout ---- */

/* One sequence, or half of one, that is being laid out. */
struct place {
    int32_t row, first; /* the next row; the first of the sequence */
    int32_t position;
    uint32_t instance;
    int32_t language, type;
};

static void put(xlm_batch_layout *l, struct place *at, int32_t id)
{
    const int32_t row = at->row++;
    l->unmasked[row] = id;
    l->positions[row] = at->position++;
    l->unswitched[row] = at->language;
    l->types[row] = at->type;
    l->keys[row] = (xlm_row_key){at->instance, (uint32_t)(row - at->first)};
}

/* Put the subwords of a side, after the token of its language, and </s>; before them <s> if `opens`. Returns the row of the first
 * subword. */
static int32_t put_side(xlm_batch_layout *l, struct place *at, const xlm_pair_text *text, int side, int64_t pair, bool opens)
{
    const int64_t n = xlm_pair_size(text, pair, side);
    const int32_t *ids = &g_array_index(text->side[side].ids, int32_t, xlm_pair_start(text, pair, side));
    at->language = MAX(text->side[side].language, 0);
    if (opens)
        put(l, at, l->specials->id[XLM_BOS]);
    if (language_token(text, l->specials, side) >= 0)
        put(l, at, language_token(text, l->specials, side));
    const int32_t row = at->row;
    for (int64_t i = 0; i < n; i++)
        put(l, at, ids[i]);
    put(l, at, l->specials->id[XLM_EOS]);
    return row;
}

/* Put a pair from the next row on, as sequence *sequence, or as this and the next one. */
static void put_pair(xlm_batch_layout *l, const xlm_pair_text *text, xlm_pair_form form, int64_t pair, int32_t *sequence,
                     int32_t *rows)
{
    const int32_t first = l->offsets[*sequence];
    struct place at = {.row = first, .first = first, .instance = (uint32_t)*sequence};
    rows[0] = put_side(l, &at, text, 0, pair, true);
    if (form == XLM_PAIRS_APART) {
        l->offsets[++*sequence] = at.row;
        at.first = at.row;
        at.instance++;
    } else {
        at.type = 1;
    }
    if (form != XLM_PAIRS_BERT)
        at.position = 0;
    rows[1] = put_side(l, &at, text, 1, pair, form != XLM_PAIRS_BERT);
    l->offsets[++*sequence] = at.row;
}

static void lay_out(const xlm_pair_text *text, xlm_pair_form form, const xlm_special_tokens *specials, int64_t n,
                    const int64_t *pairs, int64_t tokens, xlm_arena *arena, xlm_pair_batch *batch)
{
    int32_t *row[2] = {XLM_TAKE(arena, int32_t, n), XLM_TAKE(arena, int32_t, n)}, sequence = 0;
    xlm_batch_layout layout;
    /* A single pair has at most twice as many tokens as the model has positions, several have few: it does not fail. */
    const bool good = xlm_batch_layout_take(&layout, arena, specials, n * (form == XLM_PAIRS_APART ? 2 : 1), tokens, 0, NULL);
    g_assert(good);
    for (int64_t i = 0; i < n; i++) {
        int32_t rows[2];
        put_pair(&layout, text, form, pairs[i], &sequence, rows);
        row[0][i] = rows[0];
        row[1][i] = rows[1];
    }
    *batch = (xlm_pair_batch){.n = n, .pair = pairs, .row = {row[0], row[1]}, .text = xlm_batch_layout_original(&layout)};
}

void xlm_pair_batch_next(const xlm_pair_text *text, xlm_pair_form form, int64_t positions, const xlm_special_tokens *specials,
                         int64_t *next, xlm_arena *arena, xlm_pair_batch *batch)
{
    int64_t *pairs = XLM_TAKE(arena, int64_t, XLM_PAIRS_UNIT), n = 0, tokens = 0;
    do {
        const bool whole = xlm_pair_size(text, *next, 0) > 0 && xlm_pair_size(text, *next, 1) > 0;
        const int64_t source = xlm_pair_tokens(text, specials, *next, 0), target = xlm_pair_tokens(text, specials, *next, 1);
        if (whole && xlm_pair_fits(form, source, target, positions)) {
            const int64_t own = source + target + specials_of(form);
            if (n > 0 && tokens + own > TOKENS)
                break;
            tokens += own;
            pairs[n++] = *next;
        }
        ++*next;
    } while (*next < text->pairs && (text->first + *next) % XLM_PAIRS_UNIT != 0);
    if (n > 0)
        lay_out(text, form, specials, n, pairs, tokens, arena, batch);
    else
        *batch = (xlm_pair_batch){0};
}
