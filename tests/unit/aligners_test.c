/* xlm-mpi: parts of the statistical word aligners, and the diagonal one by hand.
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

#include "aligner_fixture.h"
#include "aligners/align_words.h"

extern const xlm_aligner xlm_aligner_diagonal;

/* ---- pairs of words ---- */

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
        cmocka_unit_test(test_word_pairs),            cmocka_unit_test(test_diagonal_by_hand),
        cmocka_unit_test(test_diagonal_translations), cmocka_unit_test(test_diagonal_tension),
        cmocka_unit_test(test_large_array),           cmocka_unit_test(test_most_probable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
