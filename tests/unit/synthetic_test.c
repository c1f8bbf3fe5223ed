/* xlm-mpi: tests of synthetic languages: steps, inversion, twins. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text_fixture.h"

#include "subwords/tokenizer.h"
#include "synthetic/language.h"

/* ---- steps ---- */

static void reads_steps(void **state)
{
    (void)state;
    GError *error = NULL;
    xlm_synthetic *made = xlm_synthetic_parse("syntax=a/n.gz+a/v.gz,transliterate,invert", &error);
    assert_non_null(made);
    assert_true(made->transliterates);
    assert_int_equal(made->orders, 2);
    assert_int_equal(made->order[0], XLM_SYNTHETIC_SYNTAX);
    assert_int_equal(made->order[1], XLM_SYNTHETIC_INVERT);
    assert_string_equal(made->weights[0], "a/n.gz");
    assert_string_equal(made->weights[1], "a/v.gz");
    xlm_synthetic_free(made);
    static const char *const wrong[] = {"", "invert,", "reverse", "invert,invert", "transliterate,transliterate", "syntax",
                                        "syntax=a", "syntax=a+", "syntax=a+b+c", "syntax=a+b,syntax=a+b"};
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        assert_null(xlm_synthetic_parse(wrong[i], &error));
        assert_int_equal(error->code, EX_USAGE);
        g_clear_error(&error);
    }
}

/* ---- inversion ---- */

static void assert_inverted(const char *text, const char *expected)
{
    char **words = g_strsplit(text, " ", -1);
    const guint n = g_strv_length(words);
    bool *stop = g_new0(bool, n);
    uint32_t *order = g_new(uint32_t, n);
    for (guint i = 0; i < n; i++) {
        stop[i] = xlm_synthetic_is_stop(words[i], strlen(words[i]));
        order[i] = i;
    }
    xlm_synthetic_invert(stop, order, n);
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < n; i++)
        g_string_append_printf(out, "%s%s", i > 0 ? " " : "", words[order[i]]);
    assert_string_equal(out->str, expected);
    g_string_free(out, TRUE);
    g_strfreev(words);
    g_free(stop);
    g_free(order);
}

static void inverts_between_stops(void **state)
{
    (void)state;
    assert_inverted("Welcome to ACL", "ACL to Welcome"); /* table 9 */
    assert_inverted("I am Sam . I am", "Sam am I . am I");
    assert_inverted("one two three four .", "four three two one .");
    assert_inverted(". . a b . .", ". . b a . .");
    assert_inverted("what ? 3.5 !", "! 3.5 ? what");
    assert_inverted("a b \u3002 c d \u0964 e", "b a \u3002 d c \u0964 e");
    assert_inverted("x", "x");
    /* Armenian, Khmer, Myanmar, fullwidth, small, Ethiopic, Arabic, halfwidth ideographic. */
    static const char *const stops[] = {"\u0589", "\u17d4", "\u104b", "\uff0e", "\ufe52", "\u1362", "\u06d4",
                                        "\uff61"};
    for (size_t i = 0; i < G_N_ELEMENTS(stops); i++) {
        char *text = g_strdup_printf("a b %s c d %s", stops[i], stops[i]);
        char *turned = g_strdup_printf("b a %s d c %s", stops[i], stops[i]);
        assert_inverted(text, turned);
        g_free(text);
        g_free(turned);
    }
    /* Marks of question and exclamation, of any script, are words as others; so are several full stops together. */
    assert_inverted("a b \u061f c \uff01 d \u203d e ... f \u055c", "\u055c f ... e \u203d d \uff01 c \u061f b a");
    xlm_synthetic_invert(NULL, NULL, 0);
}

/* ---- twins ---- */

static void draws_twins(void **state)
{
    (void)state;
    enum { N = 1001 };
    static const double shares[] = {0, 0.25, 0.5, 1};
    bool had[N] = {false};
    int32_t used[N];
    for (int i = 0; i < N; i++)
        used[i] = 5 + i;
    for (size_t s = G_N_ELEMENTS(shares); s-- > 0;) {
        int32_t twins, *ids = xlm_synthetic_twins(used, N, shares[s], 7, &twins);
        assert_int_equal(twins, N - (int)(shares[s] * N + 0.5));
        bool has[N] = {false};
        for (int32_t i = 0; i < twins; i++) {
            assert_true(ids[i] >= 5 && ids[i] < 5 + N && (i == 0 || ids[i] > ids[i - 1]));
            has[ids[i] - 5] = true;
        }
        /* Whatever a smaller share leaves unchanged, a larger one also leaves unchanged. */
        for (int i = 0; i < N; i++)
            assert_true(has[i] || !had[i]);
        memcpy(had, has, sizeof has);
        int32_t others, *other = xlm_synthetic_twins(used, N, shares[s], 8, &others);
        assert_int_equal(others, twins);
        if (shares[s] > 0 && shares[s] < 1)
            assert_memory_not_equal(ids, other, sizeof *ids * (size_t)twins);
        g_free(ids);
        g_free(other);
    }
}

