/* xlm-mpi: splitting into words against known answers and ICU; runs of words. SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/ustring.h>

#include "text/word_runs.h"
#include "text/words.h"
#include "text_fixture.h"

/* Words of a line, a '|' between them. */
static GString *split(xlm_splitter *splitter, const char *line, size_t size)
{
    size_t n;
    const xlm_word *words = xlm_splitter_split(splitter, line, size, &n);
    GString *out = g_string_new(NULL);
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            g_string_append_c(out, '|');
        g_string_append_len(out, line + words[i].start, words[i].size);
    }
    return out;
}

static void assert_split(xlm_word_mode mode, const char *language, const char *line, const char *expected)
{
    xlm_splitter *splitter = xlm_splitter_new(mode, language, NULL);
    assert_non_null(splitter);
    GString *out = split(splitter, line, strlen(line));
    assert_string_equal(out->str, expected);
    g_string_free(out, TRUE);
    xlm_splitter_free(splitter);
}

static void test_space(void **state)
{
    (void)state;
    assert_split(XLM_WORDS_SPACE, "en", "", "");
    assert_split(XLM_WORDS_SPACE, NULL, "don't , 3.5 %", "don't|,|3.5|%");
    assert_split(XLM_WORDS_SPACE, "no such language", "  a   b ", "a|b");
}

static void test_icu(void **state)
{
    (void)state;
    assert_split(XLM_WORDS_ICU, "en", "", "");
    assert_split(XLM_WORDS_ICU, "en", "Don't panic, it's 3.14%!", "Don't|panic|,|it's|3.14|%|!");
    assert_split(XLM_WORDS_ICU, "en", "U.S.A. e.g. 1,000,000 a.1 1.a x_y _ ...",
                 "U.S.A|.|e.g|.|1,000,000|a|.|1|1|.|a|x_y|_|.|.|.");
    assert_split(XLM_WORDS_ICU, "en", "'tis 'quoted' -- well-known (yes)", "'|tis|'|quoted|'|-|-|well|-|known|(|yes|)");
    assert_split(XLM_WORDS_ICU, "de", "\xC3\x9C" "ber \xE2\x80\x9E" "Gr\xC3\xBC\xC3\x9F" "e\xE2\x80\x9C",
                 "\xC3\x9C" "ber|\xE2\x80\x9E|Gr\xC3\xBC\xC3\x9F" "e|\xE2\x80\x9C");
    /* A colon joins letters in Swedish and Finnish, and in no other language. */
    assert_split(XLM_WORDS_ICU, "sv", "EU:s", "EU:s");
    assert_split(XLM_WORDS_ICU, "fi", "EU:n", "EU:n");
    assert_split(XLM_WORDS_ICU, "en", "EU:s", "EU|:|s");
    /* @ is a letter with every version of ICU, also in a line that is left to ICU, which U+0301 does. */
    assert_split(XLM_WORDS_ICU, "en", "foo@bar.org, @user 3@5 a.@ @ $@", "foo@bar.org|,|@user|3@5|a.@|@|$|@");
    assert_split(XLM_WORDS_ICU, "en", "e\u0301 foo@bar.org, @user 3@5 a.@ @ $@", "e\u0301|foo@bar.org|,|@user|3@5|a.@|@|$|@");
    assert_split(XLM_WORDS_ICU, "ja", "\u6771@\u4eac a@\u6771", "\u6771|@|\u4eac|a@|\u6771");
    assert_split(XLM_WORDS_ICU, "", "a b", "a|b");
    assert_split(XLM_WORDS_ICU, "xx-not_a language!", "a b", "a|b");
}

static void test_dictionaries(void **state)
{
    (void)state;
    /* I love Beijing. */
    assert_split(XLM_WORDS_ICU, "zh", "\xE6\x88\x91\xE7\x88\xB1\xE5\x8C\x97\xE4\xBA\xAC\xE3\x80\x82",
                 "\xE6\x88\x91|\xE7\x88\xB1|\xE5\x8C\x97\xE4\xBA\xAC|\xE3\x80\x82");
    /* Tokyo prefecture ni sumu. */
    assert_split(XLM_WORDS_ICU, "ja", "\xE6\x9D\xB1\xE4\xBA\xAC\xE3\x81\xAB\xE4\xBD\x8F\xE3\x82\x80",
                 "\xE6\x9D\xB1\xE4\xBA\xAC|\xE3\x81\xAB|\xE4\xBD\x8F\xE3\x82\x80");
    /* sawatdi khrap: hello, polite */
    assert_split(XLM_WORDS_ICU, "th", "\xE0\xB8\xAA\xE0\xB8\xA7\xE0\xB8\xB1\xE0\xB8\xAA\xE0\xB8\x94\xE0\xB8\xB5"
                 "\xE0\xB8\x84\xE0\xB8\xA3\xE0\xB8\xB1\xE0\xB8\x9A",
                 "\xE0\xB8\xAA\xE0\xB8\xA7\xE0\xB8\xB1\xE0\xB8\xAA\xE0\xB8\x94\xE0\xB8\xB5|"
                 "\xE0\xB8\x84\xE0\xB8\xA3\xE0\xB8\xB1\xE0\xB8\x9A");
}

