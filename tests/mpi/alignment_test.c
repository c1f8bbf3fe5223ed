/* xlm-mpi: ranks of translations against plain loops in double precision; run on 1, 2, 3 and 4 ranks.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "check.h"

#include <math.h>

#include "base/rng.h"
#include "vectors/alignment.h"

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

/* Known answers: token 0 is between its translation (cosine 0.8) and itself, token 1 is its own translation, token 2 is no
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

/* A unit vector at an angle in degrees. */
static void directions(int n, const double *degrees, float *vectors)
{
    for (int i = 0; i < n; i++) {
        vectors[2 * i] = (float)((i + 1) * cos(degrees[i] * G_PI / 180)); /* lengths do not matter */
        vectors[2 * i + 1] = (float)((i + 1) * sin(degrees[i] * G_PI / 180));
    }
}

/* Known answers of CSLS, k = 1. Candidate 1 (25 degrees) is in the direction of source token 1, and nearer to token 0 (0 degrees)
 * than its translation, candidate 0 (-30 degrees): cos 25 = 0.9063 > cos 30 = 0.8660. But r is 0.8660 of candidate 0, and 1 of
 * candidate 1: 2 * 0.8660 - 0.8660 > 2 * 0.9063 - 1 = 0.8126. */
static void check_csls(const xlm_comm *comm)
{
    float sources[4], candidates[4], r[2];
    const int64_t first[] = {0, 1, 2};
    const int32_t translations[] = {0, 1};
    int64_t rank[2];
    directions(2, (const double[]){0, 25}, sources);
    directions(2, (const double[]){-30, 25}, candidates);
    xlm_alignment a = {.width = 2, .source_vectors = sources, .candidate_vectors = candidates, .n = 2, .candidates = 2,
                       .first = first, .translations = translations};
    const xlm_alignment back = {.width = 2, .source_vectors = candidates, .candidate_vectors = sources, .n = 2, .candidates = 2};
    xlm_alignment_ranks(comm, &a, rank);
    CHECK(rank[0] == 2 && rank[1] == 1);
    for (int k = 2; k <= 10; k += 8) { /* there are no more than 2 */
        xlm_alignment_neighbours(comm, &back, k, r);
        CHECK(fabs((double)r[0] - (0.8660254 + 0.5735764) / 2) < 1e-6 && fabs((double)r[1] - (0.9063078 + 1) / 2) < 1e-6);
    }
    xlm_alignment_neighbours(comm, &back, 1, r);
    CHECK(fabs((double)r[0] - 0.8660254) < 1e-6 && fabs((double)r[1] - 1) < 1e-6);
    a.hubness = r;
    xlm_alignment_ranks(comm, &a, rank);
    CHECK(rank[0] == 1 && rank[1] == 1);
    /* A token that is a candidate itself is no neighbour of itself. */
    const int32_t self[] = {-1, 1};
    xlm_alignment own = back;
    own.self = self;
    xlm_alignment_neighbours(comm, &own, 1, r);
    CHECK(fabs((double)r[1] - 0.9063078) < 1e-6);
}

/* Known answers of pools of 2: rows 2 and 3 are among themselves, and row 2 of the candidates would be the nearest of row 0. */
static void check_pools(const xlm_comm *comm)
{
    float sources[8], candidates[8], r[4];
    const int64_t first[] = {0, 1, 2, 3, 4};
    const int32_t translations[] = {0, 1, 2, 3};
    int64_t rank[4];
    directions(4, (const double[]){0, 90, 9, 20}, sources);
    directions(4, (const double[]){20, 100, 0, 12}, candidates);
    xlm_alignment a = {.width = 2, .source_vectors = sources, .candidate_vectors = candidates, .n = 4, .candidates = 4,
                       .first = first, .translations = translations};
    xlm_alignment_ranks(comm, &a, rank);
    CHECK(rank[0] == 3 && rank[1] == 1 && rank[2] == 2 && rank[3] == 2);
    /* The same translations, shared: rows 0 and 2 have each other's too. */
    const int64_t shared_first[] = {0, 2, 0, 3}, shared_end[] = {2, 3, 2, 4};
    const int32_t shared[] = {0, 2, 1, 3};
    xlm_alignment b = a;
    b.first = shared_first;
    b.end = shared_end;
    b.translations = shared;
    xlm_alignment_ranks(comm, &b, rank);
    CHECK(rank[0] == 1 && rank[1] == 1 && rank[2] == 2 && rank[3] == 2);
    a.pool = 2;
    xlm_alignment_ranks(comm, &a, rank);
    CHECK(rank[0] == 1 && rank[1] == 1 && rank[2] == 2 && rank[3] == 1);
    xlm_alignment_neighbours(comm, &a, 1, r);
    CHECK(fabs((double)r[0] - 0.9396926) < 1e-6 && fabs((double)r[1] - 0.9848078) < 1e-6 &&
          fabs((double)r[2] - 0.9986295) < 1e-6 && fabs((double)r[3] - 0.9902681) < 1e-6);
}

