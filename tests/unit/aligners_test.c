/* xlm-mpi: parts of the statistical word aligners: beside enumeration of all paths, by hand, beside the definition.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <glib.h>
#include <glib/gstdio.h>

#include "aligners/align_words.h"
#include "aligners/fertility_pair.h"
#include "aligners/hmm.h"
#include "aligners/link_numbers.h"
#include "aligners/spelling.h"
#include "base/rng.h"

extern const xlm_aligner xlm_aligner_diagonal;

static double draw(uint32_t which, int i)
{
    return xlm_rng_unit(xlm_rng_draw((xlm_rng_key){{7, 1}}, (uint32_t)i, which, 0, 0).v[0]);
}

static void assert_near(double a, double b) { if (!(fabs(a - b) < 1e-4)) fail_msg("%g, not %g", a, b); }

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

/* ---- pairs of words ---- */

/* Source a b a | (none) | c b, target X Y | (none) | Y: the second pair is not aligned. */
static const xlm_comm alone = {.rank = 0, .ranks = 1};
static xlm_bitext by_hand = {
    .comm = &alone, .pairs = 3, .total = 3,
    .side = {{(int64_t[]){0, 3, 3, 5}, (int32_t[]){0, 1, 0, 2, 1}, 3, (char *[]){"a", "b", "c", NULL}},
             {(int64_t[]){0, 2, 2, 3}, (int32_t[]){0, 1, 1}, 2, (char *[]){"X", "Y", NULL}}},
};

static void test_word_pairs(void **state)
{
    (void)state;
    char *directory = g_dir_make_tmp("aligners-XXXXXX", NULL);
    for (int k = 0; k < 2; k++) { /* in memory; in a file, cell by cell */
        xlm_word_pairs p;
        assert_true(xlm_word_pairs_make(&p, &by_hand, k == 0 ? 1 << 20 : 4, directory, NULL));
        assert_int_equal(p.cells.in_file, k);
        assert_int_equal(p.n, 5); /* a-X a-Y, b-X b-Y, c-Y */
        const int64_t rows[] = {0, 2, 4, 5}, offsets[] = {0, 6, 6, 8};
        assert_memory_equal(p.rows, rows, sizeof rows);
        assert_memory_equal(p.offsets, offsets, sizeof offsets);
        for (int s = 0; s < 3; s++) {
            const int n = xlm_bitext_length(&by_hand.side[0], s), m = xlm_bitext_length(&by_hand.side[1], s);
            for (int cell = 0; cell < n * m; cell++) {
                const int32_t e = by_hand.side[0].words[by_hand.side[0].offsets[s] + cell % n];
                const int32_t f = by_hand.side[1].words[by_hand.side[1].offsets[s] + cell / n];
                const uint32_t number = xlm_word_pairs_cells(&p, s)[cell];
                assert_true(number >= p.rows[e] && number < p.rows[e + 1] && p.targets[number] == f);
            }
        }
        xlm_word_pairs_free(&p);
    }
    xlm_word_pairs p;
    GError *error = NULL;
    assert_false(xlm_word_pairs_make(&p, &by_hand, 4, "/nonexistent", &error));
    assert_int_equal(error->code, EX_CANTCREAT);
    g_clear_error(&error);
    xlm_word_pairs_free(&p);
    assert_int_equal(g_rmdir(directory), 0); /* nothing was left */
    g_free(directory);
}

/* ---- diagonal ---- */

/* A training of the text by hand. */
struct diagonal {
    xlm_word_pairs pairs;
    xlm_alignment_run run;
    xlm_decoded decoded;
    void *workspace;
};

static int64_t rows_of(const struct diagonal *d, xlm_table_of of)
{
    return of == XLM_TABLE_PAIRS ? d->pairs.n : of == XLM_TABLE_WHOLE ? 1 : by_hand.side[of == XLM_TABLE_TARGET].types;
}

