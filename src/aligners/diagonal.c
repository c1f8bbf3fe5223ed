/* xlm-mpi: word alignment near the diagonal. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Dyer, Chahuneau and Smith 2013: model 2 of Brown et al. (1993) whose positions have one parameter, the tension λ. Target
 * word j of m is explained by the empty word with probability p0, else by source word i of n with probability
 *     (1 - p0) exp(-λ |i / n - j / m|) / Z_j,      i, j counted from 1
 * Translations t(f | e) have a symmetric Dirichlet prior over the words f that e meets, with variational Bayes: after each
 * iteration
 *     t(f | e) = exp(ψ(c(e, f) + α) - ψ(Σ_f (c(e, f) + α)))
 * The tension climbs the likelihood: λ ← λ + 20 (E_model - E_links), where E is the mean of |i / n - j / m| that the model
 * expects before it sees the words, and of the links that it then finds; 8 steps after each iteration but the first. For the
 * links j / m is taken where the word begins, (j - 1) / m, as the authors' program does: the tension then stays lower, and
 * alignments are better. The two directions are models of their own.
 *
 * As many iterations as theirs: of the 5 passes that fast_align makes by default, which it calls iterations of EM, 4 update the
 * parameters, and the last one only finds links and the likelihood. Here the pass that finds links is not counted. */
#include <gsl/gsl_sf_psi.h>
#include <math.h>
#include <string.h>

#include "aligners/aligner.h"

enum {
    FORWARD_LINKS, REVERSE_LINKS, SOURCE_LINKS, TARGET_LINKS, EMPTY_TARGET, EMPTY_SOURCE, SOURCE_PARTNERS, TARGET_PARTNERS,
    WHOLE
};
/* Columns of WHOLE, each followed by that of reverse. */
enum { EMPTY = 0, DISTANCE = 2, LINKED = 4, TENSION = 6, WHOLE_WIDTH = 8 };

static const xlm_table tables[] = {
    [FORWARD_LINKS] = {"forward_links", "target words that a source word explains", XLM_TABLE_PAIRS, 1},
    [REVERSE_LINKS] = {"reverse_links", "source words that a target word explains", XLM_TABLE_PAIRS, 1},
    [SOURCE_LINKS] = {"source_links", "words that a source word explains", XLM_TABLE_SOURCE, 1},
    [TARGET_LINKS] = {"target_links", "words that a target word explains", XLM_TABLE_TARGET, 1},
    [EMPTY_TARGET] = {"target_empty", "target words without a link", XLM_TABLE_TARGET, 1},
    [EMPTY_SOURCE] = {"source_empty", "source words without a link", XLM_TABLE_SOURCE, 1},
    [SOURCE_PARTNERS] = {"source_partners", "different target words that a source word meets", XLM_TABLE_SOURCE, 1},
    [TARGET_PARTNERS] = {"target_partners", "different source words that a target word meets", XLM_TABLE_TARGET, 1},
    [WHOLE] = {"diagonal", "of forward, then of reverse: words without a link, distance of links from the diagonal, links, "
               "tension", XLM_TABLE_WHOLE, WHOLE_WIDTH},
    {.name = NULL}};

static const double ALPHA = 0.01, P_EMPTY = 0.08, FIRST_TENSION = 4, MIN_TENSION = 0.1, MAX_TENSION = 14, STEP = 20;
enum { STEPS = 8 };
/* Translation probabilities of rare words are below e^-100, too small for a float, so all are multiplied by e^SCALE. In a
 * sentence only their ratios matter. */
static const double SCALE = 60;

/* The number of a rank's sentence pairs of these lengths. */
struct lengths {
    int n, m;
    int64_t times;
};

struct state {
    float *translation[2]; /* [pairs of words] t(f | e), t(e | f), scaled */
    float *by_empty[2];    /* [types] target words; source words */
    double tension[2], given_tension[2];
    GArray *lengths;       /* struct lengths */
};

/* ---- positions ---- */

