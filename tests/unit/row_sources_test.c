/* xlm-mpi: which rows of a model a larger vocabulary gets. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text_fixture.h"

#include "model/row_sources.h"

static const char OLD_CODES[] = "l o 7\nlo w</w> 5\ne s 4\nes t</w> 4\n";
static const char OLD_WORDS[] = "l@@ 9\no@@ 8\nlo@@ 7\nlow 6\ne@@ 5\ns@@ 5\nes@@ 4\nt 4\nest 4\no 3\n";

static xlm_vocabulary *make(const char *words, const char *more_words, const char *codes, const char *more_codes,
                            const char *const *languages, xlm_word_mode mode, bool lowercase)
{
    char *all_words = g_strconcat(words, more_words, NULL), *all_codes = g_strconcat(codes, more_codes, NULL);
    xlm_word_counts *counts = xlm_word_counts_parse("words", all_words, strlen(all_words), NULL);
    const xlm_vocabulary_settings settings = {.words = mode, .lowercase = lowercase,
                                              .languages = (int)g_strv_length((char **)languages),
                                              .language_names = languages};
    xlm_vocabulary *v = xlm_vocabulary_new(counts, text_bpe(all_codes), &settings, NULL);
    assert_non_null(v);
    xlm_word_counts_free(counts);
    g_free(all_words);
    g_free(all_codes);
    return v;
}

static const char *const two[] = {"en", "de", NULL}, *const three[] = {"en", "sw", "de", NULL};

static xlm_vocabulary *make_old(void) { return make(OLD_WORDS, "", OLD_CODES, "", two, XLM_WORDS_SPACE, false); }

/* "wo@@" and "ж" are of no use to the old tokenizer in whole or in part. */
static xlm_vocabulary *make_larger(void)
{
    return make(OLD_WORDS, "loest 90\nloes@@ 1\nwo@@ 1\nж 1\n", OLD_CODES, "lo est</w> 9\nlo es 2\n", three, XLM_WORDS_SPACE,
                false);
}

static int32_t id_of(const xlm_vocabulary *v, const char *word)
{
    const int32_t id = xlm_vocabulary_find(v, word, strlen(word));
    assert_int_not_equal(id, XLM_ID_UNK);
    return id;
}

/* The sources of a row are these words of the old vocabulary. */
static void assert_sources(const xlm_row_sources *s, const xlm_vocabulary *old, int64_t row, const char *expected)
{
    GString *words = g_string_new(NULL);
    for (int64_t k = s->first[row]; k < s->first[row + 1]; k++)
        g_string_append_printf(words, "%s%s", words->len > 0 ? " " : "", xlm_vocabulary_words(old)[s->source[k]]);
    assert_string_equal(words->str, expected);
    g_string_free(words, TRUE);
}

static void test_finds_rows_by_name(void **state)
{
    (void)state;
    xlm_vocabulary *old = make_old(), *larger = make_larger();
    for (int average = 0; average < 2; average++) {
        xlm_row_sources *s = xlm_row_sources_of_subwords(old, larger, average);
        assert_int_equal(s->rows, xlm_vocabulary_size(larger));
        for (int32_t id = 0; id < xlm_vocabulary_size(old); id++) {
            const char *word = xlm_vocabulary_words(old)[id];
            assert_sources(s, old, id < XLM_SPECIALS ? id : id_of(larger, word), word);
        }
        /* Inside and at the end of a word are two things. */
        assert_sources(s, old, id_of(larger, "loest"), average ? "lo@@ est" : "");
        assert_sources(s, old, id_of(larger, "loes@@"), average ? "lo@@ es@@" : "");
        assert_sources(s, old, id_of(larger, "wo@@"), average ? "o@@" : "");
        assert_sources(s, old, id_of(larger, "ж"), "");
        assert_int_equal(s->taken, xlm_vocabulary_size(old));
        assert_int_equal(s->averaged, average ? 3 : 0);
        assert_int_equal(s->drawn, average ? 1 : 4);
        assert_int_equal(s->left, 0);
        xlm_row_sources_free(s);

        s = xlm_row_sources_of_languages(old, larger, average);
        assert_int_equal(s->rows, 3);
        assert_int_equal(s->source[s->first[0]], 0);
        assert_int_equal(s->source[s->first[2]], 1);
        assert_int_equal(s->first[2] - s->first[1], average ? 2 : 0);
        assert_int_equal(s->taken, 2);
        xlm_row_sources_free(s);
        s = xlm_row_sources_of_languages(larger, old, average);
        assert_int_equal(s->taken, 2);
        assert_int_equal(s->left, 1);
        assert_int_equal(s->source[s->first[1]], 2);
        xlm_row_sources_free(s);
    }
    xlm_vocabulary_free(old);
    xlm_vocabulary_free(larger);
}

