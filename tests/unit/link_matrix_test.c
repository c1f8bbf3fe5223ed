/* xlm-mpi: links drawn for a person: columns of wide letters and of marks. SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "aligners/link_matrix.h"
#include "base/terminal.h"

static void test_columns(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int columns;
    } expected[] = {{"", 0}, {"abc", 3}, {"ü", 1}, {"u\xcc\x88", 1}, {"日本@@", 6},
                    {"한", 2}, {"क्या", 3}, {"дом", 3}};
    for (size_t i = 0; i < G_N_ELEMENTS(expected); i++)
        assert_int_equal(xlm_terminal_columns(expected[i].text, strlen(expected[i].text)), expected[i].columns);
    assert_int_equal(xlm_terminal_columns("日本", 3), 2);
    assert_int_equal(xlm_terminal_columns("\xe6\x97", 2), 2); /* cut short: not UTF-8 */
}

/* u with a diaeresis as a mark; a subword that begins with a mark, which gets a circle; a control character. */
static const char *const source[] = {"日本@@", "u\xcc\x88x", "\xcc\x81x\x1b"}, *const target[] = {"本@@", "zu\xcc\x88", "a"};
static const xlm_link links[] = {{0, 0, false}, {0, 2, false}, {2, 1, false}};
static const float scores[] = {0.25f, 0.5f, 1};

static xlm_link_picture picture(const float *with)
{
    return (xlm_link_picture){source, target, 3, 3, links, with, 3};
}

static void test_matrix(void **state)
{
    (void)state;
    const xlm_link_picture plain = picture(NULL), scored = picture(scores), none = {.source = source};
    GString *out = g_string_new("");
    assert_false(xlm_link_matrix_append(out, &plain, 14));
    assert_string_equal(out->str, "");
    assert_true(xlm_link_matrix_append(out, &plain, 15));
    assert_string_equal(out->str, "          本\n"
                                  "          @ z\n"
                                  "          @ u\xcc\x88 a\n"
                                  "          0\n"
                                  "0 日本@@  ■ · ■\n"
                                  "1 u\xcc\x88x      · · ·\n"
                                  "2 \xe2\x97\x8c\xcc\x81x\xef\xbf\xbd     · ■ ·\n");
    g_string_truncate(out, 0);
    assert_true(xlm_link_matrix_append(out, &scored, 15));
    assert_non_null(strstr(out->str, "0 日本@@  □ · ■\n"));
    g_string_truncate(out, 0);
    assert_true(xlm_link_matrix_append(out, &none, 80));
    g_string_free(out, TRUE);
}

/* More letters than are shown, and more columns than a label has; a ruler. */
static void test_long(void **state)
{
    (void)state;
    char wide[3 * 30 + 1] = "";
    for (int i = 0; i < 30; i++)
        strcat(wide, "語");
    const char *words[12];
    for (int i = 0; i < 12; i++)
        words[i] = i == 10 ? "abcdefghijklmnopqrstuvwxyz" : "b";
    const char *rows[11] = {wide};
    for (int i = 1; i < 11; i++)
        rows[i] = "r";
    const xlm_link_picture p = {.source = rows, .target = words, .sources = 11, .targets = 12};
    GString *out = g_string_new("");
    assert_true(xlm_link_matrix_append(out, &p, 200));
    char **lines = g_strsplit(out->str, "\n", -1);
    assert_int_equal(g_strv_length(lines), 16 + 1 + 11 + 1);
    assert_string_equal(lines[0] + 29 + 20, "a");
    assert_string_equal(lines[14] + 29 + 20, "o");
    assert_string_equal(lines[15] + 29, "b b b b b b b b b b … b");
    assert_string_equal(lines[16] + 29, "0         5         10");
    assert_true(g_str_has_prefix(lines[17], " 0 語語語語語語語語語語語…   ·"));
    assert_true(g_str_has_prefix(lines[27], "10 r                         ·"));
    g_strfreev(lines);
    g_string_free(out, TRUE);
}

static void test_list(void **state)
{
    (void)state;
    const xlm_link_picture plain = picture(NULL), scored = picture(scores);
    xlm_link_picture fewer = plain;
    fewer.n = 1;
    GString *out = g_string_new("");
    xlm_link_list_append(out, &scored);
    assert_string_equal(out->str, "0 日本@@ - 0 本@@ (0.25), 2 a (0.50)\n1 u\xcc\x88x\n"
                                  "2 \xe2\x97\x8c\xcc\x81x\xef\xbf\xbd - 1 zu\xcc\x88 (1.00)\n");
    g_string_truncate(out, 0);
    xlm_link_list_append(out, &fewer);
    assert_string_equal(out->str, "0 日本@@ - 0 本@@\n1 u\xcc\x88x\n2 \xe2\x97\x8c\xcc\x81x\xef\xbf\xbd\n"
                                  "without a link: 1 zu\xcc\x88, 2 a\n");
    g_string_free(out, TRUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_columns), cmocka_unit_test(test_matrix), cmocka_unit_test(test_long),
                                       cmocka_unit_test(test_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
