/* xlm-mpi: parts of the aligner with fertility: beside enumeration of all paths and of all sets of links, beside the definition.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "aligner_fixture.h"
#include "aligners/fertility_pair.h"
#include "aligners/hmm.h"
#include "aligners/link_numbers.h"
#include "aligners/spelling.h"
#include "base/rng.h"

static double draw(uint32_t which, int i)
{
    return xlm_rng_unit(xlm_rng_draw((xlm_rng_key){{7, 1}}, (uint32_t)i, which, 0, 0).v[0]);
}

/* ---- hidden Markov model ---- */

struct sums {
    double all, *posterior, *empty, *jumps;
};

static double jump_of(const xlm_hmm *hmm, int d)
{
    return (double)hmm->jump[XLM_HMM_FARTHEST + CLAMP(d, -XLM_HMM_FARTHEST, XLM_HMM_FARTHEST)];
}

/* p(k | i) of hmm.h. */
static double step(const xlm_hmm *hmm, int n, int i, int k)
{
    double window = 0;
    for (int l = 0; l < n; l++)
        window += jump_of(hmm, l - i);
    return (1 - (double)hmm->p0) * jump_of(hmm, k - i) / window;
}

/* A path is a list of states: position k, or n + k for the empty word that keeps position k. */
static void add_path(const xlm_hmm *hmm, int n, int m, const float *emission, const float *by_empty, const int *path,
                     struct sums *s)
{
    double p = 1;
    for (int j = 0; j < m; j++) {
        const int k = path[j] % n, before = j > 0 ? path[j - 1] % n : -1;
        if (path[j] < n)
            p *= step(hmm, n, before, k) * (double)emission[j * n + k];
        else if (j == 0)
            p *= (double)hmm->p0 / n * (double)by_empty[j];
        else
            p *= k == before ? (double)hmm->p0 * (double)by_empty[j] : 0;
    }
    s->all += p;
    for (int j = 0; j < m; j++) {
        if (path[j] >= n) {
            s->empty[j] += p;
            continue;
        }
        s->posterior[j * n + path[j]] += p;
        s->jumps[n + path[j] - (j > 0 ? path[j - 1] % n : -1)] += p;
    }
}

static void check_hmm(int n, int m, float p0)
{
    xlm_hmm hmm = {.p0 = p0};
    for (int d = 0; d < XLM_HMM_JUMPS; d++)
        hmm.jump[d] = (float)(0.1 + draw(0, d));
    float *emission = g_new(float, n * m), *by_empty = g_new(float, m), *posterior = g_new(float, n * m);
    float *empty = g_new(float, m), *jumps = g_new(float, 2 * n + 1), *workspace = g_new(float, xlm_hmm_workspace(n, m));
    for (int i = 0; i < n * m; i++)
        emission[i] = (float)(0.01 + pow(draw(1, i), 3));
    for (int j = 0; j < m; j++)
        by_empty[j] = (float)(0.01 + draw(2, j));
    xlm_hmm_posterior(&hmm, n, m, emission, by_empty, posterior, empty, jumps, workspace);

    struct sums s = {0, g_new0(double, n * m), g_new0(double, m), g_new0(double, 2 * n + 1)};
    int *path = g_new0(int, m);
    for (int j = 0; j < m;) {
        add_path(&hmm, n, m, emission, by_empty, path, &s);
        for (j = 0; j < m && ++path[j] == 2 * n; j++)
            path[j] = 0;
    }
    for (int i = 0; i < n * m; i++)
        assert_true(fabs((double)posterior[i] - s.posterior[i] / s.all) < 1e-4);
    for (int j = 0; j < m; j++)
        assert_true(fabs((double)empty[j] - s.empty[j] / s.all) < 1e-4);
    for (int d = 0; d <= 2 * n; d++)
        assert_true(fabs((double)jumps[d] - s.jumps[d] / s.all) < 1e-4);
    /* Without jumps the same. */
    float *again = g_new(float, n * m);
    xlm_hmm_posterior(&hmm, n, m, emission, by_empty, again, empty, NULL, workspace);
    assert_memory_equal(again, posterior, sizeof *again * (size_t)(n * m));
    void *const all[] = {emission, by_empty, posterior, empty, jumps, workspace, s.posterior, s.empty, s.jumps, path, again};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        g_free(all[i]);
}

