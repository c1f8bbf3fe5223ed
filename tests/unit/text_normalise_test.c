/* xlm-mpi: normalisation against known answers and, over all characters, its definition.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>

#include "text/normalise.h"
#include "text_fixture.h"

static xlm_normaliser *plain, *lower;

static int open_normalisers(void **state)
{
    (void)state;
    plain = xlm_normaliser_new(false, NULL);
    lower = xlm_normaliser_new(true, NULL);
    return plain == NULL || lower == NULL;
}

static int close_normalisers(void **state)
{
    (void)state;
    xlm_normaliser_free(plain);
    xlm_normaliser_free(lower);
    return 0;
}

static void assert_normal(xlm_normaliser *normaliser, const char *text, size_t size, const char *expected)
{
    const char *normal;
    size_t normal_size;
    assert_true(xlm_normaliser_run(normaliser, text, size, &normal, &normal_size, NULL));
    assert_string_equal(normal, expected);
    assert_int_equal(normal_size, strlen(expected));
}

#define NORMAL(text, expected) assert_normal(plain, text, sizeof(text) - 1, expected)
#define LOWER(text, expected) assert_normal(lower, text, sizeof(text) - 1, expected)

static void test_white_space(void **state)
{
    (void)state;
    NORMAL("", "");
    NORMAL(" \t\r\n", "");
    NORMAL("  a \t b\r\n", "a b");
    NORMAL("a\xC2\xA0\xE3\x80\x80 b\xE2\x80\xA8", "a b");  /* U+00A0, U+3000, U+2028 */
    NORMAL("a\xE2\x80\x80" "b\xC2\x85" "c", "a b c");      /* U+2000, U+0085 */
    NORMAL("\xE2\x80\xAF" "10\xE2\x80\xAF" "000", "10 000"); /* U+202F */
}

static void test_junk(void **state)
{
    (void)state;
    NORMAL("\xEF\xBB\xBFHello", "Hello");                     /* byte order mark */
    NORMAL("Donau\xC2\xADschiff", "Donauschiff");             /* soft hyphen */
    NORMAL("a\xE2\x80\x8B" "b", "ab");                        /* zero width space */
    NORMAL("a\0b\x01" "c\x7F" "d", "a b c d");
    NORMAL("a\xEE\x80\x80" "b\xEF\xBF\xBD" "c\xEF\xBF\xBE" "d", "a b c d"); /* U+E000, U+FFFD, U+FFFE */
    NORMAL("\xE2\x80\x8F", "");                               /* a direction mark alone */
    NORMAL("\xD9\x85\xDB\x8C\xE2\x80\x8C\xD8\xB1", "\xD9\x85\xDB\x8C\xE2\x80\x8C\xD8\xB1"); /* Persian, U+200C stays */
    NORMAL("e\xE2\x80\x8B\xCC\x81", "\xC3\xA9"); /* removed before composition */
}

static void test_form_c(void **state)
{
    (void)state;
    NORMAL("Mu\xCC\x88ller", "M\xC3\xBCller");
    NORMAL("\xE2\x84\xAB", "\xC3\x85");                                       /* angstrom sign */
    NORMAL("\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", "\xED\x95\x9C");           /* Hangul jamo */
    NORMAL("a\xCC\xA3\xCC\x82", "\xE1\xBA\xAD");                              /* a, dot below, circumflex */
    NORMAL("a\xCC\x82\xCC\xA3", "\xE1\xBA\xAD");                              /* the same in the other order */
    NORMAL("\xEF\xAC\x81", "\xEF\xAC\x81");                                   /* fi ligature stays: C, not KC */
}

static void test_lower_case(void **state)
{
    (void)state;
    LOWER("Hello WORLD", "hello world");
    LOWER("\xC3\x84RGER \xC3\x9C" "ber", "\xC3\xA4rger \xC3\xBC" "ber");
    LOWER("\xCE\x9F\xCE\xA3 \xCE\xA3\xCE\x9F", "\xCE\xBF\xCF\x82 \xCF\x83\xCE\xBF"); /* final sigma */
    LOWER("I\xC4\xB0", "ii\xCC\x87");                                             /* no Turkish i */
    LOWER("J\xCC\x8C", "\xC7\xB0");                        /* composes only in lower case */
    LOWER("\xF0\x90\x90\x80", "\xF0\x90\x90\xA8");         /* Deseret */
    NORMAL("Hello \xC3\x84", "Hello \xC3\x84");
}

/* ---- bad UTF-8 ---- */