/* r of candidate j by the definition. */
static double neighbours_of(const xlm_alignment *a, int64_t j, int k, bool *taken)
{
    double sum = 0;
    for (int64_t i = 0; i < a->n; i++)
        taken[i] = a->self != NULL && a->self[i] == j;
    for (int t = 0; t < k; t++) {
        int64_t nearest = -1;
        for (int64_t i = 0; i < a->n; i++)
            if (!taken[i] && (nearest < 0 || cosine(a, i, j) > cosine(a, nearest, j)))
                nearest = i;
        taken[nearest] = true;
        sum += cosine(a, nearest, j);
    }
    return sum / k;
}

/* Many candidates: r of some, and ranks by CSLS of all, by the definition. */
static void check_csls_of_many(const xlm_comm *comm, int64_t n, int64_t candidates, int64_t width)
{
    enum { K = 10 };
    struct words w = make_words(n, candidates, width, true);
    int32_t *self = g_new(int32_t, candidates); /* the other way round */
    float *r = g_new(float, candidates);
    bool *taken = g_new(bool, n);
    for (int64_t j = 0; j < candidates; j++)
        self[j] = -1;
    for (int64_t i = 0; i < n; i++)
        if (w.self[i] >= 0)
            self[w.self[i]] = (int32_t)i;
    const xlm_alignment back = {.width = width, .source_vectors = w.candidate, .candidate_vectors = w.source, .n = candidates,
                                .candidates = n, .self = self};
    xlm_alignment_neighbours(comm, &back, K, r);
    for (int64_t j = 0; j < candidates; j += 13)
        CHECK(fabs((double)r[j] - neighbours_of(&w.a, j, K, taken)) < 1e-5);
    w.a.hubness = r;
    xlm_alignment_ranks(comm, &w.a, w.rank);
    int64_t first = 0;
    for (int64_t i = 0; i < n; i += 7) {
        double best = -9;
        int64_t rank = 1;
        bool undecided = false;
        for (int64_t k = w.first[i]; k < w.first[i + 1]; k++)
            best = fmax(best, 2 * cosine(&w.a, i, w.translations[k]) - (double)r[w.translations[k]]);
        for (int64_t j = 0; j < candidates; j++)
            if (!translates(&w.a, i, j) && w.self[i] != j) {
                const double x = 2 * cosine(&w.a, i, j) - (double)r[j];
                undecided |= fabs(x - best) < 1e-5;
                rank += x >= best;
            }
        CHECK(undecided || w.rank[i] == rank);
        first += w.rank[i] == 1;
    }
    CHECK(first > 0 && first < n / 7);
    g_free(self);
    g_free(r);
    g_free(taken);
    free_words(&w);
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
    check_csls(comm);
    check_pools(comm);
    check_csls_of_many(comm, 280, 600, 9);
    check_csls_of_many(comm, 300, 4200, 6); /* several blocks of both */
    check_summary(comm);
    int64_t all = failures;
    xlm_comm_sum_int64(comm, &all, 1);
    return xlm_comm_close(&mine, NULL) != 0 || all > 0;
}
