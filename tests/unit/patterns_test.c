/* xlm-mpi: regular expressions against what they replace: words of ICU, rules of the normaliser. SPDX-License-Identifier:
 * GPL-3.0-or-later */
#include "text_fixture.h"

#include "text/normalise.h"
#include "text/patterns.h"
#include "text/words.h"

/* Strings of characters of every kind in the rules, except those of dictionaries. */
static const char *const pieces[] = {
    " ", "a", "B", "\u00e9", "\u03a3", "1", "2", "\u0663", "_", "'", "\u2019", ".", ",", ";", ":", "\u00b7", "\"", "-", "@", "/",
    "\u05d0", "\u05d1", "\u05f4", "\u0301", "\u200d", "\u200c", "\u0600", "\u0915", "\u093e", "\u094d", "\u1100", "\U0001F469",
    "\u2764", "\ufe0f", "\U0001F3FD", "\U0001F1E9", "\U0001F1EA", "\u00bd", "\u2026", "\uff0c", "\U00010400", "\u066b"};

/* The matches of the expression between spaces, separated by '|'. */
static char *match_all(const GRegex *regex, const char *line)
{
    char **parts = g_strsplit(line, " ", -1);
    GString *out = g_string_new(NULL);
    for (char **part = parts; *part != NULL; part++) {
        GMatchInfo *match;
        for (g_regex_match(regex, *part, 0, &match); g_match_info_matches(match); g_match_info_next(match, NULL)) {
            char *word = g_match_info_fetch(match, 0);
            g_string_append_printf(out, "%s%s", out->len > 0 ? "|" : "", word);
            g_free(word);
        }
        g_match_info_free(match);
    }
    g_strfreev(parts);
    return g_string_free(out, FALSE);
}

static char *split_all(xlm_splitter *splitter, const char *line)
{
    size_t n;
    const xlm_word *words = xlm_splitter_split(splitter, line, strlen(line), &n);
    GString *out = g_string_new(NULL);
    for (size_t i = 0; i < n; i++) {
        g_string_append(out, i > 0 ? "|" : "");
        g_string_append_len(out, line + words[i].start, words[i].size);
    }
    return g_string_free(out, FALSE);
}

/* The number of lines in a language that are matched and split differently; the first is shown. */
static int count_different(const char *language, uint32_t test, int lines)
{
    GError *error = NULL;
    char *pattern = xlm_pattern_words(language, &error);
    GRegex *regex = g_regex_new(pattern, 0, 0, &error);
    xlm_splitter *splitter = xlm_splitter_new(XLM_WORDS_ICU, language, NULL);
    int different = 0;
    uint32_t k = 0;
    assert_non_null(regex);
    for (int i = 0; i < lines; i++) {
        GString *line = text_make_word(test, &k, pieces, G_N_ELEMENTS(pieces), 12);
        char *matched = match_all(regex, line->str), *split = split_all(splitter, line->str);
        if (strcmp(matched, split) != 0 && different++ == 0)
            print_message("`%s`: %s instead of %s\n", line->str, matched, split);
        g_free(matched);
        g_free(split);
        g_string_free(line, TRUE);
    }
    g_free(pattern);
    g_regex_unref(regex);
    xlm_splitter_free(splitter);
    return different;
}

static void assert_matched(const char *language, const char *line, const char *words)
{
    char *pattern = xlm_pattern_words(language, NULL);
    GRegex *regex = g_regex_new(pattern, 0, 0, NULL);
    char *matched = match_all(regex, line);
    assert_string_equal(matched, words);
    g_free(matched);
    g_free(pattern);
    g_regex_unref(regex);
}

static void test_words(void **state)
{
    (void)state;
    assert_matched("en", "Don't panic, it's 3.14%! U.S.A. e.g. 1,000 a.1 x_y 'tis",
                   "Don't|panic|,|it's|3.14|%|!|U.S.A|.|e.g|.|1,000|a|.|1|x_y|'|tis");
    assert_matched("en", "EU:n foo@bar.org", "EU|:|n|foo@bar.org");
    assert_matched("fi", "EU:n", "EU:n");
    assert_matched("", "\u05e6\u05d4\"\u05dc \u05e7' a\u0301b", "\u05e6\u05d4\"\u05dc|\u05e7'|a\u0301b");
    assert_matched("", "URL\uc740 2\ub85c", "URL|\uc740|2|\ub85c");
    assert_matched("", "\U0001F469\u200d\U0001F469x \U0001F1E9\U0001F1EA\U0001F1EB",
                   "\U0001F469\u200d\U0001F469|x|\U0001F1E9\U0001F1EA|\U0001F1EB");
    assert_matched("", "\u65e5\u672c\u30c6\u30b9", "\u65e5|\u672c|\u30c6\u30b9");
}

/* All but lines with an apostrophe after a Hebrew letter that has a point, or a picture that U+200D joins to a letter. */
static void test_words_like_icu(void **state)
{
    (void)state;
    static const char *const languages[] = {"", "fi"};
    for (uint32_t i = 0; i < G_N_ELEMENTS(languages); i++)
        assert_true(count_different(languages[i], i, 4000) < 60);
}

/* The normaliser's rule 2, by replacing, and single spaces. */
static void test_characters(void **state)
{
    (void)state;
    static const char *const odd[] = {"a", "b", " ", "\t", "\u00ad", "\u200b", "\u200c", "\u200f", "\ufeff", "\u202a", "\ue000",
                                      "\ufffd", "\xC2\x85", "\u00a0", "\u3000", "\u0600", "\u2060", "\x01",
                                      "\U000F0000", "\U0001FFFE"};
    char *removed = xlm_pattern_characters(xlm_normalise_removes), *blank = xlm_pattern_characters(xlm_normalise_blanks);
    GRegex *removes = g_regex_new(removed, 0, 0, NULL), *blanks = g_regex_new(blank, 0, 0, NULL),
           *runs = g_regex_new(" {2,}", 0, 0, NULL);
    xlm_normaliser *n = xlm_normaliser_new(false, NULL);
    assert_true(removes != NULL && blanks != NULL);
    uint32_t k = 0;
    for (int i = 0; i < 2000; i++) {
        GString *line = text_make_word(7, &k, odd, G_N_ELEMENTS(odd), 12);
        const char *normal;
        size_t size;
        assert_true(xlm_normaliser_run(n, line->str, line->len, &normal, &size, NULL));
        char *a = g_regex_replace_literal(removes, line->str, -1, 0, "", 0, NULL),
             *b = g_regex_replace_literal(blanks, a, -1, 0, " ", 0, NULL),
             *c = g_regex_replace_literal(runs, b, -1, 0, " ", 0, NULL);
        assert_string_equal(g_strstrip(c), normal);
        g_free(a);
        g_free(b);
        g_free(c);
        g_string_free(line, TRUE);
    }
    g_free(removed);
    g_free(blank);
    g_regex_unref(removes);
    g_regex_unref(blanks);
    g_regex_unref(runs);
    xlm_normaliser_free(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_words_like_icu),
        cmocka_unit_test(test_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