/* exp(-λ |i / n - j / m|) for i = 1 … n, in weights[n]. Returns their sum. */
static double weigh_positions(double tension, int j, int m, int n, float *weights)
{
    const double place = (double)j / m, ratio = exp(-tension / n);
    const int below = (int)((int64_t)j * n / m); /* the last i with i / n <= j / m; may be 0 */
    double sum = 0, weight = exp(-tension * (place - (double)below / n));
    for (int i = below; i >= 1; i--, weight *= ratio) {
        weights[i - 1] = (float)weight;
        sum += weight;
    }
    weight = exp(-tension * ((double)(below + 1) / n - place));
    for (int i = below + 1; i <= n; i++, weight *= ratio) {
        weights[i - 1] = (float)weight;
        sum += weight;
    }
    return sum;
}

/* For words counted from 0. */
static double distance(int i, int n, int j, int m) { return fabs((double)(i + 1) / n - (double)(j + 1) / m); }

/* Σ over the words j of a sentence of the distance that the model expects, in units of 2^-24. */
static int64_t expect_distance(double tension, int n, int m, float *weights)
{
    double sum = 0;
    for (int j = 0; j < m; j++) {
        const double all = weigh_positions(tension, j + 1, m, n, weights);
        double of_word = 0;
        for (int i = 0; i < n; i++)
            of_word += (double)weights[i] * distance(i, n, j, m);
        sum += of_word / all;
    }
    return llrint(ldexp(sum, 24));
}

static void climb(const xlm_alignment_run *run, struct state *s, int d)
{
    const int64_t *whole = run->counts[WHOLE];
    const double of_links = (double)whole[DISTANCE + d] / (double)MAX(whole[LINKED + d], 1);
    for (int step = 0; step < STEPS; step++) {
        int64_t sum[2] = {0, 0}, distances = 0, words = 0;
        #pragma omp parallel for schedule(dynamic, 16) reduction(+ : distances, words)
        for (guint k = 0; k < s->lengths->len; k++) {
            const struct lengths l = g_array_index(s->lengths, struct lengths, k);
            const int n = d == 0 ? l.n : l.m, m = d == 0 ? l.m : l.n;
            g_autofree float *weights = g_new(float, n);
            distances += l.times * expect_distance(s->tension[d], n, m, weights);
            words += l.times * m;
        }
        sum[0] = distances;
        sum[1] = words;
        xlm_comm_sum_int64(run->bitext->comm, sum, 2);
        const double of_model = ldexp((double)sum[0], -24) / (double)MAX(sum[1], 1);
        s->tension[d] = CLAMP(s->tension[d] + STEP * (of_model - of_links), MIN_TENSION, MAX_TENSION);
    }
}

/* ---- tables ---- */

static int by_lengths(const void *a, const void *b)
{
    const struct lengths *x = a, *y = b;
    return x->n != y->n ? x->n - y->n : x->m - y->m;
}

static GArray *find_lengths(const xlm_bitext *b)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct lengths));
    for (int64_t s = 0; s < b->pairs; s++) {
        const struct lengths l = {xlm_bitext_length(&b->side[0], s), xlm_bitext_length(&b->side[1], s), 1};
        if (l.n > 0)
            g_array_append_val(all, l);
    }
    g_array_sort(all, by_lengths);
    guint n = 0;
    struct lengths *l = (struct lengths *)(void *)all->data;
    for (guint i = 0; i < all->len; i++)
        if (n > 0 && by_lengths(&l[n - 1], &l[i]) == 0)
            l[n - 1].times++;
        else
            l[n++] = l[i];
    g_array_set_size(all, n);
    return all;
}

static void open_state(xlm_alignment_run *run)
{
    struct state *s = g_new0(struct state, 1);
    for (int d = 0; d < 2; d++) {
        s->translation[d] = g_new(float, run->pairs->n);
        s->by_empty[d] = g_new(float, run->bitext->side[1 - d].types);
        s->given_tension[d] = run->informed ? (double)run->counts[WHOLE][TENSION + d] / XLM_COUNT_UNIT : 0;
        s->tension[d] = run->informed ? CLAMP(s->given_tension[d], MIN_TENSION, MAX_TENSION) : FIRST_TENSION;
    }
    s->lengths = find_lengths(run->bitext);
    run->state = s;
}

static void close_state(xlm_alignment_run *run)
{
    struct state *s = run->state;
    for (int d = 0; d < 2; d++) {
        g_free(s->translation[d]);
        g_free(s->by_empty[d]);
    }
    g_array_unref(s->lengths);
    g_free(s);
}

