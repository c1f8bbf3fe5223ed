/* xlm-mpi: a small batch of pairs, with a dictionary and a table of co-occurrences, for checks of objectives.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "objective/loss_check_batch.h"

#include <stdbool.h>

#include <glib.h>

#include "subwords/special_tokens.h"

enum { V = XLM_CHECK_VOCABULARY, S = XLM_CHECK_SEQUENCES, LONGEST = 2 * XLM_CHECK_POSITIONS, FIRST = 5, WORDS = V - FIRST };

/* The translation of a word: one to one, and never itself. */
static int32_t translation(int32_t word) { return FIRST + (word - FIRST + 7) % WORDS; }

static int32_t offsets[S + 1], ids[S * LONGEST], original[S * LONGEST], positions[S * LONGEST], languages[S * LONGEST],
    types[S * LONGEST], predicted_rows[S * LONGEST], targets[S * LONGEST], translations[S * LONGEST],
    translation_languages[S * LONGEST], links[S * LONGEST][2];
static xlm_row_key keys[S * LONGEST];
static xlm_annotation annotations[3];
static xlm_batch batch;

static void add_token(int32_t sequence, int32_t position, int32_t type, int32_t id)
{
    const int32_t row = batch.corrupted.tokens++;
    const bool word = id >= FIRST;
    ids[row] = original[row] = id;
    positions[row] = position;
    languages[row] = types[row] = type;
    translations[row] = word ? translation(id) : -1;
    translation_languages[row] = word ? 1 - type : -1;
    keys[row] = (xlm_row_key){(uint32_t)sequence, (uint32_t)(row - offsets[sequence])};
}

/* Makes a row predicted, and replaces its token by <mask>, by another word or by itself, in turn. */
static void mask(int32_t row)
{
    const int32_t with[] = {xlm_own_special_tokens.id[XLM_MASK], FIRST + (original[row] + 3) % WORDS, original[row]};
    ids[row] = with[batch.predicted % 3];
    targets[batch.predicted] = original[row];
    predicted_rows[batch.predicted++] = row;
}

/* <s> words </s> of one language and words </s> of the other, positions from 0 on either side; word i of one is linked to
 * word i of the other. */
static void add_pair(int32_t s)
{
    const int32_t length[2] = {2 + s % 3, 3 + s % 2};
    int32_t first[2];
    offsets[s] = batch.corrupted.tokens;
    for (int32_t side = 0, position = 0; side < 2; side++, position = 0) {
        if (side == 0)
            add_token(s, position++, side, xlm_own_special_tokens.id[XLM_BOS]);
        first[side] = batch.corrupted.tokens;
        for (int32_t i = 0; i < length[side]; i++)
            add_token(s, position++, side, FIRST + (5 * s + 3 * i + 4 * side) % WORDS);
        add_token(s, position, side, xlm_own_special_tokens.id[XLM_EOS]);
    }
    offsets[s + 1] = batch.corrupted.tokens;
    mask(first[0] + s % 2);
    mask(first[1] + 1);
    for (int32_t i = 0; i < MIN(length[0], length[1]); i++, annotations[2].length++) {
        links[annotations[2].length][0] = first[0] + i;
        links[annotations[2].length][1] = first[1] + i;
    }
}

const xlm_batch *xlm_check_batch(void)
{
    if (batch.corrupted.tokens > 0)
        return &batch;
    for (int32_t s = 0; s < S; s++)
        add_pair(s);
    annotations[0] = (xlm_annotation){.name = "translations", .axis = XLM_AXIS_TOKENS, .values = translations,
                                      .next = &annotations[1], .length = batch.corrupted.tokens, .width = 1};
    annotations[1] = (xlm_annotation){.name = "translation_languages", .axis = XLM_AXIS_TOKENS, .values = translation_languages,
                                      .next = &annotations[2], .length = batch.corrupted.tokens, .width = 1};
    annotations[2] = (xlm_annotation){.name = "links", .axis = XLM_AXIS_OWN, .values = *links, .length = annotations[2].length,
                                      .width = 2};
    const xlm_text text = {
        .tokens = batch.corrupted.tokens, .sequences = S, .offsets = offsets, .ids = original, .unmasked = original,
        .positions = positions, .languages = languages, .unswitched = languages, .types = types, .keys = keys,
        .specials = &xlm_own_special_tokens,
    };
    batch.original = batch.corrupted = text;
    batch.corrupted.ids = ids;
    batch.predicted_rows = predicted_rows;
    batch.targets = targets;
    batch.annotations = annotations;
    return &batch;
}

const xlm_dictionary *xlm_check_dictionary(void)
{
    static int32_t token[2][WORDS];
    static const xlm_dictionary dictionary = {.pairs = WORDS, .token = {token[0], token[1]}, .language = {0, 1}};
    for (int32_t i = 0; i < WORDS; i++) {
        token[0][i] = FIRST + i;
        token[1][i] = translation(FIRST + i);
    }
    return &dictionary;
}

/* Every word co-occurs with itself and with the three words after it in the vocabulary. */
const xlm_cooccurrence_table *xlm_check_cooccurrence(void)
{
    static uint64_t rows[V + 1];
    static uint32_t columns[4 * WORDS];
    static float counts[4 * WORDS];
    static xlm_cooccurrence_table table = {.vocabulary = V, .window = 5, .offsets = rows, .columns = columns, .counts = counts};
    table.entries = 0;
    for (int32_t word = 0; word < V; word++) {
        for (int32_t other = word; word >= FIRST && other < MIN(word + 4, V); other++) {
            columns[table.entries] = (uint32_t)other;
            counts[table.entries++] = (float)(1 + (word * 5 + other * 3) % 11);
        }
        rows[word + 1] = (uint64_t)table.entries;
    }
    return &table;
}