/* ---- the short way against ICU ---- */

/* Where ICU breaks a line. In UTF-16: the dictionaries' results depend on the encoding that ICU is given. Only ICU 72 has @ among
 * the letters, so all versions are given a letter in its place. */
static GString *ask_icu(UBreakIterator *breaks, const char *line, size_t size)
{
    UErrorCode status = U_ZERO_ERROR;
    UChar text[256], asked[256];
    int32_t n;
    GString *out = g_string_new(NULL);
    u_strFromUTF8(text, 256, &n, line, (int32_t)size, &status);
    for (int32_t i = 0; i < n; i++)
        asked[i] = text[i] == '@' ? 'a' : text[i];
    ubrk_setText(breaks, asked, n, &status);
    int32_t start = ubrk_first(breaks);
    for (int32_t end; (end = ubrk_next(breaks)) != UBRK_DONE; start = end) {
        char word[1024];
        while (start < end && text[start] == ' ') /* a space that carries a mark has it for a word */
            start++;
        u_strToUTF8(word, sizeof word, NULL, text + start, end - start, &status);
        if (start < end)
            g_string_append_printf(out, "%s%s", out->len > 0 ? "|" : "", word);
    }
    assert_true(U_SUCCESS(status));
    return out;
}

static void compare(xlm_splitter *splitter, UBreakIterator *breaks, const char *line, size_t size)
{
    GString *expected = ask_icu(breaks, line, size), *found = split(splitter, line, size);
    assert_string_equal(found->str, expected->str);
    g_string_free(expected, TRUE);
    g_string_free(found, TRUE);
}

static const char *const languages[] = {"", "en", "de", "sv", "fi", "el", "ru", "ja", "zh", "ko"};

/* How far the next character to be tested is. Most Chinese characters and syllables of Hangul are alike. */
static gunichar step_after(gunichar c, bool every)
{
    if ((c >= 0x3400 && c < 0x9F00) || (c >= 0xAC00 && c < 0xD700))
        return every ? 13 : 1009;
    return every || c < 0x100 ? 1 : 7;
}

/* Characters of two and three bytes and some others, in contexts that matter, in all languages with rules of their own. */
static void test_every_character_like_icu(void **state)
{
    (void)state;
    static const char *const contexts[] = {"a%sa", "1%s1", "a%s1 1%sa", "_%s_ %s", "a%s%sa", "%s'a", "a'%s 1.%s", "a:%s:a",
                                           "'%s'", "\xE6\x9D\xB1%s\xE4\xBA\xAC", "%s\xE3\x82\xAB_ %s_", "_%s\xED\x95\x9C%s%s"};
    for (size_t l = 0; l < G_N_ELEMENTS(languages); l++) {
        UErrorCode status = U_ZERO_ERROR;
        UBreakIterator *breaks = ubrk_open(UBRK_WORD, languages[l], NULL, 0, &status);
        xlm_splitter *splitter = xlm_splitter_new(XLM_WORDS_ICU, languages[l], NULL);
        for (gunichar c = 0x21; c <= 0xFFFF; c += step_after(c, l == 0)) {
            if (u_isUWhiteSpace((UChar32)c) || U_IS_SURROGATE(c))
                continue;
            char utf8[8] = "";
            utf8[g_unichar_to_utf8(c, utf8)] = '\0';
            for (size_t i = 0; i < G_N_ELEMENTS(contexts); i++) {
                char **parts = g_strsplit(contexts[i], "%s", -1);
                char *line = g_strjoinv(utf8, parts);
                compare(splitter, breaks, line, strlen(line));
                g_strfreev(parts);
                g_free(line);
            }
        }
        xlm_splitter_free(splitter);
        ubrk_close(breaks);
    }
}