/* ψ(x) of a count with its prior. */
static double digamma(int64_t count) { return gsl_sf_psi((double)count / XLM_COUNT_UNIT + ALPHA); }

/* ψ(Σ_f (c(e, f) + α)) of each word. */
static double *find_wholes(const int64_t *links, const int64_t *partners, int64_t types)
{
    double *whole = g_new(double, types);
    for (int64_t w = 0; w < types; w++) {
        const double sum = (double)links[w] / XLM_COUNT_UNIT + ALPHA * (double)partners[w] / XLM_COUNT_UNIT;
        whole[w] = sum > 0 ? gsl_sf_psi(sum) : 0;
    }
    return whole;
}

static float scale(double log_probability) { return (float)exp(MIN(log_probability, 0) + SCALE); }

static void find_translations(const xlm_alignment_run *run, const struct state *s)
{
    const xlm_word_pairs *pairs = run->pairs;
    const int32_t types = run->bitext->side[0].types;
    double *of_source = find_wholes(run->counts[SOURCE_LINKS], run->counts[SOURCE_PARTNERS], types);
    double *of_target = find_wholes(run->counts[TARGET_LINKS], run->counts[TARGET_PARTNERS], run->bitext->side[1].types);
    const double none = digamma(0);
    #pragma omp parallel for schedule(dynamic, 64)
    for (int32_t e = 0; e < types; e++)
        for (int64_t k = pairs->rows[e]; k < pairs->rows[e + 1]; k++) {
            const int64_t forward = run->counts[FORWARD_LINKS][k], reverse = run->counts[REVERSE_LINKS][k];
            s->translation[0][k] = scale((forward > 0 ? digamma(forward) : none) - of_source[e]);
            s->translation[1][k] = scale((reverse > 0 ? digamma(reverse) : none) - of_target[pairs->targets[k]]);
        }
    g_free(of_source);
    g_free(of_target);
    for (int d = 0; d < 2; d++) {
        const int64_t *empty = run->counts[d == 0 ? EMPTY_TARGET : EMPTY_SOURCE];
        const double all = (double)run->counts[WHOLE][EMPTY + d] / XLM_COUNT_UNIT;
        const double sum = all + ALPHA * (double)run->words[1 - d];
        const double whole = sum > 0 ? gsl_sf_psi(sum) : 0; /* a side may have no word at all */
        for (int32_t w = 0; w < run->bitext->side[1 - d].types; w++)
            s->by_empty[d][w] = scale(digamma(empty[w]) - whole);
    }
}

static void begin(xlm_alignment_run *run)
{
    struct state *s = run->state;
    if (run->informed) {
        find_translations(run, s);
        for (int d = 0; d < 2 && run->iteration >= 2; d++)
            climb(run, s, d);
        return;
    }
    for (int d = 0; d < 2; d++) {
        for (int64_t k = 0; k < run->pairs->n; k++)
            s->translation[d][k] = 1;
        for (int32_t w = 0; w < run->bitext->side[1 - d].types; w++)
            s->by_empty[d][w] = 1;
    }
}

/* Add what is counted once, not for each sentence pair. */
static void end(xlm_alignment_run *run)
{
    const struct state *s = run->state;
    const xlm_word_pairs *pairs = run->pairs;
    for (int32_t e = 0; e < run->bitext->side[0].types; e++)
        for (int64_t k = pairs->rows[e]; k < pairs->rows[e + 1]; k++)
            if (run->first[k]) {
                run->counts[SOURCE_PARTNERS][e] += XLM_COUNT_UNIT;
                run->counts[TARGET_PARTNERS][pairs->targets[k]] += XLM_COUNT_UNIT;
            }
    for (int d = 0; d < 2 && run->bitext->comm->rank == 0; d++)
        run->counts[WHOLE][TENSION + d] += llrint((s->tension[d] - s->given_tension[d]) * XLM_COUNT_UNIT);
}

/* ---- one sentence pair ---- */

static size_t workspace(int n, int m) { return (sizeof(float) + sizeof(int64_t)) * ((size_t)MAX(n, m) + 16); }