static void open_diagonal(struct diagonal *d)
{
    *d = (struct diagonal){.workspace = g_malloc(xlm_aligner_diagonal.workspace(3, 3))};
    assert_true(xlm_word_pairs_make(&d->pairs, &by_hand, 1 << 20, NULL, NULL));
    d->run = (xlm_alignment_run){.bitext = &by_hand, .pairs = &d->pairs, .words = {3, 2}, .iterations = 2};
    d->run.first = g_new(bool, d->pairs.n);
    for (int64_t k = 0; k < d->pairs.n; k++)
        d->run.first[k] = true;
    for (int t = 0; xlm_aligner_diagonal.tables[t].name != NULL; t++)
        d->run.counts[t] = g_new0(int64_t, rows_of(d, xlm_aligner_diagonal.tables[t].of) * xlm_aligner_diagonal.tables[t].width);
    d->decoded = (xlm_decoded){g_new(int32_t, 6), g_new(int32_t, 6), g_new(float, 6), g_new(float, 6)};
    xlm_aligner_diagonal.open(&d->run);
}

static void close_diagonal(struct diagonal *d)
{
    xlm_aligner_diagonal.close(&d->run);
    for (int t = 0; t < XLM_ALIGNER_TABLES; t++)
        g_free(d->run.counts[t]);
    void *const all[] = {d->run.first, d->decoded.forward, d->decoded.reverse, d->decoded.forward_posterior,
                         d->decoded.reverse_posterior, d->workspace};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        g_free(all[i]);
    xlm_word_pairs_free(&d->pairs);
}

static void iterate(struct diagonal *d)
{
    xlm_aligner_diagonal.begin(&d->run);
    for (int t = 0; xlm_aligner_diagonal.tables[t].name != NULL; t++)
        memset(d->run.counts[t], 0, sizeof(int64_t) * (size_t)(rows_of(d, xlm_aligner_diagonal.tables[t].of) *
                                                               xlm_aligner_diagonal.tables[t].width));
    for (int s = 0; s < 3; s += 2)
        xlm_aligner_diagonal.expect(&d->run, s, d->workspace);
    xlm_aligner_diagonal.end(&d->run);
    d->run.informed = true;
    d->run.iteration++;
}

/* By hand, of the second pair that is aligned, c b - Y: n = 2, m = 1, so i / n is 1/2, 1 and j / m is 1, and with λ = 4 weights
 * are e^-2 = 0.135335 and 1, Z = 1.135335. All words are equally probable at first, so
 *     p(c) = 0.92 * 0.135335 / 1.135335 = 0.109667,   p(b) = 0.92 / 1.135335 = 0.810333,   p(empty) = 0.08
 * The first, a b a - X Y: for X, j / m = 1/2, distances are 1/6, 1/6, 1/2, weights 0.513417, 0.513417, 0.135335 of 1.162169:
 *     p = 0.406433, 0.406433, 0.107134;
 * for Y, distances 2/3, 1/3, 0, weights 0.069483, 0.263597, 1 of 1.333080: p = 0.047952, 0.181917, 0.690131. */