static void test_made_lines_like_icu(void **state)
{
    (void)state;
    static const char *const simple[] = {"a", "B", "\xC3\xA4", "\xD0\xB6", "1", "9", ".", ",", ":", ";", "'", "\xE2\x80\x99",
                                         "\xC2\xB7", "_", "-", "!", "\"", "@", " ", " ", "\xE2\x82\xAC"};
    static const char *const any[] = {"a", "1", ".", "'", "_", " ", " ", "\xCC\x81", "\xE2\x80\x8D", "\xE2\x80\x8C", "\xD7\x90",
                                      "\"", "\xE3\x82\xAB", "\xE3\x81\x82", "\xE6\x9D\xB1", "\xE4\xBA\xAC", "\xE0\xB8\x81",
                                      "\xE0\xB8\xB1", "\xF0\x9F\x98\x80",
                                      "\xF0\x9F\x87\xA9", "\xF0\x9F\x87\xAA", "\xED\x95\x9C", "\xE1\x84\x92", "\xD9\x85",
                                      "\xEF\xB8\x8F"};
    /* Runs of characters and words of Chinese, Japanese and Korean, and what may be beside them. */
    static const char *const east[] = {"\xE4\xB8\xAD", "\xE4\xB8\xAD\xE5\x9B\xBD", "\xE4\xBA\xBA\xE6\xB0\x91",
                                       "\xE5\x8C\x97\xE4\xBA\xAC", "\xE5\xA4\xA7\xE5\xAD\xA6", "\xE7\x94\x9F", "\xE7\x9A\x84",
                                       "\xE4\xB8\x8D", "\xE6\x9D\xB1\xE4\xBA\xAC", "\xE3\x81\xAB", "\xE4\xBD\x8F\xE3\x82\x80",
                                       "\xE3\x82\xAB", "\xE3\x83\xA9\xE3\x83\xBC", "\xE3\x80\x85", "\xED\x95\x9C\xEA\xB5\xAD",
                                       "\xEF\xBC\x8C", "\xE3\x80\x82", "\xE3\x80\x81", "\xEF\xBC\xA1", "\xEF\xBC\x91", "\xEF\xBC\xBF",
                                       "a", "1", ".", "_", " ", "\xE2\x80\x9C", "\xC3\xA4"};
    for (uint32_t l = 0; l < G_N_ELEMENTS(languages); l++) {
        UErrorCode status = U_ZERO_ERROR;
        UBreakIterator *breaks = ubrk_open(UBRK_WORD, languages[l], NULL, 0, &status);
        xlm_splitter *splitter = xlm_splitter_new(XLM_WORDS_ICU, languages[l], NULL);
        uint32_t k = 0;
        for (int i = 0; i < 6000; i++) {
            GString *line = i % 3 == 0   ? text_make_word(l, &k, simple, G_N_ELEMENTS(simple), 20)
                            : i % 3 == 1 ? text_make_word(l, &k, any, G_N_ELEMENTS(any), 12)
                                         : text_make_word(l, &k, east, G_N_ELEMENTS(east), 24);
            for (int again = 0; again < 2; again++) /* then from what the splitter remembers */
                compare(splitter, breaks, line->str, line->len);
            g_string_free(line, TRUE);
        }
        xlm_splitter_free(splitter);
        ubrk_close(breaks);
    }
}

/* A megabyte without a space, by either way: every byte is in a word. */
static void test_long_lines(void **state)
{
    (void)state;
    static const char *const pieces[] = {"a", "a-1,b", "\xF0\x9F\x98\x80\xE2\x80\x8D.", "\xE4\xB8\xAD\xE5\x9B\xBD"};
    xlm_splitter *splitter = xlm_splitter_new(XLM_WORDS_ICU, "en", NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(pieces); i++) {
        GString *line = g_string_new(NULL);
        while (line->len < 1000000)
            g_string_append(line, pieces[i]);
        size_t n, at = 0;
        const xlm_word *words = xlm_splitter_split(splitter, line->str, line->len, &n);
        for (size_t w = 0; w < n; w++) {
            assert_int_equal(words[w].start, at);
            at += words[w].size;
        }
        assert_int_equal(at, line->len);
        assert_true(i > 0 || n == 1);
        g_string_free(line, TRUE);
    }
    xlm_splitter_free(splitter);
}

