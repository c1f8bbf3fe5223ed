/* xlm-mpi: links from similarities, worked out by hand. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Built twice: similarity_test in double, similarity_float_test as the programs are. */
#include <glib.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <xlm/similarity.h>

#ifdef XLM_DOUBLE
static const double TOLERANCE = 1e-14;
#else
static const double TOLERANCE = 1e-7;
#endif

static const xlm_transport transport = XLM_TRANSPORT_DEFAULTS;
static const xlm_itermax itermax = XLM_ITERMAX_DEFAULTS;

enum { MAX_LINKS = 64 };

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.17g is not %.17g", a, b);
}

/* The links are exactly `expected`, "0-1 1-0 2-2", in this order. */
static void assert_links(int64_t n, int64_t m, const bool *links, int64_t count, const char *expected)
{
    GString *text = g_string_new(NULL);
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            if (links[i * m + j]) {
                g_string_append_printf(text, "%s%d-%d", found > 0 ? " " : "", (int)i, (int)j);
                found++;
            }
    assert_string_equal(text->str, expected);
    assert_int_equal(found, count);
    g_string_free(text, TRUE);
}

static void assert_argmax(int64_t n, int64_t m, const xlm_real *s, bool either, const char *expected)
{
    bool links[MAX_LINKS];
    memset(links, 1, sizeof links);
    const int64_t count = xlm_similarity_argmax(n, m, s, either, links);
    assert_links(n, m, links, count, expected);
}

typedef int64_t search(const xlm_itermax *settings, int64_t n, int64_t m, const xlm_real *s, bool *links);

static void assert_rounds(search *by, double discount, int rounds, int64_t n, int64_t m, const xlm_real *s, const char *expected)
{
    const xlm_itermax settings = {.discount = discount, .rounds = rounds};
    bool links[MAX_LINKS];
    memset(links, 1, sizeof links);
    const int64_t count = by(&settings, n, m, s, links);
    assert_links(n, m, links, count, expected);
}

/* ---- similarities ---- */

static void similarities(void **state)
{
    (void)state;
    const xlm_real source[] = {3, 4, 0, 0}, target[] = {4, 3, -6, -8, 0, 2}; /* 2 x 2, 3 x 2 */
    const double products[] = {24, -50, 8, 0, 0, 0}, cosines[] = {24. / 25, -1, 4. / 5, 0, 0, 0};
    xlm_real s[6];
    xlm_similarity_products(2, 3, 2, source, target, s);
    for (int e = 0; e < 6; e++)
        assert_near((double)s[e], products[e], TOLERANCE);
    xlm_similarity_cosines(2, 3, 2, source, target, s);
    for (int e = 0; e < 6; e++)
        assert_near((double)s[e], (1 + cosines[e]) / 2, TOLERANCE);
}

/* ---- optimal transport ----
 *
 *         4 5 8 3
 *     K = 8 3 4 5      K v0 = row sums = 20, 20, 10; u1 = 1/20, 1/20, 1/10
 *         4 1 4 1
 *
 * Kᵀ u1 = 4/20 + 8/20 + 4/10 = 1, 5/20 + 3/20 + 1/10 = 1/2, 8/20 + 4/20 + 4/10 = 1, 3/20 + 5/20 + 1/10 = 1/2; v1 = 1, 2, 1, 2
 * K v1 = 4 + 10 + 8 + 6 = 28, 8 + 6 + 4 + 10 = 28, 4 + 2 + 4 + 2 = 12; u2 = 1/28, 1/28, 1/12
 * Kᵀ u2 = 12/28 + 4/12 = 16/21, 8/28 + 1/12 = 31/84, 16/21, 31/84; v2 = 21/16, 84/31, 21/16, 84/31
 *
 * A*_ij = u_i K_ij v_j, 4/28 · 21/16 = 3/16 and so on: */
