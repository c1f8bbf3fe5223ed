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

static model load_model(GString *bytes)
{
    char *message = NULL;
    model m = {.bytes = bytes, .pieces = xlm_sentencepiece_pieces(bytes->str, bytes->len, NULL),
               .library = xlm_sentencepiece_new(bytes->str, bytes->len, &message)};
    if (m.library == NULL)
        fail_msg("%s", message);
    const xlm_model_form form = xlm_sentencepiece_form(bytes->str, bytes->len);
    m.rules = xlm_piece_rules_new(&form, m.pieces);
    return m;
}

typedef enum { UNIGRAM, BYTE_PAIRS, WITHOUT_MARK, KINDS } model_kind;

/* c to h and x to z are no pieces, but occur in some. */
static model make_model(model_kind kind)
{
    static const xlm_model_piece pieces[] = {
        {"<unk>", 0, XLM_PIECE_UNKNOWN},    {"a", -2, XLM_PIECE_NORMAL},         {"b", -2.5f, XLM_PIECE_NORMAL},
        {"ab", -3, XLM_PIECE_NORMAL},       {"\u2581a", -2.5f, XLM_PIECE_NORMAL}, {"xyz", 0, XLM_PIECE_GIVEN},
        {"cd", -5, XLM_PIECE_NORMAL},       {"\u2581e", -4, XLM_PIECE_NORMAL},    {"\u2581ee", -6, XLM_PIECE_NORMAL},
        {"eef", -4.5f, XLM_PIECE_NORMAL},   {"ef", -7, XLM_PIECE_NORMAL},        {"ga", -5.5f, XLM_PIECE_NORMAL},
        {"h\u2581g", -5, XLM_PIECE_NORMAL}, {"u", -1, XLM_PIECE_UNUSED},         {"\u2581", -3, XLM_PIECE_NORMAL}};
    static const char byte_pairs[] = "\x12\x02\x18\x02"; /* in the trainer's settings: model_type = BPE */
    GString *bytes = xlm_sentencepiece_write(pieces, G_N_ELEMENTS(pieces) - (kind == WITHOUT_MARK),
                                             &(xlm_model_form){XLM_PIECES_UNIGRAM, true, true, false, NULL, 0});
    if (kind == BYTE_PAIRS)
        g_string_append_len(bytes, byte_pairs, sizeof byte_pairs - 1);
    return load_model(bytes);
}