static void test_hmm_beside_all_paths(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {1, 4}, {5, 1}, {2, 2}, {3, 4}, {4, 5}, {6, 3}};
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
        for (int k = 0; k < 3; k++)
            check_hmm(sizes[i][0], sizes[i][1], (float[]){0.1f, 0.5f, 0.9f}[k]);
}

/* Sentences longer than the jumps that are distinguished, sharp and flat, one side with one word. */
static void test_hmm_long(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1500, 40}, {513, 3}, {40, 1500}, {1, 1500}, {1500, 1}};
    for (size_t k = 0; k < 2 * G_N_ELEMENTS(sizes); k++) {
        const int n = sizes[k / 2][0], m = sizes[k / 2][1];
        xlm_hmm hmm = {.p0 = 0.1f};
        for (int d = 0; d < XLM_HMM_JUMPS; d++)
            hmm.jump[d] = k % 2 == 0 ? 1 : d == XLM_HMM_FARTHEST + 1 ? 1e9f : 0.5f;
        float *emission = g_new(float, n * m), *by_empty = g_new(float, m), *posterior = g_new(float, n * m);
        float *empty = g_new(float, m), *jumps = g_new(float, 2 * n + 1), *workspace = g_new(float, xlm_hmm_workspace(n, m));
        for (int i = 0; i < n * m; i++)
            emission[i] = (float)pow(10, -12 * draw(3, i));
        for (int j = 0; j < m; j++)
            by_empty[j] = 1e-9f;
        xlm_hmm_posterior(&hmm, n, m, emission, by_empty, posterior, empty, jumps, workspace);
        double links = 0, all_jumps = 0;
        for (int j = 0; j < m; j++) {
            double sum = (double)empty[j];
            for (int i = 0; i < n; i++) {
                assert_true(posterior[j * n + i] >= 0);
                sum += (double)posterior[j * n + i];
            }
            assert_true(fabs(sum - 1) < 1e-4);
            links += sum - (double)empty[j];
        }
        for (int d = 0; d <= 2 * n; d++)
            all_jumps += (double)jumps[d];
        assert_true(fabs(all_jumps - links) < 1e-2 * links);
        void *const all[] = {emission, by_empty, posterior, empty, jumps, workspace};
        for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
            g_free(all[i]);
    }
}

/* ---- numbers of links ---- */

/* Beside all sets of links, for a word with no link, few and more than are distinguished; one link is negligible. */
static void test_link_numbers(void **state)
{
    (void)state;
    static const float probability[] = {0.9f, 0.3f, 5e-5f, 0.6f, 1, 0.05f, 0.7f, 0.8f};
    static const float ratio[XLM_LINK_NUMBERS] = {2.5f, 0.4f, 1.25f, 0.125f, 0.7f, 1e-10f};
    enum { LINKS = G_N_ELEMENTS(probability), NEGLIGIBLE = 2 };
    for (int n = 0; n <= LINKS; n++) {
        double numbers[XLM_LINK_NUMBERS] = {0}, all = 0, others[LINKS] = {0};
        for (int set = 0; set < 1 << n; set++) {
            double p = 1;
            int size = 0;
            for (int i = 0; i < n; i++) {
                const double link = i == NEGLIGIBLE ? 0 : (double)probability[i];
                p *= set >> i & 1 ? link : 1 - link;
                size += set >> i & 1;
            }
            numbers[MIN(size, XLM_LINK_NUMBERS - 1)] += p;
            all += p * (double)ratio[MIN(size, XLM_LINK_NUMBERS - 1)];
            /* The sets of the others: whether link i is there makes no difference. */
            for (int i = 0; i < n; i++)
                others[i] += p * (double)ratio[MIN(size - (set >> i & 1), XLM_LINK_NUMBERS - 1)];
        }
        float found[XLM_LINK_NUMBERS], found_others[LINKS], workspace[(LINKS + 1) * XLM_LINK_NUMBERS];
        xlm_link_numbers(n, probability, found);
        for (int k = 0; k < XLM_LINK_NUMBERS; k++)
            assert_near((double)found[k], numbers[k]);
        assert_near((double)xlm_link_expected_ratios(n, probability, ratio, found_others, workspace), all);
        for (int i = 0; i < n; i++)
            assert_near((double)found_others[i], others[i]);
    }
}