/* A special token has the row of its namesake, whatever ids both have. */
static void test_finds_special_tokens(void **state)
{
    (void)state;
    static const int32_t ids[XLM_SPECIAL_TOKENS] = {2, 0, 3, 1, 6};
    xlm_special_tokens specials = {0};
    const char *names[XLM_SPECIAL_TOKENS];
    assert_true(xlm_special_tokens_set(&specials, ids, NULL));
    xlm_vocabulary *own = make_old(), *larger = make_larger();
    xlm_vocabulary_settings settings = xlm_vocabulary_settings_of(own, names);
    settings.specials = &specials;
    xlm_vocabulary *old = xlm_vocabulary_new(xlm_vocabulary_subwords(own), text_bpe(OLD_CODES), &settings, NULL);
    assert_non_null(old);
    xlm_row_sources *s = xlm_row_sources_of_subwords(old, larger, false);
    for (int special = 0; special < XLM_SPECIAL_TOKENS; special++) {
        const int32_t row = xlm_vocabulary_special(larger, (xlm_special)special);
        assert_int_equal(s->first[row + 1] - s->first[row], 1);
        assert_int_equal(s->source[s->first[row]], ids[special]);
    }
    assert_sources(s, old, id_of(larger, "low"), "low");
    xlm_row_sources_free(s);
    xlm_vocabulary_free(own);
    xlm_vocabulary_free(old);
    xlm_vocabulary_free(larger);
}

static void test_applies(void **state)
{
    (void)state;
    int64_t first[] = {0, 1, 1, 4, 6};
    int32_t source[] = {2, 0, 1, 2, 1, 0};
    const xlm_row_sources s = {.rows = 4, .first = first, .source = source};
    const float old[] = {1, 2, 3, 5, 5e-40f, -0.0f};
    float rows[] = {7, 7, 7, 7, 7, 7, 7, 7};
    xlm_row_sources_apply(&s, 2, old, rows);
    assert_memory_equal(rows, old + 4, sizeof(float) * 2);
    assert_true(rows[2] == 7 && rows[3] == 7);
    assert_float_equal(rows[4], 4. / 3, 1e-6);
    assert_float_equal(rows[5], 7. / 3, 1e-6);
    assert_true(rows[6] == 2 && rows[7] == 3.5f);
    float column[] = {7, 7, 7, 7};
    xlm_row_sources_apply(&s, 1, old, column);
    assert_true(column[0] == 3 && column[1] == 7 && column[2] == 2 && column[3] == 1.5f);
}

static void assert_not_extended(const xlm_vocabulary *old, xlm_vocabulary *other, const char *message)
{
    GError *error = NULL;
    assert_false(xlm_vocabulary_extends(old, other, &error));
    assert_int_equal(error->code, EX_DATAERR);
    assert_non_null(strstr(error->message, message));
    g_error_free(error);
    xlm_vocabulary_free(other);
}

static void test_tells_other_vocabularies(void **state)
{
    (void)state;
    xlm_vocabulary *old = make_old(), *larger = make_larger(), *same = make_old();
    assert_true(xlm_vocabulary_extends(old, same, NULL));
    assert_true(xlm_vocabulary_extends(old, larger, NULL));
    assert_not_extended(larger, same, "4 of its 14 subwords are not there, `loest` the first");
    assert_not_extended(old, make(OLD_WORDS, "", OLD_CODES, "", two, XLM_WORDS_ICU, false), "found by `space`, there by `icu`");
    assert_not_extended(old, make(OLD_WORDS, "", OLD_CODES, "", two, XLM_WORDS_SPACE, true), "there it is in lower case");
    assert_not_extended(old, make(OLD_WORDS, "", "", "l o 7\nlo w</w> 5\ne s 4\n", two, XLM_WORDS_SPACE, false),
                        "it has 4 BPE codes, there are 3 there");
    assert_not_extended(old, make(OLD_WORDS, "", "", "l o 7\ne s 5\nlo w</w> 5\nes t</w> 4\n", two, XLM_WORDS_SPACE, false),
                        "its BPE code 2 is `lo w</w>`, there it is `e s`");
    xlm_vocabulary_free(old);
    xlm_vocabulary_free(larger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_rows_by_name),
        cmocka_unit_test(test_finds_special_tokens),
        cmocka_unit_test(test_applies),
        cmocka_unit_test(test_tells_other_vocabularies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