static void test_bad_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size, bad;
    } cases[] = {
        {"abc\xFF", 4, 3},     {"\x80", 1, 0},          {"a\xC3", 2, 1},
        {"a\xC3(", 3, 1},      {"\xC0\xAF", 2, 0},      {"\xE0\x80\xAF", 3, 0},
        {"\xED\xA0\x80", 3, 0}, {"\xF4\x90\x80\x80", 4, 0}, {"\xF0\x80\x80\x80", 4, 0},
        {"\xE4\xBD\xA0\xE4\xBD", 5, 3}, {"aaaaaaaaaaaaaaaaa\xE4\xBD", 19, 17}, {"\xF8\x88\x80\x80\x80", 5, 0},
        {"M\xFCller", 6, 1},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *normal;
        size_t size;
        GError *error = NULL;
        assert_int_equal(xlm_utf8_check(cases[i].text, cases[i].size), cases[i].bad);
        assert_false(xlm_normaliser_run(plain, cases[i].text, cases[i].size, &normal, &size, &error));
        assert_int_equal(error->code, EX_DATAERR);
        char *expected = g_strdup_printf("byte %zu: not UTF-8 (0x%02x)", cases[i].bad + 1,
                                         (unsigned char)cases[i].text[cases[i].bad]);
        assert_true(g_str_has_prefix(error->message, expected));
        g_free(expected);
        g_error_free(error);
    }
    assert_int_equal(xlm_utf8_check("", 0), 0);
    assert_int_equal(xlm_utf8_check("a\0b", 3), 3);
}

/* Random bytes and valid text with a few bytes changed, compared with GLib. */
static void test_utf8_like_glib(void **state)
{
    (void)state;
    static const unsigned char bytes[] = {'a', 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xDF, 0xE0,
                                          0xE4, 0xED, 0xEF, 0xF0, 0xF3, 0xF4, 0xF5, 0xFF};
    for (uint32_t test = 0; test < 200000; test++) {
        char text[12];
        const uint32_t size = 1 + text_draw(test, 0, sizeof text);
        for (uint32_t i = 0; i < size; i++)
            text[i] = (char)bytes[text_draw(test, 1 + i, sizeof bytes)];
        const char *end;
        const char *normal;
        size_t normal_size;
        const bool good = g_utf8_validate(text, size, &end);
        assert_int_equal(xlm_utf8_check(text, size), end - text);
        assert_int_equal(xlm_normaliser_run(plain, text, size, &normal, &normal_size, NULL), good);
    }
}

/* ---- the definition, step by step ---- */

static bool is_kept_format(UChar32 c)
{
    return c == 0x200C || c == 0x200D || u_hasBinaryProperty(c, UCHAR_PREPENDED_CONCATENATION_MARK);
}

/* Characters of a line without junk; junk that leaves a space is a space. */
static void clean(const UChar32 *text, size_t n, GArray *out)
{
    for (size_t i = 0; i < n; i++) {
        const UChar32 space = ' ';
        const int type = u_charType(text[i]);
        if (u_isUWhiteSpace(text[i]) || type == U_CONTROL_CHAR || type == U_PRIVATE_USE_CHAR || text[i] == 0xFFFD ||
            (text[i] & 0xFFFE) == 0xFFFE || (text[i] >= 0xFDD0 && text[i] <= 0xFDEF))
            g_array_append_val(out, space);
        else if (type == U_FORMAT_CHAR ? is_kept_format(text[i])
                                       : type != U_UNASSIGNED ||
                                           !u_hasBinaryProperty(text[i], UCHAR_DEFAULT_IGNORABLE_CODE_POINT))
            g_array_append_val(out, text[i]);
    }
}

static GString *define(const UChar32 *text, size_t n, bool lower_case)
{
    UErrorCode status = U_ZERO_ERROR;
    UChar a[512], b[512];
    char utf8[1536];
    int32_t size;
    GArray *cleaned = g_array_new(FALSE, FALSE, sizeof(UChar32));
    clean(text, n, cleaned);
    u_strFromUTF32(a, 512, &size, (UChar32 *)(void *)cleaned->data, (int32_t)cleaned->len, &status);
    g_array_free(cleaned, TRUE);
    const UNormalizer2 *form_c = unorm2_getNFCInstance(&status);
    size = unorm2_normalize(form_c, a, size, b, 512, &status);
    if (lower_case) {
        size = u_strToLower(a, 512, b, size, "", &status);
        size = unorm2_normalize(form_c, a, size, b, 512, &status);
    }
    int32_t bytes;
    u_strToUTF8(utf8, sizeof utf8, &bytes, b, size, &status);
    assert_true(U_SUCCESS(status));
    char **words = g_strsplit(utf8, " ", -1);
    GString *out = g_string_new(NULL);
    for (char **word = words; *word != NULL; word++)
        if (**word != '\0')
            g_string_append_printf(out, "%s%s", out->len > 0 ? " " : "", *word);
    g_strfreev(words);
    return out;
}

/* Each character of a normalised line comes from a part of the text that alone becomes it and those beside it that come from
 * there too; sigma, which depends on what is around it, may be another one. */
