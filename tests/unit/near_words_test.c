/* xlm-mpi: nearest words by cosine and by CSLS against plain loops in double precision. SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gstdio.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/rng.h"
#include "retrieval/near_words.h"

enum { N = 3000, WIDTH = 6, MAX_NEAREST = 300, ASKED = 5 };

static const xlm_comm alone = {.ranks = 1};
static double x[2][N][WIDTH]; /* of length 1 */

/* Words of a side gather around a few hubs, the more so the later they come, so the neighbours of the first words say little
 * about those of all words. */
static void make_vectors(void)
{
    for (uint32_t s = 0; s < 2; s++)
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int c = 0; c < WIDTH; c++) {
                double two[2];
                const xlm_rng_block b = xlm_rng_draw((xlm_rng_key){{8, s}}, (uint32_t)i, (uint32_t)c, 0, 0);
                xlm_rng_normal(b.v[0], b.v[1], two);
                x[s][i][c] = two[0] + (i > N / 2 && c == i % 3 ? 3 : 0);
                sum += x[s][i][c] * x[s][i][c];
            }
            for (int c = 0; c < WIDTH; c++)
                x[s][i][c] /= sqrt(sum);
        }
}

static char *write_vectors(int s)
{
    char *path = NULL;
    const int fd = g_file_open_tmp("near-words-XXXXXX", &path, NULL);
    FILE *file = fdopen(fd, "w");
    assert_non_null(file);
    for (int i = 0; i < N; i++) {
        fprintf(file, "%c%d", "ab"[s], i);
        for (int c = 0; c < WIDTH; c++)
            fprintf(file, " %.9g", (i % 7 + 1) * x[s][i][c]); /* lengths do not matter */
        fputc('\n', file);
    }
    assert_int_equal(fclose(file), 0);
    return path;
}

static double cosine(int s, int i, int t, int j)
{
    double sum = 0;
    for (int c = 0; c < WIDTH; c++)
        sum += x[s][i][c] * x[t][j][c];
    return sum;
}

/* The mean cosine of a word with its n nearest of a side, but for itself. */
static double mean_nearest(int s, int i, int t, int n)
{
    double largest[MAX_NEAREST], sum = 0;
    for (int k = 0; k < n; k++)
        largest[k] = -2;
    for (int j = 0; j < N; j++) {
        double value = s == t && i == j ? -2 : cosine(s, i, t, j);
        for (int k = 0; k < n && value > largest[n - 1]; k++)
            if (value > largest[k]) {
                const double swap = largest[k];
                largest[k] = value;
                value = swap;
            }
    }
    for (int k = 0; k < n; k++)
        sum += largest[k] / n;
    return sum;
}

/* `count` neighbours on side t of words of side 0, with CSLS by the n nearest. */
static void check(xlm_word_space *const spaces[2], int t, int count, int n)
{
    static double hubness[N];
    xlm_word_set words, candidates;
    xlm_word_set_open(&words, spaces[0], -1);
    xlm_word_set_open(&candidates, spaces[t], -1);
    for (int i = 0; i < ASKED; i++)
        xlm_word_set_add_row(&words, 17 + 600 * i);
    for (int j = 0; j < N; j++) {
        xlm_word_set_add_row(&candidates, j);
        hubness[j] = mean_nearest(t, j, 0, n);
    }
    const xlm_near_words_input input = {.words = &words, .candidates = &candidates, .count = count, .neighbours = n};
    xlm_near_words found = xlm_near_words_find(&alone, &input);
    for (int i = 0; i < ASKED; i++)
        for (int by = 0; by < 2; by++)
            for (int k = 0; k < count; k++) {
                const int word = 17 + 600 * i, got = found.nearest[by][i * count + k];
                const double own = by == 1 ? mean_nearest(0, word, t, n) : 0;
                double score[2] = {0, 0};
                int better = 0;
                assert_in_range(got, 0, N - 1);
                assert_true(t == 1 || got != word);
                score[0] = by == 1 ? 2 * cosine(0, word, t, got) - hubness[got] - own : cosine(0, word, t, got);
                assert_true(fabs(score[0] - (double)found.score[by][i * count + k]) < 2e-6);
                for (int j = 0; j < N; j++) {
                    score[1] = by == 1 ? 2 * cosine(0, word, t, j) - hubness[j] - own : cosine(0, word, t, j);
                    better += (t == 1 || j != word) && score[1] > score[0] + 4e-6;
                }
                assert_true(better <= k);
            }
    xlm_near_words_free(&found);
    xlm_word_set_close(&words);
    xlm_word_set_close(&candidates);
}

