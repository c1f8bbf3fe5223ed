/* xlm-mpi: ranks of translations against plain loops in double precision; run on 1, 2, 3 and 4 ranks.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "check.h"

#include <math.h>

#include "base/rng.h"
#include "analysis/alignment.h"

static float number(uint32_t which, int64_t i)
{
    return (float)(xlm_rng_unit(xlm_rng_draw((xlm_rng_key){{3, 1}}, (uint32_t)i, which, 0, 0).v[0]) - 0.5);
}

/* n tokens, token i with 1 + i mod 3 translations near it, among candidates of other lengths. With `selves`, two of three tokens
 * are a candidate themselves (with a vector of their direction), and of these each fourth is its own translation. */
struct words {
    xlm_alignment a;
    float *source, *candidate;
    int64_t *first, *rank;
    int32_t *translations, *self;
};

/* Token i as the last but i-th candidate. */
static void add_self(struct words *w, int64_t i, int64_t candidates, int64_t width)
{
    const int64_t j = candidates - 1 - i;
    w->self[i] = (int32_t)j;
    for (int64_t c = 0; c < width; c++)
        w->candidate[j * width + c] = 2 * w->source[i * width + c];
    if (i % 4 == 0)
        w->translations[w->first[i]] = (int32_t)j;
}

static struct words make_words(int64_t n, int64_t candidates, int64_t width, bool selves)
{
    struct words w = {
        .source = g_new(float, n * width), .candidate = g_new(float, candidates * width), .first = g_new0(int64_t, n + 1),
        .rank = g_new(int64_t, n), .translations = g_new(int32_t, 3 * n), .self = g_new(int32_t, n),
    };
    for (int64_t i = 0; i < n * width; i++)
        w.source[i] = number(0, i);
    for (int64_t i = 0; i < candidates * width; i++)
        w.candidate[i] = number(1, i);
    for (int64_t i = 0; i < n; i++) {
        w.first[i + 1] = w.first[i] + 1 + i % 3;
        for (int64_t k = w.first[i]; k < w.first[i + 1]; k++) {
            const int64_t j = (i * 17 + (k - w.first[i]) * 7) % candidates;
            w.translations[k] = (int32_t)j;
            for (int64_t c = 0; c < width; c++)
                w.candidate[j * width + c] += (float)(i % 5) * w.source[i * width + c];
        }
    }
    for (int64_t i = 0; i < n; i++) {
        w.self[i] = -1;
        if (selves && i % 3 < 2)
            add_self(&w, i, candidates, width);
    }
    w.a = (xlm_alignment){.width = width, .source_vectors = w.source, .candidate_vectors = w.candidate, .n = n,
                          .candidates = candidates, .first = w.first, .translations = w.translations,
                          .self = selves ? w.self : NULL};
    return w;
}

static void free_words(struct words *w)
{
    g_free(w->source);
    g_free(w->candidate);
    g_free(w->first);
    g_free(w->rank);
    g_free(w->translations);
    g_free(w->self);
}

