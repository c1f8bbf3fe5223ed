/* xlm-mpi: translations found among sentences, by hand and on several ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "check.h"

#include "base/rng.h"
#include "retrieval/mined_pairs.h"

static bool is(const GArray *pairs, guint at, int64_t source, int64_t target, double score)
{
    const xlm_mined_pair *p = &g_array_index(pairs, xlm_mined_pair, at);
    return at < pairs->len && p->source == source && p->target == target && fabs(p->score - score) < 1e-6;
}

/* cos(x0, y) = 1, 0.6, 0; cos(x1, y) = 0, 0.8, 0; vectors of any length, and one of zeros. */
static void margins_are_ratios(const xlm_comm *comm)
{
    static const float x[] = {2, 0, 0, 3}, y[] = {5, 0, 3, 4, 0, 0};
    xlm_mining m = {.width = 2, .n = {2, 3}, .vectors = {x, y}, .neighbours = 2, .margin = true};
    GArray *pairs = xlm_mine_pairs(comm, &m);
    CHECK(pairs->len == 2 && is(pairs, 0, 0, 0, 1 / 0.65) && is(pairs, 1, 1, 1, 0.8 / 0.55));
    g_array_unref(pairs);
    m.neighbours = 1; /* all means are the cosines themselves */
    pairs = xlm_mine_pairs(comm, &m);
    CHECK(pairs->len == 2 && is(pairs, 0, 0, 0, 1) && is(pairs, 1, 1, 1, 1));
    g_array_unref(pairs);
    m.margin = false;
    m.neighbours = 50; /* more than there are */
    pairs = xlm_mine_pairs(comm, &m);
    CHECK(pairs->len == 2 && is(pairs, 0, 0, 0, 1) && is(pairs, 1, 1, 1, 0.8));
    g_array_unref(pairs);
}

/* y0 is near to both sources: by cosine x1 wants it too, by margin it does not. One candidate a sentence shows it. */
static void a_sentence_is_in_one_pair(const xlm_comm *comm)
{
    static const float x[] = {1, 0, 0.8f, 0.6f}, y[] = {1, 0, 0, 1};
    xlm_mining m = {.width = 2, .n = {2, 2}, .vectors = {x, y}, .neighbours = 2, .margin = true};
    GArray *pairs = xlm_mine_pairs(comm, &m);
    CHECK(pairs->len == 2 && is(pairs, 0, 0, 0, 1 / 0.7) && is(pairs, 1, 1, 1, 0.6 / 0.5));
    g_array_unref(pairs);
    m.margin = false;
    pairs = xlm_mine_pairs(comm, &m);
    CHECK(pairs->len == 2 && is(pairs, 0, 0, 0, 1) && is(pairs, 1, 1, 1, 0.6)); /* y1 wants x1 */
    g_array_unref(pairs);
    m.n[1] = 1;
    pairs = xlm_mine_pairs(comm, &m);
    CHECK(pairs->len == 1 && is(pairs, 0, 0, 0, 1));
    g_array_unref(pairs);
}

/* More than a rank's block: every sentence finds its copy. */
static void copies_find_one_another(const xlm_comm *comm)
{
    enum { N = 1100, WIDTH = 24 };
    float *x = g_new(float, N * WIDTH), *y = g_new(float, N * WIDTH);
    for (int64_t i = 0; i < N; i++)
        for (int64_t c = 0; c < WIDTH; c++) {
            const xlm_rng_block b = xlm_rng_draw((xlm_rng_key){{4, 2}}, (uint32_t)i, (uint32_t)c, 0, 0);
            x[i * WIDTH + c] = (float)(xlm_rng_unit(b.v[0]) - 0.5);
            y[(i * 7 + 3) % N * WIDTH + c] = 2 * x[i * WIDTH + c];
        }
    const xlm_mining m = {.width = WIDTH, .n = {N, N}, .vectors = {x, y}, .neighbours = 4, .margin = true};
    GArray *pairs = xlm_mine_pairs(comm, &m);
    CHECK(pairs->len == N);
    for (guint i = 0; i < pairs->len; i++) {
        const xlm_mined_pair *p = &g_array_index(pairs, xlm_mined_pair, i);
        CHECK(p->target == (p->source * 7 + 3) % N && p->score > 1);
    }
    g_array_unref(pairs);
    g_free(x);
    g_free(y);
}

static GArray *scored(int n, const double *scores)
{
    GArray *pairs = g_array_new(FALSE, FALSE, sizeof(xlm_mined_pair));
    for (int i = 0; i < n; i++) {
        const xlm_mined_pair pair = {i, i, scores[i]};
        g_array_append_val(pairs, pair);
    }
    return pairs;
}

static void the_threshold_is_where_f1_is_highest(const xlm_comm *comm)
{
    static const double plain[] = {0.9, 0.8, 0.7, 0.6}, tied[] = {0.9, 0.7, 0.7, 0.6};
    static const bool gold[] = {true, false, true, false}, first[] = {true, false, false, true}, none[4] = {false};
    GArray *pairs = scored(4, plain);
    /* F1 1/2, 2/5, 2/3, 4/7 of three gold pairs, one of which is not found. */
    xlm_mining_score s = xlm_mining_best_score(pairs, gold, 3);
    CHECK(fabs(s.threshold - 0.65) < 1e-12 && s.mined == 3 && s.right == 2 && s.gold == 3);
    CHECK(fabs(s.precision - 2.0 / 3) < 1e-12 && fabs(s.recall - 2.0 / 3) < 1e-12 && fabs(s.f1 - 2.0 / 3) < 1e-12);
    s = xlm_mining_score_at(pairs, gold, 3, 0.8);
    CHECK(s.mined == 2 && s.right == 1 && s.precision == 0.5 && fabs(s.recall - 1.0 / 3) < 1e-12 && s.f1 == 0.4);
    s = xlm_mining_score_at(pairs, gold, 3, 1);
    CHECK(s.mined == 0 && s.precision == 0 && s.f1 == 0);
    s = xlm_mining_best_score(pairs, none, 3);
    CHECK(s.mined == 0 && s.f1 == 0 && s.threshold > 0.9);
    s = xlm_mining_best_score(pairs, first, 2); /* 2/3, 1/2, 2/5, 2/3: the first of the two */
    CHECK(s.mined == 1 && fabs(s.threshold - 0.85) < 1e-12);
    g_array_unref(pairs);
    pairs = scored(4, tied); /* 2/3, then both of 0.7 or none: 2/5 or, with gold, 4/5 */
    s = xlm_mining_best_score(pairs, gold, 2);
    CHECK(s.mined == 3 && s.right == 2 && fabs(s.f1 - 0.8) < 1e-12);
    CHECK(xlm_mining_score_at(pairs, gold, 2, s.threshold).mined == 3);
    g_array_unref(pairs);
}

int main(int argc, char **argv)
{
    xlm_comm world, *comm = &world;
    xlm_comm_open(comm, "mining_test", &argc, &argv);
    margins_are_ratios(comm);
    a_sentence_is_in_one_pair(comm);
    copies_find_one_another(comm);
    the_threshold_is_where_f1_is_highest(comm);
    int64_t all = failures;
    xlm_comm_sum_int64(comm, &all, 1);
    const int code = xlm_comm_close(comm, NULL);
    return all == 0 ? code : EXIT_FAILURE;
}