/* Runs of all lengths about the longest that is remembered, each twice: as ICU divides them by itself. */
static void test_runs_of_all_lengths(void **state)
{
    (void)state;
    static const char *const characters[] = {"\xE4\xB8\xAD", "\xE5\x9B\xBD", "\xE4\xBA\xBA", "\xE6\xB0\x91", "\xE5\xA4\xA7",
                                             "\xE5\xAD\xA6", "\xE7\x94\x9F"};
    UErrorCode status = U_ZERO_ERROR;
    UBreakIterator *breaks = ubrk_open(UBRK_WORD, "zh", NULL, 0, &status);
    xlm_splitter *splitter = xlm_splitter_new(XLM_WORDS_ICU, "zh", NULL);
    for (uint32_t n = 1; n < 240; n++) {
        const bool hangul = n % 2 == 0; /* of which ICU makes one word */
        g_autoptr(GString) line = g_string_new("a ");
        for (uint32_t i = 0; i < n / 2 + 1; i++)
            g_string_append(line, hangul ? "\xED\x95\x9C" : characters[(i * i + n * i) % 61 % G_N_ELEMENTS(characters)]);
        for (int again = 0; again < 2; again++)
            compare(splitter, breaks, line->str, line->len);
    }
    xlm_splitter_free(splitter);
    ubrk_close(breaks);
}

static void test_modes(void **state)
{
    (void)state;
    xlm_word_mode mode = XLM_WORDS_ICU;
    assert_string_equal(xlm_word_mode_name(XLM_WORDS_ICU), "icu");
    assert_true(xlm_word_mode_find("space", &mode));
    assert_int_equal(mode, XLM_WORDS_SPACE);
    assert_true(xlm_word_mode_find("icu", &mode));
    assert_int_equal(mode, XLM_WORDS_ICU);
    assert_false(xlm_word_mode_find("moses", &mode));
}

/* ---- counts above what one table or 32 bits hold ---- */

static void test_large_counts(void **state)
{
    (void)state;
    xlm_word_counts *counts = xlm_word_counts_new(), *copy = xlm_word_counts_new();
    xlm_word_counts_add(counts, "a", 1, UINT32_MAX);
    xlm_word_counts_add(counts, "a", 1, 1);
    assert_true(xlm_word_counts_find(counts, "a", 1) == INT64_C(1) << 32);
    xlm_word_counts_add(counts, "b", 1, INT64_MAX - 1);
    xlm_word_counts_add(counts, "b", 1, 1);
    assert_true(xlm_word_counts_find(counts, "b", 1) == INT64_MAX);
    xlm_word_counts_add(counts, "b", 1, 7);
    assert_true(xlm_word_counts_find(counts, "b", 1) == INT64_MAX);
    size_t size;
    g_autofree void *bytes = xlm_word_counts_pack(counts, &size);
    assert_true(xlm_word_counts_unpack(copy, bytes, size, NULL));
    assert_true(xlm_word_counts_find(copy, "a", 1) == INT64_C(1) << 32);
    xlm_word_counts_clear(counts);
    assert_int_equal(xlm_word_counts_size(counts), 0);
    xlm_word_counts_add(counts, "b", 1, 2);
    assert_int_equal(xlm_word_counts_find(counts, "b", 1), 2);
    xlm_word_counts_free(counts);
    xlm_word_counts_free(copy);
}

/* A table with memory for its words beforehand has the same of them, and does not grow. */
static void test_reserved_counts(void **state)
{
    (void)state;
    enum { WORDS = 3000 };
    g_autoptr(xlm_word_counts) grown = xlm_word_counts_new(), reserved = xlm_word_counts_new();
    xlm_word_counts_add(reserved, "first", 5, 3);
    xlm_word_counts_reserve(reserved, WORDS);
    const size_t memory = xlm_word_counts_memory(reserved);
    xlm_word_counts_add(grown, "first", 5, 3);
    for (uint32_t i = 0; i < 2 * WORDS; i++) {
        g_autofree char *word = g_strdup_printf("%u", i % (WORDS - 1) * 7);
        xlm_word_counts_add(grown, word, strlen(word), i);
        xlm_word_counts_add(reserved, word, strlen(word), i);
    }
    assert_int_equal(xlm_word_counts_memory(reserved), memory);
    xlm_word_counts_reserve(reserved, 1);
    assert_int_equal(xlm_word_counts_size(reserved), WORDS);
    for (uint32_t i = 0; i < WORDS; i++) {
        assert_string_equal(xlm_word_counts_word(reserved, i, NULL), xlm_word_counts_word(grown, i, NULL));
        assert_int_equal(xlm_word_counts_count(reserved, i), xlm_word_counts_count(grown, i));
    }
}