static void test_near_words(void **state)
{
    (void)state;
    xlm_word_space *spaces[2];
    make_vectors();
    for (int s = 0; s < 2; s++) {
        char *path = write_vectors(s);
        spaces[s] = xlm_word_space_open(path, 0, NULL);
        assert_non_null(spaces[s]);
        g_unlink(path);
        g_free(path);
    }
    for (int t = 0; t < 2; t++) {
        check(spaces, t, 4, 10);
        check(spaces, t, 70, MAX_NEAREST);
    }
    for (int s = 0; s < 2; s++)
        xlm_word_space_free(spaces[s]);
}

/* By hand, in the plane of x and y, by the 2 nearest: the word is at 0 degrees, 40 candidates at 40, one at -50. r of the 40 is 1
 * by two sources at 40 degrees, so 2 cos 40 - 1 = 0.532 is less than 2 cos 50 - cos 50 / 2 = 0.964 of the one; but among the
 * sources that bounds are made of, all at right angles to the plane, r is 0, and the 40 come first. r of the word is cos 40. */
static void test_bound(void **state)
{
    (void)state;
    const double degree = acos(-1) / 180;
    xlm_word_space *spaces[2];
    for (int s = 0; s < 2; s++) {
        char *path = NULL;
        FILE *file = fdopen(g_file_open_tmp("near-words-XXXXXX", &path, NULL), "w");
        assert_non_null(file);
        for (int i = 0; i < 1024 && s == 0; i++)
            fprintf(file, "far%d 0 0 1\n", i);
        for (int i = 0; i < (s == 0 ? 2 : 40); i++)
            fprintf(file, "near%d %.9f %.9f 0\n", i, cos(40 * degree), sin(40 * degree));
        fprintf(file, "asked %.9f %.9f 0\n", s == 0 ? 1 : cos(50 * degree), s == 0 ? 0 : -sin(50 * degree));
        assert_int_equal(fclose(file), 0);
        spaces[s] = xlm_word_space_open(path, 0, NULL);
        assert_non_null(spaces[s]);
        g_unlink(path);
        g_free(path);
    }
    xlm_word_set words, candidates;
    xlm_word_set_open(&words, spaces[0], -1);
    xlm_word_set_open(&candidates, spaces[1], -1);
    xlm_word_set_add_row(&words, 1026);
    for (int j = 0; j < 41; j++)
        xlm_word_set_add_row(&candidates, j);
    const xlm_near_words_input input = {.words = &words, .candidates = &candidates, .count = 1, .neighbours = 2};
    xlm_near_words found = xlm_near_words_find(&alone, &input);
    assert_int_equal(found.nearest[0][0], 0);
    assert_int_equal(found.nearest[1][0], 40);
    assert_true(fabs((double)found.score[1][0] - (1.5 * cos(50 * degree) - cos(40 * degree))) < 2e-6);
    xlm_near_words_free(&found);
    xlm_word_set_close(&words);
    xlm_word_set_close(&candidates);
    for (int s = 0; s < 2; s++)
        xlm_word_space_free(spaces[s]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bound), cmocka_unit_test(test_near_words)};
    return cmocka_run_group_tests_name("nearest words", tests, NULL, NULL);
}