/* ---- spelling ---- */

static void test_spelling(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        double similarity;
    } cases[] = {
        {"a", "a", 1}, {",", ".", 0}, {"der", "des", 0}, {"und", "und", 1},
        {"haus", "maus", 0.75}, {"haus", "house", 0.6},       /* o before u, e after s */
        {"kitten", "sitting", 1 - 3.0 / 7}, {"saturday", "sunday", 1 - 3.0 / 8},
        {"gar\xc3\xa7on", "garcon", 1 - 1.0 / 6},            /* one character, two bytes */
        {"\xd0\xbc\xd0\xb8\xd1\x80\xd0\xb0", "\xd0\xbc\xd0\xb8\xd1\x80\xd1\x83", 0.75},
        {"abcd", "abxy", 0.5}, {"abcd", "axyz", 0}, {"abcd", "abcdefgh", 0.5}, {"abcd", "abcdefghi", 0}, {"abc", "abcd", 0},
        {"1234567890123456789012345678901234567890123456789012345678901234",
         "1234567890123456789012345678901234567890123456789012345678901235", 1 - 1.0 / 64},
        {"12345678901234567890123456789012345678901234567890123456789012345",
         "12345678901234567890123456789012345678901234567890123456789012346", 0},
        {"12345678901234567890123456789012345678901234567890123456789012345",
         "12345678901234567890123456789012345678901234567890123456789012345", 1},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        xlm_spelling a = xlm_spelling_of(cases[i].a), b = xlm_spelling_of(cases[i].b);
        assert_true(fabs(xlm_spelling_similarity(&a, &b) - cases[i].similarity) < 1e-9);
        assert_true(fabs(xlm_spelling_similarity(&b, &a) - cases[i].similarity) < 1e-9);
        g_free(a.characters);
        g_free(b.characters);
    }
}

/* ---- fertility ---- */

/* A run over the text by hand with counts of a model, so large that what a place has added itself does not matter. */
struct fertility {
    xlm_word_pairs pairs;
    xlm_alignment_run run;
    uint16_t own[8 + 3 + 5]; /* cells, target words, source words */
    void *workspace;
};

static void open_fertility(struct fertility *f)
{
    *f = (struct fertility){.workspace = g_malloc(xlm_fertility_workspace(3, 2))};
    assert_true(xlm_word_pairs_make(&f->pairs, &by_hand, 1 << 20, NULL, NULL));
    f->run = (xlm_alignment_run){.bitext = &by_hand, .pairs = &f->pairs, .words = {3, 2}, .informed = true,
                                 .started_informed = true, .iterations = 3, .own = f->own};
    for (int t = 0; xlm_fertility_tables[t].name != NULL; t++) {
        const xlm_table *table = &xlm_fertility_tables[t];
        const int64_t rows = table->of == XLM_TABLE_PAIRS ? f->pairs.n : table->of == XLM_TABLE_WHOLE ? 1 : 3;
        f->run.counts[t] = g_new(int64_t, rows * table->width);
        for (int64_t i = 0; i < rows * table->width; i++)
            f->run.counts[t][i] = (int64_t)((0.1 + draw(10 + (uint32_t)t, (int)i)) * 1e6 * XLM_COUNT_UNIT);
    }
    xlm_fertility_model_open(&f->run);
    xlm_fertility_model_begin(&f->run);
}

static void close_fertility(struct fertility *f)
{
    xlm_fertility_model_close(&f->run);
    for (int t = 0; t < XLM_ALIGNER_TABLES; t++)
        g_free(f->run.counts[t]);
    g_free(f->workspace);
    xlm_word_pairs_free(&f->pairs);
}

/* The posteriors of the first sentence pair, a b a - X Y, in direction d by the definition: emissions c(e, f) / c(e), times the
 * expectation of P(k + 1) / P(k), by the probabilities q [target x source] of links. weighted false: without fertility. */