static void check_origins(xlm_normaliser *normaliser, const char *text, size_t size, const char *expected)
{
    const char *line, *alone;
    size_t line_size, alone_size, next;
    const xlm_origin *given;
    assert_true(xlm_normaliser_run_origins(normaliser, text, size, &line, &line_size, &given, NULL));
    assert_string_equal(line, expected);
    xlm_origin *origins = g_memdup2(given, sizeof *given * line_size);
    uint32_t passed = 0;
    for (size_t i = 0; i < line_size; i = next) {
        i += origins[i].start == origins[i].end; /* a space before a letter */
        const xlm_origin o = origins[i];
        for (next = i + 1; next < line_size && origins[next].start == o.start; next++)
            assert_int_equal(origins[next].end, o.end);
        assert_true(o.start >= passed && o.end > o.start && o.end <= size);
        passed = o.end;
        const size_t at = i + (expected[i] == ' ');
        assert_true(xlm_normaliser_run(normaliser, text + o.start, o.end - o.start, &alone, &alone_size, NULL));
        assert_int_equal(alone_size, next - at);
        if (memcmp(alone, expected + at, alone_size) != 0)
            assert_true(memcmp(alone, "\xCF\x83", 2) == 0 && memcmp(expected + at, "\xCF\x82", 2) == 0);
    }
    g_free(origins);
}

static void check_line(const UChar32 *text, size_t n)
{
    GString *line = g_string_new(NULL);
    for (size_t i = 0; i < n; i++)
        g_string_append_unichar(line, (gunichar)text[i]);
    for (int pass = 0; pass < 2; pass++) {
        xlm_normaliser *normaliser = pass == 0 ? plain : lower;
        GString *expected = define(text, n, pass == 1);
        assert_normal(normaliser, line->str, line->len, expected->str);
        assert_normal(normaliser, expected->str, expected->len, expected->str); /* normal form of itself */
        check_origins(normaliser, line->str, line->len, expected->str);
        g_string_free(expected, TRUE);
    }
    g_string_free(line, TRUE);
}

static void test_every_character(void **state)
{
    (void)state;
    for (UChar32 c = 0; c < 0x110000; c++) {
        if (c >= 0xD800 && c < 0xE000)
            continue;
        if (c >= 0x33500 && c < 0xE0000 && (c & 0xFFFF) < 0xFFF0) /* nothing there yet */
            continue;
        if (c >= 0xF0100 && (c & 0xFF) > 4 && (c & 0xFFFF) < 0xFFF0) /* private use */
            continue;
        const UChar32 text[] = {'A', c, 0x301, 'B', c, c};
        check_line(text, G_N_ELEMENTS(text));
    }
}

static void test_made_lines(void **state)
{
    (void)state;
    static const UChar32 characters[] = {'a', 'A', 'I', 'J', ' ', '\t', 0xA0, 0x3000, 0x301, 0x307, 0x30C, 0x323, 0x3A3, 0x391,
                                         0xC4, 0xE4,
                                         0x130, 0x1100, 0x1161, 0x11A8, 0xAC00, 0x200B, 0x200D, 0xAD, 0xFEFF, 0x4F60, 0x1F600,
                                         0x212B, 0x0344, 0x1D15F, 0x0958, 0xFB2C, 0x10400};
    static const UChar32 ascii[] = {'a', 'z', 'A', 'Z', '@', '[', '`', '{', '~', '!', ' ', 0x1F, 0x7F, 0xC4};
    for (uint32_t test = 0; test < 50000; test++) {
        UChar32 text[24];
        const uint32_t n = 1 + text_draw(test, 0, G_N_ELEMENTS(text));
        const uint32_t first = test % 3 == 0 ? 11 + test % 4 : 0; /* of ascii, which is copied eight bytes at a time */
        for (uint32_t i = 0; i < n; i++)
            text[i] = first > 0 ? ascii[text_draw(test, 1 + i, first)]
                                : characters[text_draw(test, 1 + i, G_N_ELEMENTS(characters))];
        check_line(text, n);
    }
}

static void test_long_line(void **state)
{
    (void)state;
    GString *line = g_string_new(NULL), *expected = g_string_new(NULL);
    for (int i = 0; i < 300000; i++) {
        g_string_append(line, "U\xCC\x88  ");
        g_string_append(expected, i == 0 ? "\xC3\xBC" : " \xC3\xBC");
    }
    assert_normal(lower, line->str, line->len, expected->str);
    g_string_free(line, TRUE);
    g_string_free(expected, TRUE);

    GError *error = NULL;
    const char *normal;
    size_t size;
    assert_false(xlm_normaliser_run(plain, "", (size_t)XLM_LINE_MAX + 1, &normal, &size, &error));
    assert_int_equal(error->code, EX_DATAERR);
    g_error_free(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_white_space), cmocka_unit_test(test_junk),       cmocka_unit_test(test_form_c),
        cmocka_unit_test(test_lower_case),  cmocka_unit_test(test_bad_utf8),   cmocka_unit_test(test_utf8_like_glib),
        cmocka_unit_test(test_every_character), cmocka_unit_test(test_made_lines), cmocka_unit_test(test_long_line),
    };
    return cmocka_run_group_tests(tests, open_normalisers, close_normalisers);
}