/* Posteriors [n] of the words that explain word j of m. Returns that of the empty word. Cells of j are `step` apart. */
static float explain(const struct state *s, int d, int j, int m, int n, const uint32_t *cells, int step, int32_t word,
                     float *posterior)
{
    const double all = weigh_positions(s->tension[d], j + 1, m, n, posterior);
    const float factor = (float)((1 - P_EMPTY) / all), empty = (float)P_EMPTY * s->by_empty[d][word];
    float sum = empty;
    for (int i = 0; i < n; i++) {
        posterior[i] *= factor * s->translation[d][cells[(size_t)i * step]];
        sum += posterior[i];
    }
    for (int i = 0; i < n; i++)
        posterior[i] /= sum;
    return empty / sum;
}

static void expect_direction(const xlm_alignment_run *run, int64_t sentence, int d, void *memory)
{
    const struct state *s = run->state;
    const xlm_bitext_side *by = &run->bitext->side[d], *of = &run->bitext->side[1 - d];
    const int n = xlm_bitext_length(by, sentence), m = xlm_bitext_length(of, sentence);
    const uint32_t *cells = xlm_word_pairs_cells(run->pairs, sentence);
    const int step = d == 0 ? 1 : m, row = d == 0 ? n : 1; /* cells are [target x source] */
    const int32_t *by_words = by->words + by->offsets[sentence], *of_words = of->words + of->offsets[sentence];
    int64_t *of_word = memory, empty = 0, linked = 0;
    float *posterior = (float *)(void *)(of_word + n);
    double distances = 0;
    memset(of_word, 0, sizeof *of_word * (size_t)n);
    for (int j = 0; j < m; j++) {
        const uint32_t *of_j = cells + (size_t)j * row;
        const int64_t by_empty = llrintf(explain(s, d, j, m, n, of_j, step, of_words[j], posterior) * XLM_COUNT_UNIT);
        xlm_table_add(run, d == 0 ? EMPTY_TARGET : EMPTY_SOURCE, of_words[j], by_empty);
        empty += by_empty;
        for (int i = 0; i < n; i++) {
            const int64_t links = llrintf(posterior[i] * XLM_COUNT_UNIT);
            if (links == 0)
                continue;
            xlm_table_add(run, d == 0 ? FORWARD_LINKS : REVERSE_LINKS, of_j[(size_t)i * step], links);
            of_word[i] += links;
            linked += links;
            distances += (double)links * distance(i, n, j - 1, m);
        }
    }
    for (int i = 0; i < n; i++)
        xlm_table_add(run, d == 0 ? SOURCE_LINKS : TARGET_LINKS, by_words[i], of_word[i]);
    xlm_table_add(run, WHOLE, EMPTY + d, empty);
    xlm_table_add(run, WHOLE, LINKED + d, linked);
    xlm_table_add(run, WHOLE, DISTANCE + d, llrint(distances));
}

static void expect(const xlm_alignment_run *run, int64_t sentence, void *memory)
{
    for (int d = 0; d < 2; d++)
        expect_direction(run, sentence, d, memory);
}

static void decode(const xlm_alignment_run *run, int64_t sentence, void *memory, xlm_decoded *decoded)
{
    const struct state *s = run->state;
    (void)memory;
    for (int d = 0; d < 2; d++) {
        const xlm_bitext_side *by = &run->bitext->side[d], *of = &run->bitext->side[1 - d];
        const int n = xlm_bitext_length(by, sentence), m = xlm_bitext_length(of, sentence);
        const int step = d == 0 ? 1 : m, row = d == 0 ? n : 1;
        const int32_t *words = of->words + of->offsets[sentence];
        const uint32_t *cells = xlm_word_pairs_cells(run->pairs, sentence);
        float *posteriors = d == 0 ? decoded->forward_posterior : decoded->reverse_posterior;
        int32_t *links = d == 0 ? decoded->forward : decoded->reverse;
        for (int j = 0; j < m; j++) {
            float *posterior = posteriors + (size_t)j * n;
            const float empty = explain(s, d, j, m, n, cells + (size_t)j * row, step, words[j], posterior);
            links[j] = xlm_most_probable(posterior, n, empty);
        }
    }
}

const xlm_aligner xlm_aligner_diagonal = {
    .name = "diagonal",
    .purpose = "translations near the diagonal, as fast_align's; each direction by itself",
    .tables = tables,
    .iterations = 4,
    .open = open_state,
    .close = close_state,
    .begin = begin,
    .expect = expect,
    .end = end,
    .decode = decode,
    .workspace = workspace,
};