static void expected_posterior(const struct fertility *f, int d, const double *q, bool weighted, float *posterior, float *empty)
{
    const int size[] = {3, 2}, n = size[d], m = size[1 - d];
    const int32_t *words[] = {by_hand.side[0].words, by_hand.side[1].words};
    const xlm_fertility_model *model = f->run.state;
    int64_t *const *counts = f->run.counts;
    float emission[6], by_empty[3], *workspace = g_new(float, xlm_hmm_workspace(n, m));
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < n; i++) {
            const int64_t pair = xlm_word_pairs_cells(&f->pairs, 0)[d == 0 ? j * n + i : i * m + j];
            double ratio = 0;
            for (int set = 0; set < 1 << m; set++) { /* of the other words that i may be linked to */
                double p = (set >> j & 1) == 0;
                int size_of_set = 0;
                for (int l = 0; l < m; l++) {
                    const double link = q[d == 0 ? l * n + i : i * m + l];
                    p *= l == j ? 1 : set >> l & 1 ? link : 1 - link;
                    size_of_set += set >> l & 1;
                }
                const int64_t *numbers = counts[XLM_FERTILITY_OF_SOURCE + d] + words[d][i] * XLM_LINK_NUMBERS + size_of_set;
                ratio += p * (double)numbers[1] / (double)numbers[0];
            }
            emission[j * n + i] = (float)((double)counts[XLM_FERTILITY_LINKS][pair] /
                                          (double)counts[XLM_FERTILITY_SOURCE_LINKS + d][words[d][i]] * (weighted ? ratio : 1));
        }
        by_empty[j] = (float)((double)counts[XLM_FERTILITY_EMPTY_TARGET + d][words[1 - d][j]] /
                              (double)counts[XLM_FERTILITY_EMPTY_ALL][d]);
    }
    xlm_hmm_posterior(&model->hmm[d], n, m, emission, by_empty, posterior, empty, NULL, workspace);
    g_free(workspace);
}

/* p q, from the posteriors of both directions. */
static void combine(float posterior[2][6], double q[6])
{
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 3; i++)
            q[j * 3 + i] = (double)posterior[0][j * 3 + i] * (double)posterior[1][i * 2 + j];
}

/* With a model and no iteration before, links are weighted by the agreed posteriors without fertility; else by those of the
 * iteration before. */
static void test_fertility_by_definition(void **state)
{
    (void)state;
    struct fertility f;
    open_fertility(&f);
    double q[6] = {0};
    float posterior[2][6], empty[2][3];
    for (int d = 0; d < 2; d++)
        expected_posterior(&f, d, q, false, posterior[d], empty[d]);
    combine(posterior, q);
    for (f.run.iteration = 0; f.run.iteration < 2; f.run.iteration++) {
        static const double links[] = {0.9, 0.05, 0.3, 0, 0.5, 0.7};
        for (int k = 0; k < 6 && f.run.iteration == 1; k++)
            f.own[k] = (uint16_t)((q[k] = links[k]) * XLM_COUNT_UNIT);
        xlm_fertility_pair pair = xlm_fertility_pair_of(&f.run, 0, f.workspace);
        xlm_fertility_find_posteriors(&f.run, &pair, false);
        for (int d = 0; d < 2; d++) {
            const int n = pair.size[d], m = pair.size[1 - d];
            expected_posterior(&f, d, q, true, posterior[d], empty[d]);
            for (int k = 0; k < n * m; k++)
                assert_near((double)pair.posterior[d][k], (double)posterior[d][k]);
            for (int j = 0; j < m; j++)
                assert_near((double)pair.empty[d][j], (double)empty[d][j]);
        }
        xlm_fertility_agree(&f.run, &pair);
        double agreed[6];
        combine(posterior, agreed);
        for (int k = 0; k < 6; k++)
            assert_near((double)f.own[k] / XLM_COUNT_UNIT, agreed[k]);
    }
    close_fertility(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hmm_beside_all_paths), cmocka_unit_test(test_hmm_long),
        cmocka_unit_test(test_link_numbers),         cmocka_unit_test(test_spelling),
        cmocka_unit_test(test_fertility_by_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
