/* xlm-mpi: links of two directions made one, by hand and beside the definition. SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "aligners/link_file.h"
#include "aligners/symmetrise.h"

/* The links as a line, without its LF. */
static void check(const char *name, const int32_t *forward, int64_t m, const int32_t *reverse, int64_t n, const char *expected)
{
    xlm_symmetrisation how;
    assert_true(xlm_symmetrisation_find(name, &how));
    assert_string_equal(xlm_symmetrisation_name(how), name);
    xlm_link *links = g_new(xlm_link, m + n + 1);
    GString *line = g_string_new("");
    xlm_link_file_append(line, links, xlm_symmetrise(how, forward, m, reverse, n, links));
    assert_int_equal(line->str[line->len - 1], '\n');
    g_string_truncate(line, line->len - 1);
    assert_string_equal(line->str, expected);
    g_string_free(line, TRUE);
    g_free(links);
}

/*      0 1 2 3 4 5    b: both directions, f: forward alone, r: reverse alone. 1-2 is next to 1-1, and its target has no
 *   0  b . . . . .    link; then 2-3 is next to 1-2. 3-0 and 4-5 are next to nothing. One word of 3-0 has no link, both words
 *   1  . b f . . .    of 4-5 have none. */
static void test_by_hand(void **state)
{
    (void)state;
    static const int32_t forward[] = {0, 1, 1, -1, -1, 4}, reverse[] = {0, 1, 3, 0, -1};
    static const char *const expected[][2] = {
        {"forward", "0-0 1-1 1-2 4-5"},
        {"reverse", "0-0 1-1 2-3 3-0"},
        {"intersection", "0-0 1-1"},
        {"union", "0-0 1-1 1-2 2-3 3-0 4-5"},
        {"grow-diag", "0-0 1-1 1-2 2-3"},
        {"grow-diag-final", "0-0 1-1 1-2 2-3 3-0 4-5"},
        {"grow-diag-final-and", "0-0 1-1 1-2 2-3 4-5"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(expected); i++) {
        check(expected[i][0], forward, 6, reverse, 5, expected[i][1]);
        assert_non_null(strstr(xlm_symmetrisation_names(), expected[i][0]));
    }
    xlm_symmetrisation how;
    assert_false(xlm_symmetrisation_find("grow", &how));
}

/* 0-0 and 0-1 are next to 1-1. 0-0, the first in order, takes both words of 0-1; in the opposite order both would be taken. */
static void test_order(void **state)
{
    (void)state;
    static const int32_t forward[] = {0, 1}, reverse[] = {1, 1};
    check("grow-diag", forward, 2, reverse, 2, "0-0 1-1");
    check("union", forward, 2, reverse, 2, "0-0 0-1 1-1");
}

/* A place that was passed before the link next to it was taken waits for the next round. */
static void test_rounds(void **state)
{
    (void)state;
    static const int32_t forward[] = {0, 1, 2, 3}, reverse[] = {-1, -1, -1, 3}, none[] = {-1, -1, -1, -1};
    check("grow-diag", forward, 4, reverse, 4, "0-0 1-1 2-2 3-3");
    check("grow-diag", forward, 4, none, 4, "");
    check("grow-diag-final-and", forward, 4, none, 4, "0-0 1-1 2-2 3-3");
    check("union", none, 4, forward, 4, "0-0 1-1 2-2 3-3");
    check("union", none, 0, none, 4, "");
    check("grow-diag-final", none, 4, none, 0, "");
}

/* ---- the definition, on a matrix ---- */

enum { MAX_WORDS = 24 };

struct matrix {
    bool at[MAX_WORDS + 2][MAX_WORDS + 2]; /* from 1, with a border */
};

static bool linked(const struct matrix *a, int i, int j, bool *row, bool *column)
{
    *row = *column = false;
    for (int k = 1; k <= MAX_WORDS; k++) {
        *row |= a->at[i][k];
        *column |= a->at[k][j];
    }
    return *row && *column;
}

static bool beside(const struct matrix *a, int i, int j)
{
    for (int y = i - 1; y <= i + 1; y++)
        for (int x = j - 1; x <= j + 1; x++)
            if (a->at[y][x])
                return true;
    return false;
}

static void symmetrise_plainly(xlm_symmetrisation how, const struct matrix direction[2], struct matrix *a)
{
    bool row, column, more = how >= XLM_GROW_DIAG;
    for (int i = 1; i <= MAX_WORDS; i++)
        for (int j = 1; j <= MAX_WORDS; j++)
            a->at[i][j] = direction[0].at[i][j] && direction[1].at[i][j];
    while (more) {
        more = false;
        for (int i = 1; i <= MAX_WORDS; i++)
            for (int j = 1; j <= MAX_WORDS; j++)
                if ((direction[0].at[i][j] || direction[1].at[i][j]) && !a->at[i][j] && beside(a, i, j) &&
                    !linked(a, i, j, &row, &column))
                    more = a->at[i][j] = true;
    }
    for (int d = 0; d < 2 && how >= XLM_GROW_DIAG_FINAL; d++)
        for (int i = 1; i <= MAX_WORDS; i++)
            for (int j = 1; j <= MAX_WORDS; j++)
                if (direction[d].at[i][j] && !linked(a, i, j, &row, &column) &&
                    (how == XLM_GROW_DIAG_FINAL || (!row && !column)))
                    a->at[i][j] = true;
}

static uint32_t draw(uint32_t *seed, uint32_t n)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % n;
}