enum { GROUPS = 2 };

/* Add some of a few words to the tables, and to `expected`. [in, out] k: counts draws. */
static void add_some(xlm_word_counts *const tables[GROUPS], xlm_word_counts *const expected[GROUPS], uint32_t n, uint32_t *k)
{
    static const char *const pieces[] = {"a", "b", "\xC3\xA4", "abcdefgh", "\x01", "22"};
    for (uint32_t i = 0; i < n; i++) {
        GString *word = text_make_word(5, k, pieces, G_N_ELEMENTS(pieces), 4);
        const uint32_t group = text_draw(5, (*k)++, GROUPS);
        const int64_t count = (INT64_C(1) << 33) + text_draw(5, (*k)++, 3);
        xlm_word_counts_add(tables[group], word->str, word->len, count);
        xlm_word_counts_add(expected[group], word->str, word->len, count);
        g_string_free(word, TRUE);
    }
}

/* The runs have the expected words, in ascending order, each once in each group. */
static void assert_runs(const xlm_word_runs *runs, xlm_word_counts *const expected[GROUPS])
{
    int64_t words = 0, bytes = 0;
    uint64_t before = 0;
    g_autofree xlm_word_record *last = NULL;
    xlm_word_merge *merge = xlm_word_merge_new(runs);
    for (const xlm_word_record *r; (r = xlm_word_merge_next(merge)) != NULL; words++) {
        assert_true(xlm_word_counts_find(expected[r->group], xlm_word_record_text(r), r->size) == r->count);
        assert_true(r->digest >= before);
        assert_false(last != NULL && xlm_word_record_same(r, last) && r->group <= last->group);
        before = r->digest;
        g_free(last);
        last = g_memdup2(r, xlm_word_record_bytes(r));
        bytes += (int64_t)xlm_word_record_bytes(r);
    }
    xlm_word_merge_free(merge);
    assert_int_equal(words, xlm_word_counts_size(expected[0]) + xlm_word_counts_size(expected[1]));
    assert_true(bytes <= xlm_word_runs_bytes(runs));
}

/* Runs in memory and on disk, few and so many that they are merged, are read as one list. */
static void test_runs(void **state)
{
    (void)state;
    char *scratch = g_dir_make_tmp("xlm-runs-XXXXXX", NULL);
    xlm_word_counts *tables[GROUPS], *expected[GROUPS];
    for (int g = 0; g < GROUPS; g++) {
        tables[g] = xlm_word_counts_new();
        expected[g] = xlm_word_counts_new();
    }
    xlm_word_runs *runs = xlm_word_runs_new(scratch);
    assert_runs(runs, expected);
    uint32_t k = 0;
    for (int run = 0; run < 270; run++) {
        add_some(tables, expected, run == 3 ? 1500 : 6, &k);
        xlm_word_runs_add_tables(runs, tables, GROUPS);
        for (int g = 0; g < GROUPS; g++)
            xlm_word_counts_clear(tables[g]);
        if (run > 3)
            assert_true(xlm_word_runs_spill(runs, NULL));
        if (run == 3 || run == 4)
            assert_runs(runs, expected);
        assert_true(run > 3 ? xlm_word_runs_memory(runs) == 0 : xlm_word_runs_memory(runs) == xlm_word_runs_bytes(runs));
    }
    add_some(tables, expected, 100, &k);
    xlm_word_runs_add_tables(runs, tables, GROUPS);
    assert_runs(runs, expected);
    xlm_word_runs_free(runs);

    /* No files can be made there. */
    assert_int_equal(g_rmdir(scratch), 0);
    GError *error = NULL;
    runs = xlm_word_runs_new(scratch);
    xlm_word_runs_add_tables(runs, tables, GROUPS);
    assert_false(xlm_word_runs_spill(runs, &error));
    assert_int_equal(error->code, EX_CANTCREAT);
    g_error_free(error);
    xlm_word_runs_free(runs);
    for (int g = 0; g < GROUPS; g++) {
        xlm_word_counts_free(tables[g]);
        xlm_word_counts_free(expected[g]);
    }
    g_free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_space),
        cmocka_unit_test(test_icu),
        cmocka_unit_test(test_dictionaries),
        cmocka_unit_test(test_every_character_like_icu),
        cmocka_unit_test(test_made_lines_like_icu),
        cmocka_unit_test(test_runs_of_all_lengths),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_large_counts),
        cmocka_unit_test(test_reserved_counts),
        cmocka_unit_test(test_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
