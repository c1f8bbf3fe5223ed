/* xlm-mpi: texts cut by SentencePiece in parts, and runs of unknown characters. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text_fixture.h"

#include "subwords/sentencepiece.h"

/* A model with these pieces, without a character map. */
typedef struct model {
    GString *bytes;
    GArray *pieces;
    xlm_sentencepiece *library;
    xlm_piece_rules *rules;
} model;

static model make_model(void)
{
    static const xlm_model_piece pieces[] = {{"<unk>", 0, XLM_PIECE_UNKNOWN}, {"\u2581", -3, XLM_PIECE_NORMAL},
                                             {"a", -2, XLM_PIECE_NORMAL},     {"b", -2.5f, XLM_PIECE_NORMAL},
                                             {"ab", -3, XLM_PIECE_NORMAL},    {"\u2581a", -2.5f, XLM_PIECE_NORMAL},
                                             {"xyz", 0, XLM_PIECE_GIVEN}};
    char *message = NULL;
    model m = {.bytes = xlm_sentencepiece_write(pieces, G_N_ELEMENTS(pieces), NULL, 0)};
    m.pieces = xlm_sentencepiece_pieces(m.bytes->str, m.bytes->len, NULL);
    m.library = xlm_sentencepiece_new(m.bytes->str, m.bytes->len, &message);
    assert_non_null(m.pieces);
    assert_non_null(m.library);
    m.rules = xlm_piece_rules_new(m.bytes->str, m.bytes->len, m.pieces);
    return m;
}

static void free_model(model *m)
{
    xlm_piece_rules_free(m->rules);
    xlm_sentencepiece_free(m->library);
    g_array_unref(m->pieces);
    g_string_free(m->bytes, TRUE);
}

/* Unknown characters as pieces of their bytes: each of these is the whole character. */
static void test_byte_pieces(void **state)
{
    (void)state;
    static const char more[] = "\x12\x03\x98\x02\x01"; /* in the trainer's settings: byte_fallback = true */
    static const char text[] = "a\u2603 \u00bdb";
    static const xlm_origin expected[] = {{0, 1}, {1, 4}, {1, 4}, {1, 4}, {5, 5}, {5, 7}, {5, 7}, {7, 8}};
    xlm_model_piece pieces[260] = {{(char[]){"<unk>"}, 0, XLM_PIECE_UNKNOWN}, {(char[]){"\u2581a"}, -1, XLM_PIECE_NORMAL},
                                   {(char[]){"b"}, -1, XLM_PIECE_NORMAL}, {(char[]){"\u2581"}, -1, XLM_PIECE_NORMAL}};
    char names[256][8], *message = NULL;
    for (int byte = 0; byte < 256; byte++) {
        g_snprintf(names[byte], sizeof names[byte], "<0x%02X>", (unsigned)byte);
        pieces[4 + byte] = (xlm_model_piece){names[byte], 0, XLM_PIECE_BYTE};
    }
    GString *bytes = xlm_sentencepiece_write(pieces, G_N_ELEMENTS(pieces), NULL, 0);
    g_string_append_len(bytes, more, sizeof more - 1);
    model m = {.bytes = bytes, .pieces = xlm_sentencepiece_pieces(bytes->str, bytes->len, NULL),
               .library = xlm_sentencepiece_new(bytes->str, bytes->len, &message)};
    if (m.library == NULL)
        fail_msg("%s", message);
    m.rules = xlm_piece_rules_new(bytes->str, bytes->len, m.pieces);
    xlm_cut *cut = xlm_cut_new(true);
    xlm_cut_text(m.rules, m.library, text, strlen(text), 1, cut);
    assert_string_equal(cut->pieces->str, "\u2581a <0xE2> <0x98> <0x83> \u2581 <0xC2> <0xBD> b");
    assert_true(xlm_cut_locate(m.rules, text, strlen(text), cut));
    assert_int_equal(cut->ends->len, G_N_ELEMENTS(expected));
    for (uint32_t i = 0, start = 0, end; i < cut->ends->len; i++, start = end) {
        end = g_array_index(cut->ends, uint32_t, i);
        const xlm_origin place = xlm_origins_join(&g_array_index(cut->origins, xlm_origin, start), end - start);
        assert_int_equal(place.start, expected[i].start);
        assert_int_equal(place.end, expected[i].end);
    }
    xlm_cut_free(cut);
    free_model(&m);
}

/* A text in parts is what it is whole. */
static void test_parts(void **state)
{
    (void)state;
    static const char *const parts[] = {"a", "b", "ab", " ", "  ", "\u1300", "\u1300\u1301", "!!!", "\u2581", "xyz", "xy"};
    static const size_t lengths[] = {1, 2, 5, 16};
    model m = make_model();
    for (uint32_t trial = 0, k = 0; trial < 2000; trial++) {
        GString *text = text_make_word(77, &k, parts, G_N_ELEMENTS(parts), 20);
        xlm_cut *whole = xlm_cut_new(true), *cut = xlm_cut_new(true);
        xlm_cut_text(m.rules, m.library, text->str, text->len, SIZE_MAX, whole);
        xlm_cut_text(m.rules, m.library, text->str, text->len, lengths[trial % G_N_ELEMENTS(lengths)], cut);
        assert_string_equal(cut->pieces->str, whole->pieces->str);
        assert_string_equal(cut->normal->str, whole->normal->str);
        assert_int_equal(cut->ends->len, whole->ends->len);
        if (cut->ends->len > 0)
            assert_memory_equal(cut->ends->data, whole->ends->data, sizeof(uint32_t) * cut->ends->len);
        assert_true(xlm_cut_locate(m.rules, text->str, text->len, cut));
        assert_int_equal(cut->origins->len, cut->normal->len);
        xlm_cut_free(whole);
        xlm_cut_free(cut);
        g_string_free(text, TRUE);
    }
    free_model(&m);
}

/* The library's work on a run grows with the square of its length, so no part is longer than it may be. */
static void test_long_word(void **state)
{
    (void)state;
    static const char *const marks[] = {"!", "\u1300", "\u0301", "\u3002"};
    enum { MARKS = 100000 };
    model m = make_model();
    for (size_t i = 0; i < G_N_ELEMENTS(marks); i++) {
        GString *text = g_string_new("ab");
        for (int k = 0; k < MARKS; k++)
            g_string_append(text, marks[i]);
        g_string_append(text, "ab");
        size_t parts = 0;
        for (size_t at = 0, n; at < text->len; at += n, parts++) {
            n = xlm_cut_part(m.rules, text->str + at, text->len - at, XLM_PIECES_RUN);
            assert_true(n > 0 && n <= XLM_PIECES_RUN + 8);
        }
        assert_in_range(parts, text->len / (XLM_PIECES_RUN + 8), text->len / XLM_PIECES_RUN + 1);
        xlm_cut *cut = xlm_cut_new(true);
        xlm_cut_text(m.rules, m.library, text->str, text->len, XLM_PIECES_RUN, cut);
        assert_true(xlm_cut_locate(m.rules, text->str, text->len, cut));
        assert_int_equal(cut->ends->len, 4); /* the mark of a word, ab, all marks as one unknown piece, ab */
        assert_int_equal(g_array_index(cut->ends, uint32_t, 2), strlen("\u2581") + text->len - 2);
        xlm_cut_free(cut);
        g_string_free(text, TRUE);
    }
    free_model(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_byte_pieces),
        cmocka_unit_test(test_long_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