static const xlm_real K[] = {4, 5, 8, 3, 8, 3, 4, 5, 4, 1, 4, 1};
static const double A[] = {3. / 16, 15. / 31, 6. / 16, 9. / 31, 6. / 16, 9. / 31,
                           3. / 16, 15. / 31, 7. / 16, 7. / 31, 7. / 16, 7. / 31};

static void transport_of_3_by_4(void **state)
{
    (void)state;
    xlm_real s[12], root[12];
    memcpy(s, K, sizeof s);
    xlm_similarity_transport(&transport, 3, 4, s);
    for (int e = 0; e < 12; e++)
        assert_near((double)s[e], A[e], TOLERANCE);

    /* One iteration: 4 · 1/20 · 1 and so on. */
    const double once[] = {.2, .5, .4, .3, .4, .3, .2, .5, .4, .2, .4, .2};
    memcpy(s, K, sizeof s);
    xlm_similarity_transport(&(xlm_transport){.epsilon = 1e-6, .regularisation = 1, .iterations = 1}, 3, 4, s);
    for (int e = 0; e < 12; e++)
        assert_near((double)s[e], once[e], TOLERANCE);

    /* μ = ½ squares the similarities. */
    for (int e = 0; e < 12; e++)
        root[e] = (xlm_real)sqrt((double)K[e]);
    xlm_similarity_transport(&(xlm_transport){.epsilon = 1e-6, .regularisation = .5, .iterations = 2}, 3, 4, root);
    for (int e = 0; e < 12; e++)
        assert_near((double)root[e], A[e], 4 * TOLERANCE);
}

/* Powers that a double cannot hold, 768^200 and 1e-30^12.5: with the first, what is not largest in its row is 0 beside it; with the
 * second, A* depends on no factor of a row, so that a row of ε alone is one of equal numbers. */
static void powers_beyond_double(void **state)
{
    (void)state;
    xlm_real large[] = {768, 700, 690, 750}, tiny[] = {2, 1, -1, 0}, alike[] = {2, 1, 1, 1};
    xlm_similarity_transport(&(xlm_transport){.epsilon = 1e-6, .regularisation = .005, .iterations = 2}, 2, 2, large);
    const double expected[] = {1, 0, 0, 1};
    for (int e = 0; e < 4; e++)
        assert_near((double)large[e], expected[e], 1e-6);
    const xlm_transport small = {.epsilon = 1e-30, .regularisation = .08, .iterations = 2};
    xlm_similarity_transport(&small, 2, 2, tiny);
    xlm_similarity_transport(&small, 2, 2, alike);
    for (int e = 0; e < 4; e++)
        assert_near((double)tiny[e], (double)alike[e], TOLERANCE);
    assert_near((double)tiny[0] + (double)tiny[2], 1, TOLERANCE);
}

/* What is not a number does not become ε. */
static void not_a_number(void **state)
{
    (void)state;
    for (int plain = 0; plain < 2; plain++) {
        xlm_real s[] = {1, (xlm_real)NAN, 2, 1};
        xlm_similarity_transport(&(xlm_transport){.epsilon = .25, .regularisation = plain ? 1 : .5, .iterations = 2}, 2, 2, s);
        assert_true(isnan(s[1]));
    }
}

/* Products of 0 and less are ε. With K = [1 ε; ε 1] rows and columns add up to the same, so A* = K / (1 + ε). */
static void min_similarity(void **state)
{
    (void)state;
    xlm_real s[] = {1, -3, 0, 1};
    xlm_similarity_transport(&(xlm_transport){.epsilon = .25, .regularisation = 1, .iterations = 2}, 2, 2, s);
    const double expected[] = {.8, .2, .2, .8};
    for (int e = 0; e < 4; e++)
        assert_near((double)s[e], expected[e], TOLERANCE);
}