static void test_diagonal_by_hand(void **state)
{
    (void)state;
    struct diagonal d;
    open_diagonal(&d);
    xlm_aligner_diagonal.begin(&d.run);
    static const double first[] = {0.406433, 0.406433, 0.107134, 0.047952, 0.181917, 0.690131}, last[] = {0.109667, 0.810333};
    xlm_aligner_diagonal.decode(&d.run, 0, d.workspace, &d.decoded);
    for (int i = 0; i < 6; i++)
        assert_near((double)d.decoded.forward_posterior[i], first[i]);
    assert_int_equal(d.decoded.forward[1], 2);
    xlm_aligner_diagonal.decode(&d.run, 2, d.workspace, &d.decoded);
    for (int i = 0; i < 2; i++)
        assert_near((double)d.decoded.forward_posterior[i], last[i]);
    assert_int_equal(d.decoded.forward[0], 1);
    /* The other way round n = 1: all but p0 goes to the one word. */
    assert_near((double)d.decoded.reverse_posterior[0], 0.92);
    assert_near((double)d.decoded.reverse_posterior[1], 0.92);

    /* Counts, of the pairs of words and of the words: a has the links of both its places. */
    iterate(&d);
    enum { FORWARD_LINKS = 0, SOURCE_LINKS = 2, EMPTY_TARGET = 4, SOURCE_PARTNERS = 6, WHOLE = 8 };
    static const double links[3][2] = {{0.406433 + 0.107134, 0.047952 + 0.690131}, {0.406433, 0.181917 + 0.810333},
                                       {0, 0.109667}};
    static const double partners[] = {2, 2, 1};
    for (int e = 0; e < 3; e++) {
        double all = 0;
        for (int64_t k = d.pairs.rows[e]; k < d.pairs.rows[e + 1]; k++) {
            assert_near((double)d.run.counts[FORWARD_LINKS][k] / XLM_COUNT_UNIT, links[e][d.pairs.targets[k]]);
            all += links[e][d.pairs.targets[k]];
        }
        assert_near((double)d.run.counts[SOURCE_LINKS][e] / XLM_COUNT_UNIT, all);
        assert_near((double)d.run.counts[SOURCE_PARTNERS][e] / XLM_COUNT_UNIT, partners[e]);
    }
    assert_near((double)d.run.counts[EMPTY_TARGET][0] / XLM_COUNT_UNIT, 0.08);
    assert_near((double)d.run.counts[EMPTY_TARGET][1] / XLM_COUNT_UNIT, 0.16);
    assert_near((double)d.run.counts[WHOLE][0] / XLM_COUNT_UNIT, 0.24);
    assert_near((double)d.run.counts[WHOLE][4] / XLM_COUNT_UNIT, 3 - 0.24);
    close_diagonal(&d);
}

/* ψ by its recurrence and its asymptotic series. */
static double psi(double x)
{
    double sum = 0;
    for (; x < 10; x++)
        sum -= 1 / x;
    return sum + log(x) - 1 / (2 * x) - 1 / (12 * x * x) + 1 / (120 * pow(x, 4));
}

/* The second iteration, from counts of the first: c b - Y by the formulas of diagonal.c. */
static void test_diagonal_translations(void **state)
{
    (void)state;
    struct diagonal d;
    open_diagonal(&d);
    iterate(&d);
    xlm_aligner_diagonal.begin(&d.run);
    xlm_aligner_diagonal.decode(&d.run, 2, d.workspace, &d.decoded);
    const double of_c = 1; /* c meets no other word */
    const double of_b = exp(psi(0.99225 + 0.01) - psi(0.406433 + 0.99225 + 0.02));
    const double by_empty = exp(psi(0.16 + 0.01) - psi(0.24 + 0.02));
    const double p[] = {0.92 * 0.135335 / 1.135335 * of_c, 0.92 / 1.135335 * of_b, 0.08 * by_empty}, all = p[0] + p[1] + p[2];
    assert_near((double)d.decoded.forward_posterior[0], p[0] / all);
    assert_near((double)d.decoded.forward_posterior[1], p[1] / all);
    close_diagonal(&d);
}

/* Mean over the words j of sentences of these lengths of the distance |i / n - j / m| that the model expects. */
static double expected_distance(double tension, const int lengths[2][2])
{
    double sum = 0;
    int words = 0;
    for (int s = 0; s < 2; s++)
        for (int j = 1, n = lengths[s][0], m = lengths[s][1]; j <= m; j++, words++) {
            double weights = 0, of_word = 0;
            for (int i = 1; i <= n; i++) {
                const double d = fabs((double)i / n - (double)j / m), weight = exp(-tension * d);
                weights += weight;
                of_word += weight * d;
            }
            sum += of_word / weights;
        }
    return sum / words;
}

