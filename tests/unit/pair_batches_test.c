/* xlm-mpi: how pairs are laid out in the batches that are encoded for word alignment.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model_aligner/pair_batches.h"

enum { POSITIONS = 12 };

static void add(xlm_pair_text *text, int side, int32_t first, int32_t n)
{
    xlm_pair_side *s = &text->side[side];
    for (int32_t i = 0; i < n; i++) {
        const int32_t id = first + i;
        g_array_append_val(s->ids, id);
        g_array_append_val(s->words, i);
    }
    const int64_t end = s->ids->len;
    g_array_append_val(s->offsets, end);
}

static xlm_pair_text *new_text(int64_t first)
{
    xlm_pair_text *t = g_new0(xlm_pair_text, 1);
    const int64_t zero = 0;
    t->first = first;
    for (int s = 0; s < 2; s++) {
        t->side[s] = (xlm_pair_side){.language = s == 0 ? 2 : -1, .offsets = g_array_new(FALSE, FALSE, sizeof(int64_t)),
                                     .ids = g_array_new(FALSE, FALSE, sizeof(int32_t)),
                                     .words = g_array_new(FALSE, FALSE, sizeof(int32_t))};
        g_array_append_val(t->side[s].offsets, zero);
    }
    return t;
}

static void add_pair(xlm_pair_text *t, int32_t n, int32_t m)
{
    add(t, 0, 100, n);
    add(t, 1, 200, m);
    t->pairs++;
}

/* The expected contents of a batch, -1 at the end of arrays. */
struct expected {
    int32_t offsets[8], ids[32], positions[32], types[32], rows[4], languages[32];
};

static void assert_numbers(const int32_t *values, const int32_t *expected, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        assert_int_equal(values[i], expected[i]);
    assert_int_equal(expected[n], -1);
}

static void assert_batch(const xlm_pair_batch *b, const struct expected *e)
{
    assert_numbers(b->text.offsets, e->offsets, b->text.sequences + 1);
    assert_numbers(b->text.ids, e->ids, b->text.tokens);
    assert_numbers(b->text.positions, e->positions, b->text.tokens);
    assert_numbers(b->text.types, e->types, b->text.tokens);
    assert_numbers(b->text.languages, e->languages, b->text.tokens);
    for (int64_t i = 0; i < b->n; i++)
        for (int s = 0; s < 2; s++)
            assert_int_equal(b->row[s][i], e->rows[2 * i + s]);
}

/* Pairs of 2 and 1, 0 and 3, 9 and 1, 1 and 2 subwords. The second has an empty side; the third fits apart alone. */
static void forms(void **state)
{
    (void)state;
    enum { S = 0, E = 2 }; /* <s>, </s> */
    static const struct expected bert = {
        .offsets = {0, 6, 12, -1},
        .ids = {S, 100, 101, E, 200, E, S, 100, E, 200, 201, E, -1},
        .positions = {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, -1},
        .types = {0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, -1},
        .languages = {2, 2, 2, 2, 0, 0, 2, 2, 2, 0, 0, 0, -1},
        .rows = {1, 4, 7, 9},
    };
    static const struct expected xlm = {
        .offsets = {0, 7, 14, -1},
        .ids = {S, 100, 101, E, S, 200, E, S, 100, E, S, 200, 201, E, -1},
        .positions = {0, 1, 2, 3, 0, 1, 2, 0, 1, 2, 0, 1, 2, 3, -1},
        .types = {0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, -1},
        .languages = {2, 2, 2, 2, 0, 0, 0, 2, 2, 2, 0, 0, 0, 0, -1},
        .rows = {1, 5, 8, 11},
    };
    static const struct expected apart = {
        .offsets = {0, 4, 7, 10, 14, -1},
        .ids = {S, 100, 101, E, S, 200, E, S, 100, E, S, 200, 201, E, -1},
        .positions = {0, 1, 2, 3, 0, 1, 2, 0, 1, 2, 0, 1, 2, 3, -1},
        .types = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1},
        .languages = {2, 2, 2, 2, 0, 0, 0, 2, 2, 2, 0, 0, 0, 0, -1},
        .rows = {1, 5, 8, 11},
    };
    static const struct expected *const all[] = {
        [XLM_PAIRS_BERT] = &bert, [XLM_PAIRS_XLM] = &xlm, [XLM_PAIRS_APART] = &apart};
    xlm_arena *arena = xlm_arena_new();
    xlm_pair_text *t = new_text(0);
    add_pair(t, 2, 1);
    add_pair(t, 0, 3);
    add_pair(t, POSITIONS - 1, 1);
    add_pair(t, 1, 2);
    for (xlm_pair_form form = XLM_PAIRS_BERT; form <= XLM_PAIRS_APART; form++) {
        xlm_pair_batch b;
        int64_t next = 0;
        xlm_pair_batch_next(t, form, POSITIONS, &xlm_own_special_tokens, &next, arena, &b);
        assert_int_equal(next, 4);
        assert_int_equal(b.n, 2);
        assert_int_equal(b.pair[0], 0);
        assert_int_equal(b.pair[1], 3);
        assert_batch(&b, all[form]);
    }
    assert_true(xlm_pair_fits(XLM_PAIRS_BERT, 4, 5, POSITIONS) && !xlm_pair_fits(XLM_PAIRS_BERT, 5, 5, POSITIONS));
    assert_true(xlm_pair_fits(XLM_PAIRS_XLM, 10, 10, POSITIONS) && !xlm_pair_fits(XLM_PAIRS_XLM, 1, 11, POSITIONS));
    assert_true(xlm_pair_fits(XLM_PAIRS_APART, 10, 1, POSITIONS) && !xlm_pair_fits(XLM_PAIRS_APART, 11, 1, POSITIONS));
    xlm_pair_text_free(t);
    xlm_arena_free(arena);
}

/* Passes end at multiples of XLM_PAIRS_UNIT of all pairs, or when they have many tokens; one pair may have more. */
static void passes(void **state)
{
    (void)state;
    static const int64_t ends[] = {3, 5, 17, 19, 31, 35, 51, 67, 68};
    xlm_arena *arena = xlm_arena_new();
    xlm_pair_text *t = new_text(XLM_PAIRS_UNIT - 3);
    for (int i = 0; i < 3; i++)
        add_pair(t, 1, 1);
    add_pair(t, 900, 900); /* too long for the model */
    add_pair(t, 400, 700); /* more than there are in a pass */
    for (int i = 0; i < 63; i++)
        add_pair(t, i < 30 ? 37 : 5, i < 30 ? 40 : 5);
    int64_t next = 0;
    size_t pass = 0;
    while (next < t->pairs) {
        xlm_pair_batch b;
        const int64_t begin = next;
        xlm_pair_batch_next(t, XLM_PAIRS_BERT, 1500, &xlm_own_special_tokens, &next, arena, &b);
        assert_true(pass < G_N_ELEMENTS(ends));
        assert_int_equal(next, ends[pass++]);
        assert_int_equal(b.n, begin == 3 ? 1 : next - begin);
    }
    assert_int_equal(pass, G_N_ELEMENTS(ends));
    xlm_pair_text_free(t);
    xlm_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms), cmocka_unit_test(passes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