/* Largest of the rows of A*: 15/31, 15/31, 7/16 (twice, the first is taken): columns 1, 3, 0; of the columns 7/16, 15/31, 7/16,
 * 15/31: rows 2, 0, 2, 1. So the first round links 0-1, 1-3, 2-0. All rows are linked, so the second round sees 0 for those and
 * 0.9 of the others:
 *
 *     0.16875  0        0.3375   0.2613
 *     0.3375   0.2613   0.16875  0
 *     0        0.2032   0.39375  0.2032
 *
 * with the largest of rows in columns 2, 0, 2, and of columns in rows 1, 1, 2, 0: 1-0 and 2-2 come to the links. By SimAlign's
 * rule there is no second round where all rows are linked. In K itself row 0 would choose column 2. */
static void filter_of_3_by_4(void **state)
{
    (void)state;
    xlm_real a[12];
    memcpy(a, K, sizeof a);
    xlm_similarity_transport(&transport, 3, 4, a);
    assert_rounds(xlm_similarity_filter, .9, 1, 3, 4, a, "0-1 1-3 2-0");
    assert_rounds(xlm_similarity_filter, .9, 2, 3, 4, a, "0-1 1-0 1-3 2-0 2-2");
    assert_rounds(xlm_similarity_itermax, .9, 2, 3, 4, a, "0-1 1-3 2-0");
    assert_argmax(3, 4, a, false, "0-1 1-3 2-0");
    assert_argmax(3, 4, a, true, "0-1 1-3 2-0 2-2"); /* column 2 chooses row 2 */
    assert_argmax(3, 4, K, false, "0-2 1-0");
}

/* ---- Itermax ----
 *
 *     .90  .20  .85  .10      largest of rows: columns 0, 1, 2; of columns: rows 0, 1, 0, 2
 *     .30  .80  .40  .20      first round: 0-0, 1-1
 *     .25  .30  .80  .45
 *
 * Then row 2 and columns 2 and 3 have no link yet. With α = 0.9 the second round sees
 *
 *     0    0    .765 .09                                          0    .18  .765 .09
 *     0    0    .36  .18      and by XLM-Align's rule, in which    .27  0    .36  .18      of linked tokens only the links
 *     .225 .27  .80  .45                                          .225 .27  .80  .45      themselves are 0
 *
 * and 2-2 is the largest both ways. With α = 1 it is 0-2, .85. */
static void itermax_of_3_by_4(void **state)
{
    (void)state;
    const xlm_real s[] = {.90f, .20f, .85f, .10f, .30f, .80f, .40f, .20f, .25f, .30f, .80f, .45f};
    assert_argmax(3, 4, s, false, "0-0 1-1");
    assert_argmax(3, 4, s, true, "0-0 0-2 1-1 2-2 2-3");
    search *const both[] = {xlm_similarity_itermax, xlm_similarity_filter};
    for (int k = 0; k < 2; k++) {
        assert_rounds(both[k], .9, 1, 3, 4, s, "0-0 1-1");
        assert_rounds(both[k], .9, 2, 3, 4, s, "0-0 1-1 2-2");
        assert_rounds(both[k], 1, 2, 3, 4, s, "0-0 0-2 1-1");
    }
    /* A third round: all rows have a link, so SimAlign's ends. XLM-Align's goes on with what has been discounted once more,
     * 0 .162 .6885 .081 / .243 0 .324 .162 / .2025 .243 0 .405: rows choose 2, 2, 3, columns 1, 2, 0, 2. */
    assert_rounds(xlm_similarity_itermax, .9, 3, 3, 4, s, "0-0 1-1 2-2");
    assert_rounds(xlm_similarity_filter, .9, 3, 3, 4, s, "0-0 0-2 1-1 2-2 2-3");
}

/*     .95  .90  .10  .10      largest of rows: columns 0, 1, 3, 2; of columns: rows 0, 1, 0, 2
 *     .20  .96  .10  .10      first round: 0-0, 1-1, 2-3
 *     .10  .10  .10  .12
 *     .01  .02  .03  .02
 *
 * Tokens 0 and 1 of both sides are linked, but 0 and 1 not to one another. SimAlign counts the similarities of such as 0, XLM-Align
 * here as .81 and .18:
 *
 *     0    0    .09  0        rows choose 2, 2, 2, 2              0    .81  .09  .09      rows choose 1, 0, 0, 2
 *     0    0    .09  0        columns 3, 3, 0, 3: 0-2             .18  0    .09  .09      columns 1, 0, 0, 0: 0-1, 1-0
 *     0    0    .09  0                                            .09  .09  .09  0
 *     .009 .018 .03  .018                                         .009 .018 .03  .018                                          */