/* From the second iteration on the tension takes eight steps along the gradient, and stays within its bounds. */
static void test_diagonal_tension(void **state)
{
    (void)state;
    enum { WHOLE = 8, DISTANCE = 2, LINKED = 4, TENSION = 6 };
    static const int lengths[2][2][2] = {{{3, 2}, {2, 1}}, {{2, 3}, {1, 2}}};
    static const double of_links[2][2] = {{0.1, 0.16}, {0.9, 0}}, bounds[2] = {0.1, 14};
    for (int given = 0; given < 2; given++) {
        struct diagonal d;
        open_diagonal(&d);
        for (int k = 0; k < 2; k++) {
            iterate(&d);
            for (int side = 0; side < 2; side++)
                assert_near((double)d.run.counts[WHOLE][TENSION + side] / XLM_COUNT_UNIT, 4);
        }
        for (int side = 0; side < 2; side++)
            d.run.counts[WHOLE][DISTANCE + side] = llrint(of_links[given][side] * (double)d.run.counts[WHOLE][LINKED + side]);
        iterate(&d);
        for (int side = 0; side < 2; side++) {
            double tension = 4;
            for (int step = 0; step < 8; step++)
                tension += 20 * (expected_distance(tension, lengths[side]) - of_links[given][side]);
            /* Weights are float, and 20 times what they are wrong by is added in each step. */
            const double reached = (double)d.run.counts[WHOLE][TENSION + side] / XLM_COUNT_UNIT;
            assert_true(fabs(reached - (given == 0 ? tension : bounds[side])) < 1e-3);
        }
        close_diagonal(&d);
    }
}

/* ---- mistakes of an aligner ---- */

static void decode_too_far(const xlm_alignment_run *run, int64_t sentence, void *workspace, xlm_decoded *decoded)
{
    xlm_aligner_diagonal.decode(run, sentence, workspace, decoded);
    decoded->forward[0] = xlm_bitext_length(&run->bitext->side[0], sentence);
}

static void decode_negative(const xlm_alignment_run *run, int64_t sentence, void *workspace, xlm_decoded *decoded)
{
    xlm_aligner_diagonal.decode(run, sentence, workspace, decoded);
    decoded->reverse[1] = -3;
}

/* One direction is forgotten: after the first pair it has the numbers of the pair before. */
static void decode_half(const xlm_alignment_run *run, int64_t sentence, void *workspace, xlm_decoded *decoded)
{
    int32_t elsewhere[3];
    xlm_decoded half = *decoded;
    if (sentence > 0)
        half.reverse = elsewhere;
    xlm_aligner_diagonal.decode(run, sentence, workspace, &half);
}

/* In a child: align two pairs of three and two words; what it says goes to the file `said`. */
static void align(const xlm_aligner *aligner, const char *directory, const char *said)
{
    int argc = 1;
    char *arguments[] = {(char[]){"aligners_test"}, NULL}, **argv = arguments;
    signal(SIGTRAP, SIG_DFL);
    signal(SIGABRT, SIG_DFL);
    setrlimit(RLIMIT_CORE, &(const struct rlimit){0});
    if (freopen(said, "w", stderr) == NULL)
        _exit(99);
    xlm_comm comm;
    GError *error = NULL;
    xlm_comm_open(&comm, "aligners_test", &argc, &argv);
    g_autofree char *text = g_build_filename(directory, "text", NULL), *links = g_build_filename(directory, "links", NULL);
    const xlm_align_options options = {
        .source = {.files = {text}}, .aligner = aligner, .iterations = 1, .symmetrisation = XLM_GROW_DIAG_FINAL_AND,
        .text = {.words = XLM_WORDS_SPACE, .longest = 100}, .links = links, .memory = 1 << 20, .scratch = directory,
        .command = "test"};
    xlm_align_words(&comm, &options, &error);
    _exit(xlm_comm_close(&comm, error));
}

static void check_mistake(const xlm_aligner *aligner, const char *directory, const char *message)
{
    g_autofree char *said = g_build_filename(directory, "said", NULL), *text = NULL;
    const pid_t child = fork();
    if (child == 0)
        align(aligner, directory, said);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(g_file_get_contents(said, &text, NULL, NULL));
    const bool good = message == NULL ? WIFEXITED(status) && WEXITSTATUS(status) == 0
                                      : WIFSIGNALED(status) && strstr(text, message) != NULL;
    if (!good)
        fail_msg("status %d, not %s: %s", status, message, text);
    g_unlink(said);
}