static double cosine(const xlm_alignment *a, int64_t i, int64_t j)
{
    double xy = 0, xx = 0, yy = 0;
    for (int64_t c = 0; c < a->width; c++) {
        const double x = a->source_vectors[i * a->width + c], y = a->candidate_vectors[j * a->width + c];
        xy += x * y, xx += x * x, yy += y * y;
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

static bool translates(const xlm_alignment *a, int64_t i, int64_t j)
{
    for (int64_t k = a->first[i]; k < a->first[i + 1]; k++)
        if (a->translations[k] == j)
            return true;
    return false;
}

/* The definition; *close: a candidate is so near the border that rounding decides. */
static int64_t rank_of(const xlm_alignment *a, int64_t i, bool *close)
{
    double best = -2;
    for (int64_t k = a->first[i]; k < a->first[i + 1]; k++)
        best = fmax(best, cosine(a, i, a->translations[k]));
    int64_t rank = 1;
    *close = false;
    for (int64_t j = 0; j < a->candidates; j++) {
        if (translates(a, i, j) || (a->self != NULL && a->self[i] == j))
            continue;
        const double x = cosine(a, i, j);
        *close |= fabs(x - best) < 1e-5;
        rank += x >= best;
    }
    return rank;
}

static void check_ranks(const xlm_comm *comm, int64_t n, int64_t candidates, int64_t width, int64_t step, bool selves)
{
    struct words w = make_words(n, candidates, width, selves);
    xlm_alignment_ranks(comm, &w.a, w.rank);
    int64_t first = 0, checked = 0;
    for (int64_t i = 0; i < n; i += step) {
        bool undecided;
        const int64_t wanted = rank_of(&w.a, i, &undecided);
        CHECK(undecided || w.rank[i] == wanted);
        first += wanted == 1;
        checked++;
    }
    CHECK(first > 0 && first < checked); /* it is not all the same */
    free_words(&w);
}

/* Vectors that are all one tie with the translations, and ties count against them; so do vectors of zeros. */
static void check_ties(const xlm_comm *comm)
{
    struct words w = make_words(10, 100, 7, false);
    for (int zeros = 0; zeros <= 1; zeros++) {
        for (int64_t i = 0; i < 100 * 7; i++)
            w.candidate[i] = zeros ? 0 : (float)(i % 7 + 1) * (float)(i / 7 + 1);
        xlm_alignment_ranks(comm, &w.a, w.rank);
        for (int64_t i = 0; i < 10; i++)
            CHECK(w.rank[i] == 100 - (w.first[i + 1] - w.first[i]) + 1);
    }
    free_words(&w);
}

/* Known answers: token 0 stands between its translation (cosine 0.8) and itself, token 1 is its own translation, token 2 is no
 * candidate, and the others are nearer to it than its translation. */
static void check_self(const xlm_comm *comm)
{
    static const float sources[] = {1, 0, 0, 1, 1, 1}, candidates[] = {3, 0, 0.8f, 0.6f, 0, 2, -1, 0};
    static const int64_t first[] = {0, 1, 2, 3};
    static const int32_t translations[] = {1, 2, 3}, self[] = {0, 2, -1};
    xlm_alignment a = {.width = 2, .source_vectors = sources, .candidate_vectors = candidates, .n = 3, .candidates = 4,
                       .first = first, .translations = translations, .self = self};
    int64_t rank[3];
    xlm_alignment_ranks(comm, &a, rank);
    CHECK(rank[0] == 1 && rank[1] == 1 && rank[2] == 4);
    a.self = NULL;
    xlm_alignment_ranks(comm, &a, rank);
    CHECK(rank[0] == 2 && rank[1] == 1 && rank[2] == 4);
}

static void check_summary(const xlm_comm *comm)
{
    const int64_t rank[] = {1, 2, 5, 10, 100};
    const bool some[] = {false, true, false, true, false}, none[5] = {false};
    xlm_alignment_score s = xlm_alignment_summary(5, rank, NULL);
    CHECK(s.tokens == 5 && s.top1 == 0.2 && s.top5 == 0.6 && s.top10 == 0.8 && fabs(s.reciprocal - 1.81 / 5) < 1e-12);
    s = xlm_alignment_summary(5, rank, some);
    CHECK(s.tokens == 2 && s.top1 == 0 && s.top5 == 0.5 && s.top10 == 1 && fabs(s.reciprocal - 0.3) < 1e-12);
    s = xlm_alignment_summary(5, rank, none);
    CHECK(s.tokens == 0 && s.top1 == 0 && s.reciprocal == 0);
}

int main(int argc, char **argv)
{
    xlm_comm mine;
    xlm_comm_open(&mine, "alignment_test", &argc, &argv);
    const xlm_comm *comm = &mine;
    check_ranks(comm, 300, 400, 9, 1, false);
    check_ranks(comm, 300, 400, 9, 1, true);
    check_ranks(comm, 900, 9000, 16, 37, true); /* several blocks of both */
    check_self(comm);
    check_ties(comm);
    check_summary(comm);
    int64_t all = failures;
    xlm_comm_sum_int64(comm, &all, 1);
    return xlm_comm_close(&mine, NULL) != 0 || all > 0;
}