/* One that the library learns, with a character map. */
static model learn_model(void)
{
    static const char *const parts[] = {"lo", "wer", "est", " ", "new", "\u0915\u093f", "\u4f60\u597d", "un "};
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    GString *bytes = g_string_new(NULL);
    char *message = NULL;
    for (uint32_t i = 0, k = 0; i < 200; i++) {
        GString *line = text_make_word(78, &k, parts, G_N_ELEMENTS(parts), 20);
        g_ptr_array_add(lines, g_strdup_printf("%s\t1", line->str));
        g_string_free(line, TRUE);
    }
    if (!xlm_sentencepiece_learn((char *const *)lines->pdata, lines->len, 40, bytes, &message))
        fail_msg("%s", message);
    return load_model(bytes);
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
    char names[256][8];
    for (int byte = 0; byte < 256; byte++) {
        g_snprintf(names[byte], sizeof names[byte], "<0x%02X>", (unsigned)byte);
        pieces[4 + byte] = (xlm_model_piece){names[byte], 0, XLM_PIECE_BYTE};
    }
    GString *bytes = xlm_sentencepiece_write(pieces, G_N_ELEMENTS(pieces),
                                             &(xlm_model_form){XLM_PIECES_UNIGRAM, true, true, false, NULL, 0});
    g_string_append_len(bytes, more, sizeof more - 1);
    model m = load_model(bytes);
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

static void assert_same(const model *m, const char *text, size_t size, size_t longest)
{
    xlm_cut *whole = xlm_cut_new(true), *cut = xlm_cut_new(true), *unlocated = xlm_cut_new(false);
    xlm_cut_text(m->rules, m->library, text, size, SIZE_MAX, whole);
    xlm_cut_text(m->rules, m->library, text, size, longest, cut);
    xlm_cut_text(m->rules, m->library, text, size, longest, unlocated);
    assert_string_equal(cut->pieces->str, whole->pieces->str);
    assert_string_equal(unlocated->pieces->str, whole->pieces->str);
    assert_string_equal(cut->normal->str, whole->normal->str);
    assert_int_equal(cut->ends->len, whole->ends->len);
    if (cut->ends->len > 0)
        assert_memory_equal(cut->ends->data, whole->ends->data, sizeof(uint32_t) * cut->ends->len);
    assert_true(xlm_cut_locate(m->rules, text, size, cut));
    assert_int_equal(cut->origins->len, cut->normal->len);
    xlm_cut_free(whole);
    xlm_cut_free(cut);
    xlm_cut_free(unlocated);
}

static void assert_parts(const model *m, const char *const *parts, uint32_t n)
{
    static const size_t lengths[] = {1, 2, 5, 16};
    size_t places = 0;
    for (uint32_t trial = 0, k = 0; trial < 6000; trial++) {
        GString *text = text_make_word(77, &k, parts, n, 20);
        const size_t longest = lengths[trial % G_N_ELEMENTS(lengths)];
        GArray *between = xlm_cut_places(m->rules, text->str, text->len, longest);
        assert_same(m, text->str, text->len, longest);
        places += between->len;
        g_array_unref(between);
        g_string_free(text, TRUE);
    }
    assert_in_range(places, 6000, 60000);
}

/* A text in parts is what the library makes of it whole. */
static void test_parts(void **state)
{
    (void)state;
    static const char *const parts[] = {"a", "b", "ab", " ", "  ", "\u1300", "\u1300\u1301", "!!!", "\u2581", "xyz", "xy",
                                        "xxx", "cc", "cd", "e", "eee", "f", " e", "g", "h", "h g", "uu"};
    for (model_kind kind = 0; kind < KINDS; kind++) {
        model m = make_model(kind);
        assert_parts(&m, parts, G_N_ELEMENTS(parts));
        free_model(&m);
    }
}

/* Also where characters become others, several, or none. */
static void test_parts_normalised(void **state)
{
    (void)state;
    static const char *const parts[] = {"lower", "st", " ", "\u00a0", "\u1300", "\u1300\u1301", "\u00bd", "\u200b", "\x01",
                                        "\uff0c", "\u4f60", "\u0915", "\u2581", "zzz", "\ufdfa"};
    model m = learn_model();
    assert_parts(&m, parts, G_N_ELEMENTS(parts));
    free_model(&m);
}

static void assert_place(const model *m, const char *text, size_t end, size_t start)
{
    g_autoptr(GArray) places = xlm_cut_places(m->rules, text, strlen(text), 1);
    assert_int_equal(places->len, 1);
    assert_int_equal(g_array_index(places, xlm_cut_place, 0).end, end);
    assert_int_equal(g_array_index(places, xlm_cut_place, 0).start, start);
}

static void assert_no_place(const model *m, const char *text)
{
    g_autoptr(GArray) places = xlm_cut_places(m->rules, text, strlen(text), 1);
    assert_int_equal(places->len, 0);
}

/* A place is where no piece could be; the next part begins earlier where a mark would make a piece. */
static void test_places(void **state)
{
    (void)state;
    model m = make_model(UNIGRAM);
    assert_place(&m, "axx", 2, 2);
    assert_no_place(&m, "axyz");
    assert_place(&m, "axxxyz", 2, 2);
    assert_no_place(&m, "abab");
    assert_no_place(&m, "ac cdcd");
    assert_place(&m, "aeeee", 4, 2); /* U+2581 ee is a piece */
    assert_no_place(&m, "aeef");
    assert_no_place(&m, "ag ga");
    assert_place(&m, "auu", 2, 2);
    assert_no_place(&m, "h gh gh g");
    free_model(&m);
    m = make_model(BYTE_PAIRS);
    assert_no_place(&m, "auu"); /* byte pairs know pieces that are not used */
    free_model(&m);
}

/* The library's work on a run grows with the square of its length, so no part is longer than it may be. */
static void test_long_word(void **state)
{
    (void)state;
    static const char *const marks[] = {"!", "\u1300", "\u0301", "\u3002", "x", "y", "z", "c", "d", "e", "f", "g", "h"};
    enum { MARKS = 100000 };
    for (model_kind kind = 0; kind < KINDS; kind++) {
        model m = make_model(kind);
        for (size_t i = 0; i < G_N_ELEMENTS(marks); i++) {
            GString *text = g_string_new("ab");
            for (int k = 0; k < MARKS; k++)
                g_string_append(text, marks[i]);
            g_string_append(text, "bab");
            g_autoptr(GArray) places = xlm_cut_places(m.rules, text->str, text->len, XLM_PIECES_RUN);
            size_t start = 0;
            for (guint k = 0; k < places->len; k++) {
                const xlm_cut_place *place = &g_array_index(places, xlm_cut_place, k);
                assert_in_range(place->end - start, 1, XLM_PIECES_RUN + 8);
                start = place->start;
            }
            assert_in_range(text->len - start, 1, XLM_PIECES_RUN + 8);
            assert_in_range(places->len, text->len / (XLM_PIECES_RUN + 8), text->len / XLM_PIECES_RUN);
            xlm_cut *cut = xlm_cut_new(true);
            xlm_cut_text(m.rules, m.library, text->str, text->len, XLM_PIECES_RUN, cut);
            assert_true(xlm_cut_locate(m.rules, text->str, text->len, cut));
            assert_int_equal(cut->ends->len, 5); /* two before the marks, all marks as one unknown piece, b, ab */
            assert_int_equal(g_array_index(cut->ends, uint32_t, 1), strlen("\u2581ab"));
            assert_int_equal(g_array_index(cut->ends, uint32_t, 2), strlen("\u2581") + text->len - strlen("bab"));
            xlm_cut_free(cut);
            g_string_free(text, TRUE);
        }
        free_model(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_parts_normalised),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_byte_pieces),
        cmocka_unit_test(test_long_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