static void test_mistakes(void **state)
{
    (void)state;
    static const char decoded[] = "aligner diagonal: decode must set";
    char *directory = g_dir_make_tmp("aligners-XXXXXX", NULL);
    g_autofree char *text = g_build_filename(directory, "text", NULL), *links = g_build_filename(directory, "links", NULL);
    assert_true(g_file_set_contents(text, "a b c ||| x y\nb c a ||| y x\n", -1, NULL));
    check_mistake(&xlm_aligner_diagonal, directory, NULL);
    xlm_aligner wrong = xlm_aligner_diagonal;
    wrong.decode = decode_too_far;
    check_mistake(&wrong, directory, decoded);
    wrong.decode = decode_negative;
    check_mistake(&wrong, directory, decoded);
    wrong.decode = decode_half;
    check_mistake(&wrong, directory, decoded);
    wrong = xlm_aligner_diagonal;
    xlm_table tables[XLM_ALIGNER_TABLES + 2];
    for (int t = 0; t <= XLM_ALIGNER_TABLES; t++)
        tables[t] = wrong.tables[0];
    tables[XLM_ALIGNER_TABLES + 1].name = NULL;
    wrong.tables = tables;
    check_mistake(&wrong, directory, "aligner diagonal: it has more than 10 tables");
    g_unlink(text);
    g_unlink(links);
    assert_int_equal(g_rmdir(directory), 0);
    g_free(directory);
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

/* ---- large arrays ---- */

static void test_large_array(void **state)
{
    (void)state;
    char *directory = g_dir_make_tmp("aligners-XXXXXX", NULL);
    const size_t n = (3 << 20) + 5;
    for (int k = 0; k < 2; k++) {
        xlm_large_array a;
        assert_true(xlm_large_array_make(&a, n, k == 0 ? NULL : directory, NULL));
        assert_int_equal(a.in_file, k);
        assert_int_equal(a.size, n);
        uint8_t *bytes = a.data;
        for (size_t i = 0; i < n; i++)
            assert_true(bytes[i] == 0);
        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)(i * 31 % 251);
        xlm_large_array_release(&a, 0, n);
        xlm_large_array_release(&a, 5000, 1 << 20);
        xlm_large_array_release(&a, n, 0);
        for (size_t i = 0; i < n; i++)
            assert_true(bytes[i] == (uint8_t)(i * 31 % 251));
        xlm_large_array_free(&a);
        assert_null(a.data);
    }
    xlm_large_array a;
    assert_true(xlm_large_array_make(&a, 0, directory, NULL));
    assert_null(a.data);
    xlm_large_array_release(&a, 0, 0);
    xlm_large_array_free(&a);
    GError *error = NULL;
    assert_false(xlm_large_array_make(&a, 100, "/nonexistent", &error));
    assert_int_equal(error->code, EX_CANTCREAT);
    assert_non_null(strstr(error->message, "/nonexistent"));
    assert_null(a.data);
    g_clear_error(&error);
    assert_int_equal(g_rmdir(directory), 0);
    g_free(directory);
}

static void test_most_probable(void **state)
{
    (void)state;
    static const float p[] = {0.1f, 0.4f, 0.4f};
    assert_int_equal(xlm_most_probable(p, 3, 0.1f), 1);
    assert_int_equal(xlm_most_probable(p, 3, 0.4f), -1);
    assert_int_equal(xlm_most_probable(p, 0, 0), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mistakes), /* first: its children start threads, which they can as long as there are none here */
        cmocka_unit_test(test_hmm_beside_all_paths), cmocka_unit_test(test_hmm_long),
        cmocka_unit_test(test_link_numbers),         cmocka_unit_test(test_spelling),
        cmocka_unit_test(test_word_pairs),           cmocka_unit_test(test_diagonal_by_hand),
        cmocka_unit_test(test_diagonal_translations), cmocka_unit_test(test_diagonal_tension),
        cmocka_unit_test(test_fertility_by_definition),
        cmocka_unit_test(test_large_array),          cmocka_unit_test(test_most_probable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