/* Subwords est 5, lo@@ 6, w@@ 7, ",": 8; those of xx have twins but for ",", yy is xx without twins. */
static xlm_vocabulary *make_vocabulary(const char *extra, GError **error)
{
    static const char *const names[] = {"en", "xx", "yy"};
    static const int32_t originals[] = {5, 6, 7};
    const xlm_vocabulary_made made[] = {
        {.language = 1, .base = 0, .steps = "invert,transliterate", .shared = 0.25, .seed = 3, .weights = "",
         .twins = 3, .originals = originals},
        {.language = 2, .base = 0, .steps = "syntax=n+v", .shared = 1, .seed = 3, .weights = "n: 0; v: 1"}};
    const xlm_vocabulary_settings settings = {.words = XLM_WORDS_SPACE, .languages = 3, .language_names = names,
                                              .made_languages = 2, .made = made};
    char *text = g_strconcat("est 9\nlo@@ 8\nw@@ 7\n, 6\n", extra, NULL);
    xlm_word_counts *subwords = xlm_word_counts_parse("vocabulary", text, strlen(text), NULL);
    static const char codes[] = "e s 9\nes t</w> 9\nl o 8\n";
    xlm_vocabulary *v = xlm_vocabulary_new(subwords, text_bpe(codes), &settings, error);
    xlm_word_counts_free(subwords);
    g_free(text);
    return v;
}

static void assert_encoded(const xlm_vocabulary *v, int language, const char *expected)
{
    static const char line[] = "lowest , est z";
    xlm_tokenizer *t = xlm_tokenizer_new(v, NULL);
    GArray *ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
    assert_true(xlm_tokenizer_encode(t, language, line, strlen(line), ids, NULL, NULL));
    GString *out = g_string_new(NULL);
    xlm_vocabulary_decode(v, (const int32_t *)(void *)ids->data, ids->len, out);
    assert_string_equal(out->str, expected);
    g_string_free(out, TRUE);
    g_array_free(ids, TRUE);
    xlm_tokenizer_free(t);
}

static void assert_twins(const xlm_vocabulary *v)
{
    assert_int_equal(xlm_vocabulary_size(v), XLM_SPECIALS + 4 + 3);
    assert_string_equal(xlm_vocabulary_words(v)[10], "xx:lo@@");
    assert_int_equal(xlm_vocabulary_counts(v)[10], 8);
    assert_null(xlm_vocabulary_words(v)[12]);
    assert_true(xlm_vocabulary_joins(v, 10, 5));
    assert_int_equal(xlm_vocabulary_find(v, "xx:lo@@", 7), 10);
    assert_int_equal(xlm_vocabulary_find(v, "xx:lo", 5), XLM_ID_UNK);
    assert_null(xlm_vocabulary_twins(v, 0));
    assert_null(xlm_vocabulary_twins(v, 2));
    static const int32_t expected[] = {0, 1, 2, 3, 4, 9, 10, 11, 8, 9, 10, 11};
    assert_memory_equal(xlm_vocabulary_twins(v, 1), expected, sizeof expected);
    assert_int_equal(xlm_vocabulary_base_language(v, 2), 0);
    assert_encoded(v, 0, "lowest , est <unk>");
    assert_encoded(v, 1, "xx:lowest , xx:est <unk>");
    assert_encoded(v, 2, "lowest , est <unk>");
}

static void has_twins(void **state)
{
    (void)state;
    GError *error = NULL;
    xlm_vocabulary *v = make_vocabulary("", &error);
    assert_non_null(v);
    assert_twins(v);
    xlm_vocabulary_free(v);
    assert_null(make_vocabulary("xx:w@@ 1\n", &error));
    assert_int_equal(error->code, EX_DATAERR);
    g_error_free(error);
}

static void keeps_twins_in_files(void **state)
{
    (void)state;
    xlm_vocabulary *v = make_vocabulary("", NULL), *loaded = text_reload(v);
    assert_twins(loaded);
    int n;
    const xlm_vocabulary_made *made = xlm_vocabulary_made_languages(loaded, &n);
    assert_int_equal(n, 2);
    assert_string_equal(made[0].steps, "invert,transliterate");
    assert_true(made[0].shared == 0.25 && made[0].seed == 3 && made[0].base == 0);
    assert_string_equal(made[1].weights, "n: 0; v: 1");
    xlm_vocabulary_free(v);
    xlm_vocabulary_free(loaded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_steps), cmocka_unit_test(inverts_between_stops), cmocka_unit_test(draws_twins),
        cmocka_unit_test(has_twins),   cmocka_unit_test(keeps_twins_in_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