static void linked_to_others(void **state)
{
    (void)state;
    const xlm_real s[] = {.95f, .90f, .10f, .10f, .20f, .96f, .10f, .10f, .10f, .10f, .10f, .12f, .01f, .02f, .03f, .02f};
    assert_rounds(xlm_similarity_itermax, .9, 1, 4, 4, s, "0-0 1-1 2-3");
    assert_rounds(xlm_similarity_itermax, .9, 2, 4, 4, s, "0-0 0-2 1-1 2-3");
    assert_rounds(xlm_similarity_filter, .9, 2, 4, 4, s, "0-0 0-1 1-0 1-1 2-3");
}

/* ---- edges ---- */

static void edges(void **state)
{
    (void)state;
    search *const both[] = {xlm_similarity_itermax, xlm_similarity_filter};
    const xlm_real zero[] = {0, 0, 0, 0, 0, 0, 0, 0, 0}, row[] = {.2f, .7f, .7f, .1f}, none[1] = {0};
    assert_argmax(1, 1, zero, false, "0-0");
    assert_argmax(1, 4, row, false, "0-1"); /* the first of two */
    assert_argmax(4, 1, row, false, "1-0");
    assert_argmax(1, 4, row, true, "0-0 0-1 0-2 0-3");
    assert_argmax(3, 3, zero, false, "0-0");
    assert_argmax(3, 3, zero, true, "0-0 0-1 0-2 1-0 2-0");
    for (int k = 0; k < 2; k++) {
        assert_rounds(both[k], .9, 2, 1, 1, zero, "0-0");
        assert_rounds(both[k], .9, 2, 0, 3, none, "");
        assert_rounds(both[k], .9, 2, 3, 0, none, "");
        assert_rounds(both[k], .9, 2, 0, 0, none, "");
    }
    /* A side of at most two tokens: SimAlign has one round. XLM-Align's second finds .63 in the row beside the link. */
    assert_rounds(xlm_similarity_itermax, .9, 2, 1, 4, row, "0-1");
    assert_rounds(xlm_similarity_filter, .9, 2, 1, 4, row, "0-1 0-2");
    /* All equal: the linked row and column lose in the second round. */
    xlm_real equal[9];
    for (int e = 0; e < 9; e++)
        equal[e] = .5f;
    assert_rounds(xlm_similarity_itermax, .9, 2, 3, 3, equal, "0-0 1-1");
    assert_rounds(xlm_similarity_filter, .9, 2, 3, 3, equal, "0-0 1-1");

    xlm_real one[] = {-2};
    xlm_similarity_transport(&transport, 1, 1, one);
    assert_near((double)one[0], 1, TOLERANCE);
    xlm_similarity_transport(&transport, 0, 3, one);
    xlm_similarity_products(0, 3, 5, one, one, one);
    xlm_similarity_cosines(3, 0, 5, (const xlm_real[15]){0}, one, one);
    xlm_similarity_transport(&transport, 3, 3, equal);
    for (int e = 0; e < 9; e++)
        assert_near((double)equal[e], 1. / 3, TOLERANCE);
    assert_int_equal(itermax.rounds, 2);
    assert_near(itermax.discount, .9, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(similarities),
        cmocka_unit_test(transport_of_3_by_4),
        cmocka_unit_test(powers_beyond_double),
        cmocka_unit_test(min_similarity),
        cmocka_unit_test(not_a_number),
        cmocka_unit_test(filter_of_3_by_4),
        cmocka_unit_test(itermax_of_3_by_4),
        cmocka_unit_test(linked_to_others),
        cmocka_unit_test(edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