/* Links near a diagonal, so that the directions meet, or none. */
static void draw_direction(uint32_t *seed, int32_t *to, int words, int others)
{
    for (int w = 0; w < words; w++) {
        const int near = w + (int)draw(seed, 4) - 2;
        to[w] = draw(seed, 5) == 0 ? -1 : near >= 0 && near < others ? near : (int)draw(seed, (uint32_t)others);
    }
}

static void test_beside_definition(void **state)
{
    (void)state;
    uint32_t seed = 7;
    for (int trial = 0; trial < 3000; trial++) {
        const int n = 1 + (int)draw(&seed, MAX_WORDS), m = 1 + (int)draw(&seed, MAX_WORDS);
        int32_t forward[MAX_WORDS], reverse[MAX_WORDS];
        draw_direction(&seed, forward, m, n);
        draw_direction(&seed, reverse, n, m);
        struct matrix direction[2] = {0}, expected = {0};
        for (int j = 0; j < m; j++)
            if (forward[j] >= 0)
                direction[0].at[forward[j] + 1][j + 1] = true;
        for (int i = 0; i < n; i++)
            if (reverse[i] >= 0)
                direction[1].at[i + 1][reverse[i] + 1] = true;
        for (xlm_symmetrisation how = XLM_GROW_DIAG; (int)how < XLM_SYMMETRISATIONS; how++) {
            xlm_link links[2 * MAX_WORDS];
            const int64_t found = xlm_symmetrise(how, forward, m, reverse, n, links);
            symmetrise_plainly(how, direction, &expected);
            int64_t at = 0;
            for (int i = 1; i <= MAX_WORDS; i++)
                for (int j = 1; j <= MAX_WORDS; j++)
                    if (expected.at[i][j]) {
                        assert_true(at < found && links[at].source == i - 1 && links[at].target == j - 1);
                        assert_false(links[at].possible);
                        at++;
                    }
            assert_int_equal(at, found);
        }
    }
}

static void test_lines(void **state)
{
    (void)state;
    static const xlm_link links[] = {{0, 16777215, false}, {10, 9, false}};
    static const float scores[] = {0.5f, 0.123456f, 1e-9f};
    GString *lines = g_string_new("");
    xlm_link_file_append(lines, links, 2);
    xlm_link_file_append(lines, links, 0);
    xlm_link_file_append_scores(lines, scores, 3);
    xlm_link_file_append_scores(lines, scores, 0);
    assert_string_equal(lines->str, "0-16777215 10-9\n\n0.5 0.1235 1e-09\n\n");
    g_string_free(lines, TRUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_hand), cmocka_unit_test(test_order),
                                       cmocka_unit_test(test_rounds), cmocka_unit_test(test_beside_definition),
                                       cmocka_unit_test(test_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
